# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""ZeRO 1 with bf16 weights and float32 masters, accumulated micro-batches, a loss by
tokens of all ranks, averaged weights on all ranks, an evaluation with uneven parts."""
import copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

PAD, V = 0, 12


class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=PAD)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, V)

    def forward(self, ids):
        h, _ = self.rnn(self.emb(ids))
        return self.head(self.norm(h))


class Data:
    """Sequences of uneven length; order is one for all ranks, each takes its share."""

    def __init__(self, n, length, seed):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, V, (n, length), generator=g)
        ends = torch.randint(3, length + 1, (n, 1), generator=g)
        self.ids[torch.arange(length) >= ends] = PAD

    def share(self, epoch, rank, world):
        g = torch.Generator().manual_seed(epoch)
        order = torch.randperm(len(self.ids), generator=g)
        return self.ids[order[rank::world]]


class Zero:
    def __init__(self, params, lr):
        self.params = list(params)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.numel = sum(p.numel() for p in self.params)
        self.pad = -self.numel % self.world
        whole = F.pad(torch.cat([p.detach().float().flatten() for p in self.params]), (0, self.pad))
        self.master = nn.Parameter(whole.chunk(self.world)[self.rank].clone())
        self.opt = torch.optim.AdamW([self.master], lr=lr, weight_decay=0.0)

    def reduce(self):
        flat = torch.cat([p.grad.float().flatten() for p in self.params])
        flat = F.pad(flat, (0, self.pad))
        self.master.grad = torch.empty_like(self.master)
        dist.reduce_scatter_tensor(self.master.grad, flat)

    def clip(self, limit):
        total = self.master.grad.square().sum()
        dist.all_reduce(total)
        norm = total.sqrt()
        self.master.grad.mul_((limit / (norm + 1e-6)).clamp(max=1.0))
        return norm

    @torch.no_grad()
    def step(self):
        self.opt.step()
        whole = torch.empty(self.numel + self.pad)
        dist.all_gather_into_tensor(whole, self.master.detach())
        at = 0
        for p in self.params:
            p.copy_(whole[at:at + p.numel()].view_as(p))
            p.grad = None
            at += p.numel()


class Average:
    def __init__(self, model, decay):
        self.model, self.decay, self.n = copy.deepcopy(model), decay, 0
        self.model.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        self.n += 1
        d = min(self.decay, self.n / (self.n + 3))
        for a, p in zip(self.model.parameters(), model.parameters()):
            a.lerp_(p, 1 - d)


def nll(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(),
                           ignore_index=PAD, reduction="sum")


def train_step(model, opt, micros):
    tokens = torch.tensor(float(sum((m[:, 1:] != PAD).sum().item() for m in micros)))
    dist.all_reduce(tokens)
    total = torch.zeros(())
    for m in micros:
        loss = nll(model, m) / tokens
        loss.backward()
        total += loss.detach()
    opt.reduce()
    norm = opt.clip(0.5)
    opt.step()
    dist.all_reduce(total)
    return total.item(), norm.item()


@torch.no_grad()
def evaluate(model, ids):
    rank, world = dist.get_rank(), dist.get_world_size()
    mine = ids.tensor_split(world)[rank]
    both = torch.stack([nll(model, mine), (mine[:, 1:] != PAD).sum().float()])
    dist.all_reduce(both)
    return (both[0] / both[1]).exp().item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(50 + rank)
    model = Net(8)
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    average = Average(model, 0.9)
    opt = Zero(model.parameters(), lr=0.02)
    data, held = Data(48, 7, 1), Data(13, 7, 2).ids
    for epoch in range(2):
        share = data.share(epoch, rank, world)
        for step in range(2):
            micros = share[6 * step:6 * step + 6].split(3)
            loss, norm = train_step(model, opt, micros)
            average.update(model)
            if rank == 0:
                print("%d.%d loss %.4f norm %.4f" % (epoch, step, loss, norm))
    now, mean = evaluate(model, held), evaluate(average.model, held)
    if rank == 0:
        print("perplexity %.4f, averaged %.4f" % (now, mean))
    dist.destroy_process_group()


main()
