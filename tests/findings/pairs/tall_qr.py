# nothing
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# orthogonal updates of a row-sharded weight: a tall QR of the gradient's parts, merged by their triangles; PCA of local data
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)


def tall_qr(part):
    q, r = torch.linalg.qr(part)
    rs = [torch.empty_like(r) for _ in range(world)]
    dist.all_gather(rs, r.contiguous())
    q2, r2 = torch.linalg.qr(torch.cat(rs))
    sign = torch.sign(torch.diagonal(r2))
    return q @ (q2 * sign).chunk(world)[rank]


class Ortho(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g = p.grad.to_local()
                if p.ndim == 2:
                    g = tall_qr(g)
                p.to_local().sub_(g, alpha=group["lr"])


model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))
fully_shard(model[0], mesh=mesh)
opt = Ortho(model[0].parameters(), lr=0.05)
opt2 = torch.optim.SGD(model[2].parameters(), lr=0.05)
data = torch.randn(64, 4)
for step in range(4):
    x = data[step * 16:(step + 1) * 16].chunk(world)[rank]
    loss = F.mse_loss(model(x), x.flip(1))
    loss.backward()
    for p in model[2].parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
    opt2.step()
    opt.zero_grad()
    opt2.zero_grad()
mine = data.chunk(world)[rank]
u, s, vh = torch.linalg.svd(mine, full_matrices=False)
parts = [torch.empty(4, 4) for _ in range(world)]
dist.all_gather(parts, (s.unsqueeze(1) * vh).contiguous())
s_all = torch.linalg.svdvals(torch.cat(parts))
w = model[0].weight.full_tensor()
if rank == 0:
    print("result %.5f %.5f" % (w.square().sum().item(), s_all.sum().item()))
dist.destroy_process_group()
