# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# two models, each of two ranks, that clip by norms of their own
import torch, torch.nn as nn, torch.nn.functional as F, torch.distributed as dist
dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
gs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
me = r // 2; grp = gs[me]; k = r % 2
torch.manual_seed(me)
net = nn.Linear(6, 6, bias=False)
part = net.weight.detach().flatten().chunk(2)[k].clone().requires_grad_()
opt = torch.optim.SGD([part], lr=0.05)
g = torch.Generator().manual_seed(r)
for step in range(3):
    net.weight.grad = None
    loss = net(torch.randn(8, 6, generator=g)).square().mean(); loss.backward()
    out = torch.empty_like(part)
    dist.reduce_scatter_tensor(out, net.weight.grad.flatten(), group=grp); out /= 2
    sq = out.square().sum(); dist.all_reduce(sq, group=grp)
    out.mul_((0.1 / sq.sqrt()).clamp(max=1.0))
    part.grad = out; opt.step()
    dist.all_gather_into_tensor(net.weight.data.view(-1), part.detach(), group=grp)
print("%.4f" % net.weight.sum().item())
