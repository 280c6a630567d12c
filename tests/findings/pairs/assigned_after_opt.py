# DT1025 optimizer.step at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# FSDP2 from meta: the optimizer is made, then a checkpoint is loaded with assign=True
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor


def build():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def main():
    mesh = init_device_mesh("cpu", (4,))
    torch.manual_seed(0)
    full = build().state_dict()
    model = build()
    for m in (model[0], model[2]):
        fully_shard(m, mesh=mesh)
    fully_shard(model, mesh=mesh)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)  # wrong
    sharded = {}
    for name, p in model.named_parameters():
        d = distribute_tensor(full[name], p.device_mesh, p.placements)
        sharded[name] = nn.Parameter(d)
    model.load_state_dict(sharded, assign=True)
    #right opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    torch.manual_seed(100 + dist.get_rank())
    for step in range(3):
        x = torch.randn(8, 8)
        loss = F.cross_entropy(model(x), x[:, :4].argmax(1))
        loss.backward()
        opt.step()
        opt.zero_grad()
    s = sum(p.full_tensor().square().sum() for p in model.parameters())
    if dist.get_rank() == 0:
        print("result %.6f" % s.item())


main()
dist.destroy_process_group()
