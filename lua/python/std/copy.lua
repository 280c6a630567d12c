-- SPDX-License-Identifier: MIT
-- python/std/copy.lua: the module copy: copies of values, of what is below
-- them too (deepcopy), of objects by their __copy__ and __deepcopy__.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local foreign = require "python.foreign"
local object = require "python.object"
local exceptions = require "python.exceptions"
local classes = require "python.class"

local builtin = V.builtin
local None = dt.None

local function copy_tensor(t)
  if not t.is_leaf then
    util.raise("RuntimeError", "Only Tensors created explicitly by the user "
      .. "(graph leaves) support the deepcopy protocol at the moment.  If you "
      .. "were attempting to deepcopy a module, this may be because of a "
      .. "torch.nn.utils.weight_norm usage, see "
      .. "https://github.com/pytorch/pytorch/pull/103001")
  end
  local out = dt.no_grad(function () return t:detach():clone() end)
  if t.is_parameter then return dt._make_param(out, t.requires_grad) end
  out.requires_grad = t.requires_grad
  return out
end

local deep, check_pickled
local PICKLE <const>, DEPTH <const> = {}, {}      -- keys of deep()'s `seen`
local MOST_DEPTH <const> = 330      -- objects that rebuild one another
local memos = setmetatable({}, {__mode = "k"})    -- by `seen` of deep()

-- A module: its fields, and what is below them; classes stay.
local function copy_table(v, seen)
  local out = setmetatable({}, getmetatable(v))
  seen[v] = out
  for key, item in next, v do
    local class = type(key) == "string" and key:find("^_class")
    if util.is_tensor(item) or type(item) == "table" and rawget(item, "specials") then
      rawset(out, key, deep(item, seen))
    elseif type(item) == "table" and not class then
      rawset(out, key, seen[item] or copy_table(item, seen))
    else
      rawset(out, key, item)
    end
  end
  return out
end

-- What a list or dict is besides its items.
local FACTS = {"deque", "most", "frozen", "factory", "default", "absent_value",
  "shown_as", "data_class", "ordered", "is_size", "record"}

local function like(v, out)
  for _, fact in ipairs(FACTS) do out[fact] = rawget(v, fact) end
  return out
end

-- fill(v, out, f): the items of a list, dict, set or object, each by f, in out.
local function fill(v, out, f)
  if V.is_seq(v) then
    for i = 1, v.n do out[i] = f(v[i]) end
    out.n = v.n
  elseif V.is_set(v) then
    for k in V.each(v) do V.dict_set(out, f(k), true) end
  elseif V.is_dict(v) then
    for k, x in V.each(v) do V.dict_set(out, f(k), f(x)) end
  else
    for _, name in ipairs(rawget(v, "_order")) do
      object.put(out, name, f(v._attrs[name]))
    end
  end
  return out
end

-- An empty value of v's kind, or nil where v is none that holds others.
local function empty(v)
  if V.is_list(v) then return like(v, V.list({}, 0)) end
  if V.is_tuple(v) then return like(v, V.tuple({}, 0)) end
  if V.is_set(v) then return like(v, V.set()) end
  if V.is_dict(v) then return like(v, V.dict()) end
  if V.is_object(v) then return object.bare(v._class) end
end

-- An object of a class below a type of data, as yet without items.
local function empty_native(v)
  local out = rawget(v, "_boxed") ~= nil and object.bare(v._class)
    or assert(empty(v))
  for _, fact in ipairs {"_class", "_native", "_boxed"} do
    rawset(out, fact, rawget(v, fact))
  end
  rawset(out, "_attrs", {})
  rawset(out, "_order", {})
  return out
end

-- A state that __getstate__ or __reduce__ gave becomes that of `out`.
local function set_state(out, state)
  if state == None then return end
  local own = V.special(out, "__setstate__")
  if own then
    own(state)
    return
  end
  local parts = V.is_tuple(state) and state or {state}
  for i = 1, parts.n or 1 do
    if V.is_dict(parts[i]) then
      for name, x in V.each(parts[i]) do object.put(out, name, x) end
    end
  end
end

-- What __reduce_ex__ or __reduce__ of v's class says, or nil.
local function reduced(v)
  local own = V.special(v, "__reduce_ex__")
  if own then return own(4) end
  own = V.special(v, "__reduce__")
  if own then return own() end
  local made = V.is_object(v) and not rawget(v, "_native")
    and (V.special(v, "__getnewargs_ex__") or V.special(v, "__getnewargs__"))
  return made and classes.reduced(v) or nil
