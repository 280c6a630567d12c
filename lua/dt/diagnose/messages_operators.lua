-- SPDX-License-Identifier: MIT
-- dt/diagnose/messages_operators.lua: rows of messages.lua about operators:
-- those without a rule, in place or with out=, those of other libraries, and
-- the types of spmd_types.

local programs = require "dt.diagnose.programs"

local integer, mesh_line = programs.integer, programs.mesh_line
local line, fix = programs.line, programs.fix
local anew, scene = programs.anew, programs.scene
local ranks_or, leading = programs.ranks_or, programs.leading

local rows = {}

local function row(pattern, write) rows[#rows + 1] = {pattern, write} end

local calls = {add = "+", sub = "-", mul = "*", div = "/"}

-- ---- operators ---------------------------------------------------------

-- Lines that define an operator of `n` tensors with a rule of `given` entries;
-- without `given` the rule has no strategy.
local function ruled(name, n, given)
  local names, typed = {}, {}
  for i = 1, n do
    names[i] = ("t%d"):format(i)
    typed[i] = names[i] .. ": torch.Tensor"
  end
  local all = table.concat(names, ", ")
  return ("@torch.library.custom_op(\"mylib::%s\", mutates_args=())\n"
    .. "def operator(%s) -> torch.Tensor:\n    return %s\n\n\n"
    .. "@operator.register_fake\ndef _(%s):\n    return torch.empty_like(t1)\n"
    .. "\n\n@register_sharding(torch.ops.mylib.%s.default)\ndef rule(%s):\n"
    .. "    return [%s]\n\n\n"):format(name, table.concat(typed, ", "),
    n == 1 and "t1.clone()" or table.concat(names, " + "), all, name, all,
    given and ("([Replicate()], [Replicate()] * %d)"):format(given) or "")
end

-- The tensors that the message prints as the operator's arguments, as lines and
-- names on the report's mesh; nil where it prints others or none.
local function printed_arguments(r, wanted)
  local mesh, lines, names = r.meshes[1], {}, {}
  if not mesh or #r.args ~= wanted or #mesh.shape > 3 then return nil end
  local size = programs.product(mesh.shape)
  if size < 2 or size > 64 then return nil end
  for i, a in ipairs(r.args) do
    local list = a.kind == "dtensor" and a.shape and programs.placements("("
      .. table.concat(a.placements or {}, ", ") .. ")")
    if not list or #list ~= #mesh.shape
      or programs.product(a.shape) > programs.MAX_ELEMENTS then
      return nil
    end
    names[i] = ("x%d"):format(i)
    lines[i] = ("%s = distribute_tensor(torch.ones(%s), mesh, [%s])\n"):format(
      names[i], programs.tuple(a.shape), table.concat(list, ", "))
  end
  return math.tointeger(size), mesh_line(mesh.shape, mesh.names)
    .. table.concat(lines), table.concat(names, ", ")
end

-- A rule of `given` placements for an operator of `wanted` tensors.
local function miscounted(r, given, wanted)
  local space, name = (r.op or ""):match "^([%a_][%w_]*)%.([%a_][%w_]*)%."
  if not space or space == "aten" then name = "together" end
  local head = "from torch.distributed.tensor.experimental import "
    .. "register_sharding\n\n\n"
  local ranks, x, args = printed_arguments(r, wanted)
  if not ranks then
    ranks, args = 2, ("x, "):rep(wanted):sub(1, -3)
    x = line(2, "tp")
      .. "x = distribute_tensor(torch.ones(4), mesh, [Replicate()])\n"
  end
  local call = "torch.ops.mylib.%s(%s)"
  local right = name .. "_right"
  local f = anew("one placement for each argument, in their order", ruled(right,
    wanted, wanted) .. x .. call:format(right, args))
  f.said = ("return [([Replicate()], [Replicate()] * %d)]"):format(wanted)
  return scene(ranks, head, ruled(name, wanted, given) .. x, call:format(name,
    args), {f})
end

row("input_specs%((%d+)%) != strategies%((%d+): %d+ args", function (r, given,
  wanted)
  given, wanted = integer(given), integer(wanted)
  if not wanted or given > 12 or wanted > 12 or wanted < 1 then return nil end
  return miscounted(r, given, wanted)
end)
row("len%(input_specs%) == len%(input_args_strategy%)", function (r)
  return miscounted(r, 2, 1)
end)
row("min%(%) arg is an empty sequence", function (r)
  return r.class.id == "register-sharding-limits" and miscounted(r, nil, 1)
end)

row("(%l+) does not support _StridedShard", function (r)
  local name = r.op and r.op:match "^aten%.(%l+)%.default$"
  if not name then return nil end
  return scene(4, "from torch.distributed.tensor.placement_types import "
    .. "_StridedShard\n", mesh_line({2, 2}, {"dp", "tp"})
    .. "x = DTensor.from_local(torch.ones(2, 4), mesh, "
    .. "[_StridedShard(0, split_factor=2), Shard(0)], run_check=False)\n",
    ("torch.%s(x)"):format(name), {fix("replicate first",
      ("torch.%s(x.redistribute(mesh, [Replicate()] * 2))"):format(name))})
end)

-- What a functional collective returns is no DTensor.
row("'AsyncCollectiveTensor' object has no attribute '([%a_][%w_]*)'",
  function (r, name)
  if name == "elem" or name == "completed" then return nil end  -- it has these
  local ranks = ranks_or(r, 2)
  return scene(ranks, "import torch.distributed._functional_collectives as "
    .. "funcol\n", line(ranks, "tp") .. "x = funcol.all_reduce(torch.ones(4), "
    .. "\"sum\", mesh)\n", "x." .. name, {
    fix("make it a DTensor again", ("DTensor.from_local(x, mesh, "
      .. "[Replicate()]).%s"):format(name))})
end)

-- Operators by the number of tensors they take, for calls with out=.
local taking <const> = {
  "abs acos asin atan ceil cos cosh erf exp expm1 floor log log10 log2 neg "
  .. "reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc ",
  "add sub mul div mm matmul maximum minimum pow atan2 fmod remainder eq ne lt "
  .. "gt le ge "}

local function without_mesh(r, name)
  local ranks, call = ranks_or(r, 2), nil
  for n, names in ipairs(taking) do
    if names:find(name .. " ", 1, true) then
      call = ("torch.%s(%s"):format(name, ("x, "):rep(n))
    end
  end
  if name == "eye" then call = "torch.eye(8, " end
  if not call then return nil end
  return scene(ranks, "", line(ranks, "tp") .. "x = torch.ones(8, 8)\n"
    .. "y = distribute_tensor(torch.zeros(8, 8), mesh, [Replicate()])\n",
    call .. "out=y)", {
    fix("make the whole result, then distribute it", "distribute_tensor(" .. call
      .. "out=torch.empty(8, 8)), mesh, [Replicate()])"),
    fix("write into the local tensor", call .. "out=y.to_local())")})
end

row("found no DeviceMesh from dtensor args for aten[%.:]+([%l%d]+)%.%l*_?out",
  without_mesh)
row("Cannot find device mesh from args for op : aten[%.:]+([%l%d]+)%.%l*_?out",
  without_mesh)

-- A sharded dimension of size one: the result of a pointwise operator is
-- replicated, which the tensor's placement does not allow in place.
local function in_place(r, dim)
  dim = integer(dim)
  local name, overload = (r.op or ""):match "^aten%.(%l+_)%.(%a+)$"
  if not dim or dim > 6 or not name then return nil end
  local before = line(2, "tp")
  local ones = ("torch.ones(%s1, 4)"):format(leading(dim))
  if overload == "Tensor" and calls[name:sub(1, -2)] then
    local x = ("x = distribute_tensor(%s, mesh, [Shard(%d)])\n"
      .. "y = distribute_tensor(%s, mesh, [Replicate()])\n"):format(ones, dim,
      ones)
    return scene(2, "", before .. x, ("x.%s(y)"):format(name), {
      fix("the out-of-place form", ("x = x.%s(y)"):format(name:sub(1, -2))),
      fix("redistribute first", ("x = x.redistribute(mesh, [Replicate()])\n"
        .. "x.%s(y)"):format(name))})
  elseif name == "scatter_" and overload == "value" then
    local shape = ("1, "):rep(dim) .. "4, 4"
    local rows_of = ("1, "):rep(dim) .. "1, 4"
    local x = ("x = distribute_tensor(torch.zeros(%s), mesh, [Shard(%d)])\n"
      .. "rows = distribute_tensor(torch.zeros(%s, dtype=torch.long), mesh, "
      .. "[Replicate()])\n"):format(shape, dim, rows_of)
    return scene(2, "", before .. x, ("x.scatter_(%d, rows, 1.0)"):format(dim), {
      fix("the out-of-place form", ("x = x.scatter(%d, rows, 1.0)"):format(dim)),
      fix("redistribute first", ("x = x.redistribute(mesh, [Replicate()])\n"
        .. "x.scatter_(%d, rows, 1.0)"):format(dim))})
  end
end

row("in%-place operations that require placement changes are not supported%. "
  .. "The input has placement %(Shard%(dim=(%d+)%),?%)", in_place)
row("aten%.scatter_%.value: in%-place operations that require placement changes "
  .. "are not supported%.?%s*$", function (r) return in_place(r, "1") end)
row("in%-place operations that require placement changes are not supported%. "
  .. "The operation would change placement from %(Shard%(dim=(%d+)%),?%)",
  in_place)

-- An operator of another backend or library: defined for the purpose.
row("Operator ([%a_][%w_]*)%.([%a_][%w_]*)%.default does not have a sharding "
  .. "strategy", function (r, space, name)
  if space == "aten" or space == "prims" or space:find "c10d"
    or name:find "fusion_attention" then
    return nil
  end
  local ranks = ranks_or(r, 2)
  local x = line(ranks, "tp")
    .. "x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])\n"
  local op = ("torch.ops.%s.%s"):format(space, name)
  -- The fixes run where the operator has been defined.
  return scene(ranks, "from torch.distributed.tensor.experimental import "
    .. "register_sharding\n\n\n", ("@torch.library.custom_op(\"%s::%s\", "
    .. "mutates_args=())\ndef operator(x: torch.Tensor) -> torch.Tensor:\n"
    .. "    return x.clone()\n\n\n@operator.register_fake\ndef _(x):\n"
    .. "    return torch.empty_like(x)\n\n\n"):format(space, name) .. x,
    op .. "(x)", {
    anew("run the region on local tensors", x .. op .. "(x.to_local())"),
    anew("register the operator's sharding", x .. ("@register_sharding(%s"
      .. ".default)\ndef rule(x):\n    return [([Replicate()], "
      .. "[Replicate()])]\n\n\n%s(x)"):format(op, op))})
end)

-- ---- spmd_types --------------------------------------------------------

local SPMD <const> = "import spmd_types as spmd\n"
  .. "from spmd_types import I, P, R, S, V\n"
  .. "from spmd_types.checker import typecheck\n"

-- Lines under type checks, on a mesh of two dimensions.
local function typed(fails, right, text, axes)
  axes = axes or {"dp", "tp"}
  local with = "with spmd.set_current_mesh(mesh), typecheck():\n    "
  local new = "\n\ndef new(**types):\n    return spmd.assert_type(torch.ones("
    .. "4, 4).data, types)\n\n\n"
  return scene(4, SPMD, mesh_line({2, 2}, axes) .. new, with
    .. fails:gsub("\n", "\n    "), {fix(text, with .. right:gsub("\n",
    "\n    "))})
end

row("all_gather dst must be R or I, got ([VPS])", function (_, got)
  local call = "spmd.all_gather(new(dp=R, tp=V), \"tp\", src=V, dst=%s)"
  return typed(call:format(got == "S" and "S(0)" or got), call:format "R",
    "gather to R or I")
end)

row("convert%(R, I%) requires expert_mode", function ()
  local call = "spmd.convert(new(dp=R, tp=R), \"tp\", src=R, dst=I%s)"
  return typed(call:format "", call:format ", expert_mode=True",
    "expert_mode=True, where it is meant")
end)

row("all_to_all S%((%d)%)%->S%((%d)%) got concat_dim=(%d) but expected (%d)",
  function (_, from, to, got, expected)
  local call = "spmd.all_to_all(new(dp=R, tp=V), \"tp\", src=S(%s), dst=S(%s), "
    .. "split_dim=%s, concat_dim=%s)"
  return typed(call:format(from, to, to, got), call:format(from, to, to,
    expected), "the dims of src and dst")
end)

-- The axes of a mesh with `axis` among them.
local function axes_with(axis)
  return {axis == "dp" and "tp" or "dp", axis}
end

row("Invariant type on axis ([%a_][%w_]*) cannot mix with other types%. Found "
  .. "types: %[I, ([VRP])%]", function (_, axis, other)
  local axes = axes_with(axis)
  local sum = ("new(%s=R, %s=%%s) + new(%s=R, %s=%%s)"):format(axes[1], axis,
    axes[1], axis)
  return typed(sum:format("I", other), sum:format("R", other == "P" and "R"
    or other), "convert what is invariant first", axes)
end)

row("args%[(%d)%] missing axis ([%a_][%w_]*)%. args%[%d%] has axes {([%w_]+)}",
  function (_, index, axis, there)
  if index ~= "1" or axis == there then return nil end
  local both = ("new(%s=R, %s=R)"):format(there, axis)
  return typed(("%s + new(%s=R)"):format(both, there), both .. " + " .. both,
    "annotate every operand on the same axes", {there, axis})
end)

row("Partial in multiple factors of multilinear op on axis ([%a_][%w_]*)",
  function (_, axis)
  local axes = axes_with(axis)
  local product_of = ("new(%s=R, %s=P) * new(%s=R, %s=%%s)"):format(axes[1],
    axis, axes[1], axis)
  return typed(product_of:format "P", product_of:format "R",
    "reduce all but one factor first", axes)
end)

return rows
