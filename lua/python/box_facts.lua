-- SPDX-License-Identifier: MIT
-- python/box_facts.lua: what lists, dicts, sets, tuples and generators have
-- that is no method; the fields by which they are kept are no attributes.

local util = require "dt.util"
local V = require "python.values"

local None = require("dt").None

-- GEN_CREATED, …: how far a generator is.
local function state(v)
  local f = rawget(v, "state")
  return f and f() or "GEN_SUSPENDED"
end

-- The frame of a generator that has ended is None; another one is not kept.
local function frame(v)
  if rawget(v, "has_ended") and v.has_ended() then return None end
  return util.refuse("the frame of a generator that has "
    .. "not ended is not part of dtrepl")
end

-- What values of data have that is no method: f(v) by name.
local BOX = {
  deque = {maxlen = function (v) return v.most or None end},
  range = {start = function (v) return v.first end,
    stop = function (v) return v.last end, step = function (v) return v.step end},
  default = {default_factory = function (v) return v.default end},
  -- The state of a module (torch/module_state.lua).
  state = {_metadata = function (v) return rawget(v, "_metadata") end},
  generator = {gi_running = function (v) return state(v) == "GEN_RUNNING" end,
    gi_suspended = function (v) return state(v) == "GEN_SUSPENDED" end,
    gi_frame = frame, gi_state = state, __name__ = function (v)
      return rawget(v, "__name__") or v.func and (v.func.plain or v.func.name)
        or "<genexpr>"
    end, __qualname__ = function (v)
      return rawget(v, "__qualname__") or v.func and v.func.name
        or rawget(v, "full") or "<genexpr>"
    end, gi_yieldfrom = function (v)
      local f = rawget(v, "waits_for")
      return f and f() or None
    end, gi_code = function (v)
      if v.func then return V.code_of(v.func) end
      return util.refuse("gi_code of a generator expression is not part of dtrepl")
    end},
  other = {},
}

-- The facts of a box of data, nil for what is none.
return function (v)
  if V.is_list(v) then
    return v.deque and BOX.deque or BOX.other
  elseif V.is_range(v) then
    return BOX.range
  elseif V.is_dict(v) then
    return rawget(v, "default") ~= nil and BOX.default
      or rawget(v, "_metadata") ~= nil and BOX.state or BOX.other
  elseif V.is_generator(v) then
    return rawget(v, "iterator") and BOX.other or BOX.generator
  elseif V.is_set(v) or V.is_tuple(v) and not rawget(v, "called") then
    return BOX.other
  end
end
