-- SPDX-License-Identifier: MIT
-- python/target.lua: what is assigned to: names, attributes, items, several at
-- once; closures f(env, value).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local env_of = require "python.env"
local scope = require "python.scope"
local attrs = require "python.attrs"
local object = require "python.object"
local ops = require "python.ops"
local protect = require "python.protect"
local compile = require("python.compile").compile

local instance_mt, put = object.instance_mt, object.put
local getattr, setattr = attrs.get, attrs.set
local classes = require "python.class"

local M = {}

-- Is the name one that only the object or its class can answer?
local function is_simple(name) return not name:find("^__") end

-- reader_of(name): f(v) -> v.name.  An object of a plain class whose class has
-- no such name is asked for its own field.
local function reader_of(name)
  if not is_simple(name) then
    return function (v) return getattr(v, name) end
  end
  return function (v)
    if getmetatable(v) == instance_mt then
      local x = v._attrs[name]
      if x ~= nil and v._class[name] == nil and not classes.watches then
        return x
      end
    end
    return getattr(v, name)
  end
end

-- writer_of(name): f(v, x) does v.name = x.
local function writer_of(name)
  if not is_simple(name) then
    return function (v, x) setattr(v, name, x) end
  end
  return function (v, x)
    if getmetatable(v) == instance_mt then
      local class = v._class
      if class[name] == nil and class.__setattr__ == nil
         and class.__slot_names == nil then
        put(v, name, x)
        return
      end
    end
    setattr(v, name, x)
  end
end
M.reader_of = reader_of

-- The items of what is unpacked.
local function unpacked(v)
  if V.is_seq(v) then return V.items(v) end
  local done, items, n = protect.passing(V.items, v)
  if done then return items, n end
  if type(items) == "table" and rawget(items, "reason") == "not_iterable"
     and rawequal(items.refused, v) then
    util.raise("TypeError", "cannot unpack non-iterable %s object",
      V.type_name(v))
  end
  return error(items, 0)
end

local store

-- A function (env, value) that assigns to the target; `here`: names are
-- those of this very environment, a comprehension's.
function store(t, here)
  if t.kind == "name" then
    local name = t.name
    if here then return function (env, v) env.vars[name] = v end end
    if scope.is_local(name) then
      return function (env, v) env.vars[name] = v end
    end
    return function (env, v) env_of.assign(env, name, v) end
  elseif t.kind == "attr" then
    local value, write = compile(t.value), writer_of(t.name)
    return function (env, v) write(value(env), v) end
  elseif t.kind == "item" then
    local value, index = compile(t.value), compile(t.index)
    return function (env, v) ops.setitem(value(env), index(env), v) end
  elseif t.kind == "tuple" or t.kind == "list" then
    local parts, star = {}, nil
    for i, item in ipairs(t.items) do
      parts[i] = store(item.kind == "starred" and item.value or item, here)
      if item.kind == "starred" then star = i end
    end
    return function (env, v)
      local items, n = unpacked(v)
      if not star and n ~= #parts then
        util.raise("ValueError", n < #parts and "not enough values to unpack "
          .. "(expected %d, got %d)" or "too many values to unpack (expected "
          .. "%d)", #parts, n)
      elseif star and n < #parts - 1 then
        util.raise("ValueError", "not enough values to unpack (expected at "
          .. "least %d, got %d)", #parts - 1, n)
      end
      if not star then
        for i = 1, n do parts[i](env, items[i]) end
        return
      end
      local at = 1
      for i, part in ipairs(parts) do
        if i == star then
          local rest = {}
          for _ = 1, n - #parts + 1 do
            rest[#rest + 1] = items[at]
            at = at + 1
          end
          part(env, V.list(rest))
        else
          part(env, items[at])
          at = at + 1
        end
      end
    end
  end
  return util.raise("ValueError", "line %d of the Python text: no assignment "
    .. "to a %s", t.line, t.kind)
end

M.store = store

-- changed(t, f): a function (env) that assigns f(env, old) to the target t,
-- whose parts are asked once.
function M.changed(t, f)
  if t.kind == "attr" then
    local value, read, write = compile(t.value), reader_of(t.name),
      writer_of(t.name)
    return function (env)
      local v = value(env)
      write(v, f(env, read(v)))
    end
  elseif t.kind == "item" then
    local value, index = compile(t.value), compile(t.index)
    return function (env)
      local v = value(env)
      local i = index(env)
      ops.setitem(v, i, f(env, ops.getitem(v, i)))
    end
  end
  local get, set = compile(t), store(t)
  return function (env) set(env, f(env, get(env))) end
end

return M
