# SPDX-License-Identifier: MIT
"""torch.jit: what marks code for the compiler changes no result here; traces
and saved programs are not part of dtrepl."""
import _absent
from typing import Final

import torch


def script(obj, *args, **settings):
    if isinstance(obj, torch.nn.Module):    # it may ask is_scripting()
        raise _absent.error("torch.jit.script of a module is not part "
                            "of dtrepl: run the module itself")
    return obj


def export(fn):
    return fn


unused = script_if_tracing = export


def ignore(drop=False, **settings):
    if callable(drop):                  # @ignore
        return drop
    return lambda function: function    # @ignore(drop=True)


def annotate(the_type, the_value):
    return the_value


def is_scripting():
    return False


def is_tracing():
    return False
