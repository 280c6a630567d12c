#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_more.py: more kinds of lines for capture_pytorch.py, which calls
this file: candidate tables, local shapes, shard orders, costs, programs over
meshes, values on real ranks.  It does nothing when it is run by itself.

The programs over meshes want every rank's view, so a pretend process group is
made for one rank after the other.  The values want ranks that exchange data:
processes that are forked here and talk through gloo.
"""
import ast
import contextlib
import itertools
import json
import math
import multiprocessing
import os
import re
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.distributed.tensor import _collective_utils as costs
from torch.distributed.tensor import _utils as layout
from torch.distributed.tensor._dtensor_spec import (
    DTensorSpec, ShardOrderEntry, TensorMeta)

base = None             # the module capture_pytorch, set by install()


def pls(case, key="pl"):
    return tuple(base.placement(p) for p in case[key])


def out_pls(list_):
    return [base.out_placement(p) for p in list_]


# ---- candidate tables -----------------------------------------------------

MANY = 64               # candidates, and 4 elements of a list, are written


def out_sides(specs, many):
    """Placements of one spec or of several; null where an output is none."""
    if specs is None:
        return None
    if not many:
        specs = [specs]
    return [None if s is None else out_pls(s.placements) for s in specs]


def candidate(s):
    cost = s.redistribute_cost
    return {"in": out_sides(s.input_specs, True),
            "out": out_sides(s.output_specs,
                             isinstance(s.output_specs, (list, tuple))),
            "cost": None if cost is None else base.out_number(float(
                sum(itertools.chain.from_iterable(cost))))}


def table(strategy, chosen):
    rows = [candidate(s) for s in strategy.strategies[:MANY]]
    at = [i for i, s in enumerate(strategy.strategies) if s is chosen][0]
    out = {"total": len(strategy.strategies), "winner": at}
    if at >= MANY:
        out["won"] = candidate(chosen)
    out["cands"] = rows
    return out


class Tables:
    """Every choice that the propagator makes, as a table."""

    def __init__(self):
        from torch.distributed.tensor import _sharding_prop as module
        self.plain = module._select_min_cost_strategy
        self.seen = []
        module._select_min_cost_strategy = self.choose

    def choose(self, strategy, *more, **kw):
        chosen = self.plain(strategy, *more, **kw)
        self.seen.append(table(strategy, chosen))
        return chosen


tables = None


def capture_candidates(case):
    """The tables of a case of prop/..., the case itself under "case"."""
    global tables
    tables = tables or Tables()
    tables.seen = []
    answer = base.capture_prop(case["case"])
    if "error" in answer or not tables.seen:
        raise base.Unknown("no table: the case is refused or has a rule")
    name, args = case["case"]["op"], case["case"]["args"]
    if ("_foreach" in name or "_fused" in name) and isinstance(args[0], list):
        return {"children": tables.seen[:4]}
    return tables.seen[-1]


def cases_of(path):
    """Cases by id in the files beside a file of candidate tables."""
    out, folder = {}, os.path.dirname(path) or "."
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".jsonl"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            for line in f:
                case = json.loads(line)
                if "op" in case and "mesh" in case:
                    out[case["id"]] = case
    return out


# ---- layout ---------------------------------------------------------------

def shard_order(list_):
    return tuple(ShardOrderEntry(tensor_dim=d, mesh_dims=tuple(m))
                 for d, m in list_)


def out_order(order):
    if order is None:
        return None
    return [[e.tensor_dim, list(e.mesh_dims)] for e in order]


def runs(offsets):
    out = []
    for i in offsets:
        if out and out[-1][0] + out[-1][1] == i:
            out[-1][1] += 1
        else:
            out.append([i, 1])
    return out


def owned(shape, sizes, coord, placements):
    """Indices that the rank at `coord` holds, by tensor dim."""
    local, held = list(shape), {}
    for m, p in enumerate(placements):
        if type(p).__name__ not in ("Shard", "_StridedShard"):
            continue
        d = p.dim
        local[d], held[d] = layout._get_shard_size_and_offsets(
            local[d], sizes[m], coord[m], p, held.get(d), shape[d], False)
    out = []
    for d, v in held.items():
        if not isinstance(v, torch.Tensor):
            v = torch.arange(v, v + local[d])
        out.append([d, runs(v.tolist()[:local[d]])])
    return out


def capture_shards(case):
    shape, sizes, pl = case["shape"], case["mesh"]["shape"], pls(case)
    answer = {}
    if "order" in case:
        pl = DTensorSpec._convert_shard_order_to_StridedShard(
            shard_order(case["order"]), pl, base.mesh_of(case["mesh"]))
        answer["pl_as_strided"] = out_pls(pl)
    listed = "order" in case or any(p.startswith("_S") for p in case["pl"])
    rows = []
    for rank, coord in enumerate(itertools.product(*map(range, sizes))):
        size, offset = layout._compute_local_shape_and_global_offset(
            shape, sizes, list(coord), pl)
        row = {"rank": rank, "shape": list(size), "offset": list(offset)}
        if listed:
            row["own"] = owned(shape, sizes, coord, pl)
        rows.append(row)
    answer["local"] = rows
    return answer


def spec_facts(spec, shown):
    order = spec.shard_order
    return {"str": DTensorSpec.format_shard_order_str(spec.placements, shown),
            "spec_order": out_order(order), "spec_str": str(spec),
            "use_strided_shard_as_shard_order":
                spec.use_strided_shard_as_shard_order,
            "is_default": DTensorSpec.is_default_device_order(order),
            "num_shards": spec.num_shards}


META = TensorMeta(torch.Size([48, 48]), (48, 1), torch.float32)


def capture_order(case):
    pl = pls(case)
    what = case["what"]
    if what == "print":
        p = pl[0]
        return {"str": str(p), "repr": repr(p), "is_shard": p.is_shard(),
                "is_replicate": p.is_replicate(),
                "is_partial": p.is_partial()}
    if what == "equal":
        return {"eq": pl[0] == pl[1], "eq_reversed": pl[1] == pl[0]}
    mesh = base.mesh_of(case["mesh"])
    if what == "strided_to_order":
        order = DTensorSpec._maybe_convert_StridedShard_to_shard_order(pl,
                                                                       mesh)
        answer = {"order": out_order(order)}
        try:
            new, got = DTensorSpec._normalize_placements_into_shard_order(
                pl, mesh)
            answer["normalized"] = {"pl": out_pls(new),
                                    "order": out_order(got)}
        except Exception as e:
            answer["normalize_error"] = base.out_error(e)
        answer["default_order"] = out_order(
            DTensorSpec.compute_default_shard_order(pl))
        answer.update(spec_facts(DTensorSpec(mesh, pl, tensor_meta=META),
                                 None))
        return answer
    order = shard_order(case["order"])
    if what == "order_to_strided":
        new = DTensorSpec._convert_shard_order_to_StridedShard(order, pl, mesh)
        answer = {"strided": out_pls(new), "repr": [repr(p) for p in new],
                  "back": out_order(
                      DTensorSpec._maybe_convert_StridedShard_to_shard_order(
                          new, mesh))}
        answer.update(spec_facts(DTensorSpec(mesh, pl, tensor_meta=META,
                                             shard_order=order), order))
        return answer
    try:                                                # check_order
        spec = DTensorSpec(mesh, pl, tensor_meta=META, shard_order=order)
        return {"spec_order": out_order(spec.shard_order),
                "spec_str": str(spec)}
    except Exception as e:
        return {"error": base.out_error(e)}


# ---- costs ----------------------------------------------------------------

@contextlib.contextmanager
def devices_per_host(case):
    """A machine with so many devices, for what asks torch.cuda."""
    plain = torch.cuda.device_count
    torch.cuda.device_count = lambda: case["devices_per_host"]
    try:
        yield
    finally:
        torch.cuda.device_count = plain


def capture_cost(case):
    m = dict(case["mesh"])
    ranks = torch.arange(math.prod(m["shape"])).view(m["shape"])
    fn, answer = case["fn"], {}
    with devices_per_host(case):
        mesh = DeviceMesh(case["device"], ranks, _init_backend=False)
        build = costs.MeshTopoInfo.build_from_mesh
        if hasattr(build, "cache_clear"):
            build.cache_clear()
        topo = build(mesh)
        if fn == "MeshTopoInfo":
            return {k: getattr(topo, k) for k in (
                "mesh_dim_devices", "mesh_dim_bandwidth", "mesh_dim_latency")}
        if fn == "redistribute_cost":
            t = dict(shape=case["shape"], dtype=case["dtype"])
            cost = costs.redistribute_cost(
                base.spec_of(dict(t, pl=case["src"]), mesh),
                base.spec_of(dict(t, pl=case["dst"]), mesh))
        elif fn == "_compute_placement_transition_cost":
            gb = case["bytes"] / 1024 / 1024 / 1024
            cost, after = costs._compute_placement_transition_cost(
                base.placement(case["src"]), base.placement(case["dst"]),
                topo, case["mesh_dim"], gb)
            answer["bytes_gb_after"] = base.out_number(float(after))
        else:
            gb = case["bytes"] / 1024 / 1024 / 1024
            cost = getattr(costs, fn)(gb, topo, case["mesh_dim"])
            answer["bytes_gb"] = gb
    return dict(cost=base.out_number(float(cost)), **answer)


# ---- meshes ---------------------------------------------------------------

@contextlib.contextmanager
def world(size, rank):
    """A pretend world as `rank` sees it."""
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if dist.is_initialized():
        dist.destroy_process_group()
    dist.init_process_group("fake", rank=rank, world_size=size,
                            store=FakeStore())
    try:
        yield
    finally:
        dist.destroy_process_group()
        base.meshes.clear()
        base.start()


def members(group):
    return dist.get_process_group_ranks(group)


def mesh_facts(m, root):
    out = {"shape": list(m.shape),
           "names": list(m.mesh_dim_names) if m.mesh_dim_names else None,
           "ranks": m.mesh.tolist()}
    coord = m.get_coordinate()
    out["coord"] = None if coord is None else list(coord)
    out["groups"] = [members(m.get_group(i)) for i in range(m.ndim)]
    out["local_rank"] = [m.get_local_rank(i) for i in range(m.ndim)]
    out["repr"] = repr(m)
    out["size"] = m.size()
    out["is_root"] = m is root
    out["eq_root"] = m == root
    flat = list(getattr(root, "_flatten_mapping", {}))
    if flat:
        out["flattened"] = flat
    return out


QUERIES = ("get_group", "get_local_rank", "size", "get_rank",
           "get_all_groups", "get_coordinate", "ndim", "shape",
           "mesh_dim_names", "device_type", "all_submeshes", "eq")


def query(now, name, args, root, kept):
    if name in ("ndim", "shape", "mesh_dim_names", "device_type"):
        v = getattr(now, name)
        return {"value": list(v) if isinstance(v, tuple) else v}
    if name == "eq":
        other = root if args[0] == "root" else kept[args[0]]
        return {"value": now == other, "same_object": now is other}
    if name == "all_submeshes":
        return {"value": [m.mesh.tolist()
                          for m in now._get_all_submeshes(*args)]}
    v = getattr(now, name)(*args)
    if name == "get_group":
        return {"group": members(v), "desc": v.group_desc}
    if name == "get_all_groups":
        v = [members(g) for g in v]
    return {"value": list(v) if isinstance(v, tuple) else v}


def cut_mesh(mesh, name, *args):
    """The part of a mesh, or the flat one, that a call of a case gives."""
    if name == "slice":
        return mesh[tuple(args[0]) if isinstance(args[0], list) else args[0]]
    if name == "flatten":
        return mesh._flatten(*args)
    raise base.Unknown(f"call {name}")


def run_program(case):
    """The outcome on this rank, as one flat object."""
    m = case["mesh"]
    root = init_device_mesh("cpu", tuple(m["shape"]), mesh_dim_names=tuple(
        m["names"]) if m.get("names") else None)
    now, kept, at = root, {}, 0
    try:
        for at, (name, *args) in enumerate(case["calls"]):
            if name == "unflatten":
                now = now._unflatten(args[0], *map(tuple, args[1:]))
            elif name == "root":
                now = root
            elif name == "get_root":
                now = now._get_root_mesh()
            elif name == "save":
                kept[args[0]], now = now, root
            elif name == "load":
                now = kept[args[0]]
            elif name == "concat":
                now = DeviceMesh._concatenate(
                    [kept.get(k, root) for k in args[0]])
            elif name in QUERIES:
                return query(now, name, args, root, kept)
            else:
                now = cut_mesh(now, name, *args)
        return mesh_facts(now, root)
    except base.Unknown:
        raise
    except Exception as e:
        return {"error": dict(base.out_error(e), at=at)}


def capture_mesh(case):
    n, views, said = math.prod(case["mesh"]["shape"]), [], []
    for rank in range(n):
        with world(n, rank), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            views.append(run_program(case))
            if rank == 0:
                said = [str(w.message) for w in heard]
    first = views[0]
    if "error" in first:
        answer = {"error": first["error"]}
    else:
        answer = {"result": dict(first)}
        for key in ("coord", "local_rank"):
            if key in first:
                answer["result"][key] = [v.get(key) for v in views]
    by_rank = {}
    for rank, v in enumerate(views):
        more = {k: x for k, x in v.items()
                if k not in ("coord", "local_rank") and first.get(k) != x}
        if more:
            by_rank[str(rank)] = more
    if by_rank:
        answer["by_rank"] = by_rank
    if said:
        answer["warn"] = said
    return answer


# ---- values on real ranks -------------------------------------------------

def flat_of(t):
    t = t.detach()
    return {"shape": list(t.shape),
            "data": base.out_tensor(t.contiguous())["data"]}


def filled(part, dtype):
    return torch.tensor(part["data"], dtype=torch.float64).to(
        base.DTYPES[dtype]).view(part["shape"])


def local_of(case, rank):
    """This rank's part of a case that begins with from_local."""
    dtype = case.get("local_dtypes", {rank: case.get("dtype", "f32")})[rank]
    if "local_src" in case:
        return filled(case["local_src"][rank], dtype)
    shape = case["local_shapes"][rank] if "local_shapes" in case \
        else case["shape"]
    return torch.arange(math.prod(shape), dtype=base.DTYPES[dtype]).view(shape)


