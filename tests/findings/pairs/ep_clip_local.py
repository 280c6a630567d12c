# DT1150 aten._foreach_norm.Scalar at: clip_grad_norm_(experts
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import math, copy
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (4,))
rank, n = mesh.get_local_rank(), mesh.size()
torch.manual_seed(0)
D, E = 8, 8
gate = nn.Linear(D, E, bias=False)
whole = torch.randn(E, D, D) * 0.3
mine = slice(rank * E // n, (rank + 1) * E // n)
expert = nn.Parameter(whole[mine].clone())
gate.weight = nn.Parameter(distribute_tensor(gate.weight.detach(), mesh, [Replicate()]))
x, y = torch.randn(16, D), torch.randn(16, D) * 4
xd = distribute_tensor(x, mesh, [Replicate()])
experts = [expert]
opt = torch.optim.SGD([gate.weight, expert], lr=0.3)
for _ in range(3):
    opt.zero_grad()
    score = F.softmax(gate(xd), -1).redistribute(mesh, [Shard(1)]).to_local()
    part = torch.einsum("td,edf,te->tf", x, expert, score)
    out = DTensor.from_local(part, mesh, [Partial()]).redistribute(mesh, [Replicate()])
    loss = F.mse_loss(out, distribute_tensor(y, mesh, [Replicate()]))
    loss.backward()
    torch.nn.utils.clip_grad_norm_([gate.weight], 0.1)
    torch.nn.utils.clip_grad_norm_(experts, 0.1)  # wrong
    #right sq = expert.grad.square().sum()
    #right dist.all_reduce(sq)
    #right torch.nn.utils.clip_grads_with_norm_(experts, 0.1, sq.sqrt())
    opt.step()
l = loss.full_tensor()
if rank == 0:
    print("loss %.6f" % l.item())
dist.destroy_process_group()
