# SPDX-License-Identifier: MIT
# Stores of several ranks, the default one's, and a message of any rank.
import torch
import torch.distributed as dist
from torch.distributed.distributed_c10d import _get_default_store

dist.init_process_group("gloo")
rank = dist.get_rank()
store = _get_default_store()
store.set(f"k{rank}", str(rank))
store.wait(["k0", "k1"])
print(rank, store.get(f"k{1 - rank}"))
dist.barrier()
for _ in range(20):
    store.add("count", rank + 1)
dist.barrier()
print(store.add("count", 0), store.get("count"))
if rank == 0:
    got = torch.zeros(2)
    print("from", dist.recv(got), got, "then", dist.recv(got, tag=3), got)
else:
    dist.send(torch.ones(2) * 3, 0)
    dist.send(torch.ones(2) * 4, 0, tag=3)
dist.barrier()
file = dist.FileStore("any_store", 2)
file.set(f"z{rank}", "v")
print(file.get(f"z{1 - rank}"))
tcp = dist.TCPStore("127.0.0.1", 29777, 2, rank == 0)
if rank == 0:
    tcp.set("first", "one")
print(tcp.get("first"), tcp.host, tcp.port)
below = dist.PrefixStore("job", tcp)
print(below.add("arrived", 1) in (1, 2))
dist.barrier()
print(below.get("arrived"), tcp.get("job/arrived"))
dist.destroy_process_group()
