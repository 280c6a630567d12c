# SPDX-License-Identifier: MIT
# register_multi_grad_hook of all of several tensors: once a pass, None of what
# the pass does not reach.
import torch
from torch.autograd.graph import register_multi_grad_hook

a = torch.arange(4.0, requires_grad=True)
b = torch.ones(4, requires_grad=True)
c = torch.full((4,), 2.0, requires_grad=True)


def tell(gradients):
    print([None if g is None else g.tolist() for g in gradients])


handle = register_multi_grad_hook((a, b, c), tell)
(a * b * c).sum().backward()
(a * b).sum().backward()
(a * b).sum().backward()
(a.detach() * 2 + torch.ones(4, requires_grad=True)).sum().backward()
with register_multi_grad_hook([a], tell):
    (a + c).sum().backward()
handle.remove()
(a + b + c).sum().backward()
inner = a * 2
handle = register_multi_grad_hook((inner, b), tell)
(inner * b).sum().backward()
print(len(handle.remove.__name__), a.grad.tolist())
