# SPDX-License-Identifier: MIT
"""torch.distributed.checkpoint: the names that are Python."""
import _absent
from concurrent.futures import Future
from enum import Enum
from torch.distributed.checkpoint import save
from torch.distributed.checkpoint.default_planner import (
    DefaultLoadPlanner, DefaultSavePlanner)
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata, ChunkStorageMetadata, Metadata,
    TensorStorageMetadata)
from torch.distributed.checkpoint.planner import (
    LoadPlan, ReadItem, SavePlan, WriteItem)
from torch.distributed.checkpoint.stateful import Stateful


class AsyncCheckpointerType(Enum):
    THREAD = "thread"
    PROCESS = "process"


def async_save(state_dict, *, checkpoint_id=None, storage_writer=None,
               planner=None, process_group=None, async_checkpointer_type=None,
               **settings):
    """Saved when this returns, on all ranks: the future is done."""
    if process_group is not None:
        raise _absent.error("async_save(process_group=): checkpoints of "
                            "a part of the ranks are not part of dtrepl")
    save(state_dict, checkpoint_id=checkpoint_id,
         storage_writer=storage_writer, planner=planner)
    future = Future()
    future.set_result(None)
    return future
