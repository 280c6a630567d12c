-- SPDX-License-Identifier: MIT
-- parity/spmd_python.lua: runs Python texts of the suites about SPMD types:
-- the names that they are given, their mesh and mode, and what comes of them.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local python = require "torch"
local attrs = require "python.attrs"
local meshes = require "torch.mesh"
local values = require "torch.spmd.values"
local spmd = require "torch.spmd"
local common = require "parity.spmd_common"
local facts = require "parity.facts"
local types = require "parity.spmd_types"
local moves = require "dt.spmd.moves"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"

local core = dt._spmd
local M = {}
local None = dt.None

-- ---- names ----

-- Numbers 1, 2, … of a shape, as a result that takes gradients.
local function tensor_of(shape, grad)
  local n, list = 1, {}
  for _, s in ipairs(shape) do n = n * s end
  for k = 1, n do list[k] = k + 0.0 end
  local t = n == 0 and dt.zeros(shape) or dt.tensor(list):view(shape)
  if grad then t = t:requires_grad_() * 1 end
  return t
end

local function maker(a, kw)
  local grad = kw and V.dict_get(kw, "grad")
  return moves.unseen(tensor_of, V.to_lua(a), grad == nil or grad == true)
end

local function indexes(a, kw)
  local list, most = {}, a[2] or V.dict_get(kw, "hi")
  for k = 0, a[1] - 1 do list[k + 1] = k % most end
  return dt.tensor(list, {dtype = dt.int64})
end

-- The groups of a mesh's dimensions, described as those of a named mesh.
local function groups(w, mesh)
  local out = {}
  for i, name in ipairs(mesh.names) do
    local g = attrs.get(w.device, "get_group").call(V.list({i - 1}, 1))
    if #mesh.names > 1 then g.group_desc = "mesh_" .. name end
    out[name] = g
  end
  return out
end

local function flat_names(vars)
  for _, name in ipairs {"R", "I", "V", "P", "S", "PartitionSpec",
    "MeshAxis"} do
    vars[name] = spmd[name]
  end
  local flat = python.names.flat
  for _, name in ipairs {"DTensor", "Replicate", "Shard", "Partial"} do
    vars[name] = flat[name]
  end
  vars.spmd = spmd
  vars.torch, vars.F, vars.nn = python.names.torch, python.names.F,
    python.names.nn
  vars.rules = spmd.rules
  vars.dist = python.names.dist
end

-- An environment for a line: {env, w (its world)}.
function M.environment(mesh)
  local w = types.world(mesh)
  local env = python.environment()
  local vars = env.vars
  flat_names(vars)
  for name, g in pairs(groups(w, mesh)) do vars[name] = g end
  vars.mesh = w.device
  vars.t, vars.arr = V.builtin(maker, "t"), V.builtin(maker, "arr")
  vars.idx = V.builtin(function (a, kw)
    return moves.unseen(indexes, a, kw)
  end, "idx")
  vars.a, vars.at = spmd.assert_type, spmd.assert_type
  vars.one = meshes.group_of {dt.rank()}
  if #mesh.names == 2 then
    vars.fl = meshes.world_group()
    vars[table.concat(mesh.names, "_")] = vars.fl
    vars.m1 = w.device[mesh.names[2]]
    types.group(w, mesh, table.concat(mesh.names, "_"))
  end
  vars.types = V.builtin(function (a)
    local d = V.dict()
    for _, v in ipairs(core.types(a[1]) or {}) do
      V.dict_set(d, w.names[v[1]] or core.axis_info(v[1]).name, v[2])
    end
    return d
  end, "types")
  vars.spec = V.builtin(function (a)
    return spmd.get_partition_spec.call(a)
  end, "spec")
  local ok, local_map = pcall(attrs.member,
    "torch.distributed.tensor.experimental", "local_map")
  if ok then vars.torch_local_map = local_map end
  return {env = env, w = w}
end

-- ---- running ----

