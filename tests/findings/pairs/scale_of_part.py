# DT1150 scores at: scores = scores / math.sqrt(q.size(-1))  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as DF
import torch.nn.functional as F

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(8)
B, T, D = 2, 6, 16
wq, wk, wv, wo = (torch.randn(D, D) * 0.25 for _ in range(4))


class CopyToGroup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class ReduceFromGroup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


def shard(w, dim):
    return w.chunk(world, dim)[rank].clone().requires_grad_()


q_w, k_w, v_w, o_w = shard(wq, 0), shard(wk, 0), shard(wv, 0), shard(wo, 1)


def attention(x):
    x = CopyToGroup.apply(x)
    q, k, v = F.linear(x, q_w), F.linear(x, k_w), F.linear(x, v_w)
    # one head, its width cut over the ranks: scores are a sum over the parts
    scores = DF.all_reduce(q @ k.transpose(1, 2))
    scores = scores / math.sqrt(q.size(-1))  # wrong
    #right scores = scores / math.sqrt(q.size(-1) * world)
    return ReduceFromGroup.apply(F.linear(scores.softmax(-1) @ v, o_w))


x = torch.randn(B, T, D)
target = torch.randn(B, T, D)
weights = [q_w, k_w, v_w, o_w]
for step in range(3):
    loss = F.mse_loss(x + attention(x), target)
    loss.backward()
    with torch.no_grad():
        for w in weights:
            w -= 0.1 * w.grad
            w.grad = None
    if rank == 0:
        print("loss %.5f" % loss.item())
dist.destroy_process_group()
