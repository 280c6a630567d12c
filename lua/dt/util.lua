-- SPDX-License-Identifier: MIT
-- dt/util.lua: what every module needs: what is this value, keyword
-- arguments, errors with PyTorch's classes, classes and scopes.

local dt = require "dt"

local M = {}

local function kind(v)
  if type(v) ~= "userdata" then return nil end
  local mt = getmetatable(v)
  return type(mt) == "table" and mt.__name or nil
end

-- Is `v` a tensor, plain or distributed?
function M.is_tensor(v) return kind(v) == "dt.tensor" end

-- Is `v` a distributed tensor?
function M.is_dtensor(v) return kind(v) == "dt.tensor" and v.is_dtensor end

-- Does a tensor of a list with n want a gradient?
function M.any_wants_gradient(list)
  for i = 1, list.n do
    if M.is_tensor(list[i]) and list[i].requires_grad then return true end
  end
  return false
end

-- Is `v` a device mesh?
function M.is_mesh(v) return kind(v) == "dt.mesh" end

-- Is `v` a placement?
function M.is_placement(v) return kind(v) == "dt.placement" end

-- Is `v` a dtype?
function M.is_dtype(v) return kind(v) == "dt.dtype" end

-- Is `v` a complex number of a Python program?  {re =, im =}.
function M.is_complex_number(v)
  local mt = type(v) == "table" and getmetatable(v)
  return type(mt) == "table" and mt.complex_number or false
end

-- Is `v` nil or dt.None?
function M.is_none(v) return v == nil or v == dt.None end

local codes = {
  RuntimeError = "RUNTIME", TypeError = "TYPE", ValueError = "VALUE",
  IndexError = "INDEX", KeyError = "KEY", AssertionError = "ASSERT",
  NotImplementedError = "NOTIMPL", AttributeError = "ATTR",
  ImportError = "RUNTIME",
}

-- Raise an error of PyTorch's class `class`; the rest goes to string.format.
function M.raise(class, fmt, ...)
  local text = select("#", ...) > 0 and fmt:format(...) or fmt
  error(dt.error(codes[class] or "RUNTIME", text, class), 0)
end

-- Raise the text of key `key` (src/compat/texts.def) in the words of the release
-- that is followed, with its class there.  As many arguments as it has.
function M.say(key, ...) return M.say_for(nil, key, ...) end

-- The same with a reason, as raise_for() has it.
function M.say_for(reason, key, ...)
  local class, text = dt._said(key, ...)
  local e = dt.error(codes[class] or "RUNTIME", text, class)
  e.reason = reason
  error(e, 0)
end

-- The same as raise() for code that decides by the error: `reason` is its field of that
-- name, since texts change from release to release.
function M.raise_for(reason, class, fmt, ...)
  local text = select("#", ...) > 0 and fmt:format(...) or fmt
  local e = dt.error(codes[class] or "RUNTIME", text, class)
  e.reason = reason
  error(e, 0)
end

-- Refuse what PyTorch or Python has and dtrepl has not.  The reason "absent", not
-- the text, is what tells such an error from one that the program would raise
-- elsewhere, too.  Files of pylib do it by `raise _absent.error(text)`.
function M.refuse(fmt, ...)
  M.raise_for("absent", "NotImplementedError", fmt, ...)
end

-- Run f; an error that says nothing beyond PyTorch's text gets an
-- explanation: what the program was at, and what is legal.  `tell(e)` makes it.
function M.explained(tell, f, ...)
  local out = table.pack(pcall(f, ...))
  if out[1] then return table.unpack(out, 2, out.n) end
  local e = out[2]
  if type(e) == "table" and e.message and rawget(e, "explain") == nil then
    e.explain = tell(e)
  end
  return error(e, 0)
end

