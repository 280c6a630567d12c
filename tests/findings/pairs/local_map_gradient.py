# DT1157 g at: y = fnorm(x @ w, gain)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, distribute_module
from torch.distributed.tensor.experimental import local_map
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("dp",))
torch.manual_seed(2)
gain = nn.Parameter(distribute_tensor(torch.ones(8), mesh, [Replicate()]))
w = nn.Parameter(distribute_tensor(torch.randn(8, 8) * 0.3, mesh, [Replicate()]))
def norm(x, g): return F.rms_norm(x, (8,)) * g
fnorm = local_map(norm, out_placements=[Shard(0)], in_placements=([Shard(0)], [Replicate()]), device_mesh=mesh)  # wrong
#right fnorm = local_map(norm, out_placements=[Shard(0)], in_placements=([Shard(0)], [Replicate()]), in_grad_placements=([Shard(0)], [Partial()]), device_mesh=mesh)
opt = torch.optim.SGD([gain, w], lr=0.1)
g = torch.Generator().manual_seed(5)
for step in range(3):
    x = distribute_tensor(torch.randn(8, 8, generator=g), mesh, [Shard(0)])
    y = fnorm(x @ w, gain)
    loss = (y - x).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
s = gain.full_tensor().square().sum()
if dist.get_rank() == 0: print("result %.6f" % s.item())
