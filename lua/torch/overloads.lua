-- SPDX-License-Identifier: MIT
-- torch/overloads.lua: torch.ops' packets and overloads as a program sees them:
-- their names, texts, schemas and classes (torch._ops, torch.FunctionSchema).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local foreign = require "python.foreign"

local None = dt.None
local packet_mt = getmetatable(dt.ops.aten.add)
local overload_mt = getmetatable(dt.ops.aten.add.Tensor)
local function is_packet(v) return getmetatable(v) == packet_mt end
local function is_overload(v) return getmetatable(v) == overload_mt end

-- ---- schemas ----

local function class(name, module, test)
  return args.class(name, {__module__ = module, test = test,
    new = V.builtin(function ()
      util.raise("TypeError", "No constructor defined!")
    end, name)})
end

local function is_of(mark)
  return function (v) return type(v) == "table" and rawget(v, mark) == true end
end
local Argument = class("Argument", "torch", is_of "is_schema_argument")
local FunctionSchema = class("FunctionSchema", "torch", is_of "is_schema")

local WORDS = {None = None, True = true, False = false}

-- A default as the schema writes it: 1, 1e-05, True, None, "mean", [0, 1]; what
-- is none of these (contiguous_format) stays a text.  `count`: of an int[2], a
-- number stands for each item.
local function default_of(text, count)
  if WORDS[text] ~= nil then return WORDS[text] end
  local list, number = text:match("^%[(.*)%]$"), tonumber(text)
  if count and number then
    list = (text .. ","):rep(count)
  elseif not list then
    return number or text:match('^"(.*)"$') or text
  end
  local items = {}
  for item in list:gmatch("[^,%s]+") do items[#items + 1] = default_of(item) end
  return V.list(items)
end

-- "Tensor(a!) self", "Scalar alpha=1": one argument, or a result.
local function argument(text, kwarg_only)
  local head, default = text:match("^(.-)=(.*)$")
  local kind, name = (head or text):match("^(.-)%s+([%a_][%w_]*)$")
  kind = kind or head or text
  local alias = kind:match("%((.-)%)")
  return attrs.namespace {data_class = Argument, is_schema_argument = true,
    name = name or "", type = (kind:gsub("%(.-%)", "")),
    kwarg_only = kwarg_only,
    default_value = default_of(default or "None", tonumber(kind:match
      "%[(%d+)%]")),
    alias_info = alias and attrs.namespace {is_write =
      alias:find("!", 1, true) ~= nil} or None}
end

-- The parts of "a, b(c, d)[2], c" at its commas.
local function parts_of(text)
  local out, depth, from = {}, 0, 1
  for at, c in text:gmatch("()([,%(%)%[%]])") do
    if c == "," and depth == 0 then
      out[#out + 1] = text:sub(from, at - 1):match("^%s*(.-)%s*$")
      from = at + 1
    elseif c ~= "," then
      depth = depth + ((c == "(" or c == "[") and 1 or -1)
    end
  end
  local last = text:sub(from):match("^%s*(.-)%s*$")
  if last ~= "" then out[#out + 1] = last end
  return out
end

local function arguments_of(text)
  local out, kwarg_only = {}, false
  for _, part in ipairs(parts_of(text)) do
    if part == "*" then
      kwarg_only = true
    else
      out[#out + 1] = argument(part, kwarg_only)
    end
  end
  return V.list(out)
end

local function schema_of(op)
  local text = op.schema
  local full, given, results = text:match("^(.-)(%b())%s*%->%s*(.*)$")
  return attrs.namespace {data_class = FunctionSchema, is_schema = true,
    name = full:match("^[^.]+"), overload_name = full:match("%.(.*)$") or "",
    is_mutable = given:find("!", 1, true) ~= nil,
    arguments = arguments_of(given:sub(2, -2)),
    returns = arguments_of(results:match("^%((.*)%)$") or results),
    shown = text}
end

-- ---- packets and overloads ----

-- "aten.add.Tensor" -> "aten", "add", "Tensor".
local function names_of(v)
  return v.name:match("^([^.]+)%.([^.]+)%.?(.*)$")
end

local packet = {is = is_packet}
local of_packet = {
  __name__ = function (v) return (select(2, names_of(v))) end,
  __module__ = function (v) return "torch._ops." .. names_of(v) end,
  _qualified_op_name = function (v)
    local space, op = names_of(v)
    return space .. "::" .. op
  end,
  overloads = function (v)
    return V.builtin(function ()
      local names = {}
      for name, op in next, v do
        if is_overload(op) then names[#names + 1] = name end
      end
      table.sort(names)
      return V.list(names)
    end, "overloads")
  end,
}

local overload = {is = is_overload}
local function packet_of(v)
  local space, op = names_of(v)
  return dt.ops[space][op]
end

local of_overload = {
  __name__ = function (v)
    local _, op, name = names_of(v)
    return op .. "." .. name
  end,
  __module__ = function (v) return "torch._ops." .. names_of(v) end,
  __qualname__ = function (v) return (v.schema:match("^[^(]+")) end,
  name = function (v)
    local full = v.schema:match("^[^(]+")
    return V.builtin(function () return full end, "name")
  end,
  namespace = function (v) return (names_of(v)) end,
  _opname = function (v) return (select(2, names_of(v))) end,
  _overloadname = function (v) return (select(3, names_of(v))) end,
  overloadpacket = packet_of,
  _overloadpacket = packet_of,
  _schema = schema_of,
  -- A result that shares the memory of an argument it does not write.
  is_view = function (v)
    return v.schema:find("%(a%).*%->.*%(a%)") ~= nil
  end,
}

local function getter(facts)
  return function (v, name)
    if facts[name] then return facts[name](v), true end
  end
end
packet.get, overload.get = getter(of_packet), getter(of_overload)
-- What the tables hold for dt is no attribute in PyTorch.
for _, name in ipairs {"name", "schema", "shown"} do
  of_packet[name] = function (v) return packet.absent(v, name) end
  of_overload[name] = of_overload[name]
    or function (v) return overload.absent(v, name) end
end

-- A packet takes every other name for an overload's.
function packet.absent(v, name)
  util.raise("AttributeError", "The underlying op of '%s' has no overload "
    .. "name '%s'", v.name, name)
end

function overload.absent(_, name)
  util.raise("AttributeError", "'OpOverload' object has no attribute '%s'",
    name)
end
foreign.register(packet)
foreign.register(overload)

local M = {}
M.OpOverloadPacket = class("OpOverloadPacket", "torch._ops", is_packet)
M.OpOverload = class("OpOverload", "torch._ops", is_overload)

-- class_of(v): the class of a packet or an overload, else nil.
function M.class_of(v)
  return is_packet(v) and M.OpOverloadPacket or is_overload(v) and M.OpOverload
    or nil
end

-- torch._ops
M.module = attrs.namespace {OpOverload = M.OpOverload,
  OpOverloadPacket = M.OpOverloadPacket}

return M
