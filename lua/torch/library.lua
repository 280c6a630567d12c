-- SPDX-License-Identifier: MIT
-- torch/library.lua: torch.library: operators of the program's own, by
-- Library(…).define and impl, or by @custom_op, whose schema is read from the
-- annotations.  They become operators of dt.library, so that a sharding rule
-- can be registered for them and a missing one is reported.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace
local M = {}

-- torch.library.Library(namespace, kind)
local function library(args)
  local space, how = args[1], {}
  local function of(name)
    name = name:match("([%w_]+)$") or name
    how[name] = how[name] or {}
    return how[name]
  end
  local function define(a)
    local name = a[1]:match("^([%w_]+)")
    local mine = of(name)
    local function run(key)
      return function (...)
        local f = mine[key] or mine.CPU or mine.Meta
        if not f then
          util.raise("NotImplementedError", "%s::%s has no kernel", space,
            name)
        end
        return V.lua_function(f)(...)
      end
    end
    dt.library.define(space .. "::" .. a[1], {impl = run "CPU",
      meta = run "Meta"})
    return None
  end
  -- An operator of PyTorch's that is given a kernel has one here.
  local function impl(a)
    if how[a[1]] then how[a[1]][a[3] == "Meta" and "Meta" or "CPU"] = a[2] end
    return None
  end
  return namespace {define = builtin(define, "define"),
    impl = builtin(impl, "impl")}
end
M.Library = builtin(library, "Library")

-- ---- custom_op ----

local TYPES = {Tensor = "Tensor", int = "SymInt", float = "float",
  bool = "bool", str = "str", dtype = "ScalarType", device = "Device"}

-- The schema's type for an annotation's tree.
local function type_of(n)
  if n == nil then return "Tensor" end
  local kind = TYPES[n.name]
  if (n.kind == "name" or n.kind == "attr") and kind then return kind end
  if n.kind == "const" and type(n.value) == "string" then
    return TYPES[n.value:match("(%w+)$")] or "Tensor"
  end
  if n.kind == "literal" then return "()" end
  if n.kind == "binary" and n.op == "|" then
    return type_of(n.a.kind == "literal" and n.b or n.a) .. "?"
  end
  if n.kind == "item" then
    local outer = n.value.name
    if outer == "Optional" then return type_of(n.index) .. "?" end
    local inner = n.index
    if outer == "tuple" or outer == "Tuple" then
      local parts = {}
      for i, item in ipairs(inner.items or {inner}) do
        parts[i] = type_of(item)
      end
      return "(" .. table.concat(parts, ", ") .. ")"
    end
    return type_of(inner) .. "[]"
  end
  return util.raise("ValueError", "infer_schema(func): an annotation is not "
    .. "understood")
end

local function default_text(v)
  if v == nil then return "" end
  if v == None then return "=None" end
  if type(v) == "string" then return '="' .. v .. '"' end
  return "=" .. V.str(v)
end

local function schema_of(name, f, mutates)
  local parts, letter = {}, string.byte("a")
  for i, p in ipairs(f.params) do
    if p.star == 1 and not p.name then
      parts[i] = "*"
    else
      local kind = type_of(p.note)
      if mutates and V.contains(mutates, p.name) then
        kind = kind:gsub("^Tensor", ("Tensor(%s!)"):format(string.char(letter)))
        letter = letter + 1
      end
      parts[i] = kind .. " " .. p.name .. default_text(p.value)
    end
  end
  return ("%s(%s) -> %s"):format(name, table.concat(parts, ", "),
    type_of(f.note))
end

-- Does the operator write into an argument and give nothing back?  Then what it
-- makes of tensors without data is clear.
local function is_plain(schema)
  return schema:find("!)", 1, true) and schema:find "%->%s*%(%)%s*$"
end

-- What @custom_op makes: it is called, and takes more registrations.
local function operator(name, f, kw)
  local schema = kw and V.dict_get(kw, "schema")
  local mutates = kw and V.dict_get(kw, "mutates_args")
  if schema then schema = name .. schema
  else schema = schema_of(name, f, mutates) end
  local kernels = {impl = f}
  local function run(key)
    return function (...)
      return V.lua_function(kernels[key] or kernels.impl)(...)
    end
  end
  local fake = run "meta"
  dt.library.define(schema, {impl = run "impl", meta = fake,
    fake = function (...)
      if not kernels.meta then
        if is_plain(schema) then return end
        util.raise("RuntimeError", "There was no fake impl registered for "
          .. "<CustomOpDef(%s)>. This is necessary for torch.compile/export/fx "
          .. "tracing to work. Please use `%s.register_fake` to add an fake impl.",
          name, f.name)
      end
      return fake(...)
    end,
    unfaked = function () return not kernels.meta and f.name or nil end,
    backward = function (ctx, ...)
      if not kernels.backward then
        util.raise("RuntimeError", "Trying to backward through %s but no "
          .. "autograd formula was registered. Please use register_autograd "
          .. "to add one.", name)
      end
      if kernels.setup then
        local out = ctx.outputs
        V.call(kernels.setup, V.list {ctx, V.from_lua(ctx.args), V.from_lua(
          #out == 1 and out[1] or out)})
      end
      return V.lua_function(kernels.backward)(ctx, ...)
    end})
  local space, leaf = name:match("^([%w_]+)::([%w_]+)")
  local op = dt.ops[space][leaf]
  local function registers(key)
    return builtin(function (a)
      local function take(b)
        kernels[key] = b[1]
        return b[1]
      end
      if a.n > 0 and getmetatable(a[1]) == V.func_mt then return take(a) end
      return builtin(take)
    end)
  end
  return namespace(setmetatable({
    register_fake = registers "meta", register_kernel = registers "impl",
    register_autograd = builtin(function (a, k)
      kernels.backward = a[1]
      kernels.setup = k and V.dict_get(k, "setup_context")
      return None
    end, "register_autograd"), _opoverload = op, __name__ = leaf},
    {__call = function (_, ...) return op(...) end, __name = "CustomOpDef"}))
end

local made = {}

M.custom_op = builtin(function (a, kw)
  local function take(b)
    made[a[1]] = operator(a[1], b[1], kw)
    return made[a[1]]
  end
  if a[2] and getmetatable(a[2]) == V.func_mt then
    return take {a[2]}
  end
  return builtin(take, "custom_op")
end, "custom_op")

-- torch.library.register_fake("ns::op") and its relatives.
for _, name in ipairs {"register_fake", "register_kernel",
  "register_autograd"} do
  M[name] = builtin(function (a, kw)
    local of = type(a[1]) == "string" and made[a[1]] or a[1]
    if type(of) ~= "table" then
      util.raise("RuntimeError", "operator %s does not exist", V.str(a[1]))
    end
    return V.call(of[name], V.list({table.unpack(a, 2, a.n)}, a.n - 1), kw)
  end, name)
end
M.impl_abstract = M.register_fake

return M
