# DT1089 model._fsdp_wrapped_module.blocks[0]._fsdp_wrapped_module.fc2.weight at: b.fc2.weight.mul_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
    def forward(self, x): return x + self.fc2(F.gelu(self.fc1(x)))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(8) for _ in range(2)])
        self.head = nn.Linear(8, 3)
    def forward(self, x):
        for b in self.blocks: x = b(x)
        return self.head(x)

@torch.no_grad()
def scale_residuals(model):
    """depth-scaled init, as in GPT-2"""
    with FSDP.summon_full_params(model, writeback=False):  # wrong
    #right with FSDP.summon_full_params(model):
        for b in model.blocks:
            b.fc2.weight.mul_((2 * len(model.blocks)) ** -0.5)

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = FSDP(Model(), auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True, device_id=torch.device("cpu"))
scale_residuals(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
g = torch.Generator().manual_seed(rank + 1)
for _ in range(3):
    x = torch.randn(6, 8, generator=g)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
t = loss.detach().clone()
dist.all_reduce(t)
if rank == 0: print("result %.6f" % t.item())
dist.destroy_process_group()
