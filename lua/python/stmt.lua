-- SPDX-License-Identifier: MIT
-- python/stmt.lua: statements become closures f(env) -> signal, value; the
-- signal is nil, "return", "break" or "continue".

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local builtin_names = require "python.builtin_names"
local ops = require "python.ops"
local env_of = require "python.env"
local scope = require "python.scope"
local pattern = require "python.pattern"
local calls = require "python.call"
local absent = require "python.absent"
local attrs = require "python.attrs"
local managers = require "python.managers"
local boxes = require "python.boxes"
local target = require "python.target"
local expr = require "python.expr"
local call_expr = require "python.call_expr"
local metaclass = require "python.metaclass"
local classes = require "python.class"
local exceptions = require "python.exceptions"
local code = require "python.code"
local lexer = require "python.lexer"
local groups = require "python.groups"
local later = require "python.later"
local mapping = require "python.mapping"
local protect = require "python.protect"
local abandoned = require "python.abandoned"

local None = dt.None
local truth = V.truth
local call = calls.call
local compile, store = expr.compile, target.store
local make_params = call_expr.params

local S = {}                        -- compilers by kind of node

-- A statement of a file runs in a Lua function whose line is the statement's:
-- what says where something was made, and every breakpoint, finds it there,
-- and its variables by the name of its parameter (src/bind/pyframe.h).
local file

dt._python_frames(V.outline)

-- Most statements are (f), which gives signal and value.  Three kinds that do
-- one thing with an expression's value are (f, shape[, g]), for speed: "value",
-- f is the expression; "return"; "set", g(env, value); "name", whose name in
-- the function is g.
local SHAPES = {
  statement = "local signal, v = f(ENV) return signal, v",
  value = "f(ENV)",
  ["return"] = "return 'return', (f(ENV))",
  set = "g(ENV, (f(ENV)))",
  name = "ENV.vars[g] = f(ENV)",
}

-- The text of a function (f, g) that makes such a statement; by what its
-- parameter is called a statement of the program's is known.
local function maker_text(shape, parameter)
  return (("function (f, g) return function (ENV) %s end end"):format(
    SHAPES[shape]):gsub("ENV", parameter))
end

local plain = {}                    -- makers without a line, by shape
for shape in pairs(SHAPES) do
  plain[shape] = load("return " .. maker_text(shape, "env"),
    "=[dt:python.stmt]", "t")()
end

local TOGETHER <const> = 256        -- lines whose functions are made at once
local makers                        -- of the file: by shape, line // TOGETHER

