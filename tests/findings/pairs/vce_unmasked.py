# DT1200 whole at: dist.all_reduce(whole)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
hidden, vocab, tokens = 8, 32, 12
part = vocab // world
full = torch.randn(vocab, hidden)
weight = full[rank * part:(rank + 1) * part].clone().requires_grad_()
x = torch.randn(tokens, hidden)
target = torch.randint(0, vocab, (tokens,))
for step in range(2):
    logits = x @ weight.t()
    top = logits.detach().max(-1).values
    dist.all_reduce(top, op=dist.ReduceOp.MAX)
    sumexp = (logits - top[:, None]).exp().sum(-1)
    total = sumexp.detach().clone()
    dist.all_reduce(total)
    mine = (target >= rank * part) & (target < (rank + 1) * part)
    at = (target - rank * part).clamp(0, part - 1)
    picked = logits.gather(1, at[:, None])[:, 0]
    #right picked = torch.where(mine, picked, torch.zeros_like(picked))
    whole = picked.detach().clone()
    dist.all_reduce(whole)
    loss = (total.log() + top - whole).mean()
    probs = (logits.detach() - top[:, None]).exp() / total[:, None]
    hot = F.one_hot(at, part).float() * mine[:, None]
    weight.grad = ((probs - hot) / tokens).t() @ x
    with torch.no_grad():
        weight -= 0.5 * weight.grad
    print(rank, step, round(loss.item(), 4))
dist.destroy_process_group()
