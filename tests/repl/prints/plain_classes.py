# SPDX-License-Identifier: MIT
# A plain class is no nn.Module: neither on its own nor as a field of a model.
from dataclasses import dataclass

import torch
import torch.nn as nn


class Config:
    def __init__(self):
        self.dim = 4
        self.training = False


@dataclass
class Args:
    dim: int = 4
    training: bool = False


class Logger:
    def __init__(self, model):
        self.model = model
        self.w = nn.Parameter(torch.ones(1))


class Mixin:
    def extra(self):
        return "extra of " + type(self).__name__


class Net(Mixin, nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.args = Args()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        return self.l(x)


n = Net(Config())
n.log = Logger(n)
print([name for name, _ in n.named_modules()], len(list(n.children())))
print(n)
n.eval()
n.train()
print(n.cfg.training, n.args, list(n.state_dict()), len(list(n.parameters())))
n.apply(lambda m: print(type(m).__name__))
print(isinstance(n.cfg, nn.Module), isinstance(n, nn.Module), isinstance(n, Mixin), n.extra())
print(issubclass(Config, nn.Module), issubclass(Net, nn.Module), Net.__mro__[1:3], n(torch.ones(1, 4)).shape)
b = n.log
b.w = None
b.w = 5
b.parameters = 3
print(b.w, b.parameters, hasattr(b, "forward"), hasattr(b, "training"), hasattr(b, "_modules"), callable(b))
try:
    n.l = 3
except TypeError as e:
    print(e)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return torch.tensor([i, i])


print([x.tolist() for x in torch.utils.data.DataLoader(Rows(), batch_size=2)], isinstance(Rows(), nn.Module))
