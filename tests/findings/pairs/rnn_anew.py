# DT1150 h0 at: h0 = torch.zeros(B, H)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, I, H = 3, 12, 4, 8


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.rec = nn.Linear(I, H), nn.Linear(H, H)
        self.out = nn.Linear(H, 2)

    def forward(self, x, h):
        ys = []
        for x_t in self.inp(x).unbind(1):
            h = torch.tanh(x_t + self.rec(h))
            ys.append(h)
        return self.out(torch.stack(ys, 1)), h


model = Tagger()
x = torch.randn(B, T, I)
mine = x.chunk(world, dim=1)[rank]
h0 = torch.zeros(B, H)  # wrong
#right h0 = torch.zeros(B, H)
with torch.no_grad():
    #right if rank > 0:
        #right dist.recv(h0, rank - 1)
    logits, h = model(mine, h0)
    #right if rank < world - 1:
        #right dist.send(h, rank + 1)
    logp = logits.log_softmax(-1)[..., 0].sum()
    dist.all_reduce(logp)
print("score %.5f" % (logp / (B * T)).item())
dist.destroy_process_group()
