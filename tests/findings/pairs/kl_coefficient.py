# DT1161 kl at: loss = pg + self.kl_ctl.coef * kl
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
import copy


class AdaptiveKL:
    def __init__(self, coef, target):
        self.coef, self.target = coef, target

    def update(self, kl):
        error = max(-2.0, min(2.0, kl / self.target - 1))
        self.coef *= 1 + 0.5 * error


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        torch.manual_seed(42)
        self.policy = nn.Linear(6, 5)
        self.ref = copy.deepcopy(self.policy)
        with torch.no_grad():
            self.policy.weight.add_(torch.randn(5, 6) * 0.5)
        self.opt = torch.optim.SGD(self.policy.parameters(), lr=0.2)
        self.kl_ctl = AdaptiveKL(0.5, 1.0)
        self.states = torch.randn(16, 6)
        self.actions = torch.randint(0, 5, (16,))
        self.adv = torch.randn(16)

    def step(self):
        s, a, adv = (t.chunk(self.world)[self.rank] for t in (self.states, self.actions, self.adv))
        logp = F.log_softmax(self.policy(s), -1)
        with torch.no_grad():
            ref = F.log_softmax(self.ref(s), -1)
        kl = (logp.exp() * (logp - ref)).sum(-1).mean()
        pg = -(logp.gather(1, a[:, None]).squeeze(1) * adv).mean()
        loss = pg + self.kl_ctl.coef * kl
        self.opt.zero_grad()
        loss.backward()
        for p in self.policy.parameters():
            dist.all_reduce(p.grad)
            p.grad /= self.world
        self.opt.step()
        seen = kl.detach().clone()
        #right dist.all_reduce(seen)
        #right seen /= self.world
        self.kl_ctl.update(seen.item())
        return self.kl_ctl.coef


dist.init_process_group("gloo")
t = Trainer()
for i in range(4):
    c = t.step()
    if t.rank == 0:
        print("coef %.5f" % c)
print("w %.5f" % t.policy.weight.sum().item()) if t.rank == 0 else None
