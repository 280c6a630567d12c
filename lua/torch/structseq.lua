-- SPDX-License-Identifier: MIT
-- torch/structseq.lua: torch.return_types: the tuples whose items have the
-- names that an operator's schema gives its results, as torch.max(x, 1) has
-- values and indices.

local dt = require "dt"
local V = require "python.values"
local foreign = require "python.foreign"

local M = {}

-- values=…, one result a line.
local function text(t)
  local lines = {}
  for i, field in ipairs(t.record.names) do
    lines[i] = field .. "=" .. V.repr(t[i])
  end
  return "torch.return_types." .. t.record.__name__ .. "(\n"
    .. table.concat(lines, ",\n") .. ")"
end

-- The names in a schema's "-> (Tensor values, Tensor indices)", or nil.
local function names_in(schema)
  local returns = schema:match("%->%s*%((.*)%)%s*$")
  if not returns then return nil end
  local names = {}
  for part in (returns .. ","):gmatch("(.-),") do
    local name = part:match("%S%s+([%a_][%w_]*)%s*$")
    if not name then return nil end
    names[#names + 1] = name
  end
  return #names > 1 and names or nil
end

-- The class of an operator's results by its name, false without one.  The
-- overload that fills tensors it is given has the same names, or those of
-- its arguments: it comes last.
local by_name = {}
local function class_of(name)
  if by_name[name] ~= nil then return by_name[name] end
  by_name[name] = false
  if dt._find(name) == nil then return false end
  local schemas = {}
  for overload, op in next, dt.ops.aten[name] do
    local schema = type(op) == "table" and rawget(op, "schema")
    if schema then
      schemas[#schemas + 1] = {overload, schema, schema:find("!", 1, true)}
    end
  end
  table.sort(schemas, function (a, b)
    if (a[3] == nil) ~= (b[3] == nil) then return a[3] == nil end
    return a[1] < b[1]
  end)
  for _, s in ipairs(schemas) do
    local names = names_in(s[2])
    if names then
      local class = V.record(name, names, {__repr__ = text})
      class.structseq, class.__module__ = true, "torch.return_types"
      by_name[name] = class
      break
    end
  end
  return by_name[name]
end

-- The name by which torch or tensors have a function, or nil.
local function name_of(f)
  for _, space in ipairs {dt, dt.Tensor} do
    for name, v in next, space do
      if type(name) == "string" and rawequal(v, f) then return name end
    end
  end
  return nil
end

--- of(f): the class of what a function of the library gives back, or false.
local by_function = setmetatable({}, {__mode = "k"})
function M.of(f)
  if by_function[f] == nil then
    local name = name_of(f)
    by_function[f] = name and class_of(name)
  end
  return by_function[f]
end

--- is_operator(f): does f call an operator, by its name?
local operators = setmetatable({}, {__mode = "k"})
function M.is_operator(f)
  if operators[f] == nil then
    local name = name_of(f)
    operators[f] = name ~= nil and dt._find(name) ~= nil
  end
  return operators[f]
end

foreign.set_results(M.is_operator, M.of)

-- torch.return_types.
M.names = setmetatable({}, {__index = function (_, name)
  return type(name) == "string" and class_of(name) or nil
end, __name = "module"})

return M
