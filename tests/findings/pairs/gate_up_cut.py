# DT1053 u at: fused = sd[
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch
import torch.distributed as dist
import torch.nn.functional as F


def load_full():
    g = torch.Generator().manual_seed(2)
    return {
        "gate_up": torch.randn(2 * 16, 8, generator=g) / 3,
        "down": torch.randn(8, 16, generator=g) / 4,
    }


class SwiGLU(torch.nn.Module):
    def __init__(self, sd, rank, world):
        super().__init__()
        fused = sd["gate_up"].chunk(world, 0)[rank]  # wrong
        #right gate, up = sd["gate_up"].chunk(2, 0)
        #right fused = torch.cat([gate.chunk(world, 0)[rank], up.chunk(world, 0)[rank]])
        self.gate_up = torch.nn.Parameter(fused.clone())
        self.down = torch.nn.Parameter(sd["down"].chunk(world, 1)[rank].clone())

    def forward(self, x):
        g, u = (x @ self.gate_up.T).chunk(2, -1)
        y = (F.silu(g) * u) @ self.down.T
        dist.all_reduce(y)
        return y


dist.init_process_group("gloo")
blk = SwiGLU(load_full(), dist.get_rank(), dist.get_world_size())
torch.manual_seed(4)
x = torch.randn(5, 8)
with torch.no_grad():
    y = blk(x)
print("y %.5f %.5f" % (y.sum().item(), y.norm().item()))
