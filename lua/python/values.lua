-- SPDX-License-Identifier: MIT
-- python/values.lua: Python's values in Lua.  Numbers, strings and
-- booleans are Lua's; None is dt.None; lists, tuples, dicts and sets are
-- tables with a metatable of this module.  What belongs to the engine
-- (tensors, meshes, modules, Lua functions) passes as it is; lists and dicts
-- are changed to plain tables on the way into Lua and back on the way out.

local dt = require "dt"
local util = require "dt.util"
local big = require "python.bigint"
local foreign = require "python.foreign"

local M = {}
local None = dt.None

local list_mt, tuple_mt = {__name = "list"}, {__name = "tuple"}
local dict_mt, set_mt = {__name = "dict"}, {__name = "set"}
local func_mt, builtin_mt = {__name = "function"}, {__name = "builtin"}
local generator_mt = {__name = "generator"}
-- The names of Lua's functions; false where one function has several.
M.function_names = setmetatable({}, {__mode = "k"})

-- For the prompt, which would unfold them: a function without its address, which
-- is another on each rank, and what repr() says of the rest (shown.lua).
func_mt.__tostring = function (f)
  return ("<function %s at %s>"):format(rawget(f, "name") or "<lambda>",
    rawget(f, "where") or "?")
end
for _, mt in ipairs {list_mt, tuple_mt, dict_mt, set_mt} do
  mt.__tostring = function (v) return M.repr(v) end
end
M.func_mt, M.builtin_mt, M.dict_mt, M.set_mt = func_mt, builtin_mt, dict_mt,
  set_mt

-- 0 / 0 has the sign that the machine gives it: on x86 it is negative.
M.NAN = math.abs(0 / 0)

M.list_mt, M.tuple_mt, M.generator_mt = list_mt, tuple_mt, generator_mt

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

-- Is it a method of the program's, bound to an object or a class?
function M.is_bound(v)
  return getmetatable(v) == builtin_mt and rawget(v, "bound_to") ~= nil
    and rawget(v, "__func__") ~= nil
end

-- special(v, "__len__") -> a function that calls that method of v's Python
-- class, or nil.
function M.special(v, name)
  if type(v) ~= "table" then return nil end
  if rawget(v, "absent") then return absent_special(v, name) end
  local class = rawget(v, "_class") or rawget(v, "__metaclass")
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

-- The method `name` of v's class that a property or another descriptor gives; of
-- one that says by AttributeError that it has none, one that knows no operand.
local function got_special(v, name)
  local ok, f = pcall(M.special, v, name)
  if ok then return f end
  if not M.is_error_below(f, "AttributeError") then error(f, 0) end
  return function () return M.not_implemented end
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
    local f = class and type(class[name]) == "table" and got_special(v, name)
      or M.special(v, name)
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

local dict_of = setmetatable({}, {__mode = "k"})

--- key_order(table): the keys of the dict that to_lua made `table` of, in the
--- dict's order (as it is now); nil of another table.
function M.key_order(t)
  local d = dict_of[t]
  if not d then return nil end
  local out = {}
  for k in M.each(d) do out[#out + 1] = k end
  return out
end

-- dtypes: what the classes of numbers mean where a type of elements is asked for
-- (bool, int), as torch says.
M.dtypes = {}

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
    dict_of[out] = v
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

-- option(name, v): what was given by that name, for Lua.
function M.option(name, v)
  return name == "dtype" and M.dtypes[v] or M.to_lua(v)
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
  class.maker, class.__slots__ = maker_of(name, names, class.members),
    M.tuple({}, 0)
  class.doc = ("%s(%s%s)"):format(name, table.concat(names, ", "),
    #names == 1 and "," or "")
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
  if name == "__getnewargs__" then
    return M.builtin(function ()
      return M.tuple({table.unpack(v, 1, v.n)}, v.n)
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

-- The error keeps what was to be gone over: who unpacks it has other words.
local function refuse_iteration(v)
  local e = dt.error("TYPE", ("'%s' object is not iterable"):format(M.type_name(v)),
    "TypeError")
  e.reason, e.refused = "not_iterable", v
  error(e, 0)
end

-- Over a deque, which must not change meanwhile.
local function deque_iter(v)
  local i, n, changes = 0, v.n, v.changes
  return function ()
    if i >= n then return false end
    if v.changes ~= changes then
      n = 0
      util.raise("RuntimeError", "deque mutated during iteration")
    end
    i = i + 1
    return true, v[i]
  end
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
    refuse_iteration(v)
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
          refuse_iteration(v)
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
  local given = v
  v = M.unbox(v)
  if M.is_object(v) and not rawget(v, "_native") then return M.indexed(v) end
  local live = M.is_list(v)             -- a list may grow while it is read
  if live and v.deque then return deque_iter(v) end
  local items, n = M.items(v, given)
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
    refuse_iteration(v)
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
function M.items(v, given)
  given = given or v                -- what an error names
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
    if not class or not class.__len or not held then
      return drained(M.indexed(v))    -- a module that holds others is no list
    end
    for i, name in ipairs(held.keys) do out[i] = held.map[name] or None end
  elseif type(v) == "table" and mt == nil and not M.is_type_table(v) then
    for i, item in ipairs(v) do out[i] = M.from_lua(item) end
  else
    refuse_iteration(given)
  end
  return out, #out
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

-- Is it a class that is kept as a table of names: one of the program, of the
-- library, of exceptions?
function M.is_type_table(v)
  return rawget(v, "__python") ~= nil or rawget(v, "__base") ~= nil
    or rawget(v, "test") ~= nil or rawget(v, "make") ~= nil
    and rawget(v, "__name__") ~= nil
end

-- The name that type(v).__name__ has and that errors print.  What a value is marked
-- with comes before its metatable: kinds of data share those.  It must not call
-- into the program, since errors are made of it while one is on its way.
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
    if mt == tuple_mt and rawget(v, "is_size") then return "torch.Size" end
    if mt == list_mt or mt == tuple_mt or mt == dict_mt or mt == set_mt then
      return mt.__name
    end
    if mt == generator_mt then return rawget(v, "iterator") or mt.__name end
    local class = rawget(v, "_class")
    if class then return class.__name end
    if M.is_type_table(v) and (rawget(v, "is_abc")
       or not (mt and mt.shows_itself)) then
      return "type"
    end
  end
  return util.type_text(v)
end

-- An object of the library's without signs, a length and items of its own: its
-- metatable says so.
function M.is_opaque(v)
  local mt = type(v) == "table" and getmetatable(v)
  return type(mt) == "table" and rawget(mt, "opaque") == true
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

require("python.shown")(M)
require("python.order")(M)
require("python.complex")(M)
require("python.bytes")(M)
require("python.codec")(M)
require("python.dict")(M)
require("python.views")(M)
require("python.range")(M)

return M
