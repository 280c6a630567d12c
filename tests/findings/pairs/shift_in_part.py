# DT1087 ids at: return F.cross_entropy(logits[:, :-1]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
V, D, T = 13, 8, 16
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos, self.out = nn.Embedding(V, D), nn.Embedding(T, D), nn.Linear(D, V)
    def forward(self, ids, where):
        return self.out(torch.tanh(self.tok(ids) + self.pos(where)))

model = LM()
ids = torch.randint(0, V, (2, T))
n = T // world
cut = slice(rank * n, (rank + 1) * n)
where = torch.arange(T)[cut]

def causal_loss(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum"), labels[:, 1:].numel()  # wrong
    #right return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum"), (labels != -100).sum().item()

labels = ids[:, cut]  # wrong
#right labels = torch.cat([ids[:, 1:], torch.full((2, 1), -100)], 1)[:, cut]
with torch.no_grad():
    s, c = causal_loss(model(ids[:, cut], where), labels)
    t = torch.stack([s, torch.tensor(float(c))])
    dist.all_reduce(t)
    print("result %.5f" % (t[0] / t[1]).item())
