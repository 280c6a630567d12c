# SPDX-License-Identifier: MIT
# Data sets of data sets, and drawing by weights; and what PyTorch 2.13 printed.
import torch
from torch.utils import data
from torch.utils.data import (ChainDataset, DataLoader, IterableDataset,
                              StackDataset, TensorDataset,
                              WeightedRandomSampler, get_worker_info)


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


c = ChainDataset([Count(3), Count(2)])
print(list(c), len(c), get_worker_info())
x, y = TensorDataset(torch.arange(4)), TensorDataset(torch.arange(4) * 10)
s = StackDataset(x, y)
print(len(s), s[2], StackDataset(a=x, b=y)[1])
for args, kw in [((x, TensorDataset(torch.arange(3))), {}), ((), {}),
                 ((x,), {"a": y})]:
    try:
        StackDataset(*args, **kw)
    except ValueError as e:
        print(e)
torch.manual_seed(3)
w = WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5, replacement=True)
print(list(w), len(w))
print(list(WeightedRandomSampler([0.9, 0.4, 0.05], 2, replacement=False)))
g = torch.Generator()
g.manual_seed(5)
print(list(WeightedRandomSampler(torch.ones(4), 6, generator=g)))
for bad in [([1.0], 0, True), ([1.0], 2, 1), ([[1.0]], 2, True)]:
    try:
        WeightedRandomSampler(*bad)
    except ValueError as e:
        print(e)
print([b.tolist() for b in DataLoader(torch.arange(6), batch_size=2,
       sampler=WeightedRandomSampler([0, 1, 0, 1, 0, 1], 4))])

for kind in (data.Dataset, data.TensorDataset, data.IterableDataset,
             data.DataLoader, data.DistributedSampler, data.Subset,
             data.WeightedRandomSampler, data.StackDataset, data.ChainDataset):
    print(kind)
