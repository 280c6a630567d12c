# SPDX-License-Identifier: MIT
"""torch.testing._internal.common_fsdp: test classes and models of FSDP."""
import contextlib
from enum import Enum, auto

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import _dtrepl
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor, DTensor, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module)
from torch.testing._internal.common_distributed import (
    DistributedTestBase, MultiProcessTestCase, MultiThreadedTestCase,
    MultiProcContinuousTest, TEST_SKIPS, run_subtests)
from torch.testing._internal.common_utils import (
    TEST_CUDA, TEST_HPU, TEST_XPU, TEST_WITH_ROCM)

DEVICE_COUNT = 1
DEVICE_TYPE = "cpu"
DISTRIBUTED_BACKEND = "gloo"


def get_devtype():
    return torch.device(DEVICE_TYPE)


class FSDPInitMode(Enum):
    NO_FSDP = auto()
    RECURSIVE = auto()


class DEVICEInitMode(Enum):
    DEVICE_BEFORE = auto()
    DEVICE_AFTER = auto()
    DEVICE_NEVER = auto()


class CUDAInitMode(Enum):
    CUDA_BEFORE = auto()
    CUDA_AFTER = auto()
    CUDA_NEVER = auto()


class DoubleLinear(nn.Module):
    def __init__(self, dim, use_second_linear=True):
        super().__init__()
        self.lin1 = nn.Linear(dim, dim)
        self.lin2 = nn.Linear(dim, dim)
        self.relu = nn.ReLU()
        self.use_second_linear = use_second_linear

    def forward(self, x):
        if self.use_second_linear:
            return self.relu(self.lin1(x)), self.relu(self.lin2(x))
        return self.relu(self.lin1(x))


class MLP(nn.Module):
    def __init__(self, dim, device=None, *, bias=True, with_buffer=False,
                 dim_multiplier=4):
        super().__init__()
        self.in_proj = nn.Linear(dim, dim_multiplier * dim, device=device,
                                 bias=bias)
        self.out_proj = nn.Linear(dim_multiplier * dim, dim, device=device,
                                  bias=bias)
        if with_buffer:
            self.register_buffer("buffer", torch.randn((dim,), device=device))
        else:
            self.buffer = None

    def forward(self, x):
        z = F.relu(self.out_proj(F.relu(self.in_proj(x))))
        return z if self.buffer is None else z + self.buffer

    def reset_parameters(self):
        if self.buffer is not None:
            torch.nn.init.normal_(self.buffer)


class MLPStack(nn.Sequential):
    def __init__(self, mlp_dim, *, with_seq_parallel=False):
        layers = [MLP(mlp_dim, dim_multiplier=3), MLP(mlp_dim),
                  MLP(mlp_dim, dim_multiplier=3)]
        if with_seq_parallel:
            layers.append(nn.LayerNorm(mlp_dim, bias=False))
        super().__init__(*layers)
        self.with_seq_parallel = with_seq_parallel

    def parallelize(self, tp_mesh, dp_mesh, use_activation_checkpointing,
                    **fsdp_kwargs):
        plan = {}
        for at in range(3):
            plan["%d.in_proj" % at] = ColwiseParallel(use_local_output=False)
            plan["%d.out_proj" % at] = RowwiseParallel(use_local_output=False)
        if self.with_seq_parallel:
            plan["2.out_proj"] = RowwiseParallel(output_layouts=Shard(1),
                                                 use_local_output=False)
            plan["3"] = SequenceParallel(sequence_dim=1)
        parallelize_module(self, device_mesh=tp_mesh, parallelize_plan=plan)
        for module in self:
            if isinstance(module, nn.LayerNorm):
                continue
            if use_activation_checkpointing:
                from torch.distributed._composable import checkpoint
                checkpoint(module)
            fully_shard(module, mesh=dp_mesh, **fsdp_kwargs)
        fully_shard(self, mesh=dp_mesh, **fsdp_kwargs)
        return self


class _Subtests:
    def run_subtests(self, *args, **kwargs):
        return run_subtests(self, *args, **kwargs)

    @property
    def device_type(self):
        return DEVICE_TYPE

    @property
    def process_group(self):
        return dist.distributed_c10d._get_default_group()


class FSDPTest(_Subtests, MultiProcessTestCase):
    """The ranks have a process group before the test begins."""

    @property
    def world_size(self):
        return _dtrepl.world_size()

    @property
    def init_method(self):
        return "file://" + self.file_name

    def setUp(self):
        super().setUp()
        dist.init_process_group("gloo", world_size=self.world_size,
                                rank=self.rank)


class FSDPTestMultiThread(_Subtests, MultiThreadedTestCase):
    @property
    def world_size(self):
        return _dtrepl.world_size()

    def setUp(self):
        super().setUp()
        self._spawn_threads()


class FSDPTestContinuous(_Subtests, MultiProcContinuousTest):
    @classmethod
    def backend_str(cls):
        return "gloo"


def check_sharded_parity(cls, replicated_module, sharded_module,
                         prefixes_to_ignore=()):
    """Each shard is the part of the whole that its placements say."""
    for (name, whole), (other, part) in zip(
            replicated_module.named_parameters(),
            sharded_module.named_parameters()):
        for prefix in prefixes_to_ignore:
            other = other.replace(prefix, "")
        cls.assertEqual(name, other)
        cls.assertIsInstance(part, DTensor)
        mesh, placements = part.device_mesh, part.placements
        cls.assertEqual(part.to_local(), distribute_tensor(
            whole, mesh, placements).to_local())
        if whole.grad is None:
            cls.assertIsNone(part.grad)
            continue
        cls.assertIsNotNone(part.grad)
        cls.assertEqual(part.grad.to_local(), distribute_tensor(
            whole.grad, mesh, placements).to_local())
