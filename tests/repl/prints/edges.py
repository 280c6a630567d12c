# SPDX-License-Identifier: MIT
# Edges of schedulers, indices and placements: the last step, the last index,
# the first one refused, lists of one.
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import loss_parallel
from torch.optim import SGD
from torch.optim import lr_scheduler as S


def show(name, f):
    try:
        r = f()
        if isinstance(r, torch.Tensor):
            r = torch.round(r.detach().double(), decimals=4).tolist()
        print(name, r)
    except Exception as e:
        print(name, type(e).__name__, e)


def rates(make, steps, values=None):
    p = nn.Parameter(torch.zeros(1))
    o = SGD([p], lr=0.1)
    s = make(o)
    out = []
    for i in range(steps):
        o.step()
        if values is None:
            s.step()
        else:
            s.step(values[i])
        out.append(round(o.param_groups[0]["lr"], 6))
    return out


flat = [1.0] * 8
show("plateau", lambda: rates(lambda o: S.ReduceLROnPlateau(
    o, factor=0.5, patience=0, min_lr=0.03), 5, flat))
show("plateau cooldown", lambda: rates(lambda o: S.ReduceLROnPlateau(
    o, factor=0.5, patience=1, cooldown=2), 8, flat))
show("plateau max", lambda: rates(lambda o: S.ReduceLROnPlateau(
    o, mode="max", factor=0.5, patience=0, threshold=0.5,
    threshold_mode="abs"), 5, [1.0, 1.5, 1.6, 2.0, 2.2]))
show("plateau eps", lambda: rates(lambda o: S.ReduceLROnPlateau(
    o, factor=0.5, patience=0, eps=0.05), 3, flat))
show("step", lambda: rates(lambda o: S.StepLR(o, 2, gamma=0.5), 5))
show("multistep", lambda: rates(lambda o: S.MultiStepLR(o, [1, 1, 3], 0.5), 4))
show("linear", lambda: rates(lambda o: S.LinearLR(o, 0.5, total_iters=1), 3))
show("constant", lambda: rates(lambda o: S.ConstantLR(o, 0.5, 1), 3))
show("cosine", lambda: rates(lambda o: S.CosineAnnealingLR(o, 1), 4))
show("polynomial", lambda: rates(lambda o: S.PolynomialLR(o, 2, 2.0), 4))
show("warm restarts", lambda: rates(
    lambda o: S.CosineAnnealingWarmRestarts(o, 1, 2), 5))
show("one cycle", lambda: rates(lambda o: S.OneCycleLR(o, 1.0, 3), 2))
show("one cycle over", lambda: rates(lambda o: S.OneCycleLR(o, 1.0, 3), 3))
show("factor", lambda: rates(lambda o: S.ReduceLROnPlateau(o, factor=1.0), 1))

x = torch.arange(6.0).reshape(2, 3)
show("topk all", lambda: x.topk(3)[1])
show("topk too many", lambda: x.topk(4))
show("kthvalue", lambda: x.kthvalue(3)[0])
show("kthvalue too many", lambda: x.kthvalue(4))
show("narrow end", lambda: x.narrow(1, 3, 0).shape)
show("narrow over", lambda: x.narrow(1, 2, 2))
show("select -3", lambda: x.select(1, -3))
show("select -4", lambda: x.select(1, -4))
show("split", lambda: [t.shape for t in x.split(3, 1)])
show("split sum", lambda: x.split([1, 1], 1))
show("chunk", lambda: [tuple(t.shape) for t in x.chunk(5, 1)])
show("unfold", lambda: x.unfold(1, 3, 1).shape)
show("unfold over", lambda: x.unfold(1, 4, 1))
show("diagonal", lambda: x.diagonal(2))
show("diagonal over", lambda: x.diagonal(3))
show("gather", lambda: x.gather(1, torch.tensor([[2], [3]])))
show("index_select", lambda: x.index_select(0, torch.tensor([2])))
show("one_hot", lambda: F.one_hot(torch.tensor([0, 2]), 2))
show("cross_entropy", lambda: F.cross_entropy(x, torch.tensor([2, 3])))
show("nll ignored", lambda: F.nll_loss(x, torch.tensor([0, 1]), ignore_index=1))
show("embedding", lambda: F.embedding(torch.tensor([2]), x))
show("clip zero", lambda: nn.utils.clip_grad_norm_([nn.Parameter(x)], 1.0))
show("group_norm", lambda: F.group_norm(x, 2))
show("pad over", lambda: F.pad(x, (3, 0), mode="reflect"))
show("pixel_shuffle", lambda: F.pixel_shuffle(x.reshape(1, 6, 1, 1), 2))
show("conv1d", lambda: F.conv1d(x[None], torch.ones(1, 2, 4)))

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
for shape, names in (((1,), ("tp",)), ((1, 1), ("dp", "tp"))):
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
    whole = [Replicate()] * len(shape)
    cut = whole[:-1] + [Shard(1)]
    y = torch.tensor([0, 2])
    with loss_parallel():
        show("loss_parallel", lambda: F.cross_entropy(
            distribute_tensor(x, mesh, cut), y).full_tensor())
        show("no cut", lambda: F.cross_entropy(
            distribute_tensor(x, mesh, whole), y))
        show("target cut", lambda: F.cross_entropy(
            distribute_tensor(x, mesh, cut),
            distribute_tensor(y, mesh, whole[:-1] + [Shard(0)])))
dist.destroy_process_group()
