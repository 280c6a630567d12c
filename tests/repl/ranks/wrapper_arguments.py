# SPDX-License-Identifier: MIT
# What local_map takes apart, which meshes FullyShardedDataParallel takes, and a
# parameter of DistributedDataParallel that gives its gradient twice.
import warnings

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    FullyShardedDataParallel as FSDP, ShardingStrategy)
from torch.distributed.tensor import Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint

dist.init_process_group("gloo")
warnings.simplefilter("ignore")
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))
a = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
b = distribute_tensor(2 * torch.ones(4, 4), mesh, [Shard(0)])


def attempt(name, f):
    try:
        print(name, f())
    except Exception as e:
        print(name, type(e).__name__, e)


def weighted(pair, s, more=1):
    return pair[0] + pair[1] * s * more


def both(d):
    return d["x"] - d["y"][0]


rows = [Shard(0)]
flat = local_map(weighted, out_placements=rows,
                 in_placements=(rows, rows, None), device_mesh=mesh)
attempt("a list", lambda: flat([a, b], 2.0).full_tensor().sum())
attempt("a tuple", lambda: flat((b, a), 1.0).full_tensor()[0])
attempt("a keyword", lambda: flat([a, b], 2.0, more=3).full_tensor()[0])
attempt("a dict in a decorator", lambda: local_map(
    out_placements=rows, in_placements=(rows, rows))(both)(
        {"x": a, "y": (b,)}).full_tensor()[0])
attempt("the function by name", lambda: local_map(
    func=weighted, out_placements=rows, in_placements=(rows, rows, None),
    device_mesh=mesh)([a, b], 2.0).full_tensor().sum())
attempt("one placement for the outputs", lambda: local_map(
    lambda x: x, Shard(0), device_mesh=mesh)(a))
attempt("one placement for the inputs", lambda: local_map(
    lambda x: x, [Shard(0)], Shard(0), device_mesh=mesh)(a))
attempt("nested placements", lambda: local_map(
    weighted, rows, ((rows, rows), None), device_mesh=mesh)([a, b], 2.0))


def wrap(**given):
    unit = FSDP(nn.Linear(4, 4), device_id=torch.device("cpu"), **given)
    return unit.world_size, unit.sharding_strategy.name


two = init_device_mesh("cpu", (1, 2), mesh_dim_names=("replicate", "shard"))
hybrid = ShardingStrategy.HYBRID_SHARD
attempt("hybrid, one dimension", lambda: wrap(
    device_mesh=mesh, sharding_strategy=hybrid))
attempt("hybrid, two", lambda: wrap(device_mesh=two, sharding_strategy=hybrid))
attempt("full, two", lambda: wrap(device_mesh=two))
attempt("mesh and group", lambda: wrap(
    device_mesh=mesh, process_group=dist.group.WORLD))


class Shared(nn.Module):
    def __init__(self, between, reentrant=True):
        super().__init__()
        self.a, self.reentrant = nn.Linear(4, 4), reentrant
        self.b = nn.Linear(4, 4) if between else nn.ReLU()

    def forward(self, x):
        x = checkpoint(self.a, x, use_reentrant=self.reentrant)
        return checkpoint(self.a, self.b(x), use_reentrant=self.reentrant)


def step(model):
    model(torch.ones(2, 4, requires_grad=True)).sum().backward()
    return "reduced"


attempt("shared by two regions", lambda: step(DDP(Shared(True))))
attempt("not reentrant", lambda: step(DDP(Shared(True, False))))
attempt("the same graph", lambda: step(DDP(Shared(True), static_graph=True)))
attempt("nothing between", lambda: step(DDP(Shared(False))))
attempt("taken for unused", lambda: step(
    DDP(Shared(False), find_unused_parameters=True)))
