# DT1064 model._fsdp_wrapped_module[0]._fsdp_wrapped_module.ln.weight at: torch.nn.utils.clip_grad_norm_(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln, self.fc = nn.LayerNorm(d), nn.Linear(d, d)
    def forward(self, x): return x + F.gelu(self.fc(self.ln(x)))

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(*[Layer(8) for _ in range(3)], nn.Linear(8, 4))
model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({Layer}), use_orig_params=True, device_id=torch.device("cpu"))
opt = torch.optim.SGD(model.parameters(), lr=0.5)
gen = torch.Generator().manual_seed(rank)
for _ in range(3):
    x = torch.randn(8, 8, generator=gen)
    loss = F.cross_entropy(model(x), x[:, :4].argmax(1)) * 10
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # wrong
    #right model.clip_grad_norm_(1.0)
    opt.step()
t = loss.detach()
dist.all_reduce(t)
if rank == 0: print("result %.6f" % t.item())
dist.destroy_process_group()
