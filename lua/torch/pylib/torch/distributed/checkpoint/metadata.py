# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.metadata: what a checkpoint says of itself."""
from dataclasses import dataclass, field
from typing import Any, Optional
import torch


@dataclass
class ChunkStorageMetadata:
    """Where a part of a tensor begins in it, and how large it is."""
    offsets: torch.Size
    sizes: torch.Size


@dataclass
class TensorProperties:
    dtype: Any = None
    layout: Any = torch.strided
    requires_grad: bool = False
    memory_format: Any = torch.contiguous_format
    pin_memory: bool = False

    @staticmethod
    def create_from_tensor(tensor):
        return TensorProperties(dtype=tensor.dtype, layout=torch.strided,
                                requires_grad=tensor.requires_grad)


@dataclass
class TensorStorageMetadata:
    properties: TensorProperties
    size: torch.Size
    chunks: list


@dataclass
class BytesStorageMetadata:
    pass


@dataclass
class Metadata:
    state_dict_metadata: dict
    planner_data: Any = None
    storage_data: Any = None
    storage_meta: Any = None
    version: Any = None


class MetadataIndex:
    """The name of an entry, where a part of it begins, and perhaps the part's
    number, which is a hint alone."""

    def __init__(self, fqn, offset=None, index=None):
        self.fqn, self.index = fqn, index
        self.offset = None if offset is None else torch.Size(offset)

    def __eq__(self, other):
        return isinstance(other, MetadataIndex) and self.fqn == other.fqn \
            and self.offset == other.offset

    def __hash__(self):
        return hash((self.fqn, self.offset))

    def __repr__(self):
        return "MetadataIndex(fqn=%r, offset=%r, index=%r)" % (
            self.fqn, self.offset, self.index)
