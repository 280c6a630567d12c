# DT1024 p at: mod.register_parameter(name, nn.Parameter(distribute_tensor(p.data, mesh, [Replicate()])))
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
# weight tying lost because the head's parameter is replaced by its own shard
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard, Replicate
mesh = init_device_mesh("cpu", (4,))
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(16, 8)
        self.h = nn.Linear(8, 8)
        self.lm_head = nn.Linear(8, 16, bias=False)
        self.lm_head.weight = self.wte.weight
    def forward(self, ids):
        return self.lm_head(torch.tanh(self.h(self.wte(ids))))
m = LM()
for mod in m.modules():
    for name, p in list(mod.named_parameters(recurse=False)):
        mod.register_parameter(name, nn.Parameter(distribute_tensor(p.data, mesh, [Replicate()])))
#right m.lm_head.weight = m.wte.weight
opt = torch.optim.SGD(m.parameters(), lr=0.3)
ids = distribute_tensor(torch.randint(0, 16, (4, 6)), mesh, [Replicate()])
for step in range(3):
    opt.zero_grad()
    loss = F.cross_entropy(m(ids).flatten(0, 1), ids.flatten())
    loss.backward()
    opt.step()
print("result %.5f" % loss.full_tensor().item())
