# DT1059 aten.div.Tensor at: self.mom.mul_(0.9).add_(mine / self.world)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.distributed as dist
import torch.distributed._functional_collectives as funcol
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

class Zero2SGD:
    def __init__(self, module, lr, group):
        self.module, self.lr, self.group = module, lr, group
        self.world, self.rank = dist.get_world_size(), dist.get_rank()
        flat = parameters_to_vector(module.parameters()).detach()
        self.n = flat.numel()
        self.pad = -self.n % self.world
        self.chunk = (self.n + self.pad) // self.world
        self.shard = nn.functional.pad(flat, (0, self.pad)).view(self.world, -1)[self.rank].clone()
        self.mom = torch.zeros_like(self.shard)

    @torch.no_grad()
    def step(self):
        g = torch.cat([p.grad.reshape(-1) for p in self.module.parameters()])
        g = nn.functional.pad(g, (0, self.pad))
        mine = funcol.reduce_scatter_tensor(g, "avg", 0, self.group)
        self.mom.mul_(0.9).add_(mine / self.world)  # wrong
        #right self.mom.mul_(0.9).add_(mine)
        self.shard -= self.lr * self.mom
        whole = funcol.all_gather_tensor(self.shard, 0, self.group)
        vector_to_parameters(whole[:self.n].clone(), self.module.parameters())

dist.init_process_group("gloo")
torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(2, 6, 3), nn.ReLU(), nn.Flatten(), nn.Linear(36, 3))
opt = Zero2SGD(net, 0.1, dist.group.WORLD)
torch.manual_seed(1 + dist.get_rank())
for _ in range(4):
    x = torch.randn(8, 2, 8)
    y = x.sum((1, 2)).sign().long() + 1
    net.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
if dist.get_rank() == 0: print("weights %.6f" % parameters_to_vector(net.parameters()).square().sum().item())
