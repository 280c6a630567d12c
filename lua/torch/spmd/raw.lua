-- SPDX-License-Identifier: MIT
-- torch/spmd/raw.lua: torch.distributed's own collectives while types are
-- checked: what they take and give, and those that spmd_types has no rule for.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local meshes = require "torch.mesh"
local arguments = require "dt.spmd.arguments"
local check = require "dt.spmd.check"
local checked = require "dt.spmd.checked"
local moves = require "dt.spmd.moves"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"

local core = dt._spmd
local M = {}
local None = dt.None

local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end

-- ---- the table ----

-- Parameters as a call shows them, with their defaults; what the input must
-- be, where it is, and what the outputs may be.
local GROUP = {{"group", None}, {"async_op", false}}
local rows = {
  all_reduce = {{{"tensor"}, {"op", "sum"}, table.unpack(GROUP)},
    takes = "P", input = "tensor", becomes = "R"},
  all_gather = {{{"tensor_list"}, {"tensor"}, table.unpack(GROUP)},
    takes = "V", input = "tensor", output = "tensor_list", gives = "RI"},
  all_gather_single = {{{"output_tensor"}, {"input_tensor"},
    table.unpack(GROUP)}, takes = "V", input = "input_tensor",
    output = "output_tensor", gives = "RI"},
  reduce_scatter_single = {{{"output"}, {"input"}, {"op", "sum"},
    table.unpack(GROUP)}, takes = "P", input = "input", output = "output",
    gives = "V"},
  all_to_all_single = {{{"output"}, {"input"}, {"output_split_sizes", None},
    {"input_split_sizes", None}, table.unpack(GROUP)}, takes = "V",
    input = "input", output = "output", gives = "V"},
  broadcast = {{{"tensor"}, {"src", None}, GROUP[1], GROUP[2],
    {"group_src", None}}},
  reduce = {{{"tensor"}, {"dst", None}, {"op", "sum"}, GROUP[1], GROUP[2],
    {"group_dst", None}}},
  gather = {{{"tensor"}, {"gather_list", None}, {"dst", None}, GROUP[1],
    GROUP[2], {"group_dst", None}}},
  scatter = {{{"tensor"}, {"scatter_list", None}, {"src", None}, GROUP[1],
    GROUP[2], {"group_src", None}}},
  reduce_scatter = {{{"output"}, {"input_list"}, {"op", "sum"},
    table.unpack(GROUP)}},
  all_to_all = {{{"output_tensor_list"}, {"input_tensor_list"},
    table.unpack(GROUP)}, lists = {"output_tensor_list", "input_tensor_list"}},
  send = {{{"tensor"}, {"dst", None}, {"group", None}, {"tag", 0},
    {"group_dst", None}}},
  recv = {{{"tensor"}, {"src", None}, {"group", None}, {"tag", 0},
    {"group_src", None}}},
}
rows.isend, rows.irecv = rows.send, rows.recv
local OLDER = {all_gather_into_tensor = "all_gather_single",
  reduce_scatter_tensor = "reduce_scatter_single"}

local OPS = {sum = {"SUM", 0}, avg = {"AVG", 1}, product = {"PRODUCT", 2},
  min = {"MIN", 3}, max = {"MAX", 4}, band = {"BAND", 5}, bor = {"BOR", 6},
  bxor = {"BXOR", 7}}

-- ---- the call ----

-- Arguments by the names of the row.
local function named(row, a, kw)
  local out = {}
  for i, p in ipairs(row[1]) do
    local v = a[i]
    if v == nil and kw then v = V.dict_get(kw, p[1]) end
    if v == nil then v = p[2] end
    out[p[1]] = v
  end
  return out
end

local function labels_of(row, a, group)
  local out = {}
  for i, p in ipairs(row[1]) do
    local v = a[p[1]]
    if p[1] == "group" and args.given(v) then
      v = name_of(group)
    elseif p[1] == "op" and OPS[v] then
      v = ("<RedOpType.%s: %d>"):format(table.unpack(OPS[v]))
    elseif type(v) == "string" or v == nil then
      v = V.repr(v == nil and None or v)
    end
    out[i] = {p[1], v}
  end
  return out
