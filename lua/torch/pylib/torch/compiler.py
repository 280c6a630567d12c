# SPDX-License-Identifier: MIT
"""torch.compiler: nothing is compiled here; what turns it off or tunes it
changes nothing."""


def disable(fn=None, recursive=True, *, reason=None):
    if fn is None:
        return lambda f: disable(f, recursive)
    if not recursive:
        return fn
    from torch._dynamo.eval_frame import DisableContext
    return DisableContext()(fn)


def allow_in_graph(fn):
    return fn


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset():
    pass


def cudagraph_mark_step_begin():
    pass
