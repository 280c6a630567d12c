# DT1047 aten.addcdiv_.default at: self.opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Agent:
    def __init__(self, obs, act):
        self.actor = DDP(nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, act)))
        self.critic = nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, 1))  # wrong
        #right self.critic = DDP(nn.Sequential(nn.Linear(obs, 16), nn.Tanh(), nn.Linear(16, 1)))
        self.opt = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=5e-3)
    def update(self, obs, act, ret):
        v = self.critic(obs).squeeze(-1)
        adv = (ret - v).detach()
        logp = F.log_softmax(self.actor(obs), -1).gather(1, act[:, None]).squeeze(1)
        loss = -(logp * adv).mean() + 0.5 * F.mse_loss(v, ret)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(5)
agent = Agent(4, 3)
gen = torch.Generator().manual_seed(100 + rank)
for it in range(4):
    obs = torch.randn(16, 4, generator=gen)
    act = torch.randint(0, 3, (16,), generator=gen)
    ret = obs.sum(1) + 0.1 * torch.randn(16, generator=gen)
    agent.update(obs, act, ret)
s = sum(p.square().sum() for p in agent.actor.parameters())
if rank == 0: print("result %.6f" % s.item())
dist.destroy_process_group()
