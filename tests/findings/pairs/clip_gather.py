# DT1094 model.text.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Linear(6, 5, bias=False), nn.Linear(7, 5, bias=False)
    def forward(self, a, b):
        return F.normalize(self.image(a), dim=-1), F.normalize(self.text(b), dim=-1)

def gather(t):
    parts = [torch.zeros_like(t) for _ in range(world)]
    dist.all_gather(parts, t)
    parts[rank] = t
    return torch.cat(parts)

model = TwoTowers()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
a, b = torch.randn(8, 6).chunk(world)[rank], torch.randn(8, 7).chunk(world)[rank]
for step in range(3):
    opt.zero_grad()
    u, v = model(a, b)
    u, v = gather(u), gather(v)
    logits = 4.0 * u @ v.t()
    target = torch.arange(len(u))
    loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world  # wrong
    opt.step()
print("result %.5f" % loss.item())
