# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist

torch.manual_seed(3)


class TopKRouter(nn.Module):
    """Softmax router with a load balancing loss (Switch Transformer, eq. 4)."""

    def __init__(self, dim, n_experts, k, coeff):
        super().__init__()
        self.gate = nn.Linear(dim, n_experts, bias=False)
        self.k, self.coeff, self.n = k, coeff, n_experts

    def forward(self, x):
        probs = F.softmax(self.gate(x), dim=-1)
        weight, index = probs.topk(self.k, dim=-1)
        tokens = F.one_hot(index, self.n).sum((0, 1)).float()
        local_tokens = tokens.clone()
        dist.all_reduce(tokens)
        share = tokens / tokens.sum()
        aux = self.coeff * self.n * (share * probs.mean(0)).sum()
        # how full the experts of this rank's own tokens are
        overflow = F.relu(local_tokens - 1.25 * x.shape[0] * self.k / self.n)
        return weight, index, aux, overflow.sum() / x.shape[0]


class MoE(nn.Module):
    def __init__(self, dim=8, n_experts=4, k=2):
        super().__init__()
        self.router = TopKRouter(dim, n_experts, k, 0.01)
        self.experts = nn.ModuleList([nn.Linear(dim, dim) for _ in range(n_experts)])

    def forward(self, x):
        weight, index, aux, dropped = self.router(x)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            for slot in range(self.router.k):
                hit = (index[:, slot] == e).float().unsqueeze(1)
                out = out + hit * weight[:, slot:slot + 1] * expert(x)
        return out, aux, dropped


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
moe, head = MoE(), nn.Linear(8, 3)
params = list(moe.parameters()) + list(head.parameters())
opt = torch.optim.AdamW(params, lr=1e-2)
gen = torch.Generator().manual_seed(100 + rank)
for it in range(3):
    x = torch.randn(16, 8, generator=gen)
    y = torch.randint(0, 3, (16,), generator=gen)
    h, aux, dropped = moe(x)
    loss = F.cross_entropy(head(h), y) * (1 + dropped) + aux
    opt.zero_grad()
    loss.backward()
    for p in params:
        dist.all_reduce(p.grad)
        p.grad.div_(world)
    opt.step()
    log = torch.stack([loss.detach(), dropped])
    dist.all_reduce(log)
    if rank == 0:
        print("it %d loss %.5f dropped %.4f" % (it, log[0] / world, log[1] / world))
