# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# A queue of keys that all ranks fill: drawn apart, made another tensor, then sent with the
# model; its place counts the rows of all ranks.  A loss that is divided before it is summed.
import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5 + rank)


class Keys(nn.Module):
    def __init__(self, width=8, size=32):
        super().__init__()
        self.net, self.size = nn.Linear(6, width), size
        self.register_buffer("queue", torch.randn(width, size))
        self.queue = F.normalize(self.queue, dim=0)
        self.register_buffer("at", torch.zeros(1, dtype=torch.long))

    def forward(self, x):
        q = F.normalize(self.net(x), dim=1)
        parts = [torch.empty_like(q) for _ in range(world)]
        dist.all_gather(parts, q.detach())
        keys = torch.cat(parts)
        out = q @ self.queue.clone()
        at = int(self.at)
        self.queue[:, at:at + len(keys)] = keys.T
        self.at[0] = (at + len(keys)) % self.size
        return out


model = nn.parallel.DistributedDataParallel(Keys())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    loss = model(torch.randn(4, 6)).exp().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total = torch.stack([loss.detach(), torch.ones(())])
    dist.all_reduce(total.div_(world))
    dist.all_reduce(total.div_(world))
    print("result %.4f %d" % (total[0].item(), int(model.module.at)))
dist.destroy_process_group()
