# DT1207 model._fsdp_wrapped_module[0]._fsdp_wrapped_module._flat_param at: opt = torch.optim.AdamW(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=2
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.Tanh(), nn.Linear(16, 4))
model = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear, nn.LayerNorm}), device_id=torch.device("cpu"))
decay, rest = [], []
for name, p in model.named_parameters():
    (decay if p.ndim >= 2 else rest).append(p)  # wrong
    #right (rest if ".1." in "." + name.replace("_fsdp_wrapped_module.", "") else decay).append(p)
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.5}, {"params": rest, "weight_decay": 0.0}], lr=0.01)
data = torch.randn(16, 8)
for step in range(3):
    x = data.chunk(dist.get_world_size())[dist.get_rank()]
    loss = F.mse_loss(model(x), x[:, :4])
    opt.zero_grad()
    loss.backward()
    opt.step()
with FSDP.summon_full_params(model):
    size = sum(p.square().sum() for p in model.parameters())
if dist.get_rank() == 0:
    print("size %.5f" % size.item())
dist.destroy_process_group()
