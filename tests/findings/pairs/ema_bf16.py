# DT1052 e at: e.mul_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# FSDP2: the moving average is kept in bfloat16, small steps are rounded away
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class EMA:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {n: p.detach().clone().bfloat16() for n, p in model.named_parameters()}  # wrong
        #right self.shadow = {n: p.detach().clone().float() for n, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for n, p in model.named_parameters():
            e = self.shadow[n]
            e.mul_(self.decay).add_(p.detach().to(e.dtype), alpha=1 - self.decay)


mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
fully_shard(model, mesh=mesh)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
ema = EMA(model)
torch.manual_seed(10 + rank)
for step in range(20):
    x = torch.randn(8, 8)
    loss = F.cross_entropy(model(x), x[:, :4].argmax(1))
    loss.backward()
    opt.step()
    opt.zero_grad()
    ema.update(model)
s = sum(e.full_tensor().float().square().sum() for e in ema.shadow.values())
if rank == 0:
    print("result %.6f" % s.item())
dist.destroy_process_group()
