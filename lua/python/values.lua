-- SPDX-License-Identifier: MIT
-- python/values.lua: Python's values in Lua.  Numbers, strings and
-- booleans are Lua's; None is dt.None; lists, tuples, dicts and sets are
-- tables with a metatable of this module.  What belongs to the engine
-- (tensors, meshes, modules, Lua functions) passes as it is; lists and dicts
-- are changed to plain tables on the way into Lua and back on the way out.

local dt = require "dt"
local util = require "dt.util"
local big = require "python.bigint"
local unicode = require "python.unicode"
local foreign = require "python.foreign"

local M = {}
local None = dt.None

local list_mt, tuple_mt = {__name = "list"}, {__name = "tuple"}
local dict_mt, set_mt = {__name = "dict"}, {__name = "set"}
local func_mt, builtin_mt = {__name = "function"}, {__name = "builtin"}
local generator_mt = {__name = "generator"}
M.func_mt, M.builtin_mt, M.dict_mt, M.set_mt = func_mt, builtin_mt, dict_mt,
  set_mt

function M.list(items, n)
  items.n = n or items.n or #items
  return setmetatable(items, list_mt)
end

function M.tuple(items, n)
  items.n = n or items.n or #items
  return setmetatable(items, tuple_mt)
end

-- A torch.Size: a tuple that prints with its name.
function M.size(items)
  local out = {}
  for i = 1, #items do out[i] = items[i] end
  local t = M.tuple(out)
  t.is_size = true
  return t
end

function M.is_list(v) return getmetatable(v) == list_mt end
function M.is_tuple(v) return getmetatable(v) == tuple_mt end
function M.is_dict(v) return getmetatable(v) == dict_mt end
function M.is_set(v) return getmetatable(v) == set_mt end
function M.is_seq(v)
  local mt = getmetatable(v)
  return mt == list_mt or mt == tuple_mt
end

-- Is it the metatable of a box that no dict takes as a key?
function M.is_builtin_box(mt)
  return mt == list_mt or mt == dict_mt or mt == set_mt
end

-- What an object of a class below int, float, str, … holds; else v itself.
function M.unbox(v)
  if type(v) == "table" then
    local x = rawget(v, "_boxed")
    if x ~= nil then return x end
  end
  return v
end

-- Has it a plain value inside?  Not: is what unbox gives another, since a nan
-- is never equal to itself.
function M.is_boxed(v)
  return type(v) == "table" and rawget(v, "_boxed") ~= nil
end

-- A function of the program, or one that is built in.
function M.is_function(v)
  local mt = getmetatable(v)
  return mt == func_mt or mt == builtin_mt
end

-- Is it an exception, the engine's or the program's?
function M.is_error(v)
  return type(v) == "table" and rawget(v, "class") ~= nil
    and rawget(v, "message") ~= nil and getmetatable(v) ~= func_mt
end

function M.is_generator(v) return getmetatable(v) == generator_mt end

-- An iterator: next([sent]) gives true and a value, or false at its end.
function M.generator(next)
  return setmetatable({next = next}, generator_mt)
end

-- The same of the class of that name ("list_iterator", "zip"), which has none
-- of a generator's methods.
function M.iterator(next, name)
  return setmetatable({next = next, iterator = name}, generator_mt)
end

-- ---- methods of Python classes ----

-- The Python function behind a function that is in a class.
local raw_of = setmetatable({}, {__mode = "k"})
M.raw_of = raw_of
-- The function that one looks at which is in its place (dt.spmd.watch).
M.plain_of = setmetatable({}, {__mode = "k"})
function M.set_plain(watched, f) M.plain_of[watched] = f end

function M.set_raw(f, python) raw_of[f] = python end
function M.raw(f) return raw_of[f] end

local caller                        -- set by eval: call(f, args, kw)
function M.set_caller(f) caller = f end
-- Call anything; see call.lua.
function M.call(f, args, kw) return caller(f, args, kw) end

-- What an absent name (absent.lua) answers by itself; all else is refused.
local NAMED = {__eq__ = true, __ne__ = true, __hash__ = true, __bool__ = true,
  __format__ = true}

local function absent_special(v, name)
  if NAMED[name] then return nil end
  if name == "__str__" or name == "__repr__" then
    return function () return v.shown end
  end
  return v.call
end

-- A member of a class that is no function of the program's (a static or class
-- method, a builtin, an object with __get__ or __call__), as a special method.
local binder                        -- class.lua's
function M.set_binder(f) binder = f end
local function bound_special(v, class, name, x)
  local f, found = binder(v, class, name)
  if not found then f = x end
  return function (...)
    return caller(f, M.list({...}, select("#", ...)))
  end
end

-- special(v, "__len__") -> a function that calls that method of v's Python
-- class, or nil.
function M.special(v, name)
  if type(v) ~= "table" then return nil end
  if rawget(v, "absent") then return absent_special(v, name) end
  local class = rawget(v, "_class")
  local python = class and raw_of[class[name]]
  if not python and rawget(v, "python") then    -- an error of the program's
    python = M.error_member(rawget(v, "python"), name)
  end
  if not python then                            -- an object of the library's
    local own = rawget(v, "specials")
    if own and own[name] then return own[name] end
    local x = class and class[name]
    return type(x) == "table" and x ~= None and rawget(class, "__python")
      and bound_special(v, class, name, x) or nil
  end
  return function (...)
    return caller(python, M.list({v, ...}, select("#", ...) + 1))
  end
end

-- NotImplemented: a method's word that it does not know this operand.
M.not_implemented = setmetatable({shown = "NotImplemented"},
  {__name = "NotImplementedType"})

