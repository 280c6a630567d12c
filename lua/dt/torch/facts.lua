-- SPDX-License-Identifier: MIT
-- dt/torch/facts.lua: torch.finfo, torch.iinfo: the limits of a dtype.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- bits, digits after the point of the significand, smallest and largest
-- exponent of a normal number, decimal digits; the largest number where it is
-- not all ones, which e4m3fn keeps for NaN
local floats = {float64 = {64, 52, -1022, 1023, 15},
  float32 = {32, 23, -126, 127, 6}, float16 = {16, 10, -14, 15, 3},
  bfloat16 = {16, 7, -126, 127, 2}, float8_e5m2 = {8, 2, -14, 15, 0},
  float8_e4m3fn = {8, 3, -6, 8, 0, most = 448.0}}
local integers = {int64 = 64, int32 = 32, int16 = 16, int8 = 8, uint8 = 8}

local function told(kind, order)
  return {__name = kind, __tostring = function (v)
    local parts = {}
    for i, key in ipairs(order) do
      local x = v[key]
      parts[i] = key .. "=" .. (type(x) == "string" and x or ("%g"):format(x))
    end
    return kind .. "(" .. table.concat(parts, ", ") .. ")"
  end}
end

local finfo_mt = told("finfo", {"resolution", "min", "max", "eps",
  "smallest_normal", "tiny", "dtype"})
local iinfo_mt = told("iinfo", {"min", "max", "dtype"})

local function name_of(dtype)
  return tostring(dtype):match("([%w_]+)$")
end

-- dt.finfo(dtype): bits, eps, max, min, tiny, smallest_normal, resolution of a
-- floating type, of a complex one those of its parts.
function M.finfo(dtype)
  local name = name_of((dtype or dt.float32).real)
  local row = floats[name]
  if not row then
    util.raise("TypeError", "torch.finfo() requires a floating point input "
      .. "type. Use torch.iinfo to handle 'torch.finfo'")
  end
  local eps, tiny = 2.0 ^ -row[2], 2.0 ^ row[3]
  local most = row.most or (2.0 - eps) * 2.0 ^ row[4]
  return setmetatable({bits = row[1], eps = eps, max = most, min = -most,
    tiny = tiny, smallest_normal = tiny, resolution = 10.0 ^ -row[5],
    dtype = name}, finfo_mt)
end

-- dt.iinfo(dtype): bits, min, max of an integer type.
function M.iinfo(dtype)
  local name = name_of(dtype)
  local bits = integers[name]
  if not bits then
    util.raise("TypeError", "torch.iinfo() requires an integer input type. "
      .. "Use torch.finfo to handle 'torch.iinfo'")
  end
  local signed = name:sub(1, 1) == "i"
  return setmetatable({bits = bits, dtype = name,
    min = signed and -(1 << (bits - 1)) or 0,
    max = signed and (1 << (bits - 1)) - 1 or (1 << bits) - 1}, iinfo_mt)
end

return M
