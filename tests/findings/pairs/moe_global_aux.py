# DT1150 loss at: loss = F.mse_loss(probs, y) + aux
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
E, K, D = 4, 2, 6
class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(D, E, bias=False)
    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        picked = probs.topk(K, -1).indices
        counts = torch.zeros(E).scatter_add_(0, picked.flatten(), torch.ones(picked.numel()))
        dist.all_reduce(counts)
        n = torch.tensor(float(len(x)))
        dist.all_reduce(n)
        aux = E * (probs.sum(0) * counts).sum() / (K * n * n)
        #right aux = aux * world
        return probs, aux

router = Router()
opt = torch.optim.SGD(router.parameters(), lr=0.5)
data, want = torch.randn(32, D), torch.randn(32, E)
for step in range(3):
    x, y = data.chunk(world)[rank], want.chunk(world)[rank]
    probs, aux = router(x)
    loss = F.mse_loss(probs, y) + aux
    opt.zero_grad()
    loss.backward()
    for p in router.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)  # wrong
        #right dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)
    opt.step()
print("result %.5f" % router.gate.weight.detach().square().sum().item())
