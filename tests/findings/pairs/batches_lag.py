# DT1198 aten.nll_loss_forward.default at: loss = F.cross_entropy(
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# DDP with a loader after nanogpt: the position goes on by one batch, not by one batch of every rank
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

V, B, T = 50, 2, 8


class Loader:
    def __init__(self, tokens, rank, world):
        self.tokens, self.rank, self.world = tokens, rank, world
        self.at = B * T * rank

    def next_batch(self):
        buf = self.tokens[self.at:self.at + B * T + 1]
        self.at += B * T  # wrong
        #right self.at += B * T * self.world
        if self.at + B * T * self.world + 1 > len(self.tokens):
            self.at = B * T * self.rank
        return buf[:-1].view(B, T), buf[1:].view(B, T)


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1337)
tokens = torch.randint(0, V, (2000,))
model = DDP(nn.Sequential(nn.Embedding(V, 16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, V)))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
loader = Loader(tokens, rank, world)
for step in range(8):
    x, y = loader.next_batch()
    loss = F.cross_entropy(model(x).view(-1, V), y.view(-1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
if rank == 0:
    print("loss %.5f" % loss.item())
dist.destroy_process_group()
