#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dtrepl_record.py: what a PyTorch program does with DTensors, for dtrepl.

    python dtrepl_record.py [--out NAME] [--fake N] your_script.py ARGS...
    torchrun --nproc-per-node 4 dtrepl_record.py your_script.py ARGS...

or around a few lines of a program:

    from dtrepl_record import record
    with record("name"):
        ...

It writes NAME.json, the log (every further rank: NAME.rankR.json), and
NAME.lua, a short program for dtrepl that comes to the same error or numbers;
also when the program dies.  Then

    dtrepl NAME.lua               runs the repro
    dtrepl replay NAME.json       runs every recorded operator in dtrepl and
                                  names the first difference

--fake N lets one process be rank 0 of N without any other: shapes,
placements, collectives and errors are real, numbers are not.

Recorded are meshes, tensors with placements and the line that made them,
operators with their arguments, redistributions, collectives with bytes,
autograd nodes, module names.  Numbers of a tensor are kept where it comes
from outside the recorded operators, up to --numbers elements (default 4096).

Needs PyTorch only.  Measured on a 2-core machine it costs 100 microseconds
per plain operator and 250 per DTensor operator, on the host; kernels and
collectives run as without it.  Tensors are not kept alive.
"""
import argparse
import atexit
import contextlib
import json
import math
import os
import runpy
import signal
import sys
import weakref

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate
from torch.utils._python_dispatch import TorchDispatchMode

VERSION = 1
NAMES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32",
    torch.float64: "f64", torch.int8: "i8", torch.int16: "i16",
    torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8",
    torch.bool: "bool", torch.complex64: "c64", torch.complex128: "c128",
    torch.float8_e4m3fn: "f8_e4m3fn", torch.float8_e5m2: "f8_e5m2",
}
TORCH_DIR = os.path.dirname(torch.__file__)
OWN_FILE = sys._getframe().f_code.co_filename
PYTHON_DIR = os.path.dirname(os.__file__)
SMALL = 16                      # elements of a result whose numbers are kept
LONG_REPRO = 1500               # operators a repro holds at most
GROUP_OPS = ("c10d", "_c10d_functional", "_c10d_functional_autograd")
WAITS = ("wait_tensor", "_wrap_tensor_autograd", "barrier")


# ---- facts of values ------------------------------------------------------

def contiguous(shape):
    stride, n = [], 1
    for size in reversed(shape):
        stride.insert(0, n)
        n *= max(size, 1)
    return stride


def is_dense_order(shape, stride):
    return all(size == 1 or a == b
               for size, a, b in zip(shape, stride, contiguous(shape))) \
        or 0 in shape


def plain_number(x):
    if isinstance(x, complex):
        return {"c": [plain_number(x.real), plain_number(x.imag)]}
    if isinstance(x, float) and math.isnan(x):
        return {"nan": True}
    if isinstance(x, float) and math.isinf(x):
        return {"inf": 1 if x > 0 else -1}
    return x


def numbers(t):
    """All numbers of a dense tensor, row-major."""
    t = t.detach()
    if t.dtype.is_floating_point and t.dtype != torch.float64:
        t = t.to(torch.float64)
    return [plain_number(x) for x in t.reshape(-1).cpu().tolist()]


def own_part(t):
    """The dense tensor behind a DTensor or a waiting result."""
    if isinstance(t, DTensor):
        t = t._local_tensor
    return getattr(t, "elem", t)


def user_frame(frame):
    """The innermost frame that is the user's, or None."""
    f = frame
    while f is not None:
        name = f.f_code.co_filename
        if not (name.startswith((TORCH_DIR, "<")) or name == OWN_FILE
                or name.startswith(PYTHON_DIR) and "-packages" not in name):
            return f
        f = f.f_back
    return None


def line_of(frame):
    return frame and \
        f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def user_line(frame):
    """file:line of the innermost frame that is the user's."""
    return line_of(user_frame(frame))


def names_in(frame):
    """Pairs of a name and what it stands for: locals, then fields of self."""
    names = frame.f_locals
    yield from names.items()
    own = names.get("self")
    for fields in (getattr(own, "__dict__", {}),) + tuple(
            getattr(own, "__dict__", {}).get(k) or {}
            for k in ("_parameters", "_buffers")):
        for name, value in fields.items():
            yield "self." + name, value


# ---- the recorder ---------------------------------------------------------

