# SPDX-License-Identifier: MIT
# The gradient of a norm of all elements counts the largest ones by a sum over
# no named dimension, which 2.15 takes for a sum that keeps its placement; that of
# a mean loss divides by the elements of a part.
import torch, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

mesh = init_device_mesh("cpu", (2,))
rank = dist.get_rank()
data = torch.tensor([[1., 2.], [-5., 3.], [0., 1.], [5., 5.]])

def gradient(what, f):
    x = distribute_tensor(data, mesh, [Shard(0)]).requires_grad_()
    f(x).backward()
    values = " ".join("%.4f" % v for v in x.grad.to_local().flatten())
    print(f"{rank} {what} {x.grad.placements} {values}", flush=True)

gradient("inf", lambda x: torch.linalg.vector_norm(x, float("inf")))
gradient("-inf", lambda x: torch.linalg.vector_norm(x, -float("inf")))
gradient("inf of dims", lambda x: torch.linalg.vector_norm(x, float("inf"), dim=(0, 1)))
for loss in (F.mse_loss, F.huber_loss, F.smooth_l1_loss, F.soft_margin_loss):
    gradient(loss.__name__, lambda x: loss(x, torch.ones_like(x)))
