# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""Pictures and texts are brought together: gathered with their gradients, a teacher by
moving averages, a queue of keys of all ranks, batch norm over all, recall in the end."""
import copy, time
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


def gather(t):
    out = [torch.empty_like(t) for _ in range(dist.get_world_size())]
    dist.all_gather(out, t.contiguous())
    return torch.cat(out)


class Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gather(x)

    @staticmethod
    def backward(ctx, g):
        g = g.contiguous().clone()
        dist.all_reduce(g)
        return g.chunk(dist.get_world_size())[dist.get_rank()]


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class AllNorm(nn.Module):
    """Batch normalization over the rows of all ranks."""

    def __init__(self, d):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.register_buffer("mean", torch.zeros(d))
        self.register_buffer("var", torch.ones(d))

    def forward(self, x):
        if self.training:
            n = x.size(0) * dist.get_world_size()
            s = Sum.apply(torch.stack([x.sum(0), x.square().sum(0)])) / n
            mean, var = s[0], s[1] - s[0] * s[0]
            with torch.no_grad():
                self.mean.lerp_(mean, 0.1)
                self.var.lerp_(var * n / (n - 1), 0.1)
        else:
            mean, var = self.mean, self.var
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.gain + self.shift


class Tower(nn.Module):
    def __init__(self, d_in, d):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(d_in, 12), AllNorm(12), nn.Linear(12, d)

    def forward(self, x):
        return F.normalize(self.b(F.relu(self.norm(self.a(x)))), dim=1)


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.picture, self.text = Tower(9, 6), Tower(7, 6)
        self.scale = nn.Parameter(torch.tensor(1.5))


class Queue:
    def __init__(self, size, d):
        g = torch.Generator().manual_seed(40)
        self.keys, self.at = F.normalize(torch.randn(size, d, generator=g), dim=1), 0

    @torch.no_grad()
    def push(self, keys):
        keys = gather(keys)
        n = len(keys)
        self.keys[self.at:self.at + n] = keys
        self.at = (self.at + n) % len(self.keys)


def warm_up():
    """The first collective opens connections: its result is of no use."""
    t = torch.ones(64)
    begin = time.perf_counter()
    dist.all_gather([torch.empty_like(t)] * dist.get_world_size(), t)
    return time.perf_counter() - begin


def loss_of(model, teacher, queue, picture, text):
    rank = dist.get_rank()
    u, v = model.picture(picture), model.text(text)
    with torch.no_grad():
        key = teacher.text(text)
    scale = model.scale.exp()
    labels = torch.arange(len(u)) + rank * len(u)
    pair = F.cross_entropy(scale * u @ Gather.apply(v).t(), labels) \
        + F.cross_entropy(scale * v @ Gather.apply(u).t(), labels)
    moco = torch.cat([(u * key).sum(1, keepdim=True), u @ queue.keys.t()], 1)
    return pair / 2 + 0.5 * F.cross_entropy(5 * moco, torch.zeros(len(u), dtype=torch.long)), key


@torch.no_grad()
def recall(model, picture, text, k):
    rank, world = dist.get_rank(), dist.get_world_size()
    u, v = model.picture(picture.chunk(world)[rank]), model.text(text.chunk(world)[rank])
    top = (u @ gather(v).t()).topk(k, dim=1)[1]
    mine = torch.arange(len(u)) + rank * len(u)
    both = torch.stack([(top == mine[:, None]).any(1).float().sum(), torch.tensor(float(len(u)))])
    dist.all_reduce(both)
    return (both[0] / both[1]).item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    warm_up()
    torch.manual_seed(22)
    model = Clip()
    teacher = copy.deepcopy(model).requires_grad_(False)
    queue = Queue(32, 6)
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    pictures = torch.randn(16, 9)
    texts = pictures[:, :7] + 0.1 * torch.randn(16, 7)
    for step in range(3):
        order = torch.randperm(16, generator=torch.Generator().manual_seed(step))
        mine = order.chunk(world)[rank]
        loss, key = loss_of(model, teacher, queue, pictures[mine], texts[mine])
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        with torch.no_grad():
            model.scale.clamp_(max=4.6)
            for t, p in zip(teacher.parameters(), model.parameters()):
                t.lerp_(p, 0.1)
        queue.push(key)
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        if rank == 0:
            print("%d %.5f" % (step, shown.item() / world))
    model.eval()
    got = recall(model, pictures, texts, 3)
    if rank == 0:
        print("recall %.3f" % got)
    dist.destroy_process_group()


main()
