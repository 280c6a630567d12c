# DT1184 model.emb.weight at: fully_shard(model, mesh=mesh["dp"])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
import torch.distributed._functional_collectives as funcol
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "cp"))
dp_rank, cp_rank = mesh["dp"].get_local_rank(), mesh["cp"].get_local_rank()
cp_group = mesh["cp"].get_group()
torch.manual_seed(8)
class Attn(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(24, 8)
        self.q, self.k, self.v = (nn.Linear(8, 8) for _ in range(3))
        self.head = nn.Linear(8, 24)
    def forward(self, ids):
        h = self.emb(ids)
        q, k, v = self.q(h), self.k(h), self.v(h)
        k = funcol.all_gather_tensor_autograd(k, 1, cp_group)
        v = funcol.all_gather_tensor_autograd(v, 1, cp_group)
        t = h.shape[1]
        rows = torch.arange(t)[:, None] + cp_rank * t
        seen = torch.arange(k.shape[1])[None] <= rows
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.head(h + a)
model = Attn()
fully_shard(model, mesh=mesh["dp"])  # wrong
#right fully_shard(model, mesh=mesh["dp", "cp"]._flatten("dp_cp"))
opt = torch.optim.AdamW(model.parameters(), lr=0.02)
for step in range(3):
    g = torch.Generator().manual_seed(100 * step + dp_rank)
    seq = torch.randint(0, 24, (2, 17), generator=g)
    x, y = seq[:, :-1].chunk(2, 1)[cp_rank], seq[:, 1:].chunk(2, 1)[cp_rank]
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    loss.backward()
    opt.step()
    opt.zero_grad()
n = sum(p.detach().full_tensor().square().sum().item() for p in model.parameters())
print("norm %.5f" % n)
dist.destroy_process_group()
