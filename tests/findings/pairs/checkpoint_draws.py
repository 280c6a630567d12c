# DT1170 checkpoint at: return checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.drop = nn.Dropout(0.3)
    def forward(self, x): return x + self.down(self.drop(F.gelu(self.up(self.norm(x)))))

class Net(nn.Module):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.out = nn.Linear(dim, 2)
    def run(self, block, x):
        return checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)  # wrong
        #right return checkpoint(block, x, use_reentrant=False)
    def forward(self, x):
        for b in self.blocks: x = self.run(b, x)
        return self.out(x)

def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(Net())
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    torch.manual_seed(100 + rank)
    for step in range(3):
        x = torch.randn(4, 8)
        loss = F.cross_entropy(model(x), (x.sum(1) > 0).long())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    s = sum(p.square().sum() for p in model.parameters())
    if rank == 0: print("result %.6f" % s.item())
main()
