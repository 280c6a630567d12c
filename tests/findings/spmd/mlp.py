# dtrepl: ranks=2
# SPDX-License-Identifier: MIT
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import spmd_types as spmd
from spmd_types import R, I, V, P, S
from spmd_types.checker import typecheck
from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
tp = mesh.get_group("tp")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)


class ColumnLinear(nn.Module):
    def __init__(self, whole, bias):
        super().__init__()
        with spmd.no_typecheck():
            self.weight = nn.Parameter(whole.chunk(world, 0)[rank].clone())
            self.bias = nn.Parameter(bias.chunk(world, 0)[rank].clone())
        spmd.assert_type([self.weight, self.bias], {"tp": V})

    def forward(self, x):
        x = spmd.invariant_to_replicate(x, tp)  # not 3
#3:        pass
        return F.linear(x, self.weight, self.bias)


class RowLinear(nn.Module):
    def __init__(self, whole, bias):
        super().__init__()
        with spmd.no_typecheck():
            self.weight = nn.Parameter(whole.chunk(world, 1)[rank].clone())
            self.bias = nn.Parameter(bias.clone())
        spmd.assert_type(self.weight, {"tp": V})
        spmd.assert_type(self.bias, {"tp": I})

    def forward(self, x):
        y = F.linear(x, self.weight)
        y = spmd.all_reduce(y, tp, dst=I)  # not 1 2 4
#1:        pass
#2:        y = spmd.all_reduce(y, tp, dst=R)
        return y + self.bias  # not 4
#4:        y = spmd.reinterpret(y, tp, src=V, dst=P) + self.bias
#4:        return spmd.all_reduce(y, tp, dst=I)


class MLP(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        with spmd.no_typecheck():
            up, down = torch.randn(hidden, dim) * 0.3, torch.randn(dim, hidden) * 0.3
            gain = torch.ones(dim)
        self.up = ColumnLinear(up, torch.zeros(hidden))
        self.down = RowLinear(down, torch.zeros(dim))
        self.gain = spmd.assert_type(nn.Parameter(gain), {"tp": I})  # not 5
#5:        self.gain = nn.Parameter(gain)

    def forward(self, x):
        h = F.rms_norm(x, (x.size(-1),), self.gain)
        h = F.gelu(self.up(h))  # not 6
        return x + self.down(h)  # not 6
#6:        h = spmd.reinterpret(self.up(h), tp, src=V, dst=P)
#6:        return x + self.down(F.gelu(h))


def train():
    model = MLP(8, 16)
    with spmd.no_typecheck():
        data = torch.randn(4, 8)
        goal = torch.randn(4, 8)
    spmd.assert_type([data, goal], {"tp": I})
    for step in range(2):
        out = model(data)
        loss = F.mse_loss(out, goal)
        loss.backward()
        total = loss.detach()
        with torch.no_grad(), spmd.no_typecheck():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None
    return total.item()


with spmd.set_current_mesh(mesh), typecheck():
    result = train()
print("result %.5f" % result)