class Recorder(TorchDispatchMode):
    """Listens to every operator; a row for each that stands at the top."""

    def __init__(self, limit=4096, keep=20000):
        super().__init__()
        self.limit, self.keep = limit, keep
        self.rows, self.leaves, self.meshes = [], [], []
        self.mesh_at, self.groups = {}, {}
        self.seen = {}          # what a tensor's memory looks like -> id
        self.storages = {}      # address of a storage -> weak reference
        self.next_id = 0
        self.row = None         # the open row
        self.armed = False      # the next DTensor call goes to DTensor
        self.quiet = 0          # inside sharding propagation
        self.handled = False    # an operator on its way to the modes below
        self.redist = None      # index of the open redistribution
        self.modules, self.names = [], weakref.WeakKeyDictionary()
        self.nodes, self.last_seq = {}, -1
        self.made_at = {}       # id -> line
        self.variables = {}     # id -> the program's name of it
        self.raised, self.calls, self.dropped = None, [], 0
        self.fake = dist.is_initialized() and dist.get_backend() == "fake"
        self.world = 1, rank()

    # -- meshes and groups --

    def mesh_index(self, mesh):
        key = id(mesh)
        if key in self.mesh_at and self.mesh_at[key][0] is mesh:
            return self.mesh_at[key][1]
        facts = {"shape": list(mesh.shape), "device": mesh.device_type,
                 "names": list(mesh.mesh_dim_names)
                 if mesh.mesh_dim_names else None,
                 "ranks": mesh.mesh.tolist()}
        for i, old in enumerate(self.meshes):
            if all(old[k] == facts[k] for k in facts):
                self.mesh_at[key] = (mesh, i)
                return i
        facts["at"] = user_line(sys._getframe())
        with contextlib.suppress(Exception):
            root = mesh._get_root_mesh()
            if root is not mesh:
                facts["root"] = self.mesh_index(root)
        self.meshes.append(facts)
        self.mesh_at[key] = (mesh, len(self.meshes) - 1)
        with contextlib.suppress(Exception):
            for d, name in enumerate(facts["names"] or []):
                group = mesh.get_group(d)
                self.groups.setdefault(group.group_name, [name])
        return len(self.meshes) - 1

    def group_of(self, args):
        for a in args:
            name = a if isinstance(a, str) else None
            if isinstance(a, torch.ScriptObject):
                with contextlib.suppress(Exception):
                    name = dist.ProcessGroup.unbox(a).group_name
            if name in self.groups:
                return self.groups[name]
            if name is None:
                continue
            with contextlib.suppress(Exception):
                from torch.distributed.distributed_c10d import (
                    _resolve_process_group)
                group = _resolve_process_group(name)
                return {"ranks": dist.get_process_group_ranks(group)}
        return []

    # -- tensors --

    def memory(self, t):
        """What tells a tensor from others, or None."""
        own = own_part(t)
        try:
            storage = own.untyped_storage()
        except Exception:
            return None
        at = storage._cdata
        known = self.storages.get(at)
        if known is None or known() is not storage:
            self.storages[at] = weakref.ref(storage)
            self.forget(at)
        key = (own.storage_offset(), tuple(own.shape), own.stride(),
               own.dtype)
        if isinstance(t, DTensor):
            key += (tuple(t._spec.placements), tuple(t.shape))
        return at, key

    def forget(self, at):
        self.seen[at] = {}

    def make_id(self, t, line):
        self.next_id += 1
        where = self.memory(t)
        if where is not None:
            self.seen.setdefault(where[0], {})[where[1]] = self.next_id
        self.made_at[self.next_id] = line
        return self.next_id

    def find_id(self, t, line):
        """A tensor's number; a leaf where no row gave it."""
        where = self.memory(t)
        got = where and self.seen.get(where[0], {}).get(where[1])
        if got:
            return got
        new = self.make_id(t, line)
        leaf = dict(self.spec(t), id=new)
        own = own_part(t)
        if isinstance(t, DTensor):
            leaf["local"] = list(own.shape)
        self.quiet += 1
        try:
            if not self.fake and own.numel() <= self.limit \
                    and own.device.type != "meta":
                leaf["data"] = numbers(own)
            elif own.numel() <= SMALL and own.device.type != "meta" and \
                    not own.dtype.is_floating_point:
                leaf["data"] = numbers(own)
        except Exception:
            pass
        finally:
            self.quiet -= 1
        if t.requires_grad:
            leaf["grad"] = True
        if line:
            leaf["at"] = line
        self.leaves.append(leaf)
        return new

    def spec(self, t):
        dtype = NAMES.get(t.dtype, str(t.dtype))
        shape = list(t.shape)
        if not isinstance(t, DTensor):
            out = {"t": dtype, "shape": shape}
            stride = list(t.stride()) if t.layout == torch.strided else []
        else:
            s = t._spec
            out = {"dt": dtype, "shape": shape,
                   "pl": [str(p) for p in s.placements]}
            stride = list(s.tensor_meta.stride)
            index = self.mesh_index(s.mesh)
            if index > 0:
                out["m"] = index
                if self.meshes[index]["names"] != self.meshes[0]["names"]:
                    out["mesh"] = self.meshes[index]["names"] or []
        if stride and not is_dense_order(shape, stride):
            out["stride"] = stride
        if t.device.type not in ("cpu", "cuda"):
            out["device"] = t.device.type
        return out

    def value(self, v, line, new=False):
        """JSON of an argument or a result."""
        if isinstance(v, torch.Tensor):
            out = self.spec(v)
            out["id"] = self.make_id(v, line) if new else \
                self.find_id(v, line)
            return out
        if isinstance(v, (list, tuple)):
            return [self.value(x, line, new) for x in v]
        if isinstance(v, dict):
            return {str(k): self.value(x, line, new) for k, x in v.items()}
        if v is None or isinstance(v, (bool, int, str)):
            return v
        if isinstance(v, (float, complex)):
            return plain_number(v)
        for kind in ("dtype", "device", "layout", "memory_format"):
            if isinstance(v, getattr(torch, kind)):
                text = str(v).replace("torch.", "")
                return {kind: NAMES.get(v, text) if kind == "dtype"
                        else text}
        return {"obj": type(v).__name__}

    # -- rows --

    def open_row(self, op, args, kw, plain=False):
        frame = user_frame(sys._getframe(2))
        line = line_of(frame)
        row = {"op": op, "in": self.value(list(args), line)}
        self.find_names(frame, args, row["in"])
        if kw:
            row["kw"] = self.value(kw, line)
        row.update({k: v for k, v in (
            ("plain", plain), ("at", line),
            ("inference", torch.is_inference_mode_enabled())) if v})
        if self.modules:
            row["module"] = self.modules[-1]
        node = torch._C._current_autograd_node()
        if node is not None:
            row["node"] = type(node).__name__ if not hasattr(node, "name") \
                else node.name()
            made = self.nodes.get(node._sequence_nr())
            if made:
                row["made"], row["module"] = made
        else:
            seq = torch.autograd._get_sequence_nr() - 1
            if seq > self.last_seq:
                self.last_seq = seq
                self.nodes[seq] = (line, self.modules[-1]
                                   if self.modules else "")
        self.row = row
        return row

    def find_names(self, frame, args, seen):
        """What the program calls the tensors among the arguments."""
        wanted = {id(a): s["id"] for a, s in zip(args, seen)
                  if isinstance(a, torch.Tensor)
                  and s["id"] not in self.variables}
        if not wanted or frame is None:
            return
        with contextlib.suppress(Exception):
            for name, value in names_in(frame):
                if id(value) in wanted and isinstance(name, str):
                    self.variables.setdefault(wanted[id(value)], name)

    def close_row(self, row, out, opaque=False, unwritten=False):
        """The results; of memory that nobody wrote, without numbers."""
        line = row.get("at")
        inputs = {}
        self.row = None
        self.collect_ids(row["in"], inputs)
        self.collect_ids(row.get("kw"), inputs)
        if opaque:
            self.drop(out)
            row["out"] = self.specs(out)
        else:
            row["out"] = self.results(out, line, inputs, not unwritten)
        self.add(row)

    def add(self, row):
        if len(self.rows) < self.keep:
            row["n"] = len(self.rows)
            self.rows.append(row)
        else:
            self.dropped += 1

    def collect_ids(self, v, out):
        if isinstance(v, dict):
            if "id" in v:
                out[v["id"]] = True
            else:
                for x in v.values():
                    self.collect_ids(x, out)
        elif isinstance(v, list):
            for x in v:
                self.collect_ids(x, out)

    def specs(self, v):
        if isinstance(v, torch.Tensor):
            return self.spec(v)
        if isinstance(v, (list, tuple)):
            return [self.specs(x) for x in v]
        return self.value(v, None)

    def drop(self, v):
        """The memory of these tensors has numbers that no row explains."""
        if isinstance(v, torch.Tensor):
            where = self.memory(v)
            if where is not None:
                self.forget(where[0])
        elif isinstance(v, (list, tuple)):
            for x in v:
                self.drop(x)

    def results(self, v, line, inputs, written=True):
        """JSON of results; one that is an argument again keeps its id."""
        if isinstance(v, (list, tuple)):
            return [self.results(x, line, inputs, written) for x in v]
        if not isinstance(v, torch.Tensor):
            return self.value(v, line)
        where = self.memory(v)
        known = where and self.seen.get(where[0], {}).get(where[1])
        out = self.spec(v)
        out["id"] = known if known in inputs else self.make_id(v, line)
        own = own_part(v)
        if written and not self.fake and own.device.type == "cpu" \
                and own.numel() <= SMALL and type(own) is torch.Tensor:
            self.quiet += 1
            with contextlib.suppress(Exception):
                out["val"] = numbers(own)
            self.quiet -= 1
        return out

    def fail_row(self, row, e):
        self.row = None
        row["error"] = {"class": type(e).__name__, "text": str(e)[:4000]}
        self.add(row)

    def collective(self, row, func, args, out):
        ns, base = func.namespace, func.overloadpacket.__name__
        if base in WAITS:
            return
        ins, outs = [], []
        flat(args, ins)
        flat(out, outs)
        if ns == "c10d":
            ins, outs = c10d_sides(base, args)
        c = {"op": base, "group": self.group_of(args),
             "bytes_in": sum(bytes_of(t) for t in ins),
             "bytes_out": sum(bytes_of(t) for t in outs)}
        reduce = next((a for a in args if isinstance(a, str) and a in
                       ("sum", "avg", "min", "max", "product")), None)
        if reduce and "reduce" in base:
            c["reduce"] = reduce
        if ns == "c10d":
            c["ns"] = "c10d"
        if self.redist is not None:
            c["redist"] = self.redist
        row.setdefault("coll", []).append(c)

    # -- what PyTorch calls --

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.handled:        # seen above, by the same recorder
            return func(*args, **kwargs)
        has_dt = any(issubclass(t, DTensor) for t in types)
        if has_dt and self.armed:
            self.armed = False
            return NotImplemented
        if self.quiet or any(t.__name__ == "FakeTensor" for t in types):
            return self.run(func, args, kwargs, has_dt)
        ns = func.namespace
        if self.row is not None:
            out = self.run(func, args, kwargs, has_dt)
            if ns in GROUP_OPS:
                self.collective(self.row, func, args, out)
            self.row.setdefault("local", []).append(str(func))
            return out
        if ns in ("prim", "profiler", "debug_mode_ops"):
            return self.run(func, args, kwargs, has_dt)
        row = self.open_row(str(func), args, kwargs, plain=not has_dt)
        if has_dt and ns not in ("aten",) + GROUP_OPS:
            row["schema"] = str(func._schema)
        try:
            out = self.run(func, args, kwargs, has_dt)
        except BaseException as e:
            self.armed = False
            self.fail_row(row, e)
            raise
        opaque = ns != "aten" or "empty" in str(func) or \
            torch.Tag.nondeterministic_seeded in func.tags
        if ns in GROUP_OPS:
            self.collective(row, func, args, out)
            self.drop(args)
        self.close_row(row, out, opaque and not has_dt,
                       unwritten="empty" in str(func))
        if opaque and has_dt:
            self.drop(out)
        return out

    def run(self, func, args, kwargs, has_dt):
        if not has_dt:
            self.handled = True
            try:
                return func(*args, **kwargs)
            finally:
                self.handled = False
        self.armed = True
        try:
            with self:
                return func(*args, **kwargs)
        finally:
            self.armed = False

    # -- calls of the DTensor library --

    def call(self, op, args, facts, fn, result=lambda out: out):
        """A DTensor call as a row of its own, unless one is open."""
        if self.row is not None or self.quiet:
            return fn()
        row = self.open_row("dtensor." + op, args, {})
        row.update(facts)
        try:
            out = fn()
        except BaseException as e:
            self.fail_row(row, e)
            raise
        self.close_row(row, result(out))
        return out

    def mesh_call(self, what, args, fn):
        """A call that makes a mesh: only what fails is of interest."""
        try:
            return fn()
        except BaseException as e:
            self.calls.append({"call": what, "args": args,
                               "at": user_line(sys._getframe()),
                               "error": {"class": type(e).__name__,
                                         "text": str(e)[:4000]}})
            raise

    # -- modules --

    def enter_module(self, module, *_):
        if module not in self.names:
            if not self.modules:
                for name, m in module.named_modules():
                    self.names[m] = name
            else:
                self.names[module] = type(module).__name__
        self.modules.append(self.names[module])

    def leave_module(self, *_):
        if self.modules:
            self.modules.pop()

    def note_world(self):
        """The ranks there are, while there is a group: it may be gone when the
        log is written."""
        if dist.is_available() and dist.is_initialized():
            self.world = dist.get_world_size(), dist.get_rank()

    def log(self):
        self.note_world()
        return {"dtrepl_record": VERSION, "torch": torch.__version__,
                "world": self.world[0], "rank": self.world[1],
                "fake": self.fake,
                "argv": [os.path.basename(sys.argv[0])] + sys.argv[1:],
                "meshes": self.meshes, "leaves": self.leaves,
                "names": list(self.variables.items()),
                "rows": self.rows, "dropped": self.dropped,
                "calls": self.calls, "raised": self.raised}


