# SPDX-License-Identifier: MIT
# What is waited for, names of reductions, groups made from others.
import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_group

dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
t = torch.ones(2) * r
w = dist.all_reduce(t, async_op=True)
print(r, type(w).__name__, isinstance(w, dist.Work), w.wait(), w.is_completed(), w.is_success(), w.exception(), t)
S = dist.ReduceOp
print(repr(S.SUM), S.SUM, str(S.AVG), S.SUM == S.SUM, S.MAX != S.MIN, S.PRODUCT.name, S.BXOR.value, [S.MIN])
print({S.SUM: 1}[S.SUM], f"{S.MAX}", S.SUM is S.RedOpType.SUM, isinstance(t, dist.Work))
x = torch.tensor([float(r + 1)])
dist.all_reduce(x, op=S.PRODUCT)
print(r, x)
dist.reduce(x, 0, op=S.MAX)
outs = [torch.zeros(1) for _ in range(n)]
h = dist.all_gather(outs, torch.tensor([float(r)]), async_op=True)
h.wait()
print(r, outs, h.is_completed(), h.get_future().done())
one = dist.split_group(split_ranks=[[0], [1]])
print(r, dist.get_process_group_ranks(one), one.size(), one.rank())
none = dist.split_group(split_ranks=[[0]])
print(r, none == dist.GroupMember.NON_GROUP_MEMBER)
for bad in (None, [], [[]], [[0, 0]]):
    try:
        dist.split_group(split_ranks=bad)
    except ValueError as e:
        print(r, e)
g, groups = dist.new_subgroups(1)
print(r, dist.get_process_group_ranks(g), len(groups), dist.get_backend_config(g), _get_default_group() is dist.group.WORLD)
b = dist.barrier(async_op=True)
print(b.wait(), b.is_completed())
q = dist.isend(torch.arange(3.), 1) if r == 0 else dist.irecv(y := torch.zeros(3), 0)
q.wait()
print(r, q.is_completed(), isinstance(q, dist.Work))
dist.destroy_process_group()
