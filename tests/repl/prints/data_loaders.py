# SPDX-License-Identifier: MIT
# Loaders of data: what they are given by place and by name.
import torch, torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split, Subset, ConcatDataset, IterableDataset, BatchSampler, SequentialSampler, RandomSampler, WeightedRandomSampler, SubsetRandomSampler, default_collate
def t(name, f):
    try: print(name, f())
    except Exception as e: print(name, type(e).__name__, str(e)[:160])
class D(Dataset):
    def __init__(s, n): s.n = n
    def __len__(s): return s.n
    def __getitem__(s, i): return {"x": torch.tensor([float(i)]), "y": i, "s": str(i)}
torch.manual_seed(0)
t(1, lambda: [b for b in DataLoader(D(5), batch_size=2)])
t(2, lambda: [b["y"].tolist() for b in DataLoader(D(6), batch_size=2, shuffle=True)])
t(3, lambda: [b["y"].tolist() for b in DataLoader(D(5), batch_size=2, drop_last=True, shuffle=True, generator=torch.Generator().manual_seed(3))])
t(4, lambda: len(DataLoader(D(5), batch_size=2)))
ds = TensorDataset(torch.arange(6.), torch.arange(6))
t(5, lambda: [x.tolist() for x, y in DataLoader(ds, 4)])
t(6, lambda: [list(s.indices) for s in random_split(ds, [4, 2], generator=torch.Generator().manual_seed(1))])
t(7, lambda: [len(s) for s in random_split(D(10), [0.5, 0.3, 0.2])])
t(9, lambda: list(BatchSampler(SequentialSampler(range(5)), 2, False)))
t(10, lambda: list(RandomSampler(range(5), generator=torch.Generator().manual_seed(0))))
t(11, lambda: list(WeightedRandomSampler([0.1, 0.9, 0.5], 4, generator=torch.Generator().manual_seed(0))))
t(12, lambda: list(SubsetRandomSampler([3, 1, 2], generator=torch.Generator().manual_seed(0))))
class It(IterableDataset):
    def __iter__(s): return iter(range(5))
t(13, lambda: [b for b in DataLoader(It(), batch_size=2)])
t(14, lambda: default_collate([(1, torch.ones(2)), (2, torch.zeros(2))]))
t(15, lambda: [b for b in DataLoader(D(3), batch_size=None)][0])
t(16, lambda: [b for b in DataLoader([1, 2, 3], collate_fn=lambda b: b)])
t(17, lambda: [b for b in DataLoader([[1, 2], [3, 4]], batch_size=2)])
t(18, lambda: next(iter(DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))))
t(19, lambda: DataLoader(D(3), batch_size=2, sampler=SequentialSampler(D(3)), shuffle=True))
t(20, lambda: DataLoader(D(3), batch_size=0))
t(21, lambda: [b.tolist() for b in DataLoader(torch.arange(4), batch_sampler=[[0, 3], [1]])])
t(22, lambda: Subset(ds, [0, 2])[1])
t(23, lambda: next(iter(DataLoader([{"a": 1.5}, {"a": 2.5}], batch_size=2))))
from torch.utils.data.distributed import DistributedSampler
s = DistributedSampler(range(7), num_replicas=2, rank=1, shuffle=True, seed=3); t(24, lambda: list(s)); s.set_epoch(1); t(25, lambda: list(s))
t(26, lambda: list(DistributedSampler(range(7), num_replicas=2, rank=0, shuffle=False, drop_last=True)))
t(28, lambda: ds[1:3])
t(29, lambda: ds[-1])
t(30, lambda: [b for b in DataLoader([1.5, 2.5], batch_size=2)][0].dtype)
print(list(DataLoader([1, 2, 3], 2, False, [2, 0, 1], None, 0, lambda b: b, False, True)))
l = DataLoader([1, 2, 3], batch_size=2, num_workers=0, pin_memory=False, persistent_workers=False)
print(l.batch_size, l.num_workers, l.pin_memory, l.drop_last, l.timeout, l.worker_init_fn)
for bad in (lambda: DataLoader([1], bogus=1), lambda: DataLoader([1], -1), lambda: DataLoader([1], 2, False, None, [[0]])):
    try:
        bad()
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)
class Stream(IterableDataset):
    def __iter__(s): return iter(range(5))
class Both(D):                  # has both ways: its kind decides
    def __iter__(s): return iter([7, 7])
t("alone", lambda: list(DataLoader(Stream(), batch_size=None)))
t("alone, by a function", lambda: list(DataLoader(Stream(), batch_size=None, collate_fn=lambda v: v + 1)))
t("kind", lambda: [b["y"] for b in DataLoader(Both(3), batch_size=2)])
t("alone, by number", lambda: [b["y"] for b in DataLoader(Both(3), batch_size=None)])
t("no batches", lambda: DataLoader(Both(3), batch_size=None, shuffle=True).batch_size)
t("no length", lambda: len(DataLoader(Stream(), batch_size=2)))
for option in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}, {"batch_size": None, "drop_last": True}):
    t(option, lambda: DataLoader(Stream(), **option))
for option in ({"num_workers": -1}, {"timeout": -1, "batch_size": 0}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1}, {"num_workers": "2"},
        {"persistent_workers": True, "batch_size": 0}, {"num_workers": 2, "timeout": 1, "prefetch_factor": 3, "persistent_workers": True}):
    try:
        print(option, DataLoader([1], **option).prefetch_factor)
    except (TypeError, ValueError) as e:
        print(option, e)
l = DataLoader([1, 2, 3], batch_size=2)
l.collate_fn = sum
print(list(l), l.collate_fn is sum)
class Early(DataLoader):
    def __init__(s, data):
        s.batch_size = 5        # not made yet: free
        super().__init__(data, batch_size=2)
print(Early([1]).batch_size, DataLoader([1], num_workers=2).prefetch_factor)
print(type(Stream() + Stream()).__name__, list(Stream() + Stream()))
