# DT1119 nll at: total = torch.stack([nll.sum(), 
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
N, D, C = 18, 5, 3
data, label = torch.randn(N, D), torch.randint(0, C, (N,))
per = -(-N // world)
lo, hi = rank * per, min(N, (rank + 1) * per)
x = torch.zeros(per, D)
y = torch.zeros(per, dtype=torch.long)
valid = torch.zeros(per, dtype=torch.bool)
x[:hi - lo] = data[lo:hi]
y[:hi - lo] = label[lo:hi]
valid[:hi - lo] = True
model = nn.Linear(D, C)
with torch.no_grad():
    nll = F.cross_entropy(model(x), y, reduction="none")
    total = torch.stack([nll.sum(), torch.tensor(float(per))]) # wrong
    #right total = torch.stack([nll[valid].sum(), valid.sum().float()])
    dist.all_reduce(total)
print("result %.5f" % (total[0] / total[1]).item())
dist.destroy_process_group()
