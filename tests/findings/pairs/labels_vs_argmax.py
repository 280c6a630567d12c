# DT1043 pred at: pred = logits.detach().to_local().argmax(-1)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, loss_parallel
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(24)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 10))
parallelize_module(model, mesh, {"2": ColwiseParallel(output_layouts=Shard(-1), use_local_output=False)})
opt = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
right = 0
for step in range(4):
    x, y = torch.randn(8, 6), torch.randint(0, 10, (8,))
    logits = model(x)
    with loss_parallel():
        loss = F.cross_entropy(logits, y)
        loss.backward()
    pred = logits.detach().to_local().argmax(-1)  # wrong
    #right pred = logits.detach().full_tensor().argmax(-1)
    right += (pred == y).sum().item()
    opt.step()
    opt.zero_grad()
print("result %d" % right)
