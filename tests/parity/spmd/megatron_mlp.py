# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# A Megatron MLP with types: the first weight is cut by columns, the second by
# rows, so that one sum ends the block.  An argument plants a mistake, by number.
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import spmd_types as spmd
from spmd_types import I, P, R, S, V
from spmd_types.checker import typecheck
from torch.distributed.device_mesh import init_device_mesh

MISTAKE = int(sys.argv[1]) if len(sys.argv) > 1 else 0
BATCH, WIDTH, HIDDEN = 4, 6, 8

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
tp = mesh.get_group("tp")


def numbers(*shape, seed):
    n = 1
    for s in shape:
        n *= s
    return torch.tensor([((7 * k + 3 * seed) % 11 - 5) / 8 for k in range(n)],
                        dtype=torch.float64).reshape(shape)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        up = numbers(HIDDEN, WIDTH, seed=1).chunk(world, 0)[rank]
        down = numbers(WIDTH, HIDDEN, seed=2).chunk(world, 1)[rank]
        self.up = nn.Parameter(up.contiguous())
        self.down = nn.Parameter(down.contiguous())
        self.bias = nn.Parameter(numbers(WIDTH, seed=3))
        spmd.assert_type(self.up, {tp: V})
        spmd.assert_type(self.down, {tp: R if MISTAKE == 1 else V})
        spmd.assert_type(self.bias, {tp: V if MISTAKE == 2 else I})

    def forward(self, x):
        if MISTAKE != 3:
            x = spmd.convert(x, tp, src=I, dst=R)
        h = F.gelu(F.linear(x, self.up))
        y = F.linear(h, self.down)
        y = spmd.reinterpret(y, tp, src=V, dst=P)
        if MISTAKE == 4:
            y = F.relu(y)
        if MISTAKE == 5:
            y = y + self.bias
        if MISTAKE != 6:
            y = spmd.all_reduce(y, tp, dst=R if MISTAKE == 7 else I)
        if MISTAKE == 8:
            y = spmd.all_reduce(y, tp, dst=I)
        return y + self.bias


block = Block()
x = numbers(BATCH, WIDTH, seed=4).requires_grad_()
spmd.assert_type(x, {tp: I})

with spmd.set_current_mesh(mesh), typecheck():
    y = block(x)
    loss = (y * y).sum()
    if MISTAKE == 9:
        loss = spmd.reinterpret(loss, tp, src=I, dst=V)
    if MISTAKE == 10:
        spmd.assert_type(loss, {tp: P})
    loss.backward()

if rank == 0:
    print("loss %.6f" % loss.item())
    for name, p in list(block.named_parameters()) + [("x", x)]:
        print(name, "%.6f" % p.grad.norm().item(),
              spmd.get_axis_local_type(p, tp))
dist.destroy_process_group()
