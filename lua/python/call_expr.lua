-- SPDX-License-Identifier: MIT
-- python/call_expr.lua: calls and parameters: the expressions of f(…),
-- super(), locals() and lambda.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local env_of = require "python.env"
local scope = require "python.scope"
local calls = require "python.call"
local attrs = require "python.attrs"
local builtin_names = require "python.builtin_names"
local object = require "python.object"
local mapping = require "python.mapping"
local compiling = require "python.compile"
local classes = require "python.class"

local None = dt.None
local call, enter = calls.call, calls.enter
local func_mt, instance_mt, raw_of = V.func_mt, object.instance_mt, V.raw_of
local getattr, quick_method = attrs.get, attrs.quick_method
attrs.set_call(call, calls.is_seen)

local X = compiling.by_kind
local compile = compiling.compile

-- super(): the methods of the base class with this object.
local function super_of()
  local first = scope.first_param()
  return function (env)
    local own = env_of.lookup(env, "super")
    if own ~= builtin_names.super then return call(own, V.list({}, 0)) end
    local class, e = env_of.lookup(env, "__class__"), env
    while e.inner do e = e.up end
    local self
    if first then self = e.vars[first] end
    if class == nil or self == nil then
      util.raise("RuntimeError", not first and "super(): no arguments"
        or self == nil and "super(): arg[0] deleted"
        or "super(): __class__ cell not found")
    end
    return attrs.super(class, self)
  end
end

-- super(C), and what is no super at all.
local function refuse_super(n)
  local count = #n.args
  return function ()
    if count == 1 then
      util.refuse("super() of one argument is not part of "
        .. "dtrepl")
    end
    util.raise("TypeError", "super() expected at most 2 arguments, got %d",
      count)
  end
end

-- locals(), globals(): the names of an environment, by their names.
-- `params`: the names that a function was called with, which come first.
local function dict_of(env, params)
  local d = V.dict()
  for _, name in ipairs(env_of.names(env.vars, params)) do
    if name ~= "__class__" then V.dict_set(d, name, env.vars[name]) end
  end
  return d
end

-- eval and exec in the caller's scope: by name, f(env, args).  eval.lua's.
local texts = {}

-- locals() of a function: its names, and those it takes from functions around
-- it; of a class or module: its names, where changes of the dict are theirs.
local function locals_of()
  local free = scope.in_function() and scope.free_names()
  local params = scope.param_names()
  return function (env)
    while env.inner do env = env.up end
    local d = dict_of(env, params)
    if not free then
      d.changed = function (name, v) env.vars[name] = v end
      return d
    end
    for name in pairs(free) do
      local v = env_of.lookup(env, name)
      if v ~= nil then V.dict_set(d, name, v) end
    end
    return d
  end
end

