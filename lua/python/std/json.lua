-- SPDX-License-Identifier: MIT
-- python/std/json.lua: what pylib/json.py stands on: _json.loads(text), which
-- gives (True, value), or (False, None) where the text needs json.py's own
-- reader; and _json.dumps(encoder, value), which writes.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local big = require "python.bigint"
local attrs = require "python.attrs"

local None = dt.None

-- ---- reading ----

-- A value of dt._json_ordered as one of Python's.
local function value_of(v)
  if type(v) ~= "table" then return v end
  if not v.object then
    for i = 1, v.n do v[i] = value_of(v[i]) end
    return V.list(v, v.n)
  end
  local d = V.dict()
  for i = 1, v.n, 2 do V.dict_set(d, v[i], value_of(v[i + 1])) end
  return d
end

local function loads(a)
  local v = dt._json_ordered(a[1])
  if v == nil then return V.tuple({false, None}, 2) end
  return V.tuple({true, value_of(v)}, 2)
end

-- ---- writing ----

local DEEPEST <const> = 990         -- CPython's stack ends about there

local SHORT <const> = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n",
  ["\r"] = "\\r", ["\t"] = "\\t", ["\f"] = "\\f", ["\b"] = "\\b"}

local function escaped(c)
  if SHORT[c] then return SHORT[c] end
  local code = utf8.codepoint(c, 1, 1, true)
  if code < 0x10000 then return ("\\u%04x"):format(code) end
  code = code - 0x10000
  return ("\\u%04x\\u%04x"):format(0xd800 + (code >> 10),
    0xdc00 + (code & 0x3ff))
end

local function quoted(text, ensure_ascii)
  if text:find('[^ !#-%[%]-~]') then
    text = text:gsub('[%c"\\]', function (c)
      return c ~= "\127" and escaped(c) or nil
    end)
    if ensure_ascii then
      text = text:gsub("[\127-\xfd][\x80-\xbf]*", escaped)
    end
  end
  return '"' .. text .. '"'
end

local function float_text(w, v)
  if v - v == 0 then return V.float_text(v) end
  if not w.allow_nan then
    util.raise("ValueError", "Out of range float values are not JSON compliant")
  end
  return v ~= v and "NaN" or v > 0 and "Infinity" or "-Infinity"
end

-- The text of what is no container, or nil.
local function plain_text(w, v)
  local kind = type(v)
  if kind == "string" then return quoted(v, w.ensure_ascii) end
  if math.type(v) == "integer" then return tostring(v) end
  if kind == "number" then return float_text(w, v) end
  if kind == "boolean" then return v and "true" or "false" end
  if v == None then return "null" end
  if big.is(v) then return big.text(v) end
end

-- A key as it is written, or nil where it is left out.
local function key_text(w, key)
  local v = V.unbox(key)
  if type(v) == "string" then return quoted(v, w.ensure_ascii) end
  local text = plain_text(w, v)
  if text then return '"' .. text .. '"' end
  if w.skipkeys then return nil end
  return util.raise("TypeError", "keys must be str, int, float, bool or None, "
    .. "not %s", V.type_name(key))
end

-- The keys of a dictionary and their values, in the order they are written.
local function members(w, d)
  local keys, values, n = {}, {}, 0
  if rawget(d, "_class") then           -- as its class gives them
    local items = V.call(attrs.get(d, "items"), V.list({}, 0))
    for more, pair in V.iter(items) do
      if not more then break end
      local two = V.items(pair)
      n = n + 1
      keys[n], values[n] = two[1], two[2]
    end
  else
    for k, v in V.each(d) do
      n = n + 1
      keys[n], values[n] = k, v
    end
  end
  if w.sort_keys then V.merge_sort(keys, values, n, false) end
  return keys, values, n
end

local write

-- The parts of a container between its brackets, each on a line of its own
-- where the encoder indents: part(i) writes one, or says false for none.
local function around(w, depth, open, close, n, part)
  local out = w.out
  local inner = w.indent and "\n" .. w.indent:rep(depth + 1) or ""
  if n == 0 then
    out[#out + 1] = open .. close
    return
  end
  local between = w.item_separator .. inner
  out[#out + 1] = open .. inner
  local any = false
  for i = 1, n do
    if any then out[#out + 1] = between end
    local before = #out
    if part(i) ~= false then
      any = true
    elseif any then
      out[before] = nil
    end
  end
  out[#out + 1] = (w.indent and "\n" .. w.indent:rep(depth) or "") .. close
end

local function write_list(w, v, depth)
  around(w, depth, "[", "]", v.n, function (i) write(w, v[i], depth + 1) end)
end

local function write_dict(w, v, depth)
  local keys, values, n = members(w, v)
  local out = w.out
  around(w, depth, "{", "}", n, function (i)
    local key = key_text(w, keys[i])
    if not key then return false end
    out[#out + 1] = key .. w.key_separator
    write(w, values[i], depth + 1)
  end)
end

-- Is it a list or tuple as JSON knows them?
local function is_array(v)
  return V.is_seq(v) and not rawget(v, "deque") and not rawget(v, "view")
end

function write(w, v, depth)
  local out = w.out
  local text = plain_text(w, v)
  if not text then
    local raw = V.unbox(v)
    text = raw ~= v and plain_text(w, raw) or nil
  end
  if text then
    out[#out + 1] = text
    return
  end
  if w.open then
    if w.open[v] then
      util.raise("ValueError", "Circular reference detected")
    end
    w.open[v] = true
  end
  if depth > DEEPEST then
    util.raise("RecursionError", "maximum recursion depth exceeded while "
      .. "encoding a JSON object")
  end
  if is_array(v) then write_list(w, v, depth)
  elseif V.is_dict(v) then write_dict(w, v, depth)
  else write(w, V.call(w.default, V.list({v}, 1)), depth) end
  if w.open then w.open[v] = nil end
end

-- dumps(encoder, value): the encoder's fields say how.
local function dumps(a)
  local encoder = a[1]
  local function field(name)
    local v = attrs.get(encoder, name)
    return v ~= None and V.unbox(v) or nil
  end
  local function flag(name) return V.truth(attrs.get(encoder, name)) end
  local w = {out = {}, ensure_ascii = flag "ensure_ascii",
    allow_nan = flag "allow_nan", sort_keys = flag "sort_keys",
    skipkeys = flag "skipkeys", open = flag "check_circular" and {} or nil,
    indent = field "indent", item_separator = field "item_separator",
    key_separator = field "key_separator",
    default = attrs.get(encoder, "default")}
  write(w, a[2], 0)
  return table.concat(w.out)
end

attrs.provide("_json", attrs.namespace {loads = V.builtin(loads, "loads"),
  dumps = V.builtin(dumps, "dumps")})
