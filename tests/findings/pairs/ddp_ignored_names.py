# DT1047 ddp.module.head.bias at: DDP._set_params_and_buffers_to_ignore_for_model(net, skip)
# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
import torch, torch.nn as nn, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 12)
        self.enc = nn.GRU(12, 10, batch_first=True)
        self.head = nn.Linear(10, 5)
    def forward(self, ids):
        return self.head(self.enc(self.emb(ids))[0])

if __name__ == "__main__":
    dist.init_process_group(backend="gloo")
    torch.manual_seed(42)
    net = Tagger()
    skip = [n for n, _ in net.named_parameters() if n.startswith("head")]
    DDP._set_params_and_buffers_to_ignore_for_model(net, skip)  # wrong
    ddp = DDP(net)
    opt = torch.optim.Adam(ddp.parameters(), lr=0.01)
    gen = torch.Generator().manual_seed(100 + dist.get_rank())
    for step in range(3):
        ids = torch.randint(0, 30, (4, 6), generator=gen)
        tags = ids % 5
        opt.zero_grad()
        loss = nn.functional.cross_entropy(ddp(ids).transpose(1, 2), tags)
        loss.backward()
        opt.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if dist.get_rank() == 0:
            print("step", step, "loss %.5f" % (total.item() / dist.get_world_size()))
    dist.destroy_process_group()
