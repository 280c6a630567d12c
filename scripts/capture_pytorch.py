#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_pytorch.py: parity files from the PyTorch that is installed here.

    python3 scripts/capture_pytorch.py CASES.jsonl... > mine.jsonl
    dtrepl parity mine.jsonl

A case is one JSON object a line in the encodings of FORMAT.md (in
tests/parity/2.13) with "id" and the inputs only; answers that stand in it are
replaced by what this PyTorch says.  So any file of tests/parity is a list of
cases too:

    prop/...        "op", "mesh", "args", "kw"?   a sharding decision
    values/fwd/...  "op", "args", "kw"?           numbers of a plain call
    redist/plan...  "mesh", "shape", "dtype", "src", "dst"   a plan's steps
    mixed/...       "op", "mesh", "args", "kw"?   a call with a plain argument
    layout/...      shards, orders of shards, costs
    mesh/program... "mesh", "calls"               a program over a mesh
    redist/value... "mesh", "kind", "shape", ...  values on real ranks (gloo)
    errors/...      "python"                      what a short program raises
    values/grad/... "wrt", "gout"                 gradients, operators called
    values/err/...  "fn", "args"                  what a wrong call raises
    registry/...    "op"                          what is registered, its rows
    redist/flat...  "flatten", "src", "dst"       a plan whose steps merge
    redist/coll...  "src", "dst", "grad"?         what every rank sends
    mesh/init...    "fn", "world", "arg"          a mesh as each rank sees it
    mesh/fsdp...    "mesh", "calls", "tp"         FSDP2 on a part of a mesh
    mesh/equal...   "a", "b"                      whether two meshes are equal
    multi/...       "python", "world"             the same on real ranks (gloo)
    values/promo... "op", "mode", "rows", "cols"  a table of result dtypes
    values/dec/...  "fn", "args", "kw"?           operators a function calls

With --candidates cases of prop/... give their candidate tables; a file of
tables is a list of cases when the cases' own file lies beside it.

