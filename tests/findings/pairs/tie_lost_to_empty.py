# DT1024 model.head.weight at: model.to_empty(device="cpu")
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (2,))

class LM(nn.Module):
    def __init__(self, vocab=12, dim=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mid = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.emb.weight

    def forward(self, ids):
        return self.head(torch.tanh(self.mid(self.emb(ids))))

with torch.device("meta"):
    model = LM()
model.to_empty(device="cpu")  # wrong
#right model.to_empty(device="cpu"); model.head.weight = model.emb.weight
torch.manual_seed(6)
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.randn(p.shape) * 0.2)
fully_shard(model.mid, mesh=mesh)
fully_shard(model, mesh=mesh)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
torch.manual_seed(30 + dist.get_rank())
for step in range(3):
    ids = torch.randint(0, 12, (4, 6))
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % model.emb.weight.full_tensor().square().sum().item())
