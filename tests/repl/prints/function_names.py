# SPDX-License-Identifier: MIT
# __name__ of functions of torch and torch.nn.functional, as tables of
# activations and logs use it; and what PyTorch 2.15 printed.
import torch
import torch.nn.functional as F

for f in (F.relu, F.linear, F.gelu, F.softmax, F.cross_entropy, F.silu,
          F.leaky_relu, F.scaled_dot_product_attention, torch.tanh, torch.add,
          torch.matmul, torch.zeros, torch.sigmoid, F.dropout, F.layer_norm):
    print(f.__name__, end=" ")
print()
acts = {f.__name__: f for f in (F.relu, F.gelu, torch.tanh)}
print(list(acts), acts["relu"](torch.tensor([-1.0, 2.0])), F.relu.__qualname__)
print([getattr(f, "__name__", "?") for f in (F.mse_loss, torch.cat, len)])

# What only tensors have, or another module, is no function of this one.
import torch.distributed.tensor as dtensor

for place in (torch, torch.nn.functional, dtensor, torch.Tensor):
    print([name for name in "view add add_ put_ gelu gelu_ linear relu silu "
           "size resize_ einsum linalg_det l1_loss distribute_tensor Shard "
           "f32 zeros unfold dim".split() if hasattr(place, name)])
for place in (torch, torch.nn.functional):
    try:
        place.view
    except AttributeError as e:
        print(e)
