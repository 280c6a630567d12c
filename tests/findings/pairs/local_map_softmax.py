# DT1043 aten._softmax.default at: return torch.softmax(logits, -1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(20)
head = nn.Parameter(distribute_tensor(torch.randn(10, 6) * 0.5, mesh, [Shard(0)]))
opt = torch.optim.SGD([head], lr=0.2)

def probabilities(logits):
    return torch.softmax(logits, -1)

def entropy(p):
    return -(p * p.clamp(min=1e-9).log()).sum(-1).mean()

cut = local_map(probabilities, out_placements=[Shard(1)], in_placements=([Shard(1)],), device_mesh=mesh)
for step in range(3):
    x = distribute_tensor(torch.randn(5, 6), mesh, [Replicate()])
    logits = x @ head.t()
    p = cut(logits)  # wrong
    #right p = torch.softmax(logits, -1)
    loss = entropy(p)
    loss.backward()
    opt.step()
    opt.zero_grad()
print("result %.5f" % head.full_tensor().square().sum().item())
