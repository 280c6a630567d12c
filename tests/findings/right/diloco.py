# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# DiLoCo: workers train alone, an outer optimizer steps with what they moved
import copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

OUTER, INNER = 3, 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
        self.out = nn.Linear(12, 1)

    def forward(self, x):
        return self.out(self.body(x))


def pseudo_gradient(outer, inner, world):
    for po, pi in zip(outer.parameters(), inner.parameters()):
        delta = po.detach() - pi.detach()
        dist.all_reduce(delta)
        delta /= world
        po.grad = delta


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    outer = Net()
    outer_opt = torch.optim.SGD(outer.parameters(), lr=0.7, momentum=0.9, nesterov=True)
    gen = torch.Generator().manual_seed(30 + rank)
    inner = copy.deepcopy(outer)
    inner_opt = torch.optim.AdamW(inner.parameters(), lr=1e-2)
    for outer_step in range(OUTER):
        inner.load_state_dict(outer.state_dict())
        for inner_step in range(INNER):
            x = torch.randn(8, 6, generator=gen)
            inner_opt.zero_grad()
            loss = F.mse_loss(inner(x), x.sum(1, keepdim=True))
            loss.backward()
            inner_opt.step()
        pseudo_gradient(outer, inner, world)
        outer_opt.step()
    s = sum(p.detach().square().sum() for p in outer.parameters())
    if rank == 0:
        print("result %.5f" % s.item())
    dist.destroy_process_group()


main()