def flat(v, out):
    if isinstance(v, torch.Tensor):
        out.append(v)
    elif isinstance(v, (list, tuple)):
        for x in v:
            flat(x, out)


def bytes_of(t):
    t = own_part(t)
    return t.numel() * t.element_size()


def c10d_sides(base, args):
    """Tensors sent and received by a c10d operator."""
    sides = []
    for a in args:
        if isinstance(a, (torch.Tensor, list, tuple)):
            found = []
            flat(a, found)
            if found:
                sides.append(found)
    if len(sides) < 2:
        only = sides[0] if sides else []
        return only, only
    return sides[1], sides[0]       # results stand first


def rank():
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank()
    return int(os.environ.get("RANK", 0))


# ---- listening to the DTensor library -------------------------------------

class Patches:
    """Names replaced while a recorder listens, and put back after."""

    def __init__(self):
        self.old = []

    def attr(self, owner, name, new):
        self.old.append((owner, name, owner.__dict__[name]
                         if isinstance(owner, type)
                         else getattr(owner, name)))
        setattr(owner, name, new)

    def everywhere(self, name, old, new):
        """In every module that has the function under its name."""
        for module in list(sys.modules.values()):
            if getattr(module, "__dict__", {}).get(name) is old:
                self.attr(module, name, new)

    def undo(self):
        for owner, name, old in reversed(self.old):
            setattr(owner, name, old)


