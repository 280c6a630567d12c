# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# strided evaluation with sums
model = nn.Linear(4, 3)
X, Y = torch.randn(27, 4), torch.randint(0, 3, (27,))
hit, loss, n = torch.zeros(()), torch.zeros(()), 0
with torch.no_grad():
    for xb, yb in zip(X[rank::world].split(3), Y[rank::world].split(3)):
        o = model(xb)
        hit += (o.argmax(-1) == yb).sum()
        loss += F.cross_entropy(o, yb, reduction="sum")
        n += len(yb)
s = torch.stack([hit, loss, torch.tensor(float(n))])
dist.all_reduce(s)
ppl = (s[1] / s[2]).exp()
print(s[0] / s[2], ppl)
