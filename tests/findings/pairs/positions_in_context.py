# DT1050 aten.arange.default at: where = torch.arange(x.shape[1])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("cp",))
torch.manual_seed(14)
V, D, S = 10, 6, 8
emb, pos, out = nn.Embedding(V, D), nn.Embedding(S, D), nn.Linear(D, V)
params = [*emb.parameters(), *pos.parameters(), *out.parameters()]
opt = torch.optim.SGD(params, lr=0.2)
for step in range(3):
    ids = torch.randint(0, V, (2, S + 1))
    x, y = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    where = torch.arange(S)[None].repeat(2, 1)
    buffers, dims = [x, y, where], [1, 1, 1]
    with context_parallel(mesh, buffers=buffers, buffer_seq_dims=dims, no_restore_buffers=set(buffers)):
        where = torch.arange(x.shape[1])[None].repeat(2, 1)  # wrong
        #right where = where.clone()
        h = torch.tanh(emb(x) + pos(where))
        loss = F.cross_entropy(out(h).flatten(0, 1), y.flatten())
        loss.backward()
    for p in params:
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    opt.zero_grad()
print("result %.5f" % sum(p.square().sum() for p in params).item())
