# DT1128 self._full at: h = torch.tanh(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, distribute_tensor
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
torch.manual_seed(0)
V, D = 16, 8

class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(distribute_tensor(torch.randn(V, D) * 0.3, mesh, [Shard(0)]))
        self.mix = nn.Parameter(distribute_tensor(torch.randn(D, D) * 0.3, mesh, [Replicate()]))
        self._full = None

    def gathered(self):
        if self._full is None:  # wrong
            self._full = self.table.detach().redistribute(placements=[Replicate()])  # wrong
        #right self._full = self.table.detach().redistribute(placements=[Replicate()])
        return self._full

    def forward(self, ids):
        h = torch.tanh(F.embedding(ids, self.gathered()) @ self.mix)
        return h @ self.table.t()

model = Scorer()
opt = torch.optim.SGD(model.parameters(), lr=0.8)
ids = distribute_tensor(torch.randint(0, V, (12,)), mesh, [Replicate()])
nxt = distribute_tensor(torch.randint(0, V, (12,)), mesh, [Replicate()])
for step in range(5):
    opt.zero_grad()
    logits = model(ids).redistribute(placements=[Replicate()])
    loss = F.cross_entropy(logits, nxt)
    loss.backward()
    opt.step()
print("result %.5f" % loss.full_tensor().item())
dist.destroy_process_group()
