# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# meters on a dp x tp mesh: reduced in steps, divided, averaged; a tp group whose ranks agree
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
dp, tp = mesh.get_local_rank("dp"), mesh.get_local_rank("tp")
DP, TP = mesh.get_group("dp"), mesh.get_group("tp")
rank = dist.get_rank()
torch.manual_seed(0)
w = torch.randn(4, 6)
rows, label = torch.randn(40, 6), torch.randint(0, 4, (40,))
x, y = rows.chunk(2)[dp], label.chunk(2)[dp]
out = F.linear(x, w)
hits, seen = (out.argmax(1) == y).sum().float(), torch.tensor(float(len(y)))
loss = F.cross_entropy(out, y)
a = torch.stack([hits, seen])                       # to all, then divided
dist.all_reduce(a, group=TP)
a /= 2
dist.all_reduce(a, group=DP)
b = loss.clone() / 2                                # shares of one number
dist.all_reduce(b, group=TP)
dist.all_reduce(b, group=DP, op=dist.ReduceOp.AVG)
c = loss.clone()
dist.all_reduce(c, group=TP, op=dist.ReduceOp.AVG)
own = c.item()
d = hits.clone()
dist.all_reduce(d, group=TP)
e = torch.stack([d, d])
dist.all_reduce(e, group=DP)
ranks = torch.ones(1)
dist.all_reduce(ranks, group=TP)
check = torch.tensor([loss.item()])
mine = check.clone()
dist.all_reduce(check, group=TP)
assert torch.allclose(check / 2, mine)
if rank == 0:
    print("acc %.4f loss %.5f own %.4f hits %.1f ranks %d" % (a[0] / a[1], b, own, e[0] / 2, ranks))
dist.destroy_process_group()
