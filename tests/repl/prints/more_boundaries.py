# SPDX-License-Identifier: MIT
# What lies at the edges of schedulers, losses, bags, windows and results that
# are given: found by changing one comparison or term of the code at a time.
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim import lr_scheduler

torch.manual_seed(0)


def told(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


def close(t):
    return [round(x, 4) for x in t.detach().flatten().tolist()]


# Schedulers: what is no optimizer; momentum that goes against the rate.
told(lambda: lr_scheduler.StepLR(3, 1))
w = nn.Parameter(torch.ones(2))
sgd = torch.optim.SGD([w], lr=0.1, momentum=0.9)
cycle = lr_scheduler.CyclicLR(sgd, 0.1, 0.5, step_size_up=2, step_size_down=3,
                              base_momentum=0.6, max_momentum=0.8)
for _ in range(6):
    group = sgd.param_groups[0]
    print(round(group["lr"], 5), round(group["momentum"], 5))
    sgd.step()
    cycle.step()

# A line search that must walk beyond its first step, and one that must go back.
for lr in (0.001, 4.0):
    p = nn.Parameter(torch.tensor([3.0, -2.0]))
    opt = torch.optim.LBFGS([p], lr=lr, max_iter=5, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = (p[0] - 1) ** 4 + 0.1 * (p[1] + 5) ** 2
        loss.backward()
        return loss
    opt.step(closure)
    print(close(p))

# Connectionist temporal classification: several sequences, the second shorter.
x = torch.sin(1.7 * torch.arange(24.0)).reshape(4, 2, 3).requires_grad_()
for reduction in ("none", "mean"):
    loss = F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2], [2, 0]]),
                      torch.tensor([4, 3]), torch.tensor([2, 1]),
                      reduction=reduction)
    print(close(loss))
loss.backward()
print(close(x.grad))

# Bags: the first row, an empty bag, each mode, weights.
for mode in ("sum", "mean", "max"):
    table = torch.arange(8.0).reshape(4, 2).requires_grad_()
    out = F.embedding_bag(torch.tensor([3, 1, 0, 3]), table,
                          torch.tensor([0, 2, 2]), mode=mode)
    (out * torch.arange(6.0).reshape(3, 2)).sum().backward()
    print(mode, close(out), close(table.grad))
weights = torch.tensor([0.5, 2.0, 3.0]).requires_grad_()
table = torch.arange(8.0).reshape(4, 2).requires_grad_()
F.embedding_bag(torch.tensor([3, 1, 0]), table, torch.tensor([0, 1]),
                mode="sum", per_sample_weights=weights).sum().backward()
print(close(weights.grad), close(table.grad))

# Windows of another type than the input; sizes that do not divide.
t = torch.arange(8, dtype=torch.float64)
print(torch.stft(t, 4, window=torch.ones(4, dtype=torch.float64),
                 return_complex=True).dtype)
print(close(torch.stft(torch.arange(8.0), 4, hop_length=3, center=False,
                       window=torch.hann_window(4), return_complex=True).abs()))
short = torch.stft(torch.arange(8.0), 4, win_length=2, center=False,
                   window=torch.tensor([1.0, 3.0]), return_complex=True)
print(close(short.abs()))
print(torch.stft(torch.arange(8.0), 4, win_length=2, return_complex=True,
                 window=torch.ones(2, dtype=torch.float64)).dtype)

# Rolls: one shift for a flat tensor, several for several dims, too few.
told(lambda: torch.roll(torch.ones(2, 3), (1, 2), (0,)))
told(lambda: torch.roll(torch.ones(2, 3), (1, 2)))
print(torch.roll(torch.tensor(5), 1).tolist())
print(torch.roll(torch.arange(6).reshape(2, 3), 1).tolist())
print(torch.roll(torch.arange(6).reshape(2, 3), (1, -1), (0, 1)).tolist())
told(lambda: torch.roll(torch.tensor(5), 1, 0))

# Strides of what is made like a tensor whose strides are equal in places.
for like in (torch.ones(3, 1, 2).permute(2, 1, 0), torch.ones(1, 4, 1),
             torch.ones(2, 3).expand(4, 2, 3).permute(1, 0, 2),
             torch.ones(2, 3, 4)[:, :, 0]):
    print(torch.empty_like(like).stride(), torch.clone(like).stride())

# Antialiased resizing: the last weight of each output, from 5 to 2 and to 3.
image = torch.arange(25.0).reshape(1, 1, 5, 5)
for size in (2, 3, 5):
    print(close(F.interpolate(image, size=(size, size), mode="bilinear",
                              antialias=True)))
    print(close(F.interpolate(image, size=(size, 4), mode="bicubic",
                              antialias=True)))

# Their gradients, of which several inputs feed each output.
for size in (2, 3):
    image = torch.arange(25.0).reshape(1, 1, 5, 5).requires_grad_()
    (F.interpolate(image, size=(size, size), mode="bilinear", antialias=True)
     * torch.arange(1.0, size * size + 1).reshape(size, size)).sum().backward()
    print(close(image.grad))

# Bytes have weights of their own.
byte = (torch.arange(50) * 5 % 251).to(torch.uint8).reshape(1, 1, 5, 10)
for size in ((2, 3), (5, 4), (3, 10)):
    print(F.interpolate(byte, size=size, mode="bilinear",
                        antialias=True).flatten().tolist())

# Results that are given: of the same size, larger, of another rank.
for shape in ((2, 3), (3, 2), (6,), (4, 3), (0,)):
    out = torch.empty(shape)
    torch.add(torch.ones(2, 3), 1, out=out)
    print(tuple(out.shape), out.sum().item())

# Bounds of drawn starting values.
for draw, bound in ((lambda t: nn.init.xavier_uniform_(t, gain=2.0), 2 * 6 ** 0.5 / 8 ** 0.5),
                    (lambda t: nn.init.kaiming_uniform_(t, a=1.0), (3 / 5) ** 0.5)):
    t = torch.empty(3, 5)
    draw(t)
    print(bool((t.abs() <= bound).all()), close(t))

sign, log = torch.linalg.slogdet(torch.tensor([[0.0, 2.0], [3.0, 1.0]]))
print(sign.item(), round(log.item(), 4), round(torch.logdet(torch.tensor([[2.0, 0.0], [1.0, 3.0]])).item(), 4))
