# DT1150 run at: run = torch.zeros(1)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.distributed as dist

GAMMA, LAM = 0.97, 0.9

class ActorCritic(nn.Module):
    def __init__(self, obs=5, act=3, hid=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hid), nn.Tanh())
        self.pi = nn.Linear(hid, act)
        self.v = nn.Linear(hid, 1)
    def forward(self, o):
        h = self.body(o)
        return self.pi(h), self.v(h).squeeze(-1)

def trajectory(T):
    g = torch.Generator().manual_seed(11)
    obs = torch.randn(T + 1, 5, generator=g).cumsum(0) * 0.3
    act = torch.randint(0, 3, (T,), generator=g)
    rew = torch.rand(T, generator=g) - 0.3
    return obs, act, rew

def from_next(value, rank, world):
    """the advantage that the next rank begins with"""
    out = torch.zeros(1)
    if rank + 1 < world:
        dist.recv(out, rank + 1)
    return out

def gae(rew, val, nxt, rank, world):
    T = rew.shape[0]
    adv = torch.zeros(T)
    run = torch.zeros(1)  # wrong
    #right run = from_next(None, rank, world)
    for t in range(T - 1, -1, -1):
        delta = rew[t] + GAMMA * nxt[t] - val[t]
        run = delta + GAMMA * LAM * run
        adv[t] = run
    #right if rank > 0:
        #right dist.send(run, rank - 1)
    return adv

def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    ac = ActorCritic()
    opt = torch.optim.Adam(ac.parameters(), lr=3e-3)
    obs, act, rew = trajectory(64)
    n = 64 // world
    lo = rank * n
    for it in range(4):
        with torch.no_grad():
            v = ac(obs[lo:lo + n + 1])[1]
            adv = gae(rew[lo:lo + n], v[:-1], v[1:], rank, world)
            ret = adv + v[:-1]
        logits, val = ac(obs[lo:lo + n])
        logp = torch.log_softmax(logits, -1).gather(1, act[lo:lo + n, None]).squeeze(1)
        loss = -(logp * adv).mean() + 0.5 * (val - ret).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        for p in ac.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        if rank == 0:
            print(f"iter {it} loss {shown.item() / world:.5f}")
    dist.destroy_process_group()

main()
