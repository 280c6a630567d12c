# DT1048 mine.weight at: dist.all_reduce(p.grad)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "ep"))
rank, world = dist.get_rank(), dist.get_world_size()
dp, ep = mesh.get_group("dp"), mesh.get_group("ep")
torch.manual_seed(0)
D, E = 6, 2
router = nn.Linear(D, E, bias=False)
experts = [nn.Linear(D, D, bias=False) for _ in range(E)]
mine = experts[dist.get_rank(ep)]

class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.empty_like(x)
        dist.all_to_all_single(out, x.contiguous(), group=ep)
        return out
    @staticmethod
    def backward(ctx, g):
        out = torch.empty_like(g)
        dist.all_to_all_single(out, g.contiguous(), group=ep)
        return out

torch.manual_seed(5 + rank)
opt = torch.optim.SGD(list(router.parameters()) + list(mine.parameters()), lr=0.3)
for step in range(4):
    x = torch.randn(8, D)
    gate = router(x).softmax(-1)
    sent = torch.cat([gate[:, e:e + 1] * x for e in range(E)])
    done = AllToAll.apply(mine(AllToAll.apply(sent)))
    y = done[:8] + done[8:]
    loss = (y - x.roll(1, 1)).square().mean()
    opt.zero_grad()
    loss.backward()
    for p in router.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    for p in mine.parameters():
        dist.all_reduce(p.grad)  # wrong
        #right dist.all_reduce(p.grad, group=dp)
        p.grad /= world
    opt.step()
total = loss.detach().clone()
dist.all_reduce(total)
print("result %.5f" % (total / world).item())
dist.destroy_process_group()
