# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# tensor parallel decoding with a cache
D, H, V = 16, 4, 20
hd = D // H
emb, head = torch.randn(V, D), torch.randn(V, D)
wq, wk, wv = (torch.randn(D, D).chunk(world)[rank] for _ in range(3))
wo = torch.randn(D, D).chunk(world, 1)[rank]
ids = torch.tensor([[1, 2, 3]])
kc = torch.zeros(1, H // world, 12, hd); vc = torch.zeros(1, H // world, 12, hd)
pos, cur = 0, ids
for step in range(4):
    h = emb[cur]
    n = cur.size(1)
    q, k, v = ((h @ w.t()).view(1, n, -1, hd).transpose(1, 2) for w in (wq, wk, wv))
    kc[:, :, pos:pos + n] = k; vc[:, :, pos:pos + n] = v
    pos += n
    att = (q @ kc[:, :, :pos].transpose(-1, -2) / hd ** .5).softmax(-1)
    o = (att @ vc[:, :, :pos]).transpose(1, 2).reshape(1, n, -1) @ wo.t()
    dist.all_reduce(o)
    cur = ((h + o)[:, -1] @ head.t()).argmax(-1, keepdim=True)
    ids = torch.cat([ids, cur], 1)
print(ids.tolist())
