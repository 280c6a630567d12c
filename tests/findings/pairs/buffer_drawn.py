# DT1178 proj at: dist.broadcast(t.data, 0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(100 + rank)


class FourierFeatures(nn.Module):
    def __init__(self, inp, feats):
        super().__init__()
        self.register_buffer("proj", torch.randn(inp, feats))

    def forward(self, x):
        z = x @ self.proj
        return torch.cat([z.sin(), z.cos()], dim=-1)


model = nn.Sequential(FourierFeatures(3, 8), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
for t in model.parameters():  # wrong
#right for t in list(model.parameters()) + list(model.buffers()):
    dist.broadcast(t.data, 0)

opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(5):
    x = torch.rand(8, 3)
    y = (x * 6.28).sin().sum(1, keepdim=True)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad /= world
    opt.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    if rank == 0:
        print("step %d loss %.5f" % (step, mean.item() / world))
dist.destroy_process_group()
