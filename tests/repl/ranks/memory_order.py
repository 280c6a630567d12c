# SPDX-License-Identifier: MIT
# Tensors that are not contiguous in collectives: gloo takes some as they lie.
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()


def turned(k):
    return (torch.arange(6.).view(2, 3) + 100 * rank + 10 * k).t()


def show(name, tensors):
    print(name, rank, [t.tolist() for t in tensors])


out = torch.zeros(3, 2)
dist.scatter(out, [turned(k) for k in range(n)] if rank == 0 else None, 0)
show("scatter of turned", [out])
out = torch.zeros(2, 3).t()
dist.scatter(out, [torch.arange(6.).view(3, 2) + k for k in range(n)]
             if rank == 0 else None, 0)
show("scatter into turned", [out])
outs = [torch.zeros(2, 3).t() for _ in range(n)]
dist.all_gather(outs, turned(0))
show("all_gather", outs)
out = torch.zeros(2, 3 * n).t()
dist.all_gather_into_tensor(out, turned(0))
show("all_gather_into_tensor", [out])
outs = [torch.zeros(2, 3).t() for _ in range(n)]
dist.all_to_all(outs, [turned(k) for k in range(n)])
show("all_to_all", outs)
out = torch.zeros(2, 3).t()
dist.reduce_scatter_tensor(out, (torch.arange(12.).view(2, 6) + rank).t())
show("reduce_scatter_tensor", [out])
t = turned(0)
dist.broadcast(t, 1)
show("broadcast", [t])
t = turned(0)
dist.all_reduce(t)
show("all_reduce", [t])
dist.destroy_process_group()
