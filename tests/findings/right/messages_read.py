# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# one buffer for what comes from every rank: read without an operator (a list, text, a
# file), sent on by collectives, or of no use and written over before it is read
import io, torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
inbox = torch.zeros(2, 3)
row = torch.arange(6.0).view(2, 3)


def each(use):
    """Rank 0 receives from all others, one after the other."""
    for r in range(1, world):
        if rank == 0:
            dist.recv(inbox, r)
        elif rank == r:
            dist.send(row + r, 0)
        use(r)


def at_zero(f):
    return lambda r: f() if rank == 0 else None


def keep_file():
    torch.save(inbox, io.BytesIO())


lists, texts = [], []
each(at_zero(lambda: lists.append(inbox.tolist())))
each(at_zero(lambda: texts.append(str(inbox))))
each(at_zero(keep_file))
each(at_zero(lambda: texts.append(f"{inbox}")))
each(lambda r: dist.all_gather([torch.empty(2, 3) for _ in range(world)], inbox + 0))
each(lambda r: dist.broadcast(inbox, 0))
each(lambda r: dist.all_reduce(inbox, op=dist.ReduceOp.MAX))
places = [torch.empty(2, 3) for _ in range(world)] if rank == 1 else None
each(lambda r: dist.gather(inbox, places, 1))
sums = [inbox.sum().item()]

# What the workers report is of no use to the leader; its buffer serves for something else.
each(lambda r: None)
torch.add(row, 1, out=inbox)
sums.append(inbox.sum().item())
each(lambda r: None)
inbox[:] = row
sums.append(inbox.sum().item())
each(lambda r: None)
inbox.uniform_(0, 1)
sums.append(inbox.shape.numel())

# Connections are opened with zeros first.
token = torch.zeros(4)
for r in range(1, world):
    if rank == 0:
        dist.recv(token, r)
    elif rank == r:
        dist.send(torch.zeros(4), 0)
if rank == 0:
    dist.recv(token, world - 1)
elif rank == world - 1:
    dist.send(torch.arange(4.0), 0)
if rank == 0:
    print(len(lists), len(texts), sums[1:], token.sum().item())
dist.destroy_process_group()
