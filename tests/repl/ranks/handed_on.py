# SPDX-License-Identifier: MIT
# What a module of the program is given, and what it gives, under
# DistributedDataParallel, fully_shard and tensor parallel styles.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, parallelize_module, PrepareModuleInput)
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
rank = dist.get_rank()


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(2, 2, bias=False)
        nn.init.constant_(self.proj.weight, 0.5)

    def forward(self, x, cache, options=None, **more):
        y = self.proj(x)
        cache.append(y.sum().item())
        if options is not None:
            options["calls"] = options.get("calls", 0) + 1
        return {"out": y, "pair": (y,), "empty": {}, "more": more}


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Cached()

    def forward(self, x, cache, options=None):
        return self.inner(x, cache, options, flag=[True], none=None)


def kind(v):
    if isinstance(v, (tuple, list)):
        return type(v)(kind(w) for w in v)
    if isinstance(v, dict):
        return {k: kind(w) for k, w in v.items()}
    return type(v).__name__


def show(name, model, x):
    cache, options = [], {}
    out = model(x, cache, options)
    out = model(x, cache, options=options)
    print(rank, name, cache, options, kind(out))
    out["out"].sum().backward()


x = torch.ones(2, 2, requires_grad=True)
show("plain", Outer(), x)
show("ddp", DDP(Outer()), x)
sharded = Outer()
fully_shard(sharded.inner, mesh=mesh)
fully_shard(sharded, mesh=mesh)
show("fully_shard", sharded, x)
print(rank, x.grad.tolist())
tp = parallelize_module(Outer(), mesh, {"inner.proj": ColwiseParallel()})
show("colwise", tp, x)
dist.destroy_process_group()
