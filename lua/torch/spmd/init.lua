-- SPDX-License-Identifier: MIT
-- torch/spmd/init.lua: `import spmd_types` of Python programs: names, arguments
-- and errors are the package's (0.3.1); types and numbers are dt.spmd's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local asserts = require "torch.spmd.assert"
local scalars = require "torch.spmd.scalar"
local scopes = require "torch.spmd.scopes"
local values = require "torch.spmd.values"
local exceptions = require "python.exceptions"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"
local transitions = require "dt.spmd.transitions"
local arguments = require "dt.spmd.arguments"
require "torch.spmd.watch"

local None, namespace = dt.None, attrs.namespace
local M = {}

-- ---- transitions ----

-- Arguments that have types in them.
local KINDS = {src = true, dst = true}

local function plain(v)
  if V.is_dict(v) then
    local t = {}
    for key, item in V.each(v) do
      if item ~= None then t[V.str(key)] = plain(item) end
    end
    return t
  end
  return V.to_lua(v)
end

local function transition(fn)
  local signature, defaults = {"x", "axis", "*"}, transitions.defaults[fn] or {}
  for _, name in ipairs(transitions.signatures[fn]) do
    local must = KINDS[name] and defaults[name] == nil
    signature[#signature + 1] = name .. (must and "" or "?")
  end
  return args.def(fn, signature, function (a)
    local t = {}
    for _, name in ipairs(transitions.signatures[fn]) do
      local v = a[name]
      if v ~= nil and v ~= None then
        t[name] = KINDS[name] and values.kind(v) or plain(v)
      elseif v == None and KINDS[name] then
        t[name] = {text = "None", repr = "None"}
      end
    end
    if not util.is_tensor(a.x) then
      util.raise("AttributeError", "'%s' object has no attribute 'dtype'",
        V.type_name(a.x))
    end
    return transitions[fn](a.x, a.axis, t)
  end)
end
for fn in pairs(transitions.signatures) do M[fn] = transition(fn) end

-- ---- DTensor ----

local function placed(p)
  local text = util.is_placement(p) and p:repr() or ""
  local dim = text:match("^Shard%(dim=(%-?%d+)%)")
  return text:match("^[%w_]+"), dim and math.tointeger(tonumber(dim))
end

M.dtensor_placement_to_spmd_type = args.def("dtensor_placement_to_spmd_type",
  {"placement", "grad_placement?"}, function (a)
    local name, dim = placed(a.placement)
    local grad = args.given(a.grad_placement) and placed(a.grad_placement)
    if name == "Replicate" then
      return values.kinds[grad == "Partial" and "R" or "I"]
    elseif name == "Shard" then
      return values.shard(dim)
    elseif name == "Partial" or name == "_MaskPartial" then
      return values.kinds.P
    end
    return util.raise("ValueError", "Unknown DTensor placement: %s",
      V.repr(a.placement))
  end)

M.spmd_type_to_dtensor_placement = args.def("spmd_type_to_dtensor_placement",
  {"spmd_type"}, function (a)
    local kind = values.kind(a.spmd_type)
    if kind == "R" or kind == "I" then return dt.Replicate() end
    if kind == "P" then return dt.Partial() end
    local dim = arguments.dim_of(kind)
    if dim then return dt.Shard(dim) end
    if kind == "V" then
      util.raise("ValueError", "Cannot convert plain Varying to a DTensor "
        .. "placement. Use S(dim) to specify which tensor dimension is "
        .. "sharded.")
    end
    return util.raise("ValueError", "Unknown spmd type: %s",
      V.str(a.spmd_type))
  end)

-- ---- the module ----

for _, part in ipairs {asserts.functions, scopes.functions} do
  for name, v in pairs(part) do M[name] = v end
end
local long = {R = "Replicate", I = "Invariant", V = "Varying", P = "Partial"}
for letter, kind in pairs(values.kinds) do
  M[letter], M[long[letter]] = kind, kind
end
M.S, M.Shard = values.Shard, values.Shard
for _, name in ipairs {"MeshAxis", "PartitionSpec", "TensorSharding",
  "SpmdType", "SpmdTypeError", "PerMeshAxisLocalSpmdType"} do
  M[name] = values[name]
end
M.Scalar = scalars.Scalar
M.PerMeshAxisSpmdType = values.PerMeshAxisLocalSpmdType
M.PerMeshAxisSpmdTypes = "PerMeshAxisSpmdTypes"
M.LocalSpmdType, M.DimSharding = "LocalSpmdType", "DimSharding"
M.set_dist = V.builtin(function () return None end, "set_dist")
local sentinel = setmetatable({specials = {__bool__ = function ()
  return scopes.functions.is_type_checking.call(V.list({}, 0))
end, __repr__ = function ()
  return state.on() and "TYPE_CHECKING(True)" or "TYPE_CHECKING(False)"
end}}, {__name = "_TypeCheckingSentinel", opaque = true})
M.TYPE_CHECKING = sentinel

local typecheck = M.typecheck
M.typecheck = nil
local checker = namespace {typecheck = typecheck,
  is_type_checking = M.is_type_checking, local_map = M.local_map,
  no_typecheck = M.no_typecheck, SpmdTypeMode = typecheck}
local types = namespace {
  shard_types_to_partition_spec = asserts.shard_types_to_partition_spec,
  RedistributeError = values.RedistributeError,
  DTensorPropagationError = values.DTensorPropagationError,
  normalize_axis = M.normalize_axis,
  normalize_partition_spec = M.normalize_partition_spec}
for _, name in ipairs {"R", "I", "V", "P", "S", "Shard", "Replicate",
  "Invariant", "Varying", "Partial", "PartitionSpec", "SpmdType",
  "SpmdTypeError", "PerMeshAxisLocalSpmdType", "MeshAxis", "TensorSharding"} do
  types[name] = M[name]
end
M.checker, M.types = checker, types
M.runtime = namespace {assert_type = M.assert_type, trace = M.trace,
  traceback_filtering = M.traceback_filtering}

-- Errors of these functions end with the note of the filter, where one is set.
local function noted(f)
  local plain = f.call
  return V.builtin(function (a, kw)
    if say.filtering == "off" or say.filtering == "tracebackhide" then
      return plain(a, kw)
    end
    local out = table.pack(pcall(plain, a, kw))
    if out[1] then return table.unpack(out, 2, out.n) end
    local e = out[2]
    if exceptions.catches(values.SpmdTypeError, e) then
      e.message = e.message .. say.note
      if say.filtering == "remove_frames" then
        e.__cause__ = values.UnfilteredStackTrace.make(V.list {""})
      end
    end
    return error(e, 0)
  end, rawget(f, "name"))
end
for name in pairs(asserts.functions) do M[name] = noted(M[name]) end

M.rules = require("torch.spmd.rules").functions
for _, part in ipairs {"mesh", "hooks"} do
  for name, f in pairs(require("torch.spmd." .. part)) do M[name] = f end
end

namespace(M)
attrs.provide("spmd_types", M)
attrs.provide("spmd_types.checker", checker)
attrs.provide("spmd_types.types", types)
attrs.provide("spmd_types.runtime", M.runtime)

return M
