-- SPDX-License-Identifier: MIT
-- python/complex.lua: Python's complex numbers: {re, im}.

local util = require "dt.util"
local dt = require "dt"
local big = require "python.bigint"

return function (V)
  -- The field is that by which operators know a number (src/bind/bind.h).
  local mt = {__name = "complex", complex_number = true}

  -- complex(re, im): of two floats.
  function V.complex(re, im)
    return setmetatable({re = re * 1.0, im = im * 1.0}, mt)   -- -0.0 stays
  end

  function V.is_complex(v) return getmetatable(v) == mt end

  mt.__eq = function (a, b) return a.re == b.re and a.im == b.im end
  mt.truth = function (v) return v.re ~= 0 or v.im ~= 0 end
  mt.__to_lua = function (v) return v end

  -- complex_list(t): the numbers of a tensor of complex ones, as tolist().
  local function numbers(list, ndim)
    if ndim == 0 then return V.complex(list[1], list[2]) end
    local out = {}
    for i, v in ipairs(list) do out[i] = numbers(v, ndim - 1) end
    return V.list(out, #out)
  end
  function V.complex_list(t) return numbers(t:tolist(), t.ndim) end

  mt.hash = function (v, hash)
    if v.im == 0 then return hash(v.re) end
    local h = hash(v.re) + 1000003 * hash(v.im)
    return h == -1 and -2 or h
  end

  -- The two parts of any number.
  local function parts(v)
    if V.is_complex(v) then return v.re, v.im end
    if type(v) == "boolean" then v = v and 1 or 0 end
    if big.is(v) then v = big.float(v) end
    return v * 1.0, 0.0
  end

  -- equal_complex(a, b): of numbers of which one is complex.
  function V.equal_complex(a, b)
    local function number(v)
      return V.is_complex(v) or type(v) == "number" or type(v) == "boolean"
        or big.is(v)
    end
    if not number(a) or not number(b) then return false end
    local x, y = a, b
    if not V.is_complex(a) then x, y = b, a end
    if V.is_complex(y) then return x.re == y.re and x.im == y.im end
    return x.im == 0 and V.equal(x.re, y)
  end

  local function short(x)
    return (V.float_text(x):gsub("%.0$", ""))
  end
  local function negative(x) return x < 0 or x == 0 and 1 / x < 0 end

  mt.__tostring = function (v)
    if v.re == 0 and not negative(v.re) then return short(v.im) .. "j" end
    local im = short(v.im)
    return ("(%s%s%sj)"):format(short(v.re), im:sub(1, 1) == "-" and "" or "+",
      im)
  end

  local function divided(a, b, c, d)          -- (a + bi) / (c + di)
    if c == 0 and d == 0 then
      util.raise("ZeroDivisionError", "complex division by zero")
    end
    if math.abs(c) >= math.abs(d) then
      local ratio = d / c
      local under = c + d * ratio
      return (a + b * ratio) / under, (b - a * ratio) / under
    end
    local ratio = c / d
    local under = c * ratio + d
    return (a * ratio + b) / under, (b * ratio - a) / under
  end

  local function times(a, b, c, d) return a * c - b * d, a * d + b * c end

  local function whole_power(a, b, n)
    local re, im, mask = 1.0, 0.0, math.abs(n)
    while mask > 0 do
      if mask & 1 == 1 then re, im = times(re, im, a, b) end
      a, b = times(a, b, a, b)
      mask = mask >> 1
    end
    if n < 0 then return divided(1.0, 0.0, re, im) end
    return re, im
  end

  local function power(a, b, c, d)
    if c == 0 and d == 0 then return 1.0, 0.0 end
    if a == 0 and b == 0 then
      if d ~= 0 or c < 0 then
        util.raise("ZeroDivisionError", "0.0 to a negative or complex power")
      end
      return 0.0, 0.0
    end
    if d == 0 and c == math.floor(c) and math.abs(c) <= 100 then
      return whole_power(a, b, math.tointeger(c))
    end
    local size, angle = dt._libm.hypot(a, b), math.atan(b, a)
    local len, at = size ^ c, angle * c
    if d ~= 0 then
      len = len / math.exp(angle * d)
      at = at + d * math.log(size)
    end
    return len * math.cos(at), len * math.sin(at)
  end

  local signs = {
    ["+"] = function (a, b, c, d) return a + c, b + d end,
    ["-"] = function (a, b, c, d) return a - c, b - d end,
    ["*"] = times, ["/"] = divided, ["**"] = power,
  }

  -- complex_sign(op, a, b): a op b; nil where complex numbers have no such
  -- sign.
  function V.complex_sign(op, a, b)
    if not signs[op] then return nil end
    local re, im = parts(a)
    local x, y = signs[op](re, im, parts(b))
    if op == "**" and (x - x ~= 0 or y - y ~= 0) and re - re == 0
       and im - im == 0 then
      util.raise("OverflowError", "complex exponentiation")
    end
    return V.complex(x, y)
  end

  function V.complex_abs(v)
    local r = dt._libm.hypot(v.re, v.im)
    if r == math.huge and v.re - v.re == 0 and v.im - v.im == 0 then
      util.raise("OverflowError", "absolute value too large")
    end
    return r
  end

  -- Attributes of a complex number.
  V.complex_fact = {
    real = function (v) return v.re end,
    imag = function (v) return v.im end,
  }

  -- A complex number out of a text, or nil.
  function V.parse_complex(text)
    local s = text:match("^%s*(.-)%s*$"):lower():gsub("(%d)_(%d)", "%1%2")
    s = s:match("^%((.*)%)$") or s
    s = s:match("^%s*(.-)%s*$")
    local function number(word)
      local bare = word:gsub("^[+-]", "")
      local sign = word:sub(1, 1) == "-" and -1.0 or 1.0
      if bare == "inf" or bare == "infinity" then return sign * math.huge end
      if bare == "nan" then return V.NAN end
      if not bare:find("^%.?%d") or bare:find("x") then return nil end
      local n = tonumber(bare)
      return n and sign * n
    end
    if s:sub(-1) ~= "j" then
      local re = number(s)
      return re and V.complex(re, 0.0)
    end
    s = s:sub(1, -2)
    if s == "" or s == "+" or s == "-" then
      return V.complex(0.0, s == "-" and -1.0 or 1.0)
    end
    local im = number(s)
    if im then return V.complex(0.0, im) end
    for at = #s, 2, -1 do
      if s:find("^[+-]", at) and not s:find("^e", at - 1) then
        local tail = s:sub(at)
        if tail == "+" or tail == "-" then tail = tail .. "1" end
        local re, y = number(s:sub(1, at - 1)), number(tail)
        return re and y and V.complex(re, y)
      end
    end
  end
end
