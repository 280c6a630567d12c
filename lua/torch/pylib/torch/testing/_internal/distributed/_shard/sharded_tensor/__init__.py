# SPDX-License-Identifier: MIT
"""torch.testing._internal.distributed._shard.sharded_tensor: the test class
of tensors in parts; the tensors themselves are refused by name."""
import _absent
import functools
import unittest

import torch.distributed as dist
from torch.testing._internal.common_distributed import (
    MultiProcessTestCase, TEST_SKIPS)

TEST_GPU_NUM = 4


class ShardedTensorTestBase(MultiProcessTestCase):
    @property
    def world_size(self):
        return TEST_GPU_NUM

    def init_pg(self, backend="nccl"):
        dist.init_process_group(backend, world_size=self.world_size,
                                rank=self.rank)

    def init_rpc(self):
        raise _absent.error("torch.distributed.rpc is not part of "
                            "dtrepl")

    def init_comms(self, init_rpc=True, backend="nccl"):
        if init_rpc:
            self.init_rpc()
        self.init_pg(backend)

    def destroy_comms(self, destroy_rpc=True):
        dist.barrier()
        dist.destroy_process_group()

    def setUp(self):
        super().setUp()
        self._spawn_processes()


def with_comms(func=None, init_rpc=True, backend="nccl"):
    """A test with a process group of its own; GPUs' backends are skipped."""
    if func is None:
        return functools.partial(with_comms, init_rpc=init_rpc,
                                 backend=backend)

    @functools.wraps(func)
    def wrapper(self, *args, **kwargs):
        if backend in ("nccl", "xccl", "hccl"):
            raise unittest.SkipTest(
                TEST_SKIPS["multi-gpu-%d" % self.world_size].message)
        self.init_comms(init_rpc, backend)
        try:
            func(self, *args, **kwargs)
        except Exception:
            dist.destroy_process_group()
            raise
        self.destroy_comms(init_rpc)
    return wrapper
