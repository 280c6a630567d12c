# SPDX-License-Identifier: MIT
# Hooks of the nodes of the graph of gradients, and a pass that stops at a NaN.
import torch
from torch.autograd.graph import get_gradient_edge, save_on_cpu

a = torch.tensor([1., 2.], requires_grad=True)
b = a * 2
c = b.sin()


def seen(inputs, outputs):
    print("node", inputs, outputs)


handle = b.grad_fn.register_hook(seen)
c.grad_fn.register_prehook(lambda outputs: print("before", outputs))
c.sum().backward(retain_graph=True)
handle.remove()
c.sum().backward()
print(a.grad, b.grad_fn.name(), c.grad_fn.next_functions[0][0].name())
print(len(b.grad_fn.next_functions), b.grad_fn.next_functions[1])

b = a * 3
b.grad_fn.register_hook(lambda gin, gout: (gin[0] * 2, None))
b.grad_fn.register_prehook(lambda gout: (gout[0] + 1,))
a.grad = None
b.sum().backward()
print(a.grad)
b = a + a.detach()
b.grad_fn.register_hook(lambda gin, gout: (gin[0],))
try:
    b.sum().backward()
except RuntimeError as e:
    print(e)

torch.autograd.set_detect_anomaly(True)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())
z = torch.zeros(2, requires_grad=True)
try:
    (z.sqrt() * 0).sum().backward()
except RuntimeError as e:
    print(e)
torch.autograd.set_detect_anomaly(False)
with torch.autograd.set_detect_anomaly(True, check_nan=False):
    (z.sqrt() * 0).sum().backward()
print(z.grad, torch.is_anomaly_enabled())
with save_on_cpu():
    y = (a ** 2).sum()
y.backward()
print(a.grad, get_gradient_edge(y).output_nr)