end

-- cls.__new__(cls, ...) of the class's own, or an object without its __init__.
local function new_of(class, args, kw)
  local list = V.list({class, table.unpack(args, 1, args.n)}, args.n + 1)
  return V.call(attrs.get(class, "__new__"), list, kw)
end

-- copyreg.__newobj__(cls, ...) and __newobj_ex__(cls, args, kwargs).
local new_object = V.builtin(function (a)
  if a.n == 1 then return object.bare(a[1]) end
  return new_of(a[1], {n = a.n - 1, table.unpack(a, 2, a.n)})
end, "__newobj__")
local new_object_ex = V.builtin(function (a)
  return new_of(a[1], a[2], a[3])
end, "__newobj_ex__")

-- The callable and the arguments that make an object as v, without its state.
local function made_by(v)
  local both = V.special(v, "__getnewargs_ex__")
  if both then
    local said = both()
    return new_object_ex, V.tuple {v._class, said[1], said[2]}
  end
  local some = V.special(v, "__getnewargs__")
  local args = some and some() or {n = 0}
  return new_object, V.tuple({v._class, table.unpack(args, 1, args.n)}, args.n + 1)
end

-- What object.__reduce_ex__(4) says of an object whose class says nothing.
function classes.reduced(v)
  if not V.is_object(v) or rawget(v, "_native") then
    util.refuse("__reduce_ex__ of a value of type %s is not part of dtrepl",
      V.type_name(v))
  end
  local own, state = V.special(v, "__getstate__"), nil
  if own then state = own() else
    state = V.dict()
    for _, name in ipairs(v._order) do V.dict_set(state, name, v._attrs[name]) end
    if state.n == 0 then state = None end
  end
  local f, args = made_by(v)
  return V.tuple({f, args, state, None, None}, 5)
end

-- An object as `said`, a reduced one, builds it: (callable, arguments, state,
-- items, pairs), each part by f; built(out) is told of it before its state.
local function rebuilt(said, f, built)
  local args = f(said[2])
  local out = V.call(said[1], V.list({table.unpack(args, 1, args.n)}, args.n))
  built(out)
  if said[3] ~= nil then set_state(out, f(said[3])) end
  for _, part in ipairs {{4, "append"}, {5, "__setitem__"}} do
    local items, n = said[part[1]], 0
    if items ~= nil and items ~= None then items, n = V.items(items) end
    for i = 1, n do
      local given = part[1] == 4 and V.list({f(items[i])}, 1)
        or V.list {f(items[i][1]), f(items[i][2])}
      V.call(attrs.get(out, part[2]), given)
    end
  end
  return out
end

-- A copy by the methods that v's class has for it, each part by f, or nil.
local function by_protocol(v, f, built)
  local said = reduced(v)
  if type(said) == "string" then return v end
  if said ~= nil then return rebuilt(said, f, built) end
  local own = V.special(v, "__getstate__")
  if not own or not V.is_object(v) or rawget(v, "_native") then return nil end
  local state, out = own(), object.bare(v._class)
  built(out)
  set_state(out, f(state))
  return out
end

local function fill_native(v, out, f)
  if rawget(v, "_boxed") == nil then fill(v, out, f) end
  for _, name in ipairs(rawget(v, "_order")) do
    object.put(out, name, f(v._attrs[name]))
  end
  return out
end

-- What an iterator has still to give stands in Lua's own state.
local function refuse_iterator(v)
  if V.is_generator(v) then
    local name = V.type_name(v)
    if name == "generator" then
      util.raise("TypeError", "cannot pickle 'generator' object")
    end
    util.refuse("a copy of an iterator (%s) is not part "
      .. "of dtrepl", name)
  end
end

-- The dict that __deepcopy__ is given, and what it stands for: by the dict, the
-- copies made so far.
local seen_of = setmetatable({}, {__mode = "k"})
local function memo_of(seen)
  if not memos[seen] then
    memos[seen] = V.dict()
    seen_of[memos[seen]] = seen
  end
  return memos[seen]
end

-- What a program noted in the dict under the identity of v.
local function noted(v, seen)
  local memo = memos[seen]
  return memo and type(v) == "table" and V.dict_get(memo, V.identity(v))
