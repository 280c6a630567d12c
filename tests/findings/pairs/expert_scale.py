# DT1120 expert.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(2)
N, D = 8, 6
router_w = torch.randn(D, D)
shared = nn.Linear(D, D)
experts = [nn.Linear(D, D) for _ in range(world)]
expert = experts[rank]
data, want = torch.randn(world, N, D), torch.randn(world, N, D)
x, y = data[rank], want[rank]

class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        out = torch.empty_like(t)
        dist.all_to_all_single(out, t.contiguous())
        return out
    @staticmethod
    def backward(ctx, grad):
        out = torch.empty_like(grad)
        dist.all_to_all_single(out, grad.contiguous())
        return out

opt = torch.optim.SGD(list(shared.parameters()) + list(expert.parameters()), lr=0.1)
for step in range(4):
    opt.zero_grad()
    h = torch.tanh(shared(x))
    out = AllToAll.apply(expert(AllToAll.apply(h)))
    F.mse_loss(h + out, y).backward()
    for p in shared.parameters():
        dist.all_reduce(p.grad)
        p.grad.div_(world)
    #right for p in expert.parameters():
        #right p.grad.div_(world)
    opt.step()
s = sum(p.detach().pow(2).sum() for p in expert.parameters())
dist.all_reduce(s)
print("result %.5f" % s.item())
dist.destroy_process_group()