--check writes nothing and says instead where the answers that stand in the
files differ from this PyTorch's.  Other kinds of lines are left out, with a
note on stderr.
"""
import argparse
import contextlib
import json
import math
import os
import re
import signal
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor import placement_types
from torch.distributed.tensor._dtensor_spec import (
    DTensorSpec, ShardOrderEntry, TensorMeta)
from torch.testing._comparison import default_tolerances

import capture_composites as composites
import capture_more as more
import capture_numbers as numbers
import capture_sent as sent
import capture_tables as tables

WORLD = 64
DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "f8_e4m3fn": torch.float8_e4m3fn,
    "f8_e5m2": torch.float8_e5m2, "i8": torch.int8, "i16": torch.int16,
    "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
    "bool": torch.bool, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {v: k for k, v in DTYPES.items()}


class Unknown(Exception):
    """The case holds something this script cannot make."""


class TooLong(BaseException):
    """The case takes longer than --seconds; PyTorch catches no such error."""


def out_of_time(*_):
    raise TooLong()


# ---- JSON to PyTorch ------------------------------------------------------

def find_op(name):
    ns, base, overload = name.split(".")
    try:
        return getattr(getattr(getattr(torch.ops, ns), base), overload)
    except AttributeError as e:
        raise Unknown(f"no operator {name}") from e


def placement(text):
    if text == "R":
        return Replicate()
    if m := re.fullmatch(r"S\((-?\d+)\)", text):
        return Shard(int(m[1]))
    if m := re.fullmatch(r"_S\((-?\d+), (\d+)\)", text):
        return placement_types._StridedShard(int(m[1]), split_factor=int(m[2]))
    if m := re.fullmatch(r"P\((\w+)\)", text):
        return Partial(m[1])
    raise Unknown(f"placement {text}")


def contiguous(shape):
    stride, n = [], 1
    for size in reversed(shape):
        stride.insert(0, n)
        n *= max(size, 1)
    return stride


meshes = {}


def mesh_of(m):
    key = json.dumps(m)
    if key not in meshes:
        n = math.prod(m["shape"])
        ranks = torch.tensor(m.get("ranks") or list(range(n)))
        meshes[key] = DeviceMesh("cpu", ranks.view(m["shape"]),
                                 mesh_dim_names=tuple(m["names"])
                                 if m.get("names") else None)
    return meshes[key]


def spec_of(t, mesh):
    shape = t["shape"]
    meta = TensorMeta(torch.Size(shape),
                      tuple(t.get("stride") or contiguous(shape)),
                      DTYPES[t.get("dt") or t["dtype"]])
    more = {}
    if "order" in t:
        more["shard_order"] = tuple(
            ShardOrderEntry(tensor_dim=d, mesh_dims=tuple(m))
            for d, m in t["order"])
    if "strided_order" in t:
        more["use_strided_shard_as_shard_order"] = t["strided_order"]
    return DTensorSpec(mesh, tuple(placement(p) for p in t["pl"]),
                       tensor_meta=meta, **more)


def number(v):
    if isinstance(v, dict):
        if "c" in v:
            return complex(number(v["c"][0]), number(v["c"][1]))
        return math.nan if "nan" in v else v["inf"] * math.inf
    return v


def plain_tensor(t):
    shape, dtype = t["shape"], DTYPES[t["t"]]
    stride = t.get("stride") or contiguous(shape)
    data = [number(x) for x in t.get("data") or [0] * math.prod(shape)]
    wide = (dtype if not dtype.is_floating_point else torch.float64)
    flat = torch.tensor(data, dtype=wide).to(dtype).view(shape)
    room = 1 + sum((s - 1) * d for s, d in zip(shape, stride))
    if 0 in shape or room == flat.numel() and stride == contiguous(shape):
        return flat.clone()     # detach_() refuses a view
    out = torch.zeros(room, dtype=dtype).as_strided(shape, stride)
    if 0 in stride:
        for i in range(flat.numel()):
            index = tuple(int(k) for k in torch.unravel_index(
                torch.tensor(i), shape))
            out[index] = flat[index]
        return out
    return out.copy_(flat)


def value(v, mesh):
    if isinstance(v, list):
        return [value(x, mesh) for x in v]
    if not isinstance(v, dict):
        return v
    if "dt" in v:
        spec = spec_of(v, mesh)
        local = torch.empty(0, dtype=DTYPES[v["dt"]])
        return DTensor(local, spec, requires_grad=False)
    if "t" in v:
        return plain_tensor(v)
    if "dtype" in v:
        return DTYPES[v["dtype"]]
    if "device" in v:
        return torch.device(v["device"])
    if "layout" in v:
        return getattr(torch, v["layout"])
    if "memory_format" in v:
        name = v["memory_format"]
        return getattr(torch, name if hasattr(torch, name)
                       else name + "_format")
    return number(v)


# ---- PyTorch to JSON ------------------------------------------------------

def out_placement(p):
    text = str(p)
    return re.sub(r"^MaskP\((\w+),.*", r"MaskP(\1)", text)


def out_number(x):
    if isinstance(x, bool) or isinstance(x, int):
        return x
    if isinstance(x, complex):
        return {"c": [out_number(x.real), out_number(x.imag)]}
    if math.isnan(x):
        return {"nan": True}
    if math.isinf(x):
        return {"inf": 1 if x > 0 else -1}
    return x


def out_error(e):
    return {"class": type(e).__name__, "text": str(e)[:2000]}


def out_spec(s):
    if s is None:
        return None
    if isinstance(s, (list, tuple)):
        return [out_spec(x) for x in s]
    meta = s.tensor_meta
    out = {"dt": NAMES.get(meta.dtype, str(meta.dtype)),
           "shape": list(meta.shape)}
    if list(meta.stride) != contiguous(meta.shape):
        out["stride"] = list(meta.stride)
    out["pl"] = [out_placement(p) for p in s.placements]
    if any(p.startswith("_S") for p in out["pl"]):
        if not s.use_strided_shard_as_shard_order:
            out["strided_order"] = False
    return out


def out_tensor(t):
    if t is None:
        return None
    if isinstance(t, (list, tuple)):
        return [out_tensor(x) for x in t]
    if not isinstance(t, torch.Tensor):
        return out_number(t)
    if t.layout != torch.strided:       # files have no form for these
        raise Unknown(f"a result of layout {t.layout}")
    out = {"t": NAMES.get(t.dtype, str(t.dtype)), "shape": list(t.shape)}
    if not t.is_contiguous():
        out["stride"] = list(t.stride())
    wide = t.double() if t.dtype.is_floating_point else t
    out["data"] = [out_number(x) for x in wide.reshape(-1).tolist()]
    return out


# ---- kinds of cases -------------------------------------------------------

def flat_specs(args):
    out = []
    for a in args:
        if isinstance(a, DTensorSpec):
            out.append(a)
        elif isinstance(a, (list, tuple)):
            out += flat_specs(a)
    return out


def local_args(args, count):
    out = []
    for a in args:
        if isinstance(a, DTensorSpec):
            out.append({"in": next(count)})
        elif isinstance(a, (list, tuple)):
            out.append(local_args(a, count))
        elif isinstance(a, torch.dtype):
            out.append({"dtype": NAMES[a]})
        else:
            out.append(out_number(a) if isinstance(a, (float, complex)) else a)
    return out


class Costs:
    """The cost of the chosen strategy, seen where it is chosen."""

    def __init__(self):
        from torch.distributed.tensor import _sharding_prop as module
        self.module = module
        self.plain = module._select_min_cost_strategy
        self.seen = []
        module._select_min_cost_strategy = self.choose

    def choose(self, *args, **kw):
        chosen = self.plain(*args, **kw)
        cost = chosen.redistribute_cost
        self.seen.append(None if cost is None
                         else sum(sum(c) if isinstance(c, list) else c
                                  for c in cost))
        return chosen


costs = None


def decomposes(propagator, op):
    return (op not in propagator.op_strategy_funcs and
            op not in propagator.op_single_dim_strategy_funcs)


def capture_prop(case):
    global costs
    costs = costs or Costs()
    mesh, op = mesh_of(case["mesh"]), find_op(case["op"])
    args = tuple(value(a, mesh) for a in case["args"])
    kw = {k: value(v, mesh) for k, v in case.get("kw", {}).items()}
    dispatcher = DTensor._op_dispatcher
    schema = dispatcher.unwrap_to_op_info(op, args, kw).schema
    costs.seen = []
    try:
        got = dispatcher.sharding_propagator \
            .propagate_op_sharding_non_cached(schema)
    except Exception as e:
        out = {"error": out_error(e)}
        if e.__cause__ is not None:
            out["error"]["cause"] = out_error(e.__cause__)
        try:
            out["schema"] = str(schema)
        except Exception:
            pass
        return out
    out = {"out": out_spec(got.output_spec)}
    wanted = got.redistribute_schema
    if wanted is not None:
        before = flat_specs(schema.args_schema)
        after = flat_specs(wanted.args_schema)
        if [s.placements for s in before] != [s.placements for s in after]:
            out["in"] = [[out_placement(p) for p in s.placements]
                         for s in after]
        if got.use_val_from_redistribute_schema:
            out["rewrite"] = True
            if wanted.op is not schema.op:
                out["local_op"] = str(wanted.op)
            out["local_args"] = local_args(wanted.args_schema,
                                           iter(range(1 << 20)))
    is_list = any(isinstance(a, list) and flat_specs(a)
                  for a in schema.args_schema)
    seen = [c for c in costs.seen if c is not None]
    if decomposes(dispatcher.sharding_propagator, op):
        seen = seen[-1:]        # those before were inside
    if len(seen) == 1 and not (is_list and "_foreach" in case["op"]):
        out["cost"] = out_number(float(seen[0]))
    elif seen and is_list:
        out["cost"] = [out_number(float(c)) for c in seen]
    return out


def capture_forward(case):
    op = find_op(case["op"])
    args = [value(a, None) for a in case["args"]]
    kw = {k: value(v, None) for k, v in case.get("kw", {}).items()}
    try:
        got = op(*args, **kw)
    except Exception as e:
        return {"error": out_error(e)}
    if isinstance(got, torch.Tensor):
        got = [got]
    out = {"out": out_tensor(got), "exact": False}
    given = [(f"args[{k}]", a) for k, a in enumerate(args)]
    given += [("kw." + k, a) for k, a in kw.items()]
    alias = [[i, path, g.storage_offset() - a.storage_offset()]
             for i, g in enumerate(got if isinstance(got, (list, tuple))
                                   else [])
             for path, a in given
             if isinstance(g, torch.Tensor) and isinstance(a, torch.Tensor)
             and g.untyped_storage()._cdata == a.untyped_storage()._cdata
             and g.untyped_storage().nbytes() > 0]      # nothing is shared
    if alias:
        out["alias"] = alias
    return out


KINDS = {("P", "R"): "all_reduce", ("P", "S"): "reduce_scatter",
         ("S", "R"): "all_gather", ("S", "S"): "all_to_all"}


@contextlib.contextmanager
def planned_by_graph(module):
    """Inside, costs are those of the graph search, too."""
    name = "_FORCE_MIN_COST_REDISTRIBUTION_PLAN"
    before = getattr(module, name, None)
    setattr(module, name, True)
    try:
        yield
    finally:
        setattr(module, name, before)


def forget_plans(module):
    """Another rank's plans and earlier ones must not be found again."""
    module._gen_transform_infos.cache_clear()
    getattr(module, "clear_redistribute_planner_cache", bool)()


