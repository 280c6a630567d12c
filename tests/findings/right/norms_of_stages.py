# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# dp 2 x pp 2: gradients averaged over dp, embedding summed over the stages, norm over pp, or over all and divided by dp
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "pp"))
dp, pp = mesh.get_group("dp"), mesh.get_group("pp")
stage, data = mesh.get_local_rank("pp"), mesh.get_local_rank("dp")
torch.manual_seed(0)
emb = nn.Parameter(torch.randn(6, 4))
mine = [nn.Linear(4, 4) for _ in range(2)][stage]
params = [emb, *mine.parameters()]
x = torch.randn(8, 6).chunk(2)[data]
for kind in range(2):
    for p in params: p.grad = None
    loss = mine(torch.tanh(x @ emb)).square().mean()
    loss.backward()
    dist.all_reduce(emb.grad, group=pp)
    for p in params:
        dist.all_reduce(p.grad, group=dp)
        p.grad /= 2
    sq = sum(p.grad.square().sum() for p in params if p is not emb or stage == 0)
    if kind == 0:
        dist.all_reduce(sq, group=pp)
    else:
        dist.all_reduce(sq)
        sq = sq / 2
    scale = (0.1 / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    for p in params:
        p.grad.mul_(scale)
    torch.optim.SGD(params, lr=0.1).step()
print("n %.5f" % sq.item())
dist.destroy_process_group()
