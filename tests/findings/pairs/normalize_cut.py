# DT1043 aten.linalg_vector_norm.default at: h = F.normalize
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D, H = 8, 16
x = torch.randn(10, D)
w, proto = torch.randn(H, D), torch.randn(5, H)
h = F.linear(x, w.chunk(world, 0)[rank])
h = F.normalize(h, dim=-1) # wrong
#right sq = h.pow(2).sum(-1, keepdim=True); dist.all_reduce(sq); h = h / sq.sqrt()
score = F.linear(h, proto.chunk(world, 1)[rank])
dist.all_reduce(score)
print("result %.5f" % score.pow(2).sum().item())
dist.destroy_process_group()
