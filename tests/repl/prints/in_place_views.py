# SPDX-License-Identifier: MIT
# Writing into a view in place: the gradient of what nobody wants is not
# computed, and what was kept and then overwritten is noticed.
import torch

m = torch.tensor([2., 3.])


def times_constant(v):
    v *= m


def times_constant_twice(v):
    v *= m
    v *= m


def over_constant_then_add(v):
    v /= m
    v += 1


def over_itself(v):
    v /= (v + 1)
    v += m


def times_own_data(v):
    v *= v.detach()


def times_itself(v):
    v *= v


def plus_itself(v):
    v += v


def power(v):
    v.pow_(2)
    v *= m


steps = (times_constant, times_constant_twice, over_constant_then_add,
         over_itself, times_own_data, times_itself, plus_itself, power)
for view in (lambda t: t[:, 0], lambda t: t.sum(1), lambda t: t.select(1, 2)):
    for f in steps:
        x = torch.arange(1., 7.).reshape(2, 3).requires_grad_()
        v = view(x * 2)
        try:
            f(v)
            v.sum().backward()
            print(f.__name__, [round(g, 4) for g in x.grad.flatten().tolist()])
        except RuntimeError as e:
            print(f.__name__, str(e).split(", which")[0].split(" is at")[0])

x = torch.arange(6.).reshape(2, 3).requires_grad_()
g = x.softmax(-1)
v = g[:, :1].squeeze(-1)
v /= 2
v *= m
try:
    v.sum().backward()
except RuntimeError as e:
    print(str(e).split(", which")[0].split(" is at")[0])
