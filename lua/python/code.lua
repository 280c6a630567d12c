-- SPDX-License-Identifier: MIT
-- python/code.lua: f.__code__ and f.__closure__ of a function of the program:
-- its parameters, where it stands, and the names it takes from functions around
-- it, with what they hold.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local env_of = require "python.env"
local free = require "python.free"
local scope = require "python.scope"
local sources = require "python.sources"

-- The environment of a function around f that holds the name, or nil.
local function holder(f, name)
  local env = f.env
  while env and env.up do
    if rawget(env.vars, name) ~= nil then return env end
    env = env.up
  end
end

-- The names that f takes from functions around it, sorted.
local function free_names(f)
  local out, seen, names = {}, {}, free.of_function(f.source)
  for _, name in ipairs(names) do
    if name == "super" then names[#names + 1] = "__class__" end
    if not seen[name] and holder(f, name) then out[#out + 1] = name end
    seen[name] = true
  end
  table.sort(out)
  return out
end

local cell_mt = {__name = "cell"}
cell_mt.__index = function (c, name)
  if name ~= "cell_contents" then return nil end
  return rawget(c, "env").vars[rawget(c, "name")]
end

local cells = setmetatable({}, {__mode = "k"})    -- by environment and name

-- cell_of(env, name): the cell of that variable of a function, always the same.
local function cell_of(env, name)
  local held = cells[env] or {}
  cells[env] = held
  held[name] = held[name] or attrs.namespace(setmetatable({name = name,
    env = env}, cell_mt))
  return held[name]
end

local function closure(f)
  local names = f.source and free_names(f) or {}
  if #names == 0 then return dt.None end
  for i, name in ipairs(names) do names[i] = cell_of(holder(f, name), name) end
  return V.tuple(names)
end

-- The parameters in the order of co_varnames, and how many are of each kind.
local function parameters(f)
  local plain, only, stars = {}, {}, {}
  local count = {positional = 0}
  for _, p in ipairs(f.params) do
    if p.star then stars[#stars + 1] = p.name
    elseif p.only == "keyword" then only[#only + 1] = p.name
    else
      plain[#plain + 1] = p.name
      if p.only == "positional" then count.positional = count.positional + 1 end
    end
  end
  count.plain, count.keyword = #plain, #only
  for _, list in ipairs {only, stars} do
    for _, name in ipairs(list) do plain[#plain + 1] = name end
  end
  return plain, count
end

-- What inspect's CO_… say of it.
local function flags(f)
  local out, n = 3, f.source
  for _, p in ipairs(f.params) do
    if p.star then out = out | (p.star == 2 and 8 or 4) end
  end
  if (f.name or ""):find("<locals>", 1, true) then out = out | 16 end
  if n.async then return out | (n.generator and 512 or 128) end
  return n.generator and out | 32 or out
end

local code_mt = {__name = "code"}
code_mt.__index = function (c, name)
  local f = rawget(c, "of")
  if name == "co_freevars" then return V.tuple(free_names(f)) end
  if name == "co_varnames" then
    local own = scope.locals_of(f.source.params, rawget(c, "body"))
    for _, p in ipairs(rawget(c, "names")) do own[p] = nil end
    if next(own) == nil then return V.tuple(rawget(c, "names")) end
    util.refuse("co_varnames of a function with names of its own beside its "
      .. "parameters (%s) is not part of dtrepl", f.name)
  end
  if name == "co_flags" then return flags(f) end
  if type(name) == "string" and name:find("^co_") then
    util.refuse("%s of a function's code is not part of dtrepl", name)
  end
end
code_mt.__tostring = function (c)
  return ("<code object %s, line %s>"):format(c.co_name, c.co_firstlineno)
end

attrs.name_kind("code", attrs.namespace {__name__ = "code",
  test = function (v) return V.type_name(v) == "code" end})

-- The line of the first decorator, else of the function itself.
local function first_line(n, line)
  local first = n.decorators and n.decorators[#n.decorators]
  return first and first.line or n.first or line or n.line or 1
end

local function code(f)
  local names, count = parameters(f)
  local n = f.source
  local file, line = (rawget(f, "where") or ""):match("^(.*):(%d+)$")
  local module = f.env
  while module and module.up do module = module.up end
  file = file or module and rawget(module.vars, "__file__")
  return attrs.namespace(setmetatable({of = f, names = names,
    body = n.kind == "lambda" and {n.body} or n.body,
    co_name = rawget(f, "plain") or f.name, co_qualname = f.name,
    co_argcount = count.plain, co_posonlyargcount = count.positional,
    co_kwonlyargcount = count.keyword, co_filename = file and sources.path(file) or "<string>",
    co_firstlineno = first_line(n, tonumber(line))}, code_mt))
end

-- f.__defaults__ = (…): those of the last parameters; None: there are none.
function attrs.function_set.__defaults__(f, x)
  if x ~= dt.None and not V.is_tuple(x) then
    util.raise("TypeError", "__defaults__ must be set to a tuple object")
  end
  local by_place = {}
  for _, p in ipairs(f.params) do
    if p.name and not p.star and p.only ~= "keyword" then
      by_place[#by_place + 1] = p
    end
  end
  local first = #by_place - (x == dt.None and 0 or x.n)
  for i, p in ipairs(by_place) do p.value = i > first and x[i - first] or nil end
end

-- f.__kwdefaults__ = {…}
function attrs.function_set.__kwdefaults__(f, x)
  if x ~= dt.None and not V.is_dict(x) then
    util.raise("TypeError", "__kwdefaults__ must be set to a dict object")
  end
  for _, p in ipairs(f.params) do
    if p.only == "keyword" then
      p.value = x ~= dt.None and V.dict_get(x, p.name) or nil
    end
  end
end

V.code_of = code

local fact = attrs.function_fact
fact.__closure__ = function (f) return closure(f) end
fact.__code__ = function (f)
  if not f.source then return attrs.missing(f, "__code__") end
  return code(f)
end
fact.__globals__ = function (f)
  if not rawget(f, "env") then return attrs.missing(f, "__globals__") end
  local env = f.env
  while env.up do env = env.up end
  local d = V.dict()
  for _, name in ipairs(env_of.names(env.vars)) do
    V.dict_set(d, name, env.vars[name])
  end
  d.changed = function (name, x) env.vars[name] = x end
  return d
end

return {cell_of = cell_of, is_cell = function (v)
  return getmetatable(v) == cell_mt
end}
