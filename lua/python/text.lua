-- SPDX-License-Identifier: MIT
-- python/text.lua: the methods of Python's str: f(s, args, kw, narrow).  A
-- text is a Lua string in UTF-8; places count characters.  With `narrow` it is
-- the bytes of a bytes object (bytes_methods.lua), where places count bytes
-- and letters are those of ASCII.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local format = require "python.format"
local unicode = require "python.unicode"

local M = {}
local None = dt.None

local function given(v) return v ~= nil and v ~= None end

local function raise_type(...) util.raise("TypeError", ...) end

-- The argument i, or that of the name; nil where it is not given or None.
local function argument(args, kw, i, name)
  local v = args[i]
  if v == nil and kw then v = V.dict_get(kw, name) end
  return given(v) and v or nil
end

-- An argument that has to be a text.
local function text_of(v, what)
  v = V.unbox(v)
  if type(v) ~= "string" then
    raise_type(what or "must be str, not %s", V.type_name(v == nil and None
      or v))
  end
  return v
end

local function whole(v)
  local n = V.index_of(v)
  if math.type(n) == "integer" then return n end
  return raise_type("'%s' object cannot be interpreted as an integer",
    V.type_name(n))
end

-- What has as many characters as bytes.
local function simple(s, narrow) return narrow or unicode.is_ascii(s) end

local function length(s, narrow)
  return simple(s, narrow) and #s or utf8.len(s, 1, -1, true) or #s
end

local function counted(n, least, most)
  return function (name, args)
    if args.n >= least and args.n <= most then return end
    local words = least == most and (least == 1 and "exactly one argument"
      or ("exactly %d arguments"):format(least))
    if words then raise_type("%s() takes %s (%d given)", n .. name, words,
      args.n) end
    raise_type("%s expected at %s %d argument%s, got %d", name,
      args.n < least and "least" or "most", args.n < least and least or most,
      (args.n < least and least or most) == 1 and "" or "s", args.n)
  end
end
local one = counted("str.", 1, 1)

-- ---- joining and splitting ----

function M.join(s, args)
  one("join", args)
  local items, n = V.items(args[1])
  local parts = {}
  for i = 1, n do
    local x = V.unbox(items[i])
    if type(x) ~= "string" then
      raise_type("sequence item %d: expected str instance, %s found", i - 1,
        V.type_name(items[i]))
    end
    parts[i] = x
  end
  return table.concat(parts, s)
end

