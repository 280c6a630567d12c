# SPDX-License-Identifier: MIT
# Boundaries: no dims, no batch, numbers of sixteen bits.
import torch
import torch.nn.functional as F

t = torch.tensor


def show(name, f):
    try:
        v = f()
        for r in v if isinstance(v, list) else [v]:
            print(name, r.dtype, list(r.shape), r.tolist())
    except Exception as e:
        print(name, type(e).__name__, e)


def grads(f, *values):
    leaves = [t(v, requires_grad=True) for v in values]
    f(*leaves).sum().backward()
    return [leaf.grad for leaf in leaves]


show("put", lambda: grads(lambda a, b: torch.put(a, t(0), b), [1., 2.], [5.]))
show("put", lambda: grads(lambda a, b: a.put(t([[0], [1]]), b), [1., 2.],
                          [5., 6.]))
show("put, added", lambda: grads(
    lambda a, b: torch.put(a, t(1), b, accumulate=True), [1., 2.], [[5.]]))
for size in (0, 1):
    show("unfold", lambda: grads(lambda a: a.unfold(0, size, 1), 2.))

loss = F.cosine_embedding_loss
a, b = t([1., 2.]), t([2., 1.])
show("a row", lambda: loss(a, b, t(1.)))
show("a row", lambda: loss(a, b, t(-1.), margin=.5, reduction="none"))
show("a row", lambda: torch.nn.CosineEmbeddingLoss(reduction="sum")(a, b, t(-1.)))
show("a row", lambda: grads(lambda x, y: loss(x, y, t(-1.), margin=.5),
                            [1., 2.], [2., 1.]))
show("rows", lambda: loss(torch.ones(2, 3), torch.ones(1, 3), torch.ones(2)))
show("nothing", lambda: loss(torch.ones(0), torch.ones(0), t(1.)))
for sizes in (([2], [2], [1]), ([1, 2], [1, 2], []), ([2, 3], [2, 3], [2, 1]),
              ([2, 2, 2], [2, 2, 2], [2]), ([2], [2, 2], []), ([], [], []),
              ([2, 3], [3], [2])):
    show(str(sizes), lambda: loss(*[torch.ones(s) for s in sizes]))

back = torch.ops.aten._cdist_backward
for x1, x2, d in (([3, 5], [0, 4, 5], [0, 3, 4]), ([3, 0], [4, 0], [3, 4]),
                  ([3, 5], [2, 0, 5], [2, 3, 0]), ([1, 3, 5], [2, 4, 5], [2, 3, 4]),
                  ([0, 3, 5], [1, 4, 5], [0, 3, 4])):
    show("cdist", lambda: back(torch.ones(d), torch.ones(x1), torch.zeros(x2),
                               0.0, torch.ones(d)))
for dtype in (torch.bfloat16, torch.float16):
    x = torch.linspace(-0.1, 1.1, 25).to(dtype)
    show("logit", lambda: torch.logit(x))
    show("logit", lambda: torch.logit(x, 0.03))
    y = torch.linspace(0.01, 0.99, 17).to(dtype).requires_grad_()
    torch.logit(y).sum().backward()
    show("logit", lambda: y.grad)
    y.grad = None
    torch.logit(y, 0.1).sum().backward()
    show("logit", lambda: y.grad)

# complex numbers: nearness, and sums of exponentials that overflow
inf, nan = float("inf"), float("nan")
z = torch.tensor([1 + 2j, complex(nan, 0), 3])
near = z * (1 + 1e-6)
show("allclose", lambda: (torch.allclose(z[:1], near[:1]), torch.allclose(z, near),
                          torch.allclose(z, near, equal_nan=True),
                          torch.allclose(z[2:], z[2:] + 0.1j)))
for values in ([1000 + 0.5j, 1000 - 2j, 3j], [3 + 3j, 2 + 3j, 1 + 3.1j, 5 + 7j],
               [complex(-inf, 1), complex(-inf, 2), 2 + 7j],
               [complex(inf, 1), complex(-inf, 2), 3j], [complex(nan, 0), 1]):
    x = torch.tensor(values, dtype=torch.complex128)
    show("logsumexp", lambda: torch.logsumexp(x, 0))
    show("logcumsumexp", lambda: torch.logcumsumexp(x, 0))
x = torch.tensor([[1000 + 1j, 1 + 0j], [999 + 2j, 2 - 1j]], dtype=torch.complex128)
show("logsumexp", lambda: torch.logsumexp(x, 0))
show("logsumexp", lambda: torch.logsumexp(x.t(), 0, keepdim=True))
x = torch.ones(2, requires_grad=True)
show("lift_fresh", lambda: torch.autograd.grad(torch.ops.aten.lift_fresh(x).sum(), x)[0])

# a product of vectors in 16 bits; losses of other numbers of dims
torch.manual_seed(0)
s, u, v = (torch.randn(n).bfloat16() for n in ((3, 4), 3, 4))
for beta, alpha in ((1, 1), (0.2, 0.6), (0, 0.3), (0.6, 0)):
    print(torch.addr(s, u, v, beta=beta, alpha=alpha).tolist())
    print(torch.addr(s.half(), u.half(), v.half(), beta=beta, alpha=alpha).tolist())
for a, p, n in (((3,), (3, 4), (3, 4)), ((3, 4), (4,), (3, 4)), ((3, 4), (3, 4), (4,))):
    show("triplet", lambda: F.triplet_margin_with_distance_loss(
        torch.ones(a), torch.ones(p), torch.ones(n)))
