-- SPDX-License-Identifier: MIT
-- python/object.lua: objects of classes that derive from no class of the
-- library: a class, attributes, and the order in which these were set.  Lua
-- reads and writes their fields as those of a table.

local util = require "dt.util"
local V = require "python.values"

local M = {}

local instance_mt = {__name = "object"}
M.instance_mt = instance_mt

function instance_mt.__index(v, key)
  local x = rawget(v, "_attrs")[key]
  if x ~= nil then return x end
  return rawget(v, "_class")[key]
end

-- Set an attribute, whatever the class says.
function M.put(v, name, x)
  local attrs = rawget(v, "_attrs")
  if attrs[name] == nil then
    local order = rawget(v, "_order")
    order[#order + 1] = name
  end
  attrs[name] = x
end
instance_mt.__newindex = M.put

function instance_mt.__tostring(v) return V.str(v) end

function instance_mt.__call(v, ...)
  local call = V.special(v, "__call__")
  if not call then
    util.raise("TypeError", "'%s' object is not callable", V.type_name(v))
  end
  return call(...)
end

-- drop(v, name): whether there was such an attribute, which is gone now.
function M.drop(v, name)
  local attrs, order = rawget(v, "_attrs"), rawget(v, "_order")
  if attrs[name] == nil then return false end
  attrs[name] = nil
  for i, other in ipairs(order) do
    if other == name then table.remove(order, i) break end
  end
  return true
end

-- share(v, d): v.__dict__ = d: the attributes are the dict's items from now on,
-- whoever else has it; it may be v itself.
function M.share(v, d)
  rawset(v, "_dict", d)
  rawset(v, "_attrs", setmetatable({}, {
    __index = function (_, name) return V.dict_get(d, name) end,
    __newindex = function (_, name, x)
      if x == nil then V.dict_remove(d, name) else V.dict_set(d, name, x) end
    end}))
  rawset(v, "_order", setmetatable({}, {
    __index = function (_, i) return V.items(d)[i] end,
    __newindex = function () end}))
end

-- Is `v` such an object?
function V.is_object(v)
  return getmetatable(v) == instance_mt
    or type(v) == "table" and rawget(v, "_native") ~= nil
end

local tell_of_del                   -- builtins.lua's: f(class)
function M.set_tell_of_del(f) tell_of_del = f end

-- An instance before its __init__.  That a __del__ of its class is never called
-- is told with the first one.
function M.bare(class)
  if rawget(class, "__has_del") then
    rawset(class, "__has_del", nil)
    tell_of_del(class)
  end
  return setmetatable({_class = class, _attrs = {}, _order = {}}, instance_mt)
end

local function new(class, ...)
  local v = M.bare(class)
  local init = class.__init__
  if init then init(v, ...) end
  return v
end

-- The class above all others, `object`.
M.Object = setmetatable({__name = "object"}, {__call = new})

-- extend(base, name): a class below another one of these.
function M.extend(base, name)
  local class = {__name = name, __base = base, __plain = true}
  return setmetatable(class, {
    __index = base, __call = new,
    __tostring = function () return V.str(class) end,
  })
end

-- Does the class derive from no class of the library?
function M.is_plain_class(class)
  return type(class) == "table" and rawget(class, "__plain") == true
end

return M
