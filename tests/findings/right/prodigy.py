# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# a Prodigy-like optimizer over FSDP2: the step size d is estimated from this rank's shards
import math
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Prodigy(torch.optim.Optimizer):
    def __init__(self, params, lr=1.0, betas=(0.9, 0.99), d0=1e-2, growth=2.0):
        super().__init__(params, dict(lr=lr, betas=betas))
        self.d, self.d_num, self.growth = d0, 0.0, growth

    @torch.no_grad()
    def step(self):
        num, den = torch.zeros(()), torch.zeros(())
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["p0"] = p.detach().clone()
                    state["m"] = torch.zeros_like(p)
                    state["v"] = torch.zeros_like(p)
                    state["s"] = torch.zeros_like(p)
                g = p.grad
                num += (g.to_local() * (state["p0"].to_local() - p.to_local())).sum()
                state["m"].lerp_(g, 1 - b1)
                state["v"].mul_(b2).add_(g * g, alpha=1 - b2)
                state["s"].mul_(math.sqrt(b2)).add_(g, alpha=self.d)
                den += state["s"].to_local().abs().sum()
        both = torch.stack([num, den])
        dist.all_reduce(both)
        num, den = both
        self.d_num = 0.9 * self.d_num + self.d * num.item()
        d_hat = self.d_num / (den.item() + 1e-12)
        self.d = max(self.d, min(d_hat, self.d * self.growth))
        for group in self.param_groups:
            lr = group["lr"] * self.d
            for p in group["params"]:
                state = self.state[p]
                if state:
                    p.add_(state["m"] / (state["v"].sqrt() + 1e-8), alpha=-lr)


def main():
    mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("fsdp",))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
    for m in (model[0], model[2]):
        fully_shard(m, mesh=mesh)
    fully_shard(model, mesh=mesh)
    opt = Prodigy(model.parameters())
    torch.manual_seed(7 + dist.get_rank())
    x, y = torch.randn(8, 8), torch.randint(0, 4, (8,))
    for step in range(6):
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    s = sum(p.full_tensor().square().sum() for p in model.parameters())
    print("rank %d d %.6f result %.5f" % (dist.get_rank(), opt.d, s.item()))


main()
dist.destroy_process_group()
