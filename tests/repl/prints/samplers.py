# SPDX-License-Identifier: MIT
import torch
from torch.utils.data import *
from torch.utils.data.distributed import DistributedSampler


class Ten(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return torch.tensor([i]), i


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))


d = Ten()
g = torch.Generator().manual_seed(3)
print(list(RandomSampler(d, generator=g)), list(SequentialSampler(d)))
print(list(RandomSampler(d, replacement=True, num_samples=5, generator=g)))
print(list(RandomSampler(d, replacement=True, num_samples=40, generator=g)))
print(list(RandomSampler(d, num_samples=13, generator=g)))
print(list(BatchSampler(SequentialSampler(d), 3, False)), len(BatchSampler(SequentialSampler(d), 3, True)))
print(list(SubsetRandomSampler([1, 3, 5], generator=g)))
torch.manual_seed(0)
print(list(RandomSampler(d)), list(SubsetRandomSampler([4, 2, 0])), torch.rand(1))

# Loaders: an epoch takes as much of the generator as in PyTorch.
loader = DataLoader(d, batch_size=4, shuffle=True, generator=g)
for _ in range(2):
    print([i.tolist() for _, i in loader])
print(list(DataLoader(Stream(), batch_size=2)))
print(list(DataLoader(d, batch_sampler=[[0, 1], [5]])))
print(next(iter(DataLoader(d, batch_size=None))), len(DataLoader(d, batch_size=None)))
print([b.tolist() for _, b in DataLoader(d, batch_sampler=BatchSampler(RandomSampler(d, generator=g), 4, True))])

# Parts.
a, b = random_split(d, [7, 3], generator=torch.Generator().manual_seed(1))
print(a.indices, b.indices, len(a), a[0])
print([len(part) for part in random_split(d, [0.5, 0.3, 0.2])])
print(len(Subset(d, [1, 2])), len(ConcatDataset([d, d])), ConcatDataset([d, d])[12], ConcatDataset([d, a])[-1])
print(isinstance(a, Dataset), isinstance(Stream(), IterableDataset), isinstance(d, IterableDataset))

for f in (lambda: DistributedSampler(d, num_replicas=3, rank=3),
          lambda: RandomSampler(d, num_samples=0),
          lambda: BatchSampler(d, 0, False),
          lambda: DataLoader(d, shuffle=True, sampler=SequentialSampler(d)),
          lambda: random_split(d, [3, 3])):
    try:
        f()
    except ValueError as e:
        print(e)
