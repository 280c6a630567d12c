# SPDX-License-Identifier: MIT
# Gradients of the larger and the smaller of two where both are equal, or one
# is NaN.
import torch

nan = float("nan")
first = [1.0, 2, 3, nan, nan, 4, 0.0]
second = [1.0, 3, 2, nan, 1, nan, -0.0]
for f in (torch.maximum, torch.minimum, torch.fmax, torch.fmin, torch.clamp_min, torch.clamp_max):
    for wanted in ((True, True), (True, False), (False, True)):
        a, b = (torch.tensor(v, requires_grad=w) for v, w in zip((first, second), wanted))
        f(a, b).backward(torch.arange(1.0, 8))
        print(f.__name__, a.grad, b.grad)
