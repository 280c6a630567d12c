-- SPDX-License-Identifier: MIT
-- dt/debug/export.lua: dt.debug.export: the record as a script for PyTorch, as
-- a script for dtrepl, as a log for machines, as a page, as a trace.

local dt = require "dt"
local page = require "dt.debug.page"
local agreed = require "dt.debug.agreed"
local mem = require "dt.debug.mem"
local program = require "dt.debug.program"
local custom = require "dt.debug.custom"
local util = require "dt.util"
local emit = require "dt.debug.emit"
local report = require "dt.debug.report"
local original = require "dt.debug.original"

local M = {}

-- A script that shows what failed last, or else the numbers.
local function torch()
  local P = program.build()
  local e = agreed.error_of(report.raised(P))
  if not e or agreed.first(P.error and P.error.kind == "raise") then
    return emit.python(P), #P.steps
  end
  local text = original.script(P.ranks)
  if text then return text, #P.steps end
  P = program.build{all = true}
  return emit.python(P) .. ("# Then, at %s: %s: %s\n"):format(e.where or "the prompt",
    e.class, (e.message:gsub("\n", "\n#   "))), #P.steps
end

-- Calls that failed before the last operator ran: the script caught them.
local function caught_before(last)
  local list = {}
  for _, e in ipairs(program.entries {}) do
    if e.error and e.seq < last then list[#list + 1] = e.op end
  end
  return list
end

-- The whole record; it ends with what failed, unless the script went on.
local function lua()
  local P, all = program.build(), program.build{all = true}
  local last = all.steps[#all.steps]
  local caught = last and P.error and P.error.seq and P.error.seq < last.seq
    and caught_before(last.seq) or {}
  local note = ""
  if #caught > 0 then
    P = all
    note = ("-- left out, as the script caught it: %s\n"):format(
      table.concat(caught, ", "))
  end
  local why = agreed.first(custom.unwritable(P))
  if why then
    page.fail("COMMAND", "%s: no script of Lua would decide the same; :export torch "
      .. "writes the program itself, if it is Python", (why:gsub("^The", "the")))
  end
  return ("-- dtrepl: ranks=%d\n"):format(P.ranks) .. note
    .. emit.lua(P, {whole = true}) .. "\n", #P.steps
end

-- One object a line: a head, then each operator.
local function json()
  local entries = dt.debug.entries()
  local out = {dt.debug.json{schema = 1, kind = "dtrepl-log",
    ranks = dt.world_size(), rank = dt.rank(), operators = #entries}}
  for i, e in ipairs(entries) do out[i + 1] = dt.debug.json(e) end
  return table.concat(out, "\n") .. "\n", #entries
end

-- Parameters of the modules that the script's variables hold, each once, by the
-- path of the outermost module, then distributed tensors of variables: {{name,
-- tensor, a variable?}}.
local function parameters()
  local found, out, seen = {}, {}, {}
  for name, m in pairs(dt.debug.variables()) do
    local list = {}
    if util.is_tensor(m) then
      if m.is_dtensor and not name:find("^_") then list[1] = {name, m, true} end
      m = nil
    end
    for path, p in m and m:named_parameters() or next, {} do
      local whole = (name .. "." .. path):gsub("%.(%d+)%f[%.\0]", "[%1]")
      list[#list + 1] = {whole, p}
    end
    found[#found + 1] = {name = name, list = list}
  end
  table.sort(found, function (a, b)
    local va, vb = a.list[1] and a.list[1][3], b.list[1] and b.list[1][3]
    if va ~= vb then return not va end
    local ra, rb = page.is_result(a.name), page.is_result(b.name)
    if ra ~= rb then return rb end
    if #a.list ~= #b.list then return #a.list > #b.list end
    return a.name < b.name
  end)
  for _, m in ipairs(found) do
    for _, entry in ipairs(m.list) do
      local id = dt.debug.id(entry[2])
      if not seen[id] then
        seen[id] = true
        out[#out + 1] = entry
      end
    end
  end
  return out
end

-- One page for a browser; a trace for Chrome or Perfetto.  Rank 0 makes it.
local function html()
  local e, after
  if dt.debug.last_error then e, after = dt.debug.last_error() end
  return dt.debug.page(e and tostring(e), e and after, parameters())
end
local function trace()
  return dt.debug.chrome(mem.series())
end

local makers = {torch = torch, lua = lua, json = json, html = html,
  trace = trace}

-- Add a kind of export: f() -> text, number of operators in it.
function M.add(kind, f) makers[kind] = f end

-- dt.debug.export(kind, file): write the record as "torch", "lua", "json",
-- "html" or "trace"; without `file` the text is returned.  Collective.
function M.export(kind, file)
  if file == nil and type(kind) == "string" then
    local k, f = kind:match("^(%S+)%s+(%S.*)$")
    if k then kind, file = k, f end
  end
  local make = makers[kind]
  if not make then
    local names = {}
    for name in pairs(makers) do names[#names + 1] = name end
    table.sort(names)
    page.fail("COMMAND", "wanted one of %s, not %s", table.concat(names, ", "),
      tostring(kind))
  end
  local text, n = make()
  if not file then return text end
  page.write(file, text)
  return page.new({kind = kind, file = file, operators = n}, function (d)
    return ("%d operators in %s"):format(d.operators, d.file)
  end)
end

return M
