-- SPDX-License-Identifier: MIT
-- python/sources.lua: modules whose text is Python's: those that are part
-- of dtrepl (pylib), and files and packages beside the program.  A module runs
-- once; its object shows the names of its environment.  The text of
-- pylib/more adds names to the module of Lua's that is called so.

local dt = require "dt"
local attrs = require "python.attrs"
local env_of = require "python.env"
local V = require "python.values"

local M = {}
local made = {}                     -- by name: objects of modules
local beside                        -- names of those beside the program
local package_of                    -- what the program's folder is called, where
                                    -- it is a package
local tools                         -- {environment, run}: script.lua's

-- set_tools(t): how a text is run: t.environment([file]), t.run(text,
-- env, file, statements, whole).
function M.set_tools(t) tools = t end

-- begin(): a program begins: the modules beside the previous one are forgotten.
-- A folder with an __init__.py is a package, which its files may call by name.
function M.begin()
  for name in pairs(beside or {}) do
    made[name] = nil
    attrs.forget(name)
  end
  beside = {}
  local text, file = dt._read_beside "__init__.py"
  package_of = text and file:match("([^/]+)/__init__%.py$")
end

-- The names of a module, whose changes are the module's.
local function dict_of(vars)
  local d = V.dict()
  for _, name in ipairs(env_of.names(vars)) do V.dict_set(d, name, vars[name]) end
  d.changed = function (name, v) vars[name] = v end
  return d
end

-- What a module's own __getattr__ gives for a name that it has not.
local function asked(vars, name)
  local f = rawget(vars, "__getattr__")
  if not V.is_function(f) or type(name) ~= "string" then return nil end
  local ok, v = pcall(V.call, f, V.list({name}, 1))
  if ok then return v end
  if not V.is_error_below(v, "AttributeError") then error(v, 0) end
  return nil
end

-- What a name is in one of the modules of torch that `from module import *` read.
local function starred(vars, name)
  local list = (getmetatable(vars) or {}).asked
  if not list or type(name) ~= "string" or name:find("^_") then return nil end
  for _, module in ipairs(list) do
    local ok, v = pcall(function ()
      return attrs.get(attrs.module(module), name)
    end)
    if ok then return v end
  end
end

-- of(env): an object that shows the names of a module's environment.
function M.of(vars)
  return attrs.namespace(setmetatable({}, {__name = "module",
    __index = function (_, name)
      local v = rawget(vars, name)
      if v == nil then v = starred(vars, name) end
      if v == nil then v = asked(vars, name) end
      return v
    end,
    __newindex = function (_, name, v) vars[name] = v end,
    __pairs = function () return next, vars end,
    dict = function () return dict_of(vars) end,
    all = function () return vars end}))
end

-- path(file): the file's whole path, as Python calls the files of a program; in
-- the sandbox, where the working folder has no name, what it is called.
function M.path(file)
  local folder = dt._folder()
  if not folder or file:find("^[/<=]") then return file end
  local parts = {}
  for part in (folder .. "/" .. file):gmatch "[^/]+" do
    if part == ".." then parts[#parts] = nil
    elseif part ~= "." then parts[#parts + 1] = part end
  end
  return "/" .. table.concat(parts, "/")
end

-- The text of a module, its name there, and whether it is a package.
local function part_of_dtrepl(name)
  name = "py:" .. name
  local text = dt._library_text(name)
  if text then return text, name, false end
  name = name .. ".__init__"
  text = dt._library_text(name)
  return text, name, text ~= nil
end

local function of_program(name)
  if package_of and name == package_of then name = "__init__" end
  if package_of and name:sub(1, #package_of + 1) == package_of .. "." then
    name = name:sub(#package_of + 2)
  end
  local path = name:gsub("%.", "/")
  for _, try in ipairs {path .. "/__init__.py", path .. ".py"} do
    local text, file = dt._read_beside(try)
    if text then return text, file, try:find("__init__", 1, true) ~= nil end
  end
  -- A folder without an __init__.py is a package with nothing in it.
  local _, folder = dt._read_beside(path)
  if folder then return "", nil, true, folder end
end

local function run(name, text, file, package, tree)
  local env = tools.environment(file)
  local vars = env.vars
  vars.__name__, vars.__doc__ = name, dt.None
  vars.__package__ = package and name or name:match("^(.*)%.[^.]+$") or ""
  if file then vars.__file__ = M.path(file) end
  local module = M.of(vars)
  made[name] = module
  attrs.provide(name, module)
  local ok, err = pcall(tools.run, text, env, file, tree, true)
  if not ok then
    made[name] = nil
    attrs.forget(name)
    -- What this text cannot import is no absence of the module itself.
    if type(err) == "table" then err.raised_in = err.raised_in or name end
    error(err, 0)
  end
  return module
end

-- new(name, doc): a module that a program makes (types.ModuleType).
function M.new(name, doc)
  local vars = {__name__ = name, __doc__ = doc, __package__ = dt.None,
    __loader__ = dt.None, __spec__ = dt.None}
  return M.of(vars)
end

-- find(name): the module of that name, or nil where no text has it.
function M.find(name)
  if made[name] then return made[name] end
  if not tools then return nil end
  local parent, leaf = name:match("^(.*)%.([^.]+)$")
  local file, tree
  local text, own, package = part_of_dtrepl(name)
  if text then
    tree = dt._library_tree(own)
  else
    if parent and not (M.find(parent) or beside and beside[parent]) then
      return nil
    end
    text, file, package = of_program(name)
    if not text then return nil end
    beside = beside or {}
    beside[name] = true
  end
  local holder = parent and M.find(parent)
  local module = made[name] or run(name, text, file, package, tree)
  -- In a module of Lua's, a package only: what is in any other file may be a
  -- function of the same name.
  if parent and package and not holder then
    local ok, its = pcall(attrs.module, parent)
    holder = ok and rawget(its, leaf) == nil and its
  end
  if holder then holder[leaf] = module end
  return module
end

local more = {}                     -- by name: names added, or false

-- The names that pylib/more adds to a module of Lua's.
local function added(name)
  if more[name] ~= nil then return more[name] or nil end
  local text, own
  if tools then text, own = part_of_dtrepl("more." .. name) end
  if not text then
    if tools then more[name] = false end
    return nil
  end
  local env = tools.environment()
  env.vars.__name__, env.vars.__doc__ = name, dt.None
  env.vars.__package__ = name
  more[name] = env.vars             -- at once: it may ask for its own module
  local ok, err = pcall(tools.run, text, env, nil, dt._library_tree(own))
  if not ok then
    more[name] = nil
    error(err, 0)
  end
  return env.vars
end

-- What the program has put into sys.modules stands for a file.
attrs.set_sources(function (name)
  local put = not made[name] and V.dict_get(attrs.imported, name) or nil
  if put ~= nil then return put end
  return M.find(name)
end)
attrs.set_more(added)

return M
