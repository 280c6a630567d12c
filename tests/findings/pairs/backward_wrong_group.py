# DT1047 embed.weight at: dist.all_reduce(p.grad, group=groups.dp)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist


class Groups:
    def __init__(self, tp):
        world, rank = dist.get_world_size(), dist.get_rank()
        self.tp_size, self.dp_size = tp, world // tp
        self.tp_rank, self.dp_rank = rank % tp, rank // tp
        for i in range(self.dp_size):
            g = dist.new_group(list(range(i * tp, (i + 1) * tp)))
            if i == self.dp_rank:
                self.tp = g
        for i in range(tp):
            g = dist.new_group(list(range(i, world, tp)))
            if i == self.tp_rank:
                self.dp = g


class CopyToRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g, group=ctx.group)
        return g, None


class ReduceFromRegion(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


class Mlp(nn.Module):
    def __init__(self, groups, dim=8, hidden=16):
        super().__init__()
        self.g = groups
        up = torch.randn(hidden, dim) / dim ** 0.5
        down = torch.randn(dim, hidden) / hidden ** 0.5
        self.up = nn.Parameter(up.chunk(groups.tp_size, 0)[groups.tp_rank].clone())
        self.down = nn.Parameter(down.chunk(groups.tp_size, 1)[groups.tp_rank].clone())

    def forward(self, x):
        h = CopyToRegion.apply(x, self.g.dp)  # wrong
        #right h = CopyToRegion.apply(x, self.g.tp)
        h = torch.relu(h @ self.up.t())
        return ReduceFromRegion.apply(h @ self.down.t(), self.g.tp)


dist.init_process_group("gloo")
groups = Groups(tp=2)
torch.manual_seed(13)
embed = nn.Embedding(30, 8)
block = Mlp(groups)
head = nn.Linear(8, 30)
params = [p for m in (embed, block, head) for p in m.parameters()]
opt = torch.optim.SGD(params, lr=0.1)
text = torch.Generator().manual_seed(50 + groups.dp_rank)
for step in range(3):
    ids = torch.randint(0, 30, (4, 9), generator=text)
    x = embed(ids[:, :-1])
    logits = head(x + block(x))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    for p in params:
        dist.all_reduce(p.grad, group=groups.dp)
        p.grad /= groups.dp_size
    opt.step()
    if dist.get_rank() == 0:
        print("step", step, "loss", round(loss.item(), 5))
