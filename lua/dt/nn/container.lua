-- SPDX-License-Identifier: MIT
-- dt/nn/container.lua: Sequential, ModuleList, ModuleDict.  Children are
-- counted from 0, as in PyTorch; `for i, layer in pairs(list)` visits all.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local Module = nnm.Module

local M = {}

local function count(m) return #m._modules.keys end

local function child(m, i)
  local n = count(m)
  if i < -n or i >= n then
    util.raise("IndexError", "index %d is out of range", i)
  end
  return m._modules.map[m._modules.keys[i % n + 1]] or dt.None
end

local function each(m)
  local i = -1
  return function ()
    i = i + 1
    if i < count(m) then return i, child(m, i) end
  end
end

local function append(m, module)
  m:register_module(tostring(count(m)), module)
  return m
end

local function indent(text) return (text:gsub("\n", "\n  ")) end

-- Equal neighbours are printed once: "(0-2): 3 x Linear(...)".
local function list_text(m)
  local lines, first, last, text = {}, nil, nil, nil
  local function flush()
    if text == nil then return end
    local n = last - first + 1
    lines[#lines + 1] = n == 1 and ("(%d): %s"):format(first, indent(text))
      or ("(%d-%d): %d x %s"):format(first, last, n, indent(text))
  end
  for i, layer in each(m) do
    local t = layer ~= dt.None and tostring(layer) or "None"
    if t ~= text then
      flush()
      first, text = i, t
    end
    last = i
  end
  flush()
  local name = m._class.__name
  if #lines == 0 then return name .. "()" end
  return name .. "(\n  " .. table.concat(lines, "\n  ") .. "\n)"
end

-- Some of the children as a container of their own; `named`: with the names
-- that they have.
local function part(class, m, which, named)
  local out = class()
  for _, i in ipairs(which) do
    local name = m._modules.keys[i + 1]
    out:register_module(named and name or tostring(count(out)),
      m._modules.map[name])
  end
  return out
end

local function listlike(class)
  class.__len, class.__pairs, class.append = count, each, append
  function class.__getitem(m, i) return child(m, i) end
  function class.__setitem(m, i, module)
    local n = count(m)
    if i < -n or i >= n then
      util.raise("IndexError", "index %d is out of range", i)
    end
    m:register_module(tostring(i < 0 and i + n or i), module)
  end
end

-- nn.Sequential(m0, m1, ...): one after the other.
M.Sequential = Module:extend("Sequential")
listlike(M.Sequential)
-- Named ones as a list of pairs: nn.Sequential{{"a", m0}, {"b", m1}}.
local function is_pairs(v)
  return type(v) == "table" and getmetatable(v) == nil
    and (v[1] == nil or type(v[1]) == "table" and type(v[1][1]) == "string")
end

function M.Sequential:__init__(...)
  if select("#", ...) == 1 and is_pairs((...)) then
    for _, row in ipairs((...)) do self:register_module(row[1], row[2]) end
    return
  end
  for i = 1, select("#", ...) do append(self, (select(i, ...))) end
end
-- _set_tuple(f): f(m, values) is what module `m` takes for several values of
-- the module before it, or nil: as they are.
local tuple
function M._set_tuple(f) tuple = f end

function M.Sequential:forward(...)
  local out = table.pack(...)
  for i, m in each(self) do
    local one = tuple and i > 0 and out.n > 1 and tuple(m, out)
    if one then
      out = table.pack(m(one))
    else
      out = table.pack(m(table.unpack(out, 1, out.n)))
    end
  end
  return table.unpack(out, 1, out.n)
end

function M.Sequential:__part(which)
  return part(M.Sequential, self, which, true)
end

-- nn.ModuleList{m0, m1, ...}: a list that registers its modules.
M.ModuleList = Module:extend("ModuleList")
M.ModuleList.__repr__ = list_text
listlike(M.ModuleList)
function M.ModuleList:__init__(list)
  for _, m in ipairs(list or {}) do append(self, m) end
end
function M.ModuleList:__part(which) return part(M.ModuleList, self, which) end
-- list:extend_with{...}: append several; of a Sequential as well.
function M.ModuleList:extend_with(list)
  for _, m in ipairs(list) do append(self, m) end
  return self
end
M.Sequential.extend_with = M.ModuleList.extend_with

-- nn.ModuleDict{name = module, ...}: sorted by name when first given.
M.ModuleDict = Module:extend("ModuleDict")
function M.ModuleDict:__init__(map)
  if map and map[1] and is_pairs(map) then
    for _, row in ipairs(map) do self:register_module(row[1], row[2]) end
    return
  end
  for name, m in pairs(map or {}) do self:register_module(name, m) end
end
M.ModuleDict.__len = count
function M.ModuleDict:__pairs() return self._modules:each() end

-- m:keys(), m:values(), m:items(): lists in order.
function M.ModuleDict:keys() return {table.unpack(self._modules.keys)} end
M.ModuleDict.__members = M.ModuleDict.keys
function M.ModuleDict:values()
  local out = {}
  for i, name in ipairs(self._modules.keys) do
    out[i] = self._modules.map[name]
  end
  return out
end
function M.ModuleDict:items()
  local out = {}
  for i, name in ipairs(self._modules.keys) do
    out[i] = {name, self._modules.map[name]}
  end
  return out
end

return M
