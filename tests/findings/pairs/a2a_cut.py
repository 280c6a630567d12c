# DT1063 rows at: dist.all_to_all_single
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as DF
from torch import nn


class Exchange:
    def __init__(self):
        self.n = dist.get_world_size()

    def __call__(self, rows):
        out = torch.empty_like(rows)
        dist.all_to_all_single(out, rows.contiguous())  # wrong
        #right out = DF.all_to_all_single(out, rows.contiguous())
        return out


class Layer(nn.Module):
    def __init__(self, width, rank):
        super().__init__()
        torch.manual_seed(21)
        self.inp = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)
        torch.manual_seed(100 + rank)
        self.expert = nn.Linear(width, width)
        self.swap = Exchange()

    def forward(self, x):
        h = torch.tanh(self.inp(x))
        h = self.swap(h)
        h = torch.relu(self.expert(h))
        return self.out(self.swap(h))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = Layer(6, rank)
    torch.manual_seed(500 + rank)
    x, y = torch.randn(8, 6), torch.randn(8, 2)
    shared = [p for k, p in model.named_parameters() if not k.startswith("expert")]
    for step in range(3):
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        for p in shared:
            if p.grad is not None:
                dist.all_reduce(p.grad)
                p.grad.div_(dist.get_world_size())
        with torch.no_grad():
            for k, p in model.named_parameters():
                if p.grad is not None:
                    scale = dist.get_world_size() if k.startswith("expert") else 1
                    p -= 0.1 * p.grad / scale
                    p.grad = None
    t = loss.detach()
    dist.all_reduce(t)
    if rank == 0:
        print("loss", round(t.item(), 5))
