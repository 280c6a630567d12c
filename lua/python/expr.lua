-- SPDX-License-Identifier: MIT
-- python/expr.lua: expressions become closures f(env) -> value.  Calls are
-- call_expr.lua's, targets target.lua's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local env_of = require "python.env"
local scope = require "python.scope"
local calls = require "python.call"
local format = require "python.format"
local ops = require "python.ops"
local lexer = require "python.lexer"
local later = require "python.later"
local mapping = require "python.mapping"
local target = require "python.target"
local compiling = require "python.compile"
local near = require "python.near"

local None = dt.None
local yield, store = calls.yield, target.store

local X = compiling.by_kind
local compile = compiling.compile

function X.const(n)
  local v = n.value
  return function () return v end
end

function X.bytes(n)
  local v = V.bytes(n.value)
  return function () return v end
end

function X.imaginary(n)
  local v = V.complex(0.0, n.value)
  return function () return v end
end

-- What is read, and refused where the program comes to it.
function X.refused(n)
  return function ()
    util.refuse("line %d of the Python text: %s is not "
      .. "part of dtrepl", n.at, n.what)
  end
end

local literals = {None = None, True = true, False = false}
function X.literal(n)
  local v = literals[n.name]
  return function () return v end
end

function X.ellipsis() return function () return dt.ellipsis end end

-- A name that the function binds itself, but not yet.
local function unbound(name)
  util.raise("UnboundLocalError", "cannot access local variable '%s' where it "
    .. "is not associated with a value", name)
end

-- A name of the function around, but not yet.
local function unbound_free(name)
  util.raise("NameError", "cannot access free variable '%s' where it is not "
    .. "associated with a value in enclosing scope", name)
end

local function undefined(name, env)
  near.raise("NameError", env, name, "name '%s' is not defined", name)
end

local function own_name(name)
  return function (env)
    local v = env.vars[name]
    if v ~= nil then return v end
    local refuse = env.inner and unbound_free or unbound
    while v == nil and env.inner do
      env = env.up
      v = env.vars[name]
    end
    if v == nil then refuse(name) end
    return v
  end
end

local note_value                    -- set by annotations.lua
function calls.set_note_value(f) note_value = f end

-- __annotations__ where it stands: that of the class or module.
local function annotations_of(env)
  while env.up and not env.class do env = env.up end
  local d = rawget(env.vars, "__annotations__")
  if d == nil then
    d = V.dict()
    env.vars.__annotations__ = d
  end
  for _, t in ipairs(env.noted or {}) do
    V.dict_set(d, t.name, note_value(t.note, env))
  end
  env.noted = nil
  return d
end

function X.name(n)
  local name = n.name
  if name == "__annotations__" and not scope.in_function() then
    return annotations_of
  end
  if scope.is_local(name) then return own_name(name) end
  if scope.is_global(name) then
    return function (env)
      while env.up do env = env.up end
      local v = env.vars[name]
      if v == nil then undefined(name, env) end
      return v
    end
  end
  local refuse = scope.is_free(name) and unbound_free or undefined
  return function (env)
    local e = env
    repeat
      local v = e.vars[name]
      if v ~= nil then return v end
      e = e.up
    until not e
    return refuse(name, env)
  end
end
function X.attr(n)
  local value, read = compile(n.value), target.reader_of(n.name)
  return function (env) return read(value(env)) end
end

function X.starred(n) return compile(n.value) end

-- The items of *v in a list, tuple or set.
local function starred_items(v)
  if type(v) == "number" or type(v) == "boolean" or v == None then
    util.raise("TypeError", "Value after * must be an iterable, not %s",
      V.type_name(v))
  end
  return V.items(v)
end

local function items_of(n)
  local list = {}
  for i, item in ipairs(n.items) do
    list[i] = {f = compile(item), star = item.kind == "starred"}
  end
  return function (env)
    local out, k = {}, 0
    for _, item in ipairs(list) do
      local v = item.f(env)
      if item.star then
        local all, m = starred_items(v)
        for i = 1, m do
          k = k + 1
          out[k] = all[i]
        end
      else
        k = k + 1
        out[k] = v
      end
    end
    return out, k
  end
end

function X.tuple(n)
  local f = items_of(n)
  return function (env) return V.tuple(f(env)) end
