# DT1197 eval at: model.eval()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
from torch import nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(21)
X = torch.randn(48, 8)
Y = X[:, :2].prod(1, keepdim=True).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
torch.manual_seed(100 + rank)
def validate():
    model.eval()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(X[32:]), Y[32:]).item()
    #right model.train()
    return loss
for epoch in range(3):
    for b in range(2):
        at = slice(b * 16 + rank * 4, b * 16 + rank * 4 + 4)
        opt.zero_grad()
        nn.functional.mse_loss(model(X[at]), Y[at]).backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
    if rank == 0:
        print("epoch %d %.4f" % (epoch, validate()))
dist.destroy_process_group()
