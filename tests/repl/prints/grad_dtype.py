# SPDX-License-Identifier: MIT
# Tensor.grad_dtype: what a leaf's gradient is brought to.
import torch


def says(f):
    try:
        f()
        print("fine")
    except Exception as e:
        print(type(e).__name__, e)


p = torch.nn.Parameter(torch.ones(3))
q = torch.tensor([1., 2., 3.])
print(p.grad_dtype, q.grad_dtype)
says(lambda: setattr(p, "grad", torch.ones(3, dtype=torch.float64)))
p.grad_dtype = torch.bfloat16
for _ in range(2):
    (p * q).sum().backward()
    print(p.grad)
says(lambda: setattr(p, "grad_dtype", torch.float32))
says(lambda: setattr(p, "grad", torch.ones(3)))
says(lambda: setattr(p, "grad_dtype", 3))
says(lambda: setattr(p, "grad_dtype", None))
print(p.grad_dtype, p.detach().grad_dtype, torch.nn.Parameter(p).grad_dtype)
says(lambda: setattr(p * 2, "grad_dtype", torch.float64))
r = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
r.grad_dtype = torch.float32
r.register_hook(lambda g: print("hook", g.dtype))
(r * 3).sum().backward()
print(r.grad, torch.autograd.grad((r * 3).sum(), r))
r.grad_dtype = None
(r.float() * 2).sum().backward()
print(r.grad)
