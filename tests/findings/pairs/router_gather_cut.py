# DT1063 t at: dist.all_gather(out, t)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
import torch.distributed.nn.functional as dnn
torch.manual_seed(0)
T, D, E = 4, 6, 4
router = nn.Parameter(torch.randn(E, D) * 0.5)
expert = nn.Parameter(torch.randn(E, D, D)[rank].clone() * 0.4)
x, y = torch.randn(world * T, D).chunk(world)[rank], torch.randn(world * T, D).chunk(world)[rank]
opt = torch.optim.SGD([router, expert], lr=0.5)
def plain_gather(t):
    out = [torch.empty_like(t) for _ in range(world)]
    dist.all_gather(out, t)
    return torch.cat(out)
for step in range(3):
    opt.zero_grad()
    probs = (x @ router.t()).softmax(-1)
    tokens = torch.cat(dnn.all_gather(x))
    weights = plain_gather(probs) # wrong
    #right weights = torch.cat(dnn.all_gather(probs))
    part = (tokens @ expert) * weights[:, rank:rank + 1]
    out = dnn.reduce_scatter(torch.empty(T, D), list(part.chunk(world)))
    loss = (out - y).pow(2).sum()
    loss.backward()
    if router.grad is None: router.grad = torch.zeros_like(router)
    dist.all_reduce(router.grad)
    opt.step()
print("result %.5f" % router.detach().norm().item())
dist.destroy_process_group()
