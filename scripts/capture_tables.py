#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_tables.py: what is registered, how meshes are made and which steps
of a redistribution merge, for capture_pytorch.py, which calls this file.  It
does nothing when it is run by itself.

Every rank's view is taken in a pretend world of its own, one after the other.
"""
import contextlib
import logging
import math
import os
import re

import torch
from torch.distributed import device_mesh
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._dtensor_spec import TensorMeta
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)

import capture_more as more

base = None             # the module capture_pytorch, set by install()


# ---- registry -------------------------------------------------------------

def propagator():
    import torch._inductor.inductor_prims   # noqa: F401  some of its operators
    return DTensor._op_dispatcher.sharding_propagator


def by_static(info):
    """What of the arguments is part of the cached decision's key."""
    if info is None:
        return {"static_argnum": None, "static_kwargkey": None,
                "needs_pytree": False}
    return {"static_argnum": info.static_argnum,
            "static_kwargkey": info.static_kwargkey,
            "needs_pytree": info.needs_pytree}


def whence(found):
    """The name of a strategy's function, and its file."""
    fn = getattr(found, "func", found)
    code = getattr(fn, "__code__", None)
    return {"fn": getattr(fn, "__name__", None), "file": os.path.basename(
        code.co_filename) if code else None}


def kinds_of(schema):
    """PyTorch's own test of in-place: the name ends in "_"."""
    return {"inplace": schema.name.endswith("_"),
            "out": any(a.kwarg_only and a.alias_info is not None and
                       a.alias_info.is_write for a in schema.arguments),
            "view": any(r.alias_info is not None and
                        not r.alias_info.is_write for r in schema.returns)}


def capture_registered(case):
    """Which table of the propagator holds the overload, the first that is
    asked; and what is registered with it."""
    op, p = base.find_op(case["op"]), propagator()
    dispatcher, schema = DTensor._op_dispatcher, op._schema
    tables = (("single_dim", p.op_single_dim_strategy_funcs),
              ("strategy", p.op_strategy_funcs), ("rule", p.op_to_rules),
              ("handler", dispatcher._custom_op_handlers),
              ("random_set", dict.fromkeys(dispatcher._random_ops)))
    found = [(name, table[op]) for name, table in tables if op in table]
    if not found:
        return {"error": {"class": "LookupError", "text": "not registered"}}
    via, first = found[0]
    static = p.op_to_schema_info.get(
        op, p.op_to_schema_info_for_single_dim_strategy.get(op))
    answer = dict(schema=str(schema), via=via, **whence(first),
                  **by_static(static))
    answer.update(kinds_of(schema))
    for name in ("allow_uneven_sharding", "allow_unbacked_sharding",
                 "different_mesh_args"):
        if getattr(first, name, None):
            answer[name] = getattr(first, name)
    if op in dispatcher._random_ops:
        answer["random"] = True
    if op in p.op_to_shape_and_stride_idx:
        at = p.op_to_shape_and_stride_idx[op]
        answer["shape_arg"] = list(at) if isinstance(at, tuple) else at
    return answer


def short(p):
    if p is None:
        return "None"
    if type(p).__name__ == "_ShardingPlaceholder":
        return f"S*({p.dim})"
    return base.out_placement(p)


def rule_text(row, outputs):
    """One row of a single-dim strategy: "inputs -> outputs"."""
    return " -> ".join(", ".join(map(short, side))
                       for side in (row[outputs:], row[:outputs]))


def described(v, element):
    """An argument as a strategy gets it: shapes for tensors; of lists of
    tensors or numbers, where it is asked for each element, the first."""
    if isinstance(v, dict) and "t" in v:
        stride = v.get("stride") or base.contiguous(v["shape"])
        return TensorMeta(torch.Size(v["shape"]), tuple(stride),
                          base.DTYPES[v["t"]])
    if isinstance(v, list):
        out = [described(x, False) for x in v]
        return out[0] if element and out else out
    return base.value(v, None)


def capture_rules(case):
    """What a single-dim strategy says of sample arguments."""
    from torch.distributed.tensor._ops import single_dim_strategy as module
    op = base.find_op(case["op"])
    info = propagator().op_single_dim_strategy_funcs.get(op)
    if info is None:
        return {"error": {"class": "LookupError", "text": "not registered"}}
    element = "elements" in case or (
        re.match(r"aten\._(foreach|fused|amp_foreach)_", case["op"]) is not None
        and any(isinstance(a, list) and isinstance(a[0], dict)
                for a in case["args"] if a))
    args = tuple(described(a, element) for a in case["args"])
    kw = {k: described(v, element) for k, v in case.get("kw", {}).items()}
    if element:
        op = module._resolve_foreach_elementwise_overload(op) or op
    rows = info.func(op, args, kw)
    n = len(rows[0]) - case["inputs"] if rows else case["outputs"]
    answer = {"outputs": n, "rules": [rule_text(r, n) for r in rows]}
    before = len(rows)
    masks = [a for a in args if isinstance(a, list) and len(a) == n
             and all(isinstance(x, bool) for x in a)]
    masked = [None if masks and not masks[0][i]
              or rows and all(r[i] is None for r in rows) else ...
              for i in range(n)]
    rows = module._insert_single_dim_replication_strategy(
        list(rows), n, case["inputs"], masked)
    if len(rows) > before:
        answer["replicate_added"] = rule_text(rows[0], n)
    return answer


