-- SPDX-License-Identifier: MIT
-- python/std/json.lua: _json.loads(text) for pylib/json.py: (True, value), or
-- (False, None) where the text needs json.py's own reader.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"

-- A value of dt._json_ordered as one of Python's.
local function value_of(v)
  if type(v) ~= "table" then return v end
  if not v.object then
    for i = 1, v.n do v[i] = value_of(v[i]) end
    return V.list(v, v.n)
  end
  local d = V.dict()
  for i = 1, v.n, 2 do V.dict_set(d, v[i], value_of(v[i + 1])) end
  return d
end

attrs.provide("_json", attrs.namespace {loads = V.builtin(function (a)
  local v = dt._json_ordered(a[1])
  if v == nil then return V.tuple({false, dt.None}, 2) end
  return V.tuple({true, value_of(v)}, 2)
end, "loads")})