-- Run a text with checking as `how` says: {mesh =, check =, strict =,
-- ["local"] =, trace =}; gives the value or nil, the error or nil, and what was
-- traced.
function M.run(text, e, how)
  local lines = {}
  trace.put = function (line) lines[#lines + 1] = line end
  if how.mesh then
    python.call(attrs.get(spmd.set_current_mesh.call(V.list {e.w.device}),
      "__enter__"), V.list({}, 0))
  end
  trace.on, trace.calls = how.trace == true, how.trace == true
  if how.check then
    state.enter {strict = how.strict ~= false,
      ["local"] = how["local"] ~= false}
  end
  local ok, v = pcall(python.last, text, e.env, "case.py")
  local keep = ok and how.keep and how.keep(v) or nil
  state.leave(1)
  state.leave_mesh(1)
  trace.on, trace.calls = false, false
  if ok then return keep, nil, lines end
  return nil, v, lines
end

-- Class, text and line of an error.
function M.failure(e)
  local f = common.failure(e)
  f.line = type(e) == "table" and math.tointeger(tonumber((tostring(e.where)
    :match("case%.py:(%d+)")))) or nil
  return f
end

-- ---- results, as the data has them ----

local function axis_name(w, id)
  return w.names[id] or core.axis_info(id).name
end

local function key_text(w, k)
  if values.MeshAxis.test(k) then return axis_name(w, k.axis_id) end
  return (V.str(k):gsub("0x%x+", "0xADDR"))
end

local function tensor_facts(w, t)
  local out = {shape = {table.unpack(t.shape)},
    dtype = facts.dtype_name(t.dtype):gsub("^bool$", "b8"),
    type = types.of(w, t)}
  if core.spec(t) then out.spec = types.spec_of(w, t) end
  return out
end

local described

local function entry(w, v)
  if v == None then return "-" end
  if V.is_tuple(v) then
    local list = {}
    for i = 1, v.n do list[i] = entry(w, v[i]) end
    return table.concat(list, "+")
  end
  return values.MeshAxis.test(v) and axis_name(w, v.axis_id) or key_text(w, v)
end

local function spec_text(w, spec)
  local list = {}
  for d = 1, spec.n do list[d] = entry(w, spec[d]) end
  return table.concat(list, ",")
end

local function dict_facts(w, d)
  local out = {}
  for k, v in V.each(d) do
    out[#out + 1] = key_text(w, k) .. "=" .. (values.MeshAxis.test(v)
      and axis_name(w, v.axis_id) or V.repr(v))
  end
  table.sort(out)
  return table.concat(out, " ")
end

described = function (w, v)
  if util.is_tensor(v) then return tensor_facts(w, v) end
  if v == nil or v == None then return {null = true} end
  if values.MeshAxis.test(v) then return {axis = axis_name(w, v.axis_id)} end
  if values.is_spec(v) then return {PartitionSpec = spec_text(w, v)} end
  if values.is_type(v) then
    return {SpmdType = dict_facts(w, v.local_type) .. "|"
      .. (v.partition_spec == None and "none"
        or spec_text(w, v.partition_spec))}
  end
  if type(v) == "table" and rawget(v, "_spmd_scalar") then
    local list = {}
    for i, t in ipairs(v._spmd_scalar) do
      list[i] = axis_name(w, t[1]) .. "=" .. t[2]
    end
    table.sort(list)
    return {Scalar = v.value, type = table.concat(list, " ")}
  end
  if V.is_dict(v) then return {dict = dict_facts(w, v)} end
  if V.is_set(v) then
    local items, n = V.items(v)
    local list = {}
    for i = 1, n do list[i] = key_text(w, items[i]) end
    table.sort(list)
    return {set = table.concat(list, " ")}
  end
  if V.is_seq(v) then
    local out = {}
    for i = 1, v.n do out[i] = described(w, v[i]) end
    return out
  end
  if type(v) == "string" then return {value = (v:gsub("0x%x+", "0xADDR"))} end
  if type(v) == "number" or type(v) == "boolean" then return {value = v} end
  return {repr = (V.repr(v):gsub("0x%x+", "0xADDR"))}
end
M.described = described

-- The same of what the data says.
local function wanted_dict(d)
  local out = {}
  for k, v in pairs(d) do out[#out + 1] = k .. "=" .. tostring(v) end
  table.sort(out)
  return table.concat(out, " ")
end

local function wanted(v)
  if v == None or v == nil then return {null = true} end
  if v.shape then
    return {shape = v.shape, dtype = v.dtype, type = types.wanted(v.type),
      spec = v.spec and types.wanted_spec(v.spec)}
  elseif v.value ~= nil then
    return v.value == None and {null = true} or {value = v.value}
  elseif v.axis then
    return {axis = v.axis}
  elseif v.PartitionSpec then
    return {PartitionSpec = types.wanted_spec(v.PartitionSpec)}
  elseif v.SpmdType then
    return {SpmdType = wanted_dict(v.SpmdType.local_type) .. "|"
      .. types.wanted_spec(v.SpmdType.partition_spec)}
  elseif v.Scalar ~= nil then
    return {Scalar = v.Scalar, type = wanted_dict(v.type)}
  elseif v.dict then
    return {dict = wanted_dict(v.dict)}
  elseif v.set then
    table.sort(v.set)
    return {set = table.concat(v.set, " ")}
  elseif v.repr then
    return {repr = v.repr}
  end
  local out = {}
  for i, item in ipairs(v) do out[i] = wanted(item) end
  return out
end
M.wanted = wanted

-- Text of a table for comparison, keys in order.
local function flat(v)
  if type(v) ~= "table" then
    return math.type(v) == "float" and ("%.17g"):format(v) or tostring(v)
  end
  local keys, out = {}, {}
  for k in pairs(v) do keys[#keys + 1] = tostring(k) end
  table.sort(keys)
  for i, k in ipairs(keys) do
    local item = v[k]
    if item == nil then item = v[math.tointeger(tonumber(k))] end
    out[i] = k .. ":" .. flat(item)
  end
  return "{" .. table.concat(out, " ") .. "}"
end

function M.compare(want, got)
  local a, b = flat(want), flat(got)
  if a ~= b then return ("want %s, got %s"):format(a, b) end
end

return M
