-- TEST: ranks={1} world={threads} torch=2.15
-- SPDX-License-Identifier: MIT
-- Bounds of clamp and hardtanh beyond the range of a tensor of integers: refused
-- where no value of the type can keep them, else they bound nothing.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"

local function same(x, want, what)
  T.eq(table.concat(x:tolist(), " "), table.concat(want, " "), what)
end
local function fails(f, part) T.throws("RuntimeError", part, f) end

local function all_agree(x, type_name, least, most)
  local values = x:tolist()
  local function refuses(f, kind, n)
    fails(f, ("Clamp %s value %g is outside the representable range of %s")
      :format(kind, n, type_name))
  end
  refuses(function () return dt.clamp(x, most + 1, dt.None) end, "min", most + 1)
  refuses(function () return dt.clamp_min(x, most + 1) end, "min", most + 1)
  refuses(function () return dt.clamp(x, dt.None, least - 1) end, "max", least - 1)
  refuses(function () return dt.clamp_max(x, least - 1) end, "max", least - 1)
  refuses(function () return dt.clip(x, dt.None, least - 1) end, "max", least - 1)
  refuses(function () return F.hardtanh(x, least - 2, least - 1) end, "max",
    least - 1)
  -- min is looked at first, also where it is above max
  refuses(function () return dt.clamp(x, most + 1, 0) end, "min", most + 1)
  same(dt.clamp(x, least - 1, most + 1), values, "bounds nothing")
  same(F.hardtanh(x, least - 1, most + 1), values, "hardtanh bounds nothing")
  same(dt.clamp(x, least, most), values, "the range itself")
end

for _, row in ipairs {{"uint8", "Byte", 0, 255}, {"int8", "Char", -128, 127},
    {"int16", "Short", -32768, 32767}} do
  local kw = {dtype = dt[row[1]]}
  all_agree(dt.tensor({1, 2, 3}, kw), row[2], row[3], row[4])
  fails(function () return dt.clamp(dt.zeros(0, kw), row[4] + 1, dt.None) end,
    "outside the representable range")
end
T.finish()
