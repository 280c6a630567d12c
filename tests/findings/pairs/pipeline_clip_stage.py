# DT1064 stage.weight at: clip_grad_norm_(stage.parameters(), args.clip)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
"""A pipeline of four stages by hand: one layer on each rank, clipped by the gradient's norm."""
import argparse
import torch
import torch.distributed as dist

p = argparse.ArgumentParser()
p.add_argument("--dim", type=int, default=6)
p.add_argument("--steps", type=int, default=3)
p.add_argument("--clip", type=float, default=0.5)
args = p.parse_args()

dist.init_process_group("gloo")
r, w = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
layers = [torch.nn.Linear(args.dim, args.dim) for _ in range(w)]
stage = layers[r]
opt = torch.optim.SGD(stage.parameters(), lr=0.5)
x = torch.randn(8, args.dim)
target = torch.randn(8, args.dim)

for step in range(args.steps):
    if r == 0:
        inp = x
    else:
        inp = torch.empty(8, args.dim)
        dist.recv(inp, r - 1)
        inp.requires_grad_()
    out = torch.tanh(stage(inp))
    opt.zero_grad()
    if r < w - 1:
        dist.send(out.detach(), r + 1)
        grad = torch.empty_like(out)
        dist.recv(grad, r + 1)
        out.backward(grad)
    else:
        loss = ((out - target) ** 2).sum()
        loss.backward()
        print("loss %.5f" % loss.item())
    if r > 0:
        dist.send(inp.grad, r - 1)
    torch.nn.utils.clip_grad_norm_(stage.parameters(), args.clip)  # wrong
    #right sq = sum(q.grad.pow(2).sum() for q in stage.parameters())
    #right dist.all_reduce(sq)
    #right scale = (args.clip / (sq.sqrt() + 1e-6)).clamp(max=1.0)
    #right for q in stage.parameters():
        #right q.grad.mul_(scale)
    opt.step()
dist.destroy_process_group()
