# SPDX-License-Identifier: MIT
# Boundaries that no other test meets: a row of just the length allowed, sizes
# of 1, batches left out, splits from the right.
import torch
import torch.nn.functional as F


def show(f):
    try:
        v = f()
        print(v if not isinstance(v, torch.Tensor)
              else (v.dtype, list(v.shape), v.stride(), v.tolist()))
    except Exception as e:
        print(type(e).__name__, str(e).split("\n")[0])


for text in ("a b c d", "  a  b c ", "a", ""):
    for most in (0, 1, 2, 3, 4):
        print(text.rsplit(None, most), text.split(None, most))

table = torch.tensor([[3., 4.], [6., 8.], [0., 0.]], dtype=torch.float64)
show(lambda: torch.embedding_renorm_(table, torch.tensor([0, 1, 2]), 5.0, 2.0))
show(lambda: torch.embedding_renorm_(table, torch.tensor([0]), 5.0, 2.0))

show(lambda: F.unfold(torch.arange(12.).reshape(1, 3, 4), 2))
show(lambda: F.unfold(torch.arange(12.).reshape(1, 1, 3, 4), 2))
for sizes in ([3, 4], [1, 1, 1, 3, 4], [0, 1, 3, 4], [1, 0, 4]):
    show(lambda: F.unfold(torch.ones(sizes), 2))

a = torch.ones(2).as_strided((2, 1), (1, 7))
b = torch.ones(1, 3).t().as_strided((3, 1), (1, 5))
for x, y in ((a, torch.ones(2, 1)), (torch.ones(2, 1), a), (b, b),
             (torch.ones(3, 2).t(), torch.ones(3, 2).t()),
             (torch.ones(3, 2).t(), torch.ones(2, 3)),
             (torch.ones(2, 3), torch.ones(3, 2).t()),
             (torch.ones(1, 4).t(), torch.ones(4, 1))):
    print((x + y).stride(), torch.maximum(x, y).stride(), torch.exp(x).stride())

# A matrix's diagonal; inverses of tensors; distances; a range of its own.
x = torch.arange(6.).reshape(2, 3)
for k in (-2, -1, 0, 1, 2, 3):
    show(lambda: torch.diag(x, k))
show(lambda: torch.diag(x, out=torch.empty(2)))
show(lambda: torch.linalg.tensorinv((torch.eye(4) * 2).reshape(2, 2, 4), ind=2))
show(lambda: torch.linalg.tensorinv((torch.eye(4) * 2).reshape(4, 2, 2), ind=1))
for p in (0.5, 1.0, 1.5, 2.0, 3.0, float("inf")):
    y = torch.tensor([[1., 2.], [2., 2.], [4., -2.]], dtype=torch.float64,
                     requires_grad=True)
    F.pdist(y, p).sum().backward()
    print(p, [round(v, 6) for v in y.grad.flatten().tolist()])
torch.manual_seed(3)
print(torch.empty(4).uniform_(2, 5), torch.empty(2, dtype=torch.bfloat16).uniform_(-1, 3))


class Number:
    def __trunc__(self):
        return 7

    def __floor__(self):
        return -8

    def __ceil__(self):
        return -7


import math
print(math.trunc(Number()), math.floor(Number()), math.ceil(Number()))
for pairs in ([(1, 2), 3], [None], [(1, 2), (1, 2, 3)], ["ab", True]):
    show(lambda: dict().update(pairs))
    show(lambda: dict(pairs))
print((2.7).__trunc__(), (7).__index__(), (2.7).__floor__(), (2.2).__ceil__(),
      (7).__trunc__(), (7).__floor__())
show(lambda: (7).__index__(1))


# Gradients of views at places of the storage: of no elements, and of a tensor
# of which several elements lie in one place.
def strided_grad(of, *sizes):
    of = of.detach().requires_grad_()
    y = torch.as_strided(of, *sizes)
    y.backward(torch.arange(1., 1 + y.numel()).reshape(y.shape))
    return of.grad


row = torch.arange(4.)
for sizes in ([0], [0]), ([0, 3], [0, 1]), ([3, 0], [0, 1]):
    show(lambda: strided_grad(row, *sizes))
for of in row.expand(3, 4), row.as_strided([3, 1, 2], [1, 5, 1]):
    print([[round(v, 4) for v in line.flatten().tolist()]
           for line in strided_grad(of, [2], [1], 1)])

# Runs of elements: of no data, of rows, with a number that does not fit.
none = torch.zeros(0, 3, requires_grad=True)
two = torch.zeros(2, dtype=torch.int64)
for reduce in "sum", "max", "prod", "mean":
    y = torch.segment_reduce(none, reduce, lengths=two, unsafe=True)
    y.sum().backward()
    print(reduce, y.tolist(), none.grad.shape)
six = torch.arange(12.).reshape(2, 6)
show(lambda: torch.segment_reduce(six, "sum", axis=1,
                                  lengths=torch.tensor([[2, 4], [3, 3]])))
show(lambda: torch.segment_reduce(six, "sum", axis=1,
                                  offsets=torch.tensor([[0, 2, 6], [0, 0, 6]])))
for initial in 1j, 1e300:
    show(lambda: torch.segment_reduce(six, "sum", initial=initial,
                                      lengths=torch.tensor([2])))
