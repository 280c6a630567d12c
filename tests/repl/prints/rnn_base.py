# dtrepl: ranks=1
# SPDX-License-Identifier: MIT
# nn.RNNBase by itself: parameters, and the modes that it has.
import torch.nn as nn

m = nn.RNNBase("GRU", 3, 4, num_layers=2)
print(m, m.mode)
print([(n, tuple(p.shape)) for n, p in m.named_parameters()])
for args in (("X", 3, 4), ("X", 0, 4)):
    try:
        nn.RNNBase(*args)
    except ValueError as e:
        print(e)
