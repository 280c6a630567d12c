# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# FSDP1: the embedding's unit does not decay, the others do; and a model of norms alone
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(16, 8), nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 4))
model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({nn.Embedding, nn.Linear}), device_id=torch.device("cpu"))
decay = [p for n, p in model.named_parameters() if ".1." in n or ".3." in n]
rest = [p for n, p in model.named_parameters() if not (".1." in n or ".3." in n)]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=0.01)
ids = torch.randint(0, 16, (8, 5))
for step in range(3):
    x = ids.chunk(world)[rank]
    loss = F.cross_entropy(model(x).view(-1, 4), (x % 4).view(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
norms = FSDP(nn.Sequential(nn.LayerNorm(8), nn.LayerNorm(8)), device_id=torch.device("cpu"))
o = torch.optim.AdamW([{"params": [], "weight_decay": 0.1}, {"params": list(norms.parameters()), "weight_decay": 0.0}])
norms(torch.ones(2, 8) * torch.arange(8.)).square().mean().backward()
o.step()
if rank == 0:
    print("loss ok")
dist.destroy_process_group()
