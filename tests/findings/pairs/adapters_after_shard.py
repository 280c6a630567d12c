# DT1047 net.fc2.a at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

class LoRALinear(nn.Module):
    def __init__(self, base, r):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.empty(r, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))
        for p in base.parameters(): p.requires_grad_(False)
    def forward(self, x): return self.base(x) + F.linear(F.linear(x, self.a), self.b)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(8, 16), nn.Linear(16, 4)
    def forward(self, x): return self.fc2(torch.relu(self.fc1(x)))

def add_lora(net, r):
    for name, child in list(net.named_children()):
        if isinstance(child, nn.Linear): setattr(net, name, LoRALinear(child, r))

mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(0)
net = Net()
for lin in (net.fc1, net.fc2): fully_shard(lin, mesh=mesh)  # wrong
#right add_lora(net, 2)
#right for lin in (net.fc1, net.fc2): fully_shard(lin, mesh=mesh)
fully_shard(net, mesh=mesh)
add_lora(net, 2)  # wrong
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2)
gen = torch.Generator().manual_seed(rank)
for _ in range(4):
    x = torch.randn(6, 8, generator=gen)
    loss = F.mse_loss(net(x), x[:, :4])
    opt.zero_grad()
    loss.backward()
    opt.step()
t = net.fc1.b
t = t.full_tensor() if hasattr(t, "full_tensor") else t
if rank == 0: print("result %.6f" % t.abs().sum().item())
dist.destroy_process_group()
