#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""vary_cases.py: other cases of the same form, for capture_pytorch.py.

    python3 scripts/vary_cases.py --seed 7 --count 500 FILE.jsonl... > cases.jsonl
    python3 scripts/capture_pytorch.py --seconds 5 cases.jsonl > fresh.jsonl
    dtrepl parity fresh.jsonl

Cases of the files are drawn by lot, each operator as often as any other, and
changed: another mesh, other placements, other sizes, the shards in another
order, other numbers; of a program over a mesh, the calls of another one behind
it.  Answers are left out: PyTorch gives them.  The same seed draws the same
cases.
"""
import argparse
import json
import math
import random
import re

MESHES = [[2], [3], [4], [2, 2], [2, 3], [3, 2], [2, 4], [2, 2, 2], [1, 4]]
NAMES = {1: ["tp"], 2: ["dp", "tp"], 3: ["pp", "dp", "tp"]}
SIZES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16]
REDUCTIONS = ["sum", "sum", "sum", "avg", "max", "min"]
MESH_CALLS = ("slice", "flatten", "unflatten", "root", "get_root", "save",
              "load", "concat")
INPUTS = ("id", "op", "mesh", "args", "kw", "shape", "dtype", "src", "dst",
          "src_order", "dst_order", "planner", "plain", "size", "pl", "order",
          "what", "fn", "device", "devices_per_host", "mesh_dim", "bytes",
          "bytes_gb", "calls", "expr", "strided", "flatten", "wrt", "gout",
          "grad_outs", "inplace_on_clone", "bwd_args")
# What arithmetic treats apart.
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 1e30, {"nan": True}, {"inf": 1},
         {"inf": -1}]


class Lot:
    """Draws: all from one generator."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def mesh(self, old):
        if self.r.random() < 0.4:
            return old
        n = self.r.choices([1, 2, 3], [4, 4, 1])[0]
        sizes = self.r.choice([m for m in MESHES if len(m) == n])
        if len(old["shape"]) == n:
            return dict(old, shape=sizes)
        return {"shape": sizes, "names": NAMES[n]}

    def placement(self, ndim, mesh):
        kinds = ["R", "S", "S", "P", "_S"] if ndim else ["R", "R", "P"]
        kind = self.r.choices(kinds, [6, 6, 6, 3, 1][:len(kinds)])[0]
        if kind == "S":
            return f"S({self.r.randrange(ndim)})"
        if kind == "_S":
            factor = self.r.choice([2, 3, 4])
            return f"_S({self.r.randrange(ndim)}, {factor})"
        return "R" if kind == "R" else f"P({self.r.choice(REDUCTIONS)})"

    def placements(self, old, ndim, mesh, strided=True):
        """strided: may be _S, which an order of the shards excludes."""
        n = len(mesh["shape"])
        out = [old[i] if i < len(old) and self.r.random() < 0.4
               else self.placement(ndim, mesh) for i in range(n)]
        return [p if strided or not p.startswith("_S")
                else p[1:].partition(",")[0] + ")" for p in out]

    def sizes(self):
        """How the sizes of a case change: the same size the same way."""
        if self.r.random() < 0.6:
            return {}
        return {s: self.r.choice(SIZES) for s in range(2, 65)
                if self.r.random() < 0.7}


def tensors(v, change):
    """v with change(t) in place of each tensor."""
    if isinstance(v, list):
        return [tensors(x, change) for x in v]
    if isinstance(v, dict) and "shape" in v and ("dt" in v or "t" in v):
        return change(dict(v))
    if isinstance(v, dict):
        return {k: tensors(x, change) for k, x in v.items()}
    return v


def vary_call(case, lot):
    """Cases with args: decisions, calls with a plain argument."""
    old, mesh = case["mesh"], lot.mesh(case["mesh"])
    sizes = lot.sizes()

    def change(t):
        moved = [sizes.get(s, s) for s in t["shape"]]
        if moved != t["shape"] and "data" not in t:
            t["shape"] = moved
            t.pop("stride", None)
        if "pl" not in t:
            if t.get("data") is None and lot.r.random() < 0.4:
                t["shape"] = lot.r.choice([[1], [], [1, 1], t["shape"]])
                t.pop("stride", None)
            return t
        if mesh is not old or lot.r.random() < 0.8:
            t["pl"] = lot.placements(t["pl"], len(t["shape"]), mesh)
            for key in ("order", "mask", "strided_order"):
                t.pop(key, None)
        return t

    out = tensors({k: case[k] for k in ("args", "kw") if k in case}, change)
    return dict(case, mesh=mesh, **out)


