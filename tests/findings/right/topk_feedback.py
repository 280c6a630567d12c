# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Only the largest elements of a gradient are sent; what was kept back is no fault.
import torch
import torch.nn as nn
import torch.distributed as dist


class TopKCompressor:
    """Send the largest entries; keep what was not sent for the next step."""

    def __init__(self, ratio, world):
        self.ratio, self.world = ratio, world
        self.memory = {}

    def sparsify(self, t):
        flat = t.reshape(-1)
        k = max(1, int(flat.numel() * self.ratio))
        keep = flat.abs().topk(k).indices
        out = torch.zeros_like(flat)
        out[keep] = flat[keep]
        return out.view_as(t)

    def reduce(self, name, grad):
        carried = grad + self.memory.get(name, torch.zeros_like(grad))
        sent = self.sparsify(carried)
        total = sent.clone()
        dist.all_reduce(total)
        total /= self.world
        self.memory[name] = carried - sent
        return total


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 8)
        self.b = nn.Linear(8, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x))).squeeze(-1)


def train(net, comp, x, y, steps, lr=0.05):
    for _ in range(steps):
        net.zero_grad()
        ((net(x) - y) ** 2).mean().backward()
        with torch.no_grad():
            for name, p in net.named_parameters():
                p -= lr * comp.reduce(name, p.grad)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    r, n = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(2)
    net = Net()
    x, y = torch.randn(32, 6), torch.randn(32)
    train(net, TopKCompressor(0.25, n), x[r::n], y[r::n], 6)
    norm = torch.cat([p.detach().reshape(-1) for p in net.parameters()]).norm()
    if r == 0:
        print("norm %.6f" % norm.item())
    dist.destroy_process_group()
