# SPDX-License-Identifier: MIT
"""A method that is not forward, told to FSDP2: keywords, a dict as result,
gradients; without it the weight is still distributed."""
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("fsdp",))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.head = nn.Linear(4, 8, bias=False)

    def forward(self, ids):
        return self.embed(ids)

    def loss(self, ids, *, scale=1.0):
        out = self.head(self.embed(ids)) * scale
        return {"loss": out.sum(), "kind": type(self.head.weight).__name__}


model = Model()
with torch.no_grad():
    for p in model.parameters():
        p.fill_(0.5)
fully_shard(model.head, mesh=mesh)
fully_shard(model, mesh=mesh)
try:
    model.loss(torch.tensor([1, 2]))
except RuntimeError as e:
    print(str(e).split("\n")[0])
print(register_fsdp_forward_method(model, "loss"))
out = model.loss(torch.tensor([1, 2]), scale=2.0)
print(out["loss"].item(), out["kind"], type(model.head.weight).__name__)
out["loss"].backward()
print(model.head.weight.grad.full_tensor().sum().item(),
      model.embed.weight.grad.full_tensor().sum().item())
print(model.loss(ids=torch.tensor([3]))["loss"].item())
try:
    register_fsdp_forward_method(model, "nothing")
except ValueError as e:
    print(str(e).split("> ")[-1])
print(register_fsdp_forward_method(nn.Linear(2, 2), "nothing"))
from torch.distributed.fsdp import UnshardHandle
handle = model.unshard(async_op=True)
print(isinstance(handle, UnshardHandle), isinstance(model, UnshardHandle))
handle.wait()