def stay_on_top(rec, patches):
    """A mode that the program enters, as CommDebugMode, lets DTensor take its
    operators apart before a mode below sees them: the recorder goes above."""
    enter, leave = TorchDispatchMode.__enter__, TorchDispatchMode.__exit__

    def theirs(mode):
        return not isinstance(mode, Recorder) and not rec.quiet \
            and not getattr(mode, "is_infra_mode", bool)() and rec.row is None

    def entered(mode):
        got = enter(mode)
        mode.__dict__["_below_recorder"] = theirs(mode)
        if mode._below_recorder:
            enter(rec)
        return got

    def left(mode, *why):
        if mode.__dict__.pop("_below_recorder", False):
            leave(rec, *why)
        return leave(mode, *why)
    patches.attr(TorchDispatchMode, "__enter__", entered)
    patches.attr(TorchDispatchMode, "__exit__", left)


def listen(rec, patches):
    from torch.distributed.tensor import _api, _redistribute, _sharding_prop
    from torch.distributed.tensor import _dispatch

    # The ranks there were, before the group goes.
    end = dist.destroy_process_group

    def ended(*args, **kw):
        rec.note_world()
        return end(*args, **kw)
    patches.everywhere("destroy_process_group", end, ended)

    stay_on_top(rec, patches)

    # What propagation computes is none of the program's operators.
    prop = _sharding_prop.ShardingPropagator

    def hushed(old):
        def f(*args, **kw):
            rec.quiet += 1
            try:
                return old(*args, **kw)
            finally:
                rec.quiet -= 1
        return f
    for name in ("propagate_op_sharding_non_cached",
                 "_propagate_tensor_meta_non_cached"):
        if name in prop.__dict__:
            patches.attr(prop, name, hushed(prop.__dict__[name]))

    # Redistributions.
    move = _redistribute.redistribute_local_tensor

    def moved(local, src, dst, *args, **kw):
        if rec.row is None or rec.quiet:
            return move(local, src, dst, *args, **kw)
        rec.mesh_index(src.mesh)
        explicit = rec.row["op"].startswith("dtensor.")
        r = {"src": [str(p) for p in src.placements],
             "dst": [str(p) for p in dst.placements],
             "implicit": not explicit}
        if not explicit and rec.arguments:
            r["arg"] = rec.arguments.pop(0)
        list_ = rec.row.setdefault("redist", [])
        list_.append(r)
        before, rec.redist = rec.redist, len(list_) - 1
        try:
            return move(local, src, dst, *args, **kw)
        finally:
            rec.redist = before
    patches.everywhere("redistribute_local_tensor", move, moved)
    rec.arguments = []

    # Which arguments of an operator will move, in order.
    dispatcher = _dispatch.OpDispatcher
    inner = dispatcher.__dict__["redistribute_local_args"]
    plain = inner.__func__ if isinstance(inner, staticmethod) else inner

    def arguments(op_info, suggested, *args, **kw):
        with contextlib.suppress(Exception):
            rec.arguments = moving(op_info, suggested)
        return plain(op_info, suggested, *args, **kw)
    patches.attr(dispatcher, "redistribute_local_args",
                 staticmethod(arguments))

    def forward(cls, name, op, see):
        old = cls.__dict__[name].__func__

        def f(ctx, *args):
            shown, facts = see(ctx, args)
            return rec.call(op, shown, facts, lambda: old(ctx, *args),
                            lambda out: out[0] if isinstance(out, tuple)
                            else out)
        patches.attr(cls, name, staticmethod(f))

    def pl(list_):
        return [str(p) for p in list_] if list_ is not None else None

    def mesh_of(args):
        return next((rec.mesh_index(a) for a in args
                     if isinstance(a, DeviceMesh)), 0)

    forward(_redistribute.Redistribute, "forward", "redistribute",
            lambda ctx, a: ([a[0]], {"mesh": mesh_of(a), "to": pl(a[2])}))
    forward(_redistribute.Redistribute, "backward", "redistribute_backward",
            lambda ctx, a: ([a[0]], {}))
    forward(_api._ToTorchTensor, "forward", "to_local",
            lambda ctx, a: ([a[0]], {}))
    forward(_api._ToTorchTensor, "backward", "to_local_backward",
            lambda ctx, a: ([a[0]], {}))
    forward(_api._FromTorchTensor, "forward", "from_local",
            lambda ctx, a: ([a[0]], {"mesh": mesh_of(a), "to": pl(a[2]),
                                     "check": bool(a[3])}))
    forward(_api._FromTorchTensor, "backward", "from_local_backward",
            lambda ctx, a: ([a[0]], {}))

    old = _api.distribute_tensor

    def distribute_tensor(tensor, device_mesh=None, placements=None, **kw):
        def fn():
            return old(tensor, device_mesh, placements, **kw)
        if device_mesh is None or placements is None \
                or isinstance(tensor, DTensor):
            return fn()
        notes = {"mesh": rec.mesh_index(device_mesh), "to": pl(placements)}
        if kw.get("src_data_rank", 0) != 0:
            # whose numbers count; -1: each rank's own, nothing is sent
            src = kw["src_data_rank"]
            notes["src"] = -1 if src is None else src
        return rec.call("distribute_tensor", [tensor], notes, fn)
    patches.everywhere("distribute_tensor", old, distribute_tensor)

    # Tensors from nothing on a mesh; what is drawn is a leaf.
    made = _api._dtensor_init_helper
    filled = {torch.full: "full", torch.zeros: "zeros", torch.ones: "ones"}

    def init_helper(init_op, size, device_mesh=None, placements=None, **kw):
        def fn():
            return made(init_op, size, device_mesh, placements, **kw)
        if init_op not in filled or device_mesh is None:
            return fn()
        facts = {"mesh": rec.mesh_index(device_mesh),
                 "to": pl(placements or [Replicate()] * device_mesh.ndim),
                 "size": list(size)}
        if init_op is torch.full:
            facts["fill"] = plain_number(kw.get("fill_value", 0))
        return rec.call(filled[init_op], [], facts, fn)
    patches.attr(_api, "_dtensor_init_helper", init_helper)

    # Ranks that compare their shapes are none of the program's collectives.
    patches.attr(_api, "check_tensor_meta", hushed(_api.check_tensor_meta))

    # A mesh computes with small tensors of its own.
    patches.attr(DeviceMesh, "__init__", hushed(DeviceMesh.__init__))
    for name in ("_flatten", "_unflatten", "_get_slice_mesh_layout",
                 "_create_sub_mesh", "from_group"):
        old_method = DeviceMesh.__dict__.get(name)
        if callable(old_method) and not isinstance(old_method, staticmethod):
            patches.attr(DeviceMesh, name, hushed(old_method))
    item = hushed(DeviceMesh.__getitem__)
    patches.attr(DeviceMesh, "__getitem__", lambda self, names: rec.mesh_call(
        "slice", {"mesh": rec.mesh_index(self), "names": names},
        lambda: item(self, names)))