-- The divisors of n, those up to `most` if it is given, as a text.
function M.divisors(n, most)
  local list = {}
  for k = 1, math.min(n, most or n) do
    if n % k == 0 then list[#list + 1] = tostring(k) end
  end
  return table.concat(list, ", ")
end

local function has_string_key(t)
  for key in next, t do
    if type(key) == "string" then return true end
  end
  return false
end

local one_value = setmetatable({}, {__mode = "k"})

-- Is `v` a table of keyword arguments: a plain table with a string key?
function M.is_kwargs(v)
  return type(v) == "table" and getmetatable(v) == nil and has_string_key(v)
    and not one_value[v]
end

-- as_value(t, like): `t` is one argument, a dict of the caller's, and holds no
-- keywords; where `like` is given, only if that is one.  Gives t back.
function M.as_value(t, like)
  if like == nil or one_value[like] then one_value[t] = true end
  return t
end

-- is_value(t): is `t` marked so?
function M.is_value(t) return one_value[t] == true end

-- Positional and keyword arguments of a call.  A final table with any string
-- key holds the keywords; its list part counts as positional.
-- Returns a table with `n`, and a table that may be changed.
function M.split(...)
  local pos = table.pack(...)
  local last = pos[pos.n]
  if pos.n == 0 or not M.is_kwargs(last) then return pos, {} end
  local kw = {}
  pos[pos.n] = nil
  pos.n = pos.n - 1
  for key, value in next, last do
    if type(key) == "string" then kw[key] = value end
  end
  for _, value in ipairs(last) do
    pos.n = pos.n + 1
    pos[pos.n] = value
  end
  return pos, kw
end

-- Bind positional and keyword arguments to names; `defaults` by name.
-- Unknown keywords raise a TypeError naming `fname`.
function M.bind(fname, names, defaults, ...)
  local pos, kw = M.split(...)
  local out = {}
  local last = pos[pos.n]
  if type(last) == "table" and getmetatable(last) == nil
     and next(last) == nil then                 -- keywords, all absent
    pos.n = pos.n - 1
  end
  for key, value in pairs(defaults) do out[key] = value end
  if pos.n > #names then
    M.raise("TypeError", "%s() takes %d positional arguments but %d were given",
      fname, #names, pos.n)
  end
  for i = 1, pos.n do
    if pos[i] ~= nil then out[names[i]] = pos[i] end
  end
  local known = {}
  for _, name in ipairs(names) do known[name] = true end
  for key, value in pairs(kw) do
    if not known[key] then
      M.raise("TypeError", "%s%s() got an unexpected keyword argument '%s'",
        fname, fname:find("^%u") and ".__init__" or "", key)
    end
    out[key] = value
  end
  for key, value in pairs(out) do
    if value == dt.None then out[key] = nil end
  end
  return out
end

-- A list of things: itself, or one thing alone in a list.
function M.list(v)
  if type(v) == "table" and getmetatable(v) == nil then return v end
  if v == nil or v == dt.None then return {} end
  return {v}
end

-- Text of a tuple as Python prints it.
function M.tuple_text(list)
  local parts = {}
  for i, v in ipairs(list) do
    parts[i] = type(v) == "string" and ("'%s'"):format(v)
      or M.is_placement(v) and v:repr() or v == dt.None and "None"
      or tostring(v)
  end
  return "(" .. table.concat(parts, ", ") .. (#parts == 1 and ",)" or ")")
end

-- The text of the decimal above one of %.16e and the like, by its last digit.
local function next_decimal(s)
  local sign, mantissa, exp = s:match("^(%-?)([%d.]+)e(.*)$")
  local digits = tostring(tonumber((mantissa:gsub("%.", ""))) + 1)
  return ("%s%s.%se%s"):format(sign, digits:sub(1, 1), digits:sub(2), exp)
end

-- The fewest digits that read back as v, as %e writes them.  Up to 15 digits
-- pass through a float unharmed, but one below 2^-1022 has fewer of them; and
-- below a power of two the floats stand closer, so the decimal above the
-- nearest one may read back where that does not.
local function shortest(v)
  local tiny = v < 0x1p-1022 and v > -0x1p-1022
  local power = ("%a"):format(v):find("^-?0x1p")
  for digits = tiny and 0 or 14, 16 do
    local s = ("%." .. digits .. "e"):format(v)
    if tonumber(s) == v then return s end
    if power and digits > 14 then
      s = next_decimal(s)
      if tonumber(s) == v then return s end
    end
  end
end

-- A float as Python writes it: the fewest digits that read back as v.
function M.float_text(v)
  if v ~= v then return "nan" end
  if v == math.huge then return "inf" elseif v == -math.huge then
    return "-inf"
  end
  local sign, mantissa, exp = shortest(v):match("^(%-?)([%d.]+)e(.*)$")
  local digits, point = mantissa:gsub("%.", ""):gsub("0+$", ""), tonumber(exp)
  if digits == "" then return sign .. "0.0" end
  if point < -4 or point >= 16 then
    local rest = digits:sub(2)
    return ("%s%s%s%se%s%02d"):format(sign, digits:sub(1, 1),
      rest ~= "" and "." or "", rest, point < 0 and "-" or "+", math.abs(point))
  elseif point < 0 then
    return sign .. "0." .. ("0"):rep(-point - 1) .. digits
  end
  digits = digits .. ("0"):rep(point + 2 - #digits)
  return sign .. digits:sub(1, point + 1) .. "." .. digits:sub(point + 2)
end

-- What Python calls the type of what is neither a table nor the engine's.
local PLAIN_TYPE <const> = {["nil"] = "NoneType", boolean = "bool",
  string = "str", ["function"] = "function"}

local function table_type(v)
  if v == dt.None then return "NoneType" end
  local class, mt = rawget(v, "_class"), getmetatable(v)
  return class and class.__name or type(mt) == "table" and mt.__name or "dict"
end

-- The name of the type of `v` in Python, as errors name it.
function M.type_text(v)
  if type(v) == "number" then
    return math.type(v) == "integer" and "int" or "float"
  elseif type(v) == "table" then
    return table_type(v)
  elseif M.is_tensor(v) then
    return v.is_dtensor and "DTensor" or v.is_parameter and "Parameter"
      or "Tensor"
  elseif M.is_mesh(v) then
    return "DeviceMesh"
  elseif M.is_placement(v) then
    return v:repr():match("^[%w_]+")
  elseif M.is_dtype(v) then
    return "torch.dtype"
  end
  return PLAIN_TYPE[type(v)] or kind(v) or type(v)
end

-- A list of numbers, or anything else, as Python prints it.
function M.python_text(v)
  if type(v) ~= "table" or getmetatable(v) ~= nil then return tostring(v) end
  local parts = {}
  for i, item in ipairs(v) do parts[i] = M.python_text(item) end
  return "[" .. table.concat(parts, ", ") .. "]"
end

local guard_mt = {
  __close = function (self) self:leave() end,
}

-- A scope that is open now: `local s <close> = scope(leave)`, or s:leave().
function M.guard(leave)
  local open = true
  return setmetatable({leave = function ()
    if open then
      open = false
      leave()
    end
  end}, guard_mt)
end

-- Run `f` and leave the scope whatever happens; returns f's results.
function M.within(guard, f, ...)
  local closing <close> = guard                 -- luacheck: ignore closing
  return f(...)
end

-- by_dtype(list): lists of the tensors of one device and dtype, in first-seen
-- order, as PyTorch groups them for foreach; and the same as places in `list`.
function M.by_dtype(list)
  local groups, places, at = {}, {}, {}
  for i, t in ipairs(list) do
    local key = tostring(t.device) .. tostring(t.dtype)
    if not at[key] then
      at[key] = #groups + 1
      groups[at[key]], places[at[key]] = {}, {}
    end
    table.insert(groups[at[key]], t)
    table.insert(places[at[key]], i)
  end
  return groups, places
end

-- The type of numbers `dtype` as PyTorch's C++ calls it: "Float", "Char".
local KINDS = {float32 = "Float", float64 = "Double", float16 = "Half",
  bfloat16 = "BFloat16", int64 = "Long", int32 = "Int", int16 = "Short",
  int8 = "Char", uint8 = "Byte", bool = "Bool", complex64 = "ComplexFloat",
  complex128 = "ComplexDouble"}
function M.kind_word(dtype)
  return KINDS[tostring(dtype):match("%w+$")]
end

-- sorted_keys(t): the keys of a table in byte order of their text.
function M.sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  return keys
end

-- contiguous_stride(sizes) -> strides of a contiguous tensor of these sizes.
function M.contiguous_stride(sizes)
  local out, step = {}, 1
  for d = #sizes, 1, -1 do
    out[d] = step
    step = step * math.max(sizes[d], 1)
  end
  return out
end

-- Python programs that make their processes, or need only one, say so with these.
local OWN <const> = {"run_tests", "unittest", "spawn", "multiprocessing",
  "LocalTensorMode", "FakeStore", "%.fork%(", "%.Process%s*%("}

-- makes_its_own(text) -> does a Python program need no processes made for it?
function M.makes_its_own(text)
  for _, word in ipairs(OWN) do
    if text:find(word) then return true end
  end
  return false
end

-- first_lines(text) -> the `from __future__` imports of a Python program, for what
-- puts lines of its own before it: Python wants them first.  And the text without
-- them, whose lines stay in place.
function M.first_lines(text)
  local out = {}
  text = text:gsub("from __future__ import [^\n(]*", function (line)
    out[#out + 1] = line
    return "pass"
  end)
  return #out > 0 and table.concat(out, "\n") .. "\n" or "", text
end

return M
