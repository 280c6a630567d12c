# SPDX-License-Identifier: MIT
import torch

# Tensors without data say as much of themselves as others do.
layer = torch.nn.Linear(2, 3, device="meta")
print(layer.weight)
print(layer.weight.data, torch.empty(2, device="meta", requires_grad=True))
print(layer(torch.empty(1, 2, device="meta")))
print(torch.empty(2, dtype=torch.bfloat16, device="meta").requires_grad_())
