# DT1195 loss at: m.set_gradient_divide_factor(1.0)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Llama-style MLP stack under FSDP2; token-mean loss on every rank.
import torch, torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard, MixedPrecisionPolicy
from torch.distributed.device_mesh import init_device_mesh

class SwiGLU(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(d, h, bias=False), nn.Linear(d, h, bias=False), nn.Linear(h, d, bias=False)
    def forward(self, x):
        return x + self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))

def build(mesh):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(24, 16), SwiGLU(16, 32), SwiGLU(16, 32), nn.Linear(16, 24))
    for m in model:
        fully_shard(m, mesh=mesh, reshard_after_forward=False)
    fully_shard(model, mesh=mesh)
    for m in model.modules():
        if isinstance(m, torch.distributed.fsdp.FSDPModule):
            m.set_force_sum_reduction_for_comms(True)
            m.set_gradient_divide_factor(1.0)  # wrong
            #right m.set_gradient_divide_factor(mesh.size())
    return model

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),), mesh_dim_names=("dp",))
model = build(mesh)
optim = torch.optim.SGD(model.parameters(), lr=0.1)
stream = torch.Generator().manual_seed(mesh.get_rank())
for i in range(3):
    seq = torch.randint(0, 24, (2, 9), generator=stream)
    logits = model(seq[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 24), seq[:, 1:].reshape(-1))
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1e9).full_tensor()
    optim.step(); optim.zero_grad()
    t = loss.detach().clone(); dist.all_reduce(t, dist.ReduceOp.AVG) if False else dist.all_reduce(t)
    if mesh.get_rank() == 0: print(f"{i}: loss {t.item() / mesh.size():.5f} norm {norm.item():.4f}")
