# SPDX-License-Identifier: MIT
# Indices into empty dims, and strides of transforms of nothing.
import torch


def show(call):
    try:
        print(call())
    except Exception as e:
        print(type(e).__name__, e)


x, i = torch.empty(0, 3), torch.tensor([0, 1])
show(lambda: x[i])
show(lambda: x[i, i])
show(lambda: torch.empty(3, 0)[:, i])
show(lambda: x[torch.zeros(0, dtype=torch.long)].shape)
show(lambda: torch.index_put(x, (i,), torch.tensor(1.0)))
show(lambda: x.index_select(0, i))
show(lambda: x.index_select(1, i))
show(lambda: x.index_add(0, i, torch.ones(2, 3)))
for shape in ((2, 0, 16), (0, 4, 16), (2, 4, 0), (2, 1, 16)):
    c = torch.zeros(shape, dtype=torch.complex64)
    show(lambda: torch.ops.aten._fft_c2c(c, [1, 0], 0, True).stride())
