-- SPDX-License-Identifier: MIT
-- dt/debug/rules.lua: dt.debug.rules: the sharding rules of an operator, in
-- general or for inputs: tensors that are there, or shapes ("f32[64, 128]").
--
-- An operator with rules on one mesh dimension lists its rows.  One that a
-- strategy over the whole mesh decides is asked what it would do with its first
-- input at each placement on a mesh of one dimension, the others replicated.

local dt = require "dt"
local page = require "dt.debug.page"
local samples = require "dt.testing.samples"
local util = require "dt.util"

local M = {}

-- "mm", "aten.sum.dim_IntList" -> the overload, as the page's schema names it.
local function overload(schema)
  local ns, base, rest = schema:match("^([%w_]+)::([%w_]+)([^(]*)%(")
  local name = rest:match("^%.(.+)$") or "default"
  return dt.ops[ns][base][name], ("%s.%s.%s"):format(ns, base, name)
end

-- Arguments as typed: samples' notation, or expressions.
local function arguments(text)
  if text:find("%f[%w]%l%w*%[[%d, ]*%]") then return samples.parse(text) end
  if text:find("^%s*[%a_][%w_.]*%f[%s][%s%w_.]*$") then
    page.fail("COMMAND", "arguments have commas between them: %s",
      (text:match("^%s*(.-)%s*$"):gsub("%s+", ", ")))
  end
  local list = table.pack(dt.debug._value(text))
  local kw = list[list.n]
  if util.is_kwargs(kw) then
    list[list.n], list.n = nil, list.n - 1
    return list, kw
  end
  return list
end

local function row_text(inputs, outputs)
  return ("%s -> %s"):format(table.concat(inputs, ", "),
    table.concat(outputs, ", "))
end

-- Placements of the arguments, as decide() writes them.
local function own(args, kw)
  local out = {}
  samples.map(args, kw, function (t, i)
    local list = {}
    for k, p in ipairs(t.placements) do list[k] = tostring(p) end
    out[i] = table.concat(list, " ")
    return t
  end)
  return out
end

-- What the strategy makes of the arguments as they are.
local function decided(op, args, kw)
  local ok, d = pcall(samples.call, function (...)
    return dt.debug.decide(op, ...)
  end, args, kw)
  if not ok then return nil, tostring(d):match("^[^\n]*") end
  local before = table.concat(own(args, kw), ", ")
  local moved = before ~= table.concat(d.inputs, ", ")
  return row_text(d.inputs, d.outputs)
    .. (moved and "  (moved from " .. before .. ")" or "")
end

local function whole(t)
  return t.is_dtensor and t:full_tensor() or t
end

-- A tensor of t's shape with this placement.
local function placed(t, mesh, p)
  if p == "P(sum)" then
    return dt.DTensor.from_local(t, mesh, {dt.Partial()})
  end
  return dt.distribute_tensor(t, mesh, p)
end

local function tried(op, args, kw)
  local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
  local rows, first = {}, nil
  samples.map(args, kw, function (t, i)
    if i == 1 then first = whole(t) end
    return t
  end)
  if not first then return rows end
  local list = {"R"}
  for d = 0, first.ndim - 1 do list[#list + 1] = ("S(%d)"):format(d) end
  list[#list + 1] = "P(sum)"
  for _, p in ipairs(list) do
    local row = decided(op, samples.map(args, kw, function (t, i)
      return placed(whole(t), mesh, i == 1 and p or "R")
    end))
    rows[#rows + 1] = row and ("%s: %s"):format(p, row) or nil
  end
  return rows
end

local function distributed(args, kw)
  local all, n = true, 0
  samples.map(args, kw, function (t)
    n = n + 1
    all = all and t.is_dtensor
    return t
  end)
  return all and n > 0
end

local function rows_of(op, args, kw)
  local found = samples.call(function (...)
    return dt.debug.single_dim_rules(op, ...)
  end, args, kw)
  local out = {}
  if found then
    for i, r in ipairs(found) do out[i] = row_text(r.inputs, r.outputs) end
    return out, "on one mesh dimension (all R always):"
  end
  return tried(op, args, kw),
    "on a mesh of one dimension, by the first input's placement:"
end

-- The rules for a call: {op, schema, rows, now}.
local function for_call(name, given)
  local schema = dt.debug.rules_text(name):match("[^\n]+")
  local op, full = overload(schema)
  return dt.debug.quietly(function ()
    local args, kw = arguments(given)
    local d = {op = full, schema = schema}
    d.rows, d.title = rows_of(op, args, kw)
    if distributed(args, kw) then
      local why
      d.now, why = decided(op, args, kw)
      d.now = d.now or why
    end
    return d
  end)
end

-- An operator that was never called, whose rules depend on its inputs: those of
-- its sample.  nil without one.
local function for_sample(schema)
  local op, full = overload(schema)
  local given = dt.debug.op_info(op).samples[1]
  if not given or dt.debug.no_data() then return nil end
  local ok, d = pcall(for_call, full, given)
  if not ok or #d.rows == 0 then return nil end
  d.given = given
  return d
end

local function text_of(d)
  local title = d.given and ("for %s, %s"):format(d.given, d.title) or d.title
  local out = {d.schema, "  " .. title}
  for i, row in ipairs(d.rows) do out[i + 2] = "    " .. row end
  if #d.rows == 0 then out[3] = "    nothing: it has no strategy" end
  if d.now then out[#out + 1] = "  these inputs: " .. d.now end
  return table.concat(out, "\n") .. "\n"
end

-- dt.debug.rules("OP [args]"): {op, schema, rows}: rows as texts "S(0), R ->
-- S(0)", for the inputs given or those of its last call; where there was none
-- and they matter, for its sample (`given`).
function M.rules(what)
  local name, given = what:match("^(%S+)%s+(.+)$")
  if name then return page.new(for_call(name, given), text_of) end
  local text = dt.debug.rules_text(what)
  local d = {op = what, rows = {}, schema = text:match("[^\n]+")}
  for line in text:gmatch("\n  ([^\n]+)") do
    if line:find("->", 1, true) or line:find("^all R") then
      d.rows[#d.rows + 1] = line
    end
  end
  if #d.rows == 0 and d.schema:find("::", 1, true) then
    local sampled = for_sample(d.schema)
    if sampled then return page.new(sampled, text_of) end
  end
  return page.new(d, function () return text end)
end

return M
