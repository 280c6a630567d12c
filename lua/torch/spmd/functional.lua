-- SPDX-License-Identifier: MIT
-- torch/spmd/functional.lua: functional collectives while types are checked:
-- to spmd_types they are operators like any other, nonlinear ones, called with
-- the name of their group.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local check = require "dt.spmd.check"
local meshes = require "torch.mesh"

local M = {}

-- The parameters, the operator that is called, and what it is called with:
-- names of parameters, "size" of the group, "name" of it.
local rows = {
  all_reduce = {{"self", "reduceOp", "group", "tag"}, "all_reduce",
    {"reduceOp", "name"}},
  broadcast = {{"self", "src", "group", "tag"}, "broadcast", {"src", "name"}},
  all_gather_tensor = {{"self", "gather_dim", "group", "tag"},
    "all_gather_into_tensor", {"size", "name"}},
  reduce_scatter_tensor = {{"self", "reduceOp", "scatter_dim", "group", "tag"},
    "reduce_scatter_tensor", {"reduceOp", "size", "name"}},
  all_to_all_single = {{"self", "output_split_sizes", "input_split_sizes",
    "group", "tag"}, "all_to_all_single", {"outs", "ins", "name"}},
  wait_tensor = {{"tensor"}, "wait_tensor", {}},
}
rows.all_gather_single = rows.all_gather_tensor
rows.reduce_scatter_single = rows.reduce_scatter_tensor
for _, name in ipairs {"all_gather_tensor", "all_gather_single",
    "reduce_scatter_tensor", "reduce_scatter_single", "all_to_all_single"} do
  rows[name .. "_autograd"] = rows[name]
end

local function group_of(v)
  if V.is_tuple(v) and util.is_mesh(v[1]) then
    return attrs.get(v[1], "get_group").call(V.list({v[2]}, 1))
  elseif util.is_mesh(v) then
    return attrs.get(v, "get_group").call(V.list({}, 0))
  elseif V.is_list(v) then
    return meshes.group_of(V.to_lua(v))
  end
  return type(v) == "string" and meshes.group_named(v) or v
end

local function sizes(given, x, n)
  if args.given(given) then return given end
  local list = {}
  for i = 1, n do list[i] = x.shape[1] // n end
  return V.list(list, n)
end

-- The operator's arguments, or nil where the call is none that can be shown.
local function arguments_of(row, a, kw)
  local by_name, x = {}, a[1]
  for i, name in ipairs(row[1]) do
    by_name[name] = a[i]
    if a[i] == nil and kw then by_name[name] = V.dict_get(kw, name) end
  end
  x = by_name[row[1][1]]
  if not util.is_tensor(x) then return nil end
  local group = by_name.group and group_of(by_name.group)
  local list = {x}
  for _, name in ipairs(row[3]) do
    if type(group) ~= "table" or not meshes.is_group(group) then return nil end
    local n = #group.ranks
    list[#list + 1] = name == "size" and n or name == "name"
      and group.group_name or name == "outs"
      and sizes(by_name.output_split_sizes, x, n) or name == "ins"
      and sizes(by_name.input_split_sizes, x, n)
      or type(by_name[name]) == "string" and by_name[name]:lower()
      or by_name[name] or dt.None
  end
  return V.list(list, #list)
end

-- Put a look at types before each functional collective of the table.
function M.provide(functional)
  for name, row in pairs(rows) do
    local plain = functional[name]
    functional[name] = plain and V.builtin(function (a, kw)
      local list = not check.busy() and arguments_of(row, a, kw)
      if not list then return V.call(plain, a, kw) end
      return check.run("funcol." .. row[2], row[2], function ()
        return V.call(plain, a, kw)
      end, list)
    end, name)
  end
end

return M
