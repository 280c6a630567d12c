# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Variances of ranks with samples of their own: the means' is added; another is only shown; and
# what was unfrozen for a look at its gradient alone, or was the other optimizer's
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
gen = torch.Generator().manual_seed(rank)
def mean_of(t):
    t = t.clone()
    dist.all_reduce(t)
    return t / world
for step in range(2):
    r = torch.randn(8, generator=gen) + rank
    mean = mean_of(r.mean())
    between = mean_of((r.mean() - mean).square())
    var = mean_of(r.var(unbiased=False)) + between
    z = (r - mean) / (var + 1e-8).sqrt()
    s = torch.randn(8, generator=gen) * (rank + 1)
    shown = [mean_of(s.mean()), mean_of(s.std())]
    z = z + (s - shown[0]) * 0.5
print("%.4f %.4f" % (shown[0].item(), shown[1].item()))
torch.manual_seed(1)
gen_net, critic = nn.Linear(4, 4), nn.Linear(4, 1)
opt_g = torch.optim.SGD(gen_net.parameters(), lr=0.1)
opt_c = torch.optim.SGD(critic.parameters(), lr=0.1)
for step in range(4):
    noise = torch.randn(8, 4, generator=gen)
    training = opt_c if step % 2 else opt_g
    critic.requires_grad_(training is opt_c)
    loss = critic(gen_net(noise)).mean()
    gen_net.zero_grad(), critic.zero_grad()
    loss.backward()
    for p in [*gen_net.parameters(), *critic.parameters()]:
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= world
    training.step()
print("%.5f" % critic.weight.sum().item())
rows, centers = torch.randn(6, 8), torch.randn(3, 8)
d = torch.cdist(rows.chunk(world, 1)[rank], centers.chunk(world, 1)[rank]).square()
dist.all_reduce(d)
print("%.4f" % torch.exp(-d.sqrt()).sum().item())
