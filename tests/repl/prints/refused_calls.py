# SPDX-License-Identifier: MIT
# Calls that PyTorch refuses: sizes that do not fit, words it does not know.
import torch
import torch.nn.functional as F
from torch import nn

a = torch.tensor([[1., -2., 3.], [0.5, 4., -1.]])
t = torch.tensor


def show(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, " / ".join(str(e).split("\n")[:2]))


show(lambda: a.unflatten(1, (-1, -1)))
show(lambda: a.unflatten(1, (3, -1)).shape)
for equation, sizes in (("ii", [2, 3]), ("ii->i", [1, 3]), ("ii", [3, 1]),
                        ("iji", [2, 2, 3]), ("...ii", [4, 2, 3]),
                        ("i...i->...", [2, 4, 3]), ("ii", [3, 3]),
                        ("i...i->...", [3, 4, 3])):
    show(lambda: torch.einsum(equation, torch.ones(sizes)))
show(lambda: torch.einsum("ij,kk->k", a, torch.ones(1, 4)))
for uplo in ("", "lower", "X"):
    show(lambda: torch.linalg.eigh(torch.ones(2, 2), UPLO=uplo))
show(lambda: torch.linalg.eigvalsh(t([[1., 9.], [0., 2.]]), UPLO="l"))
show(lambda: torch.linalg.multi_dot([a]))
show(lambda: torch.linalg.multi_dot([a, a]))
show(lambda: torch.linalg.multi_dot([a, a, a.t()]))
show(lambda: torch.linalg.multi_dot([torch.ones(2), torch.ones(3)]))
show(lambda: torch.linalg.multi_dot([a[0], a, a[0]]))
show(lambda: torch.linalg.multi_dot([a, a.t()]))
show(lambda: torch.imag(a))
show(lambda: torch.diff(a, prepend=torch.ones(1, 1)))
show(lambda: torch.diff(a, append=torch.ones(1)))
show(lambda: torch.diff(a, dim=0, prepend=torch.ones(1, 3), append=torch.ones(1, 2)))
show(lambda: torch.diff(a, 0, prepend=torch.ones(9, 9)))
show(lambda: torch.diff(a, prepend=torch.ones(2, 2)))
show(lambda: torch.linalg.cond(a, "nuc"))
for smoothing in (1.5, 1.0):
    show(lambda: F.cross_entropy(a, t([0, 1]), label_smoothing=smoothing))
    show(lambda: F.cross_entropy(a, a.softmax(1), label_smoothing=smoothing))
show(lambda: nn.Conv2d(2, 2, 2, padding="same", stride=(1, 2)))
show(lambda: nn.Conv1d(2, 2, 2, padding="same", stride=2))
show(lambda: nn.Conv2d(2, 2, 2, padding="valid", stride=2))
show(lambda: nn.GroupNorm(3, 4))