@contextlib.contextmanager
def seen_by(mesh, rank):
    """Inside, the mesh says where `rank` stands on it."""
    own = mesh._coordinate_on_dim
    mesh._coordinate_on_dim = tuple(int(i[0]) for i in torch.where(
        mesh.mesh == rank))
    try:
        yield
    finally:
        mesh._coordinate_on_dim = own


def planned(module, ends, graph):
    forget_plans(module)
    return module._gen_transform_infos_non_cached(*ends, graph)


def logical_by_rank(module, mesh, ends, graph, first):
    """Logical shapes of the steps on the ranks where they are not rank 0's."""
    out = []
    for rank in mesh.mesh.flatten().tolist()[1:]:
        with seen_by(mesh, rank):
            steps = planned(module, ends, graph)
        logical = [list(s.logical_shape) for s in steps]
        if logical == first:
            continue
        same = [e for e in out if e["logical"] == logical]
        if same:
            same[0]["ranks"].append(rank)
        else:
            out.append({"ranks": [rank], "logical": logical})
    return out


def plan_cost(module, ends, graph):
    from torch.distributed.tensor._collective_utils import redistribute_cost
    forget_plans(module)
    try:
        with planned_by_graph(module) if graph else contextlib.nullcontext():
            return out_number(float(redistribute_cost(*ends)))
    except Exception as e:
        return {"error": out_error(e)}


