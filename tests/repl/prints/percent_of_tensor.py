# SPDX-License-Identifier: MIT
# %d and %f of a tensor take its number, whatever its type and shape.
import torch
t = torch.tensor
for f, v in [("%d", t(3.0)), ("%5d|", t(-2.9)), ("%i", t(True)), ("%x", t(255)),
             ("%d", t([3.5])), ("%.3f", t(2)), ("%.2f", t([2.0])),
             ("%d", t([1.0, 2.0])), ("%d", t(float("nan"))), ("%e", t([[1, 2]]))]:
    try:
        print(f % v)
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
