# DT1150 aten.scatter_.value at: onehot = F.one_hot(idx, self.k).float()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist


class PartialHead(nn.Module):
    """Class centres are divided among the ranks (partial FC, ArcFace margin)."""

    def __init__(self, centres, rank, world, s=8.0, m=0.4):
        super().__init__()
        self.k = centres.size(0) // world
        self.lo = rank * self.k
        self.s, self.m = s, m
        self.weight = nn.Parameter(centres[self.lo:self.lo + self.k].clone())

    def forward(self, emb, label):
        cos = F.normalize(emb) @ F.normalize(self.weight).t()
        idx = (label - self.lo).clamp(0, self.k - 1)
        own = (label >= self.lo) & (label < self.lo + self.k)
        onehot = F.one_hot(idx, self.k).float()  # wrong
        #right onehot = F.one_hot(idx, self.k).float() * own[:, None]
        theta = torch.acos(cos.clamp(-1 + 1e-6, 1 - 1e-6))
        logits = self.s * torch.where(onehot > 0, torch.cos(theta + self.m), cos)
        top = logits.detach().amax(1)
        dist.all_reduce(top, op=dist.ReduceOp.MAX)
        denom = (logits - top[:, None]).exp().sum(1)
        dist.all_reduce(denom)
        hit = (logits.gather(1, idx[:, None])[:, 0] - top) * own
        dist.all_reduce(hit)
        return (denom.log() - hit).mean()


def run():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(33)
    n_ids, width = 12, 7
    centres = torch.randn(n_ids, width)
    faces = torch.randn(18, width)
    who = torch.randint(0, n_ids, (18,))
    head = PartialHead(centres, rank, world)
    with torch.no_grad():
        loss = head(faces, who)
    if rank == 0:
        print("arcface %.5f" % float(loss))
    dist.destroy_process_group()


run()