def moving(op_info, suggested):
    """Flat argument indices whose placements change."""
    from torch.utils import _pytree as pytree
    want = suggested.args_schema if op_info.args_tree_spec is None \
        else pytree.tree_leaves(suggested.args_schema)
    return [i for i, (a, b) in enumerate(zip(op_info.flat_args_schema, want))
            if hasattr(a, "placements") and a != b]


# ---- the repro in Lua -----------------------------------------------------

LUA_DTYPE = {"f16": "float16", "bf16": "bfloat16", "f32": "float32",
             "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32",
             "i64": "int64", "u8": "uint8", "bool": "bool",
             "c64": "complex64", "c128": "complex128",
             "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2"}
# Names that the repro uses itself, besides those of meshes.
RESERVED = {"dt", "t", "no_grad", "math", "print", "tostring", "_ENV"}
KEYWORDS = set("and break do else elseif end false for function goto if in "
               "local nil not or repeat return then true until while".split())


def quoted(text):
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r") + '"'


def lua_list(items):
    return "{" + ", ".join(items) + "}"


def lua_number(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, dict):
        if "inf" in x:
            return "math.huge" if x["inf"] > 0 else "-math.huge"
        if "nan" in x:
            return "0/0"
        return "dt.complex(%s, %s)" % tuple(map(lua_number, x["c"]))
    return repr(x)


