-- SPDX-License-Identifier: MIT
-- dt/debug/whatif.lua: dt.debug.whatif: the record planned again with other
-- placements, without data, and what that changes.
--
-- Both the program as it was and the changed one run in a pretend world, so
-- before and after are counted in the same way.

local dt = require "dt"
local page = require "dt.debug.page"
local program = require "dt.debug.program"
local replay = require "dt.debug.replay"

local M = {}

-- "w = R S(1), x = S(0)" -> list of {name, placements}.
local function parse(text)
  local list = {}
  local one = "([%a_][%w_]*)%s*=%s*([^=]-)%s*,%s*%f[%a_\0]"
  for name, pl in (text .. ","):gmatch(one) do
    list[#list + 1] = {name = name, text = pl}
  end
  if #list == 0 then
    page.fail("COMMAND", "wanted NAME = PLACEMENTS, as w = R S(1), not \"%s\"",
      text)
  end
  return list
end

local function copy(t)
  local c = {}
  for k, v in pairs(t) do c[k] = v end
  return c
end

-- Every use of id `from` in steps after index i becomes `to`.
local function rename(P, i, from, to)
  local function arg(a)
    if type(a) ~= "table" or a == dt.None then return a end
    if a.id then return a.id == from and {id = to} or a end
    if #a == 0 then return a end
    local list = {}
    for k, x in ipairs(a) do list[k] = arg(x) end
    return list
  end
  for k = i + 1, #P.steps do
    local s = copy(P.steps[k])
    s.ins = {}
    for n, id in ipairs(P.steps[k].ins) do
      s.ins[n] = id == from and to or id
    end
    if s.args then s.args = arg(s.args) end
    if s.kwargs then
      s.kwargs = {}
      for name, a in pairs(P.steps[k].kwargs) do s.kwargs[name] = arg(a) end
    end
    P.steps[k] = s
  end
end

local function maker(P, name)
  for i = #P.steps, 1, -1 do
    local s = P.steps[i]
    for _, id in ipairs(s.outs) do
      local v = P.values[id]
      local own = false
      for _, x in ipairs(s.ins) do own = own or x == id end
      if v.name == name and not own then return i, s, id, v end
    end
  end
  local known = {}
  for _, s in ipairs(P.steps) do
    for _, id in ipairs(s.outs) do
      local n = P.values[id].name
      if n and not known[n] then
        known[n] = true
        known[#known + 1] = n
      end
    end
  end
  page.fail("KEY", "no recorded tensor is called %s; there are %s", name,
    table.concat(known, ", "))
end

local states = {distribute_tensor = true, redistribute = true}

-- Change one value; gives its placements before.
local function place(P, change)
  local i, s, id, v = maker(P, change.name)
  local mesh = v.mesh or program.meshes(P)[1]
  if not mesh then page.fail("COMMAND", "no mesh is known to the record") end
  local pl = change.placements
  if #pl ~= #mesh.shape then
    page.fail("COMMAND", "%s lies on a mesh of %d dimensions, %d placements "
      .. "are given", change.name, #mesh.shape, #pl)
  end
  if s.kind == "call" and states[s.op] then
    local step = copy(s)
    step.placements = pl
    P.steps[i] = step
  else
    local new = copy(v)
    new.id, new.name = -id, change.name .. "_placed"
    new.placements, new.mesh, new.requires_grad = pl, mesh, false
    P.values[-id] = new
    rename(P, i, id, -id)
    table.insert(P.steps, i + 1, {kind = "call", ins = {id}, outs = {-id},
      op = v.placements and "redistribute" or "distribute_tensor", seq = s.seq,
      file = s.file, line = s.line, placements = pl, mesh = mesh})
  end
  return v.placements and table.concat(v.placements, " ") or "plain"
end

local function totals(r)
  local t = {collectives = 0, bytes = 0, implicit = 0, per = {},
    peak = r.peak, error = r.error and {code = r.error.code, message =
      r.error.message, op = r.error.op} or nil}
  for _, s in ipairs(r.steps) do
    t.collectives, t.bytes = t.collectives + s.collectives, t.bytes + s.bytes
    t.implicit = t.implicit + s.implicit
    for k, n in pairs(s.per) do t.per[k] = (t.per[k] or 0) + n end
  end
  return t
end

-- Steps (by what they make) whose layout or communication is another now.
local function differences(P, Q, a, b)
  local before, list = {}, {}
  for _, s in ipairs(a.steps) do before[P.steps[s.step].seq] = s end
  for _, s in ipairs(b.steps) do
    local step = Q.steps[s.step]
    local old = before[step.seq]
    if old and step.kind ~= "call" and
       (table.concat(old.specs, ",") ~= table.concat(s.specs, ",")
        or old.bytes ~= s.bytes) then
      list[#list + 1] = {seq = step.seq, op = step.op, file = step.file,
        line = step.line, before = table.concat(old.specs, ", "),
        after = table.concat(s.specs, ", "), bytes_before = old.bytes,
        bytes_after = s.bytes}
    end
  end
  return list
end

local function text(d)
  local out = {}
  for _, c in ipairs(d.changes) do
    out[#out + 1] = ("%s: %s -> %s"):format(c.name, c.before, c.after)
  end
  local a, b = d.before, d.after
  local rows = {{"", "before", "after"},
    {"collectives", tostring(a.collectives), tostring(b.collectives)},
    {"  implicit", tostring(a.implicit), tostring(b.implicit)},
    {"bytes sent per rank", page.bytes(a.bytes), page.bytes(b.bytes)},
    {"memory at its peak", page.bytes(a.peak or 0), page.bytes(b.peak or 0)}}
  local keys = {}
  for k in pairs(a.per) do keys[k] = true end
  for k in pairs(b.per) do keys[k] = true end
  local names = {}
  for k in pairs(keys) do names[#names + 1] = k end
  table.sort(names)
  for _, k in ipairs(names) do
    if (a.per[k] or 0) ~= (b.per[k] or 0) then
      rows[#rows + 1] = {"  " .. k, tostring(a.per[k] or 0),
        tostring(b.per[k] or 0)}
    end
  end
  rows[#rows + 1] = {"error", a.error and a.error.code or "none",
    b.error and b.error.code or "none"}
  out[#out + 1] = page.columns(rows)
  for i, x in ipairs(d.steps) do
    if i <= 12 then
      out[#out + 1] = ("  #%d %s  %s -> %s  %s -> %s  %s"):format(x.seq,
        x.op, x.before, x.after, page.bytes(x.bytes_before),
        page.bytes(x.bytes_after), page.place(x))
    end
  end
  if #d.steps > 12 then
    out[#out + 1] = ("  and %d more"):format(#d.steps - 12)
  end
  if b.error then out[#out + 1] = "after: " .. b.error.message end
  return table.concat(out, "\n")
end

-- dt.debug.whatif(change): change is "w = R S(1), x = S(0)" or {w = "R S(1)"}:
-- {changes, before = {collectives, bytes, implicit, per, peak, error}, after,
-- steps = what is different}.  Collective.
function M.whatif(change)
  local list = {}
  if type(change) == "table" then
    for name, pl in pairs(change) do
      list[#list + 1] = {name = name, text = pl}
    end
  else
    list = parse(change)
  end
  local P = program.build{all = true}
  local Q = program.with(P, {table.unpack(P.steps)})
  Q.values = copy(P.values)
  local done = {}
  for _, c in ipairs(list) do
    c.placements = {}
    for i, p in ipairs(dt.debug.placements(c.text)) do
      c.placements[i] = tostring(p)
    end
    done[#done + 1] = {name = c.name, before = place(Q, c),
      after = table.concat(c.placements, " ")}
  end
  local a = replay.run(P, {fake = true})
  local b = replay.run(Q, {fake = true})
  return page.new({changes = done, before = totals(a), after = totals(b),
    steps = differences(P, Q, a, b)}, text)
end

M.place, M.copy, M.rename = place, copy, rename
return M
