# SPDX-License-Identifier: MIT
"""torch._dynamo: settings of a compiler that is not here."""
from torch.compiler import allow_in_graph, disable, is_compiling, reset


class _Config:
    """Settings: what a program sets can be read again."""


config = _Config()


def mark_dynamic(t, index, **bounds):
    pass


mark_static = maybe_mark_dynamic = mark_dynamic
