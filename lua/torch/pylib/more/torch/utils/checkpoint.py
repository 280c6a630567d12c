# SPDX-License-Identifier: MIT
"""torch.utils.checkpoint: the names that are Python."""
import contextlib
import enum

import _operators_called
import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


class CheckpointPolicy(enum.Enum):
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


_UNASKED = ("aten.detach.default", "prim.device.default")


def _overload(name):
    found = torch.ops
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Asking:
    """Asks a policy of the operators of a first forward, as it ends: what is kept
    of them changes no number."""

    def __init__(self, policy):
        self._policy = policy
        self._recorder = _operators_called.recorder()

    def __enter__(self):
        self._recorder.start()

    def __exit__(self, error, *more):
        called = self._recorder.stop()
        if error is None:
            for name, args, kwargs in called:
                if name not in _UNASKED:
                    self._policy(SelectiveCheckpointContext(is_recompute=False),
                                 _overload(name), *args, **kwargs)


def create_selective_checkpoint_contexts(policy_fn_or_list,
                                         allow_cache_entry_mutation=False):
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, torch._ops.OpOverload):
                advice = ""
                if isinstance(op, torch._ops.OpOverloadPacket):
                    advice = ("Please update the OpOverloadPacket to a specific "
                              f"OpOverload.For example, if you have `torch.ops.{op}`, "
                              f"change it to `torch.ops.{op}.default`.")
                raise ValueError(f"Expected op in `op_list` to be an OpOverload but "
                                 f"got: {op} of type {type(op)}. {advice}")
        return noop_context_fn()
    if not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return _Asking(policy_fn_or_list), contextlib.nullcontext()


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