def capture_decomposed(case):
    """The decision for a sample, under the name `result`."""
    schema = base.find_op(case["op"])._schema
    return dict(schema=str(schema), **kinds_of(schema),
                result=base.capture_prop(case))


# ---- meshes ---------------------------------------------------------------

def made(case):
    names = case["names"]
    names = tuple(names) if names else None
    if case["fn"] == "init_device_mesh":
        return init_device_mesh(case["device"], tuple(case["arg"]),
                                mesh_dim_names=names)
    return DeviceMesh(case["device"], case["arg"], mesh_dim_names=names)


def told(fact, key, f):
    """fact[key], or what asking for it raised."""
    try:
        fact[key] = f()
    except Exception as e:
        fact[key + "_error"] = base.out_error(e)


def view_of(case):
    try:
        m = made(case)
    except Exception as e:
        return {"error": base.out_error(e)}
    coord = m.get_coordinate()
    fact = {"shape": list(m.shape),
            "names": list(m.mesh_dim_names) if m.mesh_dim_names else None,
            "ranks": m.mesh.tolist(),
            "coord": None if coord is None else list(coord)}
    told(fact, "groups", lambda: [more.members(m.get_group(i))
                                  for i in range(m.ndim)])
    told(fact, "local_rank", lambda: [m.get_local_rank(i)
                                      for i in range(m.ndim)])
    fact.update(repr=repr(m), size=m.size())
    return fact


LISTED = ("coord", "groups", "local_rank")      # an entry a rank


def capture_init(case):
    if "world" not in case:
        raise base.Unknown("a mesh of the script that captured the file")
    views = []
    for rank in range(case["world"]):
        with more.world(case["world"], rank):
            views.append(view_of(case))
    if all(v == views[0] for v in views) and "error" in views[0]:
        return views[0]
    same = [{k: v for k, v in view.items() if k not in LISTED
             and not k.endswith("_error")} for view in views]
    if any(s != same[0] for s in same) or any("error" in v for v in views):
        return {"per_rank": views}
    result = dict(views[0], **{k: [v.get(k) for v in views] for k in LISTED})
    odd = {str(i): {k: e for k, e in v.items() if k not in views[0]
                    and k not in LISTED} for i, v in enumerate(views)}
    odd = {i: v for i, v in odd.items() if v}
    return dict(result=result, **({"by_rank": odd} if odd else {}))


# The meshes that lines compare by name, in a world of eight: device, ranks,
# names; several with the same ranks are made in two ways.
RANKS = list(range(8))
PREPARED = {
    "m24": ("cpu", (2, 4), None), "m24n": ("cpu", (2, 4), ("dp", "tp")),
    "m24x": ("cpu", (2, 4), ("a", "b")), "m42": ("cpu", (4, 2), None),
    "m8": ("cpu", (8,), None), "cuda8": ("cuda", (8,), None),
    "m18": ("cpu", (1, 8), None), "m4": ("cpu", (4,), None),
    "d8": ("cpu", RANKS, None), "d8rev": ("cpu", RANKS[::-1], None),
    "d24": ("cpu", [RANKS[:4], RANKS[4:]], None),
    "d4": ("cpu", RANKS[:4], None), "d4b": ("cpu", RANKS[4:], None)}


def prepared(name):
    if name not in PREPARED:
        raise base.Unknown(f"a mesh {name}")
    device, arg, names = PREPARED[name]
    make = "init_device_mesh" if isinstance(arg, tuple) else "DeviceMesh"
    return made({"fn": make, "device": device, "arg": arg, "names": names})


def capture_equal(case):
    with more.world(8, 0):
        a, b = prepared(case["a"]), prepared(case["b"])
        return {"a_repr": repr(a), "b_repr": repr(b), "eq": a == b}


def capture_detail(case):
    """The repr where all is told; groups are made without, for their sake."""
    name = "TORCH_DISTRIBUTED_DEBUG"
    with more.world(8, 0):
        mesh, before = prepared(case["a"]), os.environ.get(name)
        os.environ[name] = "DETAIL"
        try:
            return {"repr": repr(mesh)}
        finally:
            os.environ.pop(name)
            if before is not None:
                os.environ[name] = before


def capture_current(case):
    """Which mesh is the current one inside "with A: with B", and after B."""
    names = re.findall(r"with (\w+)", case["fn"])
    now = device_mesh._mesh_resources.get_current_mesh
    with more.world(8, 0):
        outer, inner = map(prepared, names)
        with outer:
            with inner:
                said = repr(now())
            return {"inner": said, "after": repr(now())}


