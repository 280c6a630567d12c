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
local util = require "dt.util"

local M = {}

local function copy(t)
  local c = {}
  for k, v in pairs(t) do c[k] = v end
  return c
end

-- ---- what to change, from text ----

local function trim(s) return (s:match("^%s*(.-)%s*$")) end

-- "aten.mm.default: R, S(1) -> S(1)"
local function parse_rule(text)
  local op, ins, outs = text:match("^%s*([%w_.:]+)%s*:%s*(.-)%s*%->%s*(.-)%s*$")
  if not op then
    page.fail("COMMAND", "wanted rule OP: IN, IN -> OUT, not \"%s\"", text)
  end
  local function cells(side)
    local list, depth, from = {}, 0, 1
    for i = 1, #side + 1 do
      local c = side:sub(i, i)
      depth = depth + (c == "(" and 1 or c == ")" and -1 or 0)
      if c == "" or c == "," and depth == 0 then
        local p = dt.debug.placements(side:sub(from, i - 1))[1]
        list[#list + 1], from = tostring(p), i + 1
      end
    end
    return list
  end
  return {rule = (op:gsub("::", ".")), ins = cells(ins), outs = cells(outs)}
end

local planners = {greedy = true, graph = true, auto = true}

-- NAME = PLACEMENTS or #N.I = PLACEMENTS
local function parse_place(name, pl)
  local seq, i = name:match("^#?(%d+)%.?(%d*)$")
  if seq then
    return {at = math.tointeger(seq), input = math.tointeger(i) or 0,
      name = "#" .. seq .. "." .. (i ~= "" and i or "0"), text = pl}
  end
  if name == "planner" then
    pl = trim(tostring(pl))
    if not planners[pl] then
      page.fail("COMMAND", "wanted greedy, graph or auto, not \"%s\"", pl)
    end
    return {planner = pl}
  end
  return {name = name, text = pl}
end

-- One part of the text, between semicolons.
local function parse_part(text, list)
  local drop = text:match("^%s*drop%s+#?(%d+)%s*$")
  local rule = text:match("^%s*rule%s+(.*)$")
  if drop then
    list[#list + 1] = {drop = math.tointeger(drop)}
  elseif rule then
    list[#list + 1] = parse_rule(rule)
  else
    local n = #list
    local one = "([#%w_.%[%]\"]+)%s*=%s*([^=]-)%s*,%s*%f[#%a_\0]"
    for name, pl in (text .. ","):gmatch(one) do
      list[#list + 1] = parse_place(name, pl:match('^"(.*)"$') or pl)
    end
    if #list == n then
      page.fail("COMMAND", "wanted NAME = PLACEMENTS, as w = R S(1), not "
        .. "\"%s\"", text)
    end
  end
end

local function parse(text)
  local list = {}
  for part in (text .. ";"):gmatch("(.-);") do
    if part:find("%S") then parse_part(part, list) end
  end
  if #list == 0 then parse_part(text, list) end
  return list
end

-- {w = "R S(1)", planner = "graph", drop = 7, rule = {OP = "R, R -> R"}}
local function parse_table(t)
  local list = {}
  for name, v in pairs(t) do
    if name == "rule" then
      for op, text in pairs(v) do
        list[#list + 1] = parse_rule(op .. ": " .. text)
      end
    elseif name == "drop" then
      for _, n in ipairs(type(v) == "table" and v or {v}) do
        list[#list + 1] = {drop = n}
      end
    else
      list[#list + 1] = parse_place(name, v)
    end
  end
  return list
end

-- ---- changing the program ----

-- Uses of id `from` in step k become `to`.
local function rename_step(P, k, from, to)
  local function arg(a)
    if type(a) ~= "table" or a == dt.None then return a end
    if a.id then return a.id == from and {id = to} or a end
    if #a == 0 then return a end
    local list = {}
    for i, x in ipairs(a) do list[i] = arg(x) end
    return list
  end
  local s = copy(P.steps[k])
  s.ins = {}
  for n, id in ipairs(P.steps[k].ins) do s.ins[n] = id == from and to or id end
  if s.args then s.args = arg(s.args) end
  if s.kwargs then
    s.kwargs = {}
    for name, a in pairs(P.steps[k].kwargs) do s.kwargs[name] = arg(a) end
  end
  P.steps[k] = s
end

-- Every use of id `from` in steps after index i becomes `to`.
local function rename(P, i, from, to)
  for k = i + 1, #P.steps do rename_step(P, k, from, to) end
end

-- The last step that makes a value for which is(id, v).
local function last_maker(P, is)
  for i = #P.steps, 1, -1 do
    local s = P.steps[i]
    for _, id in ipairs(s.outs) do
      local v = P.values[id]
      local own = false
      for _, x in ipairs(s.ins) do own = own or x == id end
      if is(id, v) and not own then return i, s, id, v end
    end
  end
end

-- The tensor at a path from a variable, as model.layers[0].wq.weight; nil.
local function id_at(path, vars)
  local f = load("return " .. path, "=whatif", "t", vars or _G)
  local ok, x = pcall(f or error)
  return ok and util.is_tensor(x) and dt.debug.id(x) or nil
end

-- The last step that makes the tensor of this name, one of `vars` or global.
local function maker(P, name, vars)
  local i, s, id, v = last_maker(P, function (_, x) return x.name == name end)
  if i then return i, s, id, v end
  local path = id_at(name, vars)
  i, s, id, v = last_maker(P, function (x) return x == path end)
  if i then return i, s, id, v end
  if path then
    page.fail("KEY", "no recorded operator made %s as it is: it was built of "
      .. "another tensor's data (:blame %s tells where)", name, name)
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
  page.fail("KEY", "no recorded tensor is called %s%s", name,
    #known > 0 and "; there are " .. table.concat(known, ", ")
    or #P.steps == 0 and "; nothing is recorded yet" or "")
end

local states = {distribute_tensor = true, redistribute = true}

-- Change one value; gives its placements before.
local function place(P, change)
  local i, s, id, v = maker(P, change.name, change.vars)
  local mesh = v.mesh or program.meshes(P)[1]
  if not mesh then page.fail("COMMAND", "no mesh is known to the record") end
  local pl = change.placements
  if #pl ~= #mesh.shape then
    page.fail("COMMAND", "%s lies on a mesh of %d dimensions and wants as many "
      .. "placements: :whatif %s = S(0)%s", change.name, #mesh.shape,
      change.name, (" R"):rep(#mesh.shape - 1))
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

local function step_of(P, seq)
  for k, s in ipairs(P.steps) do if s.seq == seq then return k, s end end
  page.fail("INDEX", "operator #%d is not among the recorded steps", seq)
end

-- Redistribute one input of one operator before it.
local function force(P, c)
  local k, s = step_of(P, c.at)
  local id = s.ins[c.input + 1]
  if not id then
    page.fail("INDEX", "operator #%d has %d inputs, counted from 0", c.at,
      #s.ins)
  end
  local v = P.values[id]
  local mesh = v.mesh or program.meshes(P)[1]
  local new = copy(v)
  new.id = -(c.at * 64 + c.input) - (1 << 40)
  new.name = ("in%d_of_%d"):format(c.input, c.at)
  new.placements, new.mesh, new.requires_grad = c.placements, mesh, false
  P.values[new.id] = new
  rename_step(P, k, id, new.id)
  table.insert(P.steps, k, {kind = "call", ins = {id}, outs = {new.id},
    op = v.placements and "redistribute" or "distribute_tensor", seq = s.seq,
    file = s.file, line = s.line, placements = c.placements, mesh = mesh})
  return v.placements and table.concat(v.placements, " ") or "plain"
end

-- Leave a redistribution out.
local function drop(P, seq)
  local k, s = step_of(P, seq)
  if s.kind ~= "call" or s.op ~= "redistribute" then
    page.fail("COMMAND", "#%d is %s; only a redistribute can be dropped", seq,
      s.op or s.kind)
  end
  local from, to = P.values[s.ins[1]], P.values[s.outs[1]]
  rename(P, k, s.outs[1], s.ins[1])
  table.remove(P.steps, k)
  return table.concat(to.placements, " "), table.concat(from.placements, " ")
end

-- What the world runs first: rules for an operator, a planner.
local RULE = [[
dt._register_sharding(%q, function (...)
  local given, ins, whole, k = %s, {}, {}, 0
  local function see(a)
    local spec = type(a) == "table" and a.placements
    if type(a) == "table" and not spec and type(a[1]) == "table" then
      for _, x in ipairs(a) do see(x) end
      return
    end
    if spec then k = k + 1 end
    ins[#ins + 1] = spec and (given[k] or "R") or dt.None
    whole[#whole + 1] = spec and "R" or dt.None
  end
  for i = 1, select("#", ...) do see((select(i, ...))) end
  local outs, all = %s, {}
  for i = 1, #outs do all[i] = "R" end
  return {{all, whole}, {outs, ins}}
end, true)
]]

local function prelude(c)
  if c.planner then return ("dt._plan_mode(%q)\n"):format(c.planner) end
  return RULE:format(c.rule, replay.dump(c.ins), replay.dump(c.outs))
end

-- Make one change; what it was and is, for the page.
local function apply(P, c, o)
  if c.planner or c.rule then
    o.prelude = (o.prelude or "") .. prelude(c)
    if c.planner then
      return {name = "planner", before = "auto", after = c.planner}
    end
    return {name = "rule " .. c.rule, before = "PyTorch's", after =
      table.concat(c.ins, ", ") .. " -> " .. table.concat(c.outs, ", ")}
  elseif c.drop then
    local before, after = drop(P, c.drop)
    return {name = ("drop #%d"):format(c.drop), before = before, after = after}
  end
  c.placements = {}
  for i, p in ipairs(dt.debug.placements(c.text)) do
    c.placements[i] = tostring(p)
  end
  return {name = c.name, before = c.at and force(P, c) or place(P, c),
    after = table.concat(c.placements, " ")}
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

-- What was run, each under a key of its own: several steps may be for one
-- operator (what the program adds to it has no line of the script).
local function by_key(P, r)
  local n = {}
  return coroutine.wrap(function ()
    for _, s in ipairs(r.steps) do
      local step = P.steps[s.step]
      local key = ("%d %s"):format(step.seq, step.op or step.kind)
      n[key] = (n[key] or 0) + 1
      coroutine.yield(key .. " " .. n[key], s, step)
    end
  end)
end

-- Operators (by what they make) whose layout or communication is another now.
local function differences(P, Q, a, b)
  local before, list = {}, {}
  for key, s in by_key(P, a) do before[key] = s end
  for key, s, step in by_key(Q, b) do
    local old = before[key]
    if old and step.kind ~= "call" and step.kind ~= "detach" and
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
  local changed = {}
  for i = 1, math.min(#d.steps, 12) do
    local x = d.steps[i]
    changed[i] = {("  #%d %s"):format(x.seq, x.op or "backward"),
      ("%s -> %s"):format(x.before, x.after),
      ("%s -> %s"):format(page.bytes(x.bytes_before),
        page.bytes(x.bytes_after)), page.place(x)}
  end
  if #changed > 0 then out[#out + 1] = page.columns(changed) end
  if #d.steps > 12 then
    out[#out + 1] = ("  and %d more"):format(#d.steps - 12)
  end
  if b.error then out[#out + 1] = "after: " .. b.error.message end
  return table.concat(out, "\n")
end

-- The answer, of rank 0's record: what other ranks would find is the same, and
-- they would find it on the same cores.
local function compare(list, vars)
  local P = program.build{all = true}
  local Q = program.with(P, {table.unpack(P.steps)})
  Q.values = copy(P.values)
  local done, o = {}, {fake = true, alone = true}
  for _, c in ipairs(list) do
    c.vars = vars
    done[#done + 1] = apply(Q, c, o)
  end
  local a = replay.run(P, {fake = true, alone = true})
  local b = replay.run(Q, o)
  return {changes = done, before = totals(a), after = totals(b),
    steps = differences(P, Q, a, b)}
end

-- dt.debug.whatif(change): change is text, parts separated by ";":
--   "w = R S(1), x = S(0)"  tensors placed otherwise where they are made
--   "#7.1 = R S(1)"         input 1 of operator #7 redistributed before it
--   "drop #5"               a redistribute left out
--   "rule aten.mm.default: R, S(1) -> S(1)"   this rule on each mesh dimension
--                           (or all Replicate), in place of the operator's own
--   "planner = graph"       how redistributions are planned: greedy, graph
-- or {w = "R S(1)", ["#7.1"] = .., drop = 5, rule = {OP = ..}, planner = ..}.
-- {changes, before = {collectives, bytes, implicit, per, peak, error}, after,
-- steps = what is different}.  `vars`: where names of tensors are looked up that
-- no record has (model.layers[0].wq.weight), at a stop the frame's; globals
-- without it.  Collective.
function M.whatif(change, vars)
  local list = type(change) == "table" and parse_table(change) or parse(change)
  local answer = ""
  if dt.rank() == 0 or dt.debug.no_data() then
    local ok, d = pcall(compare, list, vars)
    answer = replay.dump(ok and d or {failed = type(d) == "table"
      and {code = d.code, message = d.message} or {message = tostring(d)}})
  end
  local d = replay.undump(dt.debug.from_all(answer)[1])
  if d.failed then page.fail(d.failed.code or "RUNTIME", "%s", d.failed.message) end
  return page.new(d, text)
end

M.place, M.copy, M.rename = place, copy, rename
return M