end

function X.list(n)
  local f = items_of(n)
  return function (env) return V.list(f(env)) end
end

-- Three constants and more are a frozenset once, of which each set is made: so
-- does CPython's compiler, and a set's order tells.
local function is_constant(n)
  return n.kind == "const" or n.kind == "unary" and n.a.kind == "const"
    and math.type(n.a.value) ~= nil
end

function X.set(n)
  local f = items_of(n)
  local constant = #n.items > 2
  for _, item in ipairs(n.items) do constant = constant and is_constant(item) end
  if not constant then return function (env) return V.set((f(env))) end end
  local frozen
  return function (env)
    if not frozen then                -- a code object's constants are put in anew
      frozen = V.set()
      for k in V.each(V.set((f(env)))) do V.dict_set(frozen, k, true) end
    end
    if n.gone_through then return frozen end      -- by a loop, which keeps it
    local out = V.set()
    V.set_room(out, frozen.n, frozen)
    for k in V.each(frozen) do V.dict_set(out, k, true) end
    return out
  end
end

local function refuse_mapping(v)
  util.raise("TypeError", "'%s' object is not a mapping", V.type_name(v))
end

function X.dict(n)
  local list = {}
  for i, item in ipairs(n.items) do
    list[i] = item.star and {star = compile(item.star)}
      or {key = compile(item.key), value = compile(item.value)}
  end
  return function (env)
    local d = V.dict()
    for _, item in ipairs(list) do
      if item.star then
        for k, v in mapping.pairs_of(item.star(env), refuse_mapping) do
          V.dict_set(d, k, v)
        end
      else
        V.dict_set(d, item.key(env), item.value(env))
      end
    end
    return d
  end
end

-- Run `emit(env)` for each turn of the fors of a comprehension.
local function comprehension(n, emit)
  local fors = {}
  if scope.in_class() then
    scope.each_walrus(n, function ()
      lexer.refuse(n.line, "assignment expression within a comprehension cannot be "
        .. "used in a class body")
    end)
  end
  for i, f in ipairs(n.fors) do
    f.iter.gone_through = true
    fors[i] = {target = store(f.target, true), iter = compile(f.iter), ifs = {},
      begin = f.async and later.iter or V.iter}
    if f.async and not scope.in_async() then
      lexer.refuse(n.line, "asynchronous comprehension outside of an asynchronous "
        .. "function")
    end
    for j, c in ipairs(f.ifs) do fors[i].ifs[j] = compile(c) end
  end
  local function turn(env, level, out, first)
    local f = fors[level]
    if not f then
      emit(env, out)
      return
    end
    local next = first or f.begin(f.iter(env))
    while true do
      local more, item = next()
      if not more then break end
      f.target(env, item)
      local ok = true
      for _, c in ipairs(f.ifs) do ok = ok and V.truth(c(env)) end
      if ok then turn(env, level + 1, out) end
    end
  end
  -- What is gone over first is made where the comprehension stands, and at once;
  -- the rest does not see the names of a class around it.
  local outermost, begin = fors[1].iter, fors[1].begin
  return function (env, out, first)
    first = first or begin(outermost(env))
    turn({vars = {}, up = env.class and env.up or env, first = env.first,
      inner = true}, 1, out, first)
  end, function (env) return begin(outermost(env)) end
end

function X.listcomp(n)
  local item = compile(n.item)
  local run = comprehension(n, function (env, out)
    out.n = out.n + 1
    out[out.n] = item(env)
  end)
  return function (env)
    local out = V.list({}, 0)
    run(env, out)
    return out
  end
end

-- A generator expression makes its items one by one.
function X.generator(n)
  local item = compile(n.item)
  local awaits = later.awaits(n)
  local give = awaits and later.give or yield
  local run, begin = comprehension(n, function (env) give(item(env)) end)
  local full = scope.qualified "<genexpr>"
  return function (env)
    local first = begin(env)
    local g = calls.generate(function () run(env, nil, first) end)
    g.full = full
    return awaits and later.generator(g, {plain = "<genexpr>", name = full}) or g
  end
end

X["yield"] = function (n)
  local value = n.value and compile(n.value)
  local give = scope.in_async() and later.give or yield
  return function (env)
    local v = None
    if value then v = value(env) end
    return give(v)
  end