def source(case, mesh, rank):
    """The tensor that a case begins with."""
    shape, kind = case["shape"], case["kind"]
    dtype = base.DTYPES[case["dtype"]]
    if kind == "partial":
        return DTensor.from_local(local_of(case, rank), mesh,
                                  pls(case, "src"), **given_shape(case))
    x = torch.arange(math.prod(shape), dtype=torch.float64)
    if kind == "src_data_rank":
        x = x + 100 * rank
    return distribute_tensor(x.to(dtype).view(shape), mesh, pls(case, "src"),
                             src_data_rank=case.get("src_data_rank", 0))


def given_shape(case):
    if case["kind"] == "from_local" and "gshape" not in case:
        return {}
    shape = case["gshape"] if "gshape" in case else case["shape"]
    stride = case.get("gstride") or base.contiguous(shape)
    return {"shape": torch.Size(shape), "stride": tuple(stride)}


def run_made(case, mesh, rank):
    """from_local and what it says about itself."""
    x = DTensor.from_local(local_of(case, rank), mesh, pls(case, "src"),
                           run_check=case.get("run_check", False),
                           **given_shape(case))
    return {"to_local": flat_of(x.to_local()), "pl_src": out_pls(x.placements),
            "global_shape": list(x.shape), "global_stride": list(x.stride()),
            "full": flat_of(x.full_tensor())}


