# SPDX-License-Identifier: MIT
"""torch.distributed.tensor._ops._common_rules: sharding rules that einsum's
notation states: letters are dimensions, the same letter is the same one."""
import math
import torch
from torch.distributed.tensor import DTensorSpec
from torch.distributed.tensor._op_schema import OpSchema, OutputSharding
from torch.distributed.tensor.placement_types import TensorMeta


class _Merge:
    """The letters of one equation: which mesh dimension cuts each (-1: none),
    and how long it is."""

    def __init__(self, equation, enforced):
        self.equation, self.enforced = equation, enforced or {}
        self.cut, self.size = {}, {}
        self.sums = {}                  # mesh dim: inputs that are partial
        self.users = {}                 # mesh dim: letters it cuts, "+" sums
        self.reshard = False

    def letter(self, name, mesh_dim, size):
        if name in self.enforced:
            self.reshard = self.reshard or self.enforced[name] != mesh_dim
            self.cut[name], self.size[name] = self.enforced[name], size
        elif name not in self.cut:
            self.cut[name], self.size[name] = mesh_dim, size
        else:
            assert self.size[name] == size, "sizes of %s differ" % name
            self.cut[name] = self.agreed(name, self.cut[name], mesh_dim)
        at = self.cut[name]
        if at == -1:
            return
        if at in self.users and self.users[at] != name:
            self.reshard = True
            self.users[at] += name
        else:
            self.users[at] = name

    def agreed(self, name, a, b):
        if a == b:
            return a
        if a != -1 and b != -1:
            raise RuntimeError("%s: dim %s sharded two different ways: %d and "
                               "%d" % (self.equation, name, a, b))
        self.reshard = True
        return max(a, b)

    def take(self, letters, spec):
        for mesh_dim in spec.sums:
            if mesh_dim not in self.sums:
                self.users[mesh_dim] = "+"
            self.sums[mesh_dim] = self.sums.get(mesh_dim, 0) + 1
        for name, at, size in zip(letters, spec.dim_map, spec.shape):
            self.letter(name, at, size)

    def free(self, inputs, specs):
        """A mesh dimension that cuts several letters keeps the one whose
        gathering would cost most."""
        for mesh_dim, names in self.users.items():
            if len(names) < 2:
                continue
            costs = [_cost(name, mesh_dim, inputs, specs) for name in names]
            keep = names[costs.index(max(costs))]
            for name in names:
                if name != keep:
                    self.cut[name] = -1


def _cost(name, mesh_dim, inputs, specs):
    total = 0
    for letters, spec in zip(inputs, specs):
        if name in letters and spec.dim_map[letters.index(name)] == mesh_dim:
            local = [-(-n // spec.mesh.size(m)) if m != -1 else n
                     for n, m in zip(spec.shape, spec.dim_map)]
            total += math.prod(local) * spec.mesh.size(mesh_dim)
    return total


def _suggest(op_schema, inputs, specs, cut, sums):
    """The same call with its tensors brought to what was agreed on."""
    made = [DTensorSpec.from_dim_map(spec.mesh, [cut[c] for c in letters],
                                     sums, tensor_meta=spec.tensor_meta)
            for letters, spec in zip(inputs, specs)]
    args = []
    for arg in op_schema.args_schema:
        if isinstance(arg, DTensorSpec):
            args.append(made.pop(0))
        elif isinstance(arg, (list, tuple)):
            args.append(type(arg)([made.pop(0) if isinstance(a, DTensorSpec)
                                   else a for a in arg]))
        else:
            args.append(arg)
    return OutputSharding(None, redistribute_schema=OpSchema(
        op_schema.op, tuple(args), op_schema.kwargs_schema))


def einop_rule(equation, op_schema, *, linearity=False, enforce_sharding=None):
    left, right = equation.split("->")
    inputs, out = left.split(","), right.split(",")[0]
    specs = op_schema.args_spec
    m = _Merge(equation, enforce_sharding)
    for letters, spec in zip(inputs, specs):
        m.take(letters, spec)
    if m.sums and not linearity:
        return _suggest(op_schema, inputs, specs, m.cut, [])
    # A linear operator keeps sums only when all of its inputs have them.
    if [n for n in m.sums.values() if n != len(specs)]:
        m.reshard = True
    m.free(inputs, specs)
    sums = list(m.sums)
    if m.reshard:
        return _suggest(op_schema, inputs, specs, m.cut, sums)
    sums += [at for name, at in m.cut.items() if name not in out and at != -1]
    meta = specs[0].tensor_meta
    assert meta is not None
    shape = [1 if c == "1" else m.size[c] for c in out]
    return OutputSharding(DTensorSpec.from_dim_map(
        specs[0].mesh, [-1 if c == "1" else m.cut[c] for c in out], sums,
        tensor_meta=TensorMeta(torch.Size(shape), meta.stride, meta.dtype)))


def pointwise_rule(op_schema, linearity=False):
    """Element by element, with dimensions of size 1 stretched."""
    specs = op_schema.args_spec
    ndim = max([spec.ndim for spec in specs])
    names = "abcdefghijklmnopqrstuvwxyz"[:ndim]
    inputs, ones = [], [0] * ndim
    for spec in specs:
        first, letters = ndim - spec.ndim, ""
        for at in range(ndim):
            single = len(specs) > 1 and (at < first
                                         or spec.shape[at - first] == 1)
            ones[at] += single
            if at >= first:
                letters += "1" if single else names[at]
        inputs.append(letters)
    out = "".join(["1" if n == len(specs) else c for c, n in zip(names, ones)])
    enforced = {}
    if op_schema.is_inplace_op():
        enforced = dict(zip(out, specs[0].dim_map))
    elif op_schema.is_out_variant_op():
        enforced = dict(zip(out, op_schema.kwargs_schema["out"].dim_map))
    return einop_rule(",".join(inputs) + "->" + out, op_schema,
                      linearity=linearity, enforce_sharding=enforced)