-- The words of a text, and where each begins and ends.
local function words_of(s, narrow)
  local out, from = {}, nil
  if simple(s, narrow) then
    for a, b in s:gmatch(narrow and "()[^\t-\r ]+()"
        or "()[^\t-\r\x1c-\x20]+()") do
      out[#out + 1] = {a, b - 1}
    end
    return out
  end
  local at = 1
  for c in s:gmatch(utf8.charpattern) do
    if unicode.is("space", c) then
      if from then out[#out + 1] = {from, at - 1} end
      from = nil
    else
      from = from or at
    end
    at = at + #c
  end
  if from then out[#out + 1] = {from, #s} end
  return out
end

local function split_spaces(s, most, narrow, backwards)
  local places, out = words_of(s, narrow), {}
  local n = #places
  if most and most < n and not backwards then
    for i = 1, most do out[i] = s:sub(places[i][1], places[i][2]) end
    out[most + 1] = s:sub(places[most + 1][1])
    return V.list(out)
  elseif most and most < n then
    for i = n - most + 1, n do
      out[#out + 1] = s:sub(places[i][1], places[i][2])
    end
    table.insert(out, 1, s:sub(1, places[n - most][2]))
    return V.list(out)
  end
  for i = 1, n do out[i] = s:sub(places[i][1], places[i][2]) end
  return V.list(out)
end

local function most_of(args, kw)
  local most = argument(args, kw, 2, "maxsplit")
  most = most and whole(most)
  return most and most >= 0 and most or nil
end

-- The last place of `part` that ends at `last` or before it, or nil.
local function last_place(s, part, first, last)
  local at = last - #part + 1
  while at >= first do
    if s:sub(at, at + #part - 1) == part then return at end
    at = at - 1
  end
end

local function separator(args, kw)
  local sep = argument(args, kw, 1, "sep")
  if sep == nil then return nil end
  sep = text_of(sep, "must be str or None, not %s")
  if sep == "" then util.raise("ValueError", "empty separator") end
  return sep
end

function M.split(s, args, kw, narrow)
  local sep, most = separator(args, kw), most_of(args, kw)
  if not sep then return split_spaces(s, most, narrow) end
  local out, at = {}, 1
  while not (most and #out == most) do
    local i, j = s:find(sep, at, true)
    if not i then break end
    out[#out + 1] = s:sub(at, i - 1)
    at = j + 1
  end
  out[#out + 1] = s:sub(at)
  return V.list(out)
end

function M.rsplit(s, args, kw, narrow)
  local sep, most = separator(args, kw), most_of(args, kw)
  if not sep then return split_spaces(s, most, narrow, true) end
  local out = {}
  while not (most and #out == most) do
    local i = last_place(s, sep, 1, #s)
    if not i then break end
    table.insert(out, 1, s:sub(i + #sep))
    s = s:sub(1, i - 1)
  end
  table.insert(out, 1, s)
  return V.list(out)
end

local ENDS = {["\n"] = true, ["\r"] = true, ["\v"] = true, ["\f"] = true,
  ["\x1c"] = true, ["\x1d"] = true, ["\x1e"] = true, ["\u{85}"] = true,
  ["\u{2028}"] = true, ["\u{2029}"] = true}

function M.splitlines(s, args, kw, narrow)
  local keep = argument(args, kw, 1, "keepends")
  keep = keep ~= nil and V.truth(keep)
  local out, from, at = {}, 1, 1
  while at <= #s do
    local c = narrow and s:sub(at, at) or s:match(utf8.charpattern, at)
    local ends = narrow and (c == "\n" or c == "\r") or not narrow and ENDS[c]
    local after = at + #c
    if ends then
      if c == "\r" and s:sub(after, after) == "\n" then after = after + 1 end
      out[#out + 1] = s:sub(from, keep and after - 1 or at - 1)
      from = after
    end
    at = after
  end
  if from <= #s then out[#out + 1] = s:sub(from) end
  return V.list(out)
end

function M.partition(s, args)
  one("partition", args)
  local sep = text_of(args[1])
  if sep == "" then util.raise("ValueError", "empty separator") end
  local i, j = s:find(sep, 1, true)
  if not i then return V.tuple {s, "", ""} end
  return V.tuple {s:sub(1, i - 1), sep, s:sub(j + 1)}
end

function M.rpartition(s, args)
  one("rpartition", args)
  local sep = text_of(args[1])
  if sep == "" then util.raise("ValueError", "empty separator") end
  local i = last_place(s, sep, 1, #s)
  if not i then return V.tuple {"", "", s} end
  return V.tuple {s:sub(1, i - 1), sep, s:sub(i + #sep)}
end

-- ---- places ----

local function bound(v, n, default)
  if not given(v) then return default end
  v = whole(v)
  if v < 0 then v = math.max(0, v + n) end
  return v
end

-- The bytes from i to j that the arguments `first` and the next name, and how
-- many characters come before them; nil where they begin after the end.
local function part_of(s, args, first, narrow)
  if args[first] == nil and args[first + 1] == nil then return 1, #s, 0 end
  local n = length(s, narrow)
  local from = bound(args[first], n, 0)
  local to = math.min(bound(args[first + 1], n, n), n)
  if from > n or from > to then return nil end
  if n == #s then return from + 1, to, from end
  return utf8.offset(s, from + 1), utf8.offset(s, to + 1) - 1, from
end

-- How many characters come before the byte i.
local function before(s, i, narrow)
  if simple(s, narrow) then return i - 1 end
  return utf8.len(s:sub(1, i - 1), 1, -1, true) or i - 1
end

local function check_part(name, args)
  if args.n == 0 then
    raise_type("%s() takes at least 1 argument (0 given)", name)
  elseif args.n > 3 then
    raise_type("%s() takes at most 3 arguments (%d given)", name, args.n)
  end
  return text_of(args[1])
end

function M.find(s, args, _, narrow)
  local part = check_part("find", args)
  local i, j = part_of(s, args, 2, narrow)
  local at = i and s:find(part, i, true)
  if not at or at + #part - 1 > j then return -1 end
  return before(s, at, narrow)
end

function M.rfind(s, args, _, narrow)
  local part = check_part("rfind", args)
  local i, j = part_of(s, args, 2, narrow)
  local at = i and last_place(s, part, i, j)
  return at and before(s, at, narrow) or -1
end

local function found(name)
  return function (s, args, kw, narrow)
    local i = M[name](s, args, kw, narrow)
    if i < 0 then
      util.raise("ValueError", narrow and "subsection not found"
        or "substring not found")
    end
    return i
  end
end
M.index, M.rindex = found "find", found "rfind"

function M.count(s, args, _, narrow)
  local part = check_part("count", args)
  local i, j = part_of(s, args, 2, narrow)
  if not i then return 0 end
  if part == "" then return length(s:sub(i, j), narrow) + 1 end
  local n = 0
  while true do
    local a, b = s:find(part, i, true)
    if not a or b > j then return n end
    n, i = n + 1, b + 1
  end
end

local function any_of(name, test)
  return function (s, args, _, narrow)
    if args.n == 0 then
      raise_type("%s() takes at least 1 argument (0 given)", name)
    end
    local i, j = part_of(s, args, 2, narrow)
    local items, n = {args[1]}, 1
    if V.is_tuple(args[1]) then items, n = args[1], args[1].n end
    for k = 1, n do
      local part = V.unbox(items[k])
      if type(part) ~= "string" then
        local kind = narrow and "bytes" or "str"
        raise_type(V.is_tuple(args[1]) and not narrow and "tuple for " .. name
          .. " must only contain str, not %s" or narrow and V.is_tuple(args[1])
          and "a bytes-like object is required, not '%s'" or name
          .. " first arg must be " .. kind .. " or a tuple of " .. kind
          .. ", not %s", V.type_name(part))
      end
      if i and test(s:sub(i, j), part) then return true end
    end
    return false
  end
end
M.startswith = any_of("startswith", function (s, part)
  return s:sub(1, #part) == part
end)
M.endswith = any_of("endswith", function (s, part)
  return part == "" or s:sub(-#part) == part
end)

-- ---- prefixes and suffixes ----

-- How many bytes at the head of s, or at its end, are of the characters.
local function edges(s, chars, narrow, head, tail)
  local set
  if chars then
    set = {}
    for c in chars:gmatch(narrow and "." or utf8.charpattern) do
      set[c] = true
    end
  end
  local function of(c)
    if set then return set[c] end
    if narrow then return c:find("[\t-\r ]") ~= nil end
    return unicode.is("space", c)
  end
  local pattern = narrow and "^." or "^" .. utf8.charpattern
  local i, j = 1, #s
  while head and i <= j do
    local c = s:match(pattern, i)
    if not c or not of(c) then break end
    i = i + #c
  end
  while tail and j >= i do
    local at = narrow and j or utf8.offset(s, 0, j)
    if not of(s:sub(at, j)) then break end
    j = at - 1
  end
  return s:sub(i, j)
end

local function stripping(name, head, tail)
  M[name] = function (s, args, _, narrow)
    local chars = given(args[1]) and text_of(args[1], name
      .. " arg must be None or str") or nil
    if args.n > 1 then
      raise_type("%s expected at most 1 argument, got %d", name, args.n)
    end
    if not chars and simple(s) and not narrow then
      if head then s = s:match("^[\t-\r\x1c-\x20]*(.*)$") end
      if tail then
        local j = #s
        while j > 0 and s:find("^[\t-\r\x1c-\x20]", j) do j = j - 1 end
        s = s:sub(1, j)
      end
      return s
    end
    return edges(s, chars, narrow, head, tail)
  end
end
stripping("strip", true, true)
stripping("lstrip", true, false)
stripping("rstrip", false, true)

function M.removeprefix(s, args)
  local part = text_of(args[1], "removeprefix() argument must be str, not %s")
  return s:sub(1, #part) == part and s:sub(#part + 1) or s
end
function M.removesuffix(s, args)
  local part = text_of(args[1], "removesuffix() argument must be str, not %s")
  if part == "" or s:sub(-#part) ~= part then return s end
  return s:sub(1, -#part - 1)
end

-- ---- cases ----

function M.upper(s, _, _, narrow)
  return narrow and s:upper() or unicode.upper(s)
end
function M.lower(s, _, _, narrow)
  return narrow and s:lower() or unicode.lower(s)
end
function M.casefold(s) return unicode.fold(s) end

local function first_rest(s, narrow)
  if simple(s, narrow) then return s:sub(1, 1), s:sub(2) end
  local c = s:match("^" .. utf8.charpattern)
  return c, s:sub(#c + 1)
end
function M.capitalize(s, _, _, narrow)
  if s == "" then return s end
  local c, rest = first_rest(s, narrow)
  if narrow then return c:upper() .. rest:lower() end
  return unicode.title_of(c) .. unicode.lower(rest)
end
function M.title(s, _, _, narrow)
  if simple(s, narrow) then
    return (s:gsub("(%a)(%a*)", function (a, b)
      return a:upper() .. b:lower()
    end))
  end
  local inside = false
  return unicode.each(s, function (c)
    local out = inside and unicode.lower_of(c) or unicode.title_of(c)
    inside = unicode.has_case(c)
    return out
  end)
end
function M.swapcase(s, _, _, narrow)
  if simple(s, narrow) then
    return (s:gsub("%a", function (c)
      return c == c:upper() and c:lower() or c:upper()
    end))
  end
  return unicode.each(s, function (c)
    return unicode.is("upper", c) and unicode.lower_of(c)
      or unicode.is("lower", c) and unicode.upper_of(c) or c
  end)
end

-- ---- what the characters are ----

local function every(kind)
  return function (s, _, _, narrow)
    if s == "" then return false end
    for c in s:gmatch(narrow and "." or utf8.charpattern) do
      local other = narrow and (c:byte() > 127          -- bytes: ASCII's alone
        or kind == "space" and not c:find("[\t-\r ]"))
      if other or not unicode.is(kind, c) then return false end
    end
    return true
  end
end
M.isdigit, M.isalpha, M.isspace = every "digit", every "alpha", every "space"
M.isnumeric, M.isdecimal = every "numeric", every "decimal"
function M.isalnum(s, _, _, narrow)
  if s == "" then return false end
  for c in s:gmatch(narrow and "." or utf8.charpattern) do
    if not (unicode.is("alpha", c) or unicode.is("numeric", c))
       or narrow and c:byte() > 127 then
      return false
    end
  end
  return true
end
local function of_case(wanted, other)
  return function (s, _, _, narrow)
    local any = false
    for c in s:gmatch(narrow and "." or utf8.charpattern) do
      if unicode.is(other, c) or unicode.is("title", c) then return false end
      any = any or unicode.is(wanted, c)
    end
    return any
  end
end
M.isupper, M.islower = of_case("upper", "lower"), of_case("lower", "upper")
function M.istitle(s, _, _, narrow)
  local any, inside = false, false
  for c in s:gmatch(narrow and "." or utf8.charpattern) do
    local upper = unicode.is("upper", c) or unicode.is("title", c)
    local lower = unicode.is("lower", c)
    if upper and inside or lower and not inside then return false end
    inside = upper or lower
    any = any or inside
  end
  return any
end
function M.isprintable(s)
  for c in s:gmatch(utf8.charpattern) do
    if unicode.is("hidden", c) then return false end
  end
  return true
end
function M.isascii(s) return unicode.is_ascii(s) end
function M.isidentifier(s)
  if unicode.is_ascii(s) then return s:find("^[%a_][%w_]*$") ~= nil end
  local kind = "start"
  for c in s:gmatch(utf8.charpattern) do
    if not unicode.is(kind, c) then return false end
    kind = "inner"
  end
  return true
end

-- ---- replacing ----

function M.replace(s, args, kw, narrow)
  if args.n < 2 then
    raise_type("replace expected at least 2 arguments, got %d", args.n)
  end
  local old = text_of(args[1], "replace() argument 1 must be str, not %s")
  local new = text_of(args[2], "replace() argument 2 must be str, not %s")
  local most = argument(args, kw, 3, "count")
  most = most and whole(most)
  if most and most < 0 then most = nil end
  if old == "" then
    local out, left = {}, most or math.huge
    for c in s:gmatch(narrow and "." or utf8.charpattern) do
      if left > 0 then out[#out + 1] = new end
      left = left - 1
      out[#out + 1] = c
    end
    if left > 0 then out[#out + 1] = new end
    return table.concat(out)
  end
  return (s:gsub((old:gsub("%W", "%%%0")), (new:gsub("%%", "%%%%")), most))
end

-- str.maketrans(from, to) gives a dict of codes; translate goes by it.
function M.maketrans(_, args)
  local d = V.dict()
  local function code(c)
    if length(c) ~= 1 then
      util.raise("ValueError", "string keys in translate table must be of "
        .. "length 1")
    end
    return utf8.codepoint(c, 1, 1, true)
  end
  if args.n == 1 then
    if not V.is_dict(args[1]) then
      raise_type("if you give only one argument to maketrans it must be a dict")
    end
    for k, v in V.each(args[1]) do
      k = V.unbox(k)
      if type(k) ~= "string" and math.type(k) ~= "integer" then
        raise_type("keys in translate table must be strings or integers")
      end
      V.dict_set(d, type(k) == "string" and code(k) or k, v)
    end
    return d
  end
  local from, n = V.items(text_of(args[1], "first maketrans argument must be "
    .. "a string if there is a second argument"))
  local to, m = V.items(text_of(args[2]))
  if n ~= m then
    util.raise("ValueError", "the first two maketrans arguments must have "
      .. "equal length")
  end
  for i = 1, n do
    V.dict_set(d, code(from[i]), utf8.codepoint(to[i], 1, 1, true))
  end
  for _, c in ipairs((V.items(text_of(args[3] or "",
    "maketrans() argument 3 must be str, not %s")))) do
    V.dict_set(d, code(c), None)
  end
  return d
end

-- What a table says of a code: nil where it has none.
local function looked_up(get, by, code)
  local ok, v = pcall(get, by, code)
  if ok then return v end
  local class = type(v) == "table" and v.class
  if class == "KeyError" or class == "IndexError" or class == "LookupError" then
    return nil
  end
  return error(v, 0)
end

local getitem                       -- ops.lua's, a layer above
function M.translate(s, args)
  one("translate", args)
  local out = {}
  for c in s:gmatch(utf8.charpattern) do
    local by = looked_up(getitem, args[1], utf8.codepoint(c, 1, 1, true))
    by = V.unbox(by)
    if by == nil then by = c
    elseif by == None then by = ""
    elseif math.type(by) == "integer" then
      if by < 0 or by > 0x10ffff then
        util.raise("ValueError", "character mapping must be in range(0x110000)")
      end
      by = utf8.char(by)
    elseif type(by) ~= "string" then
      raise_type("character mapping must return integer, None or str")
    end
    out[#out + 1] = by
  end
  return table.concat(out)
end

-- ---- filling ----

local function fill(name, s, args, narrow, left)
  if args.n == 0 then
    raise_type("%s expected at least 1 argument, got 0", name)
  end
  local width = whole(args[1])
  local pad = args[2] == nil and " " or text_of(args[2], "The fill character "
    .. "must be a unicode character, not %s")
  if length(pad, narrow) ~= 1 then
    raise_type("The fill character must be exactly one character long")
  end
  local n = width - length(s, narrow)
  if n <= 0 then return s end
  if n > 1 << 27 then util.raise("MemoryError", "") end
  local head = left(n, width)
  return pad:rep(head) .. s .. pad:rep(n - head)
end
function M.ljust(s, args, _, narrow)
  return fill("ljust", s, args, narrow, function () return 0 end)
end
function M.rjust(s, args, _, narrow)
  return fill("rjust", s, args, narrow, function (n) return n end)
end
function M.center(s, args, _, narrow)
  return fill("center", s, args, narrow, function (n, width)
    return n // 2 + (n & width & 1)
  end)
end
function M.zfill(s, args, _, narrow)
  local width = whole(args[1])
  local sign, rest = s:match("^([+-]?)(.*)$")
  return sign .. ("0"):rep(width - length(s, narrow)) .. rest
end
function M.expandtabs(s, args, kw, narrow)
  local size, column = argument(args, kw, 1, "tabsize"), 0
  size = size and whole(size) or 8
  local pattern = simple(s, narrow) and "." or utf8.charpattern
  return (s:gsub(pattern, function (c)
    if c ~= "\t" then
      column = (c == "\n" or c == "\r") and 0 or column + 1
      return c
    end
    local n = size > 0 and size - column % size or 0
    column = column + n
    return (" "):rep(n)
  end))
end

-- ---- others ----

function M.encode(s, args, kw)
  local how = argument(args, kw, 1, "encoding")
  return V.encoded(s, how and text_of(how) or "utf-8",
    argument(args, kw, 2, "errors") or "strict")
end

function M.format(s, args, kw)
  return format.template(s, args, kw)
end
function M.format_map(s, args)
  return format.template(s, V.list({}, 0), args[1], getitem)
end

return {methods = M, set_getitem = function (f) getitem = f end}
