#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""capture_sent.py: what redistribution sends, forward and backward, on every
rank of a pretend world, for capture_pytorch.py, which calls this file.  It
does nothing when it is run by itself.
"""
import contextlib
import math

import torch
from torch.distributed.tensor import DTensor
from torch.distributed.tensor import _redistribute as redistribution
from torch.distributed.tensor import placement_types
from torch.distributed.tensor._utils import (
    compute_local_shape_and_global_offset)
from torch.utils._python_dispatch import TorchDispatchMode

import capture_more as more
import capture_tables as tables

base = None             # the module capture_pytorch, set by install()


class Sent(TorchDispatchMode):
    """Collectives in order, and DTensor's own paddings."""

    def __init__(self, mesh, flatten):
        super().__init__()
        self.seen, self.instead = [], None
        self.groups = {mesh.get_group(n).group_name: n
                       for n in mesh.mesh_dim_names}
        for names in flatten:
            name = "_".join(names)
            self.groups[mesh[name].get_group().group_name] = name

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        got = func(*args, **(kwargs or {}))
        if func.namespace == "_c10d_functional" and \
                not isinstance(args[-1], torch.Tensor):     # nor a wait
            self.add(func, args, got)
        return got

    def add(self, func, args, got):
        one, group = args[0], getattr(args[-1], "group_name", args[-1])
        entry = {"op": func._schema.name.split("::")[1]}
        if "reduce" in entry["op"]:
            entry["reduce"] = args[1]
        entry.update(group=[self.groups[group]], bytes_in=one.nbytes,
                     bytes_out=got.nbytes, shape_in=list(one.shape),
                     shape_out=list(got.shape))
        if one.dtype is not torch.float32:
            entry["dt"] = base.NAMES[one.dtype]
        if self.instead:
            entry["for"] = self.instead
        self.seen.append(entry)

    @contextlib.contextmanager
    def watching(self):
        """Inside, paddings are listed, and what stands in for all-to-all."""
        names = ("pad_tensor", "unpad_tensor", "shard_dim_alltoall")
        plain = {n: getattr(placement_types, n) for n in names}

        def padding(name):
            def call(t, dim, n):
                if n != 0:
                    self.seen.append({"op": name.removesuffix("_tensor"),
                                      "dim": dim, "n": n,
                                      "shape_in": list(t.shape)})
                return plain[name](t, dim, n)
            return call

        def all_to_all(*args):
            self.instead = "all_to_all"
            try:
                return plain["shard_dim_alltoall"](*args)
            finally:
                self.instead = None

        for n in names[:2]:
            setattr(placement_types, n, padding(n))
        placement_types.shard_dim_alltoall = all_to_all
        try:
            with self:
                yield
        finally:
            for n in names:
                setattr(placement_types, n, plain[n])

    def take(self):
        seen, self.seen = self.seen, []
        return seen


def made(case, mesh, pl, dtype, leaf):
    """A distributed tensor as this rank holds it: ones."""
    spec = base.spec_of(dict(shape=case["shape"], dtype=dtype, pl=pl), mesh)
    shape, _ = compute_local_shape_and_global_offset(
        case["shape"], mesh, spec.placements)
    local = torch.ones(tuple(shape), dtype=base.DTYPES[dtype])
    return DTensor(local, spec, requires_grad=leaf)


def forward(case, mesh, sent, answer):
    x = made(case, mesh, case["src"], case["dtype"], True)
    answer["local_before"] = list(x._local_tensor.shape)
    kw = {name: base.DTYPES[case[key]]
          for key, name in (("fwd_dt", "forward_dtype"),
                            ("bwd_dt", "backward_dtype")) if key in case}
    try:
        y = x.redistribute(mesh, [base.placement(p) for p in case["dst"]],
                           **kw)
    except Exception as e:
        answer["forward_error"] = base.out_error(e)
        return x, None
    local = y._local_tensor
    answer.update(forward=sent.take(), local_after=list(local.shape),
                  pl_after=[base.out_placement(p) for p in y.placements])
    if not local.is_contiguous():
        answer["stride_after"] = list(local.stride())
    if "fwd_dt" in case:
        answer["dtype_after"] = base.NAMES[y.dtype]
    return x, y


def backward(case, mesh, sent, answer, ends):
    x, y = ends
    pl = case.get("grad") or ["R" if p.startswith("P") else p
                              for p in answer["pl_after"]]
    answer["grad_in"] = pl
    g = made(case, mesh, pl, base.NAMES[y.dtype], False)
    try:
        y.backward(g)
    except Exception as e:
        answer["backward_error"] = base.out_error(e)
        return
    answer.update(backward=sent.take(),
                  grad_pl=[base.out_placement(p) for p in x.grad.placements],
                  grad_local=list(x.grad._local_tensor.shape))


def view_of(case):
    base.forget_plans(redistribution)
    mesh, answer = tables.flat_mesh(case), {}
    sent = Sent(mesh, case.get("flatten", ()))
    with sent.watching():
        ends = forward(case, mesh, sent, answer)
        if ends[1] is not None:
            backward(case, mesh, sent, answer, ends)
    return answer


def capture_collectives(case):
    """Rank 0's view, and where other ranks' differ."""
    views, by_rank = [], []
    size = math.prod(case["mesh"]["shape"])
    for rank in range(size):
        with more.world(size, rank):
            views.append(view_of(case))
    for rank, v in enumerate(views):
        other = {k: v.get(k) for k in dict(views[0], **v)
                 if v.get(k) != views[0].get(k)}
        if not other:
            continue
        same = [b for b in by_rank
                if {k: b[k] for k in b if k != "ranks"} == other]
        if same:
            same[0]["ranks"].append(rank)
        else:
            by_rank.append(dict(ranks=[rank], **other))
    return dict(views[0], **({"by_rank": by_rank} if by_rank else {}))


# ---- what capture_pytorch takes -------------------------------------------

def install(module):
    """Rows for its table of captures: prefix, a key that must be there."""
    global base
    base = module
    return (("redist/coll.", "src", capture_collectives),)


INPUTS = ("grad", "fwd_dt", "bwd_dt")
