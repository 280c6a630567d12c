# DT1150 s at: lse = s.logsumexp(-1, keepdim=True)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
H, d = 2, 4
class CutCache:
    """Keys and values of a sequence, dealt out to the ranks by turns."""
    def __init__(self):
        self.k, self.v = [], []
    def append(self, t, k, v):
        if t % world == rank:
            self.k.append(k)
            self.v.append(v)
    def attend(self, q):
        k, v = torch.stack(self.k, 1), torch.stack(self.v, 1)
        s = (q[:, None] * k).sum(-1) / d ** 0.5
        lse = s.logsumexp(-1, keepdim=True)
        o = (s - lse).exp().unsqueeze(1).matmul(v).squeeze(1)
        m = lse.clone()
        dist.all_reduce(m, op=dist.ReduceOp.MAX)
        weight = torch.full_like(lse, 1.0)  # wrong
        #right weight = (lse - m).exp()
        o = o * weight
        dist.all_reduce(o)
        dist.all_reduce(weight)
        return o / weight

cache = CutCache()
for t in range(12):
    cache.append(t, torch.randn(H, d) * 2, torch.randn(H, d))
q = torch.randn(H, d) * 2
print("result %.5f" % cache.attend(q).square().sum().item())
