# SPDX-License-Identifier: MIT
# Gradients of gradients of DTensors through norms and embeddings.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor import Shard, Replicate, init_device_mesh, distribute_tensor

mesh = init_device_mesh("cpu", (2,))
rank = dist.get_rank()
F64 = torch.float64
x0 = torch.randn(4, 6, dtype=F64, generator=torch.Generator().manual_seed(0))
w0 = torch.randn(6, dtype=F64, generator=torch.Generator().manual_seed(1))
table = torch.randn(8, 6, dtype=F64, generator=torch.Generator().manual_seed(2))
ids = torch.tensor([0, 3, 3, 7])


def put(t, p):
    return distribute_tensor(t, mesh, [p]).requires_grad_() if t.is_floating_point() else distribute_tensor(t, mesh, [p])


def penalty(name, f, leaves):
    try:
        y = f(*leaves)
        g, = torch.autograd.grad(y.pow(2).sum(), leaves[:1], create_graph=True)
        g.pow(2).sum().backward()
        print(rank, name, g.placements, leaves[0].grad.placements,
              ["%.6g" % v for v in leaves[0].grad.full_tensor().flatten().tolist()[:4]])
    except Exception as e:
        print(rank, name, type(e).__name__, str(e).split("\n")[0][:110])


for p in (Shard(0), Replicate()):
    penalty("layer_norm", lambda x, w: F.layer_norm(x, (6,), w), [put(x0, p), put(w0, Replicate())])
    penalty("group_norm", lambda x: F.group_norm(x, 2), [put(x0, p)])
    penalty("embedding", lambda t, i: F.embedding(i, t), [put(table, Replicate()), put(ids, p)])
    penalty("smooth_l1", lambda x, y: F.smooth_l1_loss(x, y), [put(x0, p), put(x0 * 1.5, p)])