def capture_plan(case):
    from torch.distributed.tensor import _redistribute as module
    mesh = mesh_of(case["mesh"])
    ends = []
    for key in ("src", "dst"):
        t = dict(shape=case["shape"], dtype=case["dtype"], pl=case[key])
        if key + "_order" in case:
            t["order"] = case[key + "_order"]
        ends.append(spec_of(t, mesh))
    graph = True if case.get("planner") == "graph" else None
    try:
        steps = planned(module, ends, graph)
    except Exception as e:
        return {"error": out_error(e), "cost": plan_cost(module, ends, graph)}
    out = []
    for s in steps:
        a, b = s.src_dst_placements
        kind = KINDS.get((str(a).lstrip("_")[0], str(b).lstrip("_")[0]))
        out.append({"mesh_dim": s.mesh_dim, "from": out_placement(a),
                    "to": out_placement(b),
                    "logical_shape": list(s.logical_shape),
                    "kind": kind or "local"})
    others = logical_by_rank(module, mesh, ends, graph,
                             [s["logical_shape"] for s in out])
    return {"steps": out, "cost": plan_cost(module, ends, graph),
            **({"logical_by_rank": others} if others else {})}


def with_locals(v):
    """The same arguments with local tensors in the DTensors and data in all:
    0.5, integers 0."""
    from torch.distributed.tensor._utils import (
        compute_local_shape_and_global_offset)
    if isinstance(v, (list, tuple)):
        return [with_locals(x) for x in v]
    if not isinstance(v, torch.Tensor):
        return v
    half = 0.5 if v.dtype.is_floating_point or v.dtype.is_complex else 0
    if not isinstance(v, DTensor):
        return v.fill_(half)
    shape, _ = compute_local_shape_and_global_offset(
        v.shape, v.device_mesh, v.placements)
    local = torch.full(tuple(shape), half, dtype=v.dtype)
    return DTensor(local, v._spec, requires_grad=False)


