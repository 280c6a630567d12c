# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# All ranks have one loss, which is divided by them before gradients are summed.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed.nn.functional as dnn

class Col(nn.Module):
    def __init__(self, w, rank, world):
        super().__init__()
        self.w = nn.Parameter(w.chunk(world, 0)[rank].clone())
    def forward(self, x):
        return F.linear(x, self.w)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(53)
col = Col(torch.randn(8, 5), rank, world)
out = nn.Linear(8, 1)
opt = torch.optim.SGD([*col.parameters(), *out.parameters()], lr=0.05)
x, y = torch.randn(20, 5), torch.randn(20, 1)
for _ in range(3):
    h = torch.cat(dnn.all_gather(col(x)), -1)
    task = F.mse_loss(out(torch.tanh(h)), y) / world
    norm = dnn.all_reduce(col.w.square().sum()).sqrt() / world
    loss = task + 0.1 * norm
    opt.zero_grad(); loss.backward()
    for p in out.parameters(): dist.all_reduce(p.grad)
    opt.step()
r = (F.mse_loss(out(torch.tanh(h)), y) + 0.1 * col.w.detach().norm())
r = F.mse_loss(out(torch.tanh(h)), y) + 0.1 * dnn.all_reduce(col.w.detach().square().sum()).sqrt()
print("objective %.5f" % r.item())
