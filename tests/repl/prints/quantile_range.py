# SPDX-License-Identifier: MIT
# What quantile says of a q outside of 0 to 1, a number or a tensor.
import torch

x = torch.tensor([3.0, 1.0, 2.0, 5.0])
for q in (0.0, 1.0, 0.5, -0.01, 1.01, [0.0, 1.0], [0.5, 1.5], [-1.0, 0.5], []):
    for make in (lambda v: v, torch.tensor):
        if isinstance(q, list) and make is not torch.tensor:
            continue
        for f in (torch.quantile, torch.nanquantile):
            try:
                print(q, f.__name__, f(x, make(q)))
            except RuntimeError as e:
                print(q, f.__name__, e)
