# dtrepl: ranks=4
# SPDX-License-Identifier: MIT
# HSDP; the loss is a sum over tokens divided by the tokens of the whole step, so gradients are summed.
import torch, torch.nn as nn, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard, FSDPModule

PAD = 0
def batches(steps, seed=7):
    g = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        ids = torch.randint(1, 20, (8, 7), generator=g)
        length = torch.randint(2, 8, (8,), generator=g)
        ids[torch.arange(7)[None] >= length[:, None]] = PAD
        yield ids

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 12, padding_idx=PAD); self.rnn = nn.GRU(12, 12, batch_first=True); self.out = nn.Linear(12, 20)
    def forward(self, x): return self.out(self.rnn(self.emb(x))[0])

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (world // 2, 2) if world > 1 else (1, 1), mesh_dim_names=("replicate", "shard"))
torch.manual_seed(2)
net = Net()
fully_shard(net.out, mesh=mesh)
fully_shard(net, mesh=mesh)
for m in net.modules():
    if isinstance(m, FSDPModule):
        m.set_force_sum_reduction_for_comms(True)
        m.set_gradient_divide_factor(1.0)
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.5)
for step, ids in enumerate(batches(4)):
    x, y = ids[:, :-1], ids[:, 1:]
    tokens = (ids[:, 1:].tensor_split(world)[rank] != PAD).sum()
    dist.all_reduce(tokens)
    shown = torch.zeros(())
    halves = 2
    for k in range(halves):
        net.set_requires_gradient_sync(k == halves - 1)
        a, b = (t.tensor_split(world)[rank].tensor_split(halves)[k] for t in (x, y))
        loss = nn.functional.cross_entropy(net(a).flatten(0, 1), b.flatten(), ignore_index=PAD, reduction="sum") / tokens
        loss.backward()
        shown += loss.detach()
    opt.step(); opt.zero_grad()
    dist.all_reduce(shown)
    if rank == 0: print(step, "%.5f" % shown.item(), int(tokens))