def out_var(v):
    if isinstance(v, (list, tuple)):
        return [out_var(x) for x in v]
    if isinstance(v, DTensor):
        return out_spec(v._spec)
    if isinstance(v, torch.Tensor):
        out = out_tensor(v)
        out.pop("data")
        return out
    if isinstance(v, (bool, int, float, complex)):
        return out_number(v)
    return v if v is None else str(v)


@contextlib.contextmanager
def all_warnings(texts):
    """What Python and C++ warn about, in order: both write to stderr."""
    mark = "\x01"

    def show(message, *_):
        os.write(2, f"{mark}{message}\n".encode())

    sys.stderr.flush()
    old, file = os.dup(2), tempfile.TemporaryFile()
    os.dup2(file.fileno(), 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            yield
    finally:
        os.dup2(old, 2)
        os.close(old)
        file.seek(0)
        for line in file.read().decode(errors="replace").split("\n"):
            text = (line[1:] if line.startswith(mark)
                    else line.partition("] Warning: ")[2])
            if text:
                texts.append("numel1" if "numel=1" in text else text)
        file.close()


def capture_mixed(case):
    """Every call is the first of its kind: caches are empty."""
    from torch.distributed.tensor import debug
    for name in ("_clear_sharding_prop_cache",
                 "_clear_fast_path_sharding_prop_cache"):
        with contextlib.suppress(AttributeError):
            getattr(debug, name)()
    mesh, op = mesh_of(case["mesh"]), find_op(case["op"])
    args = with_locals([value(a, mesh) for a in case["args"]])
    kw = {k: with_locals(value(v, mesh))
          for k, v in case.get("kw", {}).items()}
    texts = []
    with all_warnings(texts):
        try:
            got = op(*args, **kw)
            answer = {"out": out_var(got)}
            if got is args[0]:
                answer["same"] = True
        except Exception as e:
            answer = {"raises": out_error(e)}
    if texts:
        answer["warns"] = texts
    return answer


KINDS_ELSEWHERE = (composites, more, numbers, sent, tables)
CAPTURES = sum((m.install(sys.modules[__name__]) for m in KINDS_ELSEWHERE), ()) + (
    ("prop/", "args", capture_prop),
    ("values/fwd/", "args", capture_forward),
    ("redist/plan.", "src", capture_plan),
    ("mixed/", "args", capture_mixed))
INPUTS = ("id", "op", "mesh", "args", "kw", "shape", "dtype", "src", "dst",
          "src_order", "dst_order", "planner", "used", "hang", "plain",
          "size") + sum((m.INPUTS for m in KINDS_ELSEWHERE), ())


def capture(case):
    for prefix, key, fn in CAPTURES:
        if case["id"].startswith(prefix) and key in case:
            return fn(case)
    raise Unknown("no capture for this kind")


# ---- the program ----------------------------------------------------------

def start():
    import torch._dynamo    # noqa: F401  a case would be cut off inside it
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", rank=0, world_size=WORLD,
                            store=FakeStore())


