# SPDX-License-Identifier: MIT
# randint: what is positional, what is named.
import torch

torch.manual_seed(0)
print(torch.randint(256, size=(2, 3)))
print(torch.randint(high=256, size=(2, 3)))
print(torch.randint(1, 256, size=(2, 3)))
print(torch.randint(1, high=256, size=(2,)))
print(torch.randint(low=1, high=256, size=(2, 3)))
print(torch.randint(5, (2,)), torch.randint(2, 5, (2,)))
