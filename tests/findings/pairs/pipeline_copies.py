# DT1047 mine.fc.bias at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

class Part(nn.Module):
    def __init__(self, first, d=8):
        super().__init__()
        self.inp = nn.Linear(4, d) if first else None
        self.fc = nn.Linear(d, d)
        self.out = None if first else nn.Linear(d, 2)
    def forward(self, x):
        if self.inp is not None: x = self.inp(x)
        x = x + torch.tanh(self.fc(x))
        return x if self.out is None else self.out(x)

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "pp"))
pp, dp = mesh["pp"], mesh["dp"]
stage_id = pp.get_local_rank()
torch.manual_seed(0)
parts = [Part(True), Part(False)]
mine = parts[stage_id]
#right fully_shard(mine, mesh=dp)
stage = PipelineStage(mine, stage_id, 2, torch.device("cpu"), group=pp.get_group())  # wrong
#right stage = PipelineStage(mine, stage_id, 2, torch.device("cpu"), group=pp.get_group())
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=F.mse_loss)
opt = torch.optim.SGD(mine.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(20 + dp.get_local_rank())
for _ in range(3):
    x = torch.randn(4, 4, generator=gen)
    y = x[:, :2] * 2
    opt.zero_grad()
    if stage_id == 0: schedule.step(x)
    else: schedule.step(target=y, losses=[])
    opt.step()
w = mine.fc.weight
w = w.full_tensor() if hasattr(w, "full_tensor") else w
if dist.get_rank() == 0: print("result %.6f" % w.square().sum().item())
dist.destroy_process_group()
