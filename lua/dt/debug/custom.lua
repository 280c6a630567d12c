-- SPDX-License-Identifier: MIT
-- dt/debug/custom.lua: operators of the user's own in an emitted program.
--
-- What they compute is code we cannot carry along.  A module of ours that
-- defines them is required; else, and in PyTorch always, a stand-in has the
-- schema and returns zeros of the shapes that were seen: enough for placements
-- and errors, which come before any arithmetic.

local library = require "dt.torch.library"

local M = {}

-- "(Tensor, int)" or "Tensor" -> {"Tensor", "int"}
local function returns(schema)
  local text = schema:match("%->%s*(.-)%s*$")
  local list = {}
  for part in text:gsub("^%(", ""):gsub("%)$", ""):gmatch("[^,]+") do
    list[#list + 1] = part:match("^%s*([^%s]+)")
  end
  return list
end

local function same(a, b)
  return table.concat(a, ",") == table.concat(b, ",")
end

-- Output i of step `s`: like the first argument of its shape, else zeros.
local function output(D, P, s, i)
  local lua, first, any = D.name == "lua", nil, nil
  local v = P.values[s.outs[i] or 0]
  for k, a in ipairs(s.args) do
    local t = type(a) == "table" and a.id and P.values[a.id]
    if t and (not v or same(t.shape, v.shape)) then
      first = first or k
    end
    any = any or t and k
  end
  if first then
    return lua and ("dt.zeros_like((select(%d, ...)))"):format(first)
      or ("torch.zeros_like(a[%d])"):format(first - 1)
  end
  local shape = v and v.shape or {}
  local text = table.concat(shape, ", ")
  if lua then return ("dt.zeros({%s})"):format(text) end
  return ("torch.zeros([%s]%s)"):format(text, any          -- meta, when asked
    and (", device=a[%d].device"):format(any - 1) or "")
end

-- The stand-in in PyTorch of an operator by @custom_op without a fake: it is made the
-- same way, so that PyTorch asks for the fake as it does for the program's own.
local function unfaked(name, schema, func, values)
  local full, rest = schema:match("^([%w_]+::[%w_]+)[%w_.]*(.*)$")
  local written = {}
  for arg in rest:gmatch "%(%l!%)[%?%[%]]* ([%a_][%w_]*)" do
    written[#written + 1] = ("%q"):format(arg)
  end
  return ("of_%s = lambda *a, **k: %s\nof_%s.__name__ = %q\n"
    .. "torch.library.custom_op(%q, mutates_args=[%s], schema=%q)(of_%s)"):format(
    name, values, name, func, full, table.concat(written, ", "), rest, name)
end

local function stand_in(D, P, s, def)
  local list, schema = {}, def.schema
  for i, kind in ipairs(returns(schema)) do
    list[i] = kind:match("^Tensor%[") and D.open .. output(D, P, s, i)
      .. D.close or kind:match("^Tensor") and output(D, P, s, i) or "0"
  end
  local values = table.concat(list, ", ")
  if D.name == "lua" then
    return ("dt.library.define(%q, function(...) return %s end)")
      :format(schema, values)
  end
  local ns, rest = schema:match("^([%w_]+)::(.*)$")
  local name = rest:match("^[%w_.]+")
  if #list ~= 1 then values = #list > 0 and "(" .. values .. ")" or "None" end
  local func = def.unfaked and def.unfaked()
  if func then return unfaked((name:gsub("%.", "_")), schema, func, values) end
  return ("lib_%s = torch.library.Library(%q, \"FRAGMENT\")\n"
    .. "lib_%s.define(%q)\nlib_%s.impl(%q, lambda *a, **k: %s, "
    .. "\"CompositeExplicitAutograd\")"):format(name:gsub("%.", "_"), ns,
    name:gsub("%.", "_"), rest, name:gsub("%.", "_"), name, values)
end

-- One side of a row of a rule.
local function side(D, list)
  local out = {}
  for i, p in ipairs(list) do
    out[i] = p == "None" and D.none or D.placement(p)
  end
  return D.open .. table.concat(out, ", ") .. D.close
end

-- A sharding rule that answers as the program's own did.
local function rule(D, name, rows)
  local list = {}
  for i, row in ipairs(rows) do
    local outs, ins = side(D, row[1]), side(D, row[2])
    list[i] = D.name == "lua" and ("{%s, %s}"):format(outs, ins)
      or ("(%s, %s)"):format(outs, ins)
  end
  local text = D.open .. table.concat(list, ", ") .. D.close
  if D.name == "lua" then
    return ("dt.register_sharding(%s, function () return %s end)"):format(
      D.op(name), text)
  end
  return ("register_sharding(%s)(lambda *a, **k: %s)"):format(D.op(name), text)
end

-- The operators of `P` for which the program registered a rule, each once:
-- {name, its answer or false}.
local function ruled(P)
  local list, done = {}, {}
  for _, s in ipairs(P.steps) do
    local rows = nil
    if s.kind == "op" and not done[s.op] then rows = library.rule(s.op) end
    if rows ~= nil then list[#list + 1] = {s.op, rows} end
    done[s.op or ""] = true
  end
  return list
end

-- Can these rows be written down?
local function writable(rows)
  for _, row in ipairs(rows) do
    for _, half in ipairs(row) do
      for _, p in ipairs(half) do
        if p ~= "None" and not p:find "^_?[SPR]%f[%(%z]" then return false end
      end
    end
  end
  return true
end

-- How the ranks cut a value: "S(0) -" on two mesh dimensions.
local function cut(v)
  local list = {}
  for i, p in ipairs(v.placements or {}) do list[i] = p:find "^_?S" and p or "-" end
  local text = table.concat(list, " ")
  return text:find "S" and text or ""
end

-- Does each row of a rule cut its first result as it cuts argument k, to which the call
-- redistributes what it is given?
local function keeps_cut(rows, k)
  for _, row in ipairs(rows) do
    if cut {placements = {row[1][1]}} ~= cut {placements = {row[2][k]}} then return false end
  end
  return true
end

-- Is the output of a step whose stand-in is ours cut as the argument that output()
-- makes it like is not?  The stand-in's local part would have another size.
local function is_cut_anew(P, s, rows)
  local v = P.values[s.outs[1] or 0]
  if not v or not library.definition(s.op) then return false end
  for k, a in ipairs(s.args) do
    local t = type(a) == "table" and a.id and P.values[a.id]
    if t and same(t.shape, v.shape) then
      return not keeps_cut(rows, k) and cut(t) ~= cut(v)
    end
  end
  return cut(v) ~= ""
end

-- unwritable(P) -> why no script can repeat a registered rule: it gave several
-- answers or none (one constant would be another program), or its operator's
-- stand-in does not fit it.  nil when all can be.
function M.unwritable(P)
  local rows_of = {}
  for _, r in ipairs(ruled(P)) do
    if not r[2] or not writable(r[2]) then
      return ("The program's own sharding rule of %s gave several answers, or none")
        :format(r[1])
    end
    rows_of[r[1]] = r[2]
  end
  for _, s in ipairs(P.steps) do
    local rows = rows_of[s.op or ""]
    if rows and is_cut_anew(P, s, rows) then
      return ("The program's own sharding rule of %s cuts its result anew")
        :format(s.op)
    end
  end
end

-- lines(D, P) -> what must come before the program for operators it did not
-- get from PyTorch: a list of texts in the dialect D.
function M.lines(D, P)
  local out, done = {}, {}
  for _, s in ipairs(P.steps) do
    local def = s.kind == "op" and library.definition(s.op)
    local key = def and (D.name == "lua" and def.module or s.op)
    if key and not done[key] then
      done[key] = true
      if D.name == "lua" and def.module then
        out[#out + 1] = ("require %q"):format(def.module)
      else
        out[#out + 1] = stand_in(D, P, s, def)
      end
    end
  end
  for _, r in ipairs(ruled(P)) do
    if r[2] and writable(r[2]) then out[#out + 1] = rule(D, r[1], r[2]) end
  end
  return out
end

return M
