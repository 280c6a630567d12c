# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# data parallel with buckets, clipping after the reduction, one evaluation
net = nn.Sequential(nn.Embedding(12, 6), nn.Flatten(), nn.LayerNorm(18),
                    nn.Dropout(0.1), nn.Linear(18, 12))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
text = torch.randint(0, 12, (16, 4))
mine = text.chunk(world)[rank]
for _ in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(net(mine[:, :3]), mine[:, 3])
    loss.backward()
    flat = torch.cat([p.grad.flatten() for p in net.parameters()])
    dist.all_reduce(flat, op=dist.ReduceOp.AVG)
    at = 0
    for p in net.parameters():
        p.grad.copy_(flat[at:at + p.grad.numel()].view_as(p.grad))
        at += p.grad.numel()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    dist.all_reduce(loss.detach().clone(), op=dist.ReduceOp.AVG)
net.eval()
with torch.no_grad():
    right = (net(text[:, :3]).argmax(-1) == text[:, 3]).sum()
print(right.item())
