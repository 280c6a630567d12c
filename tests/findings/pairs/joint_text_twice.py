# DT1150 k at: k, v = gather(torch.cat([text_k, k])), gather(torch.cat([text_v, v]))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
def show(*ts):
    s = sum(t.detach().double().square().sum() for t in ts)
    if rank == 0:
        print("result %.6f" % s.item())

# image tokens are cut over the ranks, the prompt's tokens are on every rank
TXT, IMG, D = 6, 16, 8
text, image = torch.randn(TXT, D), torch.randn(IMG, D)
wq, wk, wv = (torch.randn(D, D) * 0.4 for _ in range(3))
mine = image.chunk(world)[rank]
def gather(t):
    parts = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(parts, t.contiguous())
    return torch.cat(parts)
q = mine @ wq
k, v = mine @ wk, mine @ wv
text_k, text_v = text @ wk, text @ wv
k, v = gather(torch.cat([text_k, k])), gather(torch.cat([text_v, v]))  # wrong
#right k, v = torch.cat([text_k, gather(k)]), torch.cat([text_v, gather(v)])
att = (q @ k.t() / math.sqrt(D)).softmax(-1) @ v
out = gather(att)
show(out)