def run_gradient(case, mesh, rank):
    """z = to_local() or full_tensor() of the tensor, moved or not; the
    gradient of (z * w).sum() for the leaf."""
    told = {"grad_placements": pls(case, "grad_placements")} \
        if "grad_placements" in case else {}
    if case["kind"] == "grad_global":
        leaf = x = source(case, mesh, rank).detach().requires_grad_()
    else:
        leaf = local_of(case, rank).requires_grad_()
        back = {"grad_placements": pls(case, "from_grad")} \
            if "from_grad" in case else {}
        x = DTensor.from_local(leaf, mesh, pls(case, "src"),
                               **given_shape(case), **back)
    if "dst" in case:
        x = x.redistribute(mesh, pls(case, "dst"))
    z = x.full_tensor(**told) if case.get("full") else x.to_local(**told)
    w = filled(case["w"][rank], base.NAMES[z.dtype]) if "w" in case else \
        (torch.arange(z.numel()) * (7 + rank) % 11 - 4.0).view(z.shape)
    (z * w).sum().backward()
    out = {"out": flat_of(z), "w": flat_of(w)}
    if case["kind"] == "grad_local":
        return dict(out, grad=flat_of(leaf.grad))
    return dict(out, grad=flat_of(leaf.grad.to_local()),
                grad_pl=out_pls(leaf.grad.placements),
                grad_shape=list(leaf.grad.shape))


