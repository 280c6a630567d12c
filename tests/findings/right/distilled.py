# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# a teacher is read again without its moments; the student has an optimizer of its own
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import (get_model_state_dict,
    get_optimizer_state_dict, set_model_state_dict)
mesh = init_device_mesh("cpu", (world,))
where = [tempfile.mkdtemp()] if rank == 0 else [None]
dist.broadcast_object_list(where, 0)
torch.manual_seed(4)
teacher = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
fully_shard(teacher, mesh=mesh)
opt = torch.optim.AdamW(teacher.parameters(), lr=0.01)
def run(net, opt, steps, target):
    for s in steps:
        g = torch.Generator().manual_seed(1000 * s + rank)
        x, y = torch.randn(5, 8, generator=g), torch.randint(0, 3, (5,), generator=g)
        loss = target(net(x), x, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
run(teacher, opt, range(3), lambda o, x, y: F.cross_entropy(o, y))
dcp.save({"model": get_model_state_dict(teacher),
          "optim": get_optimizer_state_dict(teacher, opt)}, checkpoint_id=where[0])
# the teacher alone is read again, and a smaller student learns from it
state = {"model": get_model_state_dict(teacher)}
dcp.load(state, checkpoint_id=where[0])
set_model_state_dict(teacher, state["model"])
for p in teacher.parameters(): p.requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 6), nn.GELU(), nn.Linear(6, 3))
fully_shard(student, mesh=mesh)
opt2 = torch.optim.AdamW(student.parameters(), lr=0.01)
def distil(o, x, y):
    with torch.no_grad(): t = teacher(x).softmax(-1)
    return F.kl_div(o.log_softmax(-1), t, reduction="batchmean")
run(student, opt2, range(3, 6), distil)
s = sum(p.detach().full_tensor().abs().sum().item() for p in student.parameters())
print("student %.5f" % s)
dist.destroy_process_group()
