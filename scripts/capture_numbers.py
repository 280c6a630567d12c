#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_numbers.py: kinds of lines that need no mesh, for capture_pytorch.py,
which calls this file: gradients and wrong calls.  It does nothing when it is
run by itself.
"""
import contextlib
import functools
import math
import pathlib
import re

import torch
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

base = None             # the module capture_pytorch, set by install()
ROOT = pathlib.Path(__file__).resolve().parent.parent


class Ops(TorchDispatchMode):
    """The overloads that are called inside, with their arguments."""

    def __init__(self):
        super().__init__()
        self.names, self.args = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        row = [shown(a) for a in args]
        given = {k: shown(v) for k, v in (kwargs or {}).items()
                 if v is not None}
        self.args.append(row + [{"kw": given}] if given else row)
        return func(*args, **(kwargs or {}))


def shown(v):
    """An argument without its data."""
    if isinstance(v, (list, tuple)):
        return [shown(x) for x in v]
    if isinstance(v, torch.Tensor):
        if isinstance(v, DTensor):
            return {"dt": base.NAMES.get(v.dtype, str(v.dtype)),
                    "shape": list(v.shape),
                    "pl": [base.out_placement(p) for p in v.placements]}
        out = {"t": base.NAMES.get(v.dtype, str(v.dtype)),
               "shape": list(v.shape)}
        if not v.is_contiguous():
            out["stride"] = list(v.stride())
        return out
    for kind, key in ((torch.dtype, "dtype"), (torch.device, "device"),
                      (torch.layout, "layout"),
                      (torch.memory_format, "memory_format")):
        if isinstance(v, kind):
            name = base.NAMES.get(v) if kind is torch.dtype else str(v)
            return {key: (name or str(v)).replace("torch.", "")
                    .removesuffix("_format")}
    if isinstance(v, (float, complex)):
        return base.out_number(v)
    return v if v is None or isinstance(v, (bool, int, str)) else str(v)


# ---- gradients ------------------------------------------------------------

def at(args, path):
    """The argument that a path as args[1][0] names: its list and index."""
    steps = [int(s) for s in path.removeprefix("args[").rstrip("]").split("][")]
    for i in steps[:-1]:
        args = args[i]
    return args, steps[-1]


def results(got):
    if isinstance(got, torch.Tensor):
        return [got]
    return [x for v in got for x in results(v)] \
        if isinstance(got, (list, tuple)) else []


def gradients(case, mode):
    """The results and their gradients as the file says: `wrt` needs them,
    `gout` comes from above; under `mode`."""
    op = base.find_op(case["op"])
    args = [base.value(a, None) for a in case["args"]]
    kw = {k: base.value(v, None) for k, v in case.get("kw", {}).items()}
    leaves = []
    for path in case["wrt"]:
        where, i = at(args, path)
        leaves.append(where[i].requires_grad_())
    if case.get("inplace_on_clone"):
        args[0] = args[0].clone()
    try:
        outs = results(op(*args, **kw))
    except Exception as e:
        raise base.Unknown(f"the call is refused: {e}") from e
    answer = {"out": base.out_tensor(outs)}
    picked = [outs[i] for i in case.get("grad_outs", range(len(outs)))]
    if not any(t.requires_grad for t in picked):
        return dict(answer, differentiable=False)
    above = [base.plain_tensor(g) for g in case["gout"]]
    with mode:
        try:
            grads = torch.autograd.grad(picked, leaves, above,
                                        allow_unused=True)
        except Exception as e:
            return dict(answer, error=base.out_error(e))
    return dict(answer, grads=base.out_tensor(
        [torch.zeros_like(g) if g is not None and g._is_zerotensor() else g
         for g in grads]))              # zeros without memory have no list


def capture_grad(case):
    """Under a dispatch mode C++ takes another way for some operators."""
    seen = Ops()
    answer = gradients(case, seen)
    if "grads" not in answer:
        return answer
    answer["bwd_ops"] = seen.names
    if "bwd_args" in case:
        answer["bwd_args"] = seen.args
    plain = gradients(case, contextlib.nullcontext())["grads"]
    if repr(plain) != repr(answer["grads"]):        # -0.0 is not 0.0
        answer["grads_nomode"] = plain
    return answer


# ---- functions that cases call py:name ------------------------------------

@functools.cache
def short_programs():
    """The Python of each name, as lua/parity/texts.lua, the checker's table, has it."""
    text = (ROOT / "lua/parity/texts.lua").read_text(encoding="utf-8")
    table = text[text.index("local functions"):]
    rows = re.findall(r'^  (\w+) = (?:"((?:[^"\\]|\\.)*)"'
                      r'|\[(=*)\[\n?(.*?)\]\3\])', table, re.M | re.S)
    return {name: short.replace("\\n", "\n") or long
            for name, short, _, long in rows}


def program_of(name):
    """The function that a case calls py:NAME."""
    if name not in short_programs():
        raise base.Unknown(f"no function {name} in lua/parity/texts.lua")
    names = {"torch": torch, "F": torch.nn.functional, "math": math}
    text = short_programs()[name]
    exec(text, names)
    return names[re.match(r"def (\w+)", text)[1]]


# ---- wrong calls ----------------------------------------------------------

def callable_of(name):
    """torch.X, torch.Tensor.X, torch.nn.functional.X, aten.X, attr:X."""
    if name.startswith("attr:"):
        return lambda t: getattr(t, name[5:])
    if name.startswith("py:"):
        return program_of(name[3:])
    first, _, rest = name.partition(".")
    found = torch if first == "torch" else getattr(torch.ops, first)
    for part in rest.split("."):
        found = getattr(found, part)
    return found


def given(v):
    """An argument as a program writes it: sizes and indices in a tuple."""
    if isinstance(v, list):
        out = [given(x) for x in v]
        return out if any(isinstance(x, torch.Tensor) for x in out) \
            else tuple(out)
    if isinstance(v, dict) and "slice" in v:
        return slice(*v["slice"])
    if isinstance(v, dict) and "ellipsis" in v:
        return ...
    return base.value(v, None)


def marked(v, wanted, spread=lambda t: t):
    """The argument with its tensors by `spread`; those of which the case says
    so need gradients."""
    if isinstance(v, (list, tuple)):
        pairs = zip(v, wanted if isinstance(wanted, list) else [None] * len(v))
        return type(v)(marked(x, w, spread) for x, w in pairs)
    if not isinstance(v, torch.Tensor):
        return v
    v = spread(v)
    if isinstance(wanted, dict) and wanted.get("requires_grad"):
        v.requires_grad_()
    return v


def capture_call(case):
    args = [marked(given(a), a) for a in case["args"]]
    kw = {k: marked(given(v), v) for k, v in case.get("kw", {}).items()}
    try:
        got = callable_of(case["fn"])(*args, **kw)
    except base.Unknown:
        raise
    except Exception as e:
        return {"error": base.out_error(e)}
    if isinstance(got, torch.Tensor):
        got = [got]
    return {"ok": shown(got)}


# ---- what capture_pytorch takes -------------------------------------------

def install(module):
    """Rows for its table of captures: prefix, a key that must be there."""
    global base
    base = module
    return (("values/grad/", "wrt", capture_grad),
            ("values/err/", "fn", capture_call))


INPUTS = ("wrt", "gout", "grad_outs", "inplace_on_clone")