def run_multi(case, rank):
    """What a function of the rank and of a mesh of all ranks gives or raises;
    T(sizes) are ones."""
    names = {}
    exec(PRELUDE, names)
    names["T"] = lambda *shape: torch.ones(shape)
    mesh = init_device_mesh("cpu", (case["world"],), mesh_dim_names=("x",))
    exec(case["python"], names)
    fn = names[re.match(r"def (\w+)", case["python"])[1]]
    try:
        return {"value": fn(rank, mesh)}
    except Exception as e:
        return {"raises": base.out_error(e)}


def run_values(case, rank):
    """What this rank sees: values by key."""
    if "python" in case:
        return run_multi(case, rank)
    m = case["mesh"]
    mesh = init_device_mesh("cpu", tuple(m["shape"]),
                            mesh_dim_names=tuple(m["names"]))
    try:
        if case["kind"] == "from_local":
            return run_made(case, mesh, rank)
        if case["kind"] in ("grad_global", "grad_local"):
            return run_gradient(case, mesh, rank)
        x = source(case, mesh, rank)
        out = {"local_src": flat_of(x.to_local()),
               "pl_src": out_pls(x.placements)}
        if "dst" in case:
            y = x.redistribute(mesh, pls(case, "dst"))
            out["local_dst"] = flat_of(y.to_local())
        out["full"] = flat_of(x.full_tensor())
        return out
    except Exception as e:
        return {"error": base.out_error(e)}


