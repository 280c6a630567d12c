-- SPDX-License-Identifier: MIT
-- torch/spmd/phantom.lua: NdimWithSpmdType, a tensor as rules of types see
-- it: a number of dimensions and a type; and what rules do with it and with
-- tensors alike.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local asserts = require "dt.spmd.assert"
local remesh = require "dt.spmd.remesh"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"

local core = dt._spmd
local M = {}
local given = args.given

local function wrong(...) util.raise("SpmdTypeError", ...) end

local mt = {__name = "NdimWithSpmdType", opaque = true}
mt.__tostring = function (v)
  local types, spec = core.type_text(v.types or {}, v.spec)
  return ("NdimWithSpmdType(ndim=%d, %s%s)"):format(v.ndim, types,
    spec and ", " .. spec or "")
end

-- Of ndim dimensions; a spec that shards nothing is none.
function M.new(ndim, types, spec)
  local any = false
  for _, entry in ipairs(spec or {}) do any = any or entry end
  return setmetatable({ndim = ndim, types = types, spec = any and spec or nil,
    phantom = true}, mt)
end

function M.is(v) return getmetatable(v) == mt end
local is_phantom = M.is

-- May it have a type at all?
function M.is_typed(v) return util.is_tensor(v) or is_phantom(v) end

-- What a hook has looked at while it runs; nil outside of one.
M.used = nil

function M.touch(v)
  if M.used and util.is_tensor(v) then M.used[v._id] = true end
end

function M.types(v)
  if is_phantom(v) then return v.types or {} end
  return core.types(v) or {}
end

function M.spec(v)
  if is_phantom(v) then return v.spec end
  return core.spec(v)
end

-- It, or a stand-in over the current mesh where its types are those of another
-- one.
function M.on_mesh(v, what)
  local mesh, types = state.mesh(), M.types(v)
  if not mesh then return v end
  local inside, outside = {}, false
  for _, a in ipairs(mesh.axes) do inside[a] = true end
  for _, t in ipairs(types) do outside = outside or not inside[t[1]] end
  if not outside then return v end
  local ok, list, spec = pcall(remesh.remesh, types, M.spec(v), mesh.axes)
  if not ok then
    local own = {}
    for i, t in ipairs(types) do own[i] = t[1] end
    if type(list) ~= "table" or list.class ~= "SpmdTypeError" then
      error(list, 0)
    end
    wrong("%s: cannot auto-reinterpret %s onto the current mesh %s. %s", what,
      core.axes_text(own), core.axes_text(mesh.axes), list.message)
  end
  return M.new(v.ndim, list, spec)
end

-- ---- outputs ----

local function dict_text(types) return (core.type_text(types)) end

local function same(a, b)
  if #a ~= #b then return false end
  local at = {}
  for _, t in ipairs(a) do at[t[1]] = t[2] end
  for _, t in ipairs(b) do
    if at[t[1]] ~= t[2] then return false end
  end
  return true
end

local function count_text(v) return V.is_seq(v) and v.n or 1 end

-- output(out, typed): real results get the types of others.
function M.output(out, typed)
  if V.is_seq(out) then
    if not V.is_seq(typed) or typed.n ~= out.n then
      wrong("rules.output: %d output(s) but %d type(s)", out.n,
        count_text(typed))
    end
    for i = 1, out.n do M.output(out[i], typed[i]) end
    return
  end
  if not given(out) or not given(typed) and not util.is_tensor(out) then
    return
  elseif not util.is_tensor(out) then
    util.raise("TypeError", "rules.output: expected a tensor output, got %s",
      V.type_name(out))
  elseif not M.is_typed(typed) then
    util.raise("TypeError", "rules.output: expected a tensor or "
      .. "NdimWithSpmdType, got %s", V.type_name(typed))
  end
  M.touch(typed)
  if out.ndim ~= typed.ndim then
    wrong("rules.output: output has %d dim(s) but its declared type has %d",
      out.ndim, typed.ndim)
  end
  local types, before = M.types(typed), core.types(out)
  if before and not same(before, types) then
    wrong("rules.output: output already has type %s, but the rule derives %s",
      dict_text(before), dict_text(types))
  end
  local ok, e = pcall(asserts.assert_type, out, types, M.spec(typed))
  if not ok and type(e) == "table" and e.class == "SpmdTypeError" then
    wrong("rules.output: output annotations conflict with the derived type: %s",
      e.message)
  elseif not ok then
    error(e, 0)
  end
  trace.assertion(before, core.types(out))
end

-- The derived type, put on `out` where one is given.
function M.finish(v, out)
  if not given(out) then return v end
  M.output(out, v)
  return out
end

M.class = args.class("NdimWithSpmdType", {test = is_phantom,
  new = args.def("NdimWithSpmdType.__init__", {"ndim"}, function (a)
    return M.new(a.ndim, nil)
  end, 1)})

return M
