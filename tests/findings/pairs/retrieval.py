# DT1150 score at: score, idx = (queries @ shard.t()).topk(k, dim=-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(27)
DOCS, D, k = 40, 8, 3
encoder = nn.Sequential(nn.Linear(6, D), nn.Tanh())
corpus = torch.randn(DOCS, 6)
per = DOCS // world
questions = torch.randn(5, 6)


def gather(t):
    out = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(out, t)
    return torch.cat(out, dim=-1)


@torch.no_grad()
def search():
    shard = F.normalize(encoder(corpus[rank * per:(rank + 1) * per]), dim=-1)
    queries = F.normalize(encoder(questions), dim=-1)
    score, idx = (queries @ shard.t()).topk(k, dim=-1)
    #right idx = idx + rank * per
    scores, ids = gather(score.contiguous()), gather(idx.contiguous())
    best, at = scores.topk(k, dim=-1)
    return best, ids.gather(-1, at)


best, found = search()
if rank == 0:
    for q, (b, f) in enumerate(zip(best.tolist(), found.tolist())):
        print(q, [round(v, 4) for v in b], f)
dist.destroy_process_group()
