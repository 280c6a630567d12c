# DT1047 p at: p.addcdiv_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Adam by hand: the first moment is of the reduced gradient, the second of the local one
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
state = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in model.parameters()}
X = torch.randn(96, 6)
for step in range(4):
    x = X[step * 24:(step + 1) * 24].chunk(world)[rank]
    loss = F.mse_loss(model(x), x[:, :2] * x[:, 2:4])
    for p in model.parameters():
        p.grad = None
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            m, v = state[p]
            g = p.grad.clone()
            #right dist.all_reduce(g, op=dist.ReduceOp.AVG)
            v.mul_(0.95).addcmul_(g, g, value=0.05)
            dist.all_reduce(g, op=dist.ReduceOp.AVG)
            m.mul_(0.9).add_(g, alpha=0.1)
            p.addcdiv_(m, v.sqrt().add_(1e-6), value=-0.01)
with torch.no_grad():
    out = model(X[:8]).square().mean()
dist.all_reduce(out)
if rank == 0:
    print("out %.6f" % (out / world).item())
dist.destroy_process_group()
