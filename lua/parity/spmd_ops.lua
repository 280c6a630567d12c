-- SPDX-License-Identifier: MIT
-- parity/spmd_ops.lua: calls under the SPMD checker: the types of what comes
-- out, what they did to their arguments, or the error with its whole text.
-- Lines as {"id": "spmd/ops/...", "call": Python, "args": tensors with types},
-- on one rank, which knows axes of more.

local dt = require "dt"
local util = require "dt.util"
local python = require "torch"
local V = require "python.values"
local attrs = require "python.attrs"
local ops = require "python.ops"
local facts = require "parity.facts"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"
local spmd = require "torch.spmd"
local core = dt._spmd

local M = {}
local None = dt.None

local dtypes = {f32 = dt.float32, f64 = dt.float64, bf16 = dt.bfloat16,
  f16 = dt.float16, i64 = dt.int64, i32 = dt.int32, u8 = dt.uint8,
  b8 = dt.bool, c64 = dt.complex64}
local short = {}
for name, d in pairs(dtypes) do short[tostring(d)] = name end

-- ---- the mesh of a line ----

-- {"dp": 2, "tp": 2} as text has its dims in order; a decoded table has not.
local function dims_of(text)
  local body = text:match('"mesh": (%b{})')
  local names, sizes = {}, {}
  for name, n in body:gmatch('"(%w+)": (%d+)') do
    names[#names + 1], sizes[#sizes + 1] = name, tonumber(n)
  end
  return names, sizes
end

local function axes_of(text)
  local names, sizes = dims_of(text)
  local axes, by_name, stride = {}, {}, 1
  for i = #names, 1, -1 do
    axes[i] = core.axis {{sizes[i], stride}}
    core.name_axis(axes[i], "mesh_" .. names[i])
    by_name[names[i]] = axes[i]
    stride = stride * sizes[i]
  end
  return axes, by_name
end

-- ---- types to and from JSON ----

local function types_of(t, by_name, axes, spec)
  if t == None or t == nil then return nil end
  local out = {}
  for _, d in ipairs(spec or {}) do     -- one tuple gives the order
    if d and #d > 1 then axes = d end
  end
  for _, axis in ipairs(axes) do
    for name, letter in pairs(t) do
      if by_name[name] == axis then out[#out + 1] = {axis, letter} end
    end
  end
  return out
end

local function spec_of(spec, by_name)
  if spec == nil then return nil end
  local out = {}
  for i = 1, #spec do
    local d = spec[i]
    if type(d) == "table" and d ~= None then
      out[i] = {}
      for j, name in ipairs(d) do out[i][j] = by_name[name] end
    else
      out[i] = d ~= None and d and {by_name[d]} or false
    end
  end
  return out
end

local function name_of(axis, by_name)
  for name, a in pairs(by_name) do if a == axis then return name end end
  return core.axis_info(axis).name
end

local function type_text(t, by_name)
  local types = core.types(t)
  local out = {}
  if types then
    local parts = {}
    for _, p in ipairs(types) do
      parts[#parts + 1] = name_of(p[1], by_name) .. "=" .. p[2]
    end
    table.sort(parts)
    out[1] = table.concat(parts, " ")
  else
    out[1] = "none"
  end
  local spec = core.spec(t)
  if spec then
    local parts = {}
    for i, d in ipairs(spec) do
      local names = {}
      for j, a in ipairs(d or {}) do names[j] = name_of(a, by_name) end
      parts[i] = #names > 0 and table.concat(names, "+") or "-"
    end
    out[2] = "[" .. table.concat(parts, ",") .. "]"
  end
  return table.concat(out, " ")
end

local function wanted(t)
  local out = {}
  if t.type == None or t.type == nil then
    out[1] = "none"
  else
    local parts = {}
    for name, letter in pairs(t.type) do
      parts[#parts + 1] = name .. "=" .. letter
    end
    table.sort(parts)
    out[1] = table.concat(parts, " ")
  end
  if t.spec and t.spec ~= None then
    local parts = {}
    for i = 1, #t.spec do
      local d = t.spec[i]
      parts[i] = d == None and "-" or type(d) == "table"
        and table.concat(d, "+") or tostring(d)
    end
    out[2] = "[" .. table.concat(parts, ",") .. "]"
  end
  return table.concat(out, " ")
end

-- ---- arguments ----

-- Values that no result's shape depends on in another way than there: a third
-- of all booleans holds, integers are 0 and 1 by turns, matrices are regular.
local function values(n, d)
  local list = {}
  for k = 0, n - 1 do
    if d == "b8" then list[k + 1] = k % 3 == 0
    elseif d:find "^[iu]" then list[k + 1] = k % 2
    else list[k + 1] = (k * k * 3 + k) % 11 * 0.25 + 0.5 end
  end
  return list
end

local function plain(shape, d)
  local n = 1
  for _, s in ipairs(shape) do n = n * s end
  if d == "c64" then
    return dt.complex(dt.full(shape, 0.5), dt.full(shape, 0.5))
  end
  return dt.tensor(values(n, d), {dtype = dtypes[d]}):view(shape):clone()
end

local function argument(v, by_name, axes)
  local t = plain(v.shape, v.dtype)
  if v.grad then
    t.requires_grad = true
    t = t * 1
  end
  local spec = spec_of(v.spec, by_name)
  core.set(t, types_of(v.type, by_name, axes, spec), spec)
  return t
end

local function module(class, make)
  return V.builtin(function (a)
    return V.call(make(class, a), V.list({a[1]}, 1))
  end, class)
end

local function with_parameters(m, params)
  local old = state.pause()
  for name, p in pairs(params) do
    local own = dt.nn.Parameter(p:detach())
    core.set(own, core.types(p), core.spec(p))
    attrs.set(m, name, own)
  end
  state.resume(old)
  return m
end

local function paused(f)
  local old = state.pause()
  local m = f()
  state.resume(old)
  return m
end

local helpers = {
  setitem = V.builtin(function (a)
    ops.setitem(a[1], a[2], a[3])
    return a[1]
  end, "setitem"),
  iadd = V.builtin(function (a) return ops.augmented "+"(a[1], a[2]) end,
    "iadd"),
  setattr_data = V.builtin(function (a)
    attrs.set(a[1], "data", a[2])
    return a[1]
  end, "setattr_data"),
  module_linear = module("Linear", function (_, a)
    local w = a[2].shape
    return with_parameters(paused(function ()
      return dt.nn.Linear(w[2], w[1], {bias = a[3] ~= nil})
    end), {weight = a[2], bias = a[3]})
  end),
  module_layernorm = module("LayerNorm", function (_, a)
    return with_parameters(paused(function ()
      return dt.nn.LayerNorm({table.unpack(a[2].shape)})
    end), {weight = a[2], bias = a[3]})
  end),
  module_embedding = module("Embedding", function (_, a)
    local w = a[2].shape
    return with_parameters(paused(function ()
      return dt.nn.Embedding(w[1], w[2])
    end), {weight = a[2]})
  end),
}

local function environment(line, axes, by_name)
  local env = python.environment()
  local vars, made = env.vars, {}
  for name, f in pairs(helpers) do vars[name] = f end
  for name, v in pairs(line.args or {}) do
    made[name] = argument(v, by_name, axes)
    vars[name] = made[name]
  end
  for _, name in ipairs {"R", "I", "V", "P", "Scalar"} do
    vars[name] = attrs.get(spmd, name)
  end
  return env, made
end

-- ---- one line ----

-- The types of a value; nil for what is no tensor.
local function described(v, by_name)
  if util.is_tensor(v) then
    return ("%s %s %s"):format(short[tostring(v.dtype)] or tostring(v.dtype),
      facts.encode({table.unpack(v.shape)}), type_text(v, by_name))
  elseif V.is_seq(v) then
    local out = {}
    for i = 1, v.n do out[i] = described(v[i], by_name) or "value" end
    return "(" .. table.concat(out, "; ") .. ")"
  end
end

local function expected(v)
  if type(v) ~= "table" or v == None then return nil end
  if v.shape then
    return ("%s %s %s"):format(v.dtype, facts.encode(v.shape), wanted(v))
  elseif v.value ~= nil then
    return nil
  end
  local out = {}
  for i = 1, #v do out[i] = expected(v[i]) or "value" end
  return "(" .. table.concat(out, "; ") .. ")"
end

local function same_text(want, got)
  got = got:gsub("0x%x+", "0xADDR")
  return want == got
end

local function run(line, text)
  local axes, by_name = axes_of(text)
  local mode = line.mode or {}
  local old = dt._set_grad_enabled(not mode.no_grad)
  local mesh = mode.current_mesh ~= false
    and state.set_mesh(axes, {by_name = by_name})
  local env, made = environment(line, axes, by_name)
  say.filtering = mode.filtering or "off"
  local block = state.enter {strict = mode.strict ~= false,
    ["local"] = mode["local"] ~= false}
  local ok, value = pcall(python.value, line.call, env)
  state.leave(block)
  if mesh then state.leave_mesh(mesh) end
  say.filtering = "off"
  dt._set_grad_enabled(old)
  return ok, value, made, by_name
end

local function changes(line, made, by_name)
  for name, v in pairs(line.args or {}) do
    local now = (line.mutated or {})[name]
    local want = now and {type = now.type, spec = now.spec} or v
    local got = type_text(made[name], by_name)
    if wanted(want) ~= got then
      return ("%s is {%s}, want {%s}"):format(name, got, wanted(want))
    end
  end
end

local function check(line, text)
  local ok, value, made, by_name = run(line, text)
  if line.error then
    if ok then
      return ("no error, want %s: %s"):format(line.error.class,
        line.error.text)
    end
    local class = type(value) == "table" and value.class or "?"
    local got = type(value) == "table" and value.message or tostring(value)
    if class ~= line.error.class or not same_text(line.error.text, got) then
      return ("want %s: %s, got %s: %s"):format(line.error.class,
        line.error.text, class, got)
    end
  else
    if not ok then
      return "raised " .. tostring(type(value) == "table"
        and value.class .. ": " .. value.message or value)
    end
    local want, got = expected(line.out), described(value, by_name)
    if type(line.out) == "table" and line.out ~= None
       and line.id:find("Scalar.arith", 1, true) then
      want, got = tostring(line.out.value), V.str(value)
      got = got == "True" and "true" or got == "False" and "false" or got
    end
    if want and want ~= got then
      return ("gives %s, want %s"):format(tostring(got), want)
    end
  end
  return changes(line, made, by_name)
end

-- Check a file; returns a list of {what, why, skip}.
function M.check(path, only)
  local report = {}
  require "torch.spmd.watch"
  dt._pretend_data(true)
  for text in io.lines(path) do
    local line = dt._json_decode(text)
    if only == "" or line.id:find(only, 1, true) then
      report[#report + 1] = {what = line.id, why = check(line, text)}
    end
  end
  dt._pretend_data(false)
  return report
end

return M
