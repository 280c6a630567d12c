# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
E, D, n = 4, 6, 8
x = torch.randn(world * n, D).chunk(world)[rank]
router = torch.randn(E, D)
W = torch.randn(E, D, D)[rank] * .3
w, e = (x @ router.t()).softmax(-1).max(-1)
order = e.argsort(stable=True)
counts = torch.bincount(e, minlength=E)
got = torch.empty_like(counts)
dist.all_to_all_single(got, counts)
si, so = counts.tolist(), got.tolist()
recv = torch.empty(sum(so), D)
dist.all_to_all_single(recv, x[order], so, si)
y = recv @ W
back = torch.empty(n, D)
dist.all_to_all_single(back, y, si, so)
out = torch.empty_like(back)
out[order] = back
copied = torch.empty_like(back).index_copy(0, order, back)
spread = torch.empty_like(back).scatter(0, order[:, None].expand_as(back), back)
assert torch.equal(copied, out) and torch.equal(spread, out)
print((x + out * w[:, None]).sum())
