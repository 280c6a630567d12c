-- TEST: ranks={1,2} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- `import spmd_types` in Python programs: names, types, errors, blocks.

local T = require "tests.lua.lib.check"
local python = require "torch"

local env = python.environment()
python.run([[
import torch
import spmd_types as spmd
from spmd_types import R, I, V, P, S, PartitionSpec, MeshAxis
from spmd_types.checker import typecheck
from torch.distributed.device_mesh import init_device_mesh
import torch.distributed as dist

mesh = init_device_mesh("cpu", (dist.get_world_size(), 1),
                        mesh_dim_names=("tp", "one"))
tp = mesh.get_group("tp")
]], env)

local function value(text) return python.last(text, env) end
local function shown(text) return value("repr(" .. text .. ")") end
local function raises(class, part, text)
  T.throws(class, part, function () value(text) end)
end

T.eq(shown "(R, S(1), PartitionSpec('tp', None), spmd.Infer)",
  "(R, S(1), PartitionSpec('tp', None), Infer)", "reprs")
T.eq(value "str(V)", "PerMeshAxisLocalSpmdType.V", "str")
T.eq(value "S(0) == S(0) and S(0) != S(1)", true, "equal shards")
T.eq(shown "[x.backward_type() for x in (R, I, V, P, S(2))]",
  "[P, I, V, R, S(2)]", "types of gradients")
raises("TypeError", "requires both size and stride", "MeshAxis.of(2)")
raises("SpmdTypeError", "no current mesh is set",
  "spmd.assert_type(torch.ones(2), {'tp': R})")
raises("TypeError", "unexpected keyword argument 'foo'",
  "spmd.all_reduce(torch.ones(2), tp, dst=R, foo=1)")
raises("TypeError", "missing 1 required keyword-only argument: 'dst'",
  "spmd.all_reduce(torch.ones(2), tp)")
raises("RuntimeError", "requires an ambient DeviceMesh",
  "spmd.all_reduce(torch.ones(2), 'tp', dst=R)")
T.eq(value "spmd.is_type_checking()", false, "nothing is checked outside")

-- A shard's dimension at and around both ends of three.
for d = -4, 3 do
  local call = ("spmd.types.shard_types_to_partition_spec({tp: S(%d)}, 3)"):format(d)
  if d < -3 or d > 2 then
    raises("IndexError", "list assignment index out of range", call)
  else
    for i = 0, 2 do
      T.eq(value(("%s[%d] is not None"):format(call, i)), i == d % 3, call)
    end
  end
end

local several = dt.world_size() > 1
value [[
with spmd.set_current_mesh(mesh), typecheck():
    x = spmd.assert_type(torch.zeros(2, 4).data, {'tp': P, 'one': V})
    on = spmd.is_type_checking()
    y = spmd.all_reduce(x, 'tp', dst=R)
    kinds = (repr(spmd.get_local_type(x)), repr(spmd.get_local_type(y)))
    try:
        spmd.assert_type(y, {'tp': V})
        caught = None
    except spmd.SpmdTypeError as e:
        caught = str(e)
    with spmd.no_typecheck():
        off = spmd.is_type_checking()
]]
T.eq(value "on", true, "a block in which types are checked")
T.eq(value "off", false, "and one in it without")
if several then
  T.eq(value "kinds[0].split(': ')[1]", "P}", "the asserted type")
  T.eq(value "kinds[1].split(': ')[1]", "R}", "the type of the sum")
  T.has(value "caught", "tensor has PerMeshAxisLocalSpmdType.R, expected "
    .. "PerMeshAxisLocalSpmdType.V", "a contradiction")
  raises("RuntimeError", "Axis (<torch.distributed.distributed_c10d.Process",
    "spmd.reinterpret(x, (tp, tp), src=V, dst=P)")
  raises("TypeError", "unhashable type: 'list'",
    "spmd.reinterpret(x, ['tp'], src=V, dst=P)")
  raises("SpmdTypeError", "__set__", [[
plain = torch.zeros(2).requires_grad_()
with spmd.set_current_mesh(mesh), typecheck():
    plain.grad = None]])
  raises("SpmdTypeError", "cannot propagate through non-linear ops", [[
with spmd.set_current_mesh(mesh), typecheck():
    torch.zeros(1)
    torch.sinc(x)]])
  raises("SpmdTypeError", "Conflicting types", [[
with spmd.set_current_mesh(mesh):
    spmd.assert_type(torch.ones(2), {tp: R, 'tp': V})]])
else
  T.eq(value "kinds == ('{}', '{}')", true, "axes of one rank are not kept")
end
-- A mesh given as a table of axes: each name finds its own axis, one of a single
-- rank as well.
value [[
of_names = {'b': MeshAxis.of(mesh.get_group("one")), 'a': MeshAxis.of(tp)}
seen = []
with spmd.set_current_mesh(of_names), typecheck():
    z = spmd.assert_type(torch.zeros(2, 4).data, {'a': P, 'b': V})
    seen = [len(spmd.get_local_type(z)), sorted(spmd.current_mesh_all_names())]
    spmd.assert_type(z, {'b': R})
    try:
        spmd.assert_type(z, {'c': V})
    except spmd.SpmdTypeError as e:
        seen.append(str(e).split("\n")[0])
]]
T.eq(value "seen[1] == ['a', 'b']", true, "names of axes")
T.eq(value "seen[2]",
  "No mesh axis named 'c' in the current mesh. Available: a, b", "told in order")
T.eq(value "seen[0]", several and 1 or 0, "axes of one rank are not kept")
T.eq(value "spmd.is_type_checking()", false, "and nothing after it")
T.eq(value "spmd.Scalar(3, {MeshAxis.of(2, 4): R}) * 2", 6,
  "numbers have types only where types are checked")
value [[
with typecheck():
    number = repr(spmd.Scalar(3, {MeshAxis.of(2, 4): R}) * 2)
]]
T.eq(value "number", "Scalar(6, {MeshAxis(2:4): R})", "typed numbers")
T.eq(shown("spmd.dtensor_placement_to_spmd_type("
  .. "torch.distributed.tensor.Shard(1))"), "S(1)", "of a placement")
T.finish()
