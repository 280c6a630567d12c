# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.planner: what each rank is to write and read."""
from dataclasses import dataclass
from enum import Enum
from typing import Any, Optional
import torch
from torch.distributed.checkpoint.metadata import (
    ChunkStorageMetadata, MetadataIndex, TensorProperties)


class WriteItemType(Enum):
    TENSOR = 1
    SHARD = 2
    BYTE_IO = 3


class LoadItemType(Enum):
    TENSOR = 1
    BYTE_IO = 2


@dataclass
class TensorWriteData:
    chunk: ChunkStorageMetadata
    properties: TensorProperties
    size: torch.Size


@dataclass
class WriteItem:
    index: MetadataIndex
    type: WriteItemType
    tensor_data: Any = None


@dataclass
class ReadItem:
    type: LoadItemType
    dest_index: MetadataIndex
    dest_offsets: torch.Size
    storage_index: MetadataIndex
    storage_offsets: torch.Size
    lengths: torch.Size


@dataclass
class SavePlan:
    items: list
    storage_data: Any = None
    planner_data: Any = None
    usable: bool = True


@dataclass
class LoadPlan:
    items: list
    storage_data: Any = None
    planner_data: Any = None
