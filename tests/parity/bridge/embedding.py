# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# An embedding whose rows are cut, a norm, and a loss.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 16, bias=False)

    def forward(self, ids):
        return self.head(self.norm(self.emb(ids)))


torch.manual_seed(2)
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
net = parallelize_module(Net(), mesh, {
    "emb": RowwiseParallel(input_layouts=Replicate(),
                           output_layouts=Shard(1)),
    "norm": SequenceParallel(),
    "head": ColwiseParallel(input_layouts=Shard(1),
                            output_layouts=Replicate())})
ids = torch.arange(16).view(2, 8)
loss = F.cross_entropy(net(ids).view(-1, 16), ids.view(-1))
loss.backward()