class Repro:
    """A program in Lua from a log: of one failed call, or of all of it."""

    def __init__(self, log, note):
        self.log, self.out, self.note = log, [], note
        self.leaves = {leaf["id"]: leaf for leaf in log["leaves"]}
        self.named, self.meshes = {}, {}
        self.variables, self.taken = dict(log.get("names", ())), set()
        self.specs = {}
        for row in log["rows"]:
            for part in ("in", "kw", "out"):
                self.index(row.get(part), row)
        self.exact = True

    def index(self, v, row):
        if isinstance(v, dict):
            if "id" in v:
                self.specs.setdefault(v["id"], dict(v, at=row.get("at"),
                                                    by=row["op"]))
            else:
                for x in v.values():
                    self.index(x, row)
        elif isinstance(v, list):
            for x in v:
                self.index(x, row)

    def put(self, text, at=None, by=None):
        more = "  ".join(x for x in (at, by) if x)
        self.out.append(text + (f"   -- {more}" if more else ""))

    def mesh(self, i):
        if i in self.meshes:
            return self.meshes[i]
        m = self.log["meshes"][i]
        root = self.root_of(m)
        name = "mesh" if i == 0 else f"mesh{i + 1}"
        self.meshes[i] = name
        if root is not None:            # each rank has its own part of it
            self.put("local %s = %s[%s]" % (name, self.mesh(root), lua_list(
                map(quoted, m["names"]))), m.get("at"))
            return name
        kw = ""
        if m["names"]:
            kw = ", {mesh_dim_names = %s}" % lua_list(map(quoted, m["names"]))
        flat_ranks = torch.tensor(m["ranks"]).flatten().tolist()
        # Meshes are of the processor here: the device decides no placement.
        if flat_ranks == list(range(self.log["world"])):
            self.put('local %s = dt.init_device_mesh("cpu", %s%s)' % (
                name, lua_list(map(str, m["shape"])), kw), m.get("at"))
        else:
            self.put('local %s = dt.DeviceMesh("cpu", %s%s)' % (
                name, lua_list_deep(m["ranks"]), kw), m.get("at"))
        return name

    def root_of(self, m):
        """The mesh that m is a slice of by its names, or None."""
        root = m.get("root")
        if root is None or not m["names"]:
            return None
        names = self.log["meshes"][root]["names"] or []
        return root if all(n in names for n in m["names"]) else None

    def tensor(self, s, data, shape):
        """An expression for a plain tensor of this dtype."""
        dtype = "dt." + LUA_DTYPE.get(s.get("dt") or s.get("t"), "float32")
        kw = "" if dtype == "dt.float32" else "{dtype = %s}" % dtype
        more = ", " + kw if kw else ""
        size = lua_list(map(str, shape))
        if data is not None and len(data) <= 4096:
            if shape == []:
                return "dt.tensor(%s%s)" % (lua_number(data[0]), more)
            if len(data) == 0 or len(set(map(str, data))) == 1:
                return "dt.full(%s, %s%s)" % (
                    size, lua_number(data[0] if data else 0),
                    more or ", {dtype = dt.float32}")
            return "dt.tensor(%s%s):view(%s)" % (
                lua_list(map(lua_number, data)), more, size)
        self.exact = False
        if dtype in ("dt.float32", "dt.float64", "dt.bfloat16", "dt.float16"):
            text = "dt.testing.fill(%s, 7, 3, 8)" % size
            return text if not kw else text + ":to(%s)" % dtype
        return "dt.zeros(%s%s)" % (size, more)

    def make(self, ident):
        """Write how a tensor that no written row gives is made."""
        if ident in self.named:
            return self.named[ident]
        s = self.leaves.get(ident) or self.specs[ident]
        data = s.get("data")
        name = self.name(ident)
        at = s.get("at")
        if "dt" not in s:
            text = self.tensor(s, data, s["shape"])
        else:
            mesh = self.mesh(s.get("m", 0))
            pl = quoted(" ".join(s["pl"]))
            simple = all(p == "R" or p.startswith("S(") for p in s["pl"])
            if all(p == "R" for p in s["pl"]) and data is not None or \
                    simple and (data is None or self.log["world"] > 1):
                if not all(p == "R" for p in s["pl"]):
                    data = None
                text = "dt.distribute_tensor(%s, %s, %s)" % (
                    self.tensor(s, data, s["shape"]), mesh, pl)
            elif self.log["world"] == 1 and data is not None:
                text = "dt.DTensor.from_local(%s, %s, %s)" % (
                    self.tensor(s, data, s.get("local", s["shape"])),
                    mesh, pl)
            else:
                self.exact = False
                local = s.get("local") or self.local_shape(s)
                text = ("dt.DTensor.from_local(%s, %s, %s, {run_check = "
                        "false, shape = %s, stride = %s})" % (
                            self.tensor(s, None, local), mesh, pl,
                            lua_list(map(str, s["shape"])),
                            lua_list(map(str, s.get("stride") or
                                         contiguous(s["shape"])))))
        by = s.get("by") if at else None
        if "stride" in s and "dt" not in s:
            text += ":as_strided(%s, %s)" % (
                lua_list(map(str, s["shape"])),
                lua_list(map(str, s["stride"]))) if data is None else ""
        self.put(f"{name} = {text}" if name.startswith("t[") else
                 f"local {name} = {text}", at, by)
        return name

    def local_shape(self, s):
        shape, mesh = list(s["shape"]), self.log["meshes"][s.get("m", 0)]
        for p, n in zip(s["pl"], mesh["shape"]):
            if p.startswith("S("):
                d = int(p[2:-1])
                shape[d] = -(-shape[d] // n)
        return shape

    def name(self, ident):
        """The program's own name where it has one: h, self_scale, h_2."""
        if len(self.named) > 150:        # Lua has 200 locals
            self.named[ident] = f"t[{ident}]"
            return self.named[ident]
        base = self.variables.get(ident, "").replace(".", "_")
        if not base.isascii() or not base.isidentifier() \
                or base in KEYWORDS or base in RESERVED \
                or base.startswith("mesh"):
            base = f"t{ident}"
        name, count = base, 1
        while name in self.taken:       # a_2 may be a name of the program's
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        self.named[ident] = name
        return name

    def value(self, v):
        if isinstance(v, list):
            return lua_list(self.value(x) for x in v)
        if isinstance(v, dict):
            if "id" in v:
                return self.make(v["id"])
            if "dtype" in v:
                return "dt." + LUA_DTYPE.get(v["dtype"], v["dtype"])
            for kind in ("device", "layout", "memory_format"):
                if kind in v:
                    return quoted(v[kind].removesuffix("_format"))
            if "obj" in v:
                return "dt.None"
            return lua_number(v)
        if v is None:
            return "dt.None"
        if isinstance(v, str):
            return quoted(v)
        return lua_number(v)

    def call(self, row):
        text = self.plain_call(row)
        # in inference mode composite operators are not taken apart
        return f"dt.inference_mode(function () return {text} end)" \
            if row.get("inference") else text

    def plain_call(self, row):
        op = row["op"]
        args = [self.value(a) for a in row["in"]]
        if op.startswith("dtensor."):
            return self.dtensor_call(op[8:], row, args)
        kw = row.get("kw") or {}
        kw = {k: v for k, v in kw.items() if k not in
              ("device", "layout", "pin_memory") and v is not None}
        while args and args[-1] == "dt.None" and not kw:
            args.pop()
        if kw:
            args.append("{" + ", ".join(
                "%s = %s" % (k if k not in KEYWORDS else '["%s"]' % k,
                             self.value(v)) for k, v in kw.items()) + "}")
        ns, base, overload = op.split(".")
        path = "".join("." + p if p not in KEYWORDS else '["%s"]' % p
                       for p in (ns, base, overload))
        return f"dt.ops{path}({', '.join(args)})"

    def dtensor_call(self, what, row, args):
        t = args[0] if args else None
        out = row.get("out") or {}
        if what in ("to_local", "from_local_backward"):
            for moved in row.get("redist") or ():       # a gradient, as its input was
                t += f":redistribute({t}.device_mesh, {quoted(' '.join(moved['dst']))})"
            return f"{t}:to_local()"
        to = row.get("to") or out.get("pl", [])
        mesh = self.mesh(row.get("mesh", out.get("m", 0)))
        pl = quoted(" ".join(to))
        if what in ("full", "zeros", "ones"):
            fill = [lua_number(row["fill"])] if what == "full" else []
            return "dt.%s(%s)" % (what, ", ".join(
                [lua_list(map(str, row["size"]))] + fill +
                [f"{{device_mesh = {mesh}, placements = {pl}, "
                 f"dtype = dt.{LUA_DTYPE[out['dt']]}}}"]))
        if what.startswith("redistribute"):
            return f"{t}:redistribute({mesh}, {pl})"
        if what == "distribute_tensor":
            src = row.get("src", 0)
            more = "" if src == 0 else ", {src_data_rank = %s}" % (
                "dt.None" if src < 0 else src)
            return f"dt.distribute_tensor({t}, {mesh}, {pl}{more})"
        shape = out.get("shape")
        size = ", shape = %s, stride = %s" % (
            lua_list(map(str, shape)),
            lua_list(map(str, out.get("stride") or contiguous(shape)))) \
            if shape is not None else ""
        check = "true" if row.get("check") else "false"
        return (f"dt.DTensor.from_local({t}, {mesh}, {pl}, "
                f"{{run_check = {check}{size}}})")

    def head(self):
        log = self.log
        self.put(f"-- dtrepl: ranks={log['world']}")
        self.put(f"-- Recorded from {' '.join(log['argv'])} with PyTorch "
                 f"{log['torch'].split('+')[0]}, {self.note}.")

    def failed(self):
        """The failed call alone, its arguments made afresh."""
        row = next((r for r in reversed(self.log["rows"])
                    if "error" in r), None)
        raised = self.log["raised"]
        if not row or not raised or row["error"]["text"] not in \
                raised["text"][:4100]:
            return None
        self.head()
        self.put("local no_grad <close> = dt.no_grad()")
        if "schema" in row:
            # It fails before it computes.
            self.put("dt.library.define(%s, {impl = function (...) return ... "
                     "end})" % quoted(row["schema"]))
        call = self.call(row)
        e = row["error"]
        where = [x for x in (row.get("module"), row.get("node")) if x]
        self.put("-- the call that failed" + "".join(", " + x for x in where))
        self.put(call, row.get("at"))
        self.put(f"-- PyTorch: {e['class']}: " +
                 e["text"].replace("\n", "\n-- "))
        return "\n".join(self.out) + "\n"

    def mesh_failed(self):
        c = self.log["calls"][-1] if self.log["calls"] else None
        if not c or not self.log["raised"]:
            return None
        self.head()
        names = c["args"]["names"]
        key = quoted(names) if isinstance(names, str) else \
            lua_list(map(quoted, names))
        mesh = self.mesh(c["args"]["mesh"])
        self.put(f"print({mesh}[{key}])", c.get("at"))
        self.put(f"-- PyTorch: {c['error']['class']}: "
                 f"{c['error']['text']}".replace("\n", "\n-- "))
        return "\n".join(self.out) + "\n"

    def whole(self):
        """Every recorded call in order, with the numbers it gave."""
        rows = self.log["rows"]
        self.head()
        if len(rows) > LONG_REPRO or self.log["dropped"]:
            self.put(f"-- {len(rows)} calls are too many for a repro: "
                     f"dtrepl replay {self.note.split()[-1]}")
            rows = rows[:LONG_REPRO]
        self.put("local no_grad <close> = dt.no_grad()")
        self.put("local t = {}")
        used = self.used_later(rows)
        for i, row in enumerate(rows):
            if not self.wanted(row, used, i):
                continue
            self.statement(row)
        if self.log["raised"]:
            r = self.log["raised"]
            self.put(f"-- then, outside of operators, {r['class']}: "
                     + r["text"].replace("\n", "\n-- "), r.get("at"))
        return "\n".join(self.out) + "\n"

    def used_later(self, rows):
        """Ids that a call with a DTensor needs, directly or not."""
        used = set()
        for row in reversed(rows):
            ins, outs = {}, {}
            Recorder.collect_ids(_IDS, row["in"], ins)
            Recorder.collect_ids(_IDS, row.get("kw"), ins)
            Recorder.collect_ids(_IDS, row.get("out"), outs)
            if not row.get("plain") or used & (set(outs) | set(ins)
                                               if "_." in row["op"]
                                               else set(outs)):
                used |= set(ins)
        return used

    def wanted(self, row, used, _):
        if not row["op"].startswith(("aten.", "dtensor.")):
            return False
        if "_local_scalar_dense" in row["op"]:
            return False
        if not row.get("plain"):
            return True
        outs = {}
        Recorder.collect_ids(_IDS, row.get("out"), outs)
        return bool(used & set(outs))

    def statement(self, row):
        call = self.call(row)
        at = row.get("at")
        out = row.get("out")
        if row.get("error"):
            self.put(f"pcall(function () return {call} end)", at,
                     row["error"]["class"])
            return
        outs = out if isinstance(out, list) else [out]
        names, new = [], False
        for o in outs:
            known = isinstance(o, dict) and o.get("id")
            new = new or bool(known) and known not in self.named
            names.append((self.named.get(known) or self.name(known))
                         if known else "_")
        if len(outs) > 1 or any(isinstance(o, list) for o in outs):
            flat_ = []
            self.flat_names(outs, flat_)
            lhs = ", ".join(flat_) or "_"
            if row["op"].startswith("aten._foreach") or \
                    self.returns_list(row["op"]):
                call = f"table.unpack({call})"
        else:
            lhs = names[0]
        if not new:
            self.put(call, at)
        elif "t[" in lhs:
            self.put(f"{lhs} = {call}", at)
        else:
            self.put(f"local {lhs} = {call}", at)
        self.check(row, out)

    @staticmethod
    def returns_list(op):
        ns, base, overload = op.split(".")
        try:
            f = getattr(getattr(getattr(torch.ops, ns), base), overload)
            r = f._schema.returns
            return len(r) == 1 and str(r[0].type).startswith("List[")
        except AttributeError:
            return False

    def flat_names(self, outs, flat_):
        for o in outs:
            if isinstance(o, list):
                self.flat_names(o, flat_)
            elif isinstance(o, dict) and "id" in o:
                flat_.append(self.named.get(o["id"]) or self.name(o["id"]))
            else:
                flat_.append("_")

    def check(self, row, out):
        """The number PyTorch had, where the inputs are the same."""
        if not isinstance(out, dict) or "val" not in out or \
                out["shape"] != [] or not self.exact:
            return
        x = out["val"][0]
        if isinstance(x, dict) or "dt" in out and \
                any(p != "R" for p in out["pl"]):
            return
        name = self.named[out["id"]]
        check = (f"dt.testing.assert_close("
                 f"{name + ':to_local()' if 'dt' in out else name}, "
                 f"dt.tensor({lua_number(x)}, {{dtype = {name}.dtype}}))")
        if "dt" not in out:             # rank 0's own number
            check = "if dt.rank() == 0 then " + check + " end"
        self.put(check)


_IDS = Recorder.__new__(Recorder)


def lua_list_deep(v):
    if isinstance(v, list):
        return lua_list(lua_list_deep(x) for x in v)
    return str(v)


def repro(log, note):
    return Repro(log, note).failed() or Repro(log, note).mesh_failed() or \
        Repro(log, note).whole()


# ---- using it -------------------------------------------------------------

class record:
    """with record("name"): records what runs inside, also a death there."""

    def __init__(self, name="dtrepl_record", numbers=4096, keep=20000):
        self.name, self.limit, self.keep = name, numbers, keep
        self.patches, self.hooks, self.open = Patches(), [], False

    def __enter__(self):
        self.rec = rec = Recorder(self.limit, self.keep)
        listen(rec, self.patches)
        module = torch.nn.modules.module
        self.hooks = [
            module.register_module_forward_pre_hook(rec.enter_module),
            module.register_module_forward_hook(rec.leave_module,
                                                always_call=True)]
        rec.__enter__()
        self.open = True
        return rec

    def __exit__(self, kind, e, trace):
        if not self.open:
            return False
        self.open = False
        rec = self.rec
        with contextlib.suppress(Exception):
            rec.__exit__(None, None, None)
        for hook in self.hooks:
            hook.remove()
        self.patches.undo()
        if e is not None and not (isinstance(e, SystemExit) and
                                  not e.code):
            last = trace
            at = None
            while last is not None:
                name = last.tb_frame.f_code.co_filename
                if not name.startswith((TORCH_DIR, "<")) and \
                        name != OWN_FILE:
                    at = f"{os.path.basename(name)}:{last.tb_lineno}"
                last = last.tb_next
            rec.raised = {"class": type(e).__name__, "text": str(e)[:4000],
                          "at": at}
        self.write()
        return False

    def write(self):
        log = self.rec.log()
        path = self.name + ".json" if log["rank"] == 0 else \
            f"{self.name}.rank{log['rank']}.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(log, f, separators=(",", ":"))
        if log["rank"] != 0:
            return
        with open(self.name + ".lua", "w", encoding="utf-8") as f:
            f.write(repro(log, f"the log is {os.path.basename(path)}"))
        ended = f", ended by {log['raised']['class']}" if log["raised"] \
            else ""
        print(f"dtrepl_record: {len(log['rows'])} calls{ended}; wrote "
              f"{path} and {self.name}.lua", file=sys.stderr)


def start_fake(n):
    """One process as rank 0 of n; the program's own start does nothing."""
    from torch.testing._internal.distributed.fake_pg import FakeStore
    for k, v in (("RANK", 0), ("LOCAL_RANK", 0), ("WORLD_SIZE", n),
                 ("LOCAL_WORLD_SIZE", n), ("MASTER_ADDR", "localhost"),
                 ("MASTER_PORT", 29500)):
        os.environ[k] = str(v)
    dist.init_process_group("fake", rank=0, world_size=n, store=FakeStore())
    dist.init_process_group = lambda *args, **kw: None
    torch.distributed.init_process_group = dist.init_process_group
    if not torch.cuda.is_available():
        from torch.distributed import device_mesh
        old = device_mesh.init_device_mesh

        def on_cpu(device_type, *args, **kw):
            return old("cpu", *args, **kw)
        Patches().everywhere("init_device_mesh", old, on_cpu)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
        usage="dtrepl_record.py [--out NAME] [--fake N] script.py ARGS...")
    parser.add_argument("--out", help="name of the files to write")
    parser.add_argument("--fake", type=int, metavar="N",
                        help="be rank 0 of a pretend world of N")
    parser.add_argument("--numbers", type=int, default=4096,
                        help="elements of a tensor that are kept at most")
    parser.add_argument("--calls", type=int, default=20000,
                        help="calls that are kept at most")
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    o = parser.parse_args()
    if o.fake:
        start_fake(o.fake)
    name = o.out or os.path.splitext(os.path.basename(o.script))[0]
    sys.argv = [o.script] + o.args
    sys.path.insert(0, os.path.dirname(os.path.abspath(o.script)))
    scope = record(name, o.numbers, o.calls)
    sys.modules.setdefault("dtrepl_record", sys.modules["__main__"])

    def at_end(*_):
        if scope.open:
            scope.__exit__(None, None, None)

    def on_signal(number, _):
        at_end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    atexit.register(at_end)
    signal.signal(signal.SIGTERM, on_signal)
    with scope:
        runpy.run_path(o.script, run_name="__main__")


if __name__ == "__main__":
    main()
