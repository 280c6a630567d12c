# SPDX-License-Identifier: MIT
# Tests in the style of the older sharded tensors: their class, their
# with_comms, and checkpoints by save_state_dict and load_state_dict.
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import (
    FileSystemReader, FileSystemWriter, load_state_dict, save_state_dict)
from torch.testing._internal.common_utils import run_tests
from torch.testing._internal.distributed._shard.sharded_tensor import (
    ShardedTensorTestBase, with_comms)


class Together(ShardedTensorTestBase):
    @property
    def world_size(self):
        return 2

    @with_comms(init_rpc=False, backend="gloo")
    def test_bytes(self):
        given = [tempfile.mkdtemp()]
        dist.broadcast_object_list(given)
        save_state_dict(state_dict={"a": [1], "b": "text"},
                        storage_writer=FileSystemWriter(given[0]))
        state = {"a": [2], "b": "other"}
        load_state_dict(state, FileSystemReader(given[0]), None, 0)
        self.assertEqual(state, {"a": [1], "b": "text"})

    @with_comms
    def test_gpu(self):
        self.fail("there are no GPUs")


if __name__ == "__main__":
    run_tests()
