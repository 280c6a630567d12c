# DT1047 model.shared_a at: dist.all_reduce(p.grad, group=expert_dp_group)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""LoRA on experts: B is per expert, A is shared by all experts of the layer."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
EP = 2
ep_rank, edp_rank = rank % EP, rank // EP
for d in range(world // EP):
    g = dist.new_group([d * EP + e for e in range(EP)])
    if d == edp_rank:
        ep_group = g
for e in range(EP):
    g = dist.new_group([d * EP + e for d in range(world // EP)])
    if e == ep_rank:
        expert_dp_group = g

DIM, RANK, EXPERTS = 10, 3, 4
torch.manual_seed(31)
base = torch.randn(EXPERTS, DIM, DIM) / DIM ** 0.5
first = ep_rank * EXPERTS // EP
mine = range(first, first + EXPERTS // EP)


class LoraExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared_a = nn.Parameter(torch.randn(DIM, RANK) * 0.1)
        b = torch.randn(EXPERTS, RANK, DIM) * 0.1
        self.b = nn.Parameter(b[list(mine)].clone())

    def forward(self, tokens, which):
        out = torch.zeros_like(tokens)
        for i, e in enumerate(mine):
            hit = (which == e).unsqueeze(1).to(tokens)
            y = tokens @ base[e] + tokens @ self.shared_a @ self.b[i]
            out = out + hit * y
        return out


class SumOverExperts(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x, group=ep_group)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def sync(model):
    n = dist.get_world_size(expert_dp_group)
    for name, p in model.named_parameters():
        #right if name.startswith("shared"):
            #right dist.all_reduce(p.grad, group=ep_group)
        dist.all_reduce(p.grad, group=expert_dp_group)
        p.grad /= n


model = LoraExperts()
opt = torch.optim.Adam(model.parameters(), lr=0.02)
stream = torch.Generator().manual_seed(900 + edp_rank)
for step in range(4):
    tokens = torch.randn(12, DIM, generator=stream)
    which = torch.randint(0, EXPERTS, (12,), generator=stream)
    want = torch.tanh(tokens.flip(1))
    loss = F.mse_loss(SumOverExperts.apply(model(tokens, which)), want)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    sync(model)
    opt.step()
    if rank == 0:
        print("step %d: %.6f" % (step, loss.item()))
