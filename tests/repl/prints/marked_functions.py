# SPDX-License-Identifier: MIT
# torch.jit's marks leave functions and modules as they are.
import torch
import torch.nn as nn


@torch.jit.script
def gelu(x: torch.Tensor, slope: float) -> torch.Tensor:
    return x * 0.5 * (1.0 + torch.tanh(slope * x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.extra(x) if torch.jit.is_scripting() else self.layer(x)

    @torch.jit.ignore
    def extra(self, x):
        return x

    @torch.jit.unused
    def more(self, x):
        return x + 1

    @torch.jit.export
    def less(self, x):
        return x - 1


torch.manual_seed(0)
net, x = Net(), torch.ones(2)
print(gelu(x, 0.8), net(x).detach(), net.extra(x), net.more(x), net.less(x))
print(torch.jit.is_tracing(), torch.jit.annotate(list[int], [1]))
