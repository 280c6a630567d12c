# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict, set_model_state_dict
mesh = init_device_mesh("cpu", (world,))
box = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(box, 0)
def make():
    torch.manual_seed(0)
    m = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
    fully_shard(m, mesh=mesh)
    return m
m = make()
opt = torch.optim.AdamW(m.parameters(), lr=0.01)
g = torch.Generator().manual_seed(rank)
def fit(n):
    for _ in range(n):
        x = torch.randn(4, 6, generator=g)
        loss = F.mse_loss(m(x), x[:, :2])
        opt.zero_grad(); loss.backward(); opt.step()
fit(3)
dcp.save({"model": get_model_state_dict(m), "optim": get_optimizer_state_dict(m, opt)}, checkpoint_id=box[0])
m = make()
state = {"model": get_model_state_dict(m)}
dcp.load(state, checkpoint_id=box[0])
set_model_state_dict(m, state["model"])
opt = torch.optim.AdamW(m.parameters(), lr=0.001)   # fine-tuning
fit(2)
print("%.5f" % sum(p.detach().full_tensor().sum().item() for p in m.parameters()))
dist.destroy_process_group()
