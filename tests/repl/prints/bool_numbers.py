# SPDX-License-Identifier: MIT
# True and False with tensors: a number, but of no type of its own.
import torch
t = torch.tensor([True, False])
i = torch.tensor([3, 4])
f = torch.tensor([1.5])
for g in (lambda: t & True, lambda: t | 1, lambda: True & t, lambda: t ^ True, lambda: t & t, lambda: t + True, lambda: t * True, lambda: t - True, lambda: True + t, lambda: t + 1, lambda: t * 2.5, lambda: t / True, lambda: t ** True, lambda: t // 1, lambda: t % True, lambda: i & True, lambda: i + True, lambda: i * True, lambda: f + True, lambda: t == True, lambda: t < True, lambda: t == 1, lambda: i << True, lambda: t.add(True), lambda: torch.mul(t, True), lambda: -t, lambda: ~t, lambda: torch.where(t, True, False), lambda: torch.where(t, 1, False), lambda: t.mul_(True), lambda: t & 1.5, lambda: f & True, lambda: f % True, lambda: i // True, lambda: i - True, lambda: i ** True, lambda: True - i, lambda: torch.full((2,), True), lambda: torch.tensor(True) + True, lambda: t.sum() + True, lambda: i > True, lambda: torch.add(i, True, alpha=2), lambda: t.masked_fill(t, True), lambda: torch.clamp(i, True, 3), lambda: torch.pow(True, i), lambda: torch.maximum(t, torch.tensor(True)), lambda: i.fill_(True), lambda: t.eq(True), lambda: torch.eq(i, True), lambda: torch.full((1,), True, dtype=torch.float32), lambda: torch.arange(True), lambda: torch.ones(2) * True):
    try: r = g(); print(r, r.dtype)
    except Exception as e: print(type(e).__name__, str(e).split("\n")[0][:120])
