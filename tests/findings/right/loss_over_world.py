# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Summed over ranks of which two have the same each, and divided by two.
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
    dist.all_reduce(nll)
    dist.all_reduce(count, group=mesh.get_group("cp"))
print("loss %.5f" % (nll / count / 2).item())
