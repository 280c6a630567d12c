# SPDX-License-Identifier: MIT
# Starting values of tensors without data; names that model code asks for.
import torch
import torch.nn as nn
from torch._utils import _get_available_device_type, _get_device_module

for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_",
             "kaiming_normal_", "orthogonal_", "eye_", "zeros_"):
    before = torch.get_rng_state()
    w = getattr(nn.init, name)(torch.empty(4, 4, device="meta"))
    print(name, w.device, w.shape, torch.equal(before, torch.get_rng_state()))
saved = {torch.ops.aten.mm.default,
         torch.ops._c10d_functional.reduce_scatter_tensor.default}
print(len(saved), torch.ops._c10d_functional.reduce_scatter_tensor.default in saved,
      torch.ops._c10d_functional.all_reduce.default in saved)
print(_get_available_device_type(), _get_device_module("cpu") is torch.cpu)
try:
    _get_device_module("no_such")
except RuntimeError as e:
    print(e)
