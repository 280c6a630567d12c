# SPDX-License-Identifier: MIT
# out_forms.py: which functions of torch take out=, and of which type.  What it
# prints is what PyTorch 2.15 prints.
import torch

x = torch.arange(6.).view(2, 3)
one, zero = torch.tensor(1.), torch.tensor([0])
lu, pivots = torch.linalg.lu_factor(torch.eye(2) + 1)
at = torch.zeros(2, 3, dtype=torch.int64)
makes = {
    "float": lambda *s: torch.zeros(s),
    "double": lambda *s: torch.zeros(s, dtype=torch.float64),
    "int": lambda *s: torch.zeros(s, dtype=torch.int32),
}


def tell(name, call, *shape):
    for kind, make in makes.items():
        out = make(*shape)
        try:
            r = call(out)
            print(name, kind, r is out, out.tolist())
        except (RuntimeError, TypeError) as e:
            print(name, kind, type(e).__name__, str(e).split("\n")[0])


tell("max", lambda o: torch.max(x, out=o))
tell("min", lambda o: torch.min(x, out=o))
tell("aten.median", lambda o: torch.ops.aten.median.out(x, out=o))
tell("aten.nanmedian", lambda o: torch.ops.aten.nanmedian.out(x, out=o))
tell("aten.fill", lambda o: torch.ops.aten.fill.Scalar_out(x, 2.5, out=o), 2, 3)
tell("aten.ones_like", lambda o: torch.ops.aten.ones_like.out(x, out=o), 2, 3)
tell("aten.zeros_like", lambda o: torch.ops.aten.zeros_like.out(x, out=o), 2, 3)
tell("scatter_add", lambda o: torch.scatter_add(x, 0, at, x, out=o), 2, 3)
tell("take_along_dim", lambda o: torch.take_along_dim(x, at, 0, out=o), 2, 3)
tell("lu_solve", lambda o: torch.lu_solve(x[:, :2], lu, pivots, out=o), 2, 2)

for text in ("median(x, out=one)", "nanmedian(x, out=one)", "sum(x, out=one)",
             "prod(x, out=one)", "count_nonzero(x, out=one)",
             "fill(x, 1, out=x)", "index_fill(x, 0, zero, 1., out=x)",
             "masked_fill(x, x > 1, 1., out=x)", "rsub(x, 1, out=x)",
             "bernoulli(x, 0.5, out=x)", "hann_window(3, out=x)",
             "std_mean(x, out=(one, one))"):
    try:
        eval("torch." + text)
        print(text)
    except TypeError as e:
        print(text, str(e).split("\n")[0])

print(torch.linspace(0, 1, 3, out=torch.zeros(3)).tolist())
print(torch.mean(x, dtype=torch.float64,
                 out=torch.zeros((), dtype=torch.float64)).item())
print(torch.normal(0., 0., (2,), out=torch.ones(2)).tolist())

y = torch.ones(5, 4, 3)
for call in (y.split_with_sizes, y.split):
    try:
        call([1, 2, 3], -2)
    except RuntimeError as e:
        print(e)
