-- SPDX-License-Identifier: MIT
-- torch/prompt.lua: :python: Python text at the prompt.  Names live on
-- from one text to the next; tensors, meshes, modules, numbers and texts have
-- the same names in Lua, for the commands and here.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "python.values"
local parser = require "python.parser"
local attrs = require "python.attrs"
local builtins = require "python.builtins"
local env_of = require "python.env"
local keywords = require "python.keywords"
local paste = require "python.paste"
local script = require "torch.script"

local M = {}

local env                           -- of this session
local shared = {}                   -- what Lua was given, by name

local function field_text(v, name)
  local ok, text = pcall(attrs.get, v, name)
  return ok and type(text) == "string" and text or nil
end

-- Was it, or its class, written in a program?  Classes of torch that are
-- written in Python here say that they are torch's.
local function is_own(v)
  if V.is_function(v) then
    local kind = V.type_name(v)
    return kind == "function" or kind == "method"
  end
  if type(v) ~= "table" then return false end
  local class = rawget(v, "_class")
  local python = rawget(v, "__python")
    or type(class) == "table" and rawget(class, "__python")
  return python and not (field_text(v, "__module__") or ""):find("^torch%f[^%w_]")
end

-- What a program has from an import: Lua has its own of these, or none.
local IMPORTED <const> = {module = true, builtin_function_or_method = true,
  type = true}

-- What both languages hold in the same way.
local function common(v)
  return util.is_tensor(v) or util.is_mesh(v) or nnm.is_module(v)
    or type(v) == "number" or type(v) == "string" or type(v) == "boolean"
end

-- What else a program made: lists, dicts, optimizers, objects of its own.
local function made(v)
  if v == dt.None then return true end
  if type(v) ~= "table" or getmetatable(v) == nil then return false end
  return is_own(v) or not IMPORTED[V.type_name(v)]
end

-- What a function without a name of its own is called in this session.
local function bound_name(v)
  for name, x in pairs(env and env.vars or {}) do
    if type(name) == "string" and rawequal(x, v) then return name end
  end
end

-- help(x) at the prompt: the page on what x is called; of what a program
-- defined, what that says of itself.
local function show_help(a)
  local v, page = a[1], nil
  if not is_own(v) then
    local name = type(v) == "string" and v or v == nil and ""
      or field_text(v, "__name__") or bound_name(v) or V.type_name(v)
    local found, got = pcall(dt.debug.command, "help", name)
    if not found and type(v) == "string" then error(got, 0) end
    page = found and got.text:gsub("%s+$", "")
  end
  if not page then
    local doc = field_text(v, "__doc__")
    page = V.repr(v) .. (doc and "\n" .. doc or "")
  end
  builtins.names.print.call(V.list {page})
  return dt.None
end

-- A session's names: those of the program that was run before the prompt or
-- Python's own, then those that Lua's lines left.
local function session()
  local e = script.left or script.environment("prompt")
  local mt = getmetatable(e.vars)
  local given = mt.__index
  local help = V.builtin(show_help, "help")
  setmetatable(e.vars, {asked = mt.asked, __index = function (vars, name)
    if name == "help" then return help end
    local v = rawget(_G, name)
    if v ~= nil and (common(v) or rawequal(shared[name], v)) then return v end
    return given(vars, name)
  end})
  return e
end

-- Leave them to Lua, but for names of Lua's own that mean something else.
local function share(vars)
  for name, v in pairs(vars) do
    local old = rawget(_G, name)
    if type(name) == "string" and (common(v) or made(v))
       and not name:find("^__")
       and (old == nil or common(old) or rawequal(shared[name], old)) then
      rawset(_G, name, v)
      shared[name] = v
    end
  end
end

-- What Lua has set anew since then is what Python sees.
local function renew(vars)
  for name, v in pairs(shared) do
    local now = rawget(_G, name)
    if not rawequal(now, v) and common(now) then vars[name] = now end
  end
end

-- The scope as it was: tensors with their values of then; one that was made
-- later had no name yet.
local function scope_of_past(scope, past)
  return {up = scope, scope = scope.scope, name = scope.name,
    vars = setmetatable({}, {__index = function (_, name)
      local v = past[name]
      if util.is_tensor(v) then return v end
      local at = scope
      while at and rawget(at.vars, name) == nil do at = at.up end
      v = at and rawget(at.vars, name)
      if util.is_tensor(v) and past[v] then
        util.raise("NameError", "name '%s' is not defined", name)
      end
    end})}
end

-- At a stop in a program of Python: its variables, of the moment looked at; in
-- the past after its end, the session's of then. Lines that were typed have the
-- session's names. Also: is the program over, so that Lua may have its names?
local function stopped()
  local scope, past, runs = dt._python_scope()
  if scope and scope.scope:find("^prompt:") then scope = nil end
  if not past then return scope, not runs end
  if not scope then
    env = env or session()
    scope = env
  end
  return scope_of_past(scope, past)
end

-- The program has ended: its names are the session's, in both languages.
function M.keep()
  env = session()
  share(env.vars)
end

