# SPDX-License-Identifier: MIT
import torch
import torch.nn.functional as F
from torch.func import grad, vmap

# Sums, products and losses over rows.
x = torch.arange(6.0).reshape(2, 3)
t = torch.tensor([2, 0])
print(vmap(torch.sum)(x), vmap(torch.dot)(x, x))
print(vmap(lambda a, b: a + b, in_dims=(0, None))(x, torch.ones(3)))
print(vmap(F.mse_loss)(x, x + 2), vmap(F.mse_loss, in_dims=(0, None))(x, torch.ones(3)))
print(vmap(lambda a, b: F.cross_entropy(a.unsqueeze(0), b.unsqueeze(0)))(x, t))
print(vmap(grad(lambda a, b: F.cross_entropy(a, b)))(x, t))
print(vmap(lambda a, b: F.nll_loss(a.log_softmax(0), b))(x, t))
