# SPDX-License-Identifier: MIT
# x.data shares memory with x; its writes, and those of its views, are counted
# apart, and what is done to its shape is not done to x.
import torch

w = torch.ones(3, requires_grad=True)
x = torch.arange(3.0, requires_grad=True)
y = (w * x).sum()
w.data.mul_(2)
w.data[0] = 7.0
print(w._version, w.data._version)
y.backward()
print(x.grad, w.grad)

y = (w * x).sum()
w.detach().mul_(2)
try:
    y.backward()
except RuntimeError as e:
    print(str(e)[:60])

d = w.data
v = d.view(3)
v.add_(1)
with torch.no_grad():
    w.add_(1)
print(w._version, d._version, v._version, d.detach()._version, w)

y = (d * x).sum()
d.add_(1)
try:
    y.backward()
except RuntimeError as e:
    print(str(e).split("; ")[1])
y = (d * x).sum()
with torch.no_grad():
    w.add_(1)
y.backward()
print(x.grad)

m = torch.ones(2, 3)
m.data.t_()
print(m.shape, m.data.is_contiguous(), m.data.requires_grad)
p = torch.nn.Parameter(torch.zeros(2))
p.data = w.data[:2]
p.data.fill_(4.0)
print(w, p, p._version)
