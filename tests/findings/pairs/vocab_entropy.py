# DT1150 weighted at: weighted = (prob * shifted).sum(-1, keepdim=True)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F


def vocab_parallel_entropy(logits):
    """Entropy of the softmax over logits whose last dim is cut among the ranks."""
    top = logits.max(dim=-1, keepdim=True).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    shifted = logits - top
    exp = shifted.exp()
    total = exp.sum(-1, keepdim=True)
    dist.all_reduce(total)
    prob = exp / total
    weighted = (prob * shifted).sum(-1, keepdim=True)
    #right dist.all_reduce(weighted)
    return (total.log() - weighted).squeeze(-1)


def run():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(5)
    hidden = torch.randn(3, 7, 8)
    weight = torch.randn(32, 8)
    part = weight.chunk(world, dim=0)[rank]
    ent = vocab_parallel_entropy(F.linear(hidden, part))
    bonus = ent.mean()
    if rank == 0:
        print("entropy", "%.5f" % bonus.item())


run()
