# DT1049 codebook at: self.codebook.copy_(z[pick])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""VQ-VAE with EMA codebook; the codebook starts from the first batch."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist


class VectorQuantizer(nn.Module):
    def __init__(self, n, dim, decay=0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.zeros(n, dim))
        self.register_buffer("size", torch.ones(n))
        self.register_buffer("ready", torch.tensor(False))

    @torch.no_grad()
    def init_from(self, z):
        pick = torch.randperm(z.shape[0])[:self.codebook.shape[0]]
        self.codebook.copy_(z[pick])
        #right dist.broadcast(self.codebook, src=0)
        self.ready.fill_(True)

    def forward(self, z):
        if not self.ready:
            self.init_from(z)
        d = torch.cdist(z, self.codebook)
        code = d.argmin(1)
        if self.training:
            with torch.no_grad():
                onehot = F.one_hot(code, self.codebook.shape[0]).type_as(z)
                counts, sums = onehot.sum(0), onehot.t() @ z
                dist.all_reduce(counts)
                dist.all_reduce(sums)
                self.size.mul_(self.decay).add_(counts, alpha=1 - self.decay)
                mean = sums / counts.clamp(min=1).unsqueeze(1)
                used = (counts > 0).unsqueeze(1)
                new = self.decay * self.codebook + (1 - self.decay) * mean
                self.codebook.copy_(torch.where(used, new, self.codebook))
        q = self.codebook[code]
        commit = F.mse_loss(z, q.detach())
        return z + (q - z).detach(), commit


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(4)
    enc, vq, dec = nn.Linear(9, 4), VectorQuantizer(8, 4), nn.Linear(4, 9)
    params = list(enc.parameters()) + list(dec.parameters())
    opt = torch.optim.Adam(params, lr=1e-2)
    torch.manual_seed(40 + rank)
    for step in range(4):
        x = torch.randn(32, 9)
        q, commit = vq(enc(x))
        loss = F.mse_loss(dec(q), x) + 0.25 * commit
        opt.zero_grad()
        loss.backward()
        for p in params:
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        shown = loss.detach().clone()
        dist.all_reduce(shown)
        if rank == 0:
            print("step %d %.5f" % (step, shown.item() / world))


main()
