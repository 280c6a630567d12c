-- SPDX-License-Identifier: MIT
-- python/format.lua: numbers and texts as Python writes them: format(v,
-- spec), "…".format(…), "…" % ….  A spec is
-- [[fill]align][sign][#][0][width][,][.precision][kind].

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local exceptions = require "python.exceptions"

local M = {}

-- Two signs between thousands.
local function refuse_commas(spec)
  local two = spec:match("^[+ %-]?z?#?%d*([,_][,_])")
  if not two then return end
  if two == ",_" or two == "_," then
    util.raise("ValueError", "Cannot specify both ',' and '_'.")
  end
  util.raise("ValueError", "Cannot specify '%s' with '%s'.", two:sub(1, 1),
    two:sub(2))
end

local PREFIX = {x = "0x", X = "0X", o = "0o", b = "0b"}

local function parse(spec, kind_name)
  local whole = spec
  local s = {fill = " ", precision = nil}
  local fill, align = spec:match("^(" .. utf8.charpattern .. ")([<>=^])")
  if fill then
    s.fill, s.align = fill, align
    spec = spec:sub(#fill + 2)
  else
    align = spec:match("^[<>=^]")
    if align then s.align, spec = align, spec:sub(2) end
  end
  local sign, z, alt, zero, width, comma, precision, kind =
    spec:match("^([+ %-]?)(z?)(#?)(0?)(%d*)([,_]?)%.?(%d*)([%a%%]?)$")
  if not sign then
    refuse_commas(spec)
    local odd = spec:match("^[+ %-]?z?#?0?%d*[,_]?%.?%d*([^%w%%])$")
    if odd and utf8.len(odd) then
      util.raise("ValueError", "Unknown format code '%s' for object of type "
        .. "'%s'", odd, kind_name)
    end
    util.raise("ValueError", "Invalid format specifier '%s' for object of type "
      .. "'%s'", whole, kind_name)
  end
  s.sign, s.alt, s.comma = sign, alt ~= "", comma
  s.no_minus_zero = z ~= ""
  if comma == "," and (PREFIX[kind] or kind == "c" or kind == "n" or kind == "s")
     or comma == "_" and (kind == "c" or kind == "n" or kind == "s") then
    util.raise("ValueError", "Cannot specify '%s' with '%s'.", comma, kind)
  end
  if zero ~= "" then
    s.fill = fill or "0"
    if not s.align then s.align, s.zero = kind_name == "str" and "<" or "=", true end
  end
  s.width = tonumber(width) or 0
  if s.width > 1 << 27 then util.raise("MemoryError", "") end
  if precision == "" and spec:find(".", 1, true) then
    util.raise("ValueError", "Format specifier missing precision")
  end
  s.precision = tonumber(precision)
  s.kind = kind
  if s.precision and s.precision > 99 and kind ~= "s" and kind ~= "" then
    util.raise_for("absent", "ValueError", "a precision of more than 99 is "
      .. "not part of dtrepl")
  end
  return s
end

local KEPT <const> = 500            -- specs whose parts are remembered
local parts_of, kept = {}, 0        -- by spec and name of the type

-- The parts of a spec, which nobody changes.
local function spec_parts(spec, kind_name)
  local key = kind_name .. " " .. spec
  local s = parts_of[key]
  if not s then
    s = parse(spec, kind_name)
    if kept == KEPT then parts_of, kept = {}, 0 end
    parts_of[key], kept = s, kept + 1
  end
  return s
end

local function grouped(digits, comma)
  if comma == "" then return digits end
  local out = digits:reverse():gsub("(%d%d%d)", "%1" .. comma):reverse()
  return out:sub(1, 1) == comma and out:sub(2) or out
end

local BASE = {x = 16, X = 16, o = 8, b = 2}

local function based(n, kind)
  if big.is(n) then
    local out = big.digits(n, BASE[kind])
    return kind == "X" and out:upper() or out
  end
  if kind == "x" or kind == "X" or kind == "o" then
    return ("%" .. kind):format(n)
  end
  local out = ""
  repeat
    out = n % 2 .. out
    n = n // 2
  until n == 0
  return out
end

-- A float with a precision and no letter: as by g, but with an exponent where
-- no digit would stand behind the point, and else with one at least.
local function general(v, s)
  local digits = math.max(1, s.precision)
  local mantissa, exponent = ("%." .. digits - 1 .. "e"):format(v)
    :match("^(.-)e(.*)$")
  local places = tonumber(exponent) + 1
  if places > digits - 1 or places <= -4 then
    if not s.alt and mantissa:find("%.") then
      mantissa = mantissa:gsub("%.?0+$", "")
    elseif s.alt and not mantissa:find("%.") then
      mantissa = mantissa .. "."
    end
    return mantissa .. "e" .. exponent
  end
  local out = ("%" .. (s.alt and "#" or "") .. "." .. digits .. "g"):format(v)
  return out:find("%.") and out or out .. ".0"
end

local UPPER <const> = {E = true, F = true, G = true}

local function float_digits(v, s)
  local kind = s.kind
  if v ~= v or v == math.huge then
    local out = v ~= v and "nan" or "inf"
    return kind == "%" and out .. "%" or UPPER[kind] and out:upper() or out
  end
  if kind == "F" then kind = "f" end
  if kind == "n" then kind = "g" end
  if kind == "" and not s.precision then return V.float_text(v) end
  if kind == "%" then
    return ("%." .. (s.precision or 6) .. "f"):format(v * 100) .. "%"
  end
  if kind == "" then return general(v, s) end
  return ("%" .. (s.alt and "#" or "") .. "." .. (s.precision or 6) .. kind)
    :format(v)
end

-- Sign and digits of a number by the parts `s` of its format.  -2^63 has no positive
-- of its own and becomes a big integer; -0.0 is negative though it is not below 0;
-- groups of digits are three in decimal, four after a prefix.
local function number_text(v, s)
  local large = big.is(v)
  local negative = large and v.neg
    or not large and (v < 0 or v == 0 and 1 / v < 0)
  local digits
  if large or math.type(v) == "integer" then
    negative = large and v.neg or not large and v < 0
    local n = (large or v == math.mininteger) and big.abs(v) or math.abs(v)
    large = big.is(n)
    if s.kind == "" or s.kind == "d" or s.kind == "n" then
      digits = large and big.digits(n, 10) or ("%d"):format(n)
    elseif PREFIX[s.kind] then
      digits = based(n, s.kind)
    elseif s.kind == "c" then
      if large or negative or n > 0x10ffff then
        util.raise("OverflowError", large and "Python int too large to convert "
          .. "to C long" or "%c arg not in range(0x110000)")
      end
      return "", utf8.char(n)
    end
  end
  digits = digits or float_digits(math.abs(large and big.float(v) or v) + 0.0,
    s)
  if s.no_minus_zero and digits:find("^[0.]+[eE%%]?[+0]*$") then
    negative = false
  end
  if s.comma ~= "" then
    local whole, rest = digits:match("^(%d+)(.*)$")
    if whole and PREFIX[s.kind] == nil then
      digits = grouped(whole, s.comma) .. rest
    end
    if PREFIX[s.kind] then
      local out = digits:reverse():gsub("(%x%x%x%x)", "%1" .. s.comma):reverse()
      digits = out:sub(1, 1) == s.comma and out:sub(2) or out
    end
  end
  local sign = negative and "-" or s.sign ~= "-" and s.sign or ""
  return sign .. (s.alt and PREFIX[s.kind] or ""), digits
end

-- Zeros in front of digits in groups are grouped, too.
local function grouped_zeros(text, s, room)
  local size = PREFIX[s.kind] and 4 or 3
  local whole, rest = text:match("^([%x" .. s.comma .. "]+)(.*)$")
  if PREFIX[s.kind] == nil then
    whole, rest = text:match("^([%d" .. s.comma .. "]+)(.*)$")
  end
  if not whole then return nil end
  local digits = whole:gsub(s.comma, "")
  local count = room - #rest
  -- so many digits that they and what parts them fill the room at least
  local least = count - (count - 1) // (size + 1)
  digits = ("0"):rep(least - #digits) .. digits
  local out = digits:reverse():gsub(("%x"):rep(size), "%0" .. s.comma):reverse()
  return (out:sub(1, 1) == s.comma and out:sub(2) or out) .. rest
end

local function padded(sign, text, s, align)
  if s.comma ~= "" and s.fill == "0" and align == "=" then
    text = grouped_zeros(text, s, s.width - #sign) or text
  end
  local n = s.width - (utf8.len(sign .. text) or #sign + #text)
  if n <= 0 then return sign .. text end
  if align == "=" then return sign .. s.fill:rep(n) .. text end
  if align == "<" then return sign .. text .. s.fill:rep(n) end
  if align == "^" then
    return s.fill:rep(n // 2) .. sign .. text .. s.fill:rep(n - n // 2)
  end
  return s.fill:rep(n) .. sign .. text
end

local FLOAT = {e = true, E = true, f = true, F = true, g = true, G = true,
  ["%"] = true}

-- What no text may be asked for.
local function refuse_for_text(s)
  local what = s.no_minus_zero and "Negative zero coercion (z)"
    or s.sign == " " and "Space" or s.sign ~= "" and "Sign"
    or s.alt and "Alternate form (#)" or s.align == "=" and not s.zero
    and "'=' alignment"
  if what then
    util.raise("ValueError", "%s not allowed in string format specifier", what)
  elseif s.comma ~= "" then
    util.raise("ValueError", "Cannot specify '%s' with 's'.", s.comma)
  end
end

-- What has no specs at all.
local NO_SPEC = {bytes = true, bytearray = true, list = true, tuple = true,
  dict = true, set = true, frozenset = true, NoneType = true, ellipsis = true,
  NotImplementedType = true, range = true, generator = true, type = true, slice = true,
  dict_keys = true, dict_values = true, dict_items = true}

-- A complex number: both parts as floats; without a letter in brackets, and
-- without a real part that is 0.
local function complex_value(v, s)
  if s.kind ~= "" and not FLOAT[s.kind] and s.kind ~= "n" or s.kind == "%" then
    util.raise("ValueError", "Unknown format code '%s' for object of type "
      .. "'complex'", s.kind)
  elseif s.align == "=" then
    util.raise("ValueError", s.zero and "Zero padding is not allowed in complex "
      .. "format specifier" or "'=' alignment flag is not allowed in complex "
      .. "format specifier")
  end
  local function part(x, sign)
    local before, s_sign = nil, s.sign
    s.sign = sign or s_sign
    local digits
    before, digits = number_text(x, s)
    s.sign = s_sign
    if s.kind == "" then digits = digits:gsub("%.0$", "") end
    return before .. digits
  end
  local re, im = v.re, v.im
  if s.kind ~= "" then
    return padded("", part(re) .. part(im, "+") .. "j", s, s.align or ">")
  elseif re == 0 and 1 / re > 0 then
    return padded("", part(im) .. "j", s, s.align or ">")
  end
  return padded("", "(" .. part(re) .. part(im, "+") .. "j)", s, s.align or ">")
end

-- format(v, spec)
function M.value(v, spec)
  local own = V.special(v, "__format__")
  if own then return own(spec) end
  if spec == "" and V.special(v, "__str__") then return V.str(v) end
  v = V.unbox(v)
  if spec == "" then return V.formatted(v) end
  if util.is_tensor(v) and #v.shape == 0 then v = v:item() end
  local was = V.type_name(v)
  if NO_SPEC[was] or V.is_object(v) or V.is_function(v) or V.is_error(v) then
    util.raise("TypeError", "unsupported format string passed to %s.__format__",
      was)
  end
  local s = V.is_complex(v) and parse(spec, was) or spec_parts(spec, was)
  if type(v) == "boolean" then v = v and 1 or 0 end
  if type(v) == "number" or big.is(v) then
    if math.type(v) ~= "float" and (s.kind == "s" or s.kind ~= ""
       and s.kind ~= "c" and s.kind ~= "d" and s.kind ~= "n"
       and not PREFIX[s.kind] and not FLOAT[s.kind]) then
      util.raise("ValueError", "Unknown format code '%s' for object of type "
        .. "'%s'", s.kind, was)
    end
    if math.type(v) == "float" and not FLOAT[s.kind] and s.kind ~= ""
       and s.kind ~= "n" then
      util.raise("ValueError", "Unknown format code '%s' for object of type "
        .. "'float'", s.kind)
    end
    if s.precision and math.type(v) ~= "float" and not FLOAT[s.kind] then
      util.raise("ValueError",
        "Precision not allowed in integer format specifier")
    elseif s.no_minus_zero and math.type(v) ~= "float" and not FLOAT[s.kind] then
      util.raise("ValueError", "Negative zero coercion (z) not allowed in "
        .. "integer format specifier")
    end
    local sign, text = number_text(v, s)
    return padded(sign, text, s, s.align or ">")
  end
  if V.is_complex(v) then return complex_value(v, s) end
  if s.kind ~= "" and s.kind ~= "s" then
    util.raise("ValueError", "Unknown format code '%s' for object of type "
      .. "'%s'", s.kind, V.type_name(v))
  end
  local text = V.str(v)
  if type(v) == "string" then refuse_for_text(s) end
  if s.precision then
    local stop = utf8.offset(text, s.precision + 1)
    text = stop and text:sub(1, stop - 1) or text
  end
  return padded("", text, s, s.align == "=" and "<" or s.align or "<")
end

-- A value in the way !r or !s asks for, then by its spec.
function M.field(v, conv, spec)
  if spec == nil and (conv == nil or conv == "") then
    if type(v) == "string" then return v end
    if math.type(v) == "integer" then return tostring(v) end
  end
  if conv == "r" then v = V.repr(v) end
  if conv == "a" then v = V.ascii(v) end
  if conv == "s" then v = V.str(v) end
  return M.value(v, spec or "")
end

-- ascii(v): its repr without what is not ASCII.
function V.ascii(v)
  return (V.repr(v):gsub(utf8.charpattern, function (c)
    if #c == 1 then return nil end
    local code = utf8.codepoint(c)
    return (code < 256 and "\\x%02x" or code < 65536 and "\\u%04x"
      or "\\U%08x"):format(code)
  end))
end

-- %c: a character, or the one of a number.
local function character(x)
  x = V.index_of(x)
  if math.type(x) == "integer" then
    if x < 0 or x > 0x10ffff then
      util.raise("OverflowError", "%c arg not in range(0x110000)")
    end
    return utf8.char(x)
  elseif type(x) ~= "string" or utf8.len(x) ~= 1 then
    util.raise("TypeError", "%c requires int or char")
  end
  return x
end

-- %.3d: an integer of so many digits at least.
local function whole_digits(x, flags, width, least, kind)
  local sign, text = M.value(x, (flags:match("[+ ]") or "") .. kind)
    :match("^([+%- ]?)(.*)$")
  if least > 99 then
    util.raise_for("absent", "ValueError", "a precision of more than 99 is "
      .. "not part of dtrepl")
  end
  text = ("0"):rep(least - #text) .. text
  if flags:find("#", 1, true) and PREFIX[kind] then
    sign = sign .. PREFIX[kind]
  end
  local missing = (tonumber(width) or 0) - #sign - #text
  if flags:find("-", 1, true) then return sign .. text .. (" "):rep(missing) end
  if flags:find("0", 1, true) then return sign .. ("0"):rep(missing) .. text end
  return (" "):rep(missing) .. sign .. text
end

-- One %-conversion of x.
local function conversion(x, flags, width, precision, kind, given)
  if kind ~= "s" and kind ~= "r" and kind ~= "a" then x = V.unbox(x) end
  if util.is_tensor(x) and (kind == "d" or kind == "i" or FLOAT[kind]) then
    x = V.tensor_number(x)
  end
  if kind == "s" or kind == "r" or kind == "a" then
    x = kind == "s" and V.str(x) or kind == "r" and V.repr(x) or V.ascii(x)
    kind = "s"
  elseif kind == "c" then
    x, kind, precision = character(x), "s", ""
  elseif kind == "x" or kind == "X" or kind == "o" then
    x = V.index_of(x)
    if math.type(x) ~= "integer" and type(x) ~= "boolean" and not big.is(x) then
      util.raise("TypeError", "%%%s format: an integer is required, not %s",
        kind, V.type_name(x))
    end
  elseif FLOAT[kind] then
    local special = type(x) == "table" and not big.is(x)
      and (V.special(x, "__float__") or V.special(x, "__index__"))
    if special then x = special() end
    if type(x) ~= "number" and type(x) ~= "boolean" and not big.is(x) then
      util.raise("TypeError", "must be real number, not %s", V.type_name(x))
    end
    x = big.is(x) and big.float(x) or (type(x) == "boolean" and (x and 1.0
      or 0.0)) or x * 1.0
  elseif kind == "d" or kind == "i" then
    kind = "d"
    local special = type(x) == "table" and not big.is(x)
      and (V.special(x, "__int__") or V.special(x, "__index__"))
    if special then x = V.unbox(special()) end
    if math.type(x) == "float" then
      if x ~= x then
        util.raise("ValueError", "cannot convert float NaN to integer")
      elseif x - x ~= 0 then
        util.raise("OverflowError", "cannot convert float infinity to integer")
      end
      x = big.of_float(x >= 0 and math.floor(x) or math.ceil(x))
    end
    if type(x) ~= "number" and type(x) ~= "boolean" and not big.is(x) then
      util.raise("TypeError", "%%%s format: a real number is required, not %s",
        given or kind, V.type_name(x))
    end
  end
  local align = flags:find("-", 1, true) and "<" or kind == "s" and ">" or ""
  local zero = flags:find("0", 1, true) and align == "" and "0" or ""
  if precision ~= "" and (kind == "d" or PREFIX[kind]) then
    return whole_digits(x, flags, width, tonumber(precision:sub(2)), kind)
  end
  return M.value(x, align .. (flags:match("[+ ]") or "")
    .. (flags:match("#") or "") .. zero .. width .. precision .. kind)
end

-- How a template reaches into values: v.name and v[key], from a layer above.
local get, item
function M.set_reach(of_name, of_key) get, item = of_name, of_key end

-- Is it looked up by keys, and so no argument that a template has to use up?
local function keyed(v, of_bytes)
  if V.is_bytes(v) then return not of_bytes end
  return V.is_dict(v) or V.is_list(v) or V.is_range(v)
    or V.is_object(v) and V.special(v, "__getitem__") ~= nil
end

-- The pieces of a template of %: one(x, flags, width, precision, kind) gives the
-- text of each conversion, whose letters are `kinds`; the rest as it is.
local function percent_with(template, v, one, kinds, of_bytes)
  local items, n = {v}, 1
  if V.is_tuple(v) then items, n = v, v.n end
  local out, at, used = {}, 1, 0
  local function taken()
    used = used + 1
    if used > n then
      util.raise("TypeError", "not enough arguments for format string")
    end
    return items[used]
  end
  local function starred(width)
    if width ~= "*" then return width end
    local w = V.index_of(taken())
    if math.type(w) ~= "integer" then
      util.raise("TypeError", "* wants int")
    end
    return tostring(w)
  end
  while true do
    local i = template:find("%", at, true)
    if not i then break end
    out[#out + 1] = template:sub(at, i - 1)
    local key, behind = template:match("^%((.-)%)()", i + 1)
    local flags, width, dot, precision, kind, stop = template:match(
      "^([#0%- +]*)([%d*]*)(%.?)([%d*]*)[hlL]?(.?)()", behind or i + 1)
    if kind == "" then util.raise("ValueError", "incomplete format") end
    if kind == "%" then
      out[#out + 1] = "%"
    else
      width = starred(width)
      if width:sub(1, 1) == "-" then flags, width = flags .. "-", width:sub(2) end
      precision = dot == "" and "" or "." .. starred(precision)
      if precision == "." then precision = ".0" end
      if not kinds:find(kind, 1, true) then
        util.raise("ValueError", "unsupported format character '%s' (0x%x) at "
          .. "index %d", kind, kind:byte(), stop - 2)
      end
      local x
      if key then
        if not keyed(v, of_bytes) then
          util.raise("TypeError", "format requires a mapping")
        end
        x = item(v, of_bytes and V.bytes(key) or key)
      else
        x = taken()
      end
      local given = kind              -- which an error names
      if kind == "i" or kind == "u" then kind = "d" end
      out[#out + 1] = one(x, flags, width, precision, kind, given)
    end
    at = stop
  end
  if used < n and not keyed(v, of_bytes) then
    util.raise("TypeError", "not all arguments converted during %s formatting",
      of_bytes and "bytes" or "string")
  end
  return table.concat(out) .. template:sub(at)
end

-- template % v
function M.percent(template, v)
  return percent_with(template, v, conversion, "diouxXeEfFgGcrsa")
end

-- The bytes with blanks around them, as wide as a conversion asks for.
local function fitted(text, flags, width)
  local fill = (" "):rep((tonumber(width) or 0) - #text)
  return flags:find("-", 1, true) and text .. fill or fill .. text
end

-- template % v, of the text of bytes: %s and %b take bytes.
function M.percent_bytes(template, v)
  return percent_with(template, v, function (x, flags, width, precision, kind, given)
    if kind == "s" or kind == "b" then
      if not V.is_bytes(x) then
        util.raise("TypeError", "%%b requires a bytes-like object, or an "
          .. "object that implements __bytes__, not '%s'", V.type_name(x))
      end
      local text = x.s
      if precision ~= "" then text = text:sub(1, tonumber(precision:sub(2))) end
      return fitted(text, flags, width)
    elseif kind == "c" and V.is_bytes(x) and #x.s == 1 then
      return fitted(x.s, flags, width)
    elseif kind == "c" then
      x = V.index_of(x)
      if math.type(x) ~= "integer" or x < 0 or x > 255 then
        local whole = math.type(x) == "integer" or big.is(x)
        util.raise(whole and "OverflowError" or "TypeError", whole
          and "%c arg not in range(256)"
          or "%c requires an integer in range(256) or a single byte")
      end
      return fitted(string.char(x), flags, width)
    elseif kind == "r" then
      kind = "a"
    end
    return conversion(x, flags, width, precision, kind, given)
  end, "diouxXeEfFgGcrsab", true)
end

-- numbering(): which argument a field without a name takes, and which one with
-- a number; a template has only one of the two.
local function numbering()
  local auto, by_number = 0, false
  local function switch(from, to)
    util.raise("ValueError", "cannot switch from %s to %s", from, to)
  end
  return function (first)
    if first ~= "" then
      if auto > 0 then
        switch("automatic field numbering", "manual field specification")
      end
      by_number = true
      return tonumber(first) + 1
    end
    if by_number then
      switch("manual field specification", "automatic field numbering")
    end
    auto = auto + 1
    return auto
  end
end

-- reach(v, path): what ".name" and "[key]" of a field's path lead to.
local function reach(v, path)
  local at = 1
  while at <= #path do
    local name, stop = path:match("^%.([^.%[]*)()", at)
    local key
    if not name then
      key, stop = path:match("^%[([^%]]*)%]()", at)
      if not key then
        util.raise("ValueError", path:find("^%[", at) and "Missing ']' in "
          .. "format string" or "Only '.' or '[' may follow ']' in format "
          .. "field specifier")
      end
    end
    if (name or key) == "" then
      util.raise("ValueError", "Empty attribute in format string")
    end
    v = name and get(v, name) or key and item(v, key:find("^%d+$")
      and tonumber(key) or key)
    at = stop
  end
  return v
end

-- The name, the letter behind "!" and the spec of a field; a name may have a
-- ":" or "!" in its brackets.
local function parts_of(inner)
  local stop, depth = #inner + 1, 0
  for i = 1, #inner do
    local c = inner:sub(i, i)
    if c == "[" then depth = 1 elseif c == "]" then depth = 0 end
    if depth == 0 and (c == ":" or c == "!") then stop = i break end
    if depth == 0 and c == "{" then
      util.raise("ValueError", "unexpected '{' in field name")
    end
  end
  local name, rest = inner:sub(1, stop - 1), inner:sub(stop)
  if rest:sub(1, 1) ~= "!" then return name, "", rest:sub(2) end
  local conv, spec = rest:match("^!([^:]?):?(.*)$")
  if conv == "" then
    util.raise("ValueError", rest == "!" and "unmatched '{' in format spec"
      or "end of string while looking for conversion specifier")
  elseif rest:sub(3, 3) ~= "" and rest:sub(3, 3) ~= ":" then
    util.raise("ValueError", "expected ':' after conversion specifier")
  elseif not ("rsa"):find(conv, 1, true) then
    util.raise("ValueError", "Unknown conversion specifier %s", conv)
  end
  return name, conv, spec
end

-- The place behind the field that begins at i, or nil; braces in brackets are
-- part of a key.
local function field_end(text, i)
  local depth, key = 0, false
  for at in text:gmatch("()[{}%[%]]", i) do
    local c = text:sub(at, at)
    if c == "[" then key = true
    elseif c == "]" then key = false
    elseif not key then
      depth = depth + (c == "{" and 1 or -1)
      if depth == 0 then return at + 1 end
    end
  end
end

local MOST_NESTED <const> = 2

-- template.format(args, kw).
function M.template(template, args, kw, get)
  local number, expand = numbering(), nil
  local function field(inner, depth)
    local name, conv, spec = parts_of(inner)
    local first, path = name:match("^([^.%[]*)(.*)$")
    local v
    if first == "" or first:find("^%d+$") then
      local i = number(first)
      v = args[i]
      if v == nil then
        util.raise("IndexError", "Replacement index %d out of range for "
          .. "positional args tuple", i - 1)
      end
    else
      if kw then v = (get or V.dict_get)(kw, first) end
      if v == nil then
        error(exceptions.classes.KeyError.make(V.list({first}, 1)), 0)
      end
    end
    v = reach(v, path)
    if spec:find("[{}]") then spec = expand(spec, depth + 1) end
    return M.field(v, conv, spec)
  end
  function expand(text, depth)
    if depth > MOST_NESTED then
      util.raise("ValueError", "Max string recursion exceeded")
    end
    local out, at = {}, 1
    while at <= #text do
      local i = text:find("[{}]", at)
      out[#out + 1] = text:sub(at, (i or #text + 1) - 1)
      if not i then break end
      local c = text:sub(i, i)
      if text:sub(i + 1, i + 1) == c then
        out[#out + 1], at = c, i + 2
      elseif c == "}" then
        util.raise("ValueError", "Single '}' encountered in format string")
      else
        local stop = field_end(text, i)
        if not stop then
          util.raise("ValueError", i == #text and "Single '{' encountered in "
            .. "format string" or "expected '}' before end of string")
        end
        out[#out + 1], at = field(text:sub(i + 1, stop - 2), depth), stop
      end
    end
    return table.concat(out)
  end
  return expand(template, 1)
end

return M
