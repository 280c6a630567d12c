# SPDX-License-Identifier: MIT
# Gradients of gradients of distributed tensors: their placements, the sums of
# their sizes, or the error, through operators whose backward PyTorch writes out.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import distribute_tensor, init_device_mesh, Shard, Replicate, DTensor
mesh = init_device_mesh("cpu", (2,))
def show(v):
    if isinstance(v, DTensor): return "%s %s" % (v.placements, "%.3g" % v.full_tensor().double().abs().sum().item())
    return "plain %s" % "%.3g" % v.double().abs().sum().item()
def go(name, f, shapes, pl):
    torch.manual_seed(0)
    xs = [distribute_tensor(torch.randn(*s), mesh, [p]).requires_grad_() for s, p in zip(shapes, pl)]
    try:
        o = f(*xs)
        g = torch.autograd.grad(o.sum(), xs, create_graph=True)
        loss = sum((a * a).sum() for a in g)
        r = torch.autograd.grad(loss, xs, allow_unused=True)
        out = [show(a) for a in g] + [show(a) for a in r]
    except Exception as e:
        out = [type(e).__name__, str(e).split("\n")[0][:110]]
    if dist.get_rank() == 0:
        print(name, pl, out)
S0, S1, R = Shard(0), Shard(1), Replicate()
for p in (S0, S1, R):
    for n, f in (("tanh", torch.tanh), ("silu", F.silu), ("mish", F.mish),
                 ("gelu", F.gelu), ("elu", F.elu), ("glu", F.glu),
                 ("softplus", F.softplus), ("hardswish", F.hardswish),
                 ("softmax", lambda x: F.softmax(x, 1) ** 2),
                 ("log_softmax", lambda x: F.log_softmax(x, 1))):
        go(n, f, [(8, 4)], [p])
    for n, f in (("mse", F.mse_loss), ("smooth", F.smooth_l1_loss),
                 ("huber", F.huber_loss),
                 ("bce", lambda x, y: F.binary_cross_entropy(
                     torch.sigmoid(x), torch.sigmoid(y))),
                 ("dist", lambda x, y: torch.dist(x, y, 3.0))):
        go(n, f, [(8, 4), (8, 4)], [p, p])
    go("avg_pool", lambda x: F.avg_pool2d(x, 2)**2, [(4, 4, 4, 4)], [p])
    go("max_pool", lambda x: F.max_pool2d(x, 2)**2, [(4, 4, 4, 4)], [p])
    go("conv", lambda x, w: F.conv2d(x, w)**2, [(4, 4, 4, 4), (2, 4, 3, 3)], [p, R])
    go("permute_copy", lambda x: torch.permute_copy(x, (1, 0))**2, [(8, 4)], [p])
    go("embedding", lambda w: F.embedding(distribute_tensor(torch.tensor([0, 1, 1]), mesh, [R]), w)**2, [(8, 4)], [p])
    go("emb_pad", lambda w: F.embedding(distribute_tensor(torch.tensor([0, 1, 1]), mesh, [R]), w, padding_idx=1)**2, [(8, 4)], [p])
dist.destroy_process_group()
