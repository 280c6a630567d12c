# SPDX-License-Identifier: MIT
# What ExplicitRedistributionContext refuses, at first and when the decision was
# made before; nested, strict, in backward.
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard, Replicate
from torch.distributed.tensor._utils import ExplicitRedistributionContext
mesh = init_device_mesh("cpu", (2,))
r = dist.get_rank()
def tell(f):
    try: s = f().placements
    except Exception as e: s = type(e).__name__ + ": " + str(e).splitlines()[0][:300]
    if r == 0: print(s)
x = distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)])
w = distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)])
rep = distribute_tensor(torch.ones(8, 8), mesh, [Replicate()])
with ExplicitRedistributionContext() as c:
    tell(lambda: x @ w)
    tell(lambda: x @ w.redistribute(placements=[Replicate()]))
    tell(lambda: x + rep)
    with ExplicitRedistributionContext(enable=False):
        tell(lambda: x @ w)
    with ExplicitRedistributionContext(strict=True):
        tell(lambda: x + rep)
    tell(lambda: x @ w)
tell(lambda: x @ w)
try: ExplicitRedistributionContext(mode="ask")
except RuntimeError as e:
    if r == 0: print(e)
y = distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)]).requires_grad_()
with ExplicitRedistributionContext(strict=True):
    def back():
        z = (y * 2).redistribute(placements=[Replicate()]).sum()
        z.backward()
        return y.grad
    tell(back)
    def back2():
        (y * 2).redistribute(placements=[Replicate()]).to_local().sum().backward()
        return y.grad
    tell(back2)
    def back3():
        (y.sum() * 2).full_tensor().backward()
        return y.grad
    tell(back3)
