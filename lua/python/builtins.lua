-- SPDX-License-Identifier: MIT
-- python/builtins.lua: what every Python program may name without import:
-- len, range, print, isinstance, int, exceptions, …

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local attrs = require "python.attrs"
local calls = require "python.call"
local format = require "python.format"
local ops = require "python.ops"
local classes = require "python.class"
local meta = require "python.metaclass"
require "python.exception_attrs"
local native = require "python.native"
local exceptions = require "python.exceptions"
local foreign = require "python.foreign"
local object = require "python.object"
local boxes = require "python.boxes"
local constructors = require "python.constructors"
local text = require "python.text"
local unicode = require "python.unicode"
local names_of = require "python.dir"

local B, M = require "python.builtin_names", {}
format.set_reach(attrs.get, ops.getitem)
text.set_getitem(ops.getitem)
M.names = B
local None = dt.None
local call, builtin, namespace = calls.call, V.builtin, attrs.namespace

local function def(name, f) B[name] = builtin(f, name) end
local function kwarg(kw, name) return kw and V.dict_get(kw, name) end

for name, v in pairs(exceptions.classes) do B[name] = v end
for name, v in pairs(classes.names) do B[name] = v end
-- A class of exceptions is called like a function.
getmetatable(B.ValueError).__call = function (class, ...)
  return class.make(V.list({...}, select("#", ...)))
end

-- ---- sequences ----

def("len", function (a)
  local v = a[1]
  if V.is_list(v) and not rawget(v, "_class") then return v.n end
  if type(v) == "table" and rawget(v, "_class") then
    local own = V.special(v, "__len__")
    if own then return V.length_of(own()) end
    v = V.unbox(v)
  end
  if V.is_function(v) and not rawget(v, "absent") or type(v) == "table"
     and V.is_type_table(v) and not rawget(v, "absent")
     and not V.special(v, "__len__") or v == dt.ellipsis or v == V.not_implemented
  then
    util.raise("TypeError", "object of type '%s' has no len()", V.type_name(v))
  end
  if V.is_bytes(v) then return #v.s end
  if V.is_seq(v) then return v.n end
  if V.is_range(v) then
    if big.is(v.n) then
      util.raise("OverflowError", "Python int too large to convert to C ssize_t")
    end
    return v.n
  end
  if V.is_dict(v) or V.is_set(v) then return v.n end
  if V.is_view(v) then return v.dict.n end
  if type(v) == "string" then return utf8.len(v, 1, -1, true) or #v end
  local special = V.special(v, "__len__")
  if special then return V.length_of(special()) end
  if util.is_tensor(v) then
    if #v.shape == 0 then util.raise("TypeError", "len() of a 0-d tensor") end
    return v.shape[1]
  end
  if type(v) == "number" or type(v) == "boolean" or v == None or big.is(v)
     or V.is_complex(v) or V.is_generator(v) or V.is_object(v) or V.is_opaque(v)
     or V.is_error(v) or foreign.itemless(v) then
    util.raise("TypeError", "object of type '%s' has no len()",
      V.type_name(a[1]))
  end
  return #v
end)

def("range", function (a)
  local list = {}
  for i = 1, a.n do
    list[i] = V.index_of(a[i])
    if math.type(list[i]) ~= "integer" and not big.is(list[i]) then
      util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
        V.type_name(a[i]))
    end
  end
  local first, last, step = list[1], list[2], list[3] or 1
  if a.n == 1 then first, last = 0, list[1] end
  if step == 0 then util.raise("ValueError", "range() arg 3 must not be zero") end
  return V.range(first, last, step)
end)
B.range.__qualname__, B.range.is_data = "range", "range"

def("enumerate", function (a, kw)
  local start = a[2] or kwarg(kw, "start") or 0
  local i = V.index_of(start)
  if math.type(i) ~= "integer" and not big.is(i) then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(start))
  end
  local next, plus, first = V.iter(a[1]), ops.binary["+"], true
  return V.iterator(function ()
    local more, v = next()
    if not more then return false end
    if not first then i = plus(i, 1) end
    first = false
    return true, V.tuple({i, v}, 2)
  end, "enumerate")
end)

-- zip(…, strict=True): says which one is over first.
local function uneven(i, longer)
  util.raise("ValueError", "zip() argument %d is %s than argument%s", i,
    longer and "longer" or "shorter", i == 2 and " 1" or "s 1-" .. i - 1)
end

local function all_over(nexts, i)
  if i > 1 then uneven(i, false) end
  for j = 2, #nexts do if (nexts[j]()) then uneven(j, true) end end
end

def("zip", function (a, kw)
  local nexts, strict = {}, V.truth(kwarg(kw, "strict") or false)
  for i = 1, a.n do nexts[i] = V.iter(a[i]) end
  return V.iterator(function ()
    local t = {}
    for i = 1, a.n do
      local more, v = nexts[i]()
      if not more then
        if strict then all_over(nexts, i) end
        return false
      end
      t[i] = v
    end
    return a.n > 0, V.tuple(t, a.n)
  end, "zip")
end)

