# SPDX-License-Identifier: MIT
# Sums and means of f32 and f64 to the last bit: the order in which PyTorch
# adds depends on sizes, strides and dims.
import itertools

import torch

torch.set_num_threads(1)


def numbers(shape, dtype):
    n = 1
    for s in shape:
        n *= s
    t = (torch.arange(n, dtype=torch.int64) * 1103515245 + 12345) % 2147483647
    t = (t * 48271 + 11) % 2147483647
    return ((t.to(torch.float64) / 2147483647.0 - 0.5) * 3).to(dtype).reshape(shape)


def bits(t):
    whole = torch.int32 if t.dtype == torch.float32 else torch.int64
    v = 0
    for b in t.contiguous().view(whole).flatten().tolist():
        v = (v * 31 + b) % 1000000007
    return v


def both(t, dim):
    return bits(t.sum(dim)), bits(t.mean(dim, keepdim=True))


for dtype in (torch.float32, torch.float64):
    for n in (1, 7, 8, 33, 63, 64, 127, 129, 512, 2049, 4100, 70001):
        x = numbers((n,), dtype)
        print(dtype, n, bits(x.sum()), bits(x.mean()), bits(x[::3].sum()))
    for r, c in ((2, 3), (4, 7), (33, 9), (100, 16), (3, 1000), (130, 70), (2000, 5), (2049, 34)):
        x = numbers((r, c), dtype)
        kinds = dict(rows=x, columns=x.t(), apart=x[:, ::2], spread=x[:, :1].expand(r, c))
        for kind, y in kinds.items():
            print(dtype, r, c, kind, both(y, 0), both(y, 1), both(y, (0, 1)))
    for shape in ((4, 8, 16), (5, 9, 17), (10, 3, 33), (20, 7, 1)):
        x = numbers(shape, dtype)
        for p in itertools.permutations(range(3)):
            y = x.permute(p)
            print(dtype, shape, p, [both(y, d) for d in (0, 1, 2, (0, 1), (0, 2), (1, 2))])
    x = numbers((6, 5, 4, 9), dtype).permute(2, 0, 3, 1)
    print(dtype, [both(x[:, ::2], d) for d in ((0, 2), (1, 3), (0, 1, 3), (3,), (0, 1, 2, 3))])
    print(bits(torch.empty(0, 3, dtype=dtype).sum(0)), bits(torch.tensor([-0.0], dtype=dtype).sum()))