def vary_numbers(case, lot):
    """Cases without a mesh: other numbers in tensors of floats, equal ones and
    what arithmetic treats apart among them."""
    edges = lot.r.random() < 0.5

    def other(data):
        draw = lot.r.random()
        if edges and draw < 0.2:
            return lot.r.choice(EDGES)
        return lot.r.choice(data) if draw < 0.4 \
            else round(lot.r.gauss(0, 2), 2)

    def change(t):
        if t.get("data") and re.fullmatch(r"b?f\d+", t.get("t", "")):
            t["data"] = [other(t["data"]) for _ in t["data"]]
        return t

    return dict(case, **tensors({k: case[k] for k in ("args", "kw", "gout")
                                 if k in case}, change))


def order_of(pl, lot):
    """A random order of the mesh dims of each tensor dim that several shard."""
    by_dim = {}
    for m, p in enumerate(pl):
        if g := re.fullmatch(r"S\((\d+)\)", p):
            by_dim.setdefault(int(g[1]), []).append(m)
    for dims in by_dim.values():
        lot.r.shuffle(dims)
    return [[d, m] for d, m in sorted(by_dim.items())]


def vary_plan(case, lot):
    case = dict(case)
    if "flatten" not in case:
        case["mesh"] = lot.mesh(case["mesh"])
    mesh = case["mesh"]
    case["shape"] = [lot.r.choice(SIZES[1:]) if lot.r.random() < 0.5 else s
                     for s in case["shape"]]
    plain = "src_order" not in case and "dst_order" not in case
    for key in ("src", "dst"):
        case[key] = lot.placements(case[key], len(case["shape"]), mesh, plain)
        if case.pop(key + "_order", None):
            case[key + "_order"] = order_of(case[key], lot)
    return case


def vary_layout(case, lot):
    case = dict(case)
    if "pl" in case and "shape" in case:
        case["mesh"] = lot.mesh(case["mesh"])
        case["shape"] = [lot.r.choice(SIZES) for _ in case["shape"]]
        case["pl"] = lot.placements(case["pl"], len(case["shape"]),
                                    case["mesh"], "order" not in case)
        if case.pop("order", None):
            case["order"] = order_of(case["pl"], lot)
    elif "src" in case and "shape" in case:
        case = vary_plan(case, lot)
    elif "bytes" in case:
        case["bytes"] = lot.r.randrange(1, 1 << lot.r.randrange(1, 30))
        case["bytes_gb"] = case["bytes"] / 1024 ** 3
    return case


def vary_program(case, lot, others):
    """Calls of another program over the same mesh behind these."""
    same = [c for c in others if c["mesh"] == case["mesh"] and "calls" in c]
    calls = list(case["calls"])
    for _ in range(lot.r.randrange(1, 3)):
        calls += lot.r.choice(same)["calls"]
    # A question about the mesh is the end of a program.
    asks = [i for i, c in enumerate(calls[:-1]) if c[0] not in MESH_CALLS]
    calls = calls[:asks[0]] + calls[-1:] if asks else calls
    return dict(case, calls=calls[:6])


def vary(case, lot, others):
    if case["id"].startswith("mesh/program"):
        return vary_program(case, lot, others)
    if "args" in case:
        return vary_call(case, lot) if "mesh" in case \
            else vary_numbers(case, lot)
    if case["id"].startswith("redist/"):
        return vary_plan(case, lot)
    return vary_layout(case, lot)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200, help="of each file")
    opts = parser.parse_args()
    lot = Lot(opts.seed)
    for path in opts.files:
        groups, others = {}, []
        with open(path, encoding="utf-8") as f:
            for line in f:
                case = json.loads(line)
                if "mesh" not in case and "args" not in case:
                    continue
                case = {k: case[k] for k in INPUTS if k in case}
                others.append(case)
                key = case.get("op") or re.sub(r"/\d+$", "", case["id"])
                groups.setdefault(key, []).append(case)
        seen, turns = set(), math.ceil(opts.count / max(len(groups), 1))
        keys = sorted(groups)
        lot.r.shuffle(keys)
        for at in range(min(opts.count, turns * len(keys))):
            case = vary(lot.r.choice(groups[keys[at % len(keys)]]), lot,
                        others)
            case["id"] += f".v{opts.seed}"
            while case["id"] in seen:
                case["id"] += "'"
            seen.add(case["id"])
            print(json.dumps(case, separators=(",", ":")))


if __name__ == "__main__":
    main()
