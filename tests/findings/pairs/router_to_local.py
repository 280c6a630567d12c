# DT1005 dtensor.to_local_backward at: return out.to_local()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, distribute_module
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(1)
D, H, E = 6, 8, 3

class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
        self.w1 = nn.Parameter(torch.randn(E, D, H) * 0.3)
        self.w2 = nn.Parameter(torch.randn(E, H, D) * 0.3)

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        w1, w2 = self.w1.to_local(), self.w2.to_local()
        h = torch.einsum("td,edh->teh", x, w1).relu()
        o = torch.einsum("teh,ehd->ted", h, w2)
        return (o * scores.unsqueeze(-1)).sum(1)

m = MoE()

def enter(mod, args):
    return DTensor.from_local(args[0], mesh, [Replicate()])

def leave(mod, args, out):
    return out.to_local()  # wrong
    #right return out.to_local(grad_placements=[Partial()])

distribute_module(m.gate, mesh)
m.gate.register_forward_pre_hook(enter)
m.gate.register_forward_hook(leave)
m.w1 = nn.Parameter(distribute_tensor(m.w1.detach(), mesh, [Shard(2)]))
m.w2 = nn.Parameter(distribute_tensor(m.w2.detach(), mesh, [Shard(1)]))
opt = torch.optim.AdamW(m.parameters(), lr=0.05)
for step in range(3):
    x, y = torch.randn(10, D), torch.randn(10, D)
    out = DTensor.from_local(m(x), mesh, [Partial()]).redistribute(placements=[Replicate()]).to_local()
    loss = F.mse_loss(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("result %.5f" % m.gate.weight.to_local().square().sum().item())
