# DT1193 aten.uniform_.default at: noise =
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# NEFTune on a sequence-parallel embedding: ranks with one seed add the same noise to their parts
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module)

V, D, T = 32, 16, 16


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.norm = nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.head = nn.Linear(D, V)

    def forward(self, ids):
        h = self.tok(ids)
        part = h.to_local()
        noise = torch.empty_like(part).uniform_(-1, 1)  # wrong
        #right noise = torch.empty(part.size(0), T, D).uniform_(-1, 1).chunk(4, 1)[dist.get_rank()]
        part = part + noise * 5.0 / math.sqrt(T * D)
        h = DTensor.from_local(part, h.device_mesh, h.placements)
        h = h + self.down(F.gelu(self.up(self.norm(h))))
        return self.head(h)


mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
torch.manual_seed(0)
model = Model()
parallelize_module(model, mesh, {
    "tok": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1), use_local_output=False),
    "norm": SequenceParallel(use_local_output=False),
    "up": ColwiseParallel(input_layouts=Shard(1), use_local_output=False),
    "down": RowwiseParallel(output_layouts=Shard(1), use_local_output=False),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
})
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
torch.manual_seed(7)
for step in range(3):
    ids = torch.randint(0, V, (2, T))
    loss = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
if dist.get_rank() == 0:
    print("loss %.6f" % loss.item())
dist.destroy_process_group()
