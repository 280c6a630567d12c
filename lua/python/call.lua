-- SPDX-License-Identifier: MIT
-- python/call.lua: calls of everything that can be called with Python's
-- arguments (a list and a dict or nil): functions of the program, of its
-- classes, of Lua; and generators, which are coroutines.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local bind = require "python.bind"
local exceptions = require "python.exceptions"
local abandoned = require "python.abandoned"
local protect = require "python.protect"
local foreign = require "python.foreign"
local object = require "python.object"

local M = {}
local None = dt.None

-- ---- generators ----

local THROW = {}                    -- resumes a generator with an error

-- yield v: gives what send() sent.
function M.yield(v)
  local how, err = coroutine.yield(v)
  if how == THROW then error(err, 0) end
  return how == nil and None or how
end

-- What an iterator's own `name` (send, throw) gives: true and a value, or false
-- and what it returned.
local function ask_iterator(it, name, v)
  local f = V.special(it, name)
  if not f then
    if name == "throw" then error(v, 0) end
    util.raise("AttributeError", "'%s' object has no attribute '%s'",
      V.type_name(it), name)
  end
  local ok, x = pcall(f, v)
  if ok then return true, x end
  if not V.is_error_below(x, "StopIteration") then error(x, 0) end
  return false, x.value
end

-- delegate(v): yield from v: what is sent or thrown goes to the inner iterator;
-- gives what that one returned.
function M.delegate(v)
  local it = V.special(v, "__iter__") and V.special(v, "__iter__")() or v
  local inner = V.is_generator(it) and it
  local next = inner and inner.next or V.iter(it)
  local more, x = next()
  while more do
    local how, err = coroutine.yield(x, it)
    if how == THROW then
      if inner and not inner.throw then error(err, 0) end
      if inner then more, x = inner.throw(err)
      else more, x = ask_iterator(it, "throw", err) end
    elseif how == nil or how == None then
      more, x = next()
    elseif inner then
      more, x = inner.next(how)
    else
      more, x = ask_iterator(it, "send", how)
    end
  end
  return x
end

-- What a generator's body raised, as its caller sees it: the end of an
-- iteration would be taken for the generator's own.
local function left_by(err)
  if not exceptions.catches(exceptions.classes.StopIteration, err) then
    return err
  end
  local e = exceptions.classes.RuntimeError.make(
    V.list {"generator raised StopIteration"})
  e.__cause__, e.__context__ = err, err
  return e
end

