# SPDX-License-Identifier: MIT
# What DebugMode prints, to the letter: operators on distributed tensors, what
# is moved for them, collectives with their operators, in place, backward.
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (
    DTensor, Partial, Replicate, Shard, distribute_tensor, full, ones, zeros)
from torch.profiler import record_function
from torch.utils._debug_mode import DebugMode

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(0)
x = distribute_tensor(torch.randn(8, 8), mesh, [Shard(0)])
w = distribute_tensor(torch.randn(8, 8), mesh, [Shard(1)])


def product():
    return x @ w


def moved():
    x.redistribute(mesh, [Replicate()])
    DTensor.from_local(torch.ones(4, 4), mesh, [Partial()]).redistribute(
        mesh, [Shard(0)])


def types():
    x.to(torch.float64)
    x.to(torch.float32)
    x.half()


def views():
    x.view(8, 8)
    x.view(4, 16)
    x.t()
    x.contiguous()
    x[:, 1:3]
    x[0]


def sums():
    x.sum().full_tensor()
    x.mean(0)
    torch.softmax(x, 0)
    torch.nn.functional.layer_norm(x, (8,))


def made():
    distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])
    distribute_tensor(torch.ones(8, 4), mesh, [Replicate()])
    torch.cat([x, x])
    x.split(4)


def partial():
    p = DTensor.from_local(torch.ones(4, 4), mesh, [Partial()])
    p + 1
    p.relu()


def backward():
    a, b = x.detach().requires_grad_(), w.detach().requires_grad_()
    (a @ b).relu().sum().backward()


def in_place():
    y = x.clone()
    y.add_(1)
    y.zero_()
    y.copy_(x)
    y.mul_(2.0)


def uneven():
    y = distribute_tensor(torch.ones(3, 5), mesh, [Shard(1)])
    y.full_tensor()
    y.redistribute(mesh, [Shard(0)])
    z = distribute_tensor(torch.ones(3, 5), mesh, [Shard(0)])
    z.full_tensor()
    z.redistribute(mesh, [Shard(1)]).sum(1)
    torch.softmax(z, 0)
    DTensor.from_local(torch.ones(3, 4), mesh, [Partial()]).redistribute(
        mesh, [Shard(0)])


def factories():
    zeros(4, 6, device_mesh=mesh, placements=[Shard(0)])
    ones(3, 6, device_mesh=mesh, placements=[Shard(1)])
    full((3, 6), 2.0, device_mesh=mesh, placements=[Replicate()])


p = torch.nn.Parameter(distribute_tensor(torch.ones(8, 8), mesh, [Replicate()]))
sgd = torch.optim.SGD([p], lr=0.1, foreach=False)


def labelled():
    with record_function("forward"):
        y = x @ p
        with record_function("inner"):
            z = y.relu()
    z.sum().backward()


def steps():
    sgd.step()
    sgd.zero_grad()


for f, outputs in [(product, True), (moved, True), (types, True), (views, True),
                   (sums, True), (made, True), (partial, True), (backward, True),
                   (in_place, True), (uneven, True), (factories, True),
                   (labelled, True), (steps, True),
                   (labelled, False), (steps, False)]:
    with DebugMode(record_output=outputs) as mode:
        f()
    if dist.get_rank() == 0:
        for line in mode.debug_string().split("\n"):
            print(f.__name__ if outputs else "bare", line)
dist.destroy_process_group()
