# DT1043 aten.linalg_vector_norm.default at: s = F.cosine_similarity(a, b, dim=-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist


class Head(nn.Module):
    def __init__(self, d, width, rank, world):
        super().__init__()
        g = torch.Generator().manual_seed(55)
        w = torch.randn(width, d, generator=g) / d ** 0.5
        self.w = nn.Parameter(w.tensor_split(world)[rank].clone())

    def forward(self, x):
        return x @ self.w.t()


def similarity(a, b):
    s = F.cosine_similarity(a, b, dim=-1)  # wrong
    dist.all_reduce(s)  # wrong
    return s / dist.get_world_size()  # wrong
    #right t = torch.stack([(a * b).sum(-1), (a * a).sum(-1), (b * b).sum(-1)])
    #right dist.all_reduce(t)
    #right return t[0] / (t[1] * t[2]).sqrt()


dist.init_process_group("gloo")
head = Head(6, 16, dist.get_rank(), dist.get_world_size())
torch.manual_seed(1)
a, b = torch.randn(5, 6), torch.randn(5, 6)
with torch.no_grad():
    s = similarity(head(a), head(b))
print(["%.4f" % v for v in s.tolist()])
