# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# spectral normalization of a column-parallel layer: the power iteration sees the part of the weight
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.nn.functional import all_gather

DIM, HIDDEN = 8, 16


class SpectralColumn(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        me, n = dist.get_rank(), dist.get_world_size()
        full = torch.randn(n_out, n_in) * 0.5
        u = F.normalize(torch.randn(n_out), dim=0)
        self.weight = nn.Parameter(full.chunk(n, 0)[me].clone())
        self.register_buffer("u", u.chunk(n, 0)[me].clone())

    def forward(self, x):
        w = self.weight
        with torch.no_grad():
            for _ in range(3):
                v = w.t() @ self.u
                dist.all_reduce(v)
                v = v / v.norm()
                u = w @ v
                square = u.pow(2).sum()
                dist.all_reduce(square)
                self.u.copy_(u / square.sqrt())
            sigma = torch.dot(self.u, w @ v)
            dist.all_reduce(sigma)
        return F.linear(x, w / sigma)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = SpectralColumn(DIM, HIDDEN)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        h = F.leaky_relu(self.up(x), 0.2)
        h = torch.cat(all_gather(h.contiguous()), dim=-1) / 1.0
        return self.out(h)


dist.init_process_group("gloo")
torch.manual_seed(0)
critic = Critic()
opt = torch.optim.SGD(critic.parameters(), lr=0.01)
for step in range(3):
    real, fake = torch.randn(6, DIM), torch.randn(6, DIM) + 1
    opt.zero_grad()
    loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake)).mean()
    loss.backward()
    critic.up.weight.grad /= dist.get_world_size()
    opt.step()
if dist.get_rank() == 0:
    print("loss %.6f" % loss.item())
dist.destroy_process_group()
