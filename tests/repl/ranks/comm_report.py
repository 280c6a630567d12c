# SPDX-License-Identifier: MIT
# What CommDebugMode writes out: its table at the noise levels, without colours
# as a file, as JSON; of nested modules, a recomputed one and an optimizer.
import json
import os
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import (ColwiseParallel,
                                               RowwiseParallel,
                                               parallelize_module)
from torch.utils.checkpoint import checkpoint


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 16)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(16, 10)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = MLP()
        self.b = MLP()
        self.scale = nn.Parameter(torch.ones(10))

    def forward(self, x):
        x = checkpoint(self.a, x, use_reentrant=False)
        return self.b(x) * self.scale.sum()


mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
plan = {"a.net1": ColwiseParallel(), "a.net2": RowwiseParallel(),
        "b.net1": ColwiseParallel(), "b.net2": RowwiseParallel()}
net = parallelize_module(Net(), mesh, plan)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
comm = CommDebugMode()
with comm:
    net(torch.ones(8, 10)).sum().backward()
    optimizer.step()


def show(tree, depth=0):
    print(" " * depth + tree["fqn"], tree["module_type"], tree["parameters"],
          tree["collectives_forward"], tree["collectives_backward"])
    for phase in ("forward", "backward", "checkpointing"):
        for op in tree["operations_" + phase]:
            print(" " * depth, phase, op["name"], op["input_shape"],
                  op["input_sharding"], op["device_mesh"])
    for child in tree["children"]:
        show(child, depth + 1)


if dist.get_rank() == 0:
    print(comm.generate_comm_debug_tracing_table(noise_level=0))
    comm.log_comm_debug_tracing_table_to_file("table.txt", noise_level=0)
    with open("table.txt") as file:
        print(file.read())
    os.remove("table.txt")
    comm.generate_json_dump("comm.json", noise_level=1)
    with open("comm.json") as file:
        show(json.load(file))
    os.remove("comm.json")
# The same mode again, without modules: it begins anew.
x = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
with comm:
    x @ x
if dist.get_rank() == 0:
    print(comm.generate_comm_debug_tracing_table(noise_level=1))
    print(len(comm.generate_comm_debug_tracing_table().split("\n")))