local function makers_of(part, shape)
  local text = {("\n"):rep(part * TOGETHER), "return {"}
  for i = 0, TOGETHER - 1 do
    text[#text + 1] = ("[%d] = %s,\n"):format(i, maker_text(shape, "python_scope"))
  end
  text[#text + 1] = "}"
  return load(table.concat(text), "@" .. file, "t")()
end

local function located(line, f, shape, g)
  shape = shape or "statement"
  if not file then
    return shape == "statement" and f or plain[shape](f, g)
  end
  local part = (line - 1) // TOGETHER
  local of_shape = makers[shape] or {}
  makers[shape] = of_shape
  of_shape[part] = of_shape[part] or makers_of(part, shape)
  return of_shape[part][(line - 1) % TOGETHER](f, g)
end
call_expr.set_located(located)

local function block(list)
  local fs = {}
  for i, n in ipairs(list) do
    local f = S[n.kind]
    if not f then
      util.raise("ValueError", "line %d of the Python text: %s is not known "
        .. "here", n.line, n.kind)
    end
    fs[i] = located(n.first or n.line, f(n))
  end
  if #fs == 1 then return fs[1] end
  if #fs == 2 then
    local first, second = fs[1], fs[2]
    return function (env)
      local signal, v = first(env)
      if signal then return signal, v end
      signal, v = second(env)
      return signal, v
    end
  end
  return function (env)
    for i = 1, #fs do
      local signal, v = fs[i](env)
      if signal then return signal, v end
    end
  end
end

S["pass"] = function () return function () end end

-- An annotation of a name of a class or module is kept until it is asked for.
local function note_of(n, target)
  if not n.note or target.kind ~= "name" or scope.in_function() then
    return nil
  end
  local noted = {name = target.name, note = n.note}
  return function (env)
    while env.up and not env.class do env = env.up end
    env.noted = env.noted or {}
    env.noted[#env.noted + 1] = noted
  end
end

function S.annotation(n)
  return note_of(n, n.value) or function () end
end
S["break"] = function () return function () return "break" end end
S["continue"] = function () return function () return "continue" end end

function S.expr(n)
  return compile(n.value), "value"
end

S["return"] = function (n)
  if not n.value then return function () return "return", None end end
  return compile(n.value), "return"
end

-- a, b = x, y: without the tuple; nil where it is no such assignment.
local function pair_of(n)
  local t, v = n.targets[1], n.value
  if #n.targets > 1 or v.kind ~= "tuple" or #v.items ~= 2
     or t.kind ~= "tuple" or #t.items ~= 2 then
    return nil
  end
  for i = 1, 2 do
    if v.items[i].kind == "starred" or t.items[i].kind == "starred" then
      return nil
    end
  end
  local a, b = compile(v.items[1]), compile(v.items[2])
  local first, second = store(t.items[1]), store(t.items[2])
  return function (env)
    local x = a(env)
    local y = b(env)
    first(env, x)
    second(env, y)
  end
end

-- target = value as a shape of located.
local function assignment(t, value, set)
  if t.kind == "name" and scope.is_local(t.name) then
    return value, "name", t.name
  end
  return value, "set", set
end

function S.assign(n)
  local both = pair_of(n)
  if both then return both end
  local value, targets = compile(n.value), {}
  for i, t in ipairs(n.targets) do targets[i] = store(t) end
  if #targets == 1 then
    local set, note = targets[1], note_of(n, n.targets[1])
    if not note then return assignment(n.targets[1], value, set) end
    return function (env)
      set(env, value(env))
      note(env)
    end
  end
  return function (env)
    local v = value(env)
    for _, t in ipairs(targets) do t(env, v) end
  end
end

function S.augment(n)
  local t, value, f = n.target, compile(n.value), ops.augmented(n.op)
  if t.kind ~= "name" then
    return target.changed(t, function (env, old) return f(old, value(env)) end)
  end
  local get, x = compile(t), n.value.kind == "const" and n.value.value
  if x then
    value = function (env) return f(get(env), x) end
  else
    local added = value
    value = function (env)
      local old = get(env)
      return f(old, added(env))
    end
  end
  return assignment(t, value, store(t))
end

-- A function (env, value) that applies the decorators, the last one first.
local function decorators(n)
  local list = {}
  for i, d in ipairs(n.decorators or {}) do list[i] = compile(d) end
  return function (env, v)
    local said = {}
    for i = #list, 1, -1 do said[i] = list[i](env) end  -- asked from the top
    for _, d in ipairs(said) do v = call(d, V.list({v}, 1)) end
    return v
  end
end

-- The text that a body begins with.
local function doc_of(body)
  local first = body[1]
  local v = first and first.kind == "expr" and first.value
  return v and v.kind == "const" and type(v.value) == "string" and v.value
    or nil
end

-- async for and async with stand in an async def.
local function check_async(n, what)
  if n.async and not scope.in_async() then
    lexer.refuse(n.line, ("'async %s' outside async function"):format(what))
  end
end

-- Is there a try or a with in the statements, which a generator may wait in?
local function has_cleanup(list)
  for _, n in ipairs(list) do
    if n.kind == "try" or n.kind == "with" then return true end
    if n.kind ~= "def" and n.kind ~= "class" and (has_cleanup(n.body or {})
       or has_cleanup(n.orelse or {})) then
      return true
    end
    for _, c in ipairs(n.cases or {}) do
      if has_cleanup(c.body) then return true end
    end
  end
  return false
end

S["def"] = function (n)
  local decorate, bound = decorators(n), nil
  local name, generator = n.name, n.generator
  local full = scope.qualified(name)
  local where = file and ("%s:%d"):format(file, n.line)
  local body = scope.inside("def", name, n, function ()
    bound = scope.local_names()
    return block(n.body)
  end)
  local params = make_params(n, bound)
  local async = n.async and (generator and later.generator or later.coroutine)
  generator = generator or n.async and true
  local doc, cleans = doc_of(n.body), generator and has_cleanup(n.body)
  return function (env)
    local f = setmetatable({name = full, plain = name, params = params(env),
      body = body, env = env.class and env.up or env, generator = generator,
      cleans = cleans, note = n.note, doc = doc, where = where, source = n,
      async = async or nil},
      V.func_mt)
    env_of.assign(env, name, decorate(env, f))
  end
end

-- Names assigned or annotated in the body of a class, in order; and those
-- annotated.  `twice`: by names bound again, what each was bound to first (a tree).
local function fields_of(list)
  local all, noted, assigned = {twice = {}}, {notes = {}}, {}
  for _, n in ipairs(list) do
    local t = n.kind == "assign" and n.targets[1] or n.kind == "annotation"
      and n.value
    local bound = n.kind == "assign" and t.name
      or (n.kind == "def" or n.kind == "class") and n.name
    if bound then
      if assigned[bound] then all.twice[bound] = assigned[bound] end
      assigned[bound] = assigned[bound] or n.kind == "assign" and n.value or n
    end
    if t and t.kind == "name" then
      all[#all + 1] = t.name
      if n.note then
        noted[#noted + 1] = t.name
        noted.notes[t.name] = n.note
      end
    end
  end
  return all, noted
end

-- The environment of a class's body, and a function that gives the names of its
-- body in the order in which they were bound: those that it assigns (`fixed`)
-- and data that is bound deeper, in an if or a loop.
local function class_scope(up, fixed)
  local order, known = {}, {}
  for _, name in ipairs(fixed) do known[name] = true end
  local vars = setmetatable({}, {__newindex = function (t, name, v)
    order[#order + 1] = name
    rawset(t, name, v)
  end})
  return {vars = vars, up = up, class = true}, function ()
    setmetatable(vars, nil)
    local out, seen = {twice = fixed.twice}, {}
    for _, name in ipairs(order) do
      local v = vars[name]
      local data = v ~= nil and not V.is_function(v)
        and not (type(v) == "table" and rawget(v, "__python"))
      if (known[name] or data) and not seen[name]
         and not name:find("^__.*__$") then
        out[#out + 1], seen[name] = name, true
      end
    end
    for _, name in ipairs(fixed) do     -- dunders, and what is only annotated
      if not seen[name] then out[#out + 1], seen[name] = name, true end
    end
    return out, order
  end
end

-- A class belongs to the module in which its statement stands, or to the one
-- that its body names.
local function note_home(class, members, env)
  local home = members.__module__ or env_of.lookup(env, "__name__")
  if type(class) ~= "table" or type(home) ~= "string" then return end
  if exceptions.is_class(class) or getmetatable(class) == V.builtin_mt
     and rawget(class, "__module__") == nil then
    class.__module__ = home
  elseif home ~= "__main__" and rawget(class, "__home") == nil then
    rawset(class, "__home", home)
  end
end

S["class"] = function (n)
  local bases, full = {}, scope.qualified(n.name)
  local body = scope.inside("class", n.name, n, function ()
    return block(n.body)
  end)
  local fields, noted = fields_of(n.body)
  local doc = doc_of(n.body)
  local decorate = decorators(n)
  local starred = false
  for i, b in ipairs(n.bases) do
    bases[i] = compile(b)
    starred = starred or b.kind == "starred"
  end
  local above_of = starred and compile {kind = "tuple", items = n.bases}
  local keywords = {}
  for i, k in ipairs(n.keywords) do
    keywords[i] = {k.name or false, compile(k.value)}
  end
  return function (env)
    local above = {}
    if above_of then
      local all = above_of(env)
      above = {table.unpack(all, 1, all.n)}
    else
      for i, b in ipairs(bases) do above[i] = b(env) end
    end
    local inner = {vars = {}, up = env.class and env.up or env}
    local members, names = class_scope(inner, fields)
    members.name = full
    local kw
    for _, k in ipairs(keywords) do
      kw = kw or V.dict()
      local v = k[2](env)
      if k[1] then V.dict_set(kw, k[1], v)
      else for name, x in V.each(v) do V.dict_set(kw, name, x) end end
    end
    local by = metaclass.for_class(above, kw)
    for k, v in V.each(by and metaclass.prepared(by, n.name, above, kw)
                       or V.dict()) do
      members.vars[k] = v
    end
    body(members)
    local bound, all = names()
    local here = {notes = noted.notes, env = members, full = full,
      made = function (class) inner.vars.__class__ = class end,
      table.unpack(noted)}
    local class
    if by then
      here.cell = scope.asks_class(n.body) and code.cell_of(inner, "__class__") or nil
      class = metaclass.from_statement(by, n.name, above, members.vars, here,
        all, kw, env_of.lookup(env, "__name__") or "__main__")
    else
      class = classes.make(n.name, above, members.vars, bound, here, kw)
    end
    note_home(class, members.vars, env)
    if by then metaclass.check_cell(class, here)
    elseif inner.vars.__class__ == nil then inner.vars.__class__ = class end
    local home = env_of.module_name(env)
    if doc and type(class) == "table" and rawget(class, "__python") then
      class.__doc = doc
    elseif doc and type(class) == "table" and rawget(class, "maker") then
      class.doc = doc               -- a NamedTuple's
    end
    if type(class) == "table" and rawget(class, "__python")
       and home ~= "__main__" and rawget(class, "__home") == nil then
      class.__home = home
    end
    env_of.assign(env, n.name, decorate(env, class))
  end
end

S["if"] = function (n)
  local cond, body = compile(n.cond), block(n.body)
  local orelse = n.orelse and block(n.orelse)
  return function (env)
    local said = cond(env)
    if said == true or said and truth(said) then return body(env) end
    if orelse then return orelse(env) end
  end
end

-- A loop over an iterator: f(env, next), each item given to set(env, item).
local function loop(n, set)
  local body, orelse = block(n.body), n.orelse and block(n.orelse)
  return function (env, next)
    while true do
      local more, item = next()
      if not more then break end
      set(env, item)
      local signal, v = body(env)
      if signal == "break" then return nil end
      if signal == "return" then return signal, v end
    end
    if orelse then return orelse(env) end
  end
end

local closing = {__close = function (held)
  boxes.methods_of(held.g).close(held.g)
end}

-- The loop over a call of that name: a generator that the function of this
-- name has just made is nobody else's, and ends with the loop.
local function loop_over_call(n, name)
  local iter = compile(n.iter)
  local turns = loop(n, store(n.target))
  return function (env)
    local g = iter(env)
    local next = V.iter(g)
    local f = V.is_generator(g) and rawget(g, "func")
    if not f or (f.plain or f.name) ~= name then
      return turns(env, next)
    end
    local held <close> = setmetatable({g = g}, closing)
    local signal, v = turns(env, next)
    return signal, v
  end
end

S["for"] = function (n)
  check_async(n, "for")
  if not n.async and n.iter.kind == "call" and n.iter.fn.name then
    return loop_over_call(n, n.iter.fn.name)
  end
  n.iter.gone_through = true          -- a constant set needs no copy
  local iter = compile(n.iter)
  local turns, begin = loop(n, store(n.target)), n.async and later.iter or V.iter
  return function (env) return turns(env, begin(iter(env))) end
end

S["while"] = function (n)
  local cond = compile(n.cond)
  local body, orelse = block(n.body), n.orelse and block(n.orelse)
  return function (env)
    while true do
      local said = cond(env)
      if said ~= true and not (said and truth(said)) then break end
      local signal, v = body(env)
      if signal == "break" then return nil end
      if signal == "return" then return signal, v end
    end
    if orelse then return orelse(env) end
  end
end

S["with"] = function (n)
  check_async(n, "with")
  local items, managers = {}, n.async and later or managers
  for i, item in ipairs(n.items) do
    items[i] = {f = compile(item.value),
      set = item.target and store(item.target)}
  end
  local body = block(n.body)
  local function run(env, at)
    if not items[at] then return body(env) end
    local one = items[at].f(env)
    local v = managers.enter(one)
    if items[at].set then items[at].set(env, v) end
    local guard = managers.catches(one) and protect.catching
      or managers.may_swallow(one) and protect.noting or protect.passing
    local ok, signal, result = guard(run, env, at + 1)
    local swallowed = managers.leave(one, not ok and signal or nil)
    if ok then return signal, result end
    if not swallowed then error(signal, 0) end
  end
  return function (env) return run(env, 1) end
end

local fitting = {compile = compile, assign = env_of.assign,
  is_instance = function (v, class)
    return builtin_names.isinstance.call(V.list({v, class}, 2))
  end,
  abstract = function (name)
    return attrs.get(attrs.module "collections.abc", name)
  end,
  pairs_of = mapping.pairs_of,
  attribute = function (v, name)
    local ok, x = pcall(attrs.get, v, name)
    if ok then return x end
    if not V.is_error_below(x, "AttributeError") then error(x, 0) end
    return nil
  end}

S["match"] = function (n)
  local value, cases = compile(n.value), {}
  for i, c in ipairs(n.cases) do
    cases[i] = {fits = pattern.compile(c.pattern, fitting),
      guard = c.guard and compile(c.guard), body = block(c.body)}
  end
  return function (env)
    local v = value(env)
    for _, c in ipairs(cases) do
      if c.fits(env, v) and (not c.guard or V.truth(c.guard(env))) then
        return c.body(env)
      end
    end
  end
end

local tries = 0                     -- bodies of try that are being compiled

-- Run each except* that fits with its part of the error; what is left of it,
-- and what they raise, goes on.
local function handled_by_part(handlers, env, err)
  local e = exceptions.exception(err)
  local rest, raised = e, {}
  exceptions.trace(e)
  for _, h in ipairs(handlers) do
    if not rest then break end
    local part
    part, rest = groups.part(rest, h.class(env))
    if part then
      if h.name then env_of.assign(env, h.name, part) end
      dt._handled(err)
      local ok, raised_now = exceptions.while_handled(part, h.body, env)
      if h.name then env_of.assign(env, h.name, nil) end
      if not ok then raised[#raised + 1] = raised_now end
    end
  end
  local last = groups.together(raised, rest, e)
  if rawequal(last, e) then error(err, 0) end
  if last then error(last, 0) end
end

S["try"] = function (n)
  tries = tries + 1
  local ok, body = pcall(block, n.body)
  tries = tries - 1
  if not ok then error(body, 0) end
  local final = n.final and block(n.final)
  local orelse = n.orelse and block(n.orelse)
  local handlers = {}
  for i, h in ipairs(n.handlers) do
    handlers[i] = {class = h.class and compile(h.class), name = h.name,
      body = block(h.body)}
  end
  -- Run the first handler that fits; the error is what a bare raise raises.
  local function handled(env, err)
    if n.parts then return handled_by_part(handlers, env, err) end
    local e = exceptions.exception(err)
    for _, h in ipairs(handlers) do
      if h.class == nil or exceptions.catches(h.class(env), e) then
        exceptions.trace(e)
        e.caught_in = env
        if h.name then env_of.assign(env, h.name, e) end
        dt._handled(err)
        local ok, signal, v = exceptions.while_handled(e, h.body, env)
        if h.name then env_of.assign(env, h.name, nil) end
        if not ok then error(signal, 0) end
        return signal, v
      end
    end
    return error(err, 0)
  end
  local guard = #handlers > 0 and protect.catching or protect.passing
  local function guarded(env)
    local ok, signal, v = guard(body, env)
    if not ok then return handled(env, signal) end
    if signal == nil and orelse then return orelse(env) end
    return signal, v
  end
  if not final then return guarded end
  return function (env)
    local ok, signal, v = protect.passing(guarded, env)
    local last, x
    if ok then
      last, x = final(env)
    else
      local ended
      dt._handled(signal)
      ended, last, x = exceptions.while_handled(exceptions.exception(signal),
        final, env)
      if not ended then error(last, 0) end
    end
    if last then return last, x end
    if not ok then error(signal, 0) end
    return signal, v
  end
end

S["raise"] = function (n)
  local value = n.value and compile(n.value)
  local cause = n.cause and compile(n.cause)
  return function (env)
    if not value then
      local e = exceptions.handled[1]
      if not e then
        util.raise("RuntimeError", "No active exception to reraise")
      end
      error(e, 0)
    end
    local err = exceptions.raised(value(env))
    err.frames = nil                  -- it is raised here, now
    groups.anew(err)
    if cause then exceptions.set_cause(err, cause(env)) end
    exceptions.chain(err, exceptions.handled[1])
    error(err, 0)
  end
end

S["assert"] = function (n)
  local cond, text = compile(n.cond), n.text and compile(n.text)
  return function (env)
    if not V.truth(cond(env)) then
      error(exceptions.classes.AssertionError.make(text
        and V.list({text(env)}, 1) or V.list({}, 0)), 0)
    end
  end
end

-- Names that cannot be bound elsewhere.
local function check_elsewhere(n, where)
  for _, name in ipairs(n.names) do
    if where == "nonlocal" and name ~= "__class__" and scope.in_function()
       and not scope.is_free(name) then
      lexer.refuse(n.line, ("no binding for nonlocal '%s' found"):format(name))
    elseif scope.is_param(name) then
      lexer.refuse(n.line, ("name '%s' is parameter and %s"):format(name, where))
    end
  end
end

for _, where in ipairs {"global", "nonlocal"} do
  S[where] = function (n)
    check_elsewhere(n, where)
    return function (env) env_of.elsewhere(env, n.names, where) end
  end
end

-- A function (env) that deletes the target.
local function drop_of(t)
  if t.kind == "item" then
    local value, index = compile(t.value), compile(t.index)
    return function (env) ops.delitem(value(env), index(env)) end
  elseif t.kind == "attr" then
    local value, name = compile(t.value), t.name
    return function (env) attrs.delete(value(env), name) end
  elseif t.kind == "name" then
    local held = compile(t)         -- raises when there is nothing
    return function (env)
      local lost = V.is_generator(held(env)) or abandoned.waits()
      env_of.assign(env, t.name, nil)
      if lost then abandoned.settle() end
    end
  end
  local drops = {}
  for i, item in ipairs(t.items) do drops[i] = drop_of(item) end
  return function (env)
    for _, drop in ipairs(drops) do drop(env) end
  end
end

S["del"] = function (n) return drop_of(n.targets[1]) end

S["import"] = function (n)
  local guarded = tries > 0
  return function (env)
    for _, m in ipairs(n.list) do
      local name = m.as and m.module or m.module:match("^[^.]+")
      attrs.load(m.module)
      env_of.assign(env, m.as or name, absent.import(function ()
        return attrs.module(name)
      end, name, n.line, guarded))
    end
  end
end

-- from torch.nn import *: a module whose names are made when they are asked for
-- has no list of them, so names that are nowhere else are asked of it: an
-- environment's metatable says in `asked` which modules these are.
local function ask_module(env, module)
  while env.up do env = env.up end
  local mt = getmetatable(env.vars)
  if not (mt and mt.asked) then
    util.refuse("from %s import * outside of a program "
      .. "is not part of dtrepl", module)
  end
  table.insert(mt.asked, 1, module)
end

-- The list __all__ of a module, or nil where it has none.
local function exported_names(module, m)
  local vars = type(m) == "table" and m or {}
  local more = attrs.more_names(module)
  return rawget(vars, "__all__") or more and rawget(more, "__all__")
end

local function bind_listed(env, module, list, line)
  local next_name = V.iter(list)
  local more, name = next_name()
  while more do
    local bound = name
    env_of.assign(env, bound, absent.import(function ()
      return attrs.member(module, bound)
    end, module .. "." .. bound, line))
    more, name = next_name()
  end
end

-- from math import *: the names of a module, in their order.
local function all_of(env, module, line)
  local ok, m = pcall(attrs.module, module)
  if not ok and (m.class ~= "ModuleNotFoundError" or m.raised_in) then
    error(m, 0)
  end
  local mt = ok and getmetatable(m)
  if mt and mt.all then m = mt.all()            -- one that fills itself
  elseif not ok and not module:find("^torch%f[.%z]") then
    error(m, 0)
  end
  local list = exported_names(module, m)
  if list then
    return bind_listed(env, module, list, line)
  elseif not ok or mt and mt.__index and not mt.all
    or module:find("^torch%f[.%z]") then
    return ask_module(env, module)
  end
  local names, seen, is_library = {}, {}, absent.is_own(module)
  for _, vars in ipairs {m, attrs.more_names(module) or {}} do
    for name in next, vars do
      if type(name) == "string" and not name:find("^_") and not seen[name]
         and not (is_library and V.type_name(vars[name]) == "module") then
        names[#names + 1], seen[name] = name, vars
      end
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    env_of.assign(env, name, seen[name][name])
  end
end

-- The full name of what an import in `env` names with `level` dots before it.
local function full_name(env, module, level)
  if level == 0 then return module end
  while env.up do env = env.up end
  local package = rawget(env.vars, "__package__")
  if not package or package == "" then
    util.raise("ImportError", "attempted relative import with no known parent "
      .. "package")
  end
  for _ = 2, level do
    package = package:match("^(.*)%.[^.]+$")
    if not package then
      util.raise("ImportError", "attempted relative import beyond top-level "
        .. "package")
    end
  end
  return module == "" and package or package .. "." .. module
end

S["from"] = function (n)
  local guarded = tries > 0
  return function (env)
    local module = full_name(env, n.module, n.level)
    if n.all then all_of(env, module, n.line) end
    for _, m in ipairs(n.list) do
      env_of.assign(env, m.as or m.name, absent.import(function ()
        return attrs.member(module, m.name)
      end, module .. "." .. m.name, n.line, guarded or n.level > 0))
    end
  end
end

-- block(list, name): a list of statements of the file of that name, or nil.
return {block = function (list, name)
  local before, kept = file, makers
  local reading = dt._python_reading(true)
  file, makers = name, {}
  local ok, run = pcall(block, list)
  file, makers = before, kept
  dt._python_reading(reading)
  if not ok then error(run, 0) end
  return function (env)
    if name and not env.scope then            -- a module's own
      env.scope, env.name = name .. ":0", "<module>"
    end
    return run(env)
  end
end}
