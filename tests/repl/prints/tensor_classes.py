# SPDX-License-Identifier: MIT
# Classes of tensors above one another, and methods by them.
import torch, torch.nn as nn
from torch.distributed.tensor import DTensor
for c in (DTensor, nn.Parameter, torch.Tensor, torch.Size, bool):
    print(c.__name__, [issubclass(c, b) for b in (torch.Tensor, nn.Parameter, tuple, int, object)])
    print([b.__name__ for b in c.__mro__ if b.__name__ != "TensorBase"], hasattr(c, "nothing"))
p = nn.Parameter(torch.tensor([-1.0, 2.0]))
print(issubclass(type(p), torch.Tensor), issubclass(type(p.detach()), nn.Parameter))
print(nn.Parameter.abs(p).tolist(), torch.Tensor.abs(p).tolist(), DTensor.abs is torch.Tensor.abs, list(map(DTensor.sum, [p, p.detach()]))[1].item())
