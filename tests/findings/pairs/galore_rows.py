# DT1043 m at: torch.linalg.svd(m
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# GaLore over FSDP2: each rank projects its rows on singular vectors of its own rows
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class GaLore(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, rank=2, gap=2):
        super().__init__(params, dict(lr=lr, rank=rank, gap=gap))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g, st = p.grad, self.state[p]
                local = g.to_local()
                if p.ndim == 2:
                    n = st["step"] = st.get("step", -1) + 1
                    if n % group["gap"] == 0:
                        m = g.to_local()  # wrong
                        #right m = g.full_tensor()
                        st["q"] = torch.linalg.svd(m, full_matrices=False)[2][:group["rank"]]
                        st["m"] = torch.zeros(local.size(0), group["rank"])
                    low = local @ st["q"].T
                    st["m"].lerp_(low, 0.1)
                    local = st["m"] @ st["q"]
                p.to_local().sub_(local, alpha=group["lr"])


mesh = init_device_mesh("cpu", (4,))
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
fully_shard(model, mesh=mesh)
opt = GaLore(model.parameters())
torch.manual_seed(10 + rank)
for step in range(4):
    x = torch.randn(8, 8)
    loss = F.mse_loss(model(x), x.flip(1))
    loss.backward()
    opt.step()
    opt.zero_grad()
s = sum(p.full_tensor().square().sum() for p in model.parameters())
if rank == 0:
    print("result %.6f" % s.item())
dist.destroy_process_group()
