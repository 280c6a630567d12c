# DT1083 shown at: dist.broadcast(shown, src=0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
RANK, PP = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
blocks = nn.ModuleList([nn.Linear(5, 5) for _ in range(PP)])
tokens = torch.randn(8, 5)
answers = torch.randint(0, 5, (8,))
mine = blocks[RANK]
optim = torch.optim.AdamW(mine.parameters(), lr=1e-2)


def is_first():
    return RANK == 0


def is_last():
    return RANK == PP - 1


def forward_step():
    if is_first():
        inp = tokens
    else:
        inp = torch.zeros(8, 5)
        dist.recv(inp, RANK - 1)
        inp.requires_grad_()
    out = F.gelu(mine(inp)) if not is_last() else mine(inp)
    if not is_last():
        dist.send(out.detach(), RANK + 1)
    return inp, out


def backward_step(inp, out):
    reported = torch.zeros(())
    if is_last():
        nll = F.cross_entropy(out, answers)
        nll.backward()
        reported = nll.detach().clone()
    else:
        g = torch.zeros_like(out)
        dist.recv(g, RANK + 1)
        out.backward(g)
    if not is_first():
        dist.send(inp.grad, RANK - 1)
    return reported


for step in range(3):
    optim.zero_grad()
    inp, out = forward_step()
    shown = backward_step(inp, out)
    optim.step()
    dist.broadcast(shown, src=0)  # wrong
    #right dist.broadcast(shown, src=PP - 1)
    if RANK == 0:
        print("step %d loss %.4f" % (step, shown.item()))
dist.destroy_process_group()
