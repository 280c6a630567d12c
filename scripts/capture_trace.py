#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_trace.py: whole training programs under the PyTorch installed here.

    python3 scripts/capture_trace.py PROGRAMS.py [NAME...] --out DIR
    dtrepl parity DIR/*.program.json

PROGRAMS.py holds functions that take one argument S, the session, and the
classes and helpers they call.  Without names each function whose first
argument is S and whose others have defaults is a program, or those of a list
PROGRAMS; WORLD = {"name": 8} says where it is not 4 ranks, F32_ONLY names
those that have no run in f64.
A program runs on real gloo processes, once in f32 with the recorder of
dtrepl_record.py and once in f64 for numbers, and leaves NAME.program.json,
NAME.ops.jsonl, NAME.values.json and NAME.summary.json, in the form that
tests/parity/2.13/trace holds, and one sources.json for all.

Programs may use without import: torch, nn, F, dist, math, and the names of
torch.distributed.tensor, its parallel styles and fully_shard.  S gives them
meshes, tensors by formula, models filled by formula, phases and a loop.
"""
import argparse
import contextlib
import importlib.util
import inspect
import json
import logging
import math
import multiprocessing
import os
import queue as queues
import re
import socket
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import _disable_current_modes

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dtrepl_record as record  # noqa: E402

FULL = 320                      # numbers of a tensor kept in full
SECONDS = 90                    # for one run of a program


# ---- facts ----------------------------------------------------------------

def formula(shape, k, dtype, scale=1.0, base=0.0):
    n = math.prod(shape)
    r = ((torch.arange(n) + 131 * k) * 7919 + 13) % 1000
    return (base + scale * (r.double() / 1000.0 - 0.5)).to(dtype).view(shape)


def plain(v):
    """A value as JSON has it."""
    if isinstance(v, float):
        return record.plain_number(v)
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def tensor_values(t):
    t = t.detach()
    if isinstance(t, DTensor):
        t = t.full_tensor()
    data = record.numbers(t)
    out = {"dt": record.NAMES[t.dtype], "shape": list(t.shape)}
    if t.numel() <= FULL:
        out["data"] = data
        return out
    wide = t.double()
    out.update(norm=wide.norm().item(), sum=wide.sum().item(),
               head=data[:16], tail=data[-16:])
    return out


def failure(e):
    return {"class": type(e).__name__, "text": str(e)[:2000]}


class Listener(record.Recorder):
    """Rows as the traces have them: a mesh is told by its names."""
    session = None
    reduce = None               # of the c10d call that is under way

    def mesh_index(self, mesh):
        self.quiet += 1
        try:
            return super().mesh_index(mesh)
        finally:
            self.quiet -= 1

    def reductions(self, patches):
        """A c10d operator does not tell its reduction; Python's call does."""
        def telling(old):
            def f(*args, **kw):
                op = kw.get("op", next((a for a in args if isinstance(
                    a, (dist.ReduceOp, dist.ReduceOp.RedOpType))), None))
                self.reduce = "sum" if op is None else \
                    str(op).lower().split(".")[-1].rstrip(">")
                try:
                    return old(*args, **kw)
                finally:
                    self.reduce = None
            return f
        for name in ("all_reduce", "reduce_scatter_tensor",
                     "reduce_scatter_single"):
            patches.attr(dist, name, telling(getattr(dist, name)))

    def spec(self, t):
        out = super().spec(t)
        out.pop("m", None)
        out.pop("mesh", None)
        if isinstance(t, DTensor):
            names = list(t._spec.mesh.mesh_dim_names or [])
            if names != self.session.names:
                out["mesh"] = names
            out["pl"] = [re.sub(r"^MaskP\(.*", "MaskP(sum)", p)
                         for p in out["pl"]]
        return out

    def collective(self, row, func, args, out):
        super().collective(row, func, args, out)
        for c in row.get("coll", []):
            if self.reduce and c.get("ns") == "c10d" and "reduce" in c["op"]:
                c["reduce"] = self.reduce
            ranks = isinstance(c["group"], dict) and \
                tuple(c["group"].get("ranks", ()))
            if ranks in self.session.groups:
                c["group"] = self.session.groups[ranks]


# ---- the session ----------------------------------------------------------

class Session:
    def __init__(self, dtype, listen):
        self.dtype, self.listen = dtype, listen
        self.rank, self.ws = dist.get_rank(), dist.get_world_size()
        self.names, self.groups = [], {}
        self.prog = {"params": [], "inputs": []}
        self.values, self.errors, self.rows = {}, [], []
        self.found = {}

    def mesh(self, shape, names):
        m = init_device_mesh("cpu", tuple(shape), mesh_dim_names=tuple(names))
        self.names = list(names)
        self.prog["mesh"] = {"shape": list(shape), "names": self.names}
        for d, name in enumerate(names):
            ranks = dist.get_process_group_ranks(m.get_group(d))
            self.groups[tuple(ranks)] = [name]
        if len(names) > 1:              # all ranks: all dimensions
            self.groups[tuple(range(math.prod(shape)))] = self.names
        return m

    def val(self, shape, k, scale=1.0, base=0.0, note=None):
        self.prog["inputs"].append({"shape": list(shape), "k": k,
                                    "scale": scale, "base": base,
                                    "note": note})
        return formula(shape, k, self.dtype, scale, base)

    def ids(self, shape, k, vocab, note=None):
        self.prog["inputs"].append({"ids": True, "shape": list(shape), "k": k,
                                    "vocab": vocab, "note": note})
        n = math.prod(shape)
        return (((torch.arange(n) + 131 * k) * 7919 + 13) % 1000 % vocab) \
            .view(shape)

    def init(self, model, scale=1.0):
        model.to(self.dtype)
        self.prog["modules"] = repr(model).split("\n")
        self.prog["params"] = []
        with torch.no_grad():
            for k, (name, p) in enumerate(model.named_parameters()):
                norm = "norm" in name
                s, base = (0.2, 1.0) if norm else (scale, 0.0)
                p.copy_(formula(p.shape, k, self.dtype, s, base))
                self.prog["params"].append(
                    {"name": name, "k": k, "shape": list(p.shape), "scale": s,
                     "base": base})
        return model

    def note(self, **facts):
        self.prog.update(facts)

    def gather(self, v):
        out = [None] * self.ws
        with _disable_current_modes():      # not the program's own
            dist.all_gather_object(out, v)
        return out

    @staticmethod
    def local_shape(t):
        return list((t._local_tensor if isinstance(t, DTensor) else t).shape)

    @contextlib.contextmanager
    def recording(self, phase, step=1):
        if not self.listen:
            yield
            return
        rec, patches = Listener(limit=0), record.Patches()
        rec.session = self
        record.listen(rec, patches)
        rec.reductions(patches)
        old = [(o, n, f) for o, n, f in patches.old
               if n == "distribute_tensor"]
        for owner, name, f in old:
            setattr(owner, name, f)
        try:
            with rec:
                yield
        finally:
            patches.undo()
            for row in rec.rows:
                row.update(phase=phase, step=step, n=len(self.rows))
                for key in ("at", "made", "schema"):
                    row.pop(key, None)
                self.rows.append(row)

    def parallelize(self, model, mesh, plan):
        from torch.distributed.tensor.parallel import parallelize_module
        with self.recording("init", 0):
            return parallelize_module(model, mesh, plan)

    def fail(self, what, e):
        self.errors.append(dict(what=what, **failure(e)))

    def spec(self, t):
        out = {"shape": list(t.shape)}
        if isinstance(t, DTensor):      # what propagation says of it
            out["dt"] = record.NAMES[t._spec.tensor_meta.dtype]
            out["pl"] = [re.sub(r"^MaskP\(.*", "MaskP(sum)", str(p))
                         for p in t.placements]
            names = list(t.device_mesh.mesh_dim_names or [])
            if names != self.names:
                out["mesh"] = names
        else:
            out["t"] = record.NAMES[t.dtype]
        return out

    def facts_of(self, t, full):
        out = {"spec": self.spec(t),
               "local_shapes": self.gather(self.local_shape(t))}
        if full:
            values = tensor_values(t)
            every = self.gather(values)
            if isinstance(t, DTensor) or all(v == values for v in every):
                out["full"] = values
            else:
                out["per_rank"] = every
        return out

    def pack(self, items, full=True):
        return {name: self.facts_of(t, full) for name, t in items
                if t is not None}

    def scalar(self, step, t):
        t = t.detach()
        own = t._local_tensor if isinstance(t, DTensor) else t
        own = getattr(own, "elem", own)
        out = {"step": step, "spec": self.spec(t), "local": self.gather(
            own.item() if own.numel() == 1 else record.numbers(own))}
        if isinstance(t, DTensor):
            whole = record.numbers(t.full_tensor())
            out["full"] = whole[0] if len(whole) == 1 else whole
        return out

    def watch(self, model, acts):
        def hook(name):
            def f(_m, _a, out):
                if not self.keep:
                    return
                outs = out if isinstance(out, (tuple, list)) else (out,)
                for i, t in enumerate(outs):
                    if isinstance(t, torch.Tensor):
                        acts.append((name, i, self.spec(t),
                                     self.local_shape(t)))
            return f
        for name, m in model.named_modules():
            m.register_forward_hook(hook(name))

    def train(self, model, fwd, opt=None, clip=None, steps=2, keep_acts=True):
        out, acts = self.found, []
        self.keep = keep_acts
        if keep_acts:
            self.watch(model, acts)
        out["params_init"] = self.pack(model.named_parameters(), False)
        out["loss"] = []

        def grads():
            return self.pack([(n, p.grad)
                              for n, p in model.named_parameters()])
        for st in range(1, steps + 1):
            with self.recording("fwd", st):
                loss = fwd(st)
            self.keep = False
            out["loss"].append(self.scalar(st, loss))
            with self.recording("bwd", st):
                loss.backward()
            if st == 1:
                out["grads"] = grads()
            if clip is not None:
                with self.recording("clip", st):
                    norm = clip(model)
                out.setdefault("total_norm", []).append(self.scalar(st, norm))
                if st == 1:
                    out["grads_clipped"] = grads()
            if opt is not None:
                with self.recording("opt", st):
                    opt.step()
                opt.zero_grad()
        if opt is not None:
            out["params_final"] = self.pack(model.named_parameters())
        if keep_acts:
            every = self.gather([a[3] for a in acts])
            out["activations"] = [
                {"module": a[0], "out": a[1], "spec": a[2],
                 "local_shapes": [shapes[i] for shapes in every]}
                for i, a in enumerate(acts)]

    def result(self):
        out = dict(self.found, **self.values)
        if self.errors:
            out["errors"] = self.errors
        return plain(out)


# ---- programs -------------------------------------------------------------

def namespace():
    from torch.distributed.fsdp import (
        CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, fully_shard)
    import torch.distributed.tensor as dtensor
    import torch.distributed.tensor.parallel as parallel
    from torch.distributed.tensor.experimental import _attention as cpa
    from torch.distributed.tensor.experimental import (
        context_parallel, local_map)
    import torch.distributed._functional_collectives as funcol
    names = {n: getattr(m, n) for m in (dtensor, parallel)
             for n in m.__all__}
    names.update(
        torch=torch, nn=nn, F=F, dist=dist, math=math, cpa=cpa,
        funcol=funcol, local_map=local_map, aten=torch.ops.aten,
        context_parallel=context_parallel, fully_shard=fully_shard,
        FSDPModule=FSDPModule, MixedPrecisionPolicy=MixedPrecisionPolicy,
        CPUOffloadPolicy=CPUOffloadPolicy, O=torch.optim, _lib=None,
        _HeadTailLoadBalancer=cpa._HeadTailLoadBalancer,
        clip_grad_norm_=nn.utils.clip_grad_norm_, val=formula,
        init_device_mesh=init_device_mesh, tensor_values=tensor_values,
        pl=str, pls=lambda v: [str(p) for p in v], flt=lambda v: v)
    return names


DROPPED = ("id", "val", "local", "node", "made", "at", "schema")


def compact(v):
    """A row without what nobody compares."""
    if isinstance(v, dict):
        return {k: compact(x) for k, x in v.items() if k not in DROPPED}
    return [compact(x) for x in v] if isinstance(v, list) else v


def without_repeats(rows):
    """Rows of later steps go where they equal those of step 1."""
    rows = [compact(r) for r in rows if "coll" in r or not (
        r["phase"] == "init" and r.get("plain"))]
    groups, left = {}, []
    for r in rows:
        groups.setdefault((r["step"], r["phase"]), []).append(r)

    def text(key):
        return [json.dumps({k: v for k, v in r.items()
                            if k not in ("n", "step", "module")}, default=str)
                for r in groups[key]]
    for step, phase in list(groups):
        if step > 1 and (1, phase) in groups and \
                text((step, phase)) == text((1, phase)):
            left.append({"phase": phase, "step": step, "equal_to_step": 1})
            del groups[step, phase]
    return [r for rows in groups.values() for r in rows], left


def load(path):
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(namespace())
    sys.modules["programs"] = module
    spec.loader.exec_module(module)
    return module


def is_program(f):
    args = list(inspect.signature(f).parameters.values())
    return bool(args) and args[0].name == "S" and all(
        a.default is not a.empty or a.kind is a.VAR_KEYWORD
        for a in args[1:])


def own_names(module):
    return {n: v for n, v in vars(module).items()
            if getattr(v, "__module__", None) == "programs"}


def used_by(text, own, seen):
    for name in re.findall(r"\w+", text):
        if name in own and name not in seen:
            seen.append(name)
            used_by(inspect.getsource(own[name]), own, seen)
    return seen


def child(rank, world, port, path, name, dtype, answers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                      RANK=str(rank), WORLD_SIZE=str(world))
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    from datetime import timedelta
    dist.init_process_group("gloo", timeout=timedelta(seconds=25))
    module = load(path)
    S = Session(dtype, dtype is torch.float32)
    module.place_of = lambda t: S.spec(t) if isinstance(t, torch.Tensor) \
        else t
    raised = None
    try:
        getattr(module, name)(S)
    except Exception as e:      # the program's end is a fact too
        raised = failure(e)
        if os.environ.get("TRACE"):
            import traceback
            traceback.print_exc()
    answers.put((rank, raised, S.result(), S.rows if rank == 0 else [],
                 S.prog))
    answers.close()
    answers.join_thread()
    os._exit(0)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def run(path, name, world, dtype):
    context = multiprocessing.get_context("fork")
    answers, port = context.Queue(), free_port()
    ranks = [context.Process(target=child, args=(
        r, world, port, path, name, dtype, answers)) for r in range(world)]
    for p in ranks:
        p.start()
    got = {}
    try:
        while len(got) < world:
            rank, *rest = answers.get(timeout=SECONDS)
            got[rank] = rest
    except queues.Empty:
        pass
    for p in ranks:
        p.join(1)
        if p.is_alive():
            p.kill()
    return got


def whole(got, world):
    """What the values file says of a run; None when ranks part ways."""
    raised = [got[r][0] if r in got else None for r in range(world)]
    lost = [r for r in range(world) if r not in got or raised[r] and re.search(
        r"gloo|Connection closed|timed out|Timed out", raised[r]["text"])]
    if lost and len(lost) < world or not got:
        return None
    values = got[0][1]
    if any(raised):
        same = all(r == raised[0] for r in raised)
        values["raised"] = raised[0] if same else {"per_rank": raised}
    return values


def capture(path, name, world, module, out):
    own = own_names(module)
    text = inspect.getsource(own[name])
    names = used_by(text, {n: v for n, v in own.items() if n != name}, [])
    values, rows, prog = {"program": name, "runs": {}}, [], {}
    only = getattr(module, "F32_ONLY", ())
    for tag, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        if tag == "f64" and name in only:
            continue
        got = run(path, name, world, dtype)
        run_values = whole(got, world)
        if run_values is None:
            values = {"program": name, "died": True, "raised_on": {
                str(r): got[r][0] for r in sorted(got) if got[r][0]}}
            rows = []
            prog = got[min(got)][3] if got else {}
            break
        values["runs"][tag] = run_values
        if tag == "f32":
            rows, prog = got[0][2], got[0][3]
    program = {"program": name, "world": world}
    program.update(prog)
    program.update(code=text,
                   functions=[n for n in names if inspect.isfunction(own[n])],
                   classes=[n for n in names if inspect.isclass(own[n])])
    base = os.path.join(out, name)
    rows, left = without_repeats(rows)
    summary = {"program": name, "ops": len(rows), "steps_left_out": left}
    for what, v in (("program", plain(program)), ("values", values),
                    ("summary", summary)):
        with open(f"{base}.{what}.json", "w") as f:
            json.dump(v, f, default=str, separators=(",", ":"))
            f.write("\n")
    with open(base + ".ops.jsonl", "w") as f:
        f.writelines(json.dumps(r, default=str, separators=(",", ":")) + "\n"
                     for r in rows)
    return names, values


def main():
    parser = argparse.ArgumentParser(
        description="Trace files of training programs.")
    parser.add_argument("programs")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", default=".")
    args = parser.parse_args()
    path = os.path.abspath(args.programs)
    module = load(path)
    own = own_names(module)
    names = args.names or [n for n in getattr(module, "PROGRAMS", own)
                           if inspect.isfunction(own[n])
                           and is_program(own[n])]
    os.makedirs(args.out, exist_ok=True)
    where = os.path.join(args.out, "sources.json")
    sources = {"functions": {}, "classes": {}}
    if os.path.exists(where):
        with open(where) as f:
            sources = json.load(f)
    for name in names:
        used, values = capture(path, name,
                               getattr(module, "WORLD", {}).get(name, 4),
                               module, args.out)
        for n in used:
            kind = "classes" if inspect.isclass(own[n]) else "functions"
            sources[kind][n] = inspect.getsource(own[n])
        first = values.get("runs", {}).get("f32", {})
        print(name, "died" if "died" in values else
              "raised " + json.dumps(first["raised"])[:300]
              if "raised" in first else "ok", flush=True)
    with open(where, "w") as f:
        json.dump(sources, f, indent=0)


if __name__ == "__main__":
    main()
