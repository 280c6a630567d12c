-- SPDX-License-Identifier: MIT
-- python/std/collections.lua: the module collections: its classes of data,
-- which are a dict or a list with facts of their own (boxes.lua), and
-- namedtuple.  A value of one has its class in the field `data_class`; classes
-- of the program below one are made as those below dict (native.lua).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local boxes = require "python.boxes"
local builtins = require "python.builtins"
local builtin_names = require "python.builtin_names"
local constructors = require "python.constructors"
local native = require "python.native"
local keywords = require "python.keywords"
local protect = require "python.protect"
local frames = require "python.std.frames"

local None = dt.None
local builtin = V.builtin
local M = {}                        -- the module's names

local function kwarg(kw, name) return kw and V.dict_get(kw, name) end

-- The name of a value's class, as its repr says it.
local function shown_name(v)
  local class = rawget(v, "_class")
  return class and class.__name or rawget(v, "data_class").__name__
end

-- data(name, above, make, init[, kind]): a class of data: make() gives an empty one,
-- init(v, args, kw) fills it; `above`: the type it derives from, or nil;
-- `kind`: whose signs it has, if not `above`'s.
local function data(name, above, make, init, kind)
  local class
  local function made()
    local v = make()
    v.data_class = class
    return v
  end
  class = builtin(function (a, kw)
    local v = made()
    init(v, a, kw)
    return v
  end, name)
  class.__qualname__, class.__module__, class.is_data = name, "collections",
    name
  class.above = above and builtin_names[above]
  class.full_name = name ~= "Counter" and "collections." .. name or name
  class.test = function (v)
    return type(v) == "table" and (rawget(v, "data_class") == class)
  end
  native.define(name, {make = made, init = init, kind = kind or above,
    above = above, class = class,
    methods = boxes.methods_of(make())})
  class.unbound = function (key) return native.member(name, key) end
  M[name] = class
  return class
end

local update = boxes.methods_of(V.dict()).update

-- ---- dicts ----

data("defaultdict", "dict", function ()
  local d = V.dict()
  d.default = None
  d.shown_as = function (t, text)
    return ("%s(%s, %s)"):format(shown_name(t), V.repr(t.default), text)
  end
  return d
end, function (d, a, kw)
  local make = a[1]
  if make ~= nil and make ~= None then
    if not builtins.names.callable.call(V.list {make}) then
      util.raise("TypeError", "first argument must be callable or None")
    end
    d.default = make
    d.factory = function () return V.call(make, V.list({}, 0)) end
  end
  if a.n > 2 then
    util.raise("TypeError", "dict expected at most 1 argument, got %d", a.n - 1)
  end
  update(d, V.list({a[2]}, a[2] ~= nil and 1 or 0), kw)
end)

data("OrderedDict", "dict", function ()
  local d = V.dict()
  d.ordered = true                     -- torch.serialize writes it so
  d.shown_as = function (t)
    local list = {}
    for k, v in V.each(t) do list[#list + 1] = V.repr(V.tuple {k, v}) end
    local name = shown_name(t)
    return #list == 0 and name .. "()" or name .. "([" .. table.concat(list,
      ", ") .. "])"
  end
  return d
end, function (d, a, kw)
  if a.n > 1 then
    util.raise("TypeError", "expected at most 1 arguments, got %d", a.n)
  end
  update(d, a, kw)
end)

