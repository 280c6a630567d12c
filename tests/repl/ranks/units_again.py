# SPDX-License-Identifier: MIT
# A unit of FSDP that runs several times in one forward, and the optimizers whose
# loops set elements of a DTensor or multiply a list by itself.
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import ScheduleInterleavedZeroBubble
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode

dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("dp",))

def numbers(shape, k):
    n = torch.Size(shape).numel()
    return (((torch.arange(n) * 31 + 7 * k) % 41 - 20).float() / 40).view(shape)

class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.i = nn.Linear(4, 6)
        self.h = nn.Linear(6, 6)

    def forward(self, x, s):
        return torch.tanh(self.i(x) + self.h(s))

class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = Cell()
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        s = x.new_zeros(x.shape[0], 6)
        for k in range(x.shape[1]):
            s = self.cell(x[:, k], s)
        return self.out(s)

for inputs in False, True:
    m = Recurrent()
    with torch.no_grad():
        for k, p in enumerate(m.parameters()):
            p.copy_(numbers(p.shape, k))
    fully_shard(m.cell, mesh=mesh)
    fully_shard(m, mesh=mesh)
    x = (numbers((2, 3, 4), 9) + rank).requires_grad_(inputs)
    for step in range(2):
        with CommDebugMode() as comm:
            m(x).pow(2).mean().backward()
        print(rank, inputs, step, {str(k): n for k, n in comm.get_comm_counts().items()})
        for name, p in m.named_parameters():
            print(rank, name, p.grad.placements, f"{p.grad.full_tensor().abs().sum():.4f}")
            p.grad = None

kinds = {"rprop": lambda p: torch.optim.Rprop(p, lr=0.1),
         "factor": lambda p: torch.optim.Adafactor(p, lr=0.1, foreach=True),
         "factor each": lambda p: torch.optim.Adafactor(p, lr=0.1, weight_decay=0.1)}
for name, kind in kinds.items():
    for pl in [Shard(0)], [Shard(1)], [Replicate()]:
        ps = [nn.Parameter(distribute_tensor(numbers(s, k), mesh, p))
              for k, (s, p) in enumerate((((6, 5), pl), ((4,), [Replicate()]), ((3, 4), pl)))]
        opt = kind(ps)
        try:
            for step in range(3):
                for k, p in enumerate(ps):
                    p.grad = distribute_tensor(numbers(p.shape, step * 5 + k), mesh, p.placements)
                opt.step()
            print(rank, name, pl, *[f"{p.full_tensor().abs().sum():.4f}" for p in ps])
        except RuntimeError as e:
            print(rank, name, pl, str(e).split("\n")[0])
print(rank, ScheduleInterleavedZeroBubble.__name__)
dist.destroy_process_group()
