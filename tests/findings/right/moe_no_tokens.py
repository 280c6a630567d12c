# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Tokens go to the first expert only: the others exchange and view nothing.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
x = torch.arange(12.0).view(4, 3) + 100 * rank
send = [4] + [0] * (world - 1)
counts = torch.empty(world, dtype=torch.int64)
dist.all_to_all_single(counts, torch.tensor(send))
got = torch.empty(int(counts.sum()), 3)
dist.all_to_all_single(got, x, counts.tolist(), send)
assert got.shape[0] == (4 * world if rank == 0 else 0)
flat = got.view(-1)
assert flat.numel() == got.numel()
back = torch.empty_like(x)
dist.all_to_all_single(back, got * 2, send, counts.tolist())
assert torch.equal(back.view(2, 6), (2 * x).view(2, 6))
none = torch.empty(0, 3)
dist.all_to_all_single(torch.empty(0, 3), none, [0] * world, [0] * world)
even = torch.empty(0, 3)
dist.all_to_all_single(even, torch.empty(0, 3))
even.view(3, 0).sum()
dist.destroy_process_group()
