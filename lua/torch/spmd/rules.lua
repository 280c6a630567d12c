-- SPDX-License-Identifier: MIT
-- torch/spmd/rules.lua: spmd_types.rules: what operations do to types, for
-- programs that say it of operations of their own.  No numbers are touched.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local args = require "python.args"
local values = require "torch.spmd.values"
local phantom = require "torch.spmd.phantom"
local arguments = require "dt.spmd.arguments"
local asserts = require "dt.spmd.assert"

local core = dt._spmd
local F, M = {}, {}
local None, def, given = dt.None, args.def, args.given

local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end

-- ---- transitions ----

local ALLOWED = {
  all_reduce = "P|V -> R, P|V -> I",
  all_gather = "V|S -> R, V|S -> I",
  reduce_scatter = "P|V -> V|S",
  all_to_all = "V|S -> V|S",
  reinterpret = "R -> R, I -> I, V -> V, P -> P, V -> P, R -> V, R -> P, "
    .. "I -> V, I -> P, R -> I, I -> R",
  convert = "R -> R, I -> I, P -> P, R -> I, R -> V|S, R -> P, I -> R, "
    .. "I -> V|S, I -> P, V|S -> V|S, V|S -> P",
}
local DEFAULTS = {all_reduce = {src = "P"}, all_gather = {src = "V"},
  reduce_scatter = {src = "P", dst = "V"}, all_to_all = {src = "V", dst = "V"}}

local function has(list, t)
  local letter = arguments.is_shard(t) and "S" or t
  return ("|" .. list .. "|"):find("|" .. tostring(letter) .. "|", 1, true)
end

local function admits(fn, src, dst)
  for from, to in ALLOWED[fn]:gmatch("([%u|]+) %-> ([%u|]+)") do
    if has(from, src) and has(to, dst) then return true end
  end
  return false
end

local function plain(t)
  if t == nil or t == None then return "None" end
  return type(t) == "table" and t.repr or tostring(t)
end

local function check_pair(fn, src, dst)
  if type(src) ~= "string" or type(dst) ~= "string" then
    util.raise("TypeError", "rules.%s: src and dst must be R, I, V, P or S(i); "
      .. "got src=%s, dst=%s", fn, plain(src), plain(dst))
  elseif not admits(fn, src, dst) then
    wrong("rules.%s: %s -> %s is not a transition the type system admits for "
      .. "%s. Allowed: %s", fn, src, dst, fn, ALLOWED[fn])
  end
end

