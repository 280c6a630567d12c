# SPDX-License-Identifier: MIT
# Classes of tensors above one another, methods by them, and what is of which.
import torch, torch.nn as nn
from torch.distributed.tensor import DTensor
for c in (DTensor, nn.Parameter, torch.Tensor, torch.Size, bool):
    print(c.__name__, [issubclass(c, b) for b in (torch.Tensor, nn.Parameter, tuple, int, object)])
    print([b.__name__ for b in c.__mro__ if b.__name__ != "TensorBase"], hasattr(c, "nothing"))
p = nn.Parameter(torch.tensor([-1.0, 2.0]))
print(issubclass(type(p), torch.Tensor), issubclass(type(p.detach()), nn.Parameter))
print(nn.Parameter.abs(p).tolist(), torch.Tensor.abs(p).tolist(), DTensor.abs is torch.Tensor.abs, list(map(DTensor.sum, [p, p.detach()]))[1].item())
m = nn.BatchNorm1d(2)
m.b = nn.Buffer(torch.ones(2))
def t(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
t(lambda: isinstance(m.b, nn.Buffer)); t(lambda: isinstance(m.running_mean, nn.Buffer)); t(lambda: isinstance(torch.ones(2), nn.Buffer)); t(lambda: nn.Buffer.__name__); t(lambda: issubclass(nn.Buffer, torch.Tensor)); t(lambda: isinstance(nn.Buffer(torch.ones(1)), nn.Buffer)); t(lambda: type(m.b).__name__); t(lambda: list(dict(m.named_buffers())))
t(lambda: isinstance(nn.Parameter(torch.ones(1)), nn.Buffer))
t(lambda: isinstance(torch.float32, torch.dtype)); t(lambda: isinstance(torch.strided, torch.layout)); t(lambda: isinstance(torch.contiguous_format, torch.memory_format)); t(lambda: isinstance(torch.strided, torch.memory_format))
