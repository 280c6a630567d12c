# SPDX-License-Identifier: MIT
# Gradients of renorm, index_reduce and narrow_copy.
import torch


def show(*tensors):
    print([[round(v, 4) for v in t.flatten().tolist()] for t in tensors])


for p in (1, 2, 3.0, float("inf"), 1.5):
    for dim in (0, 1):
        x = torch.tensor([[1.0, 2, 3], [0.1, 0.2, 0.3], [0, 0, 0]],
                         requires_grad=True)
        y = torch.renorm(x, p, dim, 0.7)
        (y * torch.arange(9.0).view(3, 3)).sum().backward()
        show(x.grad)

for how in ("prod", "mean", "amax", "amin"):
    for include in (True, False):
        x = torch.tensor([[1.0, 2], [3, 0], [5, 6]], requires_grad=True)
        s = torch.tensor([[1.0, 0], [3, 4], [1, 7], [0, 2]],
                         requires_grad=True)
        y = x.index_reduce(0, torch.tensor([0, 1, 0, 1]), s, how,
                           include_self=include)
        (y * (torch.arange(6.0).view(3, 2) + 1)).sum().backward()
        show(y, x.grad, s.grad)

x = torch.arange(12.0).view(3, 4).requires_grad_()
torch.narrow_copy(x, 1, 1, 2).square().sum().backward()
torch.narrow_copy(x, 0, -2, 1).sum().backward()
show(x.grad)
