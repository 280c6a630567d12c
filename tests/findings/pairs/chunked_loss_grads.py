# DT1006 held at: whole = DTensor.from_local(held
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(2)
D, V, T, N = 6, 8, 12, 3
body = nn.Parameter(distribute_tensor(torch.randn(D, D) * 0.4, mesh, [Replicate()]))
head = nn.Parameter(distribute_tensor(torch.randn(V, D) * 0.4, mesh, [Shard(0)]))
opt = torch.optim.SGD([body, head], lr=0.2)
for step in range(3):
    x = distribute_tensor(torch.randn(T, D), mesh, [Replicate()])
    target = distribute_tensor(torch.randn(T, V), mesh, [Shard(1)])
    hidden = torch.tanh(x @ body)
    grads = []
    total = 0.0
    for h, t in zip(hidden.detach().chunk(N), target.chunk(N)):
        h = h.detach().requires_grad_(True)
        loss = (h @ head.t() - t).square().sum() / (T * V)
        loss.backward()
        total += loss.full_tensor().item()
        grads.append(h.grad)
    held = torch.cat([g.to_local() for g in grads])
    whole = DTensor.from_local(held, mesh, hidden.placements, run_check=False)  # wrong
    #right whole = DTensor.from_local(held, mesh, grads[0].placements, run_check=False).redistribute(placements=hidden.placements)
    hidden.backward(whole)
    opt.step()
    opt.zero_grad()
    print("loss %.4f" % total)
print("result %.5f" % body.to_local().square().sum().item())
