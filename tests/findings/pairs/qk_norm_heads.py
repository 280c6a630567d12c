# DT1047 m.k_norm.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel, RowwiseParallel
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
torch.manual_seed(7)
DIM, HEAD = 8, 4

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, DIM, bias=False)
        self.wk = nn.Linear(DIM, DIM, bias=False)
        self.wv = nn.Linear(DIM, DIM, bias=False)
        self.wo = nn.Linear(DIM, DIM, bias=False)
        self.q_norm = nn.RMSNorm(HEAD)
        self.k_norm = nn.RMSNorm(HEAD)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (w(x).view(b, s, -1, HEAD) for w in (self.wq, self.wk, self.wv))
        q, k = self.q_norm(q), self.k_norm(k)
        a = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(a.transpose(1, 2).flatten(2))

m = Attention()
plan = {n: ColwiseParallel() for n in ("wq", "wk", "wv")}
plan["wo"] = RowwiseParallel()
parallelize_module(m, mesh, plan)
opt = torch.optim.SGD(m.parameters(), lr=0.5, foreach=False)
for step in range(3):
    x, y = torch.randn(2, 5, DIM), torch.randn(2, 5, DIM)
    F.mse_loss(m(x), y).backward()
    #right for n in (m.q_norm, m.k_norm): dist.all_reduce(n.weight.grad, group=mesh.get_group())
    opt.step()  # wrong
    #right opt.step()
    opt.zero_grad()
print("result %.5f" % m.q_norm.weight.square().sum().item())
