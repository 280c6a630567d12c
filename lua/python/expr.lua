-- SPDX-License-Identifier: MIT
-- python/expr.lua: expressions become closures f(env) -> value, targets
-- closures f(env, value).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local env_of = require "python.env"
local scope = require "python.scope"
local calls = require "python.call"
local attrs = require "python.attrs"
local format = require "python.format"
local object = require "python.object"

local None = dt.None
local call, yield, enter = calls.call, calls.yield, calls.enter
local func_mt, instance_mt = V.func_mt, object.instance_mt
local getattr, setattr = attrs.get, attrs.set
local quick_method = attrs.quick_method
attrs.set_call(call, calls.is_seen)

local X = {}                        -- compilers by kind of node

local function compile(n) return X[n.kind](n) end

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
    util.raise("NotImplementedError", "line %d of the Python text: %s is not "
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

local function undefined(name)
  util.raise("NameError", "name '%s' is not defined", name)
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
      if v == nil then undefined(name) end
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
    return refuse(name)
  end
end

-- Is the name one that only the object or its class can answer?
local function is_simple(name) return not name:find("^__") end

function X.attr(n)
  local value, name = compile(n.value), n.name
  if not is_simple(name) then
    return function (env) return getattr(value(env), name) end
  end
  return function (env)
    local v = value(env)
    if getmetatable(v) == instance_mt then
      local x = rawget(v, "_attrs")[name]
      if x ~= nil and rawget(v, "_class")[name] == nil then return x end
    end
    return getattr(v, name)
  end
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

-- The pairs of what follows **: a dict's, or those of what has keys();
-- refuse(v) says that it has none.
local function pairs_of_mapping(v, refuse)
  if V.is_dict(v) then return V.each(v) end
  local ok, keys = pcall(attrs.get, v, "keys")
  if not ok then refuse(v) end
  local items, n = V.items(call(keys, V.list({}, 0)))
  local i = 0
  return function ()
    i = i + 1
    if i > n then return nil end
    return items[i], ops.getitem(v, items[i])
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
        for k, v in pairs_of_mapping(item.star(env), refuse_mapping) do
          V.dict_set(d, k, v)
        end
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
    fors[i] = {target = store(f.target, true), iter = compile(f.iter), ifs = {}}
    for j, c in ipairs(f.ifs) do fors[i].ifs[j] = compile(c) end
  end
  local function turn(env, level, out, first)
    local f = fors[level]
    if not f then
      emit(env, out)
      return
    end
    local next = first or V.iter(f.iter(env))
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
  local outermost = fors[1].iter
  return function (env, out, first)
    first = first or V.iter(outermost(env))
    turn({vars = {}, up = env.class and env.up or env, first = env.first,
      inner = true}, 1, out, first)
  end, function (env) return V.iter(outermost(env)) end
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
  local run, begin = comprehension(n, function (env) yield(item(env)) end)
  return function (env)
    local first = begin(env)
    return calls.generate(function () run(env, nil, first) end)
  end
end

X["yield"] = function (n)
  local value = n.value and compile(n.value)
  return function (env) return yield(value and value(env) or None) end
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

local ops = require "python.ops"

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
  if #fs == 1 then
    local a, b, f = items[1], items[2], fs[1]
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

-- super(): the methods of the base class with this object.
local function super_of(env)
  local class, self = env_of.lookup(env, "__class__"), env.first
  local e = env
  while e and self == nil do
    e = e.up
    self = e and e.first
  end
  return attrs.super(class, self)
end

-- locals(), globals(): the names of an environment, by their names.
local function dict_of(env)
  local list, d = {}, V.dict()
  for name in next, env.vars do
    if type(name) == "string" and name ~= "__class__" then
      list[#list + 1] = name
    end
  end
  table.sort(list)
  for _, name in ipairs(list) do V.dict_set(d, name, env.vars[name]) end
  return d
end

-- eval and exec in the caller's scope: by name, f(env, args).  eval.lua's.
local texts = {}

local names_of = {
  locals = function (env)
    while env.inner do env = env.up end
    return dict_of(env)
  end,
  globals = function (env)
    while env.up do env = env.up end
    local d = dict_of(env)
    d.changed = function (name, v) env.vars[name] = v end
    return d
  end,
}

-- What a function is called in the words about its stars.
local function callee_name(f)
  if getmetatable(f) == V.func_mt then return "__main__." .. f.name end
  local ok, name = pcall(attrs.get, f, "__qualname__")
  return ok and type(name) == "string" and name or V.type_name(f)
end

local function refuse_twice(f, name)
  util.raise("TypeError", "%s() got multiple values for keyword argument '%s'",
    callee_name(f), name)
end

-- What **v adds to the keywords of a call of f.
local function add_keywords(kw, v, f)
  for key, item in pairs_of_mapping(v, function ()
    util.raise("TypeError", "%s() argument after ** must be a mapping, not %s",
      callee_name(f), V.type_name(v))
  end) do
    key = V.unbox(key)
    if type(key) ~= "string" then
      util.raise("TypeError", "keywords must be strings")
    end
    if V.dict_get(kw, key) ~= nil then refuse_twice(f, key) end
    V.dict_set(kw, key, item)
  end
end

-- The items of *v in a call of f.
local function rest_items(v, f)
  if type(v) == "number" or type(v) == "boolean" or v == None then
    util.raise("TypeError", "%s() argument after * must be an iterable, not %s",
      callee_name(f), V.type_name(v))
  end
  return V.items(v)
end

-- A call without stars and names: v.name(…) asks for the method alone.
local function plain_call(n, args)
  local fn = n.fn.kind ~= "attr" and compile(n.fn)
  local value, name = n.fn.kind == "attr" and compile(n.fn.value), n.fn.name
  local count = #args
  return function (env)
    local f, self, method
    if fn then
      f = fn(env)
    else
      self = value(env)
      f, method = quick_method(self, name)
      if not f then f = getattr(self, name) end
    end
    local func = method == "python" and f
      or not method and getmetatable(f) == func_mt and f
    local names = func and not func.generator and func.params.names
    if names and #names == (method and count + 1 or count) then
      local vars, shift = {}, 0
      local first = self
      if method then vars[names[1]], shift = self, 1 end
      for i = 1, count do
        local v = args[i](env)
        if i == 1 and not method then first = v end
        vars[names[i + shift]] = v
      end
      return enter(func, vars, first)
    end
    if method == "python" then
      local pos = {self}
      for i = 1, count do pos[i + 1] = args[i](env) end
      return call(f, V.list(pos, count + 1))
    end
    local pos = {}
    for i = 1, count do pos[i] = args[i](env) end
    pos = V.list(pos, count)
    if method then return f(self, pos) end
    return call(f, pos)
  end
end

function X.call(n)
  if n.fn.kind == "name" and n.fn.name == "super" then
    if #n.args == 0 then return super_of end
    local class, self = compile(n.args[1].value), compile(n.args[2].value)
    return function (env) return attrs.super(class(env), self(env)) end
  end
  if n.fn.kind == "name" and #n.args == 0 and names_of[n.fn.name] then
    return names_of[n.fn.name]
  end
  local args = {}
  local text = n.fn.kind == "name" and #n.args > 0 and texts[n.fn.name]
  if text then
    local values = {}
    for i, a in ipairs(n.args) do values[i] = compile(a.value) end
    return function (env)
      local list = {}
      for i, f in ipairs(values) do list[i] = f(env) end
      return text(env, list)
    end
  end
  local double, plain = false, {}   -- stands a ** there?
  for i, a in ipairs(n.args) do
    args[i] = {f = compile(a.value), name = a.name, star = a.star}
    double = double or a.star == 2
    plain = plain and not a.name and not a.star and plain
    if plain then plain[i] = args[i].f end
  end
  if plain then return plain_call(n, plain) end
  local fn = compile(n.fn)
  return function (env)
    local f = fn(env)
    local pos, k, kw = {}, 0, nil
    for _, a in ipairs(args) do
      local v = a.f(env)
      if a.star == 1 then
        local all, m = rest_items(v, f)
        for i = 1, m do
          k = k + 1
          pos[k] = all[i]
        end
      elseif a.star == 2 then
        kw = kw or V.dict()
        add_keywords(kw, v, f)
      elseif a.name then
        kw = kw or V.dict()
        if double and V.dict_get(kw, a.name) ~= nil then
          refuse_twice(f, a.name)
        end
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
  local list, names = {}, {}
  for i, p in ipairs(n.params) do
    names = names and not p.star and p.only ~= "keyword" and names
    if names then names[i] = p.name end
    list[i] = {name = p.name, star = p.star, note = p.note, only = p.only,
      default = p.default and compile(p.default)}
  end
  return function (env)
    local out = {names = names or nil}  -- where all are given by place
    for i, p in ipairs(list) do
      out[i] = {name = p.name, star = p.star, note = p.note, only = p.only}
      if p.default then out[i].value = p.default(env) end
    end
    return out
  end
end

-- located(f, line): f in a function of that line (stmt.lua's).
local located
local function set_located(f) located = f end

X["lambda"] = function (n)
  local params, name = make_params(n), scope.qualified("<lambda>")
  local value = scope.inside("def", "<lambda>", {params = n.params,
    body = {n.body}}, function () return compile(n.body) end)
  local at = located(value, n.first)
  return function (env)
    return setmetatable({name = name, plain = "<lambda>", params = params(env),
      value = at, generator = n.generator, env = env.class and env.up or env}, V.func_mt)
  end
end

-- ---- assignment ----

-- The items of what is unpacked.
local function unpacked(v)
  if V.is_seq(v) then return V.items(v) end
  if type(v) == "number" or type(v) == "boolean" or v == None
     or V.is_object(v) and not rawget(v, "_native")
     and not V.special(v, "__iter__") and not V.special(v, "__getitem__") then
    util.raise("TypeError", "cannot unpack non-iterable %s object",
      V.type_name(v))
  end
  return V.items(v)
end

-- A function (env, value) that assigns to the target; `here`: names are
-- those of this very environment, a comprehension's.
function store(t, here)
  if t.kind == "name" then
    local name = t.name
    if here then return function (env, v) env.vars[name] = v end end
    if scope.is_local(name) then
      return function (env, v)
        if env.inner then env_of.assign(env, name, v) else env.vars[name] = v end
      end
    end
    return function (env, v) env_of.assign(env, name, v) end
  elseif t.kind == "attr" then
    local value, name = compile(t.value), t.name
    if not is_simple(name) then
      return function (env, v) setattr(value(env), name, v) end
    end
    return function (env, v)
      local to = value(env)
      if getmetatable(to) == instance_mt and rawget(to, "_attrs")[name] ~= nil
      then
        local class = rawget(to, "_class")
        if class[name] == nil and class.__setattr__ == nil then
          rawget(to, "_attrs")[name] = v
          return
        end
      end
      setattr(to, name, v)
    end
  elseif t.kind == "item" then
    local value, index = compile(t.value), compile(t.index)
    return function (env, v) ops.setitem(value(env), index(env), v) end
  elseif t.kind == "tuple" or t.kind == "list" then
    local parts, star = {}, nil
    for i, item in ipairs(t.items) do
      parts[i] = store(item.kind == "starred" and item.value or item, here)
      if item.kind == "starred" then star = i end
    end
    return function (env, v)
      local items, n = unpacked(v)
      if not star and n ~= #parts then
        util.raise("ValueError", n < #parts and "not enough values to unpack "
          .. "(expected %d, got %d)" or "too many values to unpack (expected "
          .. "%d)", #parts, n)
      elseif star and n < #parts - 1 then
        util.raise("ValueError", "not enough values to unpack (expected at "
          .. "least %d, got %d)", #parts - 1, n)
      end
      if not star then
        for i = 1, n do parts[i](env, items[i]) end
        return
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

return {compile = compile, store = store, params = make_params,
  set_located = set_located,
  texts = texts, dict_of = dict_of}