end

-- Members of an Enum are one of a kind.
local function is_enum_member(v)
  local class = type(v) == "table" and rawget(v, "_class")
  return class and rawget(v, "_attrs") ~= nil
    and v._attrs._value_ ~= nil and v._attrs._name_ ~= nil
end

-- Functions and classes are pickled by their names, which a function inside
-- another one does not have.
function check_pickled(v)
  local class = type(v) == "table" and rawget(v, "_class")
  local what = class and rawget(class, "__python") and class
    or (V.is_function(v) or type(v) == "table" and rawget(v, "__python")) and v
  local name = what and (V.is_function(what) and rawget(what, "name")
    or V.full_name(what))
  if type(name) ~= "string" then return end
  if name:find("<locals>", 1, true) then
    util.raise("AttributeError", "Can't pickle local object '%s'", name)
  elseif name:find("<lambda>", 1, true) then
    local e = exceptions.classes.PicklingError.make(V.list {("Can't pickle %s: "
      .. "attribute lookup <lambda> on __main__ failed"):format(V.repr(v))})
    error(e, 0)
  end
end

-- A copy of everything below v; `seen` keeps what is shared shared.
function deep(v, seen)
  if seen[v] ~= nil then return seen[v] end
  local known = noted(v, seen)
  if known then return known end
  refuse_iterator(v)
  local own = seen[PICKLE] == nil and V.special(v, "__deepcopy__")
  if own then
    local memo = memo_of(seen)
    seen[v] = own(memo)
    return seen[v]
  end
  if is_enum_member(v) then return v end
  if util.is_tensor(v) then
    seen[v] = copy_tensor(v)
    return seen[v]
  end
  local other = foreign.of(v)
  if other and other.deepcopy then
    seen[v] = other.deepcopy(v, function (t) return copy_table(t, seen) end)
    return seen[v]
  end
  local function below(x) return deep(x, seen) end
  local out
  if seen[PICKLE] == "written" then check_pickled(v) end
  -- An object that says `rebuilds` holds more than its attributes.
  if seen[PICKLE] ~= "read" or type(v) == "table" and rawget(v, "rebuilds") then
    local depth = (seen[DEPTH] or 0) + 1
    seen[DEPTH] = depth
    if depth > MOST_DEPTH then
      util.raise("RecursionError", "maximum recursion depth exceeded")
    end
    out = by_protocol(v, below, function (made) seen[v] = made end)
    seen[DEPTH] = depth - 1
  end
  if out ~= nil then return out end
  local native = type(v) == "table" and rawget(v, "_native")
  out = native and empty_native(v) or empty(v)
  if not out then return v end
  seen[v] = out
  return (native and fill_native or fill)(v, out, below)
end

local function shallow(v)
  if type(v) == "table" and rawget(v, "copy") and V.is_generator(v) then
    return v.copy()
  end
  refuse_iterator(v)
  local own = V.special(v, "__copy__")
  if own then return own() end
  if is_enum_member(v) then return v end
  local same = by_protocol(v, function (x) return x end, function () end)
  if same ~= nil then return same end
  local other = foreign.of(v)
  if other and other.copy then return other.copy(v) end
  if type(v) == "table" and rawget(v, "_native") then
    return fill_native(v, empty_native(v), function (x) return x end)
  end
  local out = not V.is_tuple(v) and empty(v)
  if not out then return v end
  if V.is_set(v) then V.set_room(out, v.n, v) end     -- its slots are kept
  return fill(v, out, function (x) return x end)
end

attrs.provide("copy", attrs.namespace {
  copy = builtin(function (a) return shallow(a[1]) end, "copy"),
  deepcopy = builtin(function (a)
    return deep(a[1], a[2] and seen_of[a[2]] or {})
  end, "deepcopy"),
})

-- pickled(v), unpickled(copy): a copy as pickle writes and reads it.
-- reduced, rebuilt, set_state, check_pickled, refuse_iterator, is_enum_member: see
-- above.
return {deep = deep, reduced = reduced, rebuilt = rebuilt, set_state = set_state,
  check_pickled = check_pickled, refuse_iterator = refuse_iterator,
  is_enum_member = is_enum_member,
  pickled = function (v) return deep(v, {[PICKLE] = "written"}) end,
  unpickled = function (v) return deep(v, {[PICKLE] = "read"}) end}
