# SPDX-License-Identifier: MIT
# Absent names are refused where a function of torch is given one.
import torch
import torch.nn as nn
from torch._nosuch.things import MISSING
x = torch.ones(2)
for f in (lambda: torch.add(x, MISSING), lambda: nn.Linear(2, MISSING), lambda: torch.ones(2, dtype=MISSING),
          lambda: x.to(MISSING), lambda: x[MISSING], lambda: nn.Dropout(p=MISSING), lambda: torch.optim.SGD([x], lr=MISSING),
          lambda: torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), ignore_index=MISSING)):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)
