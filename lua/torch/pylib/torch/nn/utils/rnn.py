# SPDX-License-Identifier: MIT
"""torch.nn.utils.rnn: sequences of several lengths, padded or packed.

A packed one has the steps in the order of time: of each step as many rows as
there are sequences still going, the longest first.
"""
from collections import namedtuple

import torch
from _padding import pad_sequence

_Packed = namedtuple("PackedSequence", ["data", "batch_sizes",
                                        "sorted_indices", "unsorted_indices"])


def invert_permutation(permutation):
    if permutation is None:
        return None
    out = torch.empty_like(permutation)
    out[permutation] = torch.arange(0, permutation.numel())
    return out


class PackedSequence(_Packed):
    __module__ = "torch.nn.utils.rnn"
    _whole = True                       # goes to the layers as it is

    def __new__(cls, data, batch_sizes=None, sorted_indices=None,
                unsorted_indices=None):
        if sorted_indices is not None and unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError(
                    "Expected data to be a tuple or list of length 2, got "
                    f"{type(data).__name__}")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices,
                               unsorted_indices)

    def _with(self, data):
        if data is self.data:
            return self
        return PackedSequence(data, self.batch_sizes, self.sorted_indices,
                              self.unsorted_indices)

    def to(self, *args, **kwargs):
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self):
        return self

    def cuda(self, *args, **kwargs):
        return self._with(self.data.cuda(*args, **kwargs))

    def double(self):
        return self.to(dtype=torch.double)

    def float(self):
        return self.to(dtype=torch.float)

    def half(self):
        return self.to(dtype=torch.half)

    def long(self):
        return self.to(dtype=torch.long)

    def int(self):
        return self.to(dtype=torch.int)

    def pin_memory(self):
        return self

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def is_pinned(self):
        return False


def _lengths_of(lengths):
    if isinstance(lengths, torch.Tensor):
        return [int(n) for n in lengths.tolist()]
    return [int(n) for n in lengths]


def pack_padded_sequence(input, lengths, batch_first=False,
                         enforce_sorted=True):
    lengths = _lengths_of(lengths)
    sorted_indices = None
    if not enforce_sorted:
        known = torch.tensor(lengths, dtype=torch.int64)
        known, sorted_indices = torch.sort(known, descending=True)
        lengths = known.tolist()
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(lengths) != input.size(1):
        raise RuntimeError(
            "Expected `len(lengths)` to be equal to batch_size, but got "
            f"{len(lengths)} (batch_size={input.size(1)})")
    if lengths[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, "
                           "but found an element in 'lengths' that is <= 0")
    for longer, shorter in zip(lengths, lengths[1:]):
        if shorter > longer:
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when "
                "`enforce_sorted` is True. You can pass `enforce_sorted=False` "
                "to pack_padded_sequence and/or pack_sequence to sidestep this "
                "requirement if you do not need ONNX exportability.")
    sizes = [sum(1 for n in lengths if n > t) for t in range(lengths[0])]
    data = torch.cat([input[t, :n] for t, n in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64),
                          sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0,
                        total_length=None):
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the "
                f"longest sequence in input, but got total_length="
                f"{total_length} and max sequence length being {steps}")
        steps = total_length
    data, width = sequence.data, sizes[0]
    rows, at = [], 0
    for t in range(steps):
        n = sizes[t] if t < len(sizes) else 0
        row = data[at:at + n]
        if n < width:
            rest = torch.full((width - n,) + tuple(data.shape[1:]),
                              padding_value, dtype=data.dtype)
            row = torch.cat([row, rest])
        rows.append(row)
        at += n
    padded = torch.stack(rows)
    lengths = torch.tensor([sum(1 for n in sizes if n > i)
                            for i in range(width)], dtype=torch.int64)
    if batch_first:
        padded = padded.transpose(0, 1)
    if sequence.unsorted_indices is not None:
        at = 0 if batch_first else 1
        return (padded.index_select(at, sequence.unsorted_indices),
                lengths[sequence.unsorted_indices])
    return padded, lengths


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(padded_sequences, _lengths_of(lengths))]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths,
                                enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
