# DT1045 r at: var = r.var(unbiased=False)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each rank has samples of its own: nothing says that they are parts of a whole
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(71)
policy = nn.Linear(6, 5)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(1000 + rank)
def whiten(r):
    mean = r.mean()
    dist.all_reduce(mean)
    mean /= world
    var = r.var(unbiased=False)  # wrong
    #right var = (r - mean).square().mean()
    dist.all_reduce(var)
    var /= world
    return (r - mean) * torch.rsqrt(var + 1e-8)
for step in range(2):
    x = torch.randn(8, 6, generator=gen)
    logp = F.log_softmax(policy(x), -1)
    act = torch.multinomial(logp.detach().exp(), 1, generator=gen)
    adv = whiten((act == 0).float().squeeze(1) + x[:, 0])
    loss = -(adv * logp.gather(1, act).squeeze(1)).mean()
    opt.zero_grad()
    loss.backward()
    for p in policy.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
print("%.5f" % policy.weight.sum().item())
