# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.Sequential(nn.Linear(6, 24), nn.Tanh()); self.pi = nn.Linear(24, 3); self.v = nn.Linear(24, 1)
    def forward(self, s):
        h = self.core(s); return self.pi(h).log_softmax(-1), self.v(h).squeeze(-1)

class RunningNorm:
    def __init__(self, k): self.n, self.mean, self.m2 = torch.tensor(1e-4), torch.zeros(k), torch.zeros(k)
    def update(self, x):
        s = torch.cat([x.sum(0), x.square().sum(0), torch.tensor([float(len(x))])])
        dist.all_reduce(s)
        k = x.size(1); n = s[-1]; mean = s[:k] / n; var = s[k:2 * k] / n - mean ** 2
        delta = mean - self.mean; total = self.n + n
        self.m2 = self.m2 + var * n + delta ** 2 * self.n * n / total
        self.mean = self.mean + delta * n / total; self.n = total
    def __call__(self, x): return (x - self.mean) / (self.m2 / self.n + 1e-6).sqrt()

def normalized(adv):
    s = torch.stack([adv.sum(), adv.square().sum(), torch.tensor(float(adv.numel()))]); dist.all_reduce(s)
    mean = s[0] / s[2]; std = (s[1] / s[2] - mean ** 2).clamp(min=0).sqrt()
    return (adv - mean) / (std + 1e-6)

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = ActorCritic(); ddp = DDP(net); norm = RunningNorm(6); beta = 0.1
    opt = torch.optim.Adam(net.parameters(), 3e-3)
    g = torch.Generator().manual_seed(20)
    for it in range(3):
        whole = torch.randn(32, 6, generator=g) * 2 + 1
        u = torch.rand(32, generator=g)
        s, u = whole.chunk(world)[rank], u.chunk(world)[rank]
        norm.update(s); s = norm(s)
        with torch.no_grad():
            logp, v = net(s)
            act = (logp.exp().cumsum(-1) < u[:, None]).sum(-1).clamp(max=2)
            reward = (act == s[:, :3].argmax(-1)).float()
            old = logp.gather(1, act[:, None]).squeeze(1); adv = normalized(reward - v)
        for epoch in range(2):
            lp, val = ddp(s)
            new = lp.gather(1, act[:, None]).squeeze(1); ratio = (new - old).exp()
            pg = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
            kl = (logp.exp() * (logp - lp)).sum(-1).mean()
            loss = pg + 0.5 * (val - reward).square().mean() + beta * kl
            opt.zero_grad(); loss.backward(); opt.step()
        k = kl.detach().clone(); dist.all_reduce(k); k /= world
        beta = beta * 2 if k.item() > 0.02 else beta / 2 if k.item() < 0.005 else beta
        r = reward.sum(); dist.all_reduce(r)
        if rank == 0: print(it, "reward %.4f kl %.6f beta %.4f" % (r.item() / 32, k.item(), beta))
main()
