# SPDX-License-Identifier: MIT
"""torch.utils.checkpoint: the names that are Python."""
import contextlib

import torch.nn as nn
from torch.utils.checkpoint import checkpoint


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions in as many parts; all but the last are computed again."""
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if isinstance(functions, nn.Sequential):
        functions = list(functions.children())

    def part(begin, end):
        def run(x):
            for f in functions[begin:end]:
                x = f(x)
            return x
        return run

    each = len(functions) // segments
    at = 0
    for _ in range(segments - 1):
        input = checkpoint(part(at, at + each), input,
                           use_reentrant=True if use_reentrant is None else use_reentrant,
                           preserve_rng_state=preserve)
        at += each
    return part(at, len(functions))(input)
