-- SPDX-License-Identifier: MIT
-- python/ops.lua: Python's operators and subscripts.  Where an operand is
-- a tensor, the tensor's own sign is meant.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local tensor_index = require "python.tensor_index"
local format = require "python.format"
local aliases = require "python.aliases"
local big = require "python.bigint"
local exceptions = require "python.exceptions"
local foreign = require "python.foreign"
local boxes = require "python.boxes"
local unicode = require "python.unicode"
local quick = require "python.quick"
local protect = require "python.protect"
local counters = require "python.counters"
local shifted = require "python.shifted"
local sets = boxes.set

local M = {}
local None = dt.None
local A = dt._arith

local function tensorish(a, b) return util.is_tensor(a) or util.is_tensor(b) end

-- Who looks at what is done with tensors (dt.spmd.watch), or nil.
local watcher
function M.watch(w) watcher = w end

-- f(items, n, first, last, step): a slice is taken of a list's n items.
local part_watcher
function M.watch_parts(f) part_watcher = f end

local slice_mt = {__name = "slice"}
local function is_slice(v) return getmetatable(v) == slice_mt end

local function number(v)
  if v == true then return 1 elseif v == false then return 0 end
  return v
end

-- Items as a sequence of seq's kind; part of a torch.Size is one.
local function like(seq, items, n)
  if not V.is_tuple(seq) then
    local out = V.list(items, n)
    if rawget(seq, "deque") then
      out.deque, out.most = true, rawget(seq, "most")
      out.data_class = rawget(seq, "data_class")
      V.fit_deque(out)
    end
    return out
  end
  return seq.is_size and V.size(items) or V.tuple(items, n)
end

local function concat(a, b)
  local out = table.move(a, 1, a.n, 1, {})
  table.move(b, 1, b.n, a.n + 1, out)
  return like(b.is_size and b or a, out, a.n + b.n)
end

-- How often a sequence is repeated.
local function repeats(n)
  local times = V.index_of(n)
  if math.type(times) ~= "integer" and not big.is(times) then
    util.raise("TypeError", "can't multiply sequence by non-int of type '%s'",
      V.type_name(n))
  end
  return times
end

