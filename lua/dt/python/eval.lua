-- SPDX-License-Identifier: MIT
-- dt/python/eval.lua: runs the tree of a Python text.  Every node becomes a
-- closure once; expressions return a value, statements a signal ("return",
-- "break", "continue") and a value.  An environment is {vars, up}; names that
-- are nowhere are asked of the table of builtins.
--
-- What Python is not done here: generators that wait (a generator expression
-- is a list), metaclasses, properties.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"
local parser = require "dt.python.parser"

local M = {}
local None = dt.None
local X, S = {}, {}                 -- compilers of expressions, statements

local function compile(n) return X[n.kind](n) end

-- ---- names ----

local function lookup(env, name)
  local e = env
  while e do
    local v = e.vars[name]
    if v ~= nil then return v end
    e = e.up
  end
end

local function assign_name(env, name, v)
  local owner = env.globals and env.globals[name]
  if owner then
    local e = env.up
    while e.up and e.vars[name] == nil do e = e.up end
    e.vars[name] = v
  else
    env.vars[name] = v
  end
end

-- ---- calls ----

local function bind(f, args, kw, vars)
  local at, used = 1, {}
  for _, p in ipairs(f.params) do
    if p.star == 1 then
      if p.name then
        local rest = {}
        while at <= args.n do
          rest[#rest + 1] = args[at]
          at = at + 1
        end
        vars[p.name] = V.tuple(rest)
      end
      at = args.n + 1
    elseif p.star == 2 then
      local rest = V.dict()
      if kw then
        for k, v in V.each(kw) do
          if not used[k] then V.dict_set(rest, k, v) end
        end
      end
      vars[p.name] = rest
    elseif at <= args.n then
      vars[p.name] = args[at]
      used[p.name] = true
      at = at + 1
    else
      local v = kw and V.dict_get(kw, p.name)
      if v == nil then v = p.value end
      if v == nil then
        util.raise("TypeError", "%s() missing 1 required positional argument: "
          .. "'%s'", f.name, p.name)
      end
      used[p.name] = true
      vars[p.name] = v
    end
  end
  if at <= args.n then
    util.raise("TypeError", "%s() takes %d positional argument%s but %d %s "
      .. "given", f.name, #f.params, #f.params == 1 and "" or "s", args.n,
      args.n == 1 and "was" or "were")
  end
end

local function call_python(f, args, kw)
  local env = {vars = {}, up = f.env, globals = nil, first = args[1]}
  bind(f, args, kw, env.vars)
  if f.value then return f.value(env) end
  local signal, v = f.body(env)
  if signal == "return" then return v end
  return None
end

local function call_lua(f, args, kw)
  local list, n = {}, args.n
  for i = 1, n do
    local v = V.to_lua(args[i])
    if v == None then v = nil end
    list[i] = v
  end
  if kw and #kw.keys > 0 then
    local t = {}
    for k, v in V.each(kw) do t[k] = V.to_lua(v) end
    n = n + 1
    list[n] = t
  end
  local out = table.pack(f(table.unpack(list, 1, n)))
  if out.n <= 1 then return V.from_lua(out[1]) end
  for i = 1, out.n do out[i] = V.from_lua(out[i]) end
  return V.tuple(out, out.n)
end

-- Arguments on their way through Lua as they are.
local packed_mt = {}

-- A function of a Python class, as Lua calls it.
local function lua_method(f)
  local plain = V.lua_function(f)
  return function (self, packed, ...)
    if getmetatable(packed) == packed_mt then
      return call_python(f, V.list({self, table.unpack(packed.args, 1,
        packed.args.n)}, packed.args.n + 1), packed.kw)
    end
    return plain(self, packed, ...)
  end
end

-- Call any callable with Python arguments: a list and a dict (or nil).
local function call(f, args, kw)
  local mt = getmetatable(f)
  if type(f) == "table" and rawget(f, "__python") then
    return f(setmetatable({args = args, kw = kw}, packed_mt))
  end
  if mt == V.builtin_mt then return f.call(args, kw) end
  if type(f) == "table" and rawget(f, "__qualname__") and f.new then
    return f.new.call(args, kw)             -- a class made by args.class
  end
  if mt == V.func_mt then return call_python(f, args, kw) end
  if f == None or type(f) == "number" or type(f) == "string" then
    util.raise("TypeError", "'%s' object is not callable", V.type_name(f))
  end
  return call_lua(f, args, kw)
end
M.call = call
V.set_caller(call)

-- ---- attributes ----

local attrs = require "dt.python.attrs"
local getattr, setattr = attrs.get, attrs.set
attrs.set_call(call)
M.getattr = getattr

-- ---- expressions ----

function X.const(n)
  local v = n.value
  return function () return v end
end

local literals = {None = None, True = true, False = false}
function X.literal(n)
  local v = literals[n.name]
  return function () return v end
end

function X.ellipsis() return function () return dt.ellipsis end end

function X.name(n)
  local name = n.name
  return function (env)
    local v = lookup(env, name)
    if v == nil then
      util.raise("NameError", "name '%s' is not defined", name)
    end
    return v
  end
end

function X.attr(n)
  local value, name = compile(n.value), n.name
  return function (env) return getattr(value(env), name) end
end

function X.starred(n) return compile(n.value) end

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
        local all, m = V.items(v)
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

function X.set(n)
  local f = items_of(n)
  return function (env) return V.set((f(env))) end
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
        for k, v in V.each(item.star(env)) do V.dict_set(d, k, v) end
      else
        V.dict_set(d, item.key(env), item.value(env))
      end
    end
    return d
  end
end

local store

-- Run `emit(env)` for each turn of the fors of a comprehension.
local function comprehension(n, emit)
  local fors = {}
  for i, f in ipairs(n.fors) do
    fors[i] = {target = store(f.target), iter = compile(f.iter), ifs = {}}
    for j, c in ipairs(f.ifs) do fors[i].ifs[j] = compile(c) end
  end
  local function turn(env, level, out)
    local f = fors[level]
    if not f then
      emit(env, out)
      return
    end
    local items, count = V.items(f.iter(env))
    for i = 1, count do
      f.target(env, items[i])
      local ok = true
      for _, c in ipairs(f.ifs) do ok = ok and V.truth(c(env)) end
      if ok then turn(env, level + 1, out) end
    end
  end
  return function (env, out)
    turn({vars = {}, up = env, first = env.first}, 1, out)
  end
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
X.generator = X.listcomp

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
    assign_name(env, name, v)
    return v
  end
end

local ops = require "dt.python.ops"

function X.binary(n)
  local a, b, f = compile(n.a), compile(n.b), ops.binary[n.op]
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
  local items = {}
  for i, item in ipairs(n.items) do items[i] = compile(item) end
  local fs = {}
  for i, op in ipairs(n.ops) do fs[i] = ops.compare[op] end
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

function X.fstring(n)
  local parts = {}
  for i, part in ipairs(n.parts) do
    parts[i] = type(part) == "string" and part
      or {f = compile(part.expr), conv = part.conv, fmt = part.fmt}
  end
  return function (env)
    local out = {}
    for i, part in ipairs(parts) do
      if type(part) == "string" then
        out[i] = part
      else
        local v = part.f(env)
        if part.fmt and part.fmt:find("[defg]$") then
          out[i] = ("%" .. part.fmt):format(v)
        else
          out[i] = part.conv == "r" and V.repr(v) or V.str(v)
        end
      end
    end
    return table.concat(out)
  end
end

-- super(): the methods of the base class with this object.
local function super_of(env)
  local class, self = lookup(env, "__class__"), env.first
  local e = env
  while e and self == nil do
    e = e.up
    self = e and e.first
  end
  return attrs.super(class, self)
end

function X.call(n)
  if n.fn.kind == "name" and n.fn.name == "super" and #n.args == 0 then
    return super_of
  end
  local fn, args = compile(n.fn), {}
  for i, a in ipairs(n.args) do
    args[i] = {f = compile(a.value), name = a.name, star = a.star}
  end
  return function (env)
    local f = fn(env)
    local pos, k, kw = {}, 0, nil
    for _, a in ipairs(args) do
      local v = a.f(env)
      if a.star == 1 then
        local all, m = V.items(v)
        for i = 1, m do
          k = k + 1
          pos[k] = all[i]
        end
      elseif a.star == 2 then
        kw = kw or V.dict()
        for key, item in V.each(v) do V.dict_set(kw, key, item) end
      elseif a.name then
        kw = kw or V.dict()
        V.dict_set(kw, a.name, v)
      else
        k = k + 1
        pos[k] = v
      end
    end
    return call(f, V.list(pos, k), kw)
  end
end

local function make_params(n)
  local list = {}
  for i, p in ipairs(n.params) do
    list[i] = {name = p.name, star = p.star,
      default = p.default and compile(p.default)}
  end
  return function (env)
    local out = {}
    for i, p in ipairs(list) do
      out[i] = {name = p.name, star = p.star,
        value = p.default and p.default(env) or nil}
      if p.default and out[i].value == nil then out[i].value = false end
    end
    return out
  end
end

X["lambda"] = function (n)
  local params, value = make_params(n), compile(n.body)
  return function (env)
    return setmetatable({name = "<lambda>", params = params(env),
      value = value, env = env}, V.func_mt)
  end
end

-- ---- assignment ----

-- A function (env, value) that assigns to the target.
function store(t)
  if t.kind == "name" then
    local name = t.name
    return function (env, v) assign_name(env, name, v) end
  elseif t.kind == "attr" then
    local value, name = compile(t.value), t.name
    return function (env, v) setattr(value(env), name, v) end
  elseif t.kind == "item" then
    local value, index = compile(t.value), compile(t.index)
    return function (env, v) ops.setitem(value(env), index(env), v) end
  elseif t.kind == "tuple" or t.kind == "list" then
    local parts, star = {}, nil
    for i, item in ipairs(t.items) do
      parts[i] = store(item.kind == "starred" and item.value or item)
      if item.kind == "starred" then star = i end
    end
    return function (env, v)
      local items, n = V.items(v)
      if not star and n ~= #parts then
        util.raise("ValueError", n < #parts and "not enough values to unpack "
          .. "(expected %d, got %d)" or "too many values to unpack (expected "
          .. "%d, got %d)", #parts, n)
      end
      local at = 1
      for i, part in ipairs(parts) do
        if i == star then
          local rest = {}
          for _ = 1, n - #parts + 1 do
            rest[#rest + 1] = items[at]
            at = at + 1
          end
          part(env, V.list(rest))
        else
          part(env, items[at])
          at = at + 1
        end
      end
    end
  end
  return util.raise("ValueError", "line %d of the Python text: no assignment "
    .. "to a %s", t.line, t.kind)
end

-- ---- statements ----

-- A statement of a file runs in a Lua function whose line is the statement's:
-- what says where something was made, and every breakpoint, finds it there.
local file

local function located(f, line)
  if not file then return f end
  return load(("\n"):rep(line - 1) .. "local f = ... return function (env) "
    .. "local signal, v = f(env) return signal, v end", "@" .. file, "t")(f)
end

local function block(list)
  local fs = {}
  for i, n in ipairs(list) do
    local f = S[n.kind]
    if not f then
      util.raise("ValueError", "line %d of the Python text: %s is not known "
        .. "here", n.line, n.kind)
    end
    fs[i] = located(f(n), n.first or n.line)
  end
  return function (env)
    for i = 1, #fs do
      local signal, v = fs[i](env)
      if signal then return signal, v end
    end
  end
end

S["pass"] = function () return function () end end
S.annotation = S["pass"]
S["break"] = function () return function () return "break" end end
S["continue"] = function () return function () return "continue" end end

function S.expr(n)
  local f = compile(n.value)
  return function (env) f(env) end
end

S["return"] = function (n)
  local f = n.value and compile(n.value)
  return function (env) return "return", f and f(env) or f == nil and None end
end

function S.assign(n)
  local value, targets = compile(n.value), {}
  for i, t in ipairs(n.targets) do targets[i] = store(t) end
  return function (env)
    local v = value(env)
    for _, t in ipairs(targets) do t(env, v) end
  end
end

function S.augment(n)
  local get, set, value = compile(n.target), store(n.target), compile(n.value)
  local f = ops.augmented(n.op)
  return function (env)
    local old = get(env)
    set(env, f(old, value(env)))
  end
end

S["def"] = function (n)
  local params, body = make_params(n), block(n.body)
  local name, decorator = n.name, n.decorator and compile(n.decorator)
  return function (env)
    local f = setmetatable({name = name, params = params(env), body = body,
      env = env}, V.func_mt)
    if decorator then f = call(decorator(env), V.list {f}) end
    assign_name(env, name, f)
  end
end

-- Names assigned or annotated in the body of a class, in order.
local function fields_of(list)
  local out = {}
  for _, n in ipairs(list) do
    local t = n.kind == "assign" and n.targets[1] or n.kind == "annotation"
      and n.value
    if t and t.kind == "name" then out[#out + 1] = t.name end
  end
  return out
end

-- dataclasses.dataclass: the fields are the arguments.
function M.dataclass(class)
  class.__init__ = function (self, packed)
    local args, kw = {n = 0}, nil
    if getmetatable(packed) == packed_mt then
      args, kw = packed.args, packed.kw
    end
    for i, name in ipairs(class.__fields) do
      local v = kw and V.dict_get(kw, name)
      if v == nil and i <= args.n then v = args[i] end
      if v == nil then v = class[name] end
      if v == nil then
        util.raise("TypeError", "__init__() missing 1 required positional "
          .. "argument: '%s'", name)
      end
      self[name] = v
    end
  end
  return class
end

S["class"] = function (n)
  local bases, body = {}, block(n.body)
  local fields, decorator = fields_of(n.body), n.decorator
    and compile(n.decorator)
  for i, b in ipairs(n.bases) do bases[i] = compile(b) end
  return function (env)
    local base = bases[1] and bases[1](env) or nnm.Module
    local class = base:extend(n.name)
    class.__python = true
    local inner = {vars = {__class__ = class}, up = env}
    local members = {vars = {}, up = inner}
    body(members)
    for key, v in pairs(members.vars) do
      class[key] = getmetatable(v) == V.func_mt and lua_method(v) or v
    end
    class.__fields = fields
    assign_name(env, n.name, decorator and call(decorator(env),
      V.list {class}) or class)
  end
end

S["if"] = function (n)
  local cond, body = compile(n.cond), block(n.body)
  local orelse = n.orelse and block(n.orelse)
  return function (env)
    if V.truth(cond(env)) then return body(env) end
    if orelse then return orelse(env) end
  end
end

S["for"] = function (n)
  local set, iter, body = store(n.target), compile(n.iter), block(n.body)
  return function (env)
    local items, count = V.items(iter(env))
    for i = 1, count do
      set(env, items[i])
      local signal, v = body(env)
      if signal == "break" then break end
      if signal == "return" then return signal, v end
    end
  end
end

S["while"] = function (n)
  local cond, body = compile(n.cond), block(n.body)
  return function (env)
    while V.truth(cond(env)) do
      local signal, v = body(env)
      if signal == "break" then break end
      if signal == "return" then return signal, v end
    end
  end
end

S["with"] = function (n)
  local items = {}
  for i, item in ipairs(n.items) do
    items[i] = {f = compile(item.value),
      set = item.target and store(item.target)}
  end
  local body = block(n.body)
  local function run(env, at)
    if not items[at] then return body(env) end
    local scope = items[at].f(env)
    local v = attrs.enter(scope)
    if items[at].set then items[at].set(env, v) end
    local out = table.pack(pcall(run, env, at + 1))
    attrs.leave(scope, not out[1] and out[2] or nil)
    if not out[1] then error(out[2], 0) end
    return out[2], out[3]
  end
  return function (env) return run(env, 1) end
end

local function catches(class, e)
  if class == nil then return true end
  local name = attrs.class_name(class)
  if name == "Exception" or name == "BaseException" then return true end
  return type(e) == "table" and e.class == name
end

S["try"] = function (n)
  local body = block(n.body)
  local final = n.final and block(n.final)
  local orelse = n.orelse and block(n.orelse)
  local handlers = {}
  for i, h in ipairs(n.handlers) do
    handlers[i] = {class = h.class and compile(h.class), name = h.name,
      body = block(h.body)}
  end
  local function guarded(env)
    local out = table.pack(pcall(body, env))
    if out[1] then
      if out[2] == nil and orelse then return orelse(env) end
      return out[2], out[3]
    end
    for _, h in ipairs(handlers) do
      local e = attrs.exception(out[2])
      if catches(h.class and h.class(env), e) then
        if h.name then assign_name(env, h.name, e) end
        return h.body(env)
      end
    end
    return error(out[2], 0)
  end
  if not final then return guarded end
  return function (env)
    local out = table.pack(pcall(guarded, env))
    local signal, v = final(env)
    if signal then return signal, v end
    if not out[1] then error(out[2], 0) end
    return out[2], out[3]
  end
end

S["raise"] = function (n)
  local value = n.value and compile(n.value)
  return function (env)
    error(value and value(env) or lookup(env, "__error__"), 0)
  end
end

S["assert"] = function (n)
  local cond, text = compile(n.cond), n.text and compile(n.text)
  return function (env)
    if not V.truth(cond(env)) then
      util.raise("AssertionError", "%s", text and V.str(text(env)) or "")
    end
  end
end

S["global"] = function (n)
  return function (env)
    env.globals = env.globals or {}
    for _, name in ipairs(n.names) do env.globals[name] = true end
  end
end

S["import"] = function (n)
  return function (env)
    for _, m in ipairs(n.list) do
      local v = attrs.module(m.as and m.module or m.module:match("^[^.]+"))
      assign_name(env, m.as or m.module:match("^[^.]+"), v)
    end
  end
end

S["from"] = function (n)
  return function (env)
    for _, m in ipairs(n.list) do
      assign_name(env, m.as or m.name,
        attrs.member(n.module, m.name))
    end
  end
end

-- ---- programs ----

-- Run a text in an environment {vars = ...}; `name` is that of its file.
function M.run(text, env, name)
  local before = file
  file = name
  local ok, run = pcall(function () return block(parser.parse(text)) end)
  file = before
  if not ok then error(run, 0) end
  return run(env)
end

-- Run a text; returns the value of its last statement where that is an
-- expression, else nil.
function M.last(text, env)
  local list = parser.parse(text)
  local final = list[#list]
  if not final or final.kind ~= "expr" then
    block(list)(env)
    return nil
  end
  list[#list] = nil
  block(list)(env)
  return compile(final.value)(env)
end

-- The value of one expression.
function M.value(text, env)
  return compile(parser.expression(text))(env)
end

return M
