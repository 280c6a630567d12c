# DT1092 exp_avg at: opt.load_state_dict
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
import os, tempfile
folder = [tempfile.mkdtemp()] if rank == 0 else [None]
dist.broadcast_object_list(folder, 0)
w = torch.randn(16, 4)
part = nn.Parameter(w.chunk(world)[rank].clone())
opt = torch.optim.Adam([part], lr=0.05)
x = torch.randn(6, 4)

def step():
    loss = (x @ part.t()).square().mean() + part.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()

for _ in range(3):
    step()
if rank == 0:  # wrong
    torch.save({"w": part.detach(), "opt": opt.state_dict()}, os.path.join(folder[0], "ck0.pt"))  # wrong
#right torch.save({"w": part.detach(), "opt": opt.state_dict()}, os.path.join(folder[0], "ck%d.pt" % rank))
dist.barrier()
part = nn.Parameter(part.detach().clone())
opt = torch.optim.Adam([part], lr=0.05)
ck = torch.load(os.path.join(folder[0], "ck0.pt"))  # wrong
#right ck = torch.load(os.path.join(folder[0], "ck%d.pt" % rank))
opt.load_state_dict(ck["opt"])
for _ in range(3):
    step()
s = part.detach().square().sum()
dist.all_reduce(s)
print("result %.5f" % s.item())
