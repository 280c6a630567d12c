-- SPDX-License-Identifier: MIT
-- torch/dtype.lua: what a torch.dtype says of itself.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local counts = require "python.counts"

local M = {}

local function name_of(v) return (tostring(v):gsub("^torch%.", "")) end

local FACT = {}
function FACT.itemsize(v)
  return dt.empty({0}, {dtype = v}):element_size()
end
function FACT.is_floating_point(v)
  return name_of(v):find("float", 1, true) ~= nil
end
function FACT.is_complex(v) return name_of(v):find("^complex") ~= nil end
function FACT.is_signed(v)
  return name_of(v) ~= "bool" and name_of(v):find("^uint") == nil
end

function FACT.abbr(v) return v.abbr end

-- Of bfloat16 it depends on the release.
local function to_complex(v)
  if v.real == v and not name_of(v):find("^b?float%d+$") then
    util.raise("RuntimeError", "Unknown Complex ScalarType for %s",
      v.scalar_type)
  end
  return v.complex
end

local METHOD = {
  to_real = function (v) return v.real end, to_complex = to_complex,
}
counts.check("dtype", METHOD, "to_real 0 0 to_complex 0 0")
for name in pairs(METHOD) do
  FACT[name] = function (v)
    return V.builtin(function (a, kw) return METHOD[name](v, a, kw) end, name)
  end
end

--- fact(v, name): v.name of a dtype, or nil.
function M.fact(v, name)
  return FACT[name] and FACT[name](v)
end

return M