def serve(rank, size, store, pipe):
    """Answer cases until the other end is closed."""
    if dist.is_initialized():
        dist.destroy_process_group()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size,
                            store=dist.FileStore(store, size))
    with contextlib.suppress(EOFError):
        while True:
            pipe.send(run_values(pipe.recv(), rank))
    os._exit(0)


class Ranks:
    """Processes that are the ranks of one world."""

    def __init__(self, size):
        how = multiprocessing.get_context("fork")
        store = os.path.join(tempfile.mkdtemp(), "store")
        self.pipes, self.processes = [], []
        for rank in range(size):
            here, there = how.Pipe()
            p = how.Process(target=serve, args=(rank, size, store, there),
                            daemon=True)
            p.start()
            there.close()
            self.pipes.append(here)
            self.processes.append(p)

    def run(self, case):
        for pipe in self.pipes:
            pipe.send(case)
        out = []
        for pipe in self.pipes:
            if not pipe.poll(60):
                raise base.Unknown("the ranks do not answer")
            out.append(pipe.recv())
        return out

    def end(self):
        for p in self.processes:
            p.kill()


worlds = {}


def on_ranks(case, size):
    """The same case on `size` processes; their answers by rank."""
    if size not in worlds:
        worlds[size] = Ranks(size)
    try:
        got = worlds[size].run(case)
    except (base.Unknown, EOFError, OSError) as e:
        worlds.pop(size).end()
        raise base.Unknown(str(e)) from e
    except BaseException:       # out of time: answers are still in the pipes
        worlds.pop(size).end()
        raise
    if any("error" in g for g in got) and not all("error" in g for g in got):
        worlds.pop(size).end()          # some wait for the others
    return got


