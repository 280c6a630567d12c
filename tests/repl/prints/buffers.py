# SPDX-License-Identifier: MIT
# torch.nn.Buffer: a tensor that becomes a buffer where it is assigned; and what
# PyTorch 2.13 printed.
import torch, torch.nn as nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.cos = nn.Buffer(torch.arange(3.), persistent=False)
        self.mean = nn.Buffer(torch.zeros(2))
        self.plain = torch.zeros(1)

    def forward(self, x):
        return x * self.w + self.mean


m = M()
print([n for n, _ in m.named_buffers()], list(m.state_dict()))
print([n for n, _ in m.named_parameters()], m.cos, m.mean.requires_grad)
m.mean = torch.ones(2)
print(dict(m.named_buffers())["mean"], m(torch.ones(2)))
m.double()
print(m.cos.dtype, m.plain.dtype)
b = nn.Buffer(torch.ones(1))
m.later = b
print([n for n, _ in m.named_buffers()], b, torch.is_tensor(b))
del m.later
print("later" in m.state_dict())
