# DT1209 body.weight at: opt.step()
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(73)
body, head = nn.Linear(6, 8, bias=False), nn.Linear(8, 3)
model = nn.Sequential(body, nn.ReLU(), head)
body.requires_grad_(False)
def trainable():
    return [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(trainable(), lr=0.01)
gen = torch.Generator().manual_seed(rank)
for step in range(4):
    if step == 2:
        body.requires_grad_(True)
        #right opt.add_param_group({"params": list(body.parameters())})
    x = torch.randn(8, 6, generator=gen)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    model.zero_grad()
    loss.backward()
    for p in trainable():
        dist.all_reduce(p.grad)
        p.grad /= world
    opt.step()
print("%.5f" % head.weight.sum().item())
