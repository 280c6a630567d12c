# SPDX-License-Identifier: MIT
"""torch.utils.data: data sets made of others, drawing by weights, and what a
loader asks of its workers: there are none, one process reads."""
import torch
from torch.utils.data import Dataset, IterableDataset, Sampler


class ChainDataset(IterableDataset):
    __module__ = "torch.utils.data.dataset"

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for d in self.datasets:
            assert isinstance(d, IterableDataset), \
                "ChainDataset only supports IterableDataset"
            yield from d

    def __len__(self):
        total = 0
        for d in self.datasets:
            assert isinstance(d, IterableDataset), \
                "ChainDataset only supports IterableDataset"
            total += len(d)
        return total


class StackDataset(Dataset):
    """Items of several data sets beside each other: tuples, or dicts where
    they were given by name."""
    __module__ = "torch.utils.data.dataset"

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- (via ``args``) or"
                             "``dict``- (via ``kwargs``) like input/output, "
                             "but both types are given.")
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        parts = list(args or kwargs.values())
        if any([len(d) != len(parts[0]) for d in parts]):
            raise ValueError("Size mismatch between datasets")
        self._length = len(parts[0])

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {k: d[index] for k, d in self.datasets.items()}
        return tuple([d[index] for d in self.datasets])

    def __len__(self):
        return self._length


class WeightedRandomSampler(Sampler):
    __module__ = "torch.utils.data.sampler"

    def __init__(self, weights, num_samples, replacement=True,
                 generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) \
                or num_samples <= 0:
            raise ValueError("num_samples should be a positive integer value, "
                             f"but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError("replacement should be a boolean value, but got "
                             f"replacement={replacement}")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if len(weights.shape) != 1:
            raise ValueError("weights should be a 1d sequence but given "
                             f"weights have shape {tuple(weights.shape)}")
        self.weights, self.num_samples = weights, num_samples
        self.replacement, self.generator = replacement, generator

    def __iter__(self):
        yield from torch.multinomial(self.weights, self.num_samples,
                                     self.replacement,
                                     generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


def default_convert(data):
    """Numbers of arrays as tensors, in lists, tuples and dicts, too."""
    if isinstance(data, dict):
        return {k: default_convert(v) for k, v in data.items()}
    if isinstance(data, tuple):
        return [default_convert(v) for v in data]
    if isinstance(data, list):
        return [default_convert(v) for v in data]
    return data


def get_worker_info():
    return None
