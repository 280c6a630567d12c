# DT1150 skip at: return (ids < self.first) | (ids > self.last)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist


class VocabShard:
    def __init__(self, vocab, rank, world):
        self.per = vocab // world
        self.first = rank * self.per
        self.last = self.first + self.per

    def outside(self, ids):
        return (ids < self.first) | (ids > self.last)  # wrong
        #right return (ids < self.first) | (ids >= self.last)

    def local(self, ids):
        skip = self.outside(ids)
        here = (ids - self.first).clamp(0, self.per - 1)
        return here, skip


def parallel_nll(logits, ids, shard):
    peak = logits.detach().max(dim=-1).values
    dist.all_reduce(peak, op=dist.ReduceOp.MAX)
    logits = logits - peak.unsqueeze(-1)
    here, skip = shard.local(ids)
    picked = logits.gather(-1, here.unsqueeze(-1)).squeeze(-1)
    picked = picked.masked_fill(skip, 0.0)
    dist.all_reduce(picked)
    z = logits.exp().sum(-1)
    dist.all_reduce(z)
    return z.log() - picked


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(5)
    vocab, dim, n = 16, 8, 20
    table = torch.randn(vocab, dim)
    hidden = torch.randn(n, dim)
    ids = torch.arange(n) % vocab
    shard = VocabShard(vocab, rank, world)
    w = table[shard.first:shard.last]
    with torch.no_grad():
        loss = parallel_nll(hidden @ w.t(), ids, shard).mean()
    print("loss %.5f" % loss)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