-- An iterator that runs body(); its throw(err) raises where it waits.
function M.generate(body)
  local co, begun = coroutine.create(body), false
  local own = {}                    -- what it was handling when it yielded
  local waits_for                   -- what it yields from
  local function resume(...)
    local status = coroutine.status(co)
    if status == "dead" then return false end
    if status == "running" or status == "normal" then
      util.raise("ValueError", "generator already executing")
    end
    if not begun and ... ~= nil and ... ~= None and ... ~= THROW then
      util.raise("TypeError", "can't send non-None value to a just-started "
        .. "generator")
    end
    begun = true
    local handled = exceptions.handled
    local outside = #handled
    for i = #own, 1, -1 do table.insert(handled, 1, own[i]) end
    local ok, v, from = coroutine.resume(co, ...)
    waits_for = from
    if #own > 0 or #handled > outside then
      own = table.move(handled, 1, #handled - outside, 1, {})
      for _ = 1, #own do table.remove(handled, 1) end
    end
    if not ok then
      protect.traced(v, co)
      local _, last = coroutine.close(co)       -- ends loops it is in
      error(left_by(last == nil and v or last), 0)
    end
    if coroutine.status(co) == "dead" then return false, v end
    return true, v
  end
  local g = V.generator(resume)
  g.waits_for = function ()
    return coroutine.status(co) == "suspended" and waits_for
  end
  g.has_ended = function () return coroutine.status(co) == "dead" end
  g.state = function ()
    local status = coroutine.status(co)
    return status == "dead" and "GEN_CLOSED" or not begun and "GEN_CREATED"
      or status == "suspended" and "GEN_SUSPENDED" or "GEN_RUNNING"
  end
  g.throw = function (err)
    if coroutine.status(co) == "dead" then error(err, 0) end
    if not begun then                 -- ends before its first line
      co = coroutine.create(function () error(err, 0) end)
    end
    return resume(THROW, err)
  end
  return g
end

-- A generator with a finally or a with: that is run when it is lost.
local function watch(g)
  local next, throw = g.next, g.throw
  abandoned.watch(g, function ()
    local exit = exceptions.classes.GeneratorExit.make(V.list({}, 0))
    local ok, more = pcall(throw, exit)
    if ok and more then
      more = exceptions.classes.RuntimeError.make(
        V.list {"generator ignored GeneratorExit"})
    elseif ok or exceptions.catches(exceptions.classes.GeneratorExit, more)
       or exceptions.catches(exceptions.classes.StopIteration, more) then
      return
    end
    io.stderr:write("Exception ignored in a generator: ",
      exceptions.line(exceptions.exception(more)), "\n")
  end)
  g.next = function (sent)
    local more, v = next(sent)
    if not more then abandoned.forget(g) end
    return more, v
  end
end

-- ---- calls ----

-- A constructor of tables with room for all names of a function, of which the
-- parameters have values.
local MOST_NAMES <const> = 100

local function new_frame(names)
  local given, fields, seen = {}, {}, {}
  for i, name in ipairs(names) do
    given[i], seen[name] = "a" .. i, true
    fields[i] = ("[%q] = a%d"):format(name, i)
  end
  for name in pairs(names.locals or {}) do
    if not seen[name] and #fields < MOST_NAMES then
      fields[#fields + 1] = ("[%q] = nil"):format(name)
    end
  end
  names.frame = load(("return function (%s) return {%s} end"):format(
    table.concat(given, ", "), table.concat(fields, ", ")),
    "=[dt:python.call]", "t")()
  return names.frame
end

-- enter(f, first, ...): call a function of the program that is no generator
-- with a value for each parameter; `first` is the first of them.
function M.enter(f, first, ...)
  local names = f.params.names
  local make = names.frame or new_frame(names)
  local env = {vars = make(...), up = f.env, first = first, scope = f.where,
    name = f.name}
  if f.value then return f.value(env) end
  local signal, v = f.body(env)
  if signal == "return" then return v end
  return None
end

-- The parameters by their names; false: one takes the rest.
local function places_of(params)
  local out = {}
  for _, p in ipairs(params) do
    if p.name and p.star then
      out = false
      break
    elseif p.name then
      out[p.name] = p
    end
  end
  params.places = out
  return out
end

-- filled(f, given, n, names, values): the names of f, a function of the program
-- without stars, called with n arguments by place and, where `names` is a list,
-- with these by name; nil where they do not fit, which bind.lua words.
local function filled(f, given, n, names, values)
  local params, vars = f.params, {}
  local places = params.places
  if places == nil then places = places_of(params) end
  if not places or n > #params then return nil end
  for i = 1, n do
    local p = params[i]
    if p.only == "keyword" or p.star then return nil end
    vars[p.name] = given[i]
  end
  for i = 1, names and #names or 0 do
    local name = names[i]
    local p = places[name]
    if not p or p.only == "positional" or vars[name] ~= nil then return nil end
    vars[name] = values[i]
  end
  for i = n + 1, #params do
    local p = params[i]
    local name = p.name
    if name and vars[name] == nil then
      if p.value == nil then return nil end
      vars[name] = p.value
    end
  end
  return vars
end

-- by_name(f, given, n, names, values): true and the result of such a call of a
-- function of the program; false where it has to be called with call().
function M.by_name(f, given, n, names, values)
  local vars = not f.generator and filled(f, given, n, names, values)
  if not vars then return false end
  local env = {vars = vars, up = f.env, first = given[1], scope = f.where,
    name = f.name}
  if f.value then return true, (f.value(env)) end
  local signal, v = f.body(env)
  if signal == "return" then return true, v end
  return true, None
end

local function call_python(f, args, kw)
  local names = f.params.names
  if names and not kw and args.n == #names and not f.generator then
    return M.enter(f, args[1], table.unpack(args, 1, args.n))
  end
  local vars = not kw and filled(f, args, args.n)
  local env = {vars = vars or {}, up = f.env, first = args[1], scope = f.where,
    name = f.name}
  if not vars then bind(f, args, kw, env.vars) end
  if f.value and not f.generator then return f.value(env) end
  if f.generator then
    local g = M.generate(function ()
      if f.value then return f.value(env) end     -- of a lambda
      local _, v = f.body(env)
      return v
    end)
    g.func = f
    if f.cleans then watch(g) end
    if f.async then return f.async(g, f) end
    return g
  end
  local signal, v = f.body(env)
  if signal == "return" then return v end
  return None
end

-- Classes of the library that take a dict's items in their order.
local ordered = setmetatable({}, {__mode = "k"})
function M.keeps_order(class) ordered[class] = true end

local function pairs_of(d)
  local out = {}
  for k, v in V.each(d) do out[#out + 1] = {k, V.to_lua(v)} end
  return out
end

-- What f gave as its one value; several tensors of an operator are a tuple.
local function result(f, v)
  local out = V.from_lua(v)
  if V.is_list(out) and util.is_tensor(out[1]) and type(f) == "function"
     and foreign.is_operator(f) then
    return V.tuple(out, out.n)
  end
  return out
end

-- Does a class of ours bind its arguments itself (util.bind)?  For such a one
-- None is a value, not the absence of an argument.
local function binds_itself(f)
  local init = type(f) == "table" and f.__init__
  return type(init) == "function" and debug.getinfo(init, "u").isvararg
end

-- Functions of Lua's that take their first arguments by place, while a program
-- may name them: the names, by function.
local placed = setmetatable({}, {__mode = "k"})
function M.name_places(f, names) placed[f] = names end

-- The arguments with those in their places that keywords gave, and the rest.
local function put_in_place(names, args, kw)
  local list, rest = {table.unpack(args, 1, args.n)}, V.dict()
  for k, v in V.each(kw) do V.dict_set(rest, k, v) end
  local n = args.n
  while names[n + 1] and V.dict_get(rest, names[n + 1]) ~= nil do
    n = n + 1
    list[n] = V.dict_get(rest, names[n])
    V.dict_remove(rest, names[n])
  end
  return V.list(list, n), rest
end

-- Functions of Lua's that hand their arguments on to the program and want them
-- as they are: a list stays that list, a dict that dict.
local untouched = setmetatable({}, {__mode = "k"})
function M.leave_arguments(f) untouched[f] = true end

-- A Lua function, with Lua's values.
local function call_lua(f, args, kw)
  if kw and placed[f] then args, kw = put_in_place(placed[f], args, kw) end
  local list, n = {}, args.n
  local in_order = ordered[f]
  local as_they_are = untouched[f]
    or type(f) == "table" and untouched[rawget(f, "_class")]
  local keep_none = as_they_are or binds_itself(f)
  for i = 1, n do
    local v = as_they_are and args[i]
      or in_order and V.is_dict(args[i]) and pairs_of(args[i])
      or V.to_lua(args[i])
    if v == None and not keep_none then v = nil end
    list[i] = v
  end
  if kw and V.count(kw) > 0 then
    local t = {}
    for k, v in V.each(kw) do t[k] = V.option(k, v) end
    n = n + 1
    list[n] = t
  end
  local out = table.pack(f(table.unpack(list, 1, n)))
  if out.n <= 1 then return result(f, out[1]) end
  for i = 1, out.n do out[i] = V.from_lua(out[i]) end
  local class = type(f) == "function" and foreign.result_class(f)
  if class and #class.names == out.n then out.record = class end
  return V.tuple(out, out.n)
end

-- Arguments on their way through Lua as they are.  For Lua code on that way,
-- which wants to look at them: plain() gives them as Lua has them; again(list)
-- what such a list, changed perhaps, says, with what was not changed as it was;
-- results(v) takes apart what the function gave; call(f) is f of them.
local packed_mt = {packed = true}
packed_mt.__index = packed_mt

local function packed(args, kw)
  return setmetatable({args = args, kw = kw}, packed_mt)
end

function packed_mt:plain()
  local list, kw = {n = self.args.n}, self.kw
  for i = 1, list.n do
    local v = V.lend(self.args[i])
    if v ~= None then list[i] = v end
  end
  if kw and V.count(kw) > 0 then
    local t = {}
    for k, v in V.each(kw) do t[k] = V.lend(v) end
    list.n = list.n + 1
    list[list.n] = t
  end
  return list
end

function packed_mt:again(list)
  local n, kw = list.n or #list, nil
  local last = list[n]
  if n > 0 and util.is_kwargs(last) then
    kw, n = V.dict(), n - 1
    for k, v in pairs(last) do V.dict_set(kw, k, V.from_lua(v)) end
  end
  local args = {}
  for i = 1, n do args[i] = V.from_lua(list[i]) end
  return packed(V.list(args, n), kw)
end

function packed_mt:results(v)
  if not V.is_tuple(v) then return {V.lend(v), n = 1} end
  local list = {n = v.n}
  for i = 1, v.n do list[i] = V.lend(v[i]) end
  return list
end

-- contents(v): the same, boxes as Python has them: what is put in their place
-- stands in the program's.
function packed_mt:contents(v)
  if not V.is_tuple(v) then return {v, n = 1} end
  return {n = v.n, table.unpack(v, 1, v.n)}
end

function packed_mt:call(f) return (M.call(f, self.args, self.kw)) end

-- through(f): f as Lua calls it, with Lua's values, perhaps more than once; and
-- what makes of the values that it gave, handed on by Lua, the one of Python's.
function packed_mt:through(f)
  local is_tuple = false
  local function run(...)
    local out = self:again(table.pack(...)):call(f)
    is_tuple = V.is_tuple(out)
    local list = self:results(out)
    return table.unpack(list, 1, list.n)
  end
  V.set_python_of(run, f)
  return run, function (...)
    if not is_tuple then return V.from_lua((...)) end
    local list = table.pack(...)
    for i = 1, list.n do list[i] = V.from_lua(list[i]) end
    return V.tuple(list, list.n)
  end
end

M.packed = packed

-- Objects that are called so: set_passing(f), f(object) gives the function
-- that the call ends in, or nil where it is no such object.
local callee = function () return nil end
function M.set_passing(f) callee = f end
local takes_packed = setmetatable({}, {__mode = "k"})

-- A function of a Python class, as Lua calls it.
function M.lua_method(f)
  local plain = V.lua_function(f)
  local function method(self, ...)
    local given = ...
    if getmetatable(given) == packed_mt then
      return (M.call(f, V.list({self, table.unpack(given.args, 1,
        given.args.n)}, given.args.n + 1), given.kw))
    end
    return plain(self, ...)
  end
  V.set_raw(method, f)
  takes_packed[method] = true
  return method
end

-- A scope used as a decorator (@torch.no_grad()): each call runs in one.
local scopes                        -- managers.lua, a layer above
function M.set_scopes(t) scopes = t end

local function decorated(scope, f)
  local b = V.builtin(function (args, kw)
    scopes.enter(scope)
    local out = table.pack(protect.passing(M.call, f, args, kw))
    scopes.leave(scope, not out[1] and out[2] or nil)
    if not out[1] then error(out[2], 0) end
    return out[2]
  end, rawget(f, "name"))
  b.binds = true                    -- in a class it is a method
  b.__wrapped__ = f
  return b
end

-- A callable set on an object, which is called without the object.
function M.lua_attribute(f)
  local plain = V.lua_function(f)
  local function attribute(_, ...)
    local given = ...
    if getmetatable(given) == packed_mt then
      return (M.call(f, given.args, given.kw))
    end
    return plain(...)
  end
  takes_packed[attribute] = true
  V.set_python_of(attribute, f)
  return attribute
end

-- accept_packed(f): so does this method of Lua's.
function M.accept_packed(f) takes_packed[f] = true end

local classes                       -- class.lua, a layer above
function M.set_classes(t) classes = t end

-- What an __init__ gave must be None.
local function check_init(said)
  if said ~= None then
    util.raise("TypeError", "__init__() should return None, not '%s'",
      V.type_name(said))
  end
end
M.check_init = check_init

-- An instance by the class's own __new__.
local function made(class, new, args, kw)
  local v = M.call(new, V.list({class, table.unpack(args, 1, args.n)},
    args.n + 1), kw)
  local of_class = type(v) == "table" and rawget(v, "_class") == class
  local init = of_class and V.raw(class.__init__)
  if of_class and not init and class.__native then
    classes.native_member(class.__native, "__init__")(v, args, kw)
  end
  if init then
    M.call(init, V.list({v, table.unpack(args, 1, args.n)}, args.n + 1), kw)
  end
  return v
end

-- Who sees the calls of functions of the library first, while there is
-- somebody (vmap.lua): seen(f, args, kw) -> done, value.
local seen
function M.set_seen(f)
  local before = seen
  seen = f
  return before
end

function M.is_seen() return seen ~= nil end

-- Lua's values as the one of Python's.
local function several(out)
  if out.n <= 1 then return V.from_lua(out[1]) end
  for i = 1, out.n do out[i] = V.from_lua(out[i]) end
  return V.tuple(out, out.n)
end

local meta                          -- metaclass.lua, a layer above
function M.set_meta(t) meta = t end

-- instance(class, args, kw): what type.__call__ gives of a class of the
-- program.
local function instance(f, args, kw)
  local own = rawget(f, "specials")
  if own and own.__call_with then return own.__call_with(args, kw) end
  if f.__meta then return meta.make(f, args, kw) end
  if rawget(f, "__abstract") then classes.refuse_abstract(f) end
  local new = f.__new__
  if V.raw(new) or type(new) == "table" and rawget(new, "kind") then
    return made(f, V.raw(new) or new.get, args, kw)
  end
  local init = V.raw(f.__init__)
  if f.__native then
    local v = classes.native_new(f, args, kw)
    if init then
      M.call(init, V.list({v, table.unpack(args, 1, args.n)}, args.n + 1), kw)
    else
      classes.native_member(f.__native, "__init__")(v, args, kw)
    end
    return v
  end
  if init and rawget(f, "__plain") then
    local v = object.bare(f)
    check_init(M.call(init, V.list({v, table.unpack(args, 1, args.n)},
      args.n + 1), kw))
    return v
  end
  if init then return f(packed(args, kw)) end
  if (args.n > 0 or kw and V.count(kw) > 0) and classes.is_plain(f) then
    util.raise("TypeError", "%s() takes no arguments", f.__name)
  end
  return call_lua(f, args, kw)
end
M.instance = instance

-- call_native(f, args, kw): a call of what is called by Lua's rules, whatever
-- __call__ its class has.
function M.call_native(f, args, kw)
  if type(f) == "table" and takes_packed[callee(f)] then
    return several(table.pack(f(packed(args, kw))))
  end
  return call_lua(f, args, kw)
end

-- Call any callable.
function M.call(f, args, kw)
  local mt = getmetatable(f)
  if mt == V.func_mt then return call_python(f, args, kw) end
  if seen then
    local done, v = seen(f, args, kw)
    if done then return v end
  end
  if mt == V.builtin_mt then return f.call(args, kw) end
  if exceptions.is_class(f) then return f.make(args, kw) end
  if type(f) == "table" and rawget(f, "__python") then
    local own = rawget(f, "__metaclass") and V.special(f, "__call__")
    if own then
      return M.call(V.raw(f.__metaclass.__call__), V.list({f,
        table.unpack(args, 1, args.n)}, args.n + 1), kw)
    end
    return instance(f, args, kw)
  end
  local special = V.special(f, "__call__")
  if special then
    local own = V.raw(f._class.__call__)
    if not own then                     -- a static method, a callable object
      local bound, found = classes.get(f, f._class, "__call__")
      local v = M.call(found and bound or f._class.__call__, args, kw)
      return v                          -- no tail call: A.__call__ = A() must end
    end
    return M.call(own, V.list({f, table.unpack(args, 1, args.n)}, args.n + 1),
      kw)
  end
  if f == None or type(f) == "number" or type(f) == "string"
     or type(f) == "boolean" or V.is_seq(f) or V.is_dict(f)
     or type(f) == "userdata" and type(mt) == "table" and not mt.__call then
    util.raise("TypeError", "'%s' object is not callable", V.type_name(f))
  end
  if type(f) == "table" and getmetatable(args[1]) == V.func_mt
     and not (type(mt) == "table" and mt.__call) then
    return decorated(f, args[1])
  end
  if type(f) == "table" and not (type(mt) == "table" and mt.__call) then
    util.raise("TypeError", "'%s' object is not callable", V.type_name(f))
  end
  return M.call_native(f, args, kw)
end
V.set_caller(M.call)

return M
