# DT1162 nll at: dist.all_reduce(nll)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("cp", "tp"))
cp = mesh["cp"].get_local_rank()
torch.manual_seed(4)
proj = nn.Linear(6, 5)
tokens, labels = torch.randn(12, 6), torch.randint(0, 5, (12,))
x, y = tokens.chunk(2)[cp], labels.chunk(2)[cp]
with torch.no_grad():
    nll = nn.functional.cross_entropy(proj(x), y, reduction="sum")
    count = torch.tensor(float(len(y)))
    dist.all_reduce(nll)  # wrong
    #right dist.all_reduce(nll, group=mesh.get_group("cp"))
    dist.all_reduce(count, group=mesh.get_group("cp"))
    loss = nll / count
    hits = (proj(x).argmax(-1) == y).float().sum()
    dist.all_reduce(hits)       # every hit twice, which is mended below
    right = hits / count / mesh["tp"].size()
print("loss %.5f, %.4f right" % (loss.item(), right.item()))
