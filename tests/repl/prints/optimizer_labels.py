# SPDX-License-Identifier: MIT
# An optimizer that a program writes has DebugMode's lines for its steps, too.
import torch
from torch.utils._debug_mode import DebugMode


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.add_(p.grad, alpha=-0.1)


class Twice(torch.optim.SGD):
    def step(self, closure=None):
        super().step()
        return super().step()


class Own(Plain):
    pass


net = torch.nn.Linear(2, 1)
for kind in (Plain, Twice, Own):
    opt = kind(net.parameters(), lr=0.5)
    net(torch.ones(1, 2)).sum().backward()
    with DebugMode() as mode:
        opt.step()
        opt.zero_grad()
    lines = mode.debug_string().split("\n")
    print([line for line in lines if "record" in line])
