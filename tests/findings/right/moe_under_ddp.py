# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Experts by hand under DDP, which leaves them alone; metrics over the training set.
import collections
import copy

import os
from functools import partial, wraps

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as dnf
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler, TensorDataset



def rank_zero_only(fn):
    @wraps(fn)
    def inner(*a, **k):
        if dist.get_rank() == 0:
            return fn(*a, **k)
        return None
    return inner


@rank_zero_only
def say(*args):
    print(*args, flush=True)


class AllToAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, group, x, out_splits, in_splits):
        ctx.group, ctx.out_splits, ctx.in_splits = group, out_splits, in_splits
        out = x.new_empty(sum(out_splits), *x.shape[1:])
        dist.all_to_all_single(out, x.contiguous(), out_splits, in_splits, group=group)
        return out

    @staticmethod
    def backward(ctx, g):
        out = g.new_empty(sum(ctx.in_splits), *g.shape[1:])
        dist.all_to_all_single(out, g.contiguous(), ctx.in_splits, ctx.out_splits, group=ctx.group)
        return None, out, None, None


class Expert(nn.Sequential):
    def __init__(self, d):
        super().__init__(nn.Linear(d, 2 * d), nn.GELU(approximate="tanh"), nn.Linear(2 * d, d))


class MoE(nn.Module):
    def __init__(self, d, n_experts, group):
        super().__init__()
        self.group = group
        self.world = dist.get_world_size(group)
        self.n = n_experts
        self.gate = nn.Linear(d, n_experts, bias=False)
        per = n_experts // self.world
        mine = range(dist.get_rank(group) * per, (dist.get_rank(group) + 1) * per)
        all_experts = [Expert(d) for _ in range(n_experts)]
        self.experts = nn.ModuleList(all_experts[i] for i in mine)
        for p in self.experts.parameters():
            p.is_expert = True

    def forward(self, x: Tensor):
        shape = x.shape
        x = x.flatten(0, -2)
        probs = self.gate(x).softmax(-1)
        weight, idx = probs.max(-1)
        order = idx.argsort(stable=True)
        counts = torch.bincount(idx, minlength=self.n)
        per = self.n // self.world
        recv = torch.empty_like(counts)
        dist.all_to_all_single(recv, counts, group=self.group)
        in_splits = counts.view(self.world, per).sum(1).tolist()
        out_splits = recv.view(self.world, per).sum(1).tolist()
        y = AllToAll.apply(self.group, x[order], out_splits, in_splits)
        which = torch.cat([torch.repeat_interleave(torch.arange(per), c) for c in recv.view(self.world, per)])
        out = torch.zeros_like(y)
        for e, expert in enumerate(self.experts):
            sel = (which == e).nonzero(as_tuple=True)[0]
            out = out.index_add(0, sel, expert(y[sel]))
        back = AllToAll.apply(self.group, out, in_splits, out_splits)
        inverse = torch.empty_like(order)
        inverse[order] = torch.arange(len(order))
        y = back[inverse] * weight.unsqueeze(-1)
        me = probs.mean(0)
        total = counts.to(me.dtype)
        dist.all_reduce(total, group=self.group)
        self.aux = self.n * (me * total / total.sum()).sum()
        return y.view(shape)


class Net(nn.Module):
    def __init__(self, d, group):
        super().__init__()
        self.inp = nn.Linear(6, d)
        self.moe = MoE(d, 8, group)
        self.norm = nn.LayerNorm(d)
        self.out = nn.Linear(d, 3)

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        h = self.norm(h + self.moe(h))
        return self.out(h)


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)


class Synth(Dataset):
    def __init__(self, n=48):
        g = torch.Generator().manual_seed(5)
        self.x = torch.randn(n, 6, generator=g)
        self.y = (self.x.sum(1) > 0).long() + (self.x[:, 0] > 1).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def main():
    dist.init_process_group(backend="gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(11)
    net = Net(8, dist.group.WORLD)
    experts = {n for n, p in net.named_parameters() if getattr(p, "is_expert", False)}
    DDP._set_params_and_buffers_to_ignore_for_model(net, experts)
    model = DDP(net)
    groups = [{"params": [p for n, p in net.named_parameters() if n not in experts], "lr": 0.05},
              {"params": [p for n, p in net.named_parameters() if n in experts], "lr": 0.05, "weight_decay": 0.01}]
    opt = torch.optim.SGD(groups, momentum=0.9, nesterov=True)
    data = Synth()
    sampler = DistributedSampler(data, shuffle=True, seed=3)
    loader = DataLoader(data, batch_size=6, sampler=sampler, drop_last=True)
    ema = EMA(net, 0.9)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
    history = collections.deque(maxlen=3)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for i, (x, y) in enumerate(loader):
            opt.zero_grad()
            loss = loss_fn(model(x), y) + 0.01 * net.moe.aux
            loss.backward()
            for n, p in net.named_parameters():
                if n in experts and p.grad is not None:
                    p.grad.div_(world)
            sq = torch.zeros(2)
            for n, p in net.named_parameters():
                if p.grad is not None:
                    sq[int(n in experts)] += p.grad.pow(2).sum()
            dist.all_reduce(sq[1:])
            norm = sq.sum().sqrt()
            scale = (1.0 / (norm + 1e-6)).clamp(max=1.0)
            for p in net.parameters():
                if p.grad is not None:
                    p.grad.mul_(scale)
            opt.step()
            ema.update(net)
            avg = loss.detach().clone()
            dist.all_reduce(avg)
            history.append(avg.item() / world)
            say(f"epoch {epoch} it {i} loss {history[-1]:.5f} norm {norm:.5f}")
    correct = torch.zeros(2)
    net.eval()
    with torch.inference_mode():
        for x, y in loader:
            correct += torch.tensor([(net(x).argmax(-1) == y).sum().item(), len(y)])
    dist.all_reduce(correct)
    say("acc %d/%d" % tuple(correct.tolist()), "ema %.5f" % ema.shadow["out.weight"].norm(), list(map("{:.4f}".format, history)))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
