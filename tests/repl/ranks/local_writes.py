# SPDX-License-Identifier: MIT
# What to_local and full_tensor give may not be written in place where a gradient is
# recorded; FSDP2 warns of a view that a module returns.
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import *
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
def attempt(tag, f):
    try: r = f(); s = "ok " + str(r)
    except Exception as e: s = type(e).__name__ + " " + str(e)[:60] + str(e)[-60:]
    if dist.get_rank() == 0: print(tag, s)
d = distribute_tensor(torch.randn(4, 8, requires_grad=True), mesh, [Shard(0)])
d0 = distribute_tensor(torch.randn(4, 8), mesh, [Shard(0)])
def a():
    y = (d * 2).to_local(); y += 1; return y.sum().item() == y.sum().item()
def b():
    y = d.to_local(); y += 1; return y.shape
def c():
    y = d0.to_local(); y += 1; return y._is_view(), y._version
def e():
    y = (d * 2).full_tensor(); y.mul_(2); return y.shape
def f():
    y = (d * 2).to_local()[:, :4]; y.mul_(2); return y.shape
def h():
    t = torch.randn(4, 8, requires_grad=True)
    t = t + dist.get_rank(); y = DTensor.from_local(t, mesh, [Shard(0)]); y += 1; return y.shape
def i():
    y = d0.to_local(); return y.data_ptr() == d0._local_tensor.data_ptr(), y is d0._local_tensor
def j():
    y = (d * 2).to_local().detach(); y += 1; return y._is_view()
def k():
    y = (d * 2).redistribute(placements=[Replicate()]); y += 1; return y.shape
for fn in (a, b, c, e, f, h, i, j, k): attempt(fn.__name__, fn)
import warnings
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module
for tp in (True, False):
    m = torch.nn.Sequential(torch.nn.Linear(8, 8))
    two = init_device_mesh("cpu", (1, 2), mesh_dim_names=("dp", "tp"))
    if tp: parallelize_module(m, two["tp"], {"0": ColwiseParallel(output_layouts=Replicate())})
    fully_shard(m, mesh=two["dp"])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        out = m(torch.randn(4, 8))
    if dist.get_rank() == 0: print(tp, out._is_view(), [str(w.message)[:50] for w in seen])
dist.destroy_process_group()
