# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""A small diffusion model trained apart for some steps on each rank, brought together
by an outer optimizer; each rank shows its own parts, statistics are merged in the end."""
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

STEPS = 50


def schedule():
    t = torch.arange(STEPS + 1) / STEPS
    return (torch.cos(t * math.pi / 2) ** 2).clamp(1e-3, 0.999)


class Denoiser(nn.Module):
    def __init__(self, d, width):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, width), nn.SiLU(), nn.Linear(width, width))
        self.inp, self.mid, self.out = nn.Linear(d, width), nn.Linear(width, width), nn.Linear(width, d)
        self.register_buffer("freq", torch.exp(torch.arange(4) * -1.0))

    def forward(self, x, t):
        a = t.float().unsqueeze(1) * self.freq
        h = self.inp(x) + self.time(torch.cat([a.sin(), a.cos()], 1))
        return self.out(F.silu(self.mid(F.silu(h))) + h)


class Outer:
    """Nesterov on the mean of what the ranks have moved."""

    def __init__(self, model, lr, momentum):
        self.model = model
        self.kept = [p.detach().clone() for p in model.parameters()]
        self.opt = torch.optim.SGD([k.requires_grad_(True) for k in self.kept], lr=lr,
                                   momentum=momentum, nesterov=True)

    def step(self):
        world = dist.get_world_size()
        for k, p in zip(self.kept, self.model.parameters()):
            delta = k.detach() - p.detach()
            dist.all_reduce(delta)
            k.grad = delta / world
        self.opt.step()
        with torch.no_grad():
            for k, p in zip(self.kept, self.model.parameters()):
                p.copy_(k)


class Moments:
    """Mean and covariance of rows of all ranks, merged by their sums."""

    def __init__(self, d):
        self.n, self.s, self.q = torch.zeros(()), torch.zeros(d), torch.zeros(d, d)

    def add(self, x):
        self.n += len(x)
        self.s += x.sum(0)
        self.q += x.t() @ x

    def merged(self):
        n, s, q = self.n.clone(), self.s.clone(), self.q.clone()
        for t in (n, s, q):
            dist.all_reduce(t)
        mean = s / n
        return mean, (q - n * torch.outer(mean, mean)) / (n - 1)


def inner_steps(model, opt, x, alpha, source, n):
    model.train()
    for _ in range(n):
        at = torch.randint(0, len(x), (8,), generator=source)
        t = torch.randint(0, STEPS, (8,), generator=source)
        noise = torch.randn(8, x.size(1), generator=source)
        a = alpha[t].unsqueeze(1)
        loss = F.mse_loss(model(a.sqrt() * x[at] + (1 - a).sqrt() * noise, t), noise)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    return loss.item()


@torch.no_grad()
def sample(model, n, d, alpha, source):
    model.eval()
    x = torch.randn(n, d, generator=source)
    for t in range(STEPS - 1, -1, -10):
        a, b = alpha[t], alpha[max(t - 10, 0)]
        e = model(x, torch.full((n,), t))
        x0 = (x - (1 - a).sqrt() * e) / a.sqrt()
        x = b.sqrt() * x0 + (1 - b).sqrt() * e
    return x


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(60)
    model = Denoiser(4, 12)
    outer = Outer(model, lr=0.7, momentum=0.9)
    opt = torch.optim.AdamW(model.parameters(), lr=0.003)
    data = torch.randn(64, 4) * torch.tensor([1.0, 0.5, 2.0, 1.0])
    part, alpha = data.chunk(world)[rank], schedule()
    print("rank %d has %d rows, spread %.3f, mean %.3f"
          % (rank, len(part), part.std().item(), part.mean().item()))
    source = torch.Generator().manual_seed(500 + rank)
    for round_ in range(3):
        loss = inner_steps(model, opt, part, alpha, source, 3)
        outer.step()
        print("rank %d round %d loss %.4f" % (rank, round_, loss))
    made = Moments(4)
    made.add(sample(model, 6, 4, alpha, source))
    real = Moments(4)
    real.add(part)
    (m1, c1), (m2, c2) = made.merged(), real.merged()
    distance = (m1 - m2).square().sum() + (c1 - c2).square().sum()
    if rank == 0:
        print("distance %.4f" % distance.item())
    dist.destroy_process_group()


main()
