# DT1077 aten.add.Tensor at: out = tokens + back  # wrong
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
D = 6
router = torch.randn(D, world)
experts = [nn.Linear(D, D) for _ in range(world)]
expert = experts[rank]
tokens = torch.randn(32, D).chunk(world)[rank]
with torch.no_grad():
    where = (tokens @ router).argmax(-1)
    order = torch.argsort(where, stable=True)
    send = tokens[order]
    counts = torch.bincount(where, minlength=world)
    incoming = torch.empty_like(counts)
    dist.all_to_all_single(incoming, counts)
    recv = torch.empty(int(incoming.sum()), D)
    dist.all_to_all_single(recv, send, incoming.tolist(), counts.tolist())
    done = expert(recv)
    back = torch.empty_like(send)
    dist.all_to_all_single(back, done, counts.tolist(), incoming.tolist())
    out = tokens + back  # wrong
    #right out = tokens + torch.empty_like(back).index_copy_(0, order, back)
    total = out.square().sum()
dist.all_reduce(total)
print("%.5f" % total.item())