-- What IPython's shell takes and this one does not; nil for all else.
local function refuse_magic(text)
  local mark = text:match("^%s*([!%%])%S")
  if mark == "!" then
    util.raise("SyntaxError", "commands of a shell are not run here")
  elseif mark then
    util.raise("SyntaxError", "magics are not run here: :timing on says how "
      .. "long a line took, :help lists the commands")
  end
end

-- Run a text; what its last line is worth is shown, as Python's shell does.
-- At a stop it sees and changes the variables of the stopped function.  `line`:
-- the number of its first line; `file`: whose text it is, nil for what is typed.
function M.python(text, line, file)
  local here, over = stopped()
  if not here then
    env = env or session()
    renew(env.vars)
  elseif over then
    renew(here.vars)
  end
  if not file and not text:find("\n") then refuse_magic(text) end
  local list
  text, list = paste.read(text, line)
  if not file and (text:find("^%s*exit%s*$") or text:find("^%s*quit%s*$")) then
    text, list = paste.read(text .. "()", line)
  end
  list = list or parser.parse(text) -- an error counts the text's own lines
  local ok, v = pcall(script.last, text, here or env, file or "prompt", list)
  if not here or over then share((here or env).vars) end
  if not ok then error(v, 0) end
  if v == nil or v == dt.None then return "" end
  if not here and not file then env.vars._ = v end
  return V.repr(v)
end

-- The function that the class of v, or v as a class, has by that name, or nil.
local function function_of(v, name)
  if type(v) ~= "table" then return nil end
  local class = rawget(v, "_class") or rawget(v, "__python") and v
  local f = class and V.raw(class[name])
  return f and V.is_function(f) and f or nil
end

-- The value of an attribute that is at hand: no property is computed, nothing
-- of the program runs.  Or nil.
local function held(v, name)
  if util.is_tensor(v) then return nil end
  if nnm.is_module(v) then
    for _, map in ipairs {v._modules, v._parameters, v._buffers} do
      if map.map[name] then return map.map[name] end
    end
  end
  local own = type(v) == "table" and rawget(v, "_attrs")
  if own and own[name] ~= nil then return own[name] end
  local f = function_of(v, name)
  if f or own then return f end
  if type(v) ~= "table" or rawget(v, "__python") then return nil end
  local ok, x = pcall(attrs.get, v, name)
  return ok and x or nil
end

local function value_of(scope, path)
  local v
  for name in path:gmatch("[%a_][%w_]*") do
    if v == nil then v = env_of.lookup(scope, name) else v = held(v, name) end
    if v == nil then return nil end
  end
  return v
end

-- "(x, scale=1.0)": what a function or a class takes; "" where it cannot be told.
local function takes_of(v)
  local ok, text = pcall(function ()
    return V.str(V.call(attrs.get(attrs.module "inspect", "signature"),
      V.list {v}))
  end)
  return ok and text or ""
end

local function page_of(v, title)
  local where, doc = rawget(v, "where"), field_text(v, "__doc__")
  return title .. (where and "  at " .. where or "") .. "\n"
    .. (doc and doc .. "\n" or "")
end

-- own(path): what a function, a class or an object of the program is, for its
-- help; nil for what it did not define.
function M.own(path)
  env = env or session()
  local v = script.looked_up(value_of, stopped() or env, path)
  if v == nil then return nil end
  if not is_own(v) then
    return nnm.is_module(v) and ("%s  a %s; ?nn.%s is its page\n"):format(path,
      V.type_name(v), V.type_name(v)) or nil
  end
  if V.is_function(v) then         -- torch's, written in Python, has its page
    return rawget(v, "where") and page_of(v, path .. takes_of(v))
  elseif V.type_name(v) == "type" then
    return page_of(v, path .. takes_of(v))
  end
  local class = rawget(v, "_class")
  local root = env_of.lookup(stopped() or env, path:match("^[%a_][%w_]*"))
  if V.type_name(root) == "module" then return nil end    -- it has its page
  return class and page_of(class, ("%s  a %s"):format(path, V.type_name(v)))
end

local function names_in_sight(scope)
  local out = {}
  for _, word in ipairs(keywords.list) do out[word] = true end
  for name in pairs(builtins.names) do out[name] = true end
  while scope do
    for name in pairs(scope.vars) do out[name] = true end
    scope = scope.up
  end
  return out
end

-- What Tab offers: the names that begin with `prefix` of what the path says
-- ("a.b."), or of those in sight (""); with the path, in order.
function M.complete(path, prefix)
  env = env or session()
  local scope = stopped() or env
  local out, found = {}, {}
  if path == "" then
    found = names_in_sight(scope)
  elseif not path:find("^[%a_]") then
    return out
  else
    local v = script.looked_up(value_of, scope, path)
    if v == nil then return out end
    for _, name in ipairs(V.call(builtins.names.dir, V.list {v})) do
      found[name] = true
    end
  end
  for name in pairs(found) do
    if type(name) == "string" and name:sub(1, #prefix) == prefix
       and name:find("^[%a_][%w_]*$")
       and (prefix ~= "" or not name:find("^_")) then
      out[#out + 1] = path .. name
    end
  end
  table.sort(out)
  return out
end

return M
