-- SPDX-License-Identifier: MIT
-- dt/python/attrs.lua: what stands behind a dot, what a with enters, what a
-- module is called: Python's view of the engine's objects.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "dt.python.values"

local M = {}
local None = dt.None
local call

function M.set_call(f) call = f end

-- A method: f(self, args, kw) in Python's convention.
local function method(self, f, name)
  return V.builtin(function (args, kw) return f(self, args, kw) end, name)
end

-- ---- strings, lists, dicts ----

local text = {}

function text.join(s, args)
  local items, n = V.items(args[1])
  local parts = {}
  for i = 1, n do parts[i] = items[i] end
  return table.concat(parts, s)
end

function text.split(s, args)
  local out, sep = {}, args[1]
  if sep == nil or sep == None then
    for w in s:gmatch("%S+") do out[#out + 1] = w end
    return V.list(out)
  end
  local at = 1
  while true do
    local i, j = s:find(sep, at, true)
    if not i then break end
    out[#out + 1] = s:sub(at, i - 1)
    at = j + 1
  end
  out[#out + 1] = s:sub(at)
  return V.list(out)
end

function text.startswith(s, args) return s:sub(1, #args[1]) == args[1] end
function text.endswith(s, args)
  return args[1] == "" or s:sub(-#args[1]) == args[1]
end
function text.strip(s) return (s:match("^%s*(.-)%s*$")) end
function text.upper(s) return s:upper() end
function text.lower(s) return s:lower() end
function text.replace(s, args)
  local plain = args[1]:gsub("%p", "%%%0")
  return (s:gsub(plain, (args[2]:gsub("%%", "%%%%"))))
end

local seq = {}

function seq.append(l, args)
  l.n = l.n + 1
  l[l.n] = args[1]
  return None
end
function seq.extend(l, args)
  local items, n = V.items(args[1])
  for i = 1, n do seq.append(l, {items[i]}) end
  return None
end
function seq.clear(l)
  for i = 1, l.n do l[i] = nil end
  l.n = 0
  return None
end
function seq.index(l, args)
  for i = 1, l.n do
    if V.equal(l[i], args[1]) == true then return i - 1 end
  end
  return util.raise("ValueError", "%s is not in list", V.repr(args[1]))
end
function seq.pop(l, args)
  local v = table.remove(l, (args[1] or l.n - 1) + 1)
  l.n = l.n - 1
  return v
end
function seq.insert(l, args)
  table.insert(l, args[1] + 1, args[2])
  l.n = l.n + 1
  return None
end
function seq.count(l, args)
  local k = 0
  for i = 1, l.n do k = k + (V.equal(l[i], args[1]) == true and 1 or 0) end
  return k
end
function seq.sort(l)
  table.sort(l)
  return None
end

local map = {}

function map.items(d)
  local out = {}
  for k, v in V.each(d) do out[#out + 1] = V.tuple {k, v} end
  return V.list(out)
end
function map.keys(d)
  local out = {}
  for k in V.each(d) do out[#out + 1] = k end
  return V.list(out)
end
function map.values(d)
  local out = {}
  for _, v in V.each(d) do out[#out + 1] = v end
  return V.list(out)
end
function map.get(d, args)
  local v = V.dict_get(d, args[1])
  if v == nil then return args[2] or None end
  return v
end
function map.update(d, args, kw)
  if args[1] then
    for k, v in V.each(args[1]) do V.dict_set(d, k, v) end
  end
  if kw then
    for k, v in V.each(kw) do V.dict_set(d, k, v) end
  end
  return None
end
function map.pop(d, args)
  local v = V.dict_get(d, args[1])
  V.dict_remove(d, args[1])
  return v == nil and args[2] or v
end
function map.setdefault(d, args)
  local v = V.dict_get(d, args[1])
  if v ~= nil then return v end
  V.dict_set(d, args[1], args[2])
  return args[2]
end
function map.add(d, args)
  V.dict_set(d, args[1], true)
  return None
end

-- ---- modules: iterators become lists ----

local function listed(name, width)
  return function (m, _, kw)
    local t
    if kw then
      t = {}
      for k, v in V.each(kw) do t[k] = V.to_lua(v) end
    end
    local out = {}
    for a, b in m[name](m, t) do
      out[#out + 1] = width == 2 and V.tuple {a, b} or a
    end
    return V.list(out)
  end
end

local of_module = {
  parameters = listed("parameters", 1), modules = listed("modules", 1),
  children = listed("children", 1), buffers = listed("buffers", 1),
  named_parameters = listed("named_parameters", 2),
  named_modules = listed("named_modules", 2),
  named_children = listed("named_children", 2),
  named_buffers = listed("named_buffers", 2),
}

-- ---- optimizers: state by parameter ----

local function state_of(opt)
  local d = V.dict()
  for _, group in ipairs(opt.param_groups) do
    for _, p in ipairs(group.params) do
      local state = opt.state[p._id]
      if state then V.dict_set(d, p, V.dict_of(opt:state_dict_of(state))) end
    end
  end
  return d
end

-- ---- tensors: names that are no method of ours ----

-- Both are added to by the modules that know more (dtensor.lua, stdlib.lua).
local of_tensor = {
  T = function (t) return t:T() end,
  mT = function (t) return t:mT() end,
  H = function (t) return t:T() end,
  data = function (t) return dt._data_view(t) end,
  _local_tensor = function (t) return dt._local_of(t) end,
  is_sparse = function () return false end,
  itemsize = function (t) return t:element_size() end,
}
local tensor_method = {
  ["repeat"] = function (t, args, kw) return call(t.repeat_op, V.list({t,
    table.unpack(args, 1, args.n)}, args.n + 1), kw) end,
  ["detach_"] = function (t) return dt._detach_ and dt._detach_(t) or t end,
  requires_grad_ = function (t, args)
    t.requires_grad = args[1] == nil or args[1]
    return t
  end,
  numpy = function (t) return t end,
  tobytes = function (t) return V.repr(V.from_lua(t:tolist())) end,
  tolist = function (t) return V.from_lua(t:tolist()) end,
  size = function (t, args)
    if args.n == 0 then return V.from_lua(t.shape) end
    return t:size(args[1])
  end,
  is_floating_point = function (t) return t:is_floating_point() end,
}

-- Tables whose functions are no methods: their first argument is not self.
local unbound = setmetatable({}, {__mode = "k"})

-- Mark a table as a name space.
function M.namespace(t)
  unbound[t] = true
  return t
end

M.of_tensor, M.tensor_method = of_tensor, tensor_method
M.of_mesh, M.mesh_method = {}, {}       -- filled by mesh.lua

local function has_methods(v)
  if type(v) == "userdata" then return true end
  return not unbound[v] and getmetatable(v) ~= nil
    and not (nnm.Module == v or rawget(v, "__base"))
end

local function missing(v, name)
  util.raise("AttributeError", "'%s' object has no attribute '%s'",
    V.type_name(v), name)
end

local function class_of(v)
  local lua = rawget(type(v) == "table" and v or {}, "_class")
  if lua then return lua end
  return M.namespace {__name__ = V.type_name(v)}
end

local function get_engine(v, name)
  local x = v[name]
  if x == nil then
    if name == "__name__" and type(v) == "table" then
      return rawget(v, "__name") or rawget(v, "name") or missing(v, name)
    end
    local alias = name .. "_op"
    x = has_methods(v) and v[alias] or nil
    if x == nil then return nil end
  end
  if has_methods(v) and (type(x) == "function" or type(x) == "userdata"
     and type(getmetatable(x)) == "table" and getmetatable(x).__call
     and not util.is_tensor(x) and not util.is_mesh(x)) then
    return V.builtin(function (args, kw)
      return call(x, V.list({v, table.unpack(args, 1, args.n)}, args.n + 1),
        kw)
    end, name)
  end
  local mt = getmetatable(v)
  if type(x) == "table" and getmetatable(x) == nil and (unbound[v]
     or type(mt) == "table" and mt.__call and not nnm.is_module(v)) then
    return M.namespace(x)           -- a table of names inside a name space
  end
  return V.from_lua(x)
end

local function table_for(v)
  local mt = getmetatable(v)
  if type(v) == "string" then return text end
  if V.is_seq(v) then return seq end
  if V.is_dict(v) or V.is_set(v) then return map end
  if mt == V.func_mt or mt == V.builtin_mt then return {} end
end

-- v.name
local result_of_two = {values = 1, indices = 2}   -- max, sort, topk

function M.get(v, name)
  if name == "__class__" then return class_of(v) end
  local own = table_for(v)
  if own then
    if own[name] then return method(v, own[name], name) end
    if type(v) == "table" and rawget(v, name) ~= nil then
      return rawget(v, name)
    end
    if name == "__name__" then return v.name end
    if V.is_tuple(v) and v.n == 2 and result_of_two[name] then
      return v[result_of_two[name]]
    end
    return missing(v, name)
  end
  if type(v) ~= "table" and type(v) ~= "userdata" then
    return missing(v, name)
  end
  if util.is_tensor(v) then
    if of_tensor[name] then return V.from_lua(of_tensor[name](v)) end
    if tensor_method[name] then return method(v, tensor_method[name], name) end
    if name == "grad" or name == "grad_fn" then return V.from_lua(v[name]) end
  elseif util.is_mesh(v) and M.of_mesh[name] then
    return M.of_mesh[name](v)
  elseif util.is_mesh(v) and M.mesh_method[name] then
    return method(v, M.mesh_method[name], name)
  elseif nnm.is_module(v) and of_module[name] then
    return method(v, of_module[name], name)
  end
  if name == "state" and type(v) == "table" and v.param_groups then
    return state_of(v)
  end
  local x = get_engine(v, name)
  if x == nil then
    if util.is_tensor(v) and (name == "grad" or name == "grad_fn") then
      return None
    end
    if nnm.is_module(v) and (v._parameters.map[name] == false
       or v._modules.map[name] == false) then
      return None
    end
    return missing(v, name)
  end
  return x
end

-- v.name = x
function M.set(v, name, x)
  if getmetatable(v) == V.func_mt or V.is_dict(v) then
    rawset(v, name, x)
  elseif util.is_tensor(v) and name == "data" then
    dt._set_data(v, x)
  elseif util.is_tensor(v) and x == None then
    v[name] = dt.None
  else
    v[name] = x
  end
end

-- super(): what the base class of `class` has, with `self`.
function M.super(class, self)
  local base = class and rawget(class, "__base") or nnm.Module
  return setmetatable({}, {__index = function (_, name)
    local f = base[name]
    if f == nil and name == "__init__" then f = function () end end
    if type(f) ~= "function" then return f end
    return function (_, ...) return f(self, ...) end
  end, __name = "super"})
end

-- ---- with ----

-- Enter a scope; returns what `as` gets.
function M.enter(scope)
  if type(scope) == "table" then
    local f = rawget(scope, "__enter__")
    if f then return V.from_lua(f(scope)) end
  end
  if util.is_mesh(scope) then return M.enter_mesh(scope) end
  return scope
end

-- Leave it; `err` is the error that ended the body, or nil.
function M.leave(scope, err)
  if type(scope) == "table" and rawget(scope, "__exit__") then
    scope.__exit__(scope, err)
    return
  end
  if util.is_mesh(scope) then return M.leave_mesh() end
  local mt = getmetatable(scope)
  if type(mt) == "table" and mt.__close then mt.__close(scope, err) end
end

-- An error as an exception object with class and message.
function M.exception(e)
  if type(e) == "table" and e.class then return e end
  if type(e) == "userdata" then return e end
  return M.namespace {class = "RuntimeError", message = tostring(e),
    args = V.tuple {tostring(e)}}
end

-- The name of a class.
function M.class_name(c)
  if type(c) == "table" then
    return rawget(c, "__name__") or rawget(c, "__name") or rawget(c, "name")
  end
end

-- ---- import ----

local modules = {}

-- Say what a module is called.
function M.provide(name, t) modules[name] = t end

function M.module(name)
  local m = modules[name]
  if m then return m end
  local parent, leaf = name:match("^(.*)%.([^.]+)$")
  m = parent and M.module(parent)
  local v = m and m[leaf]
  if v ~= nil then return v end
  return util.raise("ModuleNotFoundError", "No module named '%s'", name)
end

-- from module import name: the module's own, else what is called so anywhere.
function M.member(module, name)
  local ok, m = pcall(M.module, module)
  local v = ok and m[name]
  if v == nil or v == false then v = modules[name] end
  if v == nil then v = M.anywhere and M.anywhere(name) end
  if v == nil then
    util.raise(ok and "ImportError" or "ModuleNotFoundError", ok
      and "cannot import name '%s' from '%s'" or "No module named '%s'",
      ok and name or module, module)
  end
  return v
end

return M
