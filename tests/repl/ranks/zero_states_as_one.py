# SPDX-License-Identifier: MIT
# ZeroRedundancyOptimizer: the states of all ranks in one dict, which another one
# loads; a dict that the sender broadcast is still its own.
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.distributed._functional_collectives as funcol
from torch.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("gloo")
rank = dist.get_rank()


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(2, 1))


def step(m, opt, times):
    for _ in range(times):
        opt.zero_grad()
        m(torch.ones(2, 4)).pow(2).sum().backward()
        opt.step()


plain, whole = model(), model()
adam = torch.optim.Adam(plain.parameters(), lr=0.1)
zero = ZeroRedundancyOptimizer(
    [{"params": list(whole[0].parameters()), "lr": 0.1}, {"params": [*whole[1].parameters(), *whole[2].parameters()]}],
    optimizer_class=torch.optim.Adam, lr=0.1)
step(plain, adam, 3)
step(whole, zero, 3)
print(rank, all(torch.allclose(a, b) for a, b in zip(plain.parameters(), whole.parameters())))
try:
    zero.state_dict()
except RuntimeError as e:
    print(rank, e)
zero.consolidate_state_dict(to=1)
if rank == 1:
    sd, ref = zero.state_dict(), adam.state_dict()
    print(sorted(sd), list(sd["state"]), [g["params"] for g in sd["param_groups"]], sd["param_groups"][1]["lr"])
    print(all(torch.allclose(sd["state"][i][k], ref["state"][i][k]) for i in ref["state"] for k in ("exp_avg", "exp_avg_sq", "step")))
box = [zero.state_dict() if rank == 1 else None]
before = box[0]
dist.broadcast_object_list(box, src=1)
print(rank, box[0] is before)
again = model()
with torch.no_grad():
    for a, b in zip(again.parameters(), whole.parameters()):
        a.copy_(b)
other = ZeroRedundancyOptimizer(
    [{"params": list(again[0].parameters()), "lr": 9.0}, {"params": [*again[1].parameters(), *again[2].parameters()]}],
    optimizer_class=torch.optim.Adam, lr=0.5)
other.load_state_dict(box[0])
print(rank, [g["lr"] for g in other.param_groups])
step(plain, adam, 1)
step(again, other, 1)
print(rank, all(torch.allclose(a, b) for a, b in zip(plain.parameters(), again.parameters())))
dist.destroy_process_group()
