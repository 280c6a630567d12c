# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# The loss of the last stage weighs no parameter of another stage.
import torch
import torch.nn as nn
import torch.distributed as dist
from dataclasses import dataclass


@dataclass
class PipeCfg:
    width: int = 6
    micro: int = 4
    rows: int = 3
    lr: float = 0.05


class Stage(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.proj = nn.Linear(cfg.width, cfg.width)

    def forward(self, h):
        return torch.tanh(self.proj(h))


class Schedule:
    """Forward all micro-batches, then backward all of them."""

    def __init__(self, stage, cfg, stage_id, n_stages):
        self.stage, self.cfg = stage, cfg
        self.id, self.n = stage_id, n_stages
        self.inputs, self.outputs = [], []

    def run_forward(self, chunk):
        if self.id == 0:
            h = chunk
        else:
            h = torch.empty(self.cfg.rows, self.cfg.width)
            dist.recv(h, src=self.id - 1)
            h.requires_grad_(True)
        out = self.stage(h)
        if self.id < self.n - 1:
            dist.send(out.detach(), dst=self.id + 1)
        self.inputs.append(h)
        self.outputs.append(out)

    def run_backward(self, target):
        h = self.inputs.pop(0)
        out = self.outputs.pop(0)
        if self.id == self.n - 1:
            loss = ((out - target) ** 2).mean() / self.cfg.micro
            loss.backward()
        else:
            g = torch.empty_like(out)
            dist.recv(g, src=self.id + 1)
            out.backward(g)
        if self.id > 0:
            dist.send(h.grad if h.grad is not None else torch.zeros_like(h), dst=self.id - 1)


def main():
    dist.init_process_group("gloo")
    r, n = dist.get_rank(), dist.get_world_size()
    cfg = PipeCfg()
    torch.manual_seed(3)
    stages = [Stage(cfg) for _ in range(n)]
    data = torch.randn(cfg.micro, cfg.rows, cfg.width)
    goal = torch.randn(cfg.micro, cfg.rows, cfg.width)
    opt = torch.optim.SGD(stages[r].parameters(), lr=cfg.lr)
    sch = Schedule(stages[r], cfg, r, n)
    for i in range(cfg.micro):
        sch.run_forward(data[i])
    for i in range(cfg.micro):
        sch.run_backward(goal[i])
    opt.step()
    s = stages[r].proj.weight.detach().sum()
    dist.all_reduce(s)
    print("rank %d weights %.5f" % (r, s.item()))
    dist.destroy_process_group()


main()
