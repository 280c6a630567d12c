# DT1181 lr_scheduler.step at: opt.step(); sched.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, os, tempfile
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

def make(mesh):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
    fully_shard(model, mesh=mesh)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-2)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 4) * 0.5 * (1 + math.cos(math.pi * s / 10)))
    return model, opt, sched

def run(model, opt, sched, first, last, rank):
    for i in range(first, last):
        g = torch.Generator().manual_seed(1000 * i + rank)
        x = torch.randn(4, 8, generator=g)
        loss = F.mse_loss(model(x), x.roll(1, 1))
        opt.zero_grad(); loss.backward(); opt.step(); sched.step()

mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
box = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(box, 0)
path = os.path.join(box[0], "ck")
model, opt, sched = make(mesh)
run(model, opt, sched, 0, 4, rank)
msd, osd = get_state_dict(model, opt)
dcp.save({"model": msd, "optim": osd, "sched": sched.state_dict()}, checkpoint_id=path)

model, opt, sched = make(mesh)
msd, osd = get_state_dict(model, opt)
state = {"model": msd, "optim": osd}  # wrong
#right state = {"model": msd, "optim": osd, "sched": sched.state_dict()}
dcp.load(state, checkpoint_id=path)
set_state_dict(model, opt, model_state_dict=state["model"], optim_state_dict=state["optim"])
if "sched" in state: sched.load_state_dict(state["sched"])
run(model, opt, sched, 4, 7, rank)
s = sum(p.full_tensor().square().sum() for p in model.parameters())
if rank == 0: print("result %.6f" % s.item())
dist.destroy_process_group()
