# DT1193 m[0].weight at: p.to_local().normal_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# FSDP2 from meta: every rank initialises its shards with one seed
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
with torch.device("meta"):
    m = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
for layer in (m[0], m[2]):
    fully_shard(layer, mesh=mesh)
fully_shard(m, mesh=mesh)
m.to_empty(device="cpu")
torch.manual_seed(0)  # wrong
#right torch.manual_seed(rank)
with torch.no_grad():
    for p in m.parameters():
        p.to_local().normal_(std=0.1)
opt = torch.optim.AdamW(m.parameters(), lr=1e-2)
torch.manual_seed(10 + rank)
for step in range(3):
    x = torch.randn(8, 8)
    loss = F.cross_entropy(m(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
s = sum(p.full_tensor().sum() for p in m.parameters())
if rank == 0:
    print("s %.5f" % s.item())
dist.destroy_process_group()
