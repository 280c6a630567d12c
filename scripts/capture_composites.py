#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_composites.py: tables of result dtypes, and which operators public
functions reach, for capture_pytorch.py, which calls this file.  It does
nothing when it is run by itself.

How an operator of a table is called says src/parity/promotion.c, which is
read for it.
"""
import functools
import math
import re

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

import capture_more as more
import capture_numbers as numbers

base = None             # the module capture_pytorch, set by install()


# ---- result dtypes --------------------------------------------------------

NUMBERS = {"bool": True, "int": 2, "float": 2.5, "complex": 1 + 2j}


@functools.cache
def forms():
    """The arguments of operators that need more than their operands: letters
    stand for tensors, as src/parity/promotion.c explains."""
    text = (numbers.ROOT / "src/parity/promotion.c").read_text(encoding="utf-8")
    return dict(re.findall(r'\{ "(aten\.[\w.]+)", "(\S+)" \},', text))


def operand(kind, how):
    if how == "S":
        return NUMBERS[kind]
    return torch.ones([] if how == "0" else [2]).to(base.DTYPES[kind])


def letters(row, col, how):
    def ones(kind, *shape):
        return torch.ones(shape).to(base.DTYPES[kind])
    return {"A": lambda: operand(row, how[0]), "B": lambda: operand(col, how[1]),
            "Z": lambda: operand(col, "0"), "M": lambda: ones(row, 2, 2),
            "N": lambda: ones(col, 2, 2), "Q": lambda: ones(row, 1, 2, 2),
            "U": lambda: ones(col, 1, 2, 2), "I": lambda: torch.tensor([0, 1]),
            "K": lambda: torch.tensor([True, False])}


def needed(name):
    """How many arguments have no default."""
    if not name.startswith("aten."):
        return 0
    return sum(not a.has_default_value()
               for a in base.find_op(name)._schema.arguments)


def call_of(case, row, col):
    """The arguments of a cell."""
    mode = case["mode"]
    how = re.match(r"(?:tt|t0|0t|00|tS|St|0S)\b", mode)
    make = letters(row, col, how[0] if how else "tt")
    typed = mode.startswith("rows = input dtype")
    one = typed or mode == "one operand"
    form = forms().get(case["op"], "[A]" if one else "[A,B]")
    if case["op"] not in forms() and needed(case["op"]) > form.count(",") + 1 \
            + ("rounding_mode=" in mode):
        raise base.Unknown("src/parity/promotion.c has no form for it")
    text = re.sub(r"[A-Z]", lambda m: f"make['{m[0]}']()", form)
    kw = {}
    if "rounding_mode=" in mode:
        kw["rounding_mode"] = mode.partition("rounding_mode=")[2]
    elif typed and col != "none":
        kw["dtype"] = base.DTYPES[col]
    return eval(text, {"make": make, "null": None, "false": False}), kw


def dtype_name(t):
    return base.NAMES.get(t) or {torch.complex32: "c32"}[t]


def type_name(v):
    if isinstance(v, torch.Tensor):
        return dtype_name(v.dtype)
    return {bool: "bool", int: "i64", float: "f64"}[type(v)]


def types_of(got, args):
    """The type of the result, of each of several, or of what was written."""
    if got is None:
        got = args[0][0] if isinstance(args[0], list) else args[0]
    if isinstance(got, (list, tuple)):
        return [type_name(v) for v in got]
    return type_name(got)


def cell(case, row, col):
    name = case["op"]
    if name == "torch.can_cast":
        pair = base.DTYPES[row], base.DTYPES[col]
        return "bool" if torch.can_cast(*pair) else "u8"
    if name == "torch.full":
        return type_name(torch.full([2], NUMBERS[row]))
    args, kw = call_of(case, row, col)
    if name == "torch.result_type":
        return dtype_name(torch.result_type(*args))
    return types_of(base.find_op(name)(*args, **kw), args)


def capture_types(case):
    """A table of cells; what a cell raises stands once for each one."""
    table, errors = [], []
    for row in case["rows"]:
        line = []
        for col in case["cols"]:
            try:
                line.append(cell(case, row, col))
            except base.Unknown:
                raise
            except Exception as e:
                error = base.out_error(e)
                if error not in errors:
                    errors.append(error)
                line.append({"err": errors.index(error)})
        table.append(line)
    return {"table": table, **({"errors": errors} if errors else {})}


# ---- what functions call --------------------------------------------------

def filled(v, at):
    """An argument whose data the case does not give: ones, or, of floats,
    numbers up to 1 that differ, also from those of other arguments."""
    if isinstance(v, list):
        return [filled(x, at + k) for k, x in enumerate(v)]
    if isinstance(v, dict) and "t" in v and "data" not in v:
        step = 37 / 101 if base.DTYPES[v["t"]].is_floating_point else 0
        return dict(v, data=[1 - (5 * at + i) * step % 1
                             for i in range(math.prod(v["shape"]))])
    return v


class Spread:
    """Makes DTensors of plain tensors: replicated, or the first one cut."""

    def __init__(self, mesh, cut):
        self.mesh, self.cut = mesh, cut

    def __call__(self, t):
        at = [Replicate()]
        if self.cut and t.ndim > 0 and t.shape[0] > 1:
            at = [Shard(0)]
        self.cut = False
        local = t.chunk(2)[0].clone() if isinstance(at[0], Shard) else t
        return DTensor.from_local(local, self.mesh, at, run_check=False,
                                  shape=t.shape, stride=t.stride())


def run_calls(case, spread=lambda t: t):
    """The operators of a call and of its backward, with their arguments."""
    args = [numbers.marked(numbers.given(filled(a, i)), a, spread)
            for i, a in enumerate(case["args"])]
    kw = {k: numbers.marked(numbers.given(filled(v, len(args))), v, spread)
          for k, v in case.get("kw", {}).items()}
    ahead, back, got, answer = numbers.Ops(), numbers.Ops(), None, {}
    try:
        with ahead:
            got = numbers.callable_of(case["fn"])(*args, **kw)
    except Exception as e:
        answer["error"] = base.out_error(e)
    answer.update(fwd_ops=ahead.names, fwd_args=ahead.args)
    if "error" in answer:
        return answer
    if isinstance(got, torch.Tensor):
        got = [got]
    answer["out"] = None if isinstance(got, torch.Size) else numbers.shown(got)
    ends = [t for t in numbers.results(got) if t.grad_fn is not None]
    if ends:
        above = [torch.ones_like(t) for t in ends]
        try:
            with back:
                torch.autograd.backward(ends, above)
        except Exception as e:
            answer["bwd_error"] = base.out_error(e)
        answer.update(bwd_ops=back.names, bwd_args=back.args)
    return answer


RUNS = (("dtensor", "all R", False),
        ("dtensor_s0", "first tensor S(0), others R", True))


def capture_calls(case):
    answer = run_calls(case)
    if "error" in answer:
        return answer
    with more.world(2, 0):
        mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
        for key, said, cut in RUNS:
            if key in case or "fwd_ops" not in case:
                answer[key] = dict(pl=said,
                                   **run_calls(case, Spread(mesh, cut)))
    other = answer.get("dtensor", {})
    answer["dtensor_same"] = "error" not in other and all(
        answer.get(k) == other.get(k)
        for k in ("fwd_ops", "bwd_ops", "bwd_error"))
    return answer


# ---- what capture_pytorch takes -------------------------------------------

def install(module):
    """Rows for its table of captures: prefix, a key that must be there."""
    global base
    base = module
    return (("values/promo/", "rows", capture_types),
            ("values/dec/", "fn", capture_calls))


INPUTS = ("rows", "cols", "mode")
