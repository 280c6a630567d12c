# DT1015 acc at: dist.all_reduce(acc)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# eval accuracy is averaged over batches and ranks, last batch smaller
model = nn.Linear(4, 3)
X, Y = torch.randn(27, 4), torch.randint(0, 3, (27,))
xs, ys = X[rank::world], Y[rank::world]
accs = []
with torch.no_grad():
    for xb, yb in zip(xs.split(4), ys.split(4)):
        accs.append((model(xb).argmax(-1) == yb).float().mean())
acc = torch.stack(accs).mean()  # wrong
dist.all_reduce(acc)  # wrong
acc = acc / world  # wrong
#right c = torch.stack([(model(xs).argmax(-1) == ys).float().sum(), torch.tensor(float(len(ys)))])
#right dist.all_reduce(c)
#right acc = c[0] / c[1]
print("result %.5f" % acc.item())
