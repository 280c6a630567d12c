# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

class MLP(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.up, self.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
    def forward(self, x): return self.down(F.silu(self.up(x)))

def export(model, mesh):
    """whole weights on every rank, for the inference server"""
    whole = {}
    for name, p in model.named_parameters():
        local = p.to_local()
        parts = [torch.empty_like(local) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, local)
        if name.endswith("up.weight"): whole[name] = p.full_tensor()
        else:
            rows = [torch.cat(parts[i:i + 2], 1) for i in range(0, 4, 2)]
            whole[name] = torch.cat(rows, 0)
    return whole

mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
torch.manual_seed(0)
model = MLP()
parallelize_module(model, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
fully_shard(model, mesh=mesh["dp"])
opt = torch.optim.SGD(model.parameters(), lr=0.1)
gen = torch.Generator().manual_seed(mesh["dp"].get_local_rank())
for _ in range(2):
    x = torch.randn(4, 8, generator=gen)
    opt.zero_grad()
    F.mse_loss(model(x), x.flip(1)).backward()
    opt.step()
served = MLP()
served.load_state_dict(export(model, mesh))
torch.manual_seed(9)
with torch.no_grad(): y = served(torch.randn(2, 8))
if dist.get_rank() == 0: print("result %.6f" % y.square().sum().item())
dist.destroy_process_group()
