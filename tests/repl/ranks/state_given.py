# SPDX-License-Identifier: MIT
# Whole state dicts that differ between ranks: those of the first rank are taken,
# with or without broadcast_from_rank0.  to_empty() on another device unties.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.checkpoint import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions, set_model_state_dict)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
rank = dist.get_rank()
for sent in (False, True):
    model = nn.Linear(2, 5)
    fully_shard(model, mesh=mesh)
    given = {"weight": torch.arange(10.).view(5, 2) + 100 * rank, "bias": torch.ones(5) * rank}
    set_model_state_dict(model, given, options=StateDictOptions(
        full_state_dict=True, broadcast_from_rank0=sent))
    print(model.weight.full_tensor(), model.bias.full_tensor())


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3, 2)
        self.head = nn.Linear(2, 3, bias=False)
        self.head.weight = self.emb.weight


with torch.device("meta"):
    model = Tied()
print(len(list(model.parameters())), model.head.weight is model.emb.weight)
model.to_empty(device="meta")
print(len(list(model.parameters())), model.head.weight is model.emb.weight)
model.to_empty(device="cpu")
print(len(list(model.parameters())), model.head.weight is model.emb.weight)
model.to_empty(device="cpu")
print(len(list(model.parameters())), model.head.weight.requires_grad)
print(DefaultLoadPlanner().allow_partial_load, DefaultSavePlanner().__class__.__name__)
