# DT1050 aten.slice.Tensor at: slopes(H)[:n])
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
B, T, H, d = 2, 6, 8, 4
def slopes(n):
    return torch.tensor([2.0 ** (-8.0 * (i + 1) / n) for i in range(n)])
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        w = [torch.randn(H * d, H * d) * 0.3 for _ in range(4)]
        self.q, self.k, self.v = (nn.Parameter(t.chunk(world, 0)[rank].clone()) for t in w[:3])
        self.o = nn.Parameter(w[3].chunk(world, 1)[rank].clone())
        n = H // world
        self.register_buffer("slope", slopes(H)[:n])  # wrong
        #right self.register_buffer("slope", slopes(H)[rank * n:(rank + 1) * n])
    def forward(self, x):
        q, k, v = (F.linear(x, w).view(B, T, -1, d).transpose(1, 2) for w in (self.q, self.k, self.v))
        pos = torch.arange(T)
        bias = -(pos[:, None] - pos[None]).abs() * self.slope[:, None, None]
        a = (q @ k.transpose(2, 3) / d ** 0.5 + bias).softmax(-1) @ v
        y = F.linear(a.transpose(1, 2).reshape(B, T, -1), self.o)
        dist.all_reduce(y)
        return y
with torch.no_grad():
    print("result %.5f" % Attention()(torch.randn(B, T, H * d)).square().sum().item())
