-- SPDX-License-Identifier: MIT
-- torch/containers.lua: what nn.ModuleList, Sequential, ModuleDict,
-- ParameterList and ParameterDict have in Python and not in Lua: + and +=,
-- insert, pop, update, del.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local calls = require "python.call"
local ops = require "python.ops"
local nn = require "dt.nn"
local exceptions = require "python.exceptions"

local None = dt.None

local function define(class, name, f)
  class[name] = calls.lua_method(V.builtin(f, name))
end

-- The children or parameters of a container, in order.
local function held(m)
  local map = #m._parameters.keys > 0 and m._parameters or m._modules
  local out = {}
  for i, name in ipairs(map.keys) do out[i] = map.map[name] end
  return out, map
end

-- Give a container exactly these.
local function refill(m, items)
  local _, map = held(m)
  for _, name in ipairs {table.unpack(map.keys)} do map:remove(name) end
  for _, item in ipairs(items) do m:append(item) end
end

local function at(m, i, extra)
  local n = #held(m)
  if math.type(i) ~= "integer" or i < -n or i >= n + extra then
    util.raise("IndexError", "index %s is out of range", V.str(i))
  end
  return i < 0 and i + n + 1 or i + 1
end

local function appended(m, items)
  for _, item in ipairs(items) do m:append(item) end
  return m
end

for _, class in ipairs {nn.ModuleList, nn.Sequential, nn.ParameterList,
    nn.ModuleDict, nn.ParameterDict} do
  define(class, "__len__", function (a) return #a[1] end)
end

for _, class in ipairs {nn.ModuleList, nn.Sequential, nn.ParameterList} do
  define(class, "__add__", function (a)
    if class == nn.Sequential and not nn.isinstance(a[2], class) then
      util.raise("ValueError", "add operator supports only objects of "
        .. "Sequential class, but %s is given.", V.str(builtin_names.type.call(V.list {a[2]})))
    end
    return appended(appended(class(), (held(a[1]))), (V.items(a[2])))
  end)
  define(class, "__iadd__", function (a)
    return appended(a[1], (V.items(a[2])))
  end)
  define(class, "insert", function (a)
    local items = held(a[1])
    table.insert(items, at(a[1], a[2], 1), a[3])
    refill(a[1], items)
    return class ~= nn.ModuleList and a[1] or None
  end)
  define(class, "pop", function (a)
    local items = held(a[1])
    local out = table.remove(items, at(a[1], a[2] or -1, 0))
    refill(a[1], items)
    return out
  end)
  define(class, "__delitem__", function (a)
    local items, gone, left = held(a[1]), {}, {}
    local places = ops.places(a[2], #items)
    for _, i in ipairs(places or {at(a[1], a[2], 0) - 1}) do
      gone[i + 1] = true
    end
    for i, item in ipairs(items) do
      if not gone[i] then left[#left + 1] = item end
    end
    refill(a[1], left)
    return None
  end)
end

-- By name.
for _, class in ipairs {nn.ModuleDict, nn.ParameterDict} do
  calls.keeps_order(class)
  local of = class == nn.ModuleDict and "_modules" or "_parameters"
  local function get(m, name)
    local v = m[of].map[name]
    if v == nil then
      error(exceptions.classes.KeyError.make(
        V.list({name}, 1)), 0)
    end
    return v or None
  end
  local function set(m, name, v)
    if of == "_modules" then m:register_module(name, v)
    else
      if not v.is_parameter then v = dt._make_param(v, true) end
      m:register_parameter(name, v)
    end
  end
  local function listed(name, what)
    define(class, name, function (a)
      local out = {}
      for i, key in ipairs(a[1][of].keys) do
        out[i] = what(key, a[1][of].map[key] or None)
      end
      out = V.list(out)
      out.view = "dict_" .. name
      return out
    end)
  end
  listed("keys", function (k) return k end)
  listed("values", function (_, v) return v end)
  listed("items", function (k, v) return V.tuple {k, v} end)
  define(class, "update", function (a)
    if V.is_dict(a[2]) then
      for k, v in V.each(a[2]) do set(a[1], k, v) end
    else
      local other = type(a[2]) == "table" and rawget(a[2], of)
      for k, v in (other and other:each() or pairs {}) do set(a[1], k, v) end
    end
    return None
  end)
  define(class, "get", function (a)
    local v = a[1][of].map[a[2]]
    if v == nil then return a[3] or None end
    return v
  end)
  define(class, "pop", function (a)
    local v = get(a[1], a[2])
    a[1][of]:remove(a[2])
    return v
  end)
  define(class, "clear", function (a)
    for _, k in ipairs {table.unpack(a[1][of].keys)} do a[1][of]:remove(k) end
    return None
  end)
  define(class, "__getitem__", function (a) return get(a[1], a[2]) end)
  define(class, "__setitem__", function (a)
    set(a[1], a[2], a[3])
    return None
  end)
  define(class, "__delitem__", function (a)
    get(a[1], a[2])
    a[1][of]:remove(a[2])
    return None
  end)
  define(class, "__contains__", function (a)
    return a[1][of].map[a[2]] ~= nil
  end)
end
calls.keeps_order(nn.Sequential)

return true
