# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
# A convolution whose input is cut along its width: the gradient of sum() comes
# whole, and is brought to the input's placements before the rule is asked.
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.tensor import distribute_tensor, distribute_module, Shard
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group(backend="gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
ref = nn.Conv2d(3, 8, kernel_size=4, stride=4, padding=0)
import copy
model = distribute_module(copy.deepcopy(ref), mesh)
x = torch.randn(4, 3, 32, 32, requires_grad=True)
w = torch.randn(4, 8, 8, 8)
ref(x).sum().backward()
xd = distribute_tensor(x.detach(), mesh, [Shard(3)]).requires_grad_()
y = model(xd)
wd = distribute_tensor(w, mesh, y.placements)
y.sum().backward()
print("x", torch.allclose(xd.grad.full_tensor(), x.grad, atol=1e-5), xd.grad.placements)
for (n, p), (_, q) in zip(model.named_parameters(), ref.named_parameters()):
    print(n, p.grad.placements, torch.allclose(p.grad.full_tensor(), q.grad, atol=1e-4))
