# SPDX-License-Identifier: MIT
# Rows that are alike, and pictures of other sizes.
import torch
import torch.nn.functional as F
rows = torch.tensor([[2, 1], [0, 3], [2, 1], [0, 3], [0, 0]])
for x in (rows, rows[:1], rows[:0], rows.t()):
    for kw in ({}, {"return_inverse": True}, {"return_counts": True}, {"return_inverse": True, "return_counts": True}):
        for dim in (0, 1, None):
            for f in (torch.unique, torch.unique_consecutive):
                try:
                    r = f(x, dim=dim, **kw)
                    print(f.__name__, list(kw), dim, [y.tolist() for y in (r if isinstance(r, tuple) else (r,))])
                except Exception as e: print(f.__name__, list(kw), dim, type(e).__name__, str(e).split("\n")[0])
img = torch.arange(3.0).view(1, 1, 3)
for mode in ("nearest", "nearest-exact", "linear", "area"):
    for k in range(1, 10):
        print(mode, k, F.interpolate(img, size=k, mode=mode).round(decimals=3).tolist()[0][0])
    for k in (0.4, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
        print(mode, k, F.interpolate(img, scale_factor=k, mode=mode).round(decimals=3).tolist()[0][0],
              F.interpolate(img, scale_factor=k, mode=mode, recompute_scale_factor=True).round(decimals=3).tolist()[0][0])
sq = torch.arange(6.0).view(1, 1, 2, 3)
for mode in ("nearest", "bilinear", "bicubic"):
    for size in ((1, 1), (4, 6), (2, 6), (4, 3), (3, 5)):
        print(mode, size, F.interpolate(sq, size=size, mode=mode).round(decimals=2).tolist()[0][0])
for shape in ((1, 1, 3), (1, 2, 2, 3), (1, 1, 2, 2, 3)):
    for mode in ("nearest", "nearest-exact"):
        for k in range(1, 8):
            x = torch.arange(float(torch.Size(shape).numel())).view(shape).requires_grad_()
            if x.ndim == 4 and k % 2:
                x = x.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
            y = F.interpolate(x, size=(k,) * (x.ndim - 2), mode=mode)
            (y * torch.arange(y.numel()).view(y.shape)).sum().backward()
            print(shape, mode, k, y.flatten().tolist()[:24], x.grad.flatten().tolist())