-- Is b asked before a: does its class derive from that of a, with another
-- method `name` where that is one of a sign?
local function asked_first(b, a, name)
  local below = type(b) == "table" and rawget(b, "_class")
  local above = type(a) == "table" and rawget(a, "_class")
  if not below or not above or below == above or below[name] == nil then
    return false
  end
  if name:find("^__r") and above[name] == below[name] then return false end
  for _, c in ipairs(rawget(below, "__order") or {}) do
    if c == above then return true end
  end
  return false
end

-- What v's method `name` says of x, where v's class is the program's; else
-- nil, as for NotImplemented.
local function said_by(v, name, x)
  local class = type(v) == "table" and rawget(v, "_class")
  local python = class and raw_of[class[name]]
  local said
  if python then
    said = caller(python, M.list({v, x}, 2))
  else
    local f = M.special(v, name)
    if not f then return nil end
    said = f(x)
  end
  if said ~= M.not_implemented then return said end
end

-- ask(a, b, left, right): what a's method `left` says of b or, when it does
-- not know, b's `right` of a; nil when no method does.
function M.ask(a, b, left, right)
  local swapped = asked_first(b, a, right)
  if swapped then a, b, left, right = b, a, right, left end
  local v = said_by(a, left, b)
  if v ~= nil then return v end
  return said_by(b, right, a)
end

-- f(args, kw) with Python's calling convention: args is a list, kw a dict.
function M.builtin(f, name)
  return setmetatable({call = f, __name__ = name}, builtin_mt)
end

-- ---- to Lua and back ----

-- A list that says its length itself, as the arguments a hook is given.
local function is_pack(v)
  local n = rawget(v, "n")
  if math.type(n) ~= "integer" or v[1] == nil then return false end
  for k in next, v do
    if k ~= "n" and (math.type(k) ~= "integer" or k < 1 or k > n) then
      return false
    end
  end
  return true
end

-- What a Python function gives for arguments of Lua: a tuple as {n =,
-- tuple = true} of Lua's values, another value alone in one.
function M.pack_call(f, ...)
  local args, kw = table.pack(...), nil
  local last = args[args.n]
  if util.is_kwargs(last) and not is_pack(last) then
    kw = M.dict()
    args.n = args.n - 1
    for k, v in pairs(last) do M.dict_set(kw, k, M.from_lua(v)) end
  end
  for i = 1, args.n do args[i] = M.from_lua(args[i]) end
  local out = caller(f, M.list(args, args.n), kw)
  local list = {n = M.is_tuple(out) and out.n or 1, tuple = M.is_tuple(out)}
  for i = 1, list.tuple and list.n or 0 do list[i] = M.to_lua(out[i]) end
  if not list.tuple and out ~= None then list[1] = M.to_lua(out) end
  return list
end

-- A Lua function for a Python one.
local wrapped = setmetatable({}, {__mode = "k"})
local inner = setmetatable({}, {__mode = "kv"})
function M.lua_function(f)
  if wrapped[f] then return wrapped[f] end
  local function w(...)
    local out = M.pack_call(f, ...)
    return table.unpack(out, 1, out.n)
  end
  wrapped[f], inner[w] = w, f
  return w
end

-- The Python function that such a one calls, or nil.
function M.python_of(w) return inner[w] end
function M.set_python_of(w, f) inner[w] = f end

function M.to_lua(v)
  local mt = type(v) == "table" and getmetatable(v)
  if not mt then return v end
  if rawget(v, "_boxed") ~= nil then return M.to_lua(v._boxed) end
  if mt == list_mt or mt == tuple_mt then
    local class = rawget(v, "_class")
    if class and class._whole then return v end   -- PackedSequence
    local out = {}
    for i = 1, v.n do out[i] = M.to_lua(v[i]) end
    return dt._sequence(out, mt == tuple_mt and 2 or 1)
  elseif mt == set_mt or mt == generator_mt or M.is_view(v) then
    local out, items, n = {}, M.items(v)
    for i = 1, n do out[i] = M.to_lua(items[i]) end
    return out
  elseif mt == dict_mt then
    local out = {}
    for k, item in M.each(v) do out[k] = M.to_lua(item) end
    return out
  elseif mt == func_mt or mt == builtin_mt then
    if rawget(v, "absent") then v.call() end      -- refused by its name
    return M.lua_function(v)
  elseif M.is_device(v) then
    return tostring(v)
  elseif big.is(v) then
    return big.refuse(v)
  elseif mt.__to_lua then
    return mt.__to_lua(v)
  end
  return v
end

-- Python's values behind Lua tables that only stand for them for a while, as
-- the arguments of a module while its hooks run.
local origin = setmetatable({}, {__mode = "k"})

-- to_lua, and from_lua of what this gives is `v` itself.
function M.lend(v)
  local out = M.to_lua(v)
  if out ~= v and type(out) == "table" and getmetatable(out) == nil then
    origin[util.as_value(out)] = v
  end
  return out
end

