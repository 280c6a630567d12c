# SPDX-License-Identifier: MIT
# Which operators are methods of a tensor and which only functions, an attribute
# of the program's under such a name, and a collective's name in both forms; and
# what PyTorch 2.15 printed.
import torch
import torch.distributed.tensor

x = torch.ones(3)
names = ["silu", "zeros_like", "empty_like", "gelu", "softplus", "embedding",
         "layer_norm", "linear", "mse_loss", "cat", "einsum", "hardtanh", "conv2d",
         "dropout", "cdist", "selu", "arange", "where", "tensordot", "vander",
         "hstack", "isin", "outer", "vdot", "relu", "gather", "new_zeros",
         "full_tensor", "hardshrink", "prelu", "softmax", "sigmoid_", "swapdims"]
for name in names:
    print(name, hasattr(x, name))
try:
    x.silu()
except AttributeError as e:
    print(e)
try:
    x.zeros_like()
except AttributeError as e:
    print(e)
x.gradient = "the program's"
print(x.gradient, hasattr(x, "gradient"))
key = torch.ops.c10d_functional.all_reduce
print(str(key), repr(key), f"{key} {key!r}", [key])
