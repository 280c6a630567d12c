# DT1048 model.head.weight at: nn.init.trunc_normal_(m.weight, std=0.05)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import os
import random
import torch
import torch.nn as nn
import torch.distributed as dist


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc = nn.Linear(d, d)

    def forward(self, x):
        return x + torch.relu(self.fc(self.norm(x)))


class Net(nn.Module):
    def __init__(self, d=10, depth=2, classes=4):
        super().__init__()
        self.blocks = nn.ModuleList(Block(d) for _ in range(depth))
        self.head = nn.Linear(d, classes)

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return self.head(x)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.trunc_normal_(m.weight, std=0.05)
        nn.init.zeros_(m.bias)


def broadcast_params(model):
    for t in model.state_dict().values():
        dist.broadcast(t, src=0)


def build(rank):
    model = Net()
    #right model.apply(init_weights)
    broadcast_params(model)
    model.apply(init_weights)  # wrong
    return model


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    # different augmentation on each rank
    torch.manual_seed(1 + rank)
    random.seed(1 + rank)
    model = build(rank)
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x_all = torch.randn(64, 10, generator=torch.Generator().manual_seed(4))
    y_all = (x_all.sum(1) > 0).long() + 2 * (x_all[:, 0] > 0).long()
    for epoch in range(2):
        for i in range(rank, 64, world * 8):
            x, y = x_all[i::world][:8], y_all[i::world][:8]
            loss = nn.functional.cross_entropy(model(x + 0.01 * torch.randn_like(x)), y)
            opt.zero_grad()
            loss.backward()
            for p in model.parameters():
                dist.all_reduce(p.grad)
                p.grad /= world
            opt.step()
    with torch.no_grad():
        acc = (model(x_all).argmax(1) == y_all).float().mean()
        full = nn.functional.cross_entropy(model(x_all), y_all)
    if rank == 0:
        print("accuracy %.4f loss %.5f" % (acc.item(), full.item()))


if __name__ == "__main__":
    main()
