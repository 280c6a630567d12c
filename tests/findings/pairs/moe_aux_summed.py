# DT1150 router.gate.weight at: dist.all_reduce(p.grad)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.distributed as dist


class AllReduceSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        dist.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx, g):
        g = g.clone()
        dist.all_reduce(g)
        return g


class Router(nn.Module):
    def __init__(self, d, experts):
        super().__init__()
        self.gate = nn.Linear(d, experts, bias=False)
        self.experts = experts

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        top = probs.argmax(-1)
        load = torch.bincount(top, minlength=self.experts).float() / x.size(0)
        prob = probs.mean(0)
        dist.all_reduce(load)
        load = load / dist.get_world_size()
        prob = AllReduceSum.apply(prob) / dist.get_world_size()
        aux = self.experts * (load * prob).sum()
        return probs.gather(1, top[:, None]), aux


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    router = Router(6, 4)
    opt = torch.optim.SGD(router.parameters(), lr=0.2)
    data = torch.randn(32, 6).chunk(world)[rank]
    for it in range(3):
        weight, aux = router(data)
        loss = (weight * data).pow(2).mean() + 0.5 * aux
        opt.zero_grad()
        loss.backward()
        for p in router.parameters():
            dist.all_reduce(p.grad)  # wrong
            #right dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
        opt.step()
    s = router.gate.weight.detach().abs().sum()
    if rank == 0:
        print("gate %.5f" % s)
    dist.destroy_process_group()


main()
