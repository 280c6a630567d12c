-- SPDX-License-Identifier: MIT
-- torch/dtype.lua: what a torch.dtype says of itself.

local dt = require "dt"

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

--- fact(v, name): v.name of a dtype, or nil.
function M.fact(v, name)
  return FACT[name] and FACT[name](v)
end

return M
