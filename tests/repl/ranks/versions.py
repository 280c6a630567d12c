# SPDX-License-Identifier: MIT
# Which collectives autograd counts as a write: _version before and after.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()


def count(name, f, *tensors):
    before = [t._version for t in tensors]
    f()
    print(rank, name, [t._version - v for t, v in zip(tensors, before)], flush=True)


def some(k=4):
    return torch.zeros(k)


def several():
    return [some() for _ in range(n)]


t = some()
count("all_reduce", lambda: dist.all_reduce(t), t)
count("all_reduce, later", lambda: dist.all_reduce(t, async_op=True).wait(), t)
count("broadcast", lambda: dist.broadcast(t, 0), t)
count("reduce", lambda: dist.reduce(t, 0), t)
got = several()
count("all_gather", lambda: dist.all_gather(got, t), t, *got)
count("scatter", lambda: dist.scatter(t, several() if rank == 0 else None, src=0), t)
count("reduce_scatter", lambda: dist.reduce_scatter(t, several()), t)
count("reduce_scatter_tensor", lambda: dist.reduce_scatter_tensor(t, some(4 * n)), t)
whole = some(4 * n)
count("all_to_all_single", lambda: dist.all_to_all_single(whole, some(4 * n)), whole)
count("all_to_all", lambda: dist.all_to_all(got, several()), *got)
count("recv", lambda: dist.send(some(), 1) if rank == 0 else dist.recv(t, 0), t)
base = some()
part = base[:2]
count("a view", lambda: dist.all_reduce(part), base, part)
