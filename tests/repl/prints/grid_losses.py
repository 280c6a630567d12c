# SPDX-License-Identifier: MIT
import itertools
import math
import warnings
import torch
import torch.nn.functional as F
from lib.answers import answer

warnings.simplefilter("ignore")

# Each loss with each reduction, on a vector, a matrix and more, with its options.
torch.manual_seed(0)
D = torch.float64


def made(*shape):
    n = math.prod(shape)
    return ((torch.arange(n, dtype=D) * 7 + 3) % 11 / 5 - 1).reshape(shape)


def with_gradient(f, x, *rest):
    x = x.clone().requires_grad_()
    y = f(x, *rest)
    y.sum().backward()
    return y.detach(), x.grad


def sign(*shape):
    return torch.where(made(*shape) > 0, 1.0, -1.0).to(D)


def classes(n, c, *ignored):
    t = (torch.arange(n) * 3 + 1) % c
    for i in ignored:
        t[i] = -100
    return t


losses = {
    "mse": (F.mse_loss, lambda s: (made(*s) * 0.7,), [{}]),
    "l1": (F.l1_loss, lambda s: (made(*s) * 0.7,), [{}]),
    "smooth_l1": (F.smooth_l1_loss, lambda s: (made(*s) * 0.7,), [{}, {"beta": 0.3}, {"beta": 0.0}]),
    "huber": (F.huber_loss, lambda s: (made(*s) * 0.7,), [{}, {"delta": 0.2}]),
    "soft_margin": (F.soft_margin_loss, lambda s: (sign(*s),), [{}]),
    "bce_logits": (F.binary_cross_entropy_with_logits, lambda s: ((made(*s) + 1) / 3,), [{}, {"pos_weight": torch.tensor(2.0, dtype=D)}, {"weight": torch.tensor(0.5, dtype=D)}]),
    "kl_div": (F.kl_div, lambda s: ((made(*s) + 1) / 3,), [{}, {"log_target": True}]),
    "poisson": (F.poisson_nll_loss, lambda s: (made(*s) + 1,), [{}, {"log_input": False}, {"full": True}, {"log_input": False, "eps": 0.5}]),
    "gaussian": (F.gaussian_nll_loss, lambda s: (made(*s) * 0.5, made(*s).abs() + 0.1), [{}, {"full": True}, {"eps": 0.5}]),
    "hinge_embedding": (F.hinge_embedding_loss, lambda s: (sign(*s),), [{}, {"margin": 0.3}]),
    "margin_ranking": (F.margin_ranking_loss, lambda s: (made(*s) * 0.5, sign(*s)), [{}, {"margin": 0.3}]),
}
for name, (f, rest, options) in losses.items():
    for o, r, s in itertools.product(options, ("none", "mean", "sum"), ((4,), (2, 3), (1, 1), (), (0,))):
        print(name, list(o), r, s, answer(lambda: with_gradient(lambda x, *y: f(x, *y, reduction=r, **o), made(*s) + (2 if "log_input" in o else 0), *rest(s))))
for s in ((5,), (3, 4), (2, 3, 2), (1, 1), (4, 1)):
    n, c = (1, s[0]) if len(s) == 1 else (s[0] * math.prod(s[2:]), s[1])
    for r, smooth, weight, ignored in itertools.product(("none", "mean", "sum"), (0.0, 0.2), (None, "w"), ((), (0,))):
        t = classes(n, c, *ignored)
        t = t[0] if len(s) == 1 else t.reshape((s[0],) + s[2:])
        w = None if weight is None else torch.arange(1, c + 1, dtype=D)
        print("cross_entropy", s, r, smooth, weight, ignored, answer(lambda: with_gradient(lambda x: F.cross_entropy(x, t, w, label_smoothing=smooth, reduction=r), made(*s))))
        if smooth == 0:
            print("nll", answer(lambda: with_gradient(lambda x: F.nll_loss(x, t, w, reduction=r, ignore_index=int(t.flatten()[0])), made(*s))))
            if len(s) < 3 and not ignored:
                for p, m in ((1, 1.0), (2, 0.5)):
                    print("multi_margin", p, m, answer(lambda: with_gradient(lambda x: F.multi_margin_loss(x, t, p=p, margin=m, weight=w, reduction=r), made(*s))))
        elif weight is None:
            print("soft targets", answer(lambda: with_gradient(lambda x: F.cross_entropy(x, made(*s).softmax(0 if len(s) == 1 else 1), reduction=r), made(*s))))
for r in ("none", "mean", "sum"):
    print("multilabel_margin", r, [answer(lambda: with_gradient(lambda x: F.multilabel_margin_loss(x, t, reduction=r), x)) for x, t in (
        (made(4), torch.tensor([3, 0, -1, 1])), (made(2, 4), torch.tensor([[1, -1, 0, 0], [0, 1, 2, 3]])), (made(1, 3), torch.tensor([[-1, 0, 0]])))])
    print("multilabel_soft", r, [answer(lambda: with_gradient(lambda x: F.multilabel_soft_margin_loss(x, (made(*s) > 0).to(D), w, reduction=r), made(*s))) for s in ((3,), (2, 3)) for w in (None, torch.tensor([1., 2, 3], dtype=D))])
    for m in (0.0, 0.5, -0.2):
        print("cosine", r, m, [answer(lambda: with_gradient(lambda x: F.cosine_embedding_loss(x, made(*s) * made(*s), t, margin=m, reduction=r), made(*s))) for s, t in (((3,), torch.tensor(1)), ((2, 3), torch.tensor([1, -1])), ((2, 3), torch.tensor([-1, -1])))])
    for p, swap, m in itertools.product((1, 2), (False, True), (1.0, 0.1)):
        print("triplet", r, p, swap, m, [answer(lambda: with_gradient(lambda x: F.triplet_margin_loss(x, made(*s) * 0.5, made(*s) + 0.3, p=p, swap=swap, margin=m, reduction=r), made(*s))) for s in ((3,), (2, 3))],
              answer(lambda: with_gradient(lambda x: F.triplet_margin_with_distance_loss(x, made(2, 3) * 0.5, made(2, 3) + 0.3, swap=swap, margin=m, reduction=r), made(2, 3))))
    for zero, blank in itertools.product((False, True), (0, 2)):
        print("ctc", r, zero, blank, answer(lambda: with_gradient(lambda x: F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 1, 3], [3, 1, 0]]), torch.tensor([6, 4]), torch.tensor([3, 1]), blank=blank, zero_infinity=zero, reduction=r), made(6, 2, 4))))
for bad in ("", "average"):
    print(bad, [answer(lambda: f(made(2), made(2), reduction=bad)) for f in (F.mse_loss, F.kl_div, F.poisson_nll_loss, F.soft_margin_loss)])
print([answer(lambda: F.pairwise_distance(made(*s), made(*s) * 0.5, p=p, keepdim=k)) for s in ((3,), (2, 3)) for p in (1.0, 2.0, math.inf, 0.0) for k in (False, True)])
print([answer(lambda: F.cosine_similarity(made(*s), made(*s) * made(*s), dim=d, eps=e)) for s, d in (((3,), 0), ((2, 3), 0), ((2, 3), -1)) for e in (1e-8, 5.0)])
