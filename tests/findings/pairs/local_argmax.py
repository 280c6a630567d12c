# DT1043 token at: token = scores.argmax(-1, keepdim=True)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
vocab, D = 24, 6
table = torch.randn(vocab, D)
mine = table.chunk(world)[rank]
h = torch.randn(D)
scores = mine @ h
token = scores.argmax(-1, keepdim=True)  # wrong
#right every = [torch.empty_like(scores) for _ in range(world)]
#right dist.all_gather(every, scores)
#right token = torch.cat(every).argmax(-1, keepdim=True)
dist.broadcast(token, 0)
