# DT1043 mean_logit at: mean_logit = logits.mean(-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist

VOCAB = 20
SMOOTH = 0.1


def all_sum(t):
    t = t.clone()
    dist.all_reduce(t)
    return t


def all_max(t):
    t = t.detach().clone()
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t


class SmoothedLoss(nn.Module):
    def __init__(self, vocab, eps):
        super().__init__()
        self.n = dist.get_world_size()
        self.part = vocab // self.n
        self.begin = dist.get_rank() * self.part
        self.eps, self.vocab = eps, vocab

    def forward(self, logits, gold):
        logits = logits - all_max(logits.max(-1)[0])[:, None]
        lse = all_sum(logits.exp().sum(-1)).log()
        rel = gold - self.begin
        inside = (rel >= 0) & (rel < self.part)
        got = logits.gather(1, rel.clamp(0, self.part - 1)[:, None])[:, 0]
        got = all_sum(torch.where(inside, got, torch.zeros_like(got)))
        mean_logit = logits.mean(-1)  # wrong
        #right mean_logit = all_sum(logits.sum(-1)) / self.vocab
        nll = lse - got
        flat = lse - mean_logit
        return ((1 - self.eps) * nll + self.eps * flat).mean()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(6)
    rank, n = dist.get_rank(), dist.get_world_size()
    w_full = torch.randn(VOCAB, 8)
    h = torch.randn(9, 8)
    gold = torch.randint(0, VOCAB, (9,))
    part = w_full.chunk(n)[rank]
    crit = SmoothedLoss(VOCAB, SMOOTH)
    loss = crit(h @ part.t(), gold)
    print("rank %d loss %.5f" % (rank, loss))
    dist.destroy_process_group()


main()
