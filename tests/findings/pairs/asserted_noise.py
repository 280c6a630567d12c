# DT1061 aten.mm.default at: h = F.linear(x + noise, part)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
import spmd_types as spmd
from spmd_types.checker import typecheck
from spmd_types import R, V, P, I, S
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
rank = dist.get_rank()
tp = mesh.get_group("tp")
torch.manual_seed(27)
w = torch.randn(8, 6)
with typecheck():
    x = torch.randn(4, 6)
    spmd.assert_type(x, {tp: R})
    part = w.chunk(2)[rank].clone()
    spmd.assert_type(part, {tp: V})
    torch.manual_seed(80 + rank)  # wrong
    #right torch.manual_seed(80)
    noise = torch.randn(4, 6)
    spmd.assert_type(noise, {tp: R})
    h = F.linear(x + noise, part)
    full = spmd.all_gather(h, tp, src=S(1), dst=R)
    out = full.square().sum()
print("result %.4f" % out.item())
