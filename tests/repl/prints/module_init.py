# SPDX-License-Identifier: MIT
# A module before its super().__init__(), and what its __dict__ holds.
import torch
import torch.nn as nn


class Child(nn.Module):
    def __init__(self):
        self.a = 3
        self.child = nn.Linear(2, 2)


class Param(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(torch.ones(1))


class Nothing(nn.Module):
    def __init__(self):
        self.a = 1
        self.t = torch.ones(1)
        self.list = [nn.Linear(1, 1)]

    def forward(self, x):
        return x


class Buffer(nn.Module):
    def __init__(self):
        self.register_buffer("b", torch.ones(1))


class Flag(nn.Module):
    def __init__(self):
        print(self.training)


class Added(nn.Module):
    def __init__(self):
        self.add_module("x", nn.Linear(1, 1))


class Mixin:
    size = 2


class Mixed(Mixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(self.size, 1)


class Explicit(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.l = nn.Linear(2, 1)


class Deep(Mixed):
    def __init__(self):
        super(Deep, self).__init__()
        self.m = nn.Linear(1, 1)


class Own(nn.Linear):
    def __init__(self):
        super().__init__(2, 3)
        self.extra = nn.Parameter(torch.ones(1))


class Listed(nn.ModuleList):
    def __init__(self):
        super().__init__([nn.ReLU()])
        self.l = nn.Linear(1, 1)


def show(name, f):
    try:
        print(name, f())
    except (AttributeError, TypeError) as e:
        print(name, type(e).__name__, e)


for c in (Child, Param, Nothing, Buffer, Flag, Added, Mixed, Explicit, Deep,
          Own, Listed):
    show(c.__name__, lambda: type(c()).__name__)
n = Nothing()
show("call", lambda: n(1))
show("parameters", lambda: list(n.parameters()))
show("train", lambda: n.train())
show("state_dict", lambda: n.state_dict())
show("to", lambda: n.to("cpu"))
print(n.a, n.t, len(n.list), n.forward(4))
show("arguments", lambda: nn.Module(1))
show("keywords", lambda: nn.Module(a=1))

m = Explicit()
m.register_buffer("b", torch.ones(1), persistent=False)
m.zz = "q"
print(list(vars(m)))
print(m.__dict__["zz"], "l" in m.__dict__, list(vars(m)["_modules"]),
      list(m.__dict__["_buffers"]), m.__dict__["_non_persistent_buffers_set"],
      m.__dict__["training"])
vars(m)["zz"] = 7
m.__dict__.update({"u": 5})
print(m.zz, m.u)
