# SPDX-License-Identifier: MIT
# out= of another type than the result: what is added up in the out='s own type,
# and what is refused.
import torch
import warnings

warnings.filterwarnings("ignore")
x = torch.tensor([[0.5, 0.75, 1.5], [2.5, 1.25, 300.75]])


def show(name, f):
    try:
        v = f()
        print(name, v.dtype, v.tolist())
    except Exception as e:
        print(name, type(e).__name__, e)


for dtype in (torch.int8, torch.int64, torch.float64, torch.bool):
    def out(*shape):
        return torch.zeros(*shape, dtype=dtype)
    show("sum", lambda: torch.sum(x, 1, out=out(2)))
    show("sum of int", lambda: torch.sum(x.long(), 1, out=out(2)))
    show("sum dtype", lambda: torch.sum(x, 1, dtype=torch.float32, out=out(2)))
    show("sum of all", lambda: torch.sum(x, (0, 1), out=out(1)[0]))
    show("prod", lambda: torch.prod(x, 1, out=out(2)))
    show("cumsum", lambda: torch.cumsum(x, 1, out=out(2, 3)))
    show("cumprod", lambda: torch.cumprod(x, 1, out=out(2, 3)))
    show("cumsum dtype",
         lambda: torch.cumsum(x, 1, dtype=torch.float32, out=out(2, 3)))
    show("norm", lambda: torch.norm(x, 2, 1, out=out(2)))
    show("cat", lambda: torch.cat([x, x], out=out(4, 3)))
    show("stack", lambda: torch.stack([x, x], out=out(2, 2, 3)))
show("diag", lambda: torch.diag(x[0], out=torch.zeros(3, 3).double()))
o = torch.zeros(2)
print(torch.norm(x, 2, 1, out=o) is o, o)
print(torch.norm(x, out=o[0]), o)
print(torch.norm(x, dim=(0, 1), out=o[1]), o)
show("norm of f64", lambda: torch.norm(x, 2, 1, dtype=torch.float64,
                                       out=torch.zeros(2).double()))