function M.from_lua(v)
  if v == nil then return None end
  if origin[v] ~= nil then return origin[v] end
  if type(v) ~= "table" then
    if type(v) == "userdata" then
      local mt = getmetatable(v)
      if type(mt) == "table" and mt.__name == "dt.size" then
        return M.size(v)
      end
    end
    return v
  end
  local mt = getmetatable(v)
  if mt ~= nil then
    local name = type(mt) == "table" and mt.__name
    if name == "dt.size" then return M.size(v) end
    if name == "dt.placements" then
      return M.tuple({table.unpack(v, 1, #v)}, #v)
    end
    return v
  end
  local pack = is_pack(v)
  if util.is_kwargs(v) and not pack then return M.dict_of(v) end
  local out, n = {}, pack and v.n or #v
  for i = 1, n do out[i] = M.from_lua(v[i]) end
  return (pack and M.tuple or M.list)(out, n)
end

-- ---- text ----

local float_text = util.float_text
M.float_text = float_text

-- The parameters by which a record is made, as a function has them (bind.lua).
local function maker_of(name, names, defaults)
  local params = {{name = "_cls", only = "positional"}}
  for i, field in ipairs(names) do
    params[i + 1] = {name = field, value = defaults[field]}
  end
  return {name = name .. ".__new__", params = params}
end

-- set_bind(f): how arguments are bound (bind.lua, a layer above).
local bind
function M.set_bind(f) bind = f end

-- record("P", {"x", "y"}): collections.namedtuple: tuples whose items have
-- names; `members` are what a class body defined (defaults, methods).
function M.record(name, names, members)
  local class = M.builtin(nil, name)
  local at = {}
  for i, field in ipairs(names) do at[field] = i end
  class.at, class.members, class.names = at, members or {}, names
  class.call = function (args, kw)
    local t, given = {record = class}, {}
    bind(class.maker, M.list({false, table.unpack(args, 1, args.n)},
      args.n + 1), kw, given)
    for i, field in ipairs(names) do t[i] = given[field] end
    return M.tuple(t, #names)
  end
  class.maker = maker_of(name, names, class.members)
  class.doc = ("%s(%s)"):format(name, table.concat(names, ", "))
  local shown, defaults = M.tuple({table.unpack(names)}, #names), M.dict()
  for _, field in ipairs(names) do
    if class.members[field] ~= nil then
      M.dict_set(defaults, field, class.members[field])
    end
  end
  class._fields, class.__match_args__ = shown, shown
  class._field_defaults, class.__qualname__ = defaults, name
  class.test = function (v)
    return type(v) == "table" and rawget(v, "record") == class
  end
  class._make = M.builtin(function (a)
    local items, n = M.items(a[1])
    if n ~= #names then
      util.raise("TypeError", "Expected %d arguments, got %d", #names, n)
    end
    return class.call(M.list({table.unpack(items, 1, n)}, n))
  end, "_make")
  return class
end

-- v.name of a record, or nil.
function M.of_record(v, name)
  local class = rawget(v, "record")
  if class.at[name] then return v[class.at[name]] end
  if class.structseq then return nil end        -- no namedtuple
  if name == "_fields" then
    return M.tuple({table.unpack(class.names)}, #class.names)
  elseif name == "_replace" then
    return M.builtin(function (_, kw)
      local d = M.dict()
      for i, field in ipairs(class.names) do M.dict_set(d, field, v[i]) end
      local odd = M.list({}, 0)
      for k, x in M.each(kw or M.dict()) do
        if class.at[k] == nil then
          odd.n = odd.n + 1
          odd[odd.n] = k
        end
        M.dict_set(d, k, x)
      end
      if odd.n > 0 then
        util.raise("ValueError", "Got unexpected field names: %s", M.repr(odd))
      end
      return class.call({n = 0}, d)
    end, name)
  elseif name == "_asdict" then
    return M.builtin(function ()
      local d = M.dict()
      for i, field in ipairs(class.names) do M.dict_set(d, field, v[i]) end
      return d
    end, name)
  end
  local member = class.members[name]
  local mt = getmetatable(member)
  if type(mt) == "table" and mt.__name == "descriptor" then
    if member.kind == "staticmethod" then return member.get end
    local self = member.kind == "classmethod" and class or v
    if member.kind == "property" then
      return caller(member.get, M.list({self}, 1))
    end
    return M.builtin(function (args, kw)
      return caller(member.get, M.list({self, table.unpack(args, 1, args.n)},
        args.n + 1), kw)
    end, name)
  end
  if mt ~= func_mt then return member end
  return M.builtin(function (args, kw)
    return caller(member, M.list({v, table.unpack(args, 1, args.n)},
      args.n + 1), kw)
  end, name)
end

-- What Python shows of where an object is.
local function place_of(v) return ("0x%x"):format(M.identity(v)) end

-- Builtins that are classes have a capital, or are one of these.
local LOWER_CLASSES = {}
for name in ([[int str float bool list tuple dict set frozenset range slice
  object type bytes complex enumerate zip map filter reversed property
  staticmethod classmethod defaultdict deque partial device super]]):gmatch "%S+" do
  LOWER_CLASSES[name] = true
end

-- Is it a class of those that are built in?
function M.is_class_builtin(v)
  if getmetatable(v) ~= builtin_mt or rawget(v, "absent") then return false end
  return rawget(v, "test") ~= nil or rawget(v, "is_data") ~= nil
    or LOWER_CLASSES[rawget(v, "__name__")] ~= nil
    and rawget(v, "bound_to") == nil and rawget(v, "of_type") == nil
end

-- Functions and classes as Python shows them, or nil.
local function callable_text(v, mt)
  if rawget(v, "shown_as") then return v.shown_as() end
  if mt == func_mt then
    return ("<function %s at %s>"):format(rawget(v, "name") or "<lambda>",
      place_of(v))
  end
  if rawget(v, "bound_to") then
    return ("<bound method %s of %s>"):format(rawget(v, "full_name")
      or v.__name__, M.repr(v.bound_to))
  end
  local name = v.__name__
  if rawget(v, "of_type") then
    return (name:find("^__") and "<slot wrapper '%s' of '%s' objects>"
      or "<method '%s' of '%s' objects>"):format(name, v.of_type)
  end
  if mt == builtin_mt and type(name) == "string" and not rawget(v, "test")
     and not LOWER_CLASSES[name] and name:find("^%l") then
    return ("<built-in function %s>"):format(name)
  end
end

-- An instance of a class of the program's that is no nn.Module.
--- home(class): the module of a class: that of the program, or where PyTorch
--- has it.
function M.home(class) return rawget(class, "__home") or "__main__" end

-- full_name(class): its name with those of what it stands in: f.<locals>.C.
function M.full_name(class)
  return rawget(class, "__qualname") or rawget(class, "__name")
end

function M.object_text(v)
  if type(v) ~= "table" or not rawget(v, "_class") then
    return ("<%s object at %s>"):format(M.type_name(v), place_of(v))
  end
  local class = rawget(v, "_class")
  if not M.is_object(v) and not rawget(class, "__order") then return nil end
  for _, c in ipairs(rawget(class, "__order") or {}) do
    if not rawget(c, "__python") and not M.is_object(v) then return nil end
  end
  return ("<%s.%s object at %s>"):format(M.home(class), M.full_name(class),
    place_of(v))
end

local showing = {}                  -- boxes whose text is being made

-- f() while v is being shown; `inner` where v is inside itself.
local function shown_once(v, inner, f)
  if showing[v] then return inner end
  showing[v] = true
  local ok, text = pcall(f)
  showing[v] = nil
  if not ok then error(text, 0) end
  return text
end

local function joined(v, first, last, n)
  local parts = {}
  for i = 1, n do parts[i] = M.repr(v[i]) end
  if last == ")" and n == 1 then last = ",)" end
  return first .. table.concat(parts, ", ") .. last
end

local function escaped(c)
  local code = utf8.codepoint(c)
  return (code < 256 and "\\x%02x" or code < 65536 and "\\u%04x"
    or "\\U%08x"):format(code)
end

local function hidden(c) return unicode.is("hidden", c) and escaped(c) or c end

local plain_repr

function M.repr(v)
  local mt = type(v) == "table" and getmetatable(v)
  if mt == list_mt or mt == dict_mt then
    return shown_once(v, mt == list_mt and "[...]" or "{...}", function ()
      return plain_repr(v)
    end)
  end
  return plain_repr(v)
end

function plain_repr(v)
  if type(v) == "string" then
    local q = v:find("'", 1, true) and not v:find('"', 1, true) and '"' or "'"
    local out = v:gsub("\\", "\\\\"):gsub("\n", "\\n"):gsub("\t", "\\t")
      :gsub("\r", "\\r"):gsub("%c", escaped)
    if not unicode.is_ascii(out) then
      out = out:gsub("[\xc2-\xf4][\x80-\xbf]+", hidden)
    end
    if q == "'" then out = out:gsub("'", "\\'") end
    return q .. out .. q
  end
  local special = M.special(v, "__repr__")
  if special then return special() end
  if type(v) == "table" and rawget(v, "shown") then return v.shown end
  if type(v) == "table" and rawget(v, "_boxed") ~= nil then
    return M.repr(v._boxed)
  end
  local mt = type(v) == "table" and getmetatable(v)
  if M.is_object(v) and not rawget(v, "_native") then
    return M.object_text(v)
  end
  if M.is_range(v) then return M.range_text(v) end
  if mt == list_mt and v.view then
    return joined(v, v.view .. "([", "])", v.n)
  end
  if mt == list_mt and v.deque then
    local class = rawget(v, "_class")
    return joined(v, (class and class.__name or "deque") .. "([", v.most
      and "], maxlen=" .. v.most .. ")" or "])", v.n)
  end
  if mt == list_mt then return joined(v, "[", "]", v.n) end
  if M.is_view(v) then
    local items, n = M.items(v)
    return joined(items, mt.__name .. "([", "])", n)
  end
  if mt == generator_mt then
    if rawget(v, "shown_as") then return v.shown_as() end
    local f = rawget(v, "func")
    return ("<%s object %sat %s>"):format(v.iterator or "generator",
      v.iterator and "" or (f and f.name or "<genexpr>") .. " ", place_of(v))
  end
  if mt == tuple_mt and v.is_size then
    return joined(v, "torch.Size([", "])", v.n)
  end
  if mt == tuple_mt and v.called then            -- a class of tuples
    return (joined(v, v.called .. "(", ")", v.n):gsub(",%)$", ")"))
  end
  if mt == tuple_mt and v.record then
    local own = v.record.members.__repr__
    if type(own) == "function" and own(v) then return own(v) end
    local parts = {}
    for i, field in ipairs(v.record.names) do
      parts[i] = field .. "=" .. M.repr(v[i])
    end
    return v.record.__name__ .. "(" .. table.concat(parts, ", ") .. ")"
  end
  if mt == tuple_mt then return joined(v, "(", ")", v.n) end
  if mt == dict_mt then
    local parts = {}
    for k, item in M.each(v) do
      parts[#parts + 1] = M.repr(k) .. ": " .. M.repr(item)
    end
    local text = "{" .. table.concat(parts, ", ") .. "}"
    return v.shown_as and v.shown_as(v, text) or text
  end
  if mt == set_mt and rawget(v, "_class") then
    local items, n = M.items(v)
    return v._class.__name .. (n == 0 and "()" or joined(items, "({", "})", n))
  end
  if mt == set_mt then
    local items, n = M.items(v)
    if v.frozen then
      return n == 0 and "frozenset()" or joined(items, "frozenset({", "})", n)
    end
    if n == 0 then return "set()" end
    return joined(items, "{", "}", n)
  end
  if type(v) == "table" and rawget(v, "class")
     and rawget(v, "message") then
    local args = rawget(v, "args") or M.tuple({v.message})
    if v.class == "KeyError" and not rawget(v, "args") then
      return "KeyError(" .. v.message .. ")"    -- the key's repr already
    end
    return v.class .. joined(args, "(", ")", args.n):gsub(",%)$", ")")
  end
  if util.is_placement(v) then return v:repr() end
  if util.is_dtensor(v) then
    return ("DTensor(local_tensor=%s, device_mesh=%s, placements=%s)"):format(
      M.formatted(dt._local_of(v)), tostring(v.device_mesh),
      util.tuple_text(v.placements))
  end
  return M.str(v)
end

-- What __str__ or __repr__ gave, which has to be a text.
local function said_text(name, text)
  text = M.unbox(text)
  if type(text) ~= "string" then
    util.raise("TypeError", "%s returned non-string (type %s)", name,
      M.type_name(text))
  end
  return text
end

function M.str(v)
  if type(v) == "string" then return v end
  if util.is_dtensor(v) then return M.repr(v) end
  if util.is_tensor(v) and v.is_parameter then
    return "Parameter containing:\n" .. tostring(v)
  end
  if v == None then return "None" end
  if v == true then return "True" elseif v == false then return "False" end
  if math.type(v) == "float" then return float_text(v) end
  if type(v) == "table" then
    local mt = getmetatable(v)
    if mt and mt.shows_itself then return tostring(v) end
    if not rawget(v, "_class") and (mt == list_mt or mt == tuple_mt
       or mt == dict_mt or mt == set_mt or mt == generator_mt
       or M.is_view(v) or M.is_range(v)) then
      return M.repr(v)
    end
    local special = M.special(v, "__str__")
    if special then return said_text("__str__", special()) end
    special = M.special(v, "__repr__")
    if special then return said_text("__repr__", special()) end
    if rawget(v, "_boxed") ~= nil then return M.str(v._boxed) end
    if rawget(v, "_native") then return M.repr(v) end
    if M.is_object(v) then return M.object_text(v) end
    if rawget(v, "class") and rawget(v, "message") then return v.message end
    if rawget(v, "said") then return v.said end   -- str() is not repr()
    if type(rawget(v, "shown")) == "string" and not (mt and mt.__tostring) then
      return v.shown
    end
    local text = (mt == func_mt or mt == builtin_mt) and callable_text(v, mt)
      or rawget(v, "_class") and rawget(v._class, "__python")
      and M.object_text(v)
    if text then return text end
    if mt and rawget(mt, "__name") == "module" and v.__name__ then
      return ("<module '%s'>"):format(v.__name__)
    end
    if rawget(v, "__python") then
      return ("<class '%s.%s'>"):format(M.home(v), M.full_name(v))
    elseif (rawget(v, "__base") or rawget(v, "__new"))
           and rawget(v, "__name") then
      return ("<class '%s.%s'>"):format(M.module_of(v), v.__name)
    elseif mt == nil and not v.__name__ then
      return ("<object at %s>"):format(place_of(v))
    end
    if v.__name__ then
      local module = rawget(v, "__module__")
      return ("<class '%s%s'>"):format(module and module .. "." or "",
        rawget(v, "__qualname__") or v.__name__)
    end
  end
  return tostring(v)
end

-- format(v, ""): str(v), but a tensor without dimensions is its number.
function M.formatted(v)
  if util.is_tensor(v) and not util.is_dtensor(v) and #v.shape == 0
     and not tostring(v):find("...", 1, true) then      -- without data
    return M.str(M.from_lua(v:item()))
  end
  return M.str(v)
end

-- bool(v); that of a tensor is said by tensor.lua.
function M.truth(v)
  if v == None or v == false or v == nil or v == 0 or v == "" then
    return false
  end
  if v == true then return true end
  local mt = type(v) == "table" and getmetatable(v)
  if not mt then
    if util.is_tensor(v) then return M.tensor_truth(v) end
    return true
  end
  if not rawget(v, "_class") then
    if mt == list_mt or mt == tuple_mt or mt == dict_mt or mt == set_mt then
      return v.n > 0
    end
    if rawget(v, "absent") then return v.call() end
    if mt.truth then return mt.truth(v) end
    if M.is_view(v) then return v.dict.n > 0 end
  end
  return M.said_truth(v)
end

-- bool(v) of an object, by __bool__ or __len__.
function M.said_truth(v)
  local special = M.special(v, "__bool__")
  if special then
    local said = special()
    if type(said) ~= "boolean" then
      util.raise("TypeError", "__bool__ should return bool, returned %s",
        M.type_name(said))
    end
    return said
  end
  special = M.special(v, "__len__")
  if special then return M.length_of(special()) ~= 0 end
  if rawget(v, "_boxed") ~= nil then return M.truth(v._boxed) end
  if rawget(v, "_native") then return v.n > 0 end
  return true
end

-- What __len__ gave, which has to be a number that counts.
function M.length_of(n)
  n = M.unbox(n)
  local index = math.type(n) ~= "integer" and M.special(n, "__index__")
  if index then n = index() end
  if type(n) == "boolean" then n = n and 1 or 0 end
  if math.type(n) ~= "integer" then
    if big.is(n) then
      util.raise("OverflowError", "cannot fit 'int' into an index-sized "
        .. "integer")
    end
    util.raise("TypeError", "'%s' object cannot be interpreted as an integer",
      M.type_name(n))
  end
  if n < 0 then
    util.raise("ValueError", "__len__() should return >= 0")
  end
  return n
end

-- iter(v): a function that gives true and the next item, or false.
function M.iter(v)
  if M.is_generator(v) then return v.next end
  local special = M.special(v, "__iter__")
  if special then
    local it = special()
    if it ~= v then
      if M.is_generator(it) then return it.next end
      if not M.special(it, "__next__") then
        util.raise("TypeError", "iter() returned non-iterator of type '%s'",
          M.type_name(it))
      end
      v = it
    end
  elseif type(v) == "table" and rawget(v, "_class")
         and v._class.__iter__ == None then
    util.raise("TypeError", "'%s' object is not iterable", M.type_name(v))
  end
  local following = (special or not rawget(type(v) == "table" and v or {},
    "_class")) and M.special(v, "__next__")
  if following then
    local class = rawget(v, "_class")
    local held = class and class.__next__
    return function ()
      if class and not rawequal(class.__next__, held) then
        following, held = M.special(v, "__next__"), class.__next__
        if not following then
          util.raise("TypeError", "'%s' object is not iterable", M.type_name(v))
        end
      end
      local out = table.pack(pcall(following))
      if out[1] then return true, out[2] end
      if M.is_error_below(out[2], "StopIteration") then return false end
      return error(out[2], 0)
    end
  end
  if M.is_dict(v) or M.is_set(v) then return M.walk(v) end
  if M.is_view(v) then return M.view_iter(v) end
  if M.is_range(v) then return M.range_iter(v) end
  v = M.unbox(v)
  if M.is_object(v) and not rawget(v, "_native") then return M.indexed(v) end
  local live = M.is_list(v)             -- a list may grow while it is read
  local items, n = M.items(v)
  local i = 0
  return function ()
    i = i + 1
    if i > (live and v.n or n) then
      live, n = false, 0                -- it is over for good
      return false
    end
    return true, items[i]
  end
end

local MOST <const> = 1 << 25        -- items that are taken from an iterator

local function drained(next)
  local out, n = {}, 0
  while true do
    local more, v = next()
    if not more then return out, n end
    n = n + 1
    out[n] = v
    if n > MOST then util.raise("MemoryError", "") end
  end
end

-- iter(v) of an object that has __getitem__ alone: v[0], v[1], … until an
-- IndexError.
function M.indexed(v)
  local get = M.special(v, "__getitem__")
  if not get then
    util.raise("TypeError", "'%s' object is not iterable", M.type_name(v))
  end
  local i = -1
  return function ()
    if not get then return false end
    i = i + 1
    local ok, x = pcall(get, i)
    if ok then return true, x end
    if M.is_error_below(x, "IndexError") or M.is_error_below(x, "StopIteration")
    then
      get = nil
      return false
    end
    return error(x, 0)
  end
end

-- All items of anything a for goes over, and how many.
function M.items(v)
  local mt = type(v) == "table" and getmetatable(v)
  if (mt == list_mt or mt == tuple_mt) and not rawget(v, "_class") then
    return v, v.n
  end
  if mt == generator_mt or M.is_view(v) or M.special(v, "__iter__")
     or M.special(v, "__next__") then
    return drained(M.iter(v))
  end
  v = M.unbox(v)
  if mt == list_mt or mt == tuple_mt then return v, v.n end
  if mt and mt.items then return mt.items(v) end
  if M.is_object(v) and mt ~= dict_mt and mt ~= set_mt then
    return drained(M.indexed(v))
  end
  local out = {}
  if mt == dict_mt or mt == set_mt then
    for k in M.each(v) do out[#out + 1] = k end
  elseif type(v) == "string" then
    for c in v:gmatch(utf8.charpattern) do out[#out + 1] = c end
  elseif type(v) == "function" then
    for item in v do out[#out + 1] = M.from_lua(item) end
  elseif util.is_tensor(v) then
    if v.ndim == 0 then
      util.raise("TypeError", "iteration over a 0-d tensor")
    end
    for i, item in ipairs {dt.unbind(v, 0)} do
      if type(item) == "table" then return item, #item end
      out[i] = item
    end
  elseif type(v) == "table" and type(v.__items) == "function" then
    return M.items(v.__items())
  elseif type(v) == "table" and rawget(v, "_class")
         and v._class.__members then
    return M.items(M.from_lua(v._class.__members(v)))
  elseif type(v) == "table" and v.children and mt ~= nil then
    local class, held = rawget(v, "_class"), rawget(v, "_modules")
    if class and class.__len and held then    -- each place, not each module
      for i, name in ipairs(held.keys) do out[i] = held.map[name] or None end
    else
      for child in v:children() do out[#out + 1] = child end
    end
  elseif type(v) == "table" and mt == nil then
    for i, item in ipairs(v) do out[i] = M.from_lua(item) end
  else
    util.raise("TypeError", "'%s' object is not iterable", M.type_name(v))
  end
  return out, #out
end

-- -1, 0 or 1: the order of numbers of which one is large.
function M.compare_big(a, b)
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  if math.type(a) == "float" or math.type(b) == "float" then
    if a ~= a or b ~= b then return 2 end
    if a == math.huge or b == -math.huge then return 1 end
    if b == math.huge or a == -math.huge then return -1 end
    if math.type(a) == "float" then return -M.compare_big(b, a) end
    local low = math.floor(b)       -- exactly, not as floats
    local order = big.compare(a, big.of_float(low))
    return order == 0 and low < b and -1 or order
  end
  return big.compare(a, b)
end

local function any_big(a, b)
  return (big.is(a) or big.is(b)) and (big.is(a) or type(a) == "number")
    and (big.is(b) or type(b) == "number")
end

-- a < b for numbers, texts, sequences and objects that say it.
function M.less(a, b)
  local classed = type(a) == "table" and rawget(a, "_class")
    or type(b) == "table" and rawget(b, "_class")
  if classed then
    local said = M.ask(a, b, "__lt__", "__gt__")
    if said ~= nil then return M.truth(said) end
    a, b = M.unbox(a), M.unbox(b)
  end
  if M.is_seq(a) and getmetatable(a) == getmetatable(b) then
    for i = 1, math.min(a.n, b.n) do
      if M.equal(a[i], b[i]) ~= true then return M.less(a[i], b[i]) end
    end
    return a.n < b.n
  end
  local by = type(a) == "table" and type(b) == "table" and rawget(a, "compares")
  if by then return M.less(by(b), 0) end    -- functools.cmp_to_key
  local said = not classed and M.ask(a, b, "__lt__", "__gt__") or nil
  if said ~= nil then return M.truth(said) end
  if any_big(a, b) then return M.compare_big(a, b) == -1 end
  if type(a) == "boolean" then a = a and 1 or 0 end
  if type(b) == "boolean" then b = b and 1 or 0 end
  if util.is_tensor(a) or util.is_tensor(b) then
    return M.truth(util.is_tensor(a) and a:lt(b) or b:gt(a))
  end
  if M.is_bytes(a) and M.is_bytes(b) then return a.s < b.s end
  if type(a) ~= type(b) or (type(a) ~= "number" and type(a) ~= "string") then
    util.raise("TypeError", "'<' not supported between instances of '%s' and "
      .. "'%s'", M.type_name(a), M.type_name(b))
  end
  return a < b
end

-- A sorted list of the items of v; equal ones keep their order.
function M.sorted(v, key, reverse)
  local items, n = M.items(v)
  local out = {}
  for i = 1, n do
    local k = items[i]
    if key and key ~= None then
      k = type(key) == "function" and key(k) or caller(key, M.list({k}, 1))
    end
    out[i] = {k, items[i]}
  end
  local function merge(lo, hi)
    if hi - lo < 1 then return end
    local mid = (lo + hi) // 2
    merge(lo, mid)
    merge(mid + 1, hi)
    local tmp, i, j = {}, lo, mid + 1
    while i <= mid or j <= hi do
      local right = i > mid
      if not right and j <= hi then
        if reverse then right = M.less(out[i][1], out[j][1])
        else right = M.less(out[j][1], out[i][1]) end
      end
      if right then
        tmp[#tmp + 1] = out[j]
        j = j + 1
      else
        tmp[#tmp + 1] = out[i]
        i = i + 1
      end
    end
    table.move(tmp, 1, #tmp, lo, out)
  end
  reverse = reverse and M.truth(reverse)
  merge(1, n)
  for i = 1, n do out[i] = out[i][2] end
  return M.list(out, n)
end

-- The table as a line of a list of variables has it: "list of 2"; true for an
-- object; false for what is no data: a function, class or module.
function M.outline(v)
  if M.is_seq(v) then return M.type_name(v) .. " of " .. v.n end
  if M.is_dict(v) then return "dict of " .. v.n end
  if M.is_set(v) then return "set" end
  if M.is_view(v) then return M.type_name(v) .. " of " .. v.dict.n end
  return rawget(v, "_class") ~= nil
end

function M.type_name(v)
  if v == None then return "NoneType" end
  if type(v) == "boolean" then return "bool" end
  if type(v) == "number" then return math.type(v) == "float" and "float" or "int" end
  if type(v) == "string" then return "str" end
  if v == dt.ellipsis then return "ellipsis" end
  if type(v) == "table" then
    local mt = getmetatable(v)
    if v == M.not_implemented then return "NotImplementedType" end
    if mt == func_mt then return "function" end
    if mt == builtin_mt then
      if M.is_class_builtin(v) then return "type" end
      return rawget(v, "kind_name") or rawget(v, "bound_to") and "method"
        or rawget(v, "of_type") and "method_descriptor"
        or "builtin_function_or_method"
    end
    if rawget(v, "_native") then return v._class.__name end
    if rawget(v, "class") and rawget(v, "message") then return v.class end
    if rawget(v, "data_class") then return v.data_class.full_name end
    if M.is_range(v) then return "range" end
    if mt == set_mt and rawget(v, "frozen") then return "frozenset" end
    if mt == list_mt and rawget(v, "view") then return v.view end
    if mt == list_mt and rawget(v, "deque") then return "collections.deque" end
    if mt == tuple_mt and rawget(v, "called") then return v.called end
    if type(rawget(v, "record")) == "table" then
      return (v.record.structseq and v.record.__module__ .. "." or "")
        .. v.record.__name__
    end
    if mt == list_mt or mt == tuple_mt or mt == dict_mt or mt == set_mt then
      return mt.__name
    end
    if mt == generator_mt then return rawget(v, "iterator") or mt.__name end
    local class = rawget(v, "_class")
    if class then return class.__name end
    if rawget(v, "__python") or rawget(v, "__base") then return "type" end
  end
  return util.type_text(v)
end

-- An object of the library's without signs, a length and items of its own: its
-- metatable says so.
function M.is_opaque(v)
  local mt = type(v) == "table" and getmetatable(v)
  return type(mt) == "table" and rawget(mt, "opaque") == true
end

-- ---- equality and order ----

-- What no tensor can be combined or compared with.
function M.no_operand(v)
  return v == None or type(v) == "string" or M.is_seq(v) or M.is_dict(v)
    or M.is_set(v) or M.is_function(v) or M.is_view(v) or M.is_range(v)
end

-- Are two items of boxes the same or equal, as Python's boxes ask it?
function M.alike(a, b)
  if rawequal(a, b) or util.is_tensor(a) and util.is_tensor(b)
     and a._id == b._id then
    return true
  end
  return M.truth(M.equal(a, b))
end

-- same_order(a, b): do two equal dicts have their keys in the same order?
function M.same_order(a, b)
  local keys, n = {}, 0
  for k in M.each(a) do
    n = n + 1
    keys[n] = k
  end
  local i = 0
  for k in M.each(b) do
    i = i + 1
    if not M.alike(keys[i], k) then return false end
  end
  return true
end

function M.equal(a, b)
  if rawequal(a, b) and not util.is_tensor(a) then return true end
  if any_big(a, b) then return M.compare_big(a, b) == 0 end
  if type(a) == "table" and rawget(a, "_class")
     or type(b) == "table" and rawget(b, "_class") then
    local said = M.ask(a, b, "__eq__", "__eq__")
    if said ~= nil then return said end
    if M.is_boxed(a) or M.is_boxed(b) then
      return M.equal(M.unbox(a), M.unbox(b))
    end
  end
  if M.is_seq(a) and getmetatable(a) == getmetatable(b) then
    if a.n ~= b.n then return false end
    local i = 0
    while i < a.n and i < b.n do    -- an __eq__ may change them
      i = i + 1
      if not M.alike(a[i], b[i]) then return false end
    end
    return a.n == b.n
  end
  if M.is_set_view(a) and M.is_set_view(b) then return M.same_views(a, b) end
  local said = M.ask(a, b, "__eq__", "__eq__")
  if said ~= nil then return said end
  local mt = type(a) == "table" and getmetatable(a)
  if mt and rawget(mt, "equals") and mt == getmetatable(b) then
    return mt.equals(a, b)
  end
  a, b = M.as_set(a), M.as_set(b)
  if (M.is_dict(a) or M.is_set(a)) and getmetatable(a) == getmetatable(b) then
    return M.same_boxes(a, b) and (not (rawget(a, "ordered")
      and rawget(b, "ordered")) or M.same_order(a, b))
  end
  if type(a) == "boolean" and type(b) == "number" then a = a and 1 or 0 end
  if type(b) == "boolean" and type(a) == "number" then b = b and 1 or 0 end
  a, b = M.complex_operands(a, b)
  if M.is_complex(a) or M.is_complex(b) then return M.equal_complex(a, b) end
  if util.is_tensor(a) or util.is_tensor(b) then
    if M.no_operand(a) or M.no_operand(b) then return false end
    return util.is_tensor(a) and a:eq(b) or b:eq(a)
  end
  return a == b
end

function M.contains(box, v)
  local mt = type(box) == "table" and getmetatable(box)
  if (mt == dict_mt or mt == set_mt) and not rawget(box, "_class") then
    if mt == set_mt and M.is_set(v) and not v.frozen
       and not rawget(v, "_class") then
      v = M.frozen_of(v)
    end
    return M.dict_get(box, v) ~= nil
  end
  if mt and rawget(box, "_boxed") ~= nil and not M.special(box,
     "__contains__") then
    box = box._boxed
  end
  if M.is_view(box) then return M.view_contains(box, v) end
  if type(box) == "string" then
    v = M.unbox(v)
    if type(v) ~= "string" then
      util.raise("TypeError", "'in <string>' requires string as left operand, "
        .. "not %s", M.type_name(v))
    end
    return box:find(v, 1, true) ~= nil
  end
  local special = M.special(box, "__contains__")
  if special then return M.truth(special(v)) end
  if mt == dict_mt or mt == set_mt then return M.dict_get(box, v) ~= nil end
  if mt and mt.contains then return mt.contains(box, v) end
  if mt == builtin_mt or mt == func_mt or M.is_complex(box) or big.is(box) then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      M.type_name(box))
  end
  if M.is_object(box) and not rawget(box, "_native") and not M.special(box, "__iter__")
     and not M.special(box, "__getitem__") then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      M.type_name(box))
  end
  if util.is_tensor(box) and (util.is_tensor(v) or type(v) == "number"
     or type(v) == "boolean") then
    return M.truth(M.equal(box, v):any())
  end
  if type(box) == "number" or type(box) == "boolean" or box == None then
    util.raise("TypeError", "argument of type '%s' is not iterable",
      M.type_name(box))
  end
  local items, n = M.items(box)
  for i = 1, n do
    if M.alike(items[i], v) then return true end
  end
  return false
end

-- An integer that stands for v: itself, or what __index__ says; else v.
function M.index_of(v)
  if math.type(v) == "integer" then return v end
  v = M.unbox(v)
  if type(v) == "boolean" then return v and 1 or 0 end
  local own = M.special(v, "__index__")
  if not own then
    local kind = type(v) == "userdata" and foreign.of(v)
    return kind and kind.index and kind.index(v) or v
  end
  local n = own()
  n = M.unbox(n)
  if type(n) == "boolean" then return n and 1 or 0 end
  if math.type(n) ~= "integer" and not big.is(n) then
    util.raise("TypeError", "__index__ returned non-int (type %s)",
      M.type_name(n))
  end
  return n
end

require("python.complex")(M)
require("python.bytes")(M)
require("python.codec")(M)
require("python.dict")(M)
require("python.views")(M)
require("python.range")(M)

return M
