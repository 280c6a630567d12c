# SPDX-License-Identifier: MIT
# Edges that wrong comparisons move: sizes of one, the last index allowed, the
# first refused, errors with the sizes in them.
import torch
import torch.nn as nn
import torch.nn.functional as F


def show(name, f):
    try:
        r = f()
        if isinstance(r, torch.Tensor):
            r = torch.round(r.detach().double(), decimals=4).tolist()
        print(name, r)
    except Exception as e:
        print(name, type(e).__name__, e)


x = torch.tensor([0.0, 1.0, 2.0, 4.0])
y = torch.tensor([0.5, 3.0, 2.0, 0.0])
w = torch.tensor([1.0, 2.0, 3.0, 0.5])
for red in ("mean", "sum", "none"):
    show("huber " + red,
         lambda: F.huber_loss(x, y, reduction=red, delta=1.5, weight=w))
    show("mse " + red, lambda: F.mse_loss(x, y, reduction=red, weight=w))
    show("l1 " + red, lambda: F.l1_loss(x, y, reduction=red, weight=w))

for p in (2, 3, -3, -4):
    show("padding_idx %d" % p,
         lambda: nn.Embedding(3, 2, padding_idx=p).padding_idx)

lp = torch.zeros(2, 1, 3).log_softmax(2)
tg = torch.tensor([[1]])
for n, m in ((-1, 1), (3, 1), (2, 1), (1, 1), (2, -1), (2, 2)):
    show("ctc %d %d" % (n, m), lambda: F.ctc_loss(
        lp, tg, torch.tensor([n]), torch.tensor([m]), reduction="none"))

show("dot 1 2", lambda: torch.dot(torch.ones(2), torch.ones(2, 2)))
show("dot 2 1", lambda: torch.dot(torch.ones(2, 2), torch.ones(2)))
i = torch.tensor([0])
show("index_copy_ 3d", lambda: torch.zeros(3, 2, 4).index_copy_(
    0, i, torch.zeros(1, 3, 4)))
show("index_copy_ 2d", lambda: torch.zeros(3, 2).index_copy_(
    1, i, torch.zeros(2, 1)))

q = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
show("sdpa 2d", lambda: F.scaled_dot_product_attention(q, q, q))
show("sdpa 1d", lambda: F.scaled_dot_product_attention(q[0], q, q))
show("sdpa 1d key", lambda: F.scaled_dot_product_attention(q, q[0], q))
show("sdpa dtypes", lambda: F.scaled_dot_product_attention(q, q.double(), q))
show("sdpa mask", lambda: F.scaled_dot_product_attention(q, q, q, q.double()))

a = torch.arange(16.0).reshape(1, 1, 4, 4)
show("adaptive_max_pool1d", lambda: F.adaptive_max_pool1d(a[0], 3))
show("adaptive_max_pool2d", lambda: F.adaptive_max_pool2d(a, 2))
show("adaptive_max_pool3d", lambda: F.adaptive_max_pool3d(
    a.reshape(1, 2, 2, 4), (1, 2, 2)))
show("fractional_max_pool2d", lambda: F.fractional_max_pool2d(
    a, 2, output_size=2, _random_samples=torch.tensor([[[0.3, 0.3]]])))
show("max_pool2d indices", lambda: F.max_pool2d(a, 2, return_indices=True)[1])
show("max_pool2d i64", lambda: F.max_pool2d(
    torch.arange(16).reshape(1, 1, 4, 4), 2))
show("max_pool3d", lambda: F.max_pool3d(a.reshape(1, 2, 2, 4), 2))
show("max_pool3d f64", lambda: F.max_pool3d(
    a.reshape(1, 2, 2, 4).double(), 2, stride=1))

att = nn.MultiheadAttention(2, 1, bias=False, batch_first=True)
with torch.no_grad():
    att.in_proj_weight.copy_(torch.cat([torch.eye(2)] * 3))
    att.out_proj.weight.copy_(torch.eye(2))
z = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)
pad = torch.tensor([[False, True, False]])
for need in (True, False):
    for causal in (True, False):
        for p in (pad, None):
            show("attention %s %s %s" % (need, causal, p is None),
                 lambda: att(z, z, z, key_padding_mask=p, attn_mask=mask,
                             is_causal=causal, need_weights=need)[0])
show("attention hint alone", lambda: att(z, z, z, is_causal=True)[0])
