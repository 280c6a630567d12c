# DT1015 loss at: loss = F.cross_entropy(out, yb.flatten(), ignore_index=-100) / 4  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# the well-known accumulation fault: means of micro-batches with different token counts
V, D = 12, 8
emb, head = nn.Embedding(V, D), nn.Linear(D, V)
params = [*emb.parameters(), *head.parameters()]
opt = torch.optim.AdamW(params, lr=1e-2)
ids = torch.randint(0, V, (16, 10))
lab = ids.roll(-1, 1)
for i in range(16): lab[i, 2 + i % 8:] = -100
mine, ml = ids.chunk(world)[rank], lab.chunk(world)[rank]
ntok = (lab[:, :] != -100).sum()
for step in range(2):
    opt.zero_grad()
    for xb, yb in zip(mine.split(1), ml.split(1)):
        out = head(emb(xb)).flatten(0, 1)
        loss = F.cross_entropy(out, yb.flatten(), ignore_index=-100) / 4  # wrong
        #right loss = F.cross_entropy(out, yb.flatten(), ignore_index=-100, reduction="sum") * world / ntok
        loss.backward()
    for p in params: dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
