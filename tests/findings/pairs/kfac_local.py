# DT1046 model.module[0].weight at: m.weight.grad = torch.linalg.solve(cov, m.weight.grad.t()).t()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

class Preconditioner:
    """K-FAC light: input covariance only."""
    def __init__(self, model, damping=0.1):
        self.damping, self.inputs = damping, {}
        self.layers = [m for m in model.modules() if isinstance(m, nn.Linear)]
        for m in self.layers:
            m.register_forward_pre_hook(self._save)
    def _save(self, mod, args):
        self.inputs[mod] = args[0].detach()
    @torch.no_grad()
    def apply(self):
        for m in self.layers:
            a = self.inputs[m]
            cov = a.t() @ a / a.size(0)
            #right dist.all_reduce(cov); cov /= dist.get_world_size()
            cov += self.damping * torch.eye(cov.size(0))
            m.weight.grad = torch.linalg.solve(cov, m.weight.grad.t()).t()  # wrong
            #right m.weight.grad = torch.linalg.solve(cov, m.weight.grad.t()).t()

dist.init_process_group("gloo")
torch.manual_seed(1)
core = nn.Sequential(nn.Linear(5, 9), nn.ReLU(), nn.Linear(9, 1))
model = DDP(core)
pre = Preconditioner(core)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(dist.get_rank())
for _ in range(4):
    x = torch.randn(10, 5)
    loss = (model(x) - x.norm(dim=1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    pre.apply()
    opt.step()
print("rank", dist.get_rank(), "w %.5f" % core[0].weight.square().sum().item())
