# DT1026 full at: full = torch.cat(parts)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = nn.Linear(5, 3)
data = torch.randn(16, 5)
labels = torch.randint(0, 3, (16,))
mine = data[rank::world]
with torch.no_grad(): pred = net(mine)
parts = [torch.empty_like(pred) for _ in range(world)]
dist.all_gather(parts, pred)
full = torch.cat(parts) # wrong
#right full = torch.stack(parts, 1).reshape(16, 3)
loss = F.cross_entropy(full, labels)
print("result %.5f" % loss.item())
dist.destroy_process_group()
