# SPDX-License-Identifier: MIT
"""What lists as indices of a tensor pick: empty ones, and those that stand for a tuple."""
import torch
x = torch.arange(6.).view(2, 3)
x[0, []] = -1.; print(x[[]], x[0, []], x[:, []].shape, x[torch.tensor([], dtype=torch.long)].shape)
x[[], 0] = 5; x[[]] = 1; print(x, x[[], []].shape)
b = [1]; x[0, b] = float('inf'); print(x)
try: x[torch.tensor([])]
except IndexError as e: print(e)
x[1, list(())] += 1; del b[:]; x[1, b] = 0; print(x, x[..., []].shape, x[[[]]].shape, x[([],)].shape)
x.index_fill_(0, torch.tensor([], dtype=torch.long), 1); y = x.clone(); y[tuple()] = 0; print(y.sum())
x = torch.arange(6.).view(2, 3)
for i in ([[0, 1], [1, 0]], [torch.tensor([0, 1]), torch.tensor([1, 2])], [slice(None), 0], [None, 0], [[0, 1]], [[]], [[[]]], [Ellipsis, 0], [True, False], [[True, False]], [torch.tensor(0), torch.tensor(1)], [torch.tensor([0, 1])]):
    try: print(i, x[i].shape)
    except Exception as e: print(i, type(e).__name__, e)
    try: y = x.clone(); y[i] = 7; print(y.sum())
    except Exception as e: print(i, type(e).__name__, e)