-- Dimensions come and go where parts are stacked.
local function with_rank(what, fn, ndim, src, dst, spec)
  if fn == "all_gather" and src == "V" then
    local out = {false}
    for d = 1, ndim do out[d + 1] = spec and spec[d] or false end
    return ndim + 1, out
  elseif fn == "reduce_scatter" and dst == "V" then
    if ndim == 0 then wrong("%s: cannot unbind dim 0 of a scalar", what) end
    if spec and spec[1] then
      local names = {}
      for i, a in ipairs(spec[1]) do names[i] = name_of(a) end
      local text = table.concat(names, ", ")
      wrong("%s: dim 0 is unbound across ranks but is sharded on %s", what,
        #names == 1 and text or "(" .. text .. ")")
    end
    return ndim - 1, spec and {table.unpack(spec, 2, ndim)} or nil
  end
  return ndim, spec
end

local function moved_spec(spec, ndim, axis, dst)
  local to, out = arguments.dim_of(dst), {}
  if not spec and not to then return nil end
  for d = 1, ndim do
    local list = {}
    for _, a in ipairs(spec and spec[d] or {}) do
      if a ~= axis then list[#list + 1] = a end
    end
    out[d] = list
  end
  if to then table.insert(out[to + 1], axis) end
  for d, list in ipairs(out) do out[d] = #list > 0 and list or false end
  return out
end

local function kind_on(types, axis)
  for _, t in ipairs(types) do
    if t[1] == axis then return t[2] end
  end
end

local function dim_of_axis(spec, axis)
  for d, entry in ipairs(spec or {}) do
    for _, a in ipairs(entry or {}) do
      if a == axis then return d - 1 end
    end
  end
end

local function letter(t) return arguments.is_shard(t) and "V" or t end

-- What is not told of x on the axis is what src says.
local function refine(x, axis, src)
  local unplaced = arguments.is_shard(src)
    and not dim_of_axis(phantom.spec(x), axis)
  if kind_on(phantom.types(x), axis) and not unplaced then return end
  asserts.assert_type(x, {{axis, src}})
end

local function check_source(what, x, axis, src, written)
  local actual, expected = kind_on(phantom.types(x), axis), letter(src)
  local free = util.is_tensor(x) and not (dt.is_grad_enabled()
    and x.requires_grad)
  local flavour = free and (actual .. expected == "RI"
    or actual .. expected == "IR")
  if actual ~= expected and not flavour then
    wrong("%s expects its input to be %s on axis %s, but it is %s", what,
      written, name_of(axis), actual)
  end
end

local function check_shard(what, x, axis, src)
  local want, have = arguments.dim_of(src),
    dim_of_axis(phantom.spec(x), axis)
  if want and have ~= want then
    wrong("%s expects its input sharded on dim %d along %s, but it is %s", what,
      want, name_of(axis), have and "sharded on dim " .. have
      or "not sharded there")
  end
end

-- Types and spec of the result on more than one rank.
local function moved(fn, what, x, axis, src, dst, written)
  refine(x, axis, src)
  check_source(what, x, axis, src, written)
  if fn == "convert" and arguments.is_shard(src) and arguments.is_shard(dst)
     and src ~= dst then
    wrong("%s: cannot change the shard dimension from %s to %s without "
      .. "communication; use all_to_all instead", what, src, dst)
  end
  check_shard(what, x, axis, src)
  local types = {}
  for i, t in ipairs(phantom.types(x)) do
    types[i] = {t[1], t[1] == axis and letter(dst) or t[2]}
  end
  return types, moved_spec(phantom.spec(x), x.ndim, axis, dst)
end

local function transition(fn, a)
  local src, dst = values.kind(a.src), values.kind(a.dst)
  if a.src == nil then src = DEFAULTS[fn].src end
  if a.dst == nil then dst = DEFAULTS[fn].dst end
  check_pair(fn, src, dst)
  local x = a.x
  if not phantom.is_typed(x) then
    util.raise("TypeError", "rules.%s: expected a tensor or NdimWithSpmdType, "
      .. "got %s", fn, V.type_name(x))
  end
  phantom.touch(x)
  local what = ("rules.%s(%s, src=%s, dst=%s)"):format(fn,
    values.written(a.axis), src, dst)
  local axis = values.axis_id(a.axis)
  if not kind_on(phantom.types(x), axis) then x = phantom.on_mesh(x, what) end
  local written = src
  src, dst = arguments.resolved(src, x), arguments.resolved(dst, x)
  local types, spec = phantom.types(x), phantom.spec(x)
  if core.axis_info(axis).size > 1 then
    types, spec = moved(fn, what, x, axis, src, dst, written)
  end
  local ndim
  ndim, spec = with_rank(what, fn, x.ndim, src, dst, spec)
  if given(a.out) and rawequal(a.out, a.x) and a.out.ndim == ndim then
    core.set(a.out, types, spec)
  end
  return phantom.finish(phantom.new(ndim, types, spec), a.out)
end

for fn in pairs(ALLOWED) do
  local defaults = DEFAULTS[fn] or {}
  F[fn] = def(fn, {"x", "axis", "*", defaults.src and "src?" or "src",
    defaults.dst and "dst?" or "dst", "out?"}, function (a)
    return transition(fn, a)
  end)
end

F.einsum = require "torch.spmd.einsum"

-- ---- what a hook says of its arguments ----

F.ignore = def("ignore", {"*tensors"}, function (a)
  for i = 1, a.tensors.n do phantom.touch(a.tensors[i]) end
  return None
end)

F.output = def("output", {"out", "typed"}, function (a)
  phantom.output(a.out, a.typed)
  return None
end)

F.NdimWithSpmdType = phantom.class

M.functions = attrs.namespace(F)
attrs.provide("spmd_types.rules", F)

return M
