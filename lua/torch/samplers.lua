-- SPDX-License-Identifier: MIT
-- torch/samplers.lua: torch.utils.data's orders of items and parts of data
-- sets, as a Python text: what they draw of PyTorch's generators is theirs.

-- The text; `Dataset` and `IterableDataset` are known to it.
return [==[
import torch
from typing import Generic as _Generic, TypeVar as _TypeVar

def _seeded(generator):
    if generator is not None:
        return generator
    seed = int(torch.empty((), dtype=torch.int64).random_().item())
    own = torch.Generator()
    own.manual_seed(seed)
    return own

__name__ = "torch.utils.data.sampler"
_T_co = _TypeVar("_T_co", covariant=True)

class Sampler(_Generic[_T_co]):
    def __iter__(self):
        raise NotImplementedError

class _InfiniteConstantSampler(Sampler):
    def __iter__(self):
        while True:
            yield None

class SequentialSampler(Sampler):
    def __init__(self, data_source):
        self.data_source = data_source
    def __iter__(self):
        return iter(range(len(self.data_source)))
    def __len__(self):
        return len(self.data_source)

def _positive(n):
    if not isinstance(n, int) or isinstance(n, bool) or n <= 0:
        raise ValueError("num_samples should be a positive integer value, "
                         f"but got num_samples={n}")

class RandomSampler(Sampler):
    def __init__(self, data_source, replacement=False, num_samples=None,
                 generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _positive(self.num_samples)
    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples
    def __iter__(self):
        n, want = len(self.data_source), self.num_samples
        g = _seeded(self.generator)
        if self.replacement:
            while want >= 32:
                yield from torch.randint(n, (32,), generator=g).tolist()
                want -= 32
            yield from torch.randint(n, (want,), generator=g).tolist()
        else:
            while want >= n:
                yield from torch.randperm(n, generator=g).tolist()
                want -= n
            # Also where nothing of it is wanted: g moves on.
            yield from torch.randperm(n, generator=g).tolist()[:want]
    def __len__(self):
        return self.num_samples

class SubsetRandomSampler(Sampler):
    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator
    def __iter__(self):
        if self.generator is None:
            order = torch.randperm(len(self.indices))
        else:
            order = torch.randperm(len(self.indices), generator=self.generator)
        for i in order.tolist():
            yield self.indices[i]
    def __len__(self):
        return len(self.indices)

class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError("batch_size should be a positive integer value, "
                             f"but got batch_size={batch_size}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last
    def __iter__(self):
        batch = []
        for i in self.sampler:
            batch.append(i)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch
    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

class Subset(Dataset):
    __module__ = "torch.utils.data.dataset"
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices
    def __getitem__(self, i):
        return self.dataset[self.indices[i]]
    def __len__(self):
        return len(self.indices)

class ConcatDataset(Dataset):
    __module__ = "torch.utils.data.dataset"
    def __init__(self, datasets):
        self.datasets = list(datasets)
        assert len(self.datasets) > 0, "datasets should not be an empty iterable"
        for d in self.datasets:
            assert not isinstance(d, IterableDataset), "ConcatDataset does not support IterableDataset"
        self.cumulative_sizes = []
        total = 0
        for d in self.datasets:
            total += len(d)
            self.cumulative_sizes.append(total)
    def __len__(self):
        return self.cumulative_sizes[-1]
    def __getitem__(self, i):
        if i < 0:
            if -i > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            i += len(self)
        for d in self.datasets:
            if i < len(d):
                return d[i]
            i -= len(d)
        raise IndexError("list index out of range")

def random_split(dataset, lengths, generator=None):
    n = len(dataset)
    if all(isinstance(part, float) for part in lengths) and sum(lengths) <= 1.0000001:
        parts = [int(n * part) for part in lengths]
        for i in range(n - sum(parts)):
            parts[i % len(parts)] += 1
        lengths = parts
    if sum(lengths) != n:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    if generator is None:
        order = torch.randperm(n).tolist()
    else:
        order = torch.randperm(n, generator=generator).tolist()
    out, at = [], 0
    for length in lengths:
        out.append(Subset(dataset, order[at:at + length]))
        at += length
    return out
]==]
