# DT1094 model.projector.bias at: out = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""SimCLR pre-training of a small encoder, negatives from every process."""
import os
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


class GatherLayer(torch.autograd.Function):
    """all_gather that lets gradients through."""

    @staticmethod
    def forward(ctx, x):
        out = [torch.zeros_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(out, x)
        return tuple(out)

    @staticmethod
    def backward(ctx, *grads):
        mine = grads[dist.get_rank()].contiguous()
        #right total = torch.stack(grads)
        #right dist.all_reduce(total)
        #right mine = total[dist.get_rank()]
        return mine


class Encoder(nn.Module):
    def __init__(self, dim_in=12, hidden=24, dim_out=8):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(dim_in, hidden), nn.ReLU())
        self.projector = nn.Linear(hidden, dim_out)

    def forward(self, x):
        return F.normalize(self.projector(self.backbone(x)), dim=1)


def nt_xent(z1, z2, temperature=0.3):
    a = torch.cat(GatherLayer.apply(z1))
    b = torch.cat(GatherLayer.apply(z2))
    n = a.shape[0]
    z = torch.cat([a, b])
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(-1e9)
    targets = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, targets)


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = Encoder()
    opt = torch.optim.SGD(model.parameters(), lr=0.2)
    data_rng = torch.Generator().manual_seed(1234 + dist.get_rank())
    for step in range(4):
        x = torch.randn(6, 12, generator=data_rng)
        v1 = x + 0.1 * torch.randn(6, 12, generator=data_rng)
        v2 = x + 0.1 * torch.randn(6, 12, generator=data_rng)
        loss = nt_xent(model(v1), model(v2))
        opt.zero_grad()
        loss.backward()
        average_gradients(model)
        opt.step()
        if dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.5f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
