# DT1150 state at: state = q.new_zeros(B, D, D)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, D = 2, 16, 6
qkv = nn.Linear(D, 3 * D)
out = nn.Linear(D, D)


def earlier_state(mine):
    """The sum of what all ranks before this one have collected."""
    every = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(every, mine.contiguous())
    first = torch.zeros_like(mine)
    for s in every[:rank]:
        first = first + s
    return first


def linear_attention(q, k, v):
    state = q.new_zeros(B, D, D)  # wrong
    #right state = earlier_state(torch.einsum("btd,bte->bde", k, v))
    ys = []
    for t in range(q.size(1)):
        state = state + k[:, t].unsqueeze(-1) * v[:, t].unsqueeze(1)
        ys.append(torch.einsum("bd,bde->be", q[:, t], state))
    return torch.stack(ys, dim=1)


x = torch.randn(B, T, D)
mine = x.chunk(world, dim=1)[rank]
with torch.no_grad():
    q, k, v = qkv(mine).chunk(3, dim=-1)
    y = out(linear_attention(F.elu(q) + 1, F.elu(k) + 1, v))
    err = (y - mine).square().sum()
    dist.all_reduce(err)
if rank == 0:
    print("loss %.5f" % (err / x.numel()).item())
dist.destroy_process_group()