local function times(seq, n)
  local out, k = {}, 0
  n = repeats(n)
  if n == 1 and V.is_tuple(seq) and not rawget(seq, "record")
     and not rawget(seq, "called") then
    return seq
  end
  if seq.n > 0 and (big.is(n) and big.compare(n, 0) > 0
     or not big.is(n) and n > (1 << 27) // seq.n) then
    util.raise("MemoryError", "")
  end
  for _ = 1, (big.is(n) or seq.n == 0) and 0 or n do
    for i = 1, seq.n do
      k = k + 1
      out[k] = seq[i]
    end
  end
  return like(seq, out, k)
end

-- ---- integers: those that leave 64 bits go on in bigint.lua ----

local function is_int(v) return math.type(v) == "integer" end

-- f(a, b) for Lua's numbers, exact(a, b) where an integer is a large one.
local function mixed(f, exact)
  return function (a, b)
    local big_a, big_b = big.is(a), big.is(b)
    if not (big_a or big_b) then return f(a, b) end
    if (big_a or is_int(a)) and (big_b or is_int(b)) then return exact(a, b) end
    return f(big_a and big.float(a) or a, big_b and big.float(b) or b)
  end
end

local function plus(a, b)
  local c = a + b
  if is_int(c) and (a ~ c) & (b ~ c) < 0 then return big.add(a, b) end
  return c
end

local function minus(a, b)
  local c = a - b
  if is_int(c) and (a ~ b) & (a ~ c) < 0 then return big.sub(a, b) end
  return c
end

local function product(a, b)
  if is_int(a) and is_int(b) and math.abs((a + 0.0) * b) > 9.2e18 then
    return big.mul(a, b)
  end
  return a * b
end

local function power(a, b)
  if not (is_int(a) and is_int(b)) or b < 0 then
    if a == 0 and b < 0 and b - b == 0 then
      util.raise("ZeroDivisionError", "0.0 cannot be raised to a negative "
        .. "power")
    end
    if a < 0 and b - b == 0 and b ~= math.floor(b) and a - a == 0 then
      return V.complex_sign("**", a, b)
    end
    local c = a ^ b
    if c - c ~= 0 and a - a == 0 and b - b == 0 then
      error(exceptions.classes.OverflowError.make(V.list({34,
        "Numerical result out of range"}, 2)), 0)
    end
    return c
  end
  if a ~= 0 and b * math.log(math.abs(a + 0.0), 2) > 62 then
    return big.pow(a, b)
  end
  local out = 1
  while b > 0 do
    if b & 1 == 1 then out = out * a end
    a, b = a * a, b >> 1
  end
  return out
end

local function check_shift(n)
  if big.is(n) and n.neg or not big.is(n) and n < 0 then
    util.raise("ValueError", "negative shift count")
  end
end

-- A shift of large integers, `f`, by a count that is looked at first.
local function checked(f)
  return function (a, n)
    check_shift(n)
    return f(a, n)
  end
end

local function shift_left(a, n)
  check_shift(n)
  if a == 0 then return 0 end
  local most = n < 62 and 1 << (62 - n) or 0
  if a < most and a > -most then return a << n end
  return big.shl(a, n)
end

local function shift_right(a, n)
  check_shift(n)
  if n > 62 then return a < 0 and -1 or 0 end
  return a // (1 << n)
end

-- The floor of a / b where one is a float: by the remainder, which is exact.
local function float_quotient(a, b)
  a, b = a * 1.0, b * 1.0               -- a + 0.0 would lose the sign of -0.0
  local rest = math.fmod(a, b)
  local q = (a - rest) / b
  if rest ~= 0 and (rest < 0) ~= (b < 0) then q = q - 1.0 end
  if q == 0 then return a / b * 0.0 end    -- a zero has a sign
  if q - q ~= 0 then return q end
  local low = math.floor(q) + 0.0
  return q - low > 0.5 and low + 1.0 or low
end

local function quotient(a, b)
  if b == -1 and a == math.mininteger then return big.neg(a) end
  if is_int(a) and is_int(b) or tensorish(a, b) then return a // b end
  return float_quotient(a, b)
end

plus, minus, product = mixed(plus, big.add), mixed(minus, big.sub),
  mixed(product, big.mul)
power = mixed(power, function (a, b)
  if big.compare(b, 0) < 0 then return big.float(a) ^ big.float(b) end
  return big.pow(a, b)
end)
quotient = mixed(quotient, function (a, b) return (big.divmod(a, b)) end)
local modulo = mixed(function (a, b)
  local rest = a % b
  if rest == 0 and math.type(rest) == "float" then    -- it has the divisor's sign
    return b < 0 and -0.0 or 0.0
  end
  return rest
end, function (a, b)
  return (select(2, big.divmod(a, b)))
end)

local EXACT <const> = 1 << 53       -- every integer up to it is a float

local ratio = mixed(function (a, b)
  if is_int(a) and is_int(b) and not (a <= EXACT and a >= -EXACT
     and b <= EXACT and b >= -EXACT) then
    return big.ratio(a, b)
  end
  return a / b
end, big.ratio)

-- The error says of which operands, for a sign that knows better what they are
-- called, or itself.
local function refuse_operands(op, a, b)
  local e = dt.error("TYPE", ("unsupported operand type(s) for %s: '%s' and '%s'")
    :format(op == "**" and "** or pow()" or op, V.type_name(a), V.type_name(b)),
    "TypeError")
  e.operands = {a, b}
  error(e, 0)
end

-- Does the error refuse just these?
local function refuses(e, a, b)
  local given = type(e) == "table" and rawget(e, "operands")
  return given and rawequal(given[1], a) and rawequal(given[2], b)
end

-- True counts as 1, but with a tensor, whose type it leaves alone.
local function numbers(a, b)
  if tensorish(a, b) then return a, b end
  return number(a), number(b)
end

-- | & ^ << >>: integers only.
local function bits(op, f, exact)
  f = mixed(f, exact)
  return function (x, y)
    if tensorish(x, y) then return f(x, y) end       -- mask & True is a mask
    local a, b = number(x), number(y)
    if math.type(a) == "float" or math.type(b) == "float" then
      refuse_operands(op, x, y)
    end
    return f(a, b)
  end
end

local function merged(a, b)
  local d = V.dict()
  for k, v in V.each(a) do V.dict_set(d, k, v) end
  for k, v in V.each(b) do V.dict_set(d, k, v) end
  if counters.is(a) then return d end
  d.factory, d.shown_as, d.ordered = a.factory, a.shown_as, a.ordered
  d.default, d.data_class = a.default, rawget(a, "data_class")
  return d
end

-- The methods that stand for a sign, of the left and of the right operand.
local METHOD = {["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "truediv",
  ["//"] = "floordiv", ["%"] = "mod", ["**"] = "pow", ["@"] = "matmul",
  ["|"] = "or", ["&"] = "and", ["^"] = "xor", ["<<"] = "lshift",
  [">>"] = "rshift"}

local function is_number(v)
  return type(v) == "number" or type(v) == "boolean" or big.is(v)
end

local function zero(op, a, b)
  local float = math.type(a) == "float" or math.type(b) == "float"
  util.raise("ZeroDivisionError", op == "/" and not float
    and "division by zero" or op == "/" and "float division by zero"
    or op == "%" and (float and "float modulo" or "integer modulo by zero")
    or float and "float floor division by zero"
    or "integer division or modulo by zero")
end

local function repeatable(v)
  return type(v) == "string" or V.is_seq(v) or V.is_bytes(v)
end

-- Neither operand can do it.
local function unsupported(op, a, b)
  if op == "*" and (repeatable(a) or repeatable(b)) then
    util.raise("TypeError", "can't multiply sequence by non-int of type '%s'",
      V.type_name(repeatable(a) and b or a))
  end
  if op == "+" and type(a) == "string" then
    util.raise("TypeError", "can only concatenate str (not \"%s\") to str",
      V.type_name(b))
  end
  if op == "+" and V.is_tuple(a) and a.is_size then
    util.raise("TypeError", "can only concatenate tuple (not %s) to torch.Size",
      V.type_name(b))
  end
  if op == "+" and V.is_seq(a) then
    local called = V.type_name(a):gsub("^collections%.", "")
    util.raise("TypeError", "can only concatenate %s (not \"%s\") to %s",
      called, V.type_name(b), called)
  end
  refuse_operands(op, a, b)
end

-- A sign for operands of which one is bytes.
local function bytes_sign(op, a, b)
  if op == "+" and V.is_bytes(a) then
    if V.is_bytes(b) then return V.bytes_like(a, a.s .. b.s) end
    util.raise("TypeError", "can't concat %s to %s", V.type_name(b),
      V.type_name(a))
  elseif op == "*" then
    local v, n = V.is_bytes(a) and a or b, V.is_bytes(a) and b or a
    if repeatable(n) then unsupported(op, a, b) end
    n = V.index_of(n)
    if math.type(n) ~= "integer" then
      util.raise("TypeError", "can't multiply sequence by non-int of type '%s'",
        V.type_name(n))
    end
    if #v.s * n > 1 << 27 then util.raise("MemoryError", "") end
    return V.bytes_like(v, v.s:rep(n))
  elseif op == "%" and V.is_bytes(a) then
    return V.bytes_like(a, format.percent_bytes(a.s, b))
  end
  return unsupported(op, a, b)
end

local VIEWS = {["|"] = true, ["&"] = true, ["-"] = true, ["^"] = true}

-- Has a dictionary or set no such sign?
local function lacks(op, a)
  if V.is_set(a) then return not VIEWS[op] end
  return op == "^" or not VIEWS[op] and op ~= "+"
end

-- A sign of objects of classes below int, str, …: that of what they hold; what
-- neither can do is told of their own classes.
local function unboxed(op, a, b)
  local x, y = V.unbox(a), V.unbox(b)
  if op == "%" and type(x) == "string" then       -- b may have its own text
    return format.percent(x, b)
  end
  local done, v = protect.passing(M.binary[op], x, y)
  if done then return v end
  if refuses(v, x, y) then unsupported(op, a, b) end
  error(v, 0)
end

-- A sign for operands that are Python's own, or the program's.
local function guarded(op, f)
  local left, right = "__" .. METHOD[op] .. "__", "__r" .. METHOD[op] .. "__"
  local divides = op == "/" or op == "//" or op == "%"
  return function (a, b)
    if is_number(a) and is_number(b) then
      if divides and (b == 0 or b == false) then zero(op, a, b) end
      if op == "@" then unsupported(op, a, b) end
      return f(a, b)
    end
    if watcher and tensorish(a, b) and watcher.takes(a, b) then
      return watcher.binary(op, f, a, b)
    end
    -- a text takes whatever stands behind its %, but a text of the program's class
    local formats = op == "%" and type(a) == "string" and not V.is_boxed(b)
    local said = nil
    if not formats then said = V.ask(a, b, left, right) end
    if said ~= nil then return said end
    if op == "|" and (aliases.is_type(a) and (b == None or aliases.is_type(b))
       or a == None and aliases.is_type(b)) then
      return aliases.union(a, b)
    end
    if V.is_boxed(a) or V.is_boxed(b) then
      return unboxed(op, a, b)
    end
    if V.is_complex(a) or V.is_complex(b) then
      local other = V.is_complex(a) and b or a
      if is_number(other) or V.is_complex(other) then
        local v = V.complex_sign(op, a, b)
        if v == nil then unsupported(op, a, b) end
        return v
      end
      if not util.is_tensor(other) or op == "@" then unsupported(op, a, b) end
    end
    if op == "%" and type(a) == "string" then return f(a, b) end
    if V.is_bytes(a) or V.is_bytes(b) then return bytes_sign(op, a, b) end
    if op == "*" and util.is_tensor(b) and (type(a) == "string" or V.is_seq(a))
    then
      return f(a, V.index_of(b))
    elseif op == "*" and util.is_tensor(a) and (type(b) == "string"
       or V.is_seq(b)) then
      return f(V.index_of(a), b)
    end
    if tensorish(a, b) then
      if V.no_operand(a) or V.no_operand(b) then unsupported(op, a, b) end
      if watcher then return watcher.binary(op, f, a, b) end
      return f(a, b)
    end
    local kind = type(a) == "string" and "text" or V.is_seq(a) and "seq"
      or (V.is_dict(a) or V.is_set(a)) and "map"
    local object = not kind and (type(a) == "table" and rawget(a, "_class")
      or type(b) == "table" and rawget(b, "_class") or V.is_opaque(a)
      or V.is_opaque(b) or V.is_error(a) or V.is_error(b))
    if object and not (type(a) == "string" and op == "%") then
      unsupported(op, a, b)
    end
    if a == None or b == None and not (kind == "text" and op == "%") or kind == "text" and op ~= "%"
       and not (op == "+" and type(b) == "string")
       and op ~= "*"
       or kind == "seq" and not (op == "+" and V.is_seq(b)
       and (V.type_name(a) == V.type_name(b)
       or V.is_tuple(a) and V.is_tuple(b) or V.is_list(a) and V.is_list(b)
       and not rawget(a, "deque") == not rawget(b, "deque")))
       and op ~= "*"
       or is_number(a) and op ~= "*" and (type(b) == "string" or V.is_seq(b))
       or V.is_generator(a)
       or is_number(a) and (V.is_dict(b) or V.is_set(b) or V.is_view(b)
       or V.is_function(b) or V.is_generator(b) or b == nil or b == V.not_implemented
       or b == dt.ellipsis)
       or a == V.not_implemented or a == dt.ellipsis
       or aliases.is_type(a) or is_number(a) and aliases.is_type(b)
       or V.is_range(a) and not (op == "*" and V.is_seq(b))
       or V.is_range(b) and not V.is_view(a) and not (op == "*" and V.is_seq(a))
       or kind == "map" and lacks(op, a) or V.is_function(a)
       or V.is_view(a) and not VIEWS[op] then
      unsupported(op, a, b)
    end
    return f(a, b)
  end
end

local either = bits("|", function (a, b) return a | b end, big.bor)
local both = bits("&", function (a, b) return a & b end, big.band)
local one_of = bits("^", function (a, b) return a ~ b end, big.bxor)

local MOST <const> = 1 << 27        -- items of a sequence, bytes of a text

local function no_memory() util.raise("MemoryError", "") end

local function repeated(text, n)
  n = repeats(n)
  if big.is(n) or #text * n > MOST then no_memory() end
  return text:rep(n)
end

-- A sign of two Counters.
local function counted(op, a, b)
  local d = counters.sign(op, a, b)
  if d == nil then unsupported(op, a, b) end
  return d
end

-- The right operand of a set's sign, as a list of arguments.
local function operand(op, a, b, any)
  if not any and not V.is_set(b) and not V.is_view(b) then
    unsupported(op, a, b)
  end
  return V.list({b}, 1)
end

-- The left operand of a set's sign: with a view beside it the result is a set.
local function left_set(a, b, view)
  if view then return V.as_set(a) end
  if V.is_set(a) and a.frozen and V.is_view(b) then return V.set((V.items(a))) end
  return a
end

M.binary = {
  ["+"] = function (a, b)
    if V.is_seq(a) and V.is_seq(b) then return concat(a, b) end
    if V.is_dict(a) then return counted("+", a, b) end
    if type(a) == "string" and type(b) == "string" then
      if #a + #b > MOST then no_memory() end
      return a .. b
    end
    return plus(numbers(a, b))
  end,
  ["-"] = function (a, b)
    local view = V.is_view(a)
    a = left_set(a, b, view)
    if V.is_dict(a) then return counted("-", a, b) end
    if V.is_set(a) then
      return sets.difference(a, operand("-", a, b, view))
    end
    return minus(numbers(a, b))
  end,
  ["*"] = function (a, b)
    if V.is_seq(a) then return times(a, b) end
    if V.is_seq(b) then return times(b, a) end
    if type(a) == "string" then return repeated(a, b) end
    if type(b) == "string" then return repeated(b, a) end
    return product(numbers(a, b))
  end,
  ["/"] = function (a, b) return ratio(numbers(a, b)) end,
  ["//"] = function (a, b) return quotient(numbers(a, b)) end,
  ["%"] = function (a, b)
    if type(a) == "string" then return format.percent(a, b) end
    return modulo(numbers(a, b))
  end,
  ["**"] = function (a, b)
    if tensorish(a, b) then
      if not util.is_tensor(a) then return A.rpow(b, a) end
      return A.pow(a, b)
    end
    return power(numbers(a, b))
  end,
  ["@"] = function (a, b) return dt.matmul(a, b) end,
  ["|"] = function (a, b)
    if counters.is(a) and counters.is(b) then return counted("|", a, b) end
    if V.is_dict(a) then
      if not V.is_dict(b) then unsupported("|", a, b) end
      return merged(a, b)
    end
    local view = V.is_view(a)
    a = left_set(a, b, view)
    if V.is_set(a) then return sets.union(a, operand("|", a, b, view)) end
    if type(a) == "boolean" and type(b) == "boolean" then return a or b end
    return either(a, b)
  end,
  ["&"] = function (a, b)
    local view = V.is_view(a)
    a = left_set(a, b, view)
    if V.is_dict(a) then return counted("&", a, b) end
    if V.is_set(a) then
      return sets.intersection(a, operand("&", a, b, view))
    end
    if type(a) == "boolean" and type(b) == "boolean" then return a and b end
    return both(a, b)
  end,
  ["^"] = function (a, b)
    local view = V.is_view(a)
    a = left_set(a, b, view)
    if V.is_set(a) then
      return sets.symmetric_difference(a, operand("^", a, b, view))
    end
    if type(a) == "boolean" and type(b) == "boolean" then return a ~= b end
    return one_of(a, b)
  end,
  ["<<"] = bits("<<", function (a, b)
    if tensorish(a, b) then return a << b end
    return shift_left(a, b)
  end, checked(big.shl)),
  [">>"] = bits(">>", function (a, b)
    if tensorish(a, b) then return a >> b end
    return shift_right(a, b)
  end, checked(big.shr)),
}

for op, f in pairs(M.binary) do
  local slow, plain = guarded(op, f), quick.binary[op]
  M.binary[op] = plain and plain(slow) or slow
end

V.binary = M.binary                 -- for those below this file

local function refuse_unary(op, a, shown)
  if V.is_complex(a) then return end
  if type(a) == "string" or a == None or V.is_seq(a) or V.is_dict(a)
     or V.is_set(a) or V.is_function(a) or V.is_bytes(a) or aliases.is_type(a)
     or type(a) == "table" and rawget(a, "_class") or V.is_opaque(a)
     or V.is_error(a) or is_slice(a) or V.is_generator(a) or V.is_range(a)
     or V.is_view(a) or a == V.not_implemented or a == dt.ellipsis then
    util.raise("TypeError", "bad operand type for unary %s: '%s'", op,
      V.type_name(shown or a))
  end
end

M.unary = {
  ["-"] = function (a)
    local special = V.special(a, "__neg__")
    if special then return special() end
    local given = a
    a = V.unbox(a)
    if counters.is(a) then return counters.unary("-", a) end
    refuse_unary("-", a, given)
    a = number(a)
    if V.is_complex(a) then return V.complex(-a.re, -a.im) end
    if big.is(a) or a == math.mininteger then return big.neg(a) end
    return -a
  end,
  ["+"] = function (a)
    local special = V.special(a, "__pos__")
    if special then return special() end
    local given = a
    a = V.unbox(a)
    if counters.is(a) then return counters.unary("+", a) end
    refuse_unary("+", a, given)
    return number(a)
  end,
  ["~"] = function (a)
    if util.is_tensor(a) then return a:bitwise_not() end
    local special = V.special(a, "__invert__")
    if special then return special() end
    a = V.unbox(a)
    if big.is(a) then return big.bnot(a) end
    refuse_unary("~", math.type(a) == "float" and "" or a, a)
    return ~number(a)
  end,
}

local inplace = {["+"] = "add_", ["-"] = "sub_", ["*"] = "mul_",
  ["/"] = "div_", ["**"] = "pow_"}

for op, f in pairs(M.unary) do
  M.unary[op] = function (a)
    if watcher and util.is_tensor(a) then return watcher.unary(op, f, a) end
    return f(a)
  end
end

local IN_PLACE = {["|"] = "update", ["&"] = "intersection_update",
  ["-"] = "difference_update", ["^"] = "symmetric_difference_update"}

-- What the program's own __iadd__ and the like makes of a, or nil.
local function own_change(a, name, b)
  local special = type(a) == "table" and rawget(a, "_class")
    and V.special(a, name)
  local said = special and special(b)
  if special and said ~= V.not_implemented then return said end
end

-- a += b: tensors change in place.
function M.augmented(op)
  local plain, name = M.binary[op], inplace[op]
  local own = "__i" .. METHOD[op] .. "__"
  local computes = quick.binary[op] ~= nil  -- what no two numbers refuse
  local function slow(a, b)
    if computes and math.type(a) and math.type(b) then return plain(a, b) end
    if util.is_tensor(a) and name then
      if watcher then return watcher.method(name, a[name], a, b) end
      return a[name](a, b)
    end
    local changed = own_change(a, own, b)
    if changed ~= nil then return changed end
    if V.is_list(a) and op == "+" then
      V.extend(a, b)
      return a
    end
    if V.is_bytearray(a) and (op == "+" or op == "*") then
      a.s = plain(a, b).s               -- whoever else has it sees it
      return a
    end
    if V.is_dict(a) and op == "|" and not a.absent_value
       and not rawget(a, "_class") then
      boxes.methods_of(a).update(a, V.list({b}, 1))
      return a
    end
    if counters.change(op, a, b) then return a end
    if V.is_set(a) and not a.frozen and V.is_set(b) and IN_PLACE[op] then
      sets[IN_PLACE[op]](a, V.list({b}, 1))
      return a
    end
    if V.is_list(a) and op == "*" and is_number(b) and not rawget(a, "_class")
    then
      local out = plain(a, b)
      if out.n ~= a.n then V.note_change(a) end
      for i = 1, math.max(out.n, a.n) do a[i] = out[i] end
      a.n = out.n
      return a
    end
    local special = not rawget(type(a) == "table" and a or {}, "_class")
      and V.special(a, own)
    local said = special and special(b)
    if special and said ~= V.not_implemented then return said end
    local done, v = protect.passing(plain, a, b)
    if done then return v end
    if refuses(v, a, b) then refuse_operands(op .. "=", a, b) end
    error(v, 0)
  end
  return computes and quick.binary[op](slow) or slow
end

local MIRROR = {lt = "gt", gt = "lt", le = "ge", ge = "le"}
local SIGN = {lt = "<", gt = ">", le = "<=", ge = ">="}

local function ordered(name, f)
  local own, mirrored = "__" .. name .. "__", "__" .. MIRROR[name] .. "__"
  return function (a, b)
    if util.is_tensor(a) then return a[name](a, b) end
    if util.is_tensor(b) then return b[MIRROR[name]](b, a) end
    if big.is(a) or big.is(b) then
      if is_number(a) and is_number(b) then return f(V.compare_big(a, b), 0) end
    elseif is_number(a) and is_number(b) then
      return f(number(a), number(b))
    end
    local said = V.ask(a, b, own, mirrored)
    if said ~= nil then return said end
    if V.is_boxed(a) or V.is_boxed(b) then
      local x, y = V.unbox(a), V.unbox(b)
      if is_number(x) == is_number(y) then return M.compare[SIGN[name]](x, y) end
    end
    if V.same_kind_of_seq(a, b) then
      for i = 1, math.min(a.n, b.n) do
        if not V.alike(a[i], b[i]) then
          return V.truth(M.compare[SIGN[name]](a[i], b[i]))
        end
      end
      return f(a.n, b.n)
    end
    if counters.is(a) and counters.is(b) then
      return counters.ordered(name, a, b)
    end
    local s, t = V.as_set(a), V.as_set(b)
    if V.is_set(s) and V.is_set(t) then
      local small, large = s, t
      if name == "ge" or name == "gt" then small, large = t, s end
      return sets.issubset(small, {large}) and (name == "le" or name == "ge"
        or V.count(small) < V.count(large))
    end
    if type(a) == "string" and type(b) == "string" then return f(a, b) end
    if V.is_bytes(a) and V.is_bytes(b) then return f(a.s, b.s) end
    return util.raise("TypeError", "'%s' not supported between instances of "
      .. "'%s' and '%s'", SIGN[name], V.type_name(a), V.type_name(b))
  end
end

local function same(a, b)
  if rawequal(a, b) then return true end
  if util.is_tensor(a) and util.is_tensor(b) then return a._id == b._id end
  if type(a) == "number" or type(a) == "string" then
    return a == b and math.type(a) == math.type(b)
      or a ~= a and type(b) == "number" and b ~= b      -- there is one NaN
  end
  if V.is_tuple(a) then                 -- there is one empty tuple
    return a.n == 0 and V.is_tuple(b) and b.n == 0
      and not rawget(a, "_class") and not rawget(b, "_class")
  end
  if type(a) == "userdata" and type(b) == "userdata"
     and not tensorish(a, b) then
    return a == b
  end
  return false
end

M.compare = {
  ["=="] = V.equal,
  ["!="] = function (a, b)
    if tensorish(a, b) and not V.no_operand(a) and not V.no_operand(b) then
      return util.is_tensor(a) and a:ne(b) or b:ne(a)
    end
    local said = V.ask(a, b, "__ne__", "__ne__")
    if said ~= nil then return said end
    said = V.equal(a, b)
    if util.is_tensor(said) then return said:logical_not() end
    return not V.truth(said)
  end,
  ["<"] = ordered("lt", function (a, b) return a < b end),
  [">"] = ordered("gt", function (a, b) return a > b end),
  ["<="] = ordered("le", function (a, b) return a <= b end),
  [">="] = ordered("ge", function (a, b) return a >= b end),
  ["in"] = function (a, b) return V.contains(b, a) end,
  ["not in"] = function (a, b) return not V.contains(b, a) end,
  ["is"] = same,
  ["is not"] = function (a, b) return not same(a, b) end,
}

-- Signs that compare tensors.
for _, op in ipairs {"==", "!=", "<", ">", "<=", ">="} do
  local f = M.compare[op]
  M.compare[op] = function (a, b)
    if watcher and tensorish(a, b) and not V.no_operand(a)
       and not V.no_operand(b) then
      return watcher.binary(op, f, a, b)
    end
    return f(a, b)
  end
  M.compare[op] = quick.compare[op](M.compare[op])
end

-- ---- subscripts ----

slice_mt.__tostring = function (s)
  return ("slice(%s, %s, %s)"):format(V.repr(s.start), V.repr(s.stop),
    V.repr(s.step))
end

function M.slice(start, stop, step)
  return setmetatable({start = start, stop = stop, step = step}, slice_mt)
end


local function slice_parts(s) return V.tuple({s.start, s.stop, s.step}, 3) end
function slice_mt.hash()
  util.raise("TypeError", "unhashable type: 'slice'")
end
function slice_mt.equals(a, b)
  return V.equal(slice_parts(a), slice_parts(b))
end

local whole_index = tensor_index(is_slice)

-- First, last (not reached) and step of a slice of n items, from 0.
local function bounds(s, n)
  local step = s.step == None and 1 or V.index_of(s.step)
  if big.is(step) then
    step = big.compare(step, 0) < 0 and -math.maxinteger or math.maxinteger
  elseif math.type(step) ~= "integer" then
    util.raise("TypeError", "slice indices must be integers or None or have "
      .. "an __index__ method")
  end
  if step == 0 then util.raise("ValueError", "slice step cannot be zero") end
  local lo, hi = 0, n
  if step < 0 then lo, hi = -1, n - 1 end
  local function clip(v, default)
    if v == None then return default end
    v = V.index_of(v)
    if big.is(v) then v = big.compare(v, 0) < 0 and -n - 1 or n end
    if math.type(v) ~= "integer" then
      util.raise("TypeError", "slice indices must be integers or None or have "
        .. "an __index__ method")
    end
    if v < 0 then v = v + n end
    return math.max(lo, math.min(hi, v))
  end
  return clip(s.start, step > 0 and lo or hi), clip(s.stop, step > 0 and hi
    or lo), step
end

-- s.indices(n)
function slice_mt.__index(s, name)
  if name ~= "indices" then return nil end
  return V.builtin(function (a)
    local n = V.index_of(a[1])
    if math.type(n) ~= "integer" then
      util.raise(big.is(n) and "NotImplementedError" or "TypeError", big.is(n)
        and "the indices of a slice of more than 2**63 items are not part of "
        .. "dtrepl" or "'%s' object cannot be interpreted as an integer",
        V.type_name(n))
    elseif n < 0 then
      util.raise("ValueError", "length should not be negative")
    end
    return V.tuple({bounds(s, n)}, 3)
  end, name)
end

-- The places that a slice of n items names, from 0.
local function slice_places(s, n)
  local first, last, step = bounds(s, n)
  local out = {}
  for i = first, last - (step > 0 and 1 or -1), step do out[#out + 1] = i end
  return out
end

-- The same; nil when s is no slice.
function M.places(s, n) return is_slice(s) and slice_places(s, n) or nil end

-- How many characters a text has, and the byte where its character i (from 0)
-- begins.
local function length_of(v)
  return unicode.is_ascii(v) and #v or utf8.len(v, 1, -1, true) or #v
end
local function byte_of(v, n, i)
  return n == #v and i + 1 or utf8.offset(v, i + 1)
end

local function slice_of_text(v, s)
  local n = length_of(v)
  local first, last, step = bounds(s, n)
  if step == 1 then
    if first >= last then return "" end
    return v:sub(byte_of(v, n, first), byte_of(v, n, last) - 1)
  end
  local items, out = V.items(v), {}
  for k, i in ipairs(slice_places(s, n)) do out[k] = items[i + 1] end
  return table.concat(out)
end

local function slice_of(v, s)
  if type(v) == "string" then return slice_of_text(v, s) end
  local items, n = V.items(v)
  local first, last, step = bounds(s, n)
  if part_watcher and V.is_list(v) then part_watcher(items, n, first, last, step) end
  if step == 1 then
    return like(v, table.move(items, first + 1, last, 1, {}),
      math.max(last - first, 0))
  end
  local out, k = {}, 0
  for i = first, last - (step > 0 and 1 or -1), step do
    k = k + 1
    out[k] = items[i + 1]
  end
  return like(v, out, k)
end

-- What is assigned to a slice of l: a copy where it is l.
local function assigned(l, x)
  if type(x) == "number" or type(x) == "boolean" or x == None then
    util.raise("TypeError", "can only assign an iterable")
  end
  local items, n = V.items(x)
  if items == l then items = table.move(l, 1, n, 1, {}) end
  return items, n
end

-- l[a:b] = items: the items between are replaced.
local function put_slice(l, s, x, deletes)
  local items, n = assigned(l, x)
  local first, last, step = bounds(s, l.n)
  if step ~= 1 then
    local k = 0
    local places = slice_places(s, l.n)
    if deletes then
      local gone = {}
      for _, i in ipairs(places) do gone[i + 1] = true end
      local m = 0
      for i = 1, l.n do
        if not gone[i] then
          m = m + 1
          l[m] = l[i]
        end
      end
      for i = m + 1, l.n do l[i] = nil end
      l.n = m
      return
    elseif n ~= #places then
      util.raise("ValueError", "attempt to assign sequence of size %d to "
        .. "extended slice of size %d", n, #places)
    end
    for i = first, last - (step > 0 and 1 or -1), step do
      k = k + 1
      l[i + 1] = items[k]
    end
    return
  end
  last = math.max(first, last)
  local old = l.n
  table.move(l, last + 1, old, first + n + 1)
  table.move(items, 1, n, first + 1, l)
  l.n = old - (last - first) + n
  for i = l.n + 1, old do l[i] = nil end
end

-- Its name where it is indexed: a torch.Size is a tuple there.
local function sequence_name(v)
  return V.is_tuple(v) and (v.is_size or rawget(v, "_class")) and "tuple"
    or V.is_list(v) and not v.deque and "list" or V.type_name(v)
end

local function place(v, i, what)
  if util.is_tensor(i) then i = foreign.of(i).index(i) end
  if math.type(i) ~= "integer" then
    local given = i
    i = V.index_of(i)
    if big.is(i) then
      util.raise("IndexError", "cannot fit 'int' into an index-sized integer")
    elseif math.type(i) ~= "integer" then
      util.raise("TypeError", "%s indices must be integers or slices, not %s",
        sequence_name(v), V.type_name(given))
    end
  end
  if i < 0 then i = i + v.n end
  if i < 0 or i >= v.n then
    util.raise("IndexError", "%s%s index out of range", sequence_name(v),
      what or "")
  end
  return i + 1
end

-- KeyError(k)
local function no_key(k)
  error(exceptions.classes.KeyError.make(V.list({k}, 1)), 0)
end

-- r[i], r[a:b] of a range.
local function range_item(r, i)
  if big.is(r.n) and not is_slice(i) then return V.long_range_item(r, i) end
  if big.is(r.n) then
    util.refuse("a slice of a range of more than 2**63 numbers is not part of "
      .. "dtrepl")
  elseif is_slice(i) then
    local first, last, step = bounds(i, r.n)
    return V.range(V.range_item(r, first), V.range_item(r, last),
      big.mul(r.step, step))
  end
  return V.range_item(r, place(r, i, " object") - 1)
end

local function item_of(v, i) return dt.Tensor._getitem(v, whole_index(i)) end

local function put_item(v, i, x)
  dt.Tensor._setitem(v, whole_index(i), V.to_lua(x))
end

-- Is it a value of Python's own that has no items?
local function has_no_items(v)
  return type(v) ~= "table" and type(v) ~= "userdata" or V.is_set(v)
    or V.is_function(v) or V.is_object(v) or big.is(v) or V.is_complex(v)
    or is_slice(v) or v == None or v == dt.ellipsis or V.is_error(v)
    or v == V.not_implemented
    or type(v) == "table" and rawget(v, "_class") and foreign.itemless(v)
end

local SCALAR = {int = true, float = true, bool = true, str = true,
  bytes = true, bytearray = true, complex = true, range = true}
local GENERIC = {list = true, dict = true, set = true, tuple = true,
  frozenset = true}

function M.getitem(v, i)
  local given = v
  if type(v) == "table" and rawget(v, "_class") then
    local special = V.special(v, "__getitem__")
    if special then return special(i) end
    v = V.unbox(v)
  end
  if V.is_seq(v) then
    if is_slice(i) then return slice_of(v, i) end
    return v[place(v, i)]
  elseif V.is_range(v) then
    return range_item(v, i)
  elseif V.is_dict(v) then
    local item = V.dict_get(v, i)
    local missing = item == nil and rawget(v, "_native")
      and V.special(v, "__missing__")
    if missing then return missing(i) end
    if item == nil and v.factory then
      item = v.factory()
      V.dict_set(v, i, item)
    end
    if item == nil and v.absent_value ~= nil then return v.absent_value end
    if item == nil then no_key(i) end
    return item
  elseif type(v) == "string" then
    if is_slice(i) then return slice_of(v, i) end
    i = V.index_of(i)
    if math.type(i) ~= "integer" then
      util.raise("TypeError", "string indices must be integers, not '%s'",
        V.type_name(i))
    end
    local n = length_of(v)
    if i < 0 then i = i + n end
    if i < 0 or i >= n then
      util.raise("IndexError", "string index out of range")
    end
    return v:sub(byte_of(v, n, i), byte_of(v, n, i + 1) - 1)
  elseif V.is_bytes(v) then
    if is_slice(i) then
      local out = {}
      for k, at in ipairs(slice_places(i, #v.s)) do
        out[k] = v.s:sub(at + 1, at + 1)
      end
      return V.bytes_like(v, table.concat(out))
    end
    i = V.index_of(i)
    if math.type(i) ~= "integer" then
      util.raise("TypeError", "%s indices must be integers or slices, not %s",
        V.is_bytearray(v) and "bytearray" or "byte", V.type_name(i))
    end
    if i < 0 then i = i + #v.s end
    if i < 0 or i >= #v.s then
      util.raise("IndexError", "%s", V.is_bytearray(v)
        and "bytearray index out of range" or "index out of range")
    end
    return v.s:byte(i + 1)
  elseif util.is_tensor(v) then
    if watcher then return watcher.method("__getitem__", item_of, v, i) end
    return item_of(v, i)
  elseif util.is_mesh(v) then
    return foreign.of(v).getitem(v, i)
  end
  local special = V.special(v, "__getitem__")
  if special then return special(i) end
  if type(v) == "table" and rawget(v, "__class_getitem") then
    return v.__getitem(v, i)
  elseif type(v) == "table" and (rawget(v, "is_data") or rawget(v, "__plain")
     and not aliases.is_hint(v) and rawget(v, "__python")) then
    local own = rawget(v, "__python") and v.__class_getitem__
    own = own and (V.raw(own) or type(own) == "table" and rawget(own, "get"))
    if own then return V.call(own, V.list({v, i}, 2)) end
    if rawget(v, "__python") and not v.__generic
       and not GENERIC[v.__native] then
      util.raise("TypeError", "type '%s' is not subscriptable", v.__name)
    end
    if SCALAR[rawget(v, "is_data")] then
      util.raise("TypeError", "type '%s' is not subscriptable", v.__name__)
    end
    return aliases.generic(v, i)
  elseif type(v) == "table" and is_slice(i) and v.__part then
    return v:__part(slice_places(i, #v))
  elseif type(v) == "table" and v.__getitem then
    return V.from_lua(v:__getitem(i))
  end
  if type(v) == "table" and V.is_type_table(v) then
    util.raise("TypeError", "type '%s' is not subscriptable", v.__name__)
  end
  if has_no_items(v) or V.is_generator(v) or V.is_view(v) or V.is_opaque(v) then
    util.raise("TypeError", "'%s' object is not subscriptable",
      V.type_name(given))
  end
  local key = V.to_lua(i)
  if math.type(key) == "integer" and getmetatable(v) == nil then
    key = key + 1
  end
  return V.from_lua(v[key])
end

function M.setitem(v, i, x)
  local special = V.special(v, "__setitem__")
  if special then
    special(i, x)
  elseif V.is_tuple(v) then
    util.raise("TypeError", "'%s' object does not support item assignment",
      V.type_name(v))
  elseif V.is_list(v) then
    if is_slice(i) then return put_slice(v, i, x) end
    v[place(v, i, " assignment")] = x
  elseif V.is_dict(v) then
    V.dict_set(v, i, x)
  elseif V.is_bytearray(v) then
    local items, n = V.items(v)
    local l = V.list(table.move(items, 1, n, 1, {}), n)
    M.setitem(l, i, x)
    for k = 1, l.n do
      local b = V.index_of(l[k])
      if math.type(b) ~= "integer" then
        util.raise("TypeError", "'%s' object cannot be interpreted as an "
          .. "integer", V.type_name(b))
      elseif b < 0 or b > 255 then
        util.raise("ValueError", "byte must be in range(0, 256)")
      end
      l[k] = string.char(b)
    end
    v.s = table.concat(l, "", 1, l.n)
  elseif has_no_items(v) or V.is_bytes(v) or V.is_range(v) or V.is_view(v)
    or V.is_generator(v) then
    util.raise("TypeError", "'%s' object does not support item assignment",
      V.type_name(v))
  elseif util.is_tensor(v) then
    if watcher then watcher.method("__setitem__", put_item, v, i, x)
    else put_item(v, i, x) end
  else
    v[V.to_lua(i)] = x
  end
end

-- del v[i]
function M.delitem(v, i)
  local own = V.special(v, "__delitem__")
  if own then
    own(i)
  elseif V.is_bytearray(v) then
    M.setitem(v, is_slice(i) and i or M.slice(place({n = #v.s}, i) - 1,
      place({n = #v.s}, i), None), V.bytes "")
  elseif V.is_list(v) then
    if is_slice(i) then return put_slice(v, i, V.list({}, 0), true) end
    shifted.take(v, place(v, i, " assignment"))
    V.note_change(v)
  elseif V.is_dict(v) then
    local here = V.dict_get(v, i) ~= nil
    if not here and v.absent_value == nil then no_key(i) end
    if here then V.dict_remove(v, i) end
  else
    local numbered = math.type(V.index_of(i)) == "integer"
      and (type(v) == "string" or V.is_tuple(v) or V.is_bytes(v)
      or V.is_range(v) or V.is_set(v) or V.is_view(v) or V.is_object(v)
      or V.is_boxed(v) or V.is_error(v)
      and not exceptions.classes[V.type_name(v)])
    util.raise("TypeError", "'%s' object %s support item deletion",
      V.type_name(v), numbered and "doesn't" or "does not")
  end
end

return M