def rounded(t):
    """A tensor's JSON with its numbers as its dtype holds them."""
    flat = dict(t, shape=[len(t["data"])])
    flat.pop("stride", None)
    return dict(t, data=out_tensor(plain_tensor(flat))["data"])


def near(a, b, rtol=1e-6, atol=1e-9):
    """Equal, numbers up to rounding: those of a tensor by what assert_close
    allows their dtype, as a product's last digits are the processor's."""
    if isinstance(a, float) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=rtol, abs_tol=atol)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(near(x, y, rtol, atol)
                                        for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        keys = set(a) | set(b)
        if "data" in a and "data" in b and b.get("t") in DTYPES:
            b = rounded(b)
            rtol, atol = default_tolerances(DTYPES[b["t"]])
        return all(near(a.get(k), b.get(k), rtol, atol) for k in keys)
    return a == b


# What stands in files beside the answers, and what no capture here takes.
NOTES = ("exact", "case", "class", "group", "program", "template", "site", "ok",
         "numel1_cached", "full_equals_input", "exec_error", "api_error",
         "source", "note", "has_decomp", "also", "late", "rewritten_to",
         "scalar_shape_adjuster", "backward_mismatch", "decomp")


def warned(entry):
    """Texts of warnings; a file may have them with their categories.  How
    often the C++ side warns it tells stderr, not Python."""
    return {w["text"] if isinstance(w, dict) else w
            for w in entry.get("warns", ())}


def differing(case, answer):
    """Keys whose values are not the same: of the answer, and of the case,
    where an answer that is there no more counts, too."""
    def same(k):
        if k == "warns":
            return warned(answer) == warned(case)
        return near(answer.get(k), case.get(k))
    keys = list(answer) + [k for k in case if k not in answer]
    return [k for k in keys if k not in INPUTS + NOTES and not same(k)]


def left_modes():
    """A case that was cut short inside a dispatch mode leaves it entered: the
    next one's own tensors would be made in it."""
    from torch.utils import _python_dispatch as modes
    while modes._get_current_dispatch_mode_stack():
        modes._pop_mode()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--only", help="cases whose id contains this")
    parser.add_argument("--limit", type=int, help="at most so many cases of a file")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--candidates", action="store_true",
                        help="of cases of prop/...: their candidate tables")
    parser.add_argument("--seconds", type=float, default=0,
                        help="leave out cases that take longer")
    opts = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, out_of_time)
    start()
    done = bad = left = 0
    for path in opts.files:
        beside, at_start = None, done
        for line in open(path, encoding="utf-8"):
            case = json.loads(line)
            if "cands" in case or "children" in case or opts.candidates:
                beside = beside or more.cases_of(path)
                case["case"] = beside.get(case["id"])
            if opts.only and opts.only not in case["id"]:
                continue
            if opts.limit is not None and done - at_start >= opts.limit:
                break
            try:
                signal.setitimer(signal.ITIMER_REAL, opts.seconds)
                answer = capture(case)
            except (Unknown, TooLong) as e:
                left_modes()
                left += 1
                print(f"{case['id']}: left out: {str(e) or 'too long'}",
                      file=sys.stderr)
                continue
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            done += 1
            if not opts.check:
                new = {k: case[k] for k in INPUTS if k in case
                       and not ("case" in case and k != "id")}
                new.update(answer)
                print(json.dumps(new, separators=(",", ":")))
                continue
            for key in differing(case, answer):
                bad += 1
                print(f"{case['id']}: {key}: file {json.dumps(case.get(key))}"
                      f", PyTorch {json.dumps(answer.get(key))}")
    print(f"{done} captured, {left} left out"
          + (f", {bad} differ" if opts.check else ""), file=sys.stderr)
    return 3 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
