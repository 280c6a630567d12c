-- SPDX-License-Identifier: MIT
-- python/quick.lua: signs of two plain numbers, of which most of a loop is
-- made.  What is left to the general way: sums that leave 64 bits, zero as a
-- divisor, and every other kind of value.

local kind = math.type

local M = {}

local LEAST <const>, MOST <const> = -0x7fffffff, 0x7fffffff

-- By sign: f(slow) -> a function (a, b) that asks slow(a, b) where it must.
M.binary = {
  ["+"] = function (slow)
    return function (a, b)
      local s, t = kind(a), kind(b)
      if s == "integer" and t == "integer" then
        local c = a + b
        if (a ~ c) & (b ~ c) >= 0 then return c end
      elseif s and t then
        return a + b
      end
      return slow(a, b)
    end
  end,
  ["-"] = function (slow)
    return function (a, b)
      local s, t = kind(a), kind(b)
      if s == "integer" and t == "integer" then
        local c = a - b
        if (a ~ b) & (a ~ c) >= 0 then return c end
      elseif s and t then
        return a - b
      end
      return slow(a, b)
    end
  end,
  ["*"] = function (slow)
    return function (a, b)
      local s, t = kind(a), kind(b)
      if s == "integer" and t == "integer" then
        if a <= MOST and a >= LEAST and b <= MOST and b >= LEAST then
          return a * b
        end
      elseif s and t then
        return a * b
      end
      return slow(a, b)
    end
  end,
  ["//"] = function (slow)
    return function (a, b)
      if kind(a) == "integer" and kind(b) == "integer" and b > 0 then
        return a // b
      end
      return slow(a, b)
    end
  end,
  ["%"] = function (slow)
    return function (a, b)
      if kind(a) == "integer" and kind(b) == "integer" and b > 0 then
        return a % b
      end
      return slow(a, b)
    end
  end,
}

M.compare = {
  ["<"] = function (slow)
    return function (a, b)
      if kind(a) and kind(b) then return a < b end
      return slow(a, b)
    end
  end,
  [">"] = function (slow)
    return function (a, b)
      if kind(a) and kind(b) then return a > b end
      return slow(a, b)
    end
  end,
  ["<="] = function (slow)
    return function (a, b)
      if kind(a) and kind(b) then return a <= b end
      return slow(a, b)
    end
  end,
  [">="] = function (slow)
    return function (a, b)
      if kind(a) and kind(b) then return a >= b end
      return slow(a, b)
    end
  end,
  ["=="] = function (slow)
    return function (a, b)
      local t = type(a)
      if (t == "number" or t == "string") and type(b) == t then return a == b end
      return slow(a, b)
    end
  end,
  ["!="] = function (slow)
    return function (a, b)
      local t = type(a)
      if (t == "number" or t == "string") and type(b) == t then return a ~= b end
      return slow(a, b)
    end
  end,
}

return M