def capture_multi(case):
    got = on_ranks(case, case["world"])
    if all(g == got[0] for g in got):
        return {"all_ranks": got[0]}
    return {"per_rank": got}


def by_rank(got, full):
    """Answers of all ranks: numbers as lists, what all say once.  Whether
    `full` was asked for is a part of the case."""
    answer = {"full": full} if full is True else {}
    for key in got[0]:
        each = [v[key] for v in got]
        if key in ("out", "w", "grad", "to_local"):
            answer[key] = each
            continue
        answer[key] = each[0]
        if any(v != each[0] for v in each):
            answer[key + "_by_rank"] = each
            if key != "full":
                del answer[key]
    return answer


def capture_values(case):
    got = on_ranks(case, math.prod(case["mesh"]["shape"]))
    errors = [v.get("error") for v in got]
    if any(errors):
        if not all(errors):
            raise base.Unknown("an error on some ranks only")
        asked = {"full": True} if case.get("full") is True else {}
        if any(e != errors[0] for e in errors):
            return dict(asked, error_by_rank=errors)
        return dict(asked, error=errors[0])
    if case["kind"] in ("from_local", "grad_global", "grad_local"):
        return by_rank(got, case.get("full"))
    answer = {k: [v[k] for v in got] for k in ("local_src", "local_dst")
              if k in got[0] and not (k == "local_src"
                                      and case["kind"] == "partial")}
    full = [v["full"] for v in got]
    if case["kind"] == "distribute":
        answer["pl_src"] = got[0]["pl_src"]
    answer["full"] = full[0]
    if any(f != full[0] for f in full):
        answer["full_by_rank"] = full
    return answer


# ---- short programs and what they raise -------------------------------------

PRELUDE = '''
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import *
R = Replicate()
S, P = Shard, Partial
aten = torch.ops.aten
'''


# The operators of the programs, by schema; each gives its first tensor + 0.
LIBRARY = {"mylib": ("thing(Tensor x) -> Tensor",
                     "pair(Tensor a, Tensor b) -> Tensor",
                     "scale(Tensor x, float k) -> Tensor",
                     "kwt(Tensor x, *, Tensor? y=None) -> Tensor",
                     "sink(Tensor x) -> ()", "many(Tensor x) -> Tensor[]",
                     "bump_(Tensor(a!) x) -> Tensor(a!)",
                     "fwdok(Tensor x) -> Tensor"),
           "mynpu": ("_npu_dtype_cast(Tensor x, ScalarType dtype) -> Tensor",)}
BODIES = {"pair": lambda a, b: a + b, "scale": lambda x, k: x * k,
          "sink": lambda x: None, "many": lambda x: [x + 0, x + 0],
          "bump_": lambda x: x.add_(1),
          "_npu_dtype_cast": lambda x, dtype: x.to(dtype)}
libraries = []          # a definition lives as long as its library


