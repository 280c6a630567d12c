# SPDX-License-Identifier: MIT
# The state of an FSDP2 model whose root is gathered after a forward without
# gradients: parts in the stored dtype, or whole.
import torch, torch.nn as nn
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import (StateDictOptions,
                                                     get_model_state_dict,
                                                     get_state_dict)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
fully_shard(model[0], mesh=mesh, mp_policy=policy)
fully_shard(model, mesh=mesh, mp_policy=policy)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
with torch.no_grad():
    model(torch.ones(2, 4))
for options in (StateDictOptions(),
                StateDictOptions(full_state_dict=True, cpu_offload=True)):
    state = get_model_state_dict(model, options=options)
    for name, t in state.items():
        print(name, t.dtype, tuple(t.shape), type(t).__name__,
              round(float(t.full_tensor().sum() if hasattr(t, "full_tensor")
                          else t.sum()), 4))
    with torch.no_grad():
        model(torch.ones(2, 4))
    state, _ = get_state_dict(model, optimizer, options=options)
    print(len(state), [t.dtype for t in state.values()][:1])
# A state that is put in the place of the parameters counts from the next forward on.
model.reshard()
new = {name: nn.Parameter(distribute_tensor(torch.full(p.shape, 0.5), mesh, p.placements))
       for name, p in model.named_parameters()}
model.load_state_dict(new, assign=True)
print(model(torch.ones(2, 4)).sum().item(), model[0].weight is new["0.weight"])
with torch.device("meta"):
    late = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2))
fully_shard(late[0], mesh=mesh)
fully_shard(late, mesh=mesh)
late.load_state_dict({name: distribute_tensor(torch.full(p.shape, 0.5), mesh, p.placements)
                      for name, p in late.named_parameters()}, assign=True)
print(late(torch.ones(2, 4)).sum().item(), late[0].weight.requires_grad)
dist.destroy_process_group()
