-- SPDX-License-Identifier: MIT
-- python/scope.lua: what is known of names before a program runs: which of
-- them a function binds itself (they are its own from its first line on), and
-- the full name of what is being compiled (Outer.<locals>.inner).

local M = {}

local current                       -- the scope being compiled, or nil

-- ---- the names that a body binds ----

local collect

local function bind_target(t, out)
  if t.kind == "name" then
    out[t.name] = true
  elseif t.items then
    for _, item in ipairs(t.items) do bind_target(item, out) end
  elseif t.kind == "starred" then
    bind_target(t.value, out)
  else
    collect(t, out)
  end
end

local function bind_imports(n, out)
  for _, m in ipairs(n.list) do
    local name = m.as or m.name or m.module and m.module:match("^[^.]+")
    if name then out[name] = true end
  end
end

-- Pattern captures of a case.
local function bind_pattern(p, out)
  if p.capture then out[p.capture] = true end
  if p.rest then out[p.rest] = true end
  for _, part in ipairs(p.parts or {}) do bind_pattern(part, out) end
end

local BINDS = {}                    -- by kind of node; true: go no deeper

function BINDS.assign(n, out)
  for _, t in ipairs(n.targets) do bind_target(t, out) end
end
function BINDS.augment(n, out) bind_target(n.target, out) end
BINDS["for"] = BINDS.augment
function BINDS.del(n, out)
  for _, t in ipairs(n.targets) do bind_target(t, out) end
end
BINDS["with"] = function (n, out)
  for _, item in ipairs(n.items) do
    if item.target then bind_target(item.target, out) end
  end
end
BINDS["try"] = function (n, out)
  for _, h in ipairs(n.handlers) do if h.name then out[h.name] = true end end
end
function BINDS.match(n, out)
  collect(n.value, out)
  for _, c in ipairs(n.cases) do
    bind_pattern(c.pattern, out)
    if c.guard then collect(c.guard, out) end
    for _, inner in ipairs(c.body) do collect(inner, out) end
  end
  return true
end
BINDS.import, BINDS.from = bind_imports, bind_imports
function BINDS.walrus(n, out) out[n.name] = true end
BINDS["def"] = function (n, out)
  out[n.name] = true
  return true
end
BINDS.class = BINDS["def"]
BINDS.lambda = function () return true end
BINDS.global = function (n, out)
  out.elsewhere = out.elsewhere or {}
  for _, name in ipairs(n.names) do out.elsewhere[name] = n.kind end
  return true
end
BINDS.nonlocal = BINDS.global

function collect(n, out)
  local f = n.kind and BINDS[n.kind]
  if f and f(n, out) then return end
  for _, part in pairs(n) do
    if type(part) == "table" then collect(part, out) end
  end
end

-- The set of names that a function of these parameters and body binds.
local function locals_of(params, body)
  local out = {}
  for _, p in ipairs(params) do if p.name then out[p.name] = true end end
  for _, n in ipairs(body) do collect(n, out) end
  local globals = {}
  for name, kind in pairs(out.elsewhere or {}) do
    out[name] = nil
    globals[name] = kind == "global" or nil
  end
  out.elsewhere = nil
  return out, globals
end

-- Calls f(name) for the target of each walrus in a tree, functions left out.
local function each_walrus(n, f)
  if n.kind == "walrus" then f(n.name) end
  if n.kind == "lambda" then return end
  for _, part in pairs(n) do
    if type(part) == "table" then each_walrus(part, f) end
  end
end

-- check_walrus(n, refuse): in a comprehension a walrus must not bind what its fors
-- bind, nor stand in what they go over.
function M.check_walrus(n, refuse)
  local bound = {}
  for _, f in ipairs(n.fors) do
    each_walrus(f.iter, function ()
      refuse("assignment expression cannot be used in a comprehension iterable "
        .. "expression")
    end)
    bind_target(f.target, bound)
  end
  each_walrus(n, function (name)
    if bound[name] then
      refuse(("assignment expression cannot rebind comprehension iteration "
        .. "variable '%s'"):format(name))
    end
  end)
end

local function names_class(n, in_function)
  if n.kind == "name" then
    return in_function and (n.name == "super" or n.name == "__class__")
  end
  if n.kind == "class" then return false end
  in_function = in_function or n.kind == "def" or n.kind == "lambda"
  for _, part in pairs(n) do
    if type(part) == "table" and names_class(part, in_function) then return true end
  end
  return false
end

-- asks_class(body): does a function in the body of a class use super() or
-- __class__?
function M.asks_class(body) return names_class(body, false) end

M.bind_target, M.locals_of, M.each_walrus = bind_target, locals_of, each_walrus

-- ---- scopes ----

-- qualified(name): the full name of what is defined here under that name.
function M.qualified(name)
  return current and current.prefix .. name or name
end

-- inside(kind, name, n, f): what f() gives, compiled inside the function
-- ("def") or class of that name.
function M.inside(kind, name, n, f)
  local outer = current
  local full = M.qualified(name)
  current = {prefix = full .. (kind == "class" and "." or ".<locals>."),
    globals = {}, outer = outer, class = kind == "class"}
  if kind == "def" then
    current.names, current.globals = locals_of(n.params, n.body)
    current.body, current.params = n.body, n.params
    current.async = n.async and true
  end
  local ok, v = pcall(f)
  current = outer
  if not ok then error(v, 0) end
  return v
end

-- Is the name declared global by the function being compiled or, where that
-- does not bind it, by the nearest function around that knows it?
function M.is_global(name)
  local s = current
  while s do
    if s.globals[name] then return true end
    if s.names and s.names[name] then return false end
    s = s.outer
  end
  return false
end

-- Is the name one of a function around the one being compiled?
function M.is_free(name)
  local s = current and current.outer
  while s do
    if s.names and s.names[name] then return true end
    s = s.outer
  end
  return false
end

local function add_free(n, out)
  if n.kind == "name" and not current.names[n.name] and M.is_free(n.name) then
    out[n.name] = true
  end
  for _, part in pairs(n) do
    if type(part) == "table" then add_free(part, out) end
  end
end

-- The set of names that the function being compiled, or one in it, takes from a
-- function around it.
function M.free_names()
  local out = {}
  if current and current.body then add_free(current.body, out) end
  return out
end

-- Is the body of a class being compiled?
function M.in_class() return current ~= nil and current.class end

-- Is a function being compiled, not a class or a module?
function M.in_function() return current ~= nil and current.names ~= nil end

-- Is an async def being compiled?
function M.in_async() return current ~= nil and current.async end

-- The names of the parameters of the function being compiled, or nil.
function M.param_names()
  local list = current and current.params and {}
  for star = 0, list and 2 or -1 do   -- those with stars come last
    for _, p in ipairs(current.params) do
      if p.name and (p.star or 0) == star then list[#list + 1] = p.name end
    end
  end
  return list
end

-- Is the name a parameter of the function being compiled?
function M.is_param(name)
  for _, p in ipairs(current and current.params or {}) do
    if p.name == name then return true end
  end
  return false
end

-- The parameter that takes the first argument of the function being compiled,
-- or nil.
function M.first_param()
  local p = current and current.params and current.params[1]
  return p and not p.star and p.only ~= "keyword" and p.name or nil
end

-- The set of names that the function being compiled binds, or nil.
function M.local_names() return current and current.names end

-- Is the name bound by the function being compiled?
function M.is_local(name)
  return current ~= nil and current.names ~= nil and current.names[name]
    or false
end

return M