def define_library():
    for space, schemas in LIBRARY.items() if not libraries else ():
        lib = torch.library.Library(space, "DEF")
        libraries.append(lib)
        for schema in schemas:
            name = schema.partition("(")[0]
            body = BODIES.get(name, lambda x, **_: x + 0)
            lib.define(schema)
            for key in ("CPU", "Meta"):
                lib.impl(name, body, key)


def forget_rules():
    """Rules that a program registered for those operators."""
    propagator = DTensor._op_dispatcher.sharding_propagator
    for table in vars(propagator).values():
        if isinstance(table, dict):
            for op in [k for k in table if str(k).startswith(("mylib.",
                                                              "mynpu."))]:
                del table[op]


def program_names():
    """The names that the programs of errors/... use."""
    names = {}
    exec(PRELUDE, names)
    meshes = {"m": ((4,), ("x",)), "m2": ((2, 4), ("dp", "tp")),
              "m3": ((2, 2, 2), ("a", "b", "c"))}
    for name, (shape, dims) in meshes.items():
        names[name] = base.mesh_of({"shape": list(shape),
                                    "names": list(dims)})

    def plain(*shape, dt="f32"):
        return base.with_locals(base.plain_tensor(
            {"t": dt, "shape": list(shape)}))

    def dtensor(shape, *placements, m=names["m"], dt="f32"):
        return base.with_locals(DTensor(
            torch.empty(0, dtype=base.DTYPES[dt]),
            DTensorSpec(m, tuple(placements), tensor_meta=TensorMeta(
                torch.Size(shape), tuple(base.contiguous(shape)),
                base.DTYPES[dt])), requires_grad=False))
    names.update(T=plain, D=dtensor)
    return names


def shown(v):
    """The last line's value."""
    if isinstance(v, DeviceMesh):
        return {"mesh": repr(v)}
    if isinstance(v, (bytes, torch.nn.Module)):
        return None
    out = base.out_var(v)
    for one in out if isinstance(out, list) else [out]:
        if isinstance(one, dict):
            one.pop("strided_order", None)
    return out


def capture_program(case):
    """The outcome of a program, and what it warned of."""
    define_library()
    forget_rules()
    tree = ast.parse(case["python"])
    with world(8, 0), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        answer = outcome(tree)
    said = [str(w.message) for w in heard]
    if said:
        answer["warns"] = said
    return answer


def outcome(tree):
    """What the last line gives if it is no statement, or what is raised."""
    names, last = program_names(), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    try:
        exec(compile(tree, "<case>", "exec"), names)
        got = last and eval(compile(last, "<case>", "eval"), names)
    except (KeyboardInterrupt, SystemExit, base.TooLong):
        raise
    except BaseException as e:  # CheckpointException is no Exception
        error = base.out_error(e)
        for pattern, short in (("0x[0-9a-f]{6,}", "0xADDR"),
                               ('"[^"]*/site-packages/', '"'),
                               ("/tmp/tmp[a-z0-9_]+", "/tmp/TMP")):
            error["text"] = re.sub(pattern, short, error["text"])
        return {"raises": error}
    try:
        return {"out": shown(got)} if last else {}
    except Exception:
        return {}


# ---- what capture_pytorch takes -------------------------------------------

def install(module):
    """Rows for its table of captures: prefix, a key that must be there."""
    global base
    base = module
    return (("layout/shard.", "shape", capture_shards),
            ("layout/order.", "what", capture_order),
            ("layout/cost.", "fn", capture_cost),
            ("mesh/program.", "calls", capture_mesh),
            ("redist/value.", "kind", capture_values),
            ("errors/", "python", capture_program),
            ("multi/", "python", capture_multi),
            ("prop/", "case", capture_candidates))


INPUTS = ("python", "what", "pl", "order", "device", "devices_per_host", "fn",
          "mesh_dim", "bytes", "expr", "calls", "kind", "src_data_rank",
          "local_src", "local_shapes", "local_dtypes", "gshape", "gstride",
          "run_check", "from_grad", "grad_placements", "w")