# ---- FSDP2 on slices of a mesh --------------------------------------------

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(6, 10)
        self.b = torch.nn.Linear(10, 5)


def parameter(p):
    spec = p._spec
    return {"shape": list(p.shape),
            "pl": [base.out_placement(x) for x in p.placements],
            "local": list(p.to_local().shape),
            "mesh_names": list(p.device_mesh.mesh_dim_names),
            "mesh_shape": list(p.device_mesh.shape),
            "mesh_repr": repr(p.device_mesh),
            "order": more.out_order(spec.shard_order), "spec": str(spec)}


def sharded(case):
    """The parameters of the model that a case describes, or the error."""
    root = init_device_mesh("cpu", tuple(case["mesh"]["shape"]),
                            mesh_dim_names=tuple(case["mesh"]["names"]))
    net = Net()
    try:
        if case["tp"]:
            parallelize_module(net, root[case["tp"]], {
                "a": ColwiseParallel(), "b": RowwiseParallel()})
        part = root
        for call in case["calls"]:
            part = more.cut_mesh(part, *call)
        fully_shard(net, mesh=part)
    except base.Unknown:
        raise
    except Exception as e:
        return {"error": base.out_error(e)}
    return {k: parameter(p) for k, p in net.named_parameters()}


def capture_fsdp(case):
    size, views = math.prod(case["mesh"]["shape"]), []
    for rank in range(size):
        with more.world(size, rank):
            views.append(sharded(case))
    answer = {"result": views[0]}
    if "error" not in views[0]:
        parts = [{k: p["local"] for k, p in v.items()} for v in views]
        odd = {str(i): v for i, v in enumerate(parts) if v != parts[0]}
        if odd:
            answer["by_rank_local"] = odd
    return answer


# ---- redistribution: merged steps -----------------------------------------

def flat_mesh(case):
    m = case["mesh"]
    mesh = init_device_mesh("cpu", tuple(m["shape"]),
                            mesh_dim_names=tuple(m["names"]))
    for names in case.get("flatten", ()):
        mesh[tuple(names)]._flatten()
    return mesh


def out_step(s):
    a, b = s.src_dst_placements
    kind = base.KINDS.get((str(a).lstrip("_")[0], str(b).lstrip("_")[0]))
    step = {}
    if hasattr(s, "original_mesh_dims"):
        step.update(mesh_dims=list(s.original_mesh_dims),
                    group=list(s.mesh.mesh_dim_names))
        if s.avg_scale is not None:
            step["avg_scale"] = s.avg_scale
    else:
        step["mesh_dim"] = s.mesh_dim
    step.update({"from": base.out_placement(a), "to": base.out_placement(b),
                 "logical_shape": list(s.logical_shape),
                 "kind": kind or "local"})
    return step


def ends_of(case, mesh):
    return [base.spec_of(dict(shape=case["shape"], dtype=case["dtype"],
                              pl=case[k]), mesh) for k in ("src", "dst")]


@contextlib.contextmanager
def logged(module):
    """What a module logs inside, each time, not once a process."""
    texts, handler = [], logging.Handler()
    handler.emit = lambda record: texts.append(record.getMessage())
    module._warned_flatten_issues.clear()
    module.logger.addHandler(handler)
    try:
        yield texts
    finally:
        module.logger.removeHandler(handler)


def capture_flat(case):
    from torch.distributed.tensor import _redistribute as module
    size = 1
    for n in case["mesh"]["shape"]:
        size *= n
    with more.world(size, 0), logged(module) as texts:
        mesh = flat_mesh(case)
        ends = ends_of(case, mesh)
        steps = module._gen_transform_infos_non_cached(*ends, None)
        merged = module._optimize_transform_infos(steps, mesh, *(
            e.placements for e in ends))
    answer = {"steps": [out_step(s) for s in steps],
              "opt": [out_step(s) for s in merged]}
    if answer["opt"] == answer["steps"]:
        answer["opt"] = "same"
    if texts:
        answer["warn"] = texts
    return answer


# ---- what capture_pytorch takes -------------------------------------------

def install(module):
    """Rows for its table of captures: prefix, a key that must be there."""
    global base
    base = module
    return (("registry/single_dim/", "rules", capture_rules),
            ("registry/decomp/", "result", capture_decomposed),
            ("registry/", "via", capture_registered),
            ("mesh/init.", "fn", capture_init),
            ("mesh/equal/", "a", capture_equal),
            ("mesh/repr_detail/", "a", capture_detail),
            ("mesh/current/", "fn", capture_current),
            ("mesh/fsdp/", "model", capture_fsdp),
            ("redist/flat.", "src", capture_flat))


INPUTS = ("names", "arg", "world", "flatten", "inputs", "elements", "a", "b",
          "tp", "model")
