-- SPDX-License-Identifier: MIT
-- dt/nn/define.lua: modules out of tables: a class whose arguments become its
-- fields, whose forward is one function of F with these fields, and whose text
-- is a pattern over them.
--
-- A row is {name, signature, function, text}, and by name: `inputs` (the
-- signature of forward), `buffers` (fields kept as buffers), `training` (the
-- function gets the mode), `check` (of a new module).

local util = require "dt.util"
local signature = require "dt.torch.signature"
local F = require "dt.functional"
local Module = require("dt.nn.module").Module
local reduction = require "dt.functional.reduction"

local M = {}

-- The flags of old are no fields: they become the reduction.
local translated = {size_average = true, reduce = true}

-- "alpha={alpha}|inplace": the fields as Python writes them; what stands
-- after the bar is added when the module works in place.
local function text_of(m, pattern)
  local main, place = pattern:match("^(.-)|(inplace)$")
  local out = (main or pattern):gsub("{([%w_]+)}", function (key)
    return signature.text(m[key])
  end)
  if place and m.inplace then
    out = out .. (out == "" and "" or ", ") .. "inplace=True"
  end
  return out
end

local function buffers_of(m, names, a)
  for _, name in ipairs(names or {}) do m:register_buffer(name, a[name]) end
end

local function class_of(row)
  local name = row[1]
  local class = Module:extend(name)
  local s = signature.new(name .. ".__init__", row[2], 1)
  local buffered = {}
  for _, key in ipairs(row.buffers or {}) do buffered[key] = true end
  function class:__init__(...)
    local a = signature.bind(s, ...)
    if s.known.size_average then
      a.reduction = reduction.name(a)
    end
    for _, p in ipairs(s) do
      local key = p.name
      if not translated[key] and not buffered[key] then self[key] = a[key] end
    end
    buffers_of(self, row.buffers, a)
    if row.check then row.check(self, a) end
  end
  if row[4] then
    function class:extra_repr() return text_of(self, row[4]) end
  end
  return class, s
end

-- The fields as keywords of the function.
local function fields_of(m, s, training)
  local kw = {}
  for _, p in ipairs(s) do
    if not translated[p.name] then kw[p.name] = m[p.name] end
  end
  if training then kw.training = m.training end
  return kw
end

-- module(row): the class.
function M.module(row)
  local class, s = class_of(row)
  local f = row[3]
  local inputs = signature.new(row[1] .. ".forward", row.inputs or "input", 1)
  function class:forward(...)
    local a, list = signature.bind(inputs, ...), {}
    for i, p in ipairs(inputs) do list[i] = a[p.name] end
    if type(f) == "function" then
      return f(self, table.unpack(list, 1, #inputs))
    end
    local kw = fields_of(self, s, row.training)
    list[#inputs + 1] = next(kw) and kw or nil
    return F[f](table.unpack(list, 1, #inputs + 1))
  end
  return class
end

-- modules(rows): {name = class}.
function M.modules(rows)
  local out = {}
  for _, row in ipairs(rows) do out[row[1]] = M.module(row) end
  return out
end

-- init(class, name, signature, body): a constructor of arguments by name.
function M.init(class, name, text, body)
  local s = signature.new(name .. ".__init__", text, 1)
  function class:__init__(...) return body(self, signature.bind(s, ...)) end
end

-- forward(class, name, signature, body): the same for forward.
function M.forward(class, name, text, body)
  local s = signature.new(name .. ".forward", text, 1)
  function class:forward(...) return body(self, signature.bind(s, ...)) end
end

-- What is passed by name: a table with words for keys, as signature.bind
-- takes it.
local function is_named(v)
  return type(v) == "table" and getmetatable(v) == nil
    and type(next(v)) == "string"
end

-- name_inputs(class, name, text): forward, written with arguments by place,
-- takes them by name, too, and refuses what does not fit.
function M.name_inputs(class, name, text)
  local f, s = class.forward, signature.new(name .. ".forward", text, 1)
  local n = #s
  function class:forward(...)
    local given = select("#", ...)
    if given == n and (...) ~= nil and not is_named(select(given, ...)) then
      return f(self, ...)
    end
    local a, list = signature.bind(s, ...), {}
    for i = 1, n do list[i] = a[s[i].name] end
    return f(self, table.unpack(list, 1, n))
  end
end

-- size(v, n): one number n times, or a list.
function M.size(v, n)
  if type(v) ~= "number" then return util.list(v) end
  local out = {}
  for i = 1, n do out[i] = v end
  return out
end

M.text_of = text_of

return M