end

function X.await(n)
  local value = compile(n.value)
  if not scope.in_async() then
    lexer.refuse(n.line, scope.in_function() and "'await' outside async function"
      or "'await' outside function")
  end
  return function (env) return later.await(value(env)) end
end

function X.yield_from(n)
  local value = compile(n.value)
  return function (env)
    local v = calls.delegate(value(env))
    return v == nil and None or v
  end
end

function X.setcomp(n)
  local item = compile(n.item)
  local run = comprehension(n, function (env, out)
    V.dict_set(out, item(env), true)
  end)
  return function (env)
    local out = V.set()
    run(env, out)
    return out
  end
end

function X.dictcomp(n)
  local key, value = compile(n.key), compile(n.value)
  local run = comprehension(n, function (env, out)
    V.dict_set(out, key(env), value(env))
  end)
  return function (env)
    local out = V.dict()
    run(env, out)
    return out
  end
end

X["and"] = function (n)
  local a, b = compile(n.a), compile(n.b)
  return function (env)
    local v = a(env)
    if not V.truth(v) then return v end
    return b(env)
  end
end

X["or"] = function (n)
  local a, b = compile(n.a), compile(n.b)
  return function (env)
    local v = a(env)
    if V.truth(v) then return v end
    return b(env)
  end
end

X["not"] = function (n)
  local a = compile(n.a)
  return function (env) return not V.truth(a(env)) end
end

function X.cond(n)
  local c, a, b = compile(n.cond), compile(n.a), compile(n.b)
  return function (env)
    if V.truth(c(env)) then return a(env) end
    return b(env)
  end
end

function X.walrus(n)
  local value, name = compile(n.value), n.name
  return function (env)
    local v = value(env)
    env_of.assign(env, name, v)
    return v
  end
end

function X.binary(n)
  local a, b, f = compile(n.a), compile(n.b), ops.binary[n.op]
  if n.b.kind == "const" then
    local y = n.b.value
    return function (env) return f(a(env), y) end
  end
  return function (env)
    local x = a(env)
    return f(x, b(env))
  end
end

function X.unary(n)
  local a, f = compile(n.a), ops.unary[n.op]
  return function (env) return f(a(env)) end
end

function X.compare(n)
  local items, op = {}, #n.ops == 1 and n.ops[1]
  if op == "in" or op == "not in" then n.items[2].gone_through = true end
  for i, item in ipairs(n.items) do items[i] = compile(item) end
  local fs = {}
  for i, op in ipairs(n.ops) do fs[i] = ops.compare[op] end
  if #fs == 1 then
    local a, b, f = items[1], items[2], fs[1]
    if n.items[2].kind == "const" then
      local y = n.items[2].value
      return function (env) return f(a(env), y) end
    end
    return function (env)
      local left = a(env)
      return f(left, b(env))
    end
  end
  return function (env)
    local left, v = items[1](env), true
    for i, f in ipairs(fs) do
      local right = items[i + 1](env)
      v = f(left, right)
      if i < #fs and not V.truth(v) then return v end
      left = right
    end
    return v
  end
end

function X.slice(n)
  local start = n.start and compile(n.start)
  local stop = n.stop and compile(n.stop)
  local step = n.step and compile(n.step)
  return function (env)
    return ops.slice(start and start(env) or None, stop and stop(env) or None,
      step and step(env) or None)
  end
end

function X.item(n)
  local value, index = compile(n.value), compile(n.index)
  return function (env)
    local v = value(env)
    return ops.getitem(v, index(env))
  end
end

-- The text of the parts of an f-string, or of a spec in one.
local function text_of(list)
  local parts = {}
  for i, part in ipairs(list) do
    parts[i] = type(part) == "string" and part or {f = compile(part.expr),
      conv = part.conv, spec = part.fmt and text_of(part.fmt)}
  end
  return function (env)
    local out = {}
    for i, part in ipairs(parts) do
      out[i] = type(part) == "string" and part
        or format.field(part.f(env), part.conv, part.spec and part.spec(env))
    end
    return table.concat(out)
  end
end

function X.fstring(n) return text_of(n.parts) end

return {compile = compile}
