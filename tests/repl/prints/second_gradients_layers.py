# SPDX-License-Identifier: MIT
# Gradients of gradients through what layers, losses and resizing call.
import torch
import torch.nn.functional as F

F64 = torch.float64


def drawn(*shape, seed=0):
    return torch.randn(*shape, dtype=F64, generator=torch.Generator().manual_seed(seed))


x, t = drawn(2, 4, 6, 6), drawn(2, 4, 6, 6, seed=1)
labels = torch.zeros(2, 6, 6, dtype=torch.long)
unit = torch.sigmoid(t)
many = {
    "smooth_l1": lambda x: F.smooth_l1_loss(x, t, beta=0.7),
    "huber": lambda x: F.huber_loss(x, t, delta=0.6),
    "soft_margin": lambda x: F.soft_margin_loss(x, t.sign()),
    "bce": lambda x: F.binary_cross_entropy(torch.sigmoid(x), unit, weight=unit),
    "nll2d": lambda x: F.nll_loss(x.log_softmax(1), labels).pow(2),
    "layer_norm": lambda x: F.layer_norm(x, (6, 6), x[0, 0], x[0, 1]).pow(3),
    "layer_norm_float": lambda x: F.layer_norm(x.float(), (6,)).pow(3),
    "group_norm": lambda x: F.group_norm(x, 2, x[0, :, 0, 0]).pow(3),
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0, :, 0, 0], x[0, :, 0, 1], training=True).pow(3),
    "batch_norm_eval": lambda x: F.batch_norm(x, unit[0, :, 0, 0], unit[0, :, 0, 1], x[0, :, 0, 0]).pow(3),
    "prelu": lambda x: F.prelu(x, x[0, :, 0, 0]).pow(2),
    "glu": lambda x: F.glu(x, 1).pow(2),
    "mish": lambda x: F.mish(x),
    "hardswish": lambda x: F.hardswish(x).pow(2),
    "logsigmoid": lambda x: F.logsigmoid(x).pow(2),
    "avg_pool": lambda x: F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True).pow(3),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 2).pow(3),
    "max_pool": lambda x: F.max_pool2d(x, 3, 2, padding=1).pow(3),
    "max_pool1d": lambda x: F.max_pool1d(x[0], 2).pow(3),
    "adaptive_avg": lambda x: F.adaptive_avg_pool2d(x, (4, 3)).pow(3),
    "adaptive_max": lambda x: F.adaptive_max_pool2d(x, 4).pow(3),
    "nearest": lambda x: F.interpolate(x, size=(9, 4)).pow(2),
    "bilinear": lambda x: F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True).pow(2),
    "bicubic": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic").pow(2),
    "reflect": lambda x: F.pad(x, (1, 2, 0, 3), mode="reflect").pow(3),
    "replicate": lambda x: F.pad(x, (1, 2), mode="replicate").pow(3),
    "embedding": lambda x: F.embedding(torch.tensor([[0, 1], [2, 1]]), x[0, 0], padding_idx=2).pow(3),
    "diagonal": lambda x: x.diagonal(1, 2, 3).pow(3),
    "det": lambda x: torch.linalg.det(x[0, :, :3, :3]).pow(2),
    "slogdet": lambda x: torch.linalg.slogdet(x[0, :, :3, :3])[1],
    "solve": lambda x: torch.linalg.solve(x[0, :, :3, :3], t[0, :, :3, :2]).pow(2),
    "ctc": lambda x: F.ctc_loss(x[0].permute(1, 0, 2).log_softmax(2), torch.tensor([[1], [2], [3], [4]]),
                                torch.full((4,), 6), torch.full((4,), 1)),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "multi_margin": lambda x: F.multi_margin_loss(x[:, :, 0, 0], torch.tensor([1, 2])).pow(2),
}
for name, f in many.items():
    try:
        a = x.clone().requires_grad_()
        g, = torch.autograd.grad(f(a).sum(), a, create_graph=True)
        h, = torch.autograd.grad((g * t).sum(), a)
        print(name, "%.6g %.6g" % (g.abs().sum().item(), h.abs().sum().item()))
    except RuntimeError as e:
        print(name, type(e).__name__, str(e).split("\n")[0])

# Losses that are reduced otherwise, and targets that want gradients.
for loss, reduction in ((F.smooth_l1_loss, "none"), (F.huber_loss, "sum"), (F.mse_loss, "none"),
                        (F.binary_cross_entropy, "none")):
    a, b = [unit[0, i].clone().requires_grad_() for i in range(2)]
    g = torch.autograd.grad(loss(a, b, reduction=reduction).pow(2).sum(), [a, b], create_graph=True)
    h = torch.autograd.grad(sum((v * v).sum() for v in g), [a, b])
    print(loss.__name__, reduction, ["%.6g" % v.abs().sum().item() for v in h])

# Solutions from factors, from either side.
m = x[0, 0, :3, :3] + 4 * torch.eye(3, dtype=F64)
for left in (True, False):
    for adjoint in (True, False):
        lu, pivots = torch.linalg.lu_factor(m)
        lu = lu.clone().requires_grad_()
        b = (t[0, 0, :3, :2] if left else t[0, 0, :2, :3]).clone().requires_grad_()
        y = torch.linalg.lu_solve(lu, pivots, b, left=left, adjoint=adjoint)
        g = torch.autograd.grad(y.pow(2).sum(), [lu, b])
        print(left, adjoint, [["%.6g" % v for v in q.flatten()] for q in g])

# logit, out of its range and with a border.
for eps in (None, 0.1, 0.3):
    a = torch.tensor([-0.5, 0.0, 0.05, 0.1, 0.4, 0.75, 0.95, 1.0, 1.5], dtype=F64, requires_grad=True)
    w = torch.arange(1., 10., dtype=F64)
    g, = torch.autograd.grad((torch.logit(a, eps) * w).sum(), a, create_graph=True)
    h, = torch.autograd.grad((g * w).sum(), a, create_graph=True)
    k, = torch.autograd.grad((h * w).sum(), a)
    print(eps, [["%.6g" % v for v in q.tolist()] for q in (g, h, k)])
