# SPDX-License-Identifier: MIT
# dtrepl: ranks=4
# Each epoch looks at the first batch for its size before set_epoch: what is
# trained on has another order every time.
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(0)
data = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
model = DDP(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
for epoch in range(3):
    size = len(next(iter(loader))[0])
    loader.sampler.set_epoch(epoch)
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    dist.all_reduce(loss.detach(), op=dist.ReduceOp.SUM)
    print(epoch, size)
dist.destroy_process_group()
