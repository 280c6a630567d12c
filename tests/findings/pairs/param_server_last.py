# DT1192 inbox at: p.grad.add_(inbox)  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""A parameter server: rank 0 collects gradients, steps and sends the weights back."""
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist


def make_model():
    torch.manual_seed(21)
    return nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))


class Server:
    def __init__(self, model, lr):
        self.model, self.world = model, dist.get_world_size()
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def collect(self):
        for p in self.model.parameters():
            inbox = torch.empty_like(p)
            for worker in range(1, self.world):
                dist.recv(inbox, worker)
                #right p.grad.add_(inbox)
            p.grad.add_(inbox)  # wrong
            p.grad.div_(self.world)

    def update(self):
        self.collect()
        self.opt.step()


class Worker:
    def __init__(self, model):
        self.model = model

    def update(self):
        for p in self.model.parameters():
            dist.send(p.grad, 0)


def pull(model):
    for p in model.parameters():
        dist.broadcast(p.data, 0)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = make_model()
    side = Server(model, 0.1) if rank == 0 else Worker(model)
    torch.manual_seed(5)
    x, y = torch.randn(32, 5), torch.randint(0, 2, (32,))
    mine, labels = x.chunk(world)[rank], y.chunk(world)[rank]
    for step in range(5):
        model.zero_grad()
        loss = F.cross_entropy(model(mine), labels)
        loss.backward()
        side.update()
        pull(model)
    with torch.no_grad():
        final = F.cross_entropy(model(x), y)
    if rank == 0:
        print("final %.5f" % final.item())
    dist.destroy_process_group()


main()
