# DT1150 top at: top = top / top.sum(-1, keepdim=True).clamp(min=1e-9)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# expert parallel: the weights of the chosen experts are normalised over those of this rank
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import torch.distributed.nn.functional as dnn

class MoE(nn.Module):
    def __init__(self, d, e, rank, world):
        super().__init__()
        self.gate = nn.Linear(d, e, bias=False)
        self.n, self.lo = e // world, rank * (e // world)
        w = torch.randn(e, d, d) / d ** 0.5
        self.w = nn.Parameter(w[self.lo:self.lo + self.n].clone())
    def forward(self, x):
        p = self.gate(x).softmax(-1)
        top, idx = p.topk(3, -1)
        here = ((idx >= self.lo) & (idx < self.lo + self.n)).float()
        top = top * here  # wrong
        top = top / top.sum(-1, keepdim=True).clamp(min=1e-9)  # wrong
        #right top = top / top.sum(-1, keepdim=True) * here
        out = torch.zeros_like(x)
        for j in range(self.n):
            c = (top * (idx == self.lo + j)).sum(-1, keepdim=True)
            out = out + c * torch.tanh(x @ self.w[j])
        return dnn.all_reduce(out)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(41)
moe = MoE(6, 8, rank, world)
x = torch.randn(12, 6)
with torch.no_grad():
    print("out %.5f" % moe(x).square().mean().item())
