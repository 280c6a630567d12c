# SPDX-License-Identifier: MIT
# torch.autograd.functional: second derivatives, and graphs through first ones.
import torch
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

x, v = torch.tensor([1., 2., 3.]), torch.tensor([1., 0., 2.])
cube = lambda t: (t ** 3).sum()
print(hessian(cube, x), hvp(cube, x, v), vhp(cube, x, v))
two = lambda a, b: (a * b * b).sum()
a, b = torch.tensor([1., 2.]), torch.tensor([3., 4.])
print(hessian(two, (a, b)))
print(hvp(two, (a, b), (torch.ones(2), torch.zeros(2))))
print(vhp(two, (a, b), (torch.ones(2), torch.ones(2))))
print(hvp(lambda t: t.exp().sum(), torch.tensor([0.5])))
w = torch.tensor([1., 2.], requires_grad=True)
j = jacobian(lambda t: t ** 3, w, create_graph=True)
print(j, j.requires_grad)
j.sum().backward()
print(w.grad)
out, g = vjp(lambda t: t ** 2, w, torch.ones(2), create_graph=True)
print(out.requires_grad, g.requires_grad, torch.autograd.grad(g.sum(), w)[0])
print(jacobian(lambda a, b: (a * b, a + b), (a, b)))
h = hessian(lambda t: (t @ torch.tensor([[2., 1.], [1., 3.]]) @ t) / 2, a)
print(h, hessian(lambda t: t.sigmoid().log().sum(), a))
print(hessian(lambda t: t.sum() * 2, a))
for f in (lambda: hessian(lambda t: t * 2, a), lambda: hvp(lambda t: t * 2, a, a),
          lambda: hvp(two, (a, b), a), lambda: vhp(lambda t: (t, t), a, a),
          lambda: hvp(cube, a, torch.ones(3)), lambda: hessian(cube, 3)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
