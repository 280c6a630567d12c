# SPDX-License-Identifier: MIT
# get_optimizer_state_dict and set_optimizer_state_dict of a program's own
# optimizers, and local_map as a decorator: in one process.
import os
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor, Partial, Shard
from torch.distributed.tensor.experimental import local_map
from torch.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict, set_optimizer_state_dict, StateDictOptions)

for name, value in dict(RANK=0, WORLD_SIZE=1, MASTER_ADDR="localhost", MASTER_PORT=29877).items():
    os.environ.setdefault(name, str(value))
mesh = init_device_mesh("cpu", (1,))


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                st = self.state[p]
                if not st:
                    st["step"] = torch.tensor(0.0)
                    st["exp_avg"] = torch.zeros_like(p)
                st["step"] += 1
                st["exp_avg"].mul_(g["beta"]).add_(p.grad, alpha=1 - g["beta"])
                p.add_(st["exp_avg"].sign(), alpha=-g["lr"])


class Below(torch.optim.AdamW):
    def step(self, closure=None):
        return super().step(closure)


for cls in (Lion, Below, torch.optim.AdamW):
    m = nn.Linear(4, 4)
    fully_shard(m, mesh=mesh)
    o = cls(m.parameters(), lr=0.1)
    sd = get_optimizer_state_dict(m, o)
    print(list(sd["state"]["weight"]), sd["state"]["weight"]["step"], sd["param_groups"][0]["lr"], m.weight.grad)
    m(torch.ones(2, 4)).sum().backward()
    o.step()
    sd = get_optimizer_state_dict(m, o)
    print(type(sd["state"]["weight"]["exp_avg"]).__name__, sd["param_groups"][0]["params"])
    print(list(get_optimizer_state_dict(m, o, options=StateDictOptions(flatten_optimizer_state_dict=True)))[:7])
    m.zero_grad()
    other = cls(m.parameters(), lr=0.7)
    set_optimizer_state_dict(m, other, sd)
    print(other.param_groups[0]["lr"], other.state[m.weight]["step"], other.state[m.weight]["exp_avg"].to_local())


class Bad(torch.optim.Optimizer):
    def __init__(self, p):
        super().__init__(p, {"lr": 1})

    def step(self):
        pass


try:
    get_optimizer_state_dict(m, Bad(m.parameters()))
except TypeError as error:
    print(error)


@local_map(out_placements=([Shard(0)], [Partial()]), in_placements=([Shard(0)],), device_mesh=mesh)
def both(a):
    return a.relu(), a.sum()


x = distribute_tensor(torch.arange(4.) - 1, mesh, [Shard(0)])
print(both(x))
try:
    local_map(lambda a: (a, a), out_placements=(Shard(0), Partial()), device_mesh=mesh)(x)
except TypeError as error:
    print(error)
