-- SPDX-License-Identifier: MIT
-- python/std/weak.lua: _weak, what weakref.py stands on: references that keep
-- nothing alive.  Nothing counts references, so whether an object is still
-- there is asked of the collector where a program asks: it runs then, as long
-- as that takes no more than a share of the program's time.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local abandoned = require "python.abandoned"
local class = require "python.class"

local None, builtin = dt.None, V.builtin
local WEAK <const> = {__mode = "v"}
local SHARE <const> = 0.5           -- of the program's time, for looking

local held = setmetatable({}, {__mode = "k"})   -- by reference: {of = object}
local refs = setmetatable({}, {__mode = "k"})   -- by object: its references
local told = setmetatable({}, {__mode = "k"})   -- by object: tells of its end
local lost = {}                                 -- references whose object went
local spent, watched = 0.0, 0

-- Kinds of objects that CPython makes no weak reference to.
local function check(obj)
  local name = V.type_name(obj)
  if type(obj) == "userdata" and obj ~= None then
    util.refuse("a weak reference to a %s is not part of dtrepl", name)
  end
  local own = type(obj) == "table" and rawget(obj, "_class")
  local plain = type(obj) ~= "table" and type(obj) ~= "function"
  if plain or obj == None or V.is_bytes(obj)
     or (V.is_list(obj) or V.is_tuple(obj) or V.is_dict(obj))
        and name:find("^[%a_]+$") and ({list = 1, tuple = 1, dict = 1})[name]
     or own and not class.is_weakly_referable(own) then
    util.raise("TypeError", "cannot create weak reference to '%s' object", name)
  end
end

-- An object's end, told once: its references, the newest first.
local function watch(obj)
  watched = watched + 1
  local mine = setmetatable({}, WEAK)
  refs[obj] = mine
  told[obj] = setmetatable({}, {__gc = function ()
    watched = watched - 1
    for _, ref in pairs(mine) do lost[#lost + 1] = ref end
  end})
  return mine
end

-- What was to be called when an object went is called.
local function call_lost()
  local now = lost
  lost = {}
  table.sort(now, function (a, b) return held[a].at > held[b].at end)
  for _, ref in ipairs(now) do
    local callback = held[ref] and held[ref].callback
    if callback and callback ~= None then
      held[ref].callback = nil
      V.call(callback, V.list({ref}, 1))
    end
  end
end

local function collect()
  if watched == 0 then return end
  local began = os.clock()
  collectgarbage()
  spent = spent + os.clock() - began
  call_lost()
end

local function look_again()
  if spent < 0.2 + SHARE * os.clock() then collect() end
end

local made = 0

-- The reference without a callback that an object has, or None.
local function known(obj)
  for _, ref in pairs(refs[obj] or {}) do
    if held[ref].plain then return ref end
  end
  return None
end
class.weak_reference = known

attrs.provide("_weak", attrs.namespace {
  -- bind(ref, object, callback, plain): what a new reference refers to.
  bind = builtin(function (a)
    local ref, obj, callback, plain = a[1], a[2], a[3], a[4]
    check(obj)
    made = made + 1
    held[ref] = {at = made, callback = callback,
      of = setmetatable({obj}, WEAK), plain = plain == true}
    local mine = refs[obj] or watch(obj)
    mine[made] = ref
    return None
  end, "bind"),
  -- known(object): the reference without a callback that it has, or None.
  known = builtin(function (a)
    check(a[1])
    return known(a[1])
  end, "known"),
  look = builtin(function (a)
    local h = held[a[1]]
    if h.of[1] ~= nil then look_again() end
    local obj = h.of[1]
    if obj == nil then return None end
    return obj
  end, "look"),
  refs = builtin(function (a)
    local out, order = V.list({}, 0), {}
    for at in pairs(refs[a[1]] or {}) do order[#order + 1] = at end
    table.sort(order)
    for _, at in ipairs(order) do
      out.n = out.n + 1
      out[out.n] = refs[a[1]][at]
    end
    return out
  end, "refs"),
  settle = builtin(function ()
    look_again()
    return None
  end, "settle")})

abandoned.also(function () return watched > 0 or #lost > 0 end, call_lost)
