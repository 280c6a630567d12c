-- SPDX-License-Identifier: MIT
-- dt/spmd/transitions.lua: the collectives, convert and reinterpret with their
-- types: all_reduce(x, axis, {src =, dst =, …}) computes (collectives.lua), and
-- where types are checked the result gets its type or the call is refused.
--
-- An axis is a group of ranks as dt.distributed has it, the name of one in the
-- current mesh, or a mesh axis of it.

local dt = require "dt"
local util = require "dt.util"
local arguments = require "dt.spmd.arguments"
local collectives = require "dt.spmd.collectives"
local checked = require "dt.spmd.checked"
local trace = require "dt.spmd.trace"

local M = {}
local core = dt._spmd

-- The functions' arguments after x and axis, in the order in which they are
-- shown, with their defaults: a line each.
local COMMON = {"op_dtype", "out_dtype", "async_op", "backward_options"}
local SIGNATURES = {
  all_reduce = {"src", "dst", "inplace"},
  all_gather = {"src", "dst", "gather_dim", "split_sizes"},
  reduce_scatter = {"src", "dst", "scatter_dim", "split_sizes"},
  all_to_all = {"src", "dst", "split_dim", "concat_dim", "output_split_sizes",
    "input_split_sizes"},
  reinterpret = {"src", "dst", "expert_mode"},
  convert = {"src", "dst", "expert_mode"},
  redistribute = {"src", "dst"},
  shard = {"src", "dst"},
  unshard = {"src", "dst"},
  invariant_to_replicate = {},
}
for _, list in pairs(SIGNATURES) do
  table.move(COMMON, 1, #COMMON, #list + 1, list)
end
M.signatures = SIGNATURES

local DEFAULTS = {
  all_reduce = {src = "P", inplace = false}, all_gather = {src = "V"},
  reduce_scatter = {src = "P", dst = "V"}, all_to_all = {src = "V", dst = "V"},
  reinterpret = {expert_mode = false}, convert = {expert_mode = false},
  invariant_to_replicate = {src = "I", dst = "R"},
}
M.defaults = DEFAULTS

-- Under which name a function's call is checked.
local SHOWN = {shard = "convert", unshard = "all_gather"}

local function completed(fn, a)
  local out = {async_op = false}
  for k, v in pairs(DEFAULTS[fn] or {}) do out[k] = v end
  for k, v in pairs(a or {}) do
    if v ~= dt.None then out[k] = v end
  end
  return out
end

-- How repr() has an argument.
local function shown(v)
  if v == nil then return "None" end
  if type(v) == "boolean" then return v and "True" or "False" end
  if type(v) == "table" and v.text then return v.text end
  if type(v) == "table" and #v > 0 then
    return "[" .. table.concat(v, ", ") .. "]"
  end
  if type(v) == "table" and getmetatable(v) == nil then
    local parts = {}
    for _, key in ipairs(COMMON) do
      if v[key] ~= nil then
        parts[#parts + 1] = ("'%s': %s"):format(key, shown(v[key]))
      end
    end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return tostring(v)
end

-- Functions whose axis is shown as it was written.
local AS_WRITTEN = {redistribute = true, invariant_to_replicate = true}

-- The call as it is shown: a list of {name, text or tensor}.
local function context(fn, x, axis, a)
  local named, where = pcall(checked.axis_text, axis, AS_WRITTEN[fn])
  local list = {{"x", x}, {"axis", named and where or ("'%s'"):format(axis)}}
  local full = completed(fn, a)
  for _, name in ipairs(SIGNATURES[fn]) do
    list[#list + 1] = {name, shown(full[name])}
  end
  return list
end

local function call(fn, x, axis, given)
  local name = SHOWN[fn] or fn
  local a = completed(fn, given)
  local run = collectives[fn]
  if fn == "shard" or fn == "unshard" then
    arguments.check(fn, a.src, a.dst)
    run = collectives[name]
    a = completed(name, a)
  end
  if not checked.on() then
    return run(x, checked.group(axis), a)
  end
  local function typed()
    checked.operand(x, fn == "invariant_to_replicate" and axis or nil)
    local before = trace.on and trace.before({x}, 1)
    local y = run(x, checked.group(axis), a)
    checked.collective(name, x, axis, a, y)
    if before then trace.call(name, before, core.types(y) or {}) end
    return y
  end
  return checked.call(name, function () return context(name, x, axis, a) end,
    typed)
end

for fn in pairs(SIGNATURES) do
  M[fn] = function (x, axis, a)
    if not util.is_tensor(x) then
      util.raise("AttributeError", "'%s' object has no attribute 'dtype'",
        type(x))
    end
    return call(fn, x, axis, a)
  end
end

return M
