-- SPDX-License-Identifier: MIT
-- python/std/time.lua: the clocks and calendars that pylib's time and
-- datetime are made of: module _time.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

local builtin = V.builtin

-- The parts of a date as time.struct_time lists them: Monday is 0.
local function fields(stamp, utc)
  if type(stamp) ~= "number" then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(stamp))
  end
  local d = os.date(utc and "!*t" or "*t", math.floor(stamp))
  return V.list({d.year, d.month, d.day, d.hour, d.min, d.sec,
    (d.wday + 5) % 7, d.yday, d.isdst and 1 or 0}, 9)
end

local function stamp_of(list)
  local v = V.items(list)
  local isdst = nil
  if v[9] == 1 then isdst = true elseif v[9] == 0 then isdst = false end
  return os.time {year = v[1], month = v[2], day = v[3], hour = v[4],
    min = v[5], sec = v[6], isdst = isdst}
end

-- What os.date may be asked for without an error.
local known = "aAbBcdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%"

local function formatted(form, list)
  form = form:gsub("%%(.)", function (c)
    return known:find(c, 1, true) and "%" .. c or "%%" .. c
  end)
  return os.date(form, math.floor(stamp_of(list)))
end

attrs.provide("_time", attrs.namespace {
  time = builtin(function () return (dt._clocks()) end, "time"),
  monotonic = builtin(function () return (select(2, dt._clocks())) end,
    "monotonic"),
  process_time = builtin(function () return os.clock() end, "process_time"),
  fields = builtin(function (a) return fields(a[1], a[2] == true) end,
    "fields"),
  mktime = builtin(function (a) return stamp_of(a[1]) + 0.0 end, "mktime"),
  strftime = builtin(function (a) return formatted(a[1], a[2]) end,
    "strftime"),
})
