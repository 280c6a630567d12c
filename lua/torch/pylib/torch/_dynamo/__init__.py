# SPDX-License-Identifier: MIT
"""torch._dynamo: settings of a compiler that is not here, and the wrapper that
it puts around a module."""
from torch.compiler import allow_in_graph, disable, is_compiling, reset
import torch._dynamo.exc as exc
import torch._dynamo.eval_frame as eval_frame
from torch._dynamo.eval_frame import (
    OptimizedModule, list_backends, optimize, optimize_assert)


class _Config:
    """Settings: what a program sets can be read again."""


config = _Config()


def mark_dynamic(t, index, **bounds):
    pass


mark_static = maybe_mark_dynamic = mark_dynamic
