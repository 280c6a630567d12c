# DT1046 model.module.enc.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.nn.parallel import DistributedDataParallel as DDP
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(6, 8), nn.Linear(8, 6)
    def forward(self, x):
        return self.dec(torch.relu(self.enc(x)))
model = DDP(Net())
opt = torch.optim.Adam(model.parameters(), lr=0.05)
def unwrap(m):
    return m.module if isinstance(m, DDP) else m
data = torch.randn(32, 6).chunk(world)[rank]
net = unwrap(model)  # wrong
#right net = model
for x in data.chunk(2):
    opt.zero_grad()
    loss = F.mse_loss(net(x), x)
    loss.backward()
    opt.step()
t = loss.detach()
dist.all_reduce(t, op=dist.ReduceOp.AVG)
print("result %.5f" % t.item())