local function counter_text(t)
  local list = {}
  for k, n in V.each(t) do list[#list + 1] = V.tuple {k, n} end
  local sorted, by_count = protect.passing(V.sorted, V.list(list),
    function (p) return p[2] end, true)
  list = sorted and by_count or V.list(list)    -- counts that have no order
  for i = 1, list.n do
    list[i] = V.repr(list[i][1]) .. ": " .. V.repr(list[i][2])
  end
  local name = shown_name(t)
  return list.n == 0 and name .. "()" or name .. "({" .. table.concat(list,
    ", ") .. "})"
end

data("Counter", "dict", function ()
  local d = V.dict()
  d.absent_value, d.shown_as = 0, counter_text
  return d
end, function (d, a, kw)
  if a.n > 1 then
    util.raise("TypeError", "Counter.__init__() takes from 1 to 2 positional "
      .. "arguments but %d were given", a.n + 1)
  end
  if a[1] == None then a = V.list({}, 0) end
  if a[1] ~= nil and V.is_dict(a[1]) then
    update(d, a)
  elseif a[1] ~= nil then
    local next = V.iter(a[1])
    local more, v = next()
    while more do
      V.dict_set(d, v, (V.dict_get(d, v) or 0) + 1)
      more, v = next()
    end
  end
  for k, n in V.each(kw or V.dict()) do V.dict_set(d, k, n) end
end, "Counter")

-- A class method that keys are given.
for name, class in pairs {defaultdict = M.defaultdict,
    OrderedDict = M.OrderedDict} do
  class.fromkeys = builtin(function (a)
    return constructors.fromkeys(class, a)
  end, "fromkeys")
  native.types[name].from_keys = true
end
M.Counter.fromkeys = builtin(function ()
  return util.raise("NotImplementedError", "Counter.fromkeys() is undefined.  "
    .. "Use Counter(iterable) instead.")
end, "fromkeys")

-- ---- deque ----

data("deque", nil, function ()
  local l = V.list({}, 0)
  l.deque = true
  return l
end, function (l, a, kw)
  local most = a[2]
  if most == nil then most = kwarg(kw, "maxlen") end
  if most == nil then most = None end
  most = V.index_of(most)
  if most ~= None and math.type(most) ~= "integer" then
    util.raise("TypeError", "an integer is required")
  elseif most ~= None and most < 0 then
    util.raise("ValueError", "maxlen must be non-negative")
  end
  local items, n = {}, 0
  local given = a[1]
  if given == nil then given = kwarg(kw, "iterable") end
  if given ~= nil then items, n = V.items(given) end
  local first = most ~= None and n > most and n - most + 1 or 1
  for i = 1, l.n do l[i] = nil end
  l.n = n - first + 1
  table.move(items, first, n, 1, l)
  l.most = most ~= None and most or nil
end, "list")

-- ---- namedtuple ----

-- The names of the fields, checked, or with _1, _2, … where they may be.
local function field_names(given, rename)
  local names, seen = {}, {}
  if type(V.unbox(given)) == "string" then
    for word in V.unbox(given):gmatch("[^%s,]+") do names[#names + 1] = word end
  else
    local items, n = V.items(given)
    for i = 1, n do names[i] = V.str(items[i]) end
  end
  for i, name in ipairs(names) do
    local good = name:find("^[%a_\x80-\xff][%w_\x80-\xff]*$") ~= nil
    if rename and (not good or keywords.set[name] or name:sub(1, 1) == "_"
       or seen[name]) then
      names[i] = "_" .. i - 1
    elseif not good then
      util.raise("ValueError", "Type names and field names must be valid "
        .. "identifiers: %s", V.repr(name))
    elseif keywords.set[name] then
      util.raise("ValueError", "Type names and field names cannot be a "
        .. "keyword: %s", V.repr(name))
    elseif name:sub(1, 1) == "_" then
      util.raise("ValueError", "Field names cannot start with an underscore: %s",
        V.repr(name))
    elseif seen[name] then
      util.raise("ValueError", "Encountered duplicate field name: %s",
        V.repr(name))
    end
    seen[names[i]] = true
  end
  return names
end

M.namedtuple = builtin(function (a, kw)
  if a.n > 2 then
    util.raise("TypeError", "namedtuple() takes 2 positional arguments but %d were "
      .. "given", a.n)
  end
  local name = a[1] or kwarg(kw, "typename")
  local names = field_names(a[2] or kwarg(kw, "field_names"),
    V.truth(kwarg(kw, "rename") or false))
  local members, given = {}, kwarg(kw, "defaults")
  if given ~= nil and given ~= None then
    local items, n = V.items(given)
    if n > #names then
      util.raise("TypeError", "Got more default values than field names")
    end
    for i = 1, n do members[names[#names - n + i]] = items[i] end
  end
  local class = V.record(name, names, members)
  local home = kwarg(kw, "module")
  if home == nil or home == None then home = frames.module_name() end
  class.__module__ = home
  return class
end, "namedtuple")

attrs.provide("collections", attrs.namespace(M))

return M
