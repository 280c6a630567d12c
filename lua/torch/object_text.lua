-- SPDX-License-Identifier: MIT
-- torch/object_text.lua: a value of a program as text, and back, on another rank
-- of the same program.  What is one object in several places is one there, too.
--
-- What has a text: None, booleans, numbers, strings, bytes, lists, tuples, dicts,
-- sets, types of tensors, sizes, devices and plain tensors; functions and classes
-- by their names; objects of the program's classes, members of enumerations, named
-- tuples, what collections has, and exceptions.  Anything else is refused by name.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local big = require "python.bigint"
local copies = require "python.std.copy"
local object = require "python.object"
local kinds = require "torch.kinds"

local M = {}
local None = dt.None

-- ---- classes and functions by their names ----

-- What a module has under a name with dots, or nil.
local function named(module, name)
  local v = V.dict_get(attrs.imported, module)
  if v == nil then
    local ok, m = pcall(attrs.module, module)
    if not ok then return nil end
    v = m
  end
  for part in name:gmatch "[^.]+" do
    local ok, x = pcall(attrs.get, v, part)
    if not ok then return nil end
    v = x
  end
  return v
end

-- The module and the name under which v is found; raises as pickle does.
local function name_of(v)
  copies.check_pickled(v)
  local ok, module = pcall(attrs.get, v, "__module__")
  local known, name = pcall(attrs.get, v, "__qualname__")
  if ok and known and type(name) == "string" then
    for _, place in ipairs {module, "__main__"} do
      if type(place) == "string" and rawequal(named(place, name), v) then
        return place, name
      end
    end
  end
  return util.refuse("%s cannot be sent to other ranks: no module has it under its "
    .. "name", V.repr(v))
end

-- ---- a value as text: encode(w, v); w.seen: the number of each box so far ----

local encode