def("map", function (a)
  if a.n < 2 then
    util.raise("TypeError", "map() must have at least two arguments.")
  end
  local nexts = {}
  for i = 2, a.n do nexts[i - 1] = V.iter(a[i]) end
  return V.iterator(function ()
    local t = {}
    for i, next in ipairs(nexts) do
      local more, v = next()
      if not more then return false end
      t[i] = v
    end
    return true, call(a[1], V.list(t, #nexts))
  end, "map")
end)

def("filter", function (a)
  local next = V.iter(a[2])
  return V.iterator(function ()
    while true do
      local more, v = next()
      if not more then return false end
      if a[1] == None and V.truth(v)
         or a[1] ~= None and V.truth(call(a[1], V.list({v}, 1))) then
        return true, v
      end
    end
  end, "filter")
end)

-- The class of the iterators over a box.
local function iterator_name(v)
  local view = V.is_view(v) and getmetatable(v).view:gsub("s$", "")
  if view then return "dict_" .. view .. "iterator" end
  if V.is_dict(v) then return "dict_keyiterator" end
  local name = V.type_name(V.unbox(v))
  if name == "frozenset" then name = "set" end
  if name == "collections.deque" then return "_collections._deque_iterator" end
  return type(V.unbox(v)) == "string" and not unicode.is_ascii(V.unbox(v))
    and "str_iterator" or name == "str" and "str_ascii_iterator"
    or V.is_object(v) and not rawget(v, "_native") and "iterator"
    or name .. "_iterator"
end


def("iter", function (a)
  local v = a[1]
  if a.n < 2 then
    if V.is_generator(v) then return v end
    local own = V.special(v, "__iter__")
    local it = own and own()
    if own and V.special(it, "__next__") then return it end
    if own and V.is_generator(it) then return it end
    local out = V.iterator(V.iter(v), iterator_name(v))
    if V.is_list(v) or V.is_tuple(v) or V.is_dict(v) or V.is_set(v) then
      local next, taken = out.next, 0
      local n = v.n
      out.next = function ()
        local more, x = next()
        taken = more and taken + 1 or math.huge
        return more, x
      end
      out.length_hint = function ()
        if not V.is_list(v) and v.n ~= n then return 0 end
        return math.max(0, taken == math.huge and 0 or v.n - taken)
      end
    end
    return out
  end
  if not B.callable.call(V.list({v}, 1)) then
    util.raise("TypeError", "iter(v, w): v must be callable")
  end
  local over = false
  return V.iterator(function ()    -- iter(f, last)
    if over then return false end
    local ok, x = pcall(call, v, V.list({}, 0))
    if not ok then
      if not V.is_error_below(x, "StopIteration") then error(x, 0) end
      over = true
    else
      over = V.alike(x, a[2])
    end
    if over then return false end
    return true, x
  end, "callable_iterator")
end)
def("next", function (a)
  local special = V.special(a[1], "__next__")
  if special and a.n < 2 then return special() end
  local next = V.is_generator(a[1]) and a[1].next or special and V.iter(a[1])
  if not next then
    util.raise("TypeError", "'%s' object is not an iterator",
      V.type_name(a[1]))
  end
  local more, v = next()
  if more then return v end
  if a.n > 1 then return a[2] end
  return error(exceptions.classes.StopIteration.make(v == nil
    and V.list({}, 0) or V.list({v}, 1)), 0)
end)

for name, class in pairs(constructors.names) do B[name] = class end

def("reversed", function (a)
  local special = V.special(a[1], "__reversed__")
  if special then return special() end
  if V.is_range(a[1]) then
    return V.iterator(V.range_iter(a[1], true), "range_iterator")
  end
  local ordered = V.is_seq(a[1]) or V.is_dict(a[1]) or V.is_view(a[1])
    or V.is_bytes(a[1]) or type(V.unbox(a[1])) == "string"
    or util.is_tensor(a[1]) or V.special(a[1], "__getitem__")
    or type(a[1]) == "table" and not V.is_set(a[1]) and not V.is_generator(a[1])
    and not V.is_object(a[1]) and not V.is_error(a[1])
  if not ordered then
    util.raise("TypeError", "'%s' object is not reversible", V.type_name(a[1]))
  end
  local getitem = V.is_object(a[1]) and not rawget(a[1], "_native")
    and V.special(a[1], "__getitem__")
  if getitem then
    local at = B.len.call(V.list({a[1]}, 1))
    return V.iterator(function ()
      at = at - 1
      if at < 0 then return false end
      return true, getitem(at)
    end, "reversed")
  end
  local items, n = V.items(a[1])
  local live, i = V.is_list(a[1]) and a[1] or nil, n + 1
  local name = V.is_dict(a[1]) and "dict_reversekeyiterator"
    or V.is_list(a[1]) and "list_reverseiterator" or "reversed"
  local out = V.iterator(function ()
    i = i - 1
    if i < 1 or live and i > live.n then
      i = 0
      return false
    end
    return true, (live or items)[i]
  end, name)
  out.length_hint = function () return math.max(0, i - 1) end
  return out
end)
def("sorted", function (a, kw)
  return V.sorted(a[1], kwarg(kw, "key"), kwarg(kw, "reverse"))
end)
def("slice", function (a)
  if a.n == 1 then return ops.slice(None, a[1], None) end
  return ops.slice(a[1], a[2], a[3] or None)
end)

def("any", function (a)
  local next = V.iter(a[1])
  while true do
    local more, v = next()
    if not more then return false end
    if V.truth(v) then return true end
  end
end)
def("all", function (a)
  local next = V.iter(a[1])
  while true do
    local more, v = next()
    if not more then return true end
    if not V.truth(v) then return false end
  end
end)
def("sum", function (a, kw)
  local add = ops.binary["+"]
  local next = V.iter(a[1])
  local s = a[2]
  if s == nil then s = kwarg(kw, "start") end
  if s == nil then s = 0 end
  if type(s) == "string" or V.is_bytes(s) then
    util.raise("TypeError", V.is_bytes(s) and (V.is_bytearray(s)
      and "sum() can't sum bytearray [use b''.join(seq) instead]"
      or "sum() can't sum bytes [use b''.join(seq) instead]")
      or "sum() can't sum strings [use ''.join(seq) instead]")
  end
  while true do
    local more, v = next()
    if not more then return s end
    s = add(s, v)
  end
end)

local function extreme(name, better)
  def(name, function (a, kw)
    local items, n = a, a.n
    if n == 0 then
      util.raise("TypeError", "%s expected at least 1 argument, got 0", name)
    end
    if n == 1 then items, n = V.items(a[1]) end
    local key, default = kwarg(kw, "key"), kwarg(kw, "default")
    if a.n > 1 and default ~= nil then
      util.raise("TypeError", "Cannot specify a default for %s() with multiple "
        .. "positional arguments", name)
    end
    if n == 0 then
      if default == nil then
        util.raise("ValueError", "%s() arg is an empty sequence", name)
      end
      return default
    end
    local best, score
    for i = 1, n do
      local k = items[i]
      if key and key ~= None then k = call(key, V.list({k}, 1)) end
      if i == 1 or better(k, score) then best, score = items[i], k end
    end
    return best
  end)
end
extreme("max", function (x, y) return V.truth(ops.compare[">"](x, y)) end)
extreme("min", V.less)

-- ---- numbers and texts ----

def("repr", function (a) return V.repr(a[1]) end)
def("ascii", function (a) return V.ascii(a[1]) end)
def("format", function (a) return format.value(a[1], a[2] or "") end)

def("bool", function (a) return a.n > 0 and V.truth(a[1]) end)
B.bool.above = B.int
B.bool.doc = "bool(x): True or False, as x is true or not."
def("abs", function (a)
  local v = a[1]
  local own = V.special(v, "__abs__")
  if own then return own() end
  v = V.unbox(v)
  if V.is_complex(v) then return V.complex_abs(v) end
  if type(v) == "boolean" then return v and 1 or 0 end
  if big.is(v) or v == math.mininteger then return big.abs(v) end
  if type(v) == "number" then return math.abs(v) end
  local special = V.special(v, "__abs__")
  if special then return special() end
  if not util.is_tensor(v) then
    util.raise("TypeError", "bad operand type for abs(): '%s'",
      V.type_name(v))
  end
  return attrs.get(v, "abs").call(V.list({}, 0))
end)
def("divmod", function (a)
  if a.n ~= 2 then
    util.raise("TypeError", "divmod expected 2 arguments, got %d", a.n)
  end
  local sign = ops.binary
  local said = V.ask(a[1], a[2], "__divmod__", "__rdivmod__")
  if said ~= nil then return said end
  for i = 1, 2 do
    local x = V.unbox(a[i])
    if not math.type(x) and type(x) ~= "boolean" and not big.is(x)
       and not util.is_tensor(x) then
      util.raise("TypeError", "unsupported operand type(s) for divmod(): '%s' "
        .. "and '%s'", V.type_name(a[1]), V.type_name(a[2]))
    end
  end
  return V.tuple({sign["//"](a[1], a[2]), sign["%"](a[1], a[2])}, 2)
end)
-- The x with a * x = 1 modulo m.
local function inverse(a, m)
  local sign = ops.binary
  local r, next_r, x, next_x = m, sign["%"](a, m), 0, 1
  while next_r ~= 0 do
    local q = sign["//"](r, next_r)
    r, next_r = next_r, sign["-"](r, sign["*"](q, next_r))
    x, next_x = next_x, sign["-"](x, sign["*"](q, next_x))
  end
  if r ~= 1 then
    util.raise("ValueError", "base is not invertible for the given modulus")
  end
  return sign["%"](x, m)
end

-- power_modulo(a, n, m): pow(a, n, m).
function M.power_modulo(a, n, m)
  for _, v in ipairs {a, n, m} do
    if math.type(v) ~= "integer" and not big.is(v) then
      util.raise("TypeError", "pow() 3rd argument not allowed unless all "
        .. "arguments are integers")
    end
  end
  local sign, negative = ops.binary, V.less(m, 0)
  if m == 0 then util.raise("ValueError", "pow() 3rd argument cannot be 0") end
  if negative then m = ops.unary["-"](m) end
  if V.less(n, 0) then a, n = inverse(a, m), ops.unary["-"](n) end
  local out, base = sign["%"](1, m), sign["%"](a, m)
  while n ~= 0 do
    if sign["%"](n, 2) == 1 then out = sign["%"](sign["*"](out, base), m) end
    base, n = sign["%"](sign["*"](base, base), m), sign["//"](n, 2)
  end
  if negative and out ~= 0 then out = sign["-"](out, m) end
  return out
end

def("pow", function (a, kw)
  for k, v in V.each(kw or {keys = {}}) do
    local at = ({base = 1, exp = 2, mod = 3})[k]
    if at then a[at], a.n = v, math.max(a.n, at) end
  end
  if a[3] == None then a.n = 2 end
  if a.n < 3 then
    return ops.binary["**"](a[1], a[2])
  end
  local own = V.is_object(a[1]) and V.special(a[1], "__pow__")
  local said = own and own(a[2], a[3])
  if own and said ~= V.not_implemented then return said end
  return M.power_modulo(V.index_of(a[1]), V.index_of(a[2]), V.index_of(a[3]))
end)
-- v as an integer; what is none is refused.
local function whole(v)
  local n = V.index_of(v)
  if util.is_tensor(n) then return n end
  if math.type(n) ~= "integer" and not big.is(n) then
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      V.type_name(v))
  end
  return n
end
-- Halves go to the even side.
local function nearest(v)
  local low = math.floor(v)
  local rest = v - low
  if rest > 0.5 or (rest == 0.5 and low % 2 == 1) then low = low + 1 end
  return math.tointeger(low) or low
end

-- A float as the nearest integer; infinity and NaN have none.
local function to_whole(v)
  if v ~= v then
    util.raise("ValueError", "cannot convert float NaN to integer")
  elseif v - v ~= 0 then
    util.raise("OverflowError", "cannot convert float infinity to integer")
  end
  return big.of_float(nearest(v))
end

-- v as the nearest multiple of a unit, exactly; halves go to the even one.
local function nearest_multiple(v, unit)
  local sign, less = ops.binary, ops.compare["<"]
  local q, rest = sign["//"](v, unit), sign["%"](v, unit)
  local twice = sign["*"](rest, 2)
  local up = less(unit, twice)
    or not less(twice, unit) and sign["%"](q, 2) == 1
  return sign["*"](up and sign["+"](q, 1) or q, unit)
end

def("round", function (a, kw)
  local v, digits = a[1], a[2] or kwarg(kw, "ndigits")
  local special = V.special(v, "__round__")
  if special then return special(table.unpack(a, 2, a.n)) end
  if util.is_tensor(v) then
    if digits then return v:round {decimals = digits} end
    return v:round()
  end
  v = V.unbox(v)
  if type(v) == "boolean" then v = v and 1 or 0 end
  if type(v) ~= "number" and not big.is(v) then
    util.raise("TypeError", "type %s doesn't define __round__ method",
      V.type_name(a[1]))
  end
  if digits == nil or digits == None then
    if math.type(v) == "integer" or big.is(v) then return v end
    return to_whole(v)
  end
  digits = whole(digits)
  if big.is(digits) then digits = digits.neg and -400 or 400 end
  if math.type(v) == "integer" or big.is(v) then
    return digits >= 0 and v or nearest_multiple(v, big.pow(10, -digits))
  end
  if v == 0 then return v end
  if v - v ~= 0 then return v end
  if digits > 99 then                 -- as many digits behind the first one
    local places = digits + tonumber(("%e"):format(v):match("e(.*)$"))
    if places > 20 then return v end
    return places < 0 and v * 0.0
      or tonumber(("%." .. places .. "e"):format(v)) + 0.0
  end
  if digits < 0 then
    local unit = 10.0 ^ -digits
    local size = unit == math.huge and 0.0 or nearest(math.abs(v) / unit) * unit
    if size == math.huge then
      util.raise("OverflowError", "rounded value too large to represent")
    end
    return v < 0 and -size or size
  end
  local out = tonumber(("%." .. digits .. "f"):format(v)) + 0.0
  return out == 0 and v < 0 and -0.0 or out
end)
def("ord", function (a)
  if V.is_bytes(a[1]) then
    if #a[1].s ~= 1 then
      util.raise("TypeError", "ord() expected a character, but string of "
        .. "length %d found", #a[1].s)
    end
    return a[1].s:byte()
  end
  local n = type(a[1]) == "string" and (utf8.len(a[1]) or #a[1])
  if n ~= 1 then
    util.raise("TypeError", n and "ord() expected a character, but string of "
      .. "length %s found" or "ord() expected string of length 1, but %s found",
      n or V.type_name(a[1]))
  end
  return utf8.codepoint(a[1])
end)
def("chr", function (a)
  local n = whole(a[1])
  if big.is(n) or math.type(n) == "integer" and n >= 1 << 31 then
    util.raise("OverflowError", "Python int too large to convert to C int")
  elseif math.type(n) ~= "integer" or n < 0 or n > 0x10ffff then
    util.raise("ValueError", "chr() arg not in range(0x110000)")
  end
  return utf8.char(n)
end)
for name, prefix in pairs {hex = "#x", bin = "#b", oct = "#o"} do
  def(name, function (a) return format.value(whole(a[1]), prefix) end)
end
def("hash", function (a) return V.hash(a[1]) end)
-- ---- printing ----

local pending = ""                  -- what end="" left without a line's end

-- write(text): what sys.stdout shows: whole lines, the rest when it ends.
function M.write(text)
  pending = pending .. text
  local lines, rest = pending:match("^(.*)\n([^\n]*)$")
  if lines then
    pending = rest
    print(lines)
  end
end

-- write_error(text): what sys.stderr shows, after what stdout was given.
function M.write_error(text) io.stderr:write(text) end

object.set_tell_of_del(function (class)
  M.write_error(("dtrepl: %s.__del__ is not called: nothing tells here when "
    .. "the last reference to an object is gone\n"):format(class.__name))
end)

local redirected                    -- std_system.lua's, a layer above
function M.set_stdout(f) redirected = f end

local function print_parts(write, parts, sep, stop)
  for i, part in ipairs(parts) do
    if i > 1 then V.call(write, V.list {sep}) end
    V.call(write, V.list {part})
  end
  V.call(write, V.list {stop})
end

def("print", function (a, kw)
  local t = {}
  for i = 1, a.n do t[i] = V.str(a[i]) end
  for k in V.each(kw or {keys = {}}) do
    if k ~= "sep" and k ~= "end" and k ~= "file" and k ~= "flush" then
      util.raise("TypeError", "'%s' is an invalid keyword argument for print()",
        k)
    end
  end
  local sep, stop, file = kwarg(kw, "sep"), kwarg(kw, "end"), kwarg(kw, "file")
  if sep == nil or sep == None then sep = " " end
  if stop == nil or stop == None then stop = "\n" end
  sep, stop = V.unbox(sep), V.unbox(stop)
  for word, v in pairs {sep = sep, ["end"] = stop} do
    if type(v) ~= "string" then
      util.raise("TypeError", "%s must be None or a string, not %s", word,
        V.type_name(v))
    end
  end
  if file == nil or file == None then file = redirected and redirected() end
  if file == nil then
    M.write(table.concat(t, sep) .. stop)
  elseif V.is_object(file) then         -- whose class may see each part
    print_parts(attrs.get(file, "write"), t, sep, stop)
    if V.truth(kwarg(kw, "flush") or false) then
      V.call(attrs.get(file, "flush"), V.list {})
    end
  else
    V.call(attrs.get(file, "write"), V.list {table.concat(t, sep) .. stop})
  end
  return None
end)

-- At the end of a program: a line without an end is shown too.
function M.flush()
  local rest = pending
  pending = ""
  if rest ~= "" then print(rest) end
end

-- ---- objects ----

-- id(v): texts and numbers are one of a kind here, as equal small ones are in
-- CPython.
def("id", function (a)
  local v, kind = a[1], type(a[1])
  if kind == "string" or kind == "number" then
    return (V.hash(v) & 0xffffffffff) << 4
  elseif kind == "boolean" then
    return v and 0x955000 or 0x955020
  end
  return util.is_tensor(v) and v._id or V.identity(v)
end)
local attribute_name = attrs.name_of
def("getattr", function (a)
  local ok, v = pcall(attrs.get, a[1], attribute_name(a[2]))
  if ok then return v end
  if a.n > 2 and V.is_error_below(v, "AttributeError") then return a[3] end
  return error(v, 0)
end)
def("setattr", function (a)
  attrs.set(a[1], attribute_name(a[2]), a[3])
  return None
end)
def("delattr", function (a)
  attrs.delete(a[1], attribute_name(a[2]))
  return None
end)
def("hasattr", function (a)
  local ok, e = pcall(attrs.get, a[1], attribute_name(a[2]))
  if ok or V.is_error_below(e, "AttributeError") or type(e) ~= "table" then
    return ok
  end
  return error(e, 0)
end)
def("callable", function (a)
  local mt = getmetatable(a[1])
  if V.is_object(a[1]) then return V.special(a[1], "__call__") ~= nil end
  if classes.is_uncalled(a[1]) then return false end
  local other = foreign.of(a[1])
  if other and other.callable then return other.callable(a[1]) end
  return type(a[1]) == "function" or mt == V.func_mt or mt == V.builtin_mt
    or type(mt) == "table" and mt.__call ~= nil or false
end)
-- A module's names with their values: a copy, what is put there is not seen.
local function names_of_module(module)
  local d, names = V.dict(), names_of(module)
  for i = 1, names.n do
    local ok, v = pcall(attrs.get, module, names[i])
    if ok then V.dict_set(d, names[i], v) end
  end
  return d
end
def("vars", function (a)
  if attrs.name_of_module(a[1]) then return names_of_module(a[1]) end
  local ok, d = pcall(attrs.get, a[1], "__dict__")
  if ok then return d end
  if V.is_error_below(d, "AttributeError") then
    util.raise("TypeError", "vars() argument must have __dict__ attribute")
  end
  error(d, 0)
end)
def("dir", function (a)
  local said = V.special(a[1], "__dir__")
  if said then return call(B.sorted, V.list({said()}, 1)) end
  return names_of(a[1])
end)
for _, name in ipairs {"globals", "locals"} do
  def(name, function (a)                          -- see call_expr.lua
    if a.n > 0 then
      util.raise("TypeError", "%s() takes no arguments (%d given)", name, a.n)
    end
    return V.dict()
  end)
end
def("input", function ()
  return util.raise("EOFError", "EOF when reading a line")
end)
-- __import__("a.b") is a; with names to take from it, a.b.
def("__import__", function (a, kw)
  local from = a[4] or kw and V.dict_get(kw, "fromlist")
  local whole = attrs.module(a[1])
  if from ~= nil and from ~= None and V.truth(from) then return whole end
  local first = a[1]:match("^[^.]+")
  return first == a[1] and whole or attrs.module(first)
end)
def("breakpoint", function ()
  if dt.debug.breakpoint then dt.debug.breakpoint() end
  return None
end)

-- A class as a name for isinstance.
function M.class(name, test)
  return namespace {__name__ = name, test = test}
end

local PLACEMENT = {[dt.Shard] = "is_shard", [dt.Replicate] = "is_replicate",
  [dt.Partial] = "is_partial"}

-- What the __subclasshook__ of the class c says of another, or nil.
local function hooked(other, c)
  local hook = c.__subclasshook__
  if hook == nil then return nil end
  local said = call(attrs.get(c, "__subclasshook__"), V.list({other}, 1))
  if said ~= V.not_implemented then return V.truth(said) end
end

-- A protocol answers only where it says so.
local function refuse_protocol(c)
  if rawget(c, "holds") then return end
  for _, base in ipairs(rawget(c, "__bases") or {}) do
    if type(base) == "table" and rawget(base, "protocol") then
      util.raise("TypeError", "Instance and class checks can only be used with "
        .. "@runtime_checkable protocols")
    end
  end
end

-- Is a value of the language of that type?
local IS_KIND = {
  int = function (v)
    return math.type(v) == "integer" or type(v) == "boolean" or big.is(v)
  end,
  float = function (v) return math.type(v) == "float" end,
  str = function (v) return type(v) == "string" end,
  bool = function (v) return type(v) == "boolean" end,
  list = function (v) return V.is_list(v) and not v.deque end,
  dict = V.is_dict, tuple = V.is_tuple, range = V.is_range,
  set = function (v) return V.is_set(v) and not v.frozen end,
  frozenset = function (v) return V.is_set(v) and v.frozen == true end,
}

-- A value that is surely neither a class nor a hint.
local function is_no_class(c)
  return c == nil or c == None or type(c) == "string" or type(c) == "number"
    or type(c) == "boolean" or V.is_list(c) or V.is_dict(c)
end

-- isinstance(v, c), in CPython's order (Objects/abstract.c:
-- object_recursive_isinstance@3.11): the very class before anything the program
-- could have written, then tuples, then __instancecheck__ of the metaclass.  The
-- two returns at the top are for speed and may only say what the rest would.
local function is_class(v, c)
  if type(v) == "table" and c ~= nil and rawequal(rawget(v, "_class"), c) then
    return true
  end
  if type(v) ~= "table" and type(v) ~= "userdata" and type(c) == "table" then
    local kind = IS_KIND[rawget(c, "is_data")]     -- numbers and texts
    if kind then return kind(v) end
  end
  if V.is_tuple(c) then
    for i = 1, c.n do if is_class(v, c[i]) then return true end end
    return false
  end
  if is_no_class(c) then
    util.raise("TypeError", "isinstance() arg 2 must be a type, a tuple of "
      .. "types, or a union")
  end
  if exceptions.is_class(c) then
    return type(v) == "table" and rawget(v, "class") ~= nil
      and rawget(v, "message") ~= nil
      and exceptions.catches(c, v)
  end
  if type(v) == "table" and rawget(v, "python") and type(c) == "table"
     and exceptions.is_below(v.python, c) then
    return true                         -- of a class beside the exceptions
  end
  if type(c) == "table" and rawget(c, "test") then return c.test(v) end
  if c == dt.DTensor then return util.is_dtensor(v) end
  if PLACEMENT[c] then
    return util.is_placement(v) and v[PLACEMENT[c]](v) or false
  end
  if c == B.object then return true end
  if type(c) == "table" and rawget(c, "__metaclass") then
    local said = meta.ask(c, "__instancecheck__", v)
    if said ~= nil then return said end
  end
  if classes.is_instance(v, c) then return true end
  if type(c) == "table" and rawget(c, "__python") then
    refuse_protocol(c)
    for _, other in ipairs(rawget(c, "__registered") or {}) do
      if is_class(v, other) then return true end
    end
    local said = hooked(B.type.call(V.list({v}, 1)), c)
    if said ~= nil then return said end
  end
  if type(c) == "table" and rawget(c, "holds") then return c.holds(v) end
  local other = foreign.of(v)
  if other and other.isinstance then
    if type(c) == "table" and c.instance then return c.instance(v) end
    return other.isinstance(v, c)
  end
  local own = type(c) == "table" and rawget(c, "is_data")
  if own and type(v) == "table" and rawget(v, "_native") then
    return native.is(v, own)
  end
  if own == "complex" then return V.is_complex(v) end
  if own == "bytes" then return V.is_bytes(v) and not V.is_bytearray(v) end
  if own == "bytearray" then return V.is_bytearray(v) end
  if c == B.bool then return type(v) == "boolean" end
  return own ~= nil and IS_KIND[own] ~= nil and IS_KIND[own](v)
end
M.is_class = is_class

local below

-- The class that an object says it has by a __class__ of its own, or nil.
local function claimed(v)
  local class = V.is_object(v) and rawget(v, "_class")
  if not class or class.__class__ == nil then return nil end
  local said = attrs.get(v, "__class__")
  return not is_no_class(said) and not rawequal(said, attrs.class_of(v)) and said
    or nil
end

def("isinstance", function (a)
  if is_class(a[1], a[2]) then return true end
  local said = claimed(a[1])
  return said ~= nil and below(said, a[2])
end)

-- issubclass(c, base).  `below` of a kind of data answers for itself, and only yes is
-- believed: ABCs add to it.  __subclasscheck__ comes before the order of classes,
-- registered classes and __subclasshook__ after it, as in CPython's abc.
function below(c, base)
  if V.is_tuple(base) then
    for i = 1, base.n do if below(c, base[i]) then return true end end
    return false
  end
  if is_no_class(base) then
    util.raise("TypeError", "issubclass() arg 2 must be a class, a tuple of "
      .. "classes, or a union")
  end
  if c == B.bool and base == B.int or base == B.object then return true end
  local said = type(base) == "table" and rawget(base, "below")
  if said then said = said(c) end
  if said ~= nil and said ~= false then return true end
  if exceptions.is_class(c) then return exceptions.is_below(c, base) end
  if type(base) == "table" and rawget(base, "__metaclass") then
    said = meta.ask(base, "__subclasscheck__", c)
    if said ~= nil then return said end
  end
  if type(base) == "table" and rawget(base, "maker") and rawget(c, "__python") then
    base = classes.record_class(base)
  end
  if classes.is_below(c, base) then return true end
  local data = type(c) == "table" and rawget(c, "__python") and c.__native
  if data and rawequal(B[data], base) then return true end
  if type(base) == "table" and rawget(base, "__python") then
    for _, other in ipairs(rawget(base, "__registered") or {}) do
      if c == other or below(c, other) then return true end
    end
    local said = hooked(c, base)
    if said ~= nil then return said end
  end
  if getmetatable(c) == V.builtin_mt then       -- a type of data
    return V.contains(attrs.get(c, "__mro__"), base)
  end
  while type(c) == "table" do
    if c == base then return true end
    c = rawget(c, "__base") or rawget(c, "base")
  end
  return false
end
def("issubclass", function (a)
  if is_no_class(a[1]) then
    util.raise("TypeError", "issubclass() arg 1 must be a class")
  end
  return below(a[1], a[2])
end)

M.none_type = M.class("NoneType", function (v) return v == None end)
attrs.name_kind("NoneType", M.none_type)
-- The parts that type(name, bases, members) makes a class of.
local function check_parts(a)
  for i, fits in ipairs {function (v) return type(V.unbox(v)) == "string" end,
      V.is_tuple, V.is_dict} do
    if not fits(a[i]) then
      util.raise("TypeError", "type.__new__() argument %d must be %s, not %s", i,
        ({"str", "tuple", "dict"})[i], V.type_name(a[i]))
    end
  end
end

def("type", function (a, kw)
  local v = a[1]
  if a.n == 3 then
    check_parts(a)
    local bases, members, order = V.items(a[2]), {}, {}
    local by = meta.for_class({table.unpack(bases, 1, a[2].n)}, nil)
    if by then return meta.make(by, a, kw) end
    for k, x in V.each(a[3]) do
      if k ~= "__classcell__" then
        members[k] = x
        if k ~= "__annotations__" then order[#order + 1] = k end
      end
    end
    local class = classes.make(v, {table.unpack(bases, 1, a[2].n)}, members,
      order, {made = meta.fill_cell(a[3])}, kw)
    if members.__doc__ ~= nil and type(class) == "table" then
      class.__doc = members.__doc__
    end
    return class
  end
  if a.n ~= 1 then
    util.raise("TypeError", "type() takes 1 or 3 arguments")
  end
  if v == None then return M.none_type end
  if rawequal(v, B.object) or rawequal(v, M.none_type)
     or rawequal(v, foreign.root) or exceptions.is_class(v) then
    return B.type
  end
  return attrs.class_of(v)
end)
B.object = namespace(setmetatable({__name__ = "object",
  test = function () return true end,
  __new__ = builtin(function (a, kw) return classes.new_object(a, kw) end,
    "__new__")},
  {__call = function (_, more)
    if more ~= nil then
      util.raise("TypeError", "object() takes no arguments")
    end
    return object.bare(object.Object)
  end}))
B.object.__mro__, B.object.__bases__ = V.tuple {B.object}, V.tuple {}
local of_object = {}
for name in pairs(classes.of_object) do of_object[#of_object + 1] = name end
table.sort(of_object)
B.object.__dict__ = V.dict()
for name, f in pairs(classes.of_object) do
  B.object[name] = builtin(function (a)
    return f(a[1], V.list({table.unpack(a, 2, a.n)}, a.n - 1))
  end, name)
end
for _, name in ipairs(of_object) do
  B.object[name].of_type = "object"
  V.dict_set(B.object.__dict__, name, B.object[name])
end
-- Iterators that are called by their class.
for _, name in ipairs {"enumerate", "filter", "map", "reversed", "zip"} do
  B[name].__qualname__ = name
  B[name].test = function (v)
    return V.is_generator(v) and V.type_name(v) == name
  end
end

-- How many arguments a builtin takes, at least and at most; "kw": also by name.
local COUNTS = [[abs 1 1 all 1 1 any 1 1 ascii 1 1 bin 1 1 bool 0 1 callable 1 1
  chr 1 1 delattr 2 2 divmod 2 2 enumerate 1 2 kw filter 2 2 format 1 2
  getattr 2 3 hasattr 2 2 hash 1 1 hex 1 1 id 1 1 issubclass 2 2 iter 1 2
  len 1 1 isinstance 2 2 next 1 2 oct 1 1 ord 1 1 range 1 3 repr 1 1
  reversed 1 1 round 1 2 kw setattr 3 3 slice 1 3 sorted 1 1 kw sum 1 2 kw
  vars 0 1]]

local function refuse_count(name, least, most, n)
  local wanted = n < least and least or most
  if least == 1 and most == 1 and not ({sorted = 1, reversed = 1})[name] then
    util.raise("TypeError", "%s() takes exactly one argument (%d given)", name,
      n)
  end
  util.raise("TypeError", "%s expected %s%d argument%s, got %d", name,
    least == most and "" or n < least and "at least " or "at most ", wanted,
    wanted == 1 and "" or "s", n)
end

for name, least, most, kw in COUNTS:gsub("%s+kw", "=kw"):gmatch(
    "(%a+) (%d+) (%d+)=?(k?w?)") do
  local class = B[name]
  local f = class.call
  least, most = tonumber(least), tonumber(most)
  class.call = function (a, named)
    local n = a.n
    if named and kw == "" and named.n > 0 then
      util.raise("TypeError", "%s() takes no keyword arguments", name)
    elseif n < least and not (named and named.n > 0) or n > most then
      refuse_count(name, least, most, n)
    end
    return f(a, named)
  end
end

B.type.unbound = meta.of_type
B.type.test = function (v)
  return V.type_name(v) == "type" or exceptions.is_class(v)
    or rawequal(v, B.object) or rawequal(v, M.none_type)
    or rawequal(v, foreign.root)
end
B.type.__qualname__, B.slice.__qualname__ = "type", "slice"
B.slice.test = function (v) return V.type_name(v) == "slice" end

-- super(class, object), where it is a value; super() is read by call_expr.lua.
def("super", function (a)
  if a.n ~= 2 then
    util.refuse("super() with %d argument%s, called by "
      .. "another name, is not part of dtrepl", a.n, a.n == 1 and "" or "s")
  end
  return attrs.super(a[1], a[2])
end)
B.__debug__, B.NotImplemented, B.Ellipsis = true, V.not_implemented, dt.ellipsis

return M
