-- SPDX-License-Identifier: MIT
-- torch/spmd/scalar.lua: spmd_types.Scalar: a number with a type on each
-- mesh axis; arithmetic keeps it where the types go together.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local ops = require "python.ops"
local values = require "torch.spmd.values"
local asserts = require "dt.spmd.assert"
local state = require "dt.spmd.state"

local core = dt._spmd
local M = {}

local scalar_mt = {__name = "Scalar", opaque = true}
scalar_mt.__tostring = function (v)
  return ("Scalar(%s, %s)"):format(V.repr(v.value),
    (core.type_text(v._spmd_scalar)))
end
scalar_mt.__index = function (v, name)
  if name == "local_type" then return values.types_value(v._spmd_scalar) end
end

local function is_scalar(v) return getmetatable(v) == scalar_mt end
M.is_scalar = is_scalar

-- Types of two numbers together, or nil: on the same axes, equal ones, and R
-- with V.
local function together(a, b)
  local out, at = {}, {}
  for i, t in ipairs(a) do
    out[i] = {t[1], t[2]}
    at[t[1]] = out[i]
  end
  if #a ~= #b then return nil end
  for _, t in ipairs(b) do
    local have = at[t[1]]
    if not have then return nil end
    if have[2] ~= t[2] then
      local pair = have[2] .. t[2]
      if pair ~= "RV" and pair ~= "VR" then return nil end
      have[2] = "V"
    end
  end
  return out
end

local ARITHMETIC = {add = "+", sub = "-", mul = "*", truediv = "/",
  floordiv = "//", mod = "%", pow = "**"}
local COMPARE = {lt = "<", le = "<=", gt = ">", ge = ">="}

local function calculate(sign, a, b) return ops.binary[sign](a, b) end

-- a sign b, of which one is v (`swapped`: the right one).
local function result(v, sign, other, swapped)
  local plain = is_scalar(other) and other.value or other
  if util.is_tensor(other) then
    if state.on() then return V.not_implemented end
    return swapped and calculate(sign, other, v.value)
      or calculate(sign, v.value, other)
  end
  if type(plain) ~= "number" then return V.not_implemented end
  local types = v._spmd_scalar
  if not state.on() then
    return swapped and calculate(sign, plain, v.value)
      or calculate(sign, v.value, plain)
  end
  if is_scalar(other) then
    types = together(types, other._spmd_scalar)
    if not types then
      util.raise("TypeError", "unsupported operand type(s) for %s: 'Scalar' "
        .. "and 'Scalar'", sign == "**" and "** or pow()" or sign)
    end
  end
  return M.new(swapped and calculate(sign, plain, v.value)
    or calculate(sign, v.value, plain), types)
end

local function specials_of(v)
  local t = {}
  for name, sign in pairs(ARITHMETIC) do
    t["__" .. name .. "__"] = function (b) return result(v, sign, b) end
    t["__r" .. name .. "__"] = function (b) return result(v, sign, b, true) end
  end
  for name, sign in pairs(COMPARE) do
    t["__" .. name .. "__"] = function (b)
      return ops.compare[sign](v.value, is_scalar(b) and b.value or b)
    end
  end
  t.__eq__ = function (b)
    return V.equal(v.value, is_scalar(b) and b.value or b)
  end
  local function typed(value)
    return state.on() and M.new(value, v._spmd_scalar) or value
  end
  t.__neg__ = function () return typed(ops.unary["-"](v.value)) end
  t.__pos__ = function () return typed(v.value) end
  t.__abs__ = function () return typed(math.abs(v.value)) end
  t.__bool__ = function () return V.truth(v.value) end
  t.__float__ = function () return v.value + 0.0 end
  t.__int__ = function () return math.tointeger(v.value // 1) end
  t.__hash__ = function () return V.hash(v.value) end
  t.__repr__ = function () return scalar_mt.__tostring(v) end
  return t
end

-- A number with a list of types.
function M.new(value, types)
  local v = setmetatable({value = value, _spmd_scalar = types}, scalar_mt)
  rawset(v, "specials", specials_of(v))
  return v
end

local function make(a)
  if type(a.value) ~= "number" then
    util.raise("TypeError", "Scalar value must be int, float, or complex (not "
      .. "bool), got %s: %s", V.type_name(a.value), V.repr(a.value))
  end
  local list = values.entries(a.spmd_type)
  for _, t in ipairs(list) do
    asserts.check_letter(values.written(t[3]), t[2])
  end
  return M.new(a.value, asserts.normalized(list))
end

M.Scalar = args.class("Scalar", {test = is_scalar,
  new = args.def("Scalar.__init__", {"value", "spmd_type"}, make, 1)})
M.Scalar.__module__ = "spmd_types._scalar"

return M