end

local function check_input(fn, t, axis, want)
  local got = core.type_on(t, axis)
  if not got then
    if state.strict() then
      wrong("%s: tensor has no type for axis %s. Use assert_type() to annotate "
        .. "the tensor on this axis before calling collectives.", fn,
        name_of(axis))
    end
  elseif got ~= want then
    wrong("%s: expected input type %s on axis %s, got %s", fn,
      arguments.long(want), name_of(axis), arguments.long(got))
  end
end

local function longs(letters)
  local out = {}
  for l in letters:gmatch(".") do out[#out + 1] = arguments.long(l) end
  return table.concat(out, "/")
end

local function check_output(fn, t, what, axis, allowed)
  local got = core.type_on(t, axis)
  if not got then
    if state.strict() then
      wrong("%s: output tensor has no type for axis %s. Use assert_type() to "
        .. "annotate the tensor on this axis before calling collectives.", fn,
        name_of(axis))
    end
  elseif not allowed:find(got, 1, true) then
    wrong("%s: expected output %s type %s on axis %s, got %s", fn, what,
      longs(allowed), name_of(axis), arguments.long(got))
  end
end

local function check_outputs(fn, row, a, axis)
  local out = a[row.output]
  if not V.is_seq(out) then
    return check_output(fn, out, "tensor", axis, row.gives)
  end
  for i = 1, out.n do
    check_output(fn, out[i], ("%s[%d]"):format(row.output, i - 1), axis,
      row.gives)
  end
end

-- The tensor is of another type on the axis.
local function become(t, axis, letter)
  local types, found = core.types(t), false
  if not types then return end
  for _, v in ipairs(types) do
    if v[1] == axis then
      v[2], found = letter, true
    end
  end
  if not found then types[#types + 1] = {axis, letter} end
  core.set(t, types, core.spec(t))
end

local function parts_of(t, axis)
  local list = {}
  for i, v in ipairs(core.types(t) or {}) do list[i] = v[1] end
  return core.type_on(t, axis) and {axis} or core.parts(axis, list) or {axis}
end

-- Are lists of tensors as long as the group is large?  What the operation
-- refuses itself comes first.
local function lists_fit(row, a, size)
  for _, name in ipairs(row.lists or {}) do
    if V.is_seq(a[name]) and a[name].n ~= size then return false end
  end
  return true
end

local function typed(fn, row, a, run)
  local group = args.given(a.group) and a.group or meshes.world_group()
  local axis = state.axis(group)
  if core.axis_info(axis).size == 1 then return run() end
  return checked.call(fn, labels_of(row, a, axis), function ()
    if not row.takes then
      if not lists_fit(row, a, core.axis_info(axis).size) then run() end
      wrong("spmd_types: type checking for raw torch.distributed.%s is not yet "
        .. "implemented; use the spmd_types wrapper instead", fn)
    end
    local parts = parts_of(a[row.input], axis)
    for _, part in ipairs(parts) do
      check_input(fn, a[row.input], part, row.takes)
      if row.output then check_outputs(fn, row, a, part) end
    end
    local out = run()
    for _, part in ipairs(parts) do
      if row.becomes then become(a[row.input], part, row.becomes) end
    end
    local list = {}
    for _, p in ipairs(row[1]) do
      check.each_tensor(a[p[1]], function (t) list[#list + 1] = t end)
    end
    trace.call(fn, trace.before(list, #list))
    return out
  end)
end

-- Put a look at types before each of the module's collectives.
function M.provide(dist)
  local function wrap(name, fn)
    local plain, row = rawget(dist, name), rows[fn]
    if plain == nil then return end
    rawset(dist, name, V.builtin(function (a, kw)
      if not state.on() then return V.call(plain, a, kw) end
      local function run() return moves.unseen(V.call, plain, a, kw) end
      local named_args = named(row, a, kw)
      for _, v in pairs(named_args) do
        if util.is_dtensor(v) then return run() end
      end
      return typed(fn, row, named_args, run)
    end, name))
  end
  for name in pairs(rows) do wrap(name, name) end
  for name, fn in pairs(OLDER) do wrap(name, fn) end
end

return M
