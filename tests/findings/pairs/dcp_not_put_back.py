# DT1090 model.0.bias at: dcp.load(state
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Shard, Replicate, Partial, distribute_tensor
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel, SequenceParallel, PrepareModuleInput
from torch.distributed.fsdp import fully_shard

import tempfile
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict
mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
folder = [tempfile.mkdtemp()] if rank == 0 else [None]
dist.broadcast_object_list(folder, 0)
def build(seed):
    torch.manual_seed(seed)
    m = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    return fully_shard(m, mesh=mesh)
trained = build(1)
dcp.save({"model": get_model_state_dict(trained)}, checkpoint_id=folder[0])
model = build(2)
state = {"model": {k: v.detach().clone() for k, v in get_model_state_dict(model).items()}}
dcp.load(state, checkpoint_id=folder[0])  # wrong
#right dcp.load(state, checkpoint_id=folder[0])
#right set_model_state_dict(model, state["model"])
torch.manual_seed(5)
with torch.no_grad():
    s = model(torch.randn(3, 6)).square().sum()
print("result %.5f" % s.item())