local function word(s) return ("s%d:%s"):format(#s, s) end

local function items(w, tag, v)
  local out = {("%s%d:"):format(tag, v.n)}
  for i = 1, v.n do out[i + 1] = encode(w, v[i]) end
  return table.concat(out)
end

local function pairs_of(w, tag, v)
  local out = {("%s%d:"):format(tag, V.count(v))}
  for k, item in V.each(v) do
    out[#out + 1] = encode(w, k) .. (tag == "m" and encode(w, item) or "")
  end
  return table.concat(out)
end

local function tensor(w, t)
  if t.is_dtensor then
    util.raise("NotImplementedError", "a DTensor cannot be sent to other "
      .. "ranks: each holds its own part")
  end
  local numbers = t:detach()
  if t.dtype.real ~= t.dtype then numbers = dt.view_as_real(numbers:resolve_conj()) end
  local list = numbers:flatten():tolist()
  for i, x in ipairs(list) do
    if type(x) == "boolean" then x = x and 1 or 0 end
    list[i] = math.type(x) == "integer" and tostring(x) or ("%a"):format(x)
  end
  local kind = t.is_parameter and "P" or "x"
  return kind .. (t.requires_grad and "T" or "F") .. word(tostring(t.dtype))
    .. encode(w, V.size(t.shape)) .. word(table.concat(list, " "))
end

-- ("c": how it is built) of a callable, its arguments, and what is set then.
local function built(w, f, ...)
  return "c" .. encode(w, V.tuple({f, ...}, 1 + select("#", ...)))
end

local function class_of(v) return attrs.get(v, "__class__") end

-- A list or dict of one of the classes of collections.
local function of_collections(w, v)
  local class = class_of(v)
  if V.is_list(v) then
    local most = rawget(v, "most")
    return built(w, class, V.tuple {V.list({table.unpack(v, 1, v.n)}, v.n),
      most == nil and None or most})
  end
  local list = {}
  for k, x in V.each(v) do list[#list + 1] = V.tuple {k, x} end
  return built(w, class, V.tuple {rawget(v, "default")}, None, None, V.list(list))
end

-- What an error was made of, and its fields.
local function of_error(w, e)
  local fields = attrs.get(e, "__dict__")
  return built(w, class_of(e), attrs.get(e, "args"),
    V.count(fields) > 0 and fields or None)
end

local function of_instance(w, v)
  local said = copies.reduced(v)
  if said ~= nil then
    if not V.is_tuple(said) then
      util.refuse("an object of %s cannot be sent to other ranks: its __reduce__ "
        .. "gives no tuple", V.type_name(v))
    end
    return "c" .. encode(w, said)
  end
  local own, state = V.special(v, "__getstate__"), nil
  if own then state = own() end
  if state == nil then
    state = V.dict()
    for _, name in ipairs(rawget(v, "_order")) do
      V.dict_set(state, name, v._attrs[name])
    end
  end
  return "o" .. encode(w, v._class) .. encode(w, state)
end

local function of_list(w, v)
  if rawget(v, "view") then return nil end
  return rawget(v, "deque") and of_collections(w, v) or items(w, "l", v)
end

local function of_tuple(w, v)
  if rawget(v, "record") then
    return built(w, class_of(v), V.tuple({table.unpack(v, 1, v.n)}, v.n))
  end
  return items(w, v.is_size and "z" or "t", v)
end

local function of_dict(w, v)
  if rawget(v, "shown_as") then return of_collections(w, v) end
  return pairs_of(w, "m", v)
end

-- Values that have no identity to keep, or nil.
local function of_simple(v)
  if v == None then return "N" end
  if type(v) == "boolean" then return v and "T" or "F" end
  if math.type(v) == "integer" then return ("i%d:"):format(v) end
  if big.is(v) then return "b" .. word(V.str(v)) end
  if type(v) == "number" then return ("d%a:"):format(v) end
  if type(v) == "string" then return word(v) end
  if util.is_dtype(v) then return "y" .. word(tostring(v)) end
  if V.is_device(v) then return "v" .. word(V.str(v)) end
  if V.is_complex(v) then return ("C%a,%a:"):format(v.re, v.im) end
  if V.is_bytes(v) then
    return (V.is_bytearray(v) and "A" or "B") .. word(v.s)
  end
end

local function is_named(v)
  return V.is_function(v) or type(v) == "table"
    and (rawget(v, "__python") ~= nil or V.is_type_table(v))
end

local function of_box(w, v)
  if util.is_tensor(v) then return tensor(w, v) end
  if copies.is_enum_member(v) then
    return built(w, class_of(v), V.tuple {attrs.get(v, "value")})
  end
  copies.refuse_iterator(v)
  if V.is_bound(v) then return nil end
  if is_named(v) then
    local module, name = name_of(v)
    return "g" .. word(module) .. word(name)
  end
  if type(v) == "table" and rawget(v, "_native") ~= nil then return nil end
  if V.is_list(v) then return of_list(w, v) end
  if V.is_tuple(v) then return of_tuple(w, v) end
  if V.is_dict(v) then return of_dict(w, v) end
  if V.is_set(v) then return pairs_of(w, v.frozen and "f" or "e", v) end
  if V.is_error(v) then return of_error(w, v) end
  if V.is_object(v) then return of_instance(w, v) end
end

function encode(w, v)
  local simple = of_simple(v)
  if simple then return simple end
  if w.seen[v] then return ("r%d:"):format(w.seen[v]) end
  w.count = w.count + 1
  w.seen[v] = w.count
  local own = type(v) == "table" and rawget(v, "specials")
  if own and own.__reduce_ex__ then own.__reduce_ex__(4) end    -- says why not
  return of_box(w, v) or util.raise("NotImplementedError",
    "an object of %s cannot be sent to other ranks", V.type_name(v))
end

-- encode(v): the value as text.
function M.encode(v) return encode({seen = {}, count = 0}, v) end

-- ---- and back: read.tag(r) -> value; r: {s, at, known, count} ----

local read = {}

local function decode(r)
  local tag = r.s:sub(r.at, r.at)
  r.at = r.at + 1
  return read[tag](r)
end

-- What stands before the next colon.
local function head(r)
  local text, stop = r.s:match("^([^:]*):()", r.at)
  r.at = stop
  return text
end

local function number(text)
  return tonumber(text) or (text:find("nan") and 0 / 0)
    or (text:sub(1, 1) == "-" and -math.huge or math.huge)
end

local function dtype_of(text) return dt[text:match("([%w_]+)$")] end

function read.N() return None end
function read.T() return true end
function read.F() return false end
function read.i(r) return math.tointeger(tonumber(head(r))) end
function read.d(r) return number(head(r)) end
function read.s(r)
  local n = tonumber(head(r))
  r.at = r.at + n
  return r.s:sub(r.at - n, r.at - 1)
end
function read.b(r)
  local digits = decode(r)
  local v = big.parse((digits:gsub("^%-", "")), 10)
  return digits:sub(1, 1) == "-" and big.neg(v) or v
end
function read.y(r) return dtype_of(decode(r)) end
function read.v(r) return kinds.device(decode(r)) end
function read.C(r)
  local re, im = head(r):match("^(.*),(.*)$")
  return V.complex(number(re), number(im))
end
function read.B(r) return V.bytes(decode(r)) end
function read.A(r) return V.bytearray(decode(r)) end
function read.r(r)
  local v = r.known[tonumber(head(r))]
  if v == nil then
    util.refuse("a tuple that holds itself cannot be sent to other ranks")
  end
  return v
end

-- A box whose text f(r, keep) reads; keep(v) tells what it is before its parts.
local function box(tag, f)
  read[tag] = function (r)
    r.count = r.count + 1
    local at = r.count
    local v = f(r, function (made)
      r.known[at] = made
      return made
    end)
    r.known[at] = v
    return v
  end
end

local function tensor_back(r)
  local learns = decode(r)
  local dtype, size = dtype_of(decode(r)), decode(r)
  local list, shape = {}, {}
  for x in decode(r):gmatch("%S+") do list[#list + 1] = number(x) end
  for i = 1, size.n do shape[i] = size[i] end
  if #list == 0 then return dt.zeros(shape, {dtype = dtype}), learns end
  local t = dt.tensor(list, {dtype = dtype.real})
  if dtype.real == dtype then return t:reshape(shape), learns end
  return dt.view_as_complex(t:reshape({-1, 2})):reshape(shape), learns
end

box("x", function (r)
  local t, learns = tensor_back(r)
  if learns then t.requires_grad = true end
  return t
end)
box("P", function (r) return dt._make_param(tensor_back(r)) end)

local function some(r, out)
  local n = tonumber(head(r))
  for i = 1, n do
    out[i] = decode(r)
    out.n = i
  end
  return out, n
end

box("l", function (r, keep) return (some(r, keep(V.list({}, 0)))) end)
box("t", function (r) return V.tuple(some(r, {})) end)
box("z", function (r) return V.size((some(r, {}))) end)
box("e", function (r) return V.set((some(r, {}))) end)
box("f", function (r)
  local s = V.set((some(r, {})))
  s.frozen = true
  return s
end)
box("m", function (r, keep)
  local d = keep(V.dict())
  for _ = 1, tonumber(head(r)) do
    local k = decode(r)
    V.dict_set(d, k, decode(r))
  end
  return d
end)
box("g", function (r)
  local module, name = decode(r), decode(r)
  return named(module, name) or util.raise("AttributeError",
    "Can't get attribute '%s' on <module '%s'>", name, module)
end)
box("o", function (r, keep)
  local v = keep(object.bare(decode(r)))
  copies.set_state(v, decode(r))
  return v
end)
box("c", function (r, keep)
  return copies.rebuilt(decode(r), function (x) return x end, keep)
end)

-- decode(text): the value that encode made the text of.
function M.decode(text)
  return decode({s = text, at = 1, known = {}, count = 0})
end

return M