local names_of = {
  locals = locals_of, vars = locals_of,
  dir = function ()
    local names = locals_of()
    return function (env) return V.sorted(names(env)) end
  end,
  globals = function ()
    return function (env)
      while env.up do env = env.up end
      local d = dict_of(env)
      d.changed = function (name, v) env.vars[name] = v end
      return d
    end
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
  for key, item in mapping.pairs_of(v, function ()
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

-- The __init__ of a class of the program that makes plain objects, where that
-- is a function of the program and nobody watches calls; else nil.
local function plain_init(class)
  if not rawget(class, "__plain") or rawget(class, "__native")
     or rawget(class, "__abstract") or rawget(class, "specials")
     or rawget(class, "__metaclass") or class.__meta
     or class.__new__ ~= nil or calls.is_seen() then
    return nil
  end
  return V.raw(class.__init__)
end

-- Can f, a function of the program, be entered with n arguments by place?
local function fits(f, n)
  local names = not f.generator and f.params.names
  return names and #names == n
end

-- finish(f, self, kind, ...): a call of f with these arguments; kind and self
-- are method_of's.
local function finish(f, self, kind, ...)
  local n = select("#", ...)
  if kind == "python" then
    if fits(f, n + 1) then return enter(f, self, self, ...) end
    return call(f, V.list({self, ...}, n + 1))
  elseif kind then
    return f(self, V.list({...}, n))
  end
  if getmetatable(f) == func_mt then
    if fits(f, n) then return enter(f, (...), ...) end
  elseif type(f) == "table" then
    local init = rawget(f, "__python") and plain_init(f)
    if init and getmetatable(init) == func_mt and fits(init, n + 1) then
      local v = object.bare(f)
      calls.check_init(enter(init, v, v, ...))
      return v
    end
  end
  return call(f, V.list({...}, n))
end

-- method_of(n): a function (env) -> f, self, kind: what is called.  Of
-- self.name(…) the method alone is asked: kind "python", a function of self's
-- class; "data", a method of a type of data, f(self, args); nil: f is called
-- as it is.
local function method_of(fn)
  if fn.kind ~= "attr" then return compile(fn) end
  local value, name = compile(fn.value), fn.name
  return function (env)
    local self = value(env)
    if getmetatable(self) == instance_mt and not classes.watches then
      local f = raw_of[self._class[name]]
      if f and getmetatable(f) == func_mt and self._attrs[name] == nil
         and name ~= "__class__" then
        return f, self, "python"
      end
    end
    local f, kind = quick_method(self, name)
    if f then return f, self, kind end
    return getattr(self, name)
  end
end

-- A call without stars and names.
local function plain_call(n, args)
  local find, count = method_of(n.fn), #args
  local a, b, c = args[1], args[2], args[3]
  if count == 0 then
    return function (env) return finish(find(env)) end
  elseif count == 1 then
    return function (env)
      local f, self, kind = find(env)
      return finish(f, self, kind, (a(env)))
    end
  elseif count == 2 then
    return function (env)
      local f, self, kind = find(env)
      local x = a(env)
      return finish(f, self, kind, x, (b(env)))
    end
  elseif count == 3 then
    return function (env)
      local f, self, kind = find(env)
      local x = a(env)
      local y = b(env)
      return finish(f, self, kind, x, y, (c(env)))
    end
  end
  return function (env)
    local f, self, kind = find(env)
    local values = {}
    for i = 1, count do values[i] = args[i](env) end
    return finish(f, self, kind, table.unpack(values, 1, count))
  end
end

-- A call without stars, with names: of a function of the program, of a method
-- of an object's or of a plain class their parameters are filled at once.
local function named_call(n, args)
  local names, values, count, seen = {}, {}, 0, {}
  for i, a in ipairs(args) do
    if a.star or a.name and seen[a.name] then return nil end
    if a.name then
      names[#names + 1], values[#values + 1], seen[a.name] = a.name, a.f, true
    elseif #names > 0 then
      return nil
    else
      count = i
    end
  end
  local find, many = method_of(n.fn), #names
  return function (env)
    local f, self, kind = find(env)
    local pos, k, given = {}, 0, {}
    local v
    if kind == "python" then
      k = 1
      pos[1] = self
    end
    for i = 1, count do
      k = k + 1
      pos[k] = args[i].f(env)
    end
    for i = 1, many do given[i] = values[i](env) end
    if getmetatable(f) == func_mt then
      local done, said = calls.by_name(f, pos, k, names, given)
      if done then return said end
    elseif not kind and type(f) == "table" and rawget(f, "__python") then
      local init = plain_init(f)
      if init and getmetatable(init) == func_mt then
        v = object.bare(f)
        local done, said = calls.by_name(init, {v, table.unpack(pos, 1, k)},
          k + 1, names, given)
        if done then
          calls.check_init(said)
          return v
        end
      end
    end
    local kw = V.dict()
    for i = 1, many do V.dict_set(kw, names[i], given[i]) end
    if kind == "data" then return f(self, V.list(pos, k), kw) end
    return call(f, V.list(pos, k), kw)
  end
end

-- A call is compiled to the shortest way that its shape allows: super(), names that
-- are read from the frame, functions of a text's pieces, positional arguments
-- alone, plain keywords; the general one at the end serves stars.  Arguments are
-- evaluated from left to right in each, the function before them.
function X.call(n)
  if n.fn.kind == "name" and n.fn.name == "super"
     and not scope.is_local "super" then
    if #n.args == 0 then return super_of() end
    if #n.args ~= 2 then return refuse_super(n) end
    local class, self = compile(n.args[1].value), compile(n.args[2].value)
    return function (env)
      local c, v = class(env), self(env)
      if V.type_name(c) ~= "type" then
        util.raise("TypeError", "super() argument 1 must be a type, not %s",
          V.type_name(c))
      end
      return attrs.super(c, v)
    end
  end
  if n.fn.kind == "name" and #n.args == 0 and names_of[n.fn.name] then
    return names_of[n.fn.name]()
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
  local simple = named_call(n, args)
  if simple then return simple end
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

local MOST_BY_PLACE <const> = 100   -- parameters; Lua takes fewer than 200

-- make_params(n, bound): a function (env) that gives the parameters of the
-- function n; `bound`: the set of names that its body binds, or nil.
local function make_params(n, bound)
  local list, names = {}, {}
  for i, p in ipairs(n.params) do
    names = names and not p.star and p.only ~= "keyword" and names
    if names then names[i] = p.name end
    list[i] = {name = p.name, star = p.star, note = p.note, only = p.only,
      default = p.default and compile(p.default)}
  end
  if names and #names > MOST_BY_PLACE then names = nil end
  if names then names.locals = bound end
  return function (env)
    local out = {names = names or nil}  -- where all are given by place
    for i, p in ipairs(list) do
      out[i] = {name = p.name, star = p.star, note = p.note, only = p.only}
      if p.default then out[i].value = p.default(env) end
    end
    return out
  end
end

-- located(line, f): f in a function of that line (stmt.lua's).
local located
local function set_located(f) located = f end

X["lambda"] = function (n)
  local params, name = make_params(n), scope.qualified("<lambda>")
  local value = scope.inside("def", "<lambda>", {params = n.params,
    body = {n.body}}, function () return compile(n.body) end)
  local at = located(n.first, value)
  return function (env)
    return setmetatable({name = name, plain = "<lambda>", params = params(env),
      value = at, generator = n.generator, source = n,
      env = env.class and env.up or env}, V.func_mt)
  end
end

return {params = make_params, set_located = set_located, texts = texts,
  dict_of = dict_of}
