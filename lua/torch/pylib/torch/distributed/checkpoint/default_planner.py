# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint.default_planner: the plans that are made when
nobody asks for others."""
import _absent
import dataclasses
import torch
from torch.distributed.tensor import DTensor
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata, Metadata, MetadataIndex, TensorStorageMetadata)
from torch.distributed.checkpoint.planner import (
    LoadPlan, SavePlan, WriteItemType)
from torch.distributed.checkpoint.planner_helpers import (
    _create_read_items, _create_write_items)


def create_default_local_save_plan(state_dict, is_coordinator):
    items = []
    for fqn, value in state_dict.items():
        if isinstance(value, DTensor) \
                and value.device_mesh.get_coordinate() is None:
            continue
        items += _create_write_items(fqn, value)
    return SavePlan(items)


def create_default_global_save_plan(all_plans, rewrite_index_hints=True):
    known, plans = {}, []
    for plan in all_plans:
        items = []
        for item in plan.items:
            fqn = item.index.fqn
            if item.type == WriteItemType.BYTE_IO:
                known[fqn] = BytesStorageMetadata()
                items.append(item)
                continue
            data = item.tensor_data
            md = known.setdefault(fqn, TensorStorageMetadata(
                properties=data.properties, size=data.size, chunks=[]))
            if rewrite_index_hints:
                item = dataclasses.replace(item, index=MetadataIndex(
                    fqn, item.index.offset, len(md.chunks)))
            items.append(item)
            md.chunks.append(data.chunk)
        plans.append(dataclasses.replace(plan, items=items))
    return plans, Metadata(known)


def _create_default_local_metadata(state_dict):
    """As if this rank had all there is; a ShardedTensor knows its parts."""
    plan = create_default_local_save_plan(state_dict, True)
    _, md = create_default_global_save_plan([plan])
    for fqn, value in state_dict.items():
        whole = getattr(value, "_all_chunks", None)
        if whole is not None:
            md.state_dict_metadata[fqn].chunks = whole()
    return md


def create_default_local_load_plan(state_dict, metadata, strict=True):
    items = []
    for fqn, value in state_dict.items():
        if fqn not in metadata.state_dict_metadata:
            if strict:
                raise RuntimeError("Missing key in checkpoint state_dict: "
                                   + fqn + ".")
            continue
        md = metadata.state_dict_metadata[fqn]
        if isinstance(md, TensorStorageMetadata) \
                and getattr(value, "size", None) is not None \
                and md.size != value.size():
            raise ValueError("Size mismatch between saved %s and current: %s "
                             "for %s" % (md.size, value.size(), fqn))
        items += _create_read_items(fqn, md, value)
    return LoadPlan(items)


def create_default_global_load_plan(all_plans):
    return all_plans


class DefaultSavePlanner:
    """That of save(); what it says is what save() does."""

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True,
                 dedup_replicated_tensors=None,
                 dedup_save_to_lowest_rank=False, enable_plan_caching=False):
        if not (flatten_state_dict and flatten_sharded_tensors):
            raise _absent.error("DefaultSavePlanner(flatten_...=False) "
                                "is not part of dtrepl")
        self.flatten_state_dict = self.flatten_sharded_tensors = True
        self.dedup_save_to_lowest_rank = dedup_save_to_lowest_rank


class DefaultLoadPlanner:
    """That of load(); with allow_partial_load, what the checkpoint does not
    have stays as it is."""

    def __init__(self, flatten_state_dict=True, flatten_sharded_tensors=True,
                 allow_partial_load=False):
        if not (flatten_state_dict and flatten_sharded_tensors):
            raise _absent.error("DefaultLoadPlanner(flatten_...=False) "
                                "is not part of dtrepl")
        self.flatten_state_dict = self.flatten_sharded_tensors = True
        self.allow_partial_load = allow_partial_load
