# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Addends of products that go into a parameter, and are made whole before or after
import torch, torch.nn as nn
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
N, D, R = 16, 8, 4
X, Y = torch.randn(N, D), torch.randn(N, 4)
x, y = X.chunk(world)[rank], Y.chunk(world)[rank]
# local SGD by hand: gradients of the own rows, models averaged at the end of each round
w = nn.Parameter(torch.zeros(D, 4))
with torch.no_grad():
    for rnd in range(2):
        for _ in range(3):
            w -= 0.1 * (x.t() @ (x @ w - y)) / len(x)
        dist.all_reduce(w)
        w /= world
A0, B0 = torch.randn(R, D), torch.randn(D, R)
base = [nn.Parameter(torch.randn(D, D)) for _ in range(4)]
A, B = nn.Parameter(A0.chunk(world)[rank].clone()), nn.Parameter(B0.chunk(world, 1)[rank].clone())
with torch.no_grad():
    # summed first
    d = B @ A
    dist.all_reduce(d)
    base[0] += d
    # both gathered first
    As, Bs = [torch.empty_like(A) for _ in range(world)], [torch.empty(D, R // world) for _ in range(world)]
    dist.all_gather(As, A.detach()); dist.all_gather(Bs, B.detach().contiguous())
    base[1].add_(torch.cat(Bs, 1) @ torch.cat(As))
    # the first rank has the base's share, the others only addends: summed at the end
    if rank > 0: base[2].zero_()
    base[2] += B @ A
    dist.all_reduce(base[2])
    # the whole product of what every rank has
    whole = B0 @ A0
    base[3] += whole
out = sum(b.norm() for b in base).item() + w.norm().item()
print("n %.4f" % out)
dist.destroy_process_group()
