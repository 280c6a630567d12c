# SPDX-License-Identifier: MIT
# What backward and autograd.backward take, by position and by name.
import torch
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
def a():
    x = torch.ones(2, requires_grad=True); y = (x * 2).sum(); y.backward(None, True); y.backward(torch.tensor(2.)); return x.grad
t(a)
def b():
    x = torch.ones(2, requires_grad=True); y = x * 2; torch.autograd.backward(y, torch.tensor([1., 3.]), True); torch.autograd.backward([y], [torch.ones(2)]); return x.grad
t(b)
def c():
    x = torch.ones(2, requires_grad=True); y = x * 2; torch.autograd.backward((y,), grad_tensors=(torch.ones(2),)); return x.grad
t(c)
def e():
    x = torch.ones(2, requires_grad=True); y = x * 2; y.backward(torch.ones(2), retain_graph=True); y.backward(gradient=torch.ones(2)); return x.grad
t(e)
t(lambda: torch.arange(3).repeat_interleave(2))
