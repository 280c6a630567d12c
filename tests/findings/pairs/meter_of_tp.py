# DT1204 hits at: dist.all_reduce(hits, group=
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# an evaluation over a dp x tp mesh: the hits are summed over tp, whose ranks have the same rows
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_local_rank("dp"), mesh.get_local_rank("tp")
torch.manual_seed(0)
D, C, H, N = 8, 4, 16, 40
w1 = (torch.randn(H, D) * 0.5).chunk(2, 0)[tp]
w2 = (torch.randn(C, H) * 0.5).chunk(2, 1)[tp]
rows, label = torch.randn(N, D), torch.randint(0, C, (N,))
x, y = rows.chunk(2)[dp], label.chunk(2)[dp]
hits, seen = torch.zeros(1), torch.zeros(1)
with torch.no_grad():
    for i in range(0, len(x), 5):
        out = F.linear(torch.relu(F.linear(x[i:i + 5], w1)), w2)
        dist.all_reduce(out, group=mesh.get_group("tp"))
        hits += (out.argmax(1) == y[i:i + 5]).sum()
        seen += 5
dist.all_reduce(hits, group=mesh.get_group("tp"))  # wrong
dist.all_reduce(seen, group=mesh.get_group("tp"))  # wrong
#right dist.all_reduce(hits, group=mesh.get_group("dp"))
#right dist.all_reduce(seen, group=mesh.get_group("dp"))
if dist.get_rank() == 0:
    print("accuracy %.4f" % (hits / seen).item())
dist.destroy_process_group()
