-- SPDX-License-Identifier: MIT
-- dt/debug/emit.lua: a program (dt/debug/program.lua) as text: Lua for dtrepl,
-- Python for PyTorch.
--
-- Both are made by the same walk; what differs is in the two dialects
-- (dialect.lua).  Tensors nobody made here are in leaves.lua.

local dt = require "dt"
local util = require "dt.util"
local agreed = require "dt.debug.agreed"
local dialect = require "dt.debug.dialect"
local leaves = require "dt.debug.leaves"
local memory = require "dt.debug.memory"
local original = require "dt.debug.original"
local page = require "dt.debug.page"
local program = require "dt.debug.program"
local custom = require "dt.debug.custom"
local called = require "dt.debug.called"
local python = require "dt.debug.emit_python"

local M = {}

local Lua, Py = dialect.Lua, dialect.Py

-- ---- the walk ----------------------------------------------------------

local function value(D, a, of)
  local t = type(a)
  if a == nil or a == dt.None then return D.none end
  if t == "number" then return D.number(a) end
  if t == "boolean" then return D.bool(a) end
  if t == "string" then return D.string(a) end
  if a.id then return of(a.id) end
  if #a == 0 and next(a) ~= nil then return D.tag(a) end
  local list = {}
  for i, x in ipairs(a) do list[i] = value(D, x, of) end
  return D.open .. table.concat(list, ", ") .. D.close
end

-- Facts about the devices stay at home.
local skip = {device = true, layout = true, pin_memory = true,
  non_blocking = true}

local function op_call(D, s, of)
  local args, kw = {}, {}
  for i, a in ipairs(s.args) do args[i] = value(D, a, of) end
  for k, a in pairs(s.kwargs) do
    if not skip[k] and a ~= dt.None then
      kw[#kw + 1] = {k, value(D, a, of)}
    end
  end
  table.sort(kw, function (x, y) return x[1] < y[1] end)
  return D.call(D.op(s.op), args, kw)
end

-- ---- steps -------------------------------------------------------------
--
-- W: {D, P, names, meshes, lines, left}; left: the budget of leaves.lua where
-- each rank writes its own part, else nil.

local function name_of(W, id)
  local v = W.P.values[id]
  if v and v.grad_of then return (W.names[v.grad_of] or "?") .. ".grad" end
  return W.names[id] or ("missing_" .. id)
end

-- The gradient of from_local goes back to its placements and is plain again.
local function back_to_local(D, s, x, meshes)
  if s.moved then
    local pl = called.placements(s.moved)
    x = D.call(x .. D.dot .. "redistribute",
      {meshes[s.in_mesh], D.placements(pl)}, {})
  end
  return x .. D.dot .. "to_local()"
end

local function call_step(W, s)
  local D, P = W.D, W.P
  local x, out = name_of(W, s.ins[1]), P.values[s.outs[1] or 0]
  if s.op == "to_local" then return x .. D.dot .. "to_local()" end
  if s.op == "from_local_backward" then
    return back_to_local(D, s, x, W.meshes)
  end
  if not s.placements then return nil end
  local mesh, pl = W.meshes[s.mesh], s.placements
  if s.op == "distribute_tensor" then
    return leaves.distribute(D, x, pl, mesh, s.cut_here)
  elseif s.op == "redistribute" then
    return D.call(x .. D.dot .. "redistribute", {mesh, D.placements(pl)}, {})
  end
  return leaves.from_local(D, x, out, mesh, pl)
end

-- Another reading of memory that has a name.
local function view_step(W, s)
  local D, v = W.D, W.P.values[s.outs[1]]
  local b = W.P.values[s.ins[1]]
  local text = name_of(W, b.id)
  if b.placements then text = text .. D.dot .. "to_local()" end
  text = text .. D.dot .. "detach()"
  local same = table.concat(b.local_shape, ",") == table.concat(v.local_shape, ",")
    and b.offset == v.offset
  if not same or not (b.placements or v.placements) then
    local stride = v.placements and util.contiguous_stride(v.local_shape) or v.stride
    text = D.call(text .. D.dot .. "as_strided", {D.size(v.local_shape),
      D.size(stride), tostring(v.at)}, {})
  end
  if not v.placements then return text end
  return leaves.from_local(D, text, v, W.meshes[v.mesh], v.placements)
end

-- Does the step take memory in which nothing was written, and something reads
-- it before all of it is written?  What was there is anything in PyTorch.
local function reads_nothing(W, s)
  local v = s.op:match("^aten%.[%w_]*empty") and W.P.values[s.outs[1] or 0]
  if not v or s.error or (v.storage or 0) == 0 then return false end
  return W.memory:first_use(v, s) == "read"
end

local FORBIDDEN <const> = "DT0305"      -- by ExplicitRedistributionContext

local function op_step(W, s)
  local D = W.D
  local rhs = op_call(D, s, function (id) return name_of(W, id) end)
  if D == Py and reads_nothing(W, s) then
    rhs = leaves.found(D, rhs, W.P.values[s.outs[1]], s.seq + 1, W.left)
      or "zeroed(" .. rhs .. ")"
  end
  if s.implicit then rhs = D.implicit:format(rhs) end
  if s.no_grad and not W.P.explicit then rhs = D.no_grad:format(rhs) end
  if s.taken_over then rhs = D.loss_parallel:format(rhs) end
  if s.error == FORBIDDEN then rhs = D.explicit:format(rhs) end
  return rhs
end

-- kind -> function (W, step) -> text of the right side, a note.
local makers = {op = op_step, call = call_step, view = view_step}

function makers.leaf(W, s)
  local v = W.P.values[s.outs[1]]
  if not v.placements and (v.storage or 0) ~= 0
     and W.memory:first_use(v, s) == "written" then
    return leaves.room(W.D, v)
  end
  local rhs, made_up = leaves.leaf(W.D, W.P.values[s.outs[1]], s.seq,
    W.meshes, W.left)
  return rhs, made_up and "numbers made up" or nil
end

function makers.alias(W, s) return name_of(W, s.ins[1]) end

function makers.data(W, s)
  return W.D.data(name_of(W, s.wrote[1]), name_of(W, s.ins[1]))
end

function makers.detach(W, s)
  return name_of(W, s.ins[1]) .. W.D.dot .. "detach()"
end

makers["raise"] = function (W, s)
  return called.text(W.D, s, function (id) return name_of(W, id) end, W.meshes)
end

function makers.field(W, s)
  return name_of(W, s.ins[1]) .. ".grad"
    .. (s.part and W.D.dot .. "to_local()" or "")
end

function makers.clear(W, s)
  return name_of(W, s.ins[1]) .. ".grad = "
    .. (W.D == Lua and "nil" or W.D.none)
end

function makers.backward(W, s)
  local rhs = name_of(W, s.ins[1]) .. W.D.dot .. "backward()"
  return s.taken_over and W.D.loss_parallel:format(rhs) or rhs
end

function makers.raw(W, s)
  return W.D.raw(s.raw, name_of(W, s.ins[1]), W.meshes[s.mesh])
end

-- PyTorch's CPU generator is where it was, unless it is that one.
local function draw_line(W, s)
  local g, was = s.draw, W.drawn
  if not g or not W.left then return end
  if not was or was.seed ~= g.seed or was.stop ~= g.at
     or was.stop_pair ~= g.pair then
    W.lines[#W.lines + 1] = {lhs = {}, step = s,
      rhs = W.D.drawn(g.seed, g.at, g.pair)}
  end
  W.drawn = g
end

-- Random numbers of other generators are no other's: what was drawn is written
-- into the result.
local function fill_lines(W, s)
  if not s.random or s.draw or not W.left then return end
  for _, id in ipairs(s.outs) do
    local text = W.names[id] and leaves.fill(W.D, W.names[id], W.P.values[id],
      s.seq + 1, W.left)
    if text then W.lines[#W.lines + 1] = {lhs = {}, rhs = text, step = s} end
  end
end

-- Does the operator give a list of tensors, not one or several?
local function gives_list(s)
  local op = s.kind == "op" and dt.ops or nil
  for part in (op and s.op or ""):gmatch("[^.]+") do
    op = op and op[part]
  end
  local result = op and op.schema and op.schema:match("%->%s*(.-)%s*$") or ""
  return result:find("%[%]$") and not result:find("^%(")
end

-- The names on the left for the results of a list: all of them.
local function of_list(W, lhs, rhs)
  if #lhs == 0 then return rhs end
  if W.D == Lua then return "table.unpack(" .. rhs .. ")" end
  return #lhs == 1 and rhs .. "[0]" or rhs
end

local function step_lines(W, s)
  local rhs, note = makers[s.kind](W, s)
  if not rhs then return end
  draw_line(W, s)
  local own, lhs = {}, {}
  for _, id in ipairs(s.ins) do own[id] = true end
  for i, id in ipairs(s.slots or s.outs) do
    lhs[i] = (own[id] or not id) and "_" or W.names[id]
  end
  local some = false
  for _, name in ipairs(lhs) do some = some or name ~= "_" end
  if some and gives_list(s) then
    rhs = of_list(W, lhs, rhs)
  else
    while #lhs > 0 and lhs[#lhs] == "_" do lhs[#lhs] = nil end
  end
  if s.read then rhs = W.D.shown(name_of(W, s.ins[1]) .. ".item()", rhs) end
  if s.kind == "raise" and called.is_value(s) then lhs = {"_"} end
  W.lines[#W.lines + 1] = {lhs = lhs, rhs = rhs, note = note, step = s}
  if not s.error then fill_lines(W, s) end
end

-- Leaves ask for gradients just before the first step that follows them:
-- what was written into them before is past.
local function ask_gradients(W, s, asked)
  if s.no_grad or s.kind == "detach" or s.kind == "view" then return end
  local own = s.reason == "leaf written" and s.ins[1]
  for _, id in ipairs(s.ins) do
    if (W.P.values[id].requires_grad or id == own) and not asked[id] and W.names[id] then
      asked[id] = true
      W.lines[#W.lines + 1] = {lhs = {}, step = s, rhs = W.names[id]
        .. W.D.dot .. "requires_grad_(" .. (W.D == Lua and "" or "True") .. ")"}
    end
  end
end

-- Lines {lhs, rhs, note, step} of a program in a dialect.  With `own` each
-- rank writes the numbers it has; in a `pretend` world numbers cannot be read,
-- but what moves for it does.  Gives the lines, how many of them stand before the
-- first step, and the names.
local function walk(D, P, own, pretend)
  local list, meshes = program.meshes(P)
  local W = {D = D, P = P, names = program.names(P), meshes = meshes,
    lines = {}, left = own and leaves.budget() or nil,
    memory = memory.of(P)}
  for _, text in ipairs(custom.lines(D, P)) do
    W.lines[#W.lines + 1] = {lhs = {}, rhs = text}
  end
  for _, m in ipairs(list) do
    W.lines[#W.lines + 1] = {lhs = {meshes[m]}, rhs = D.mesh(m, meshes)}
  end
  local head, asked = #W.lines, {}
  for _, s in ipairs(P.steps) do
    if not s.read or pretend or s == P.steps[#P.steps] then
      ask_gradients(W, s, asked)
      step_lines(W, s)
    end
    if s.read and pretend then
      local l = W.lines[#W.lines]
      l.rhs = "pcall(function () return " .. l.rhs .. " end)"
    end
  end
  return W.lines, head, W.names
end

local MANY = 150                -- Lua has room for 200 locals

local function line_text(D, l, many)
  local text = l.rhs
  if #l.lhs > 0 then
    text = table.concat(l.lhs, ", ") .. " = " .. text
    if D == Lua and not many then text = "local " .. text end
  elseif D == Lua and text:find("^%(") then
    text = "local _ = " .. text         -- else it would call the line before
  end
  if l.note then
    text = text .. "  " .. D.comment .. l.note
  end
  return text
end

-- What ranks wrote differently becomes a choice by rank.  `all`: each rank's
-- list of right sides.  nil when they differ in more.
local function merge(D, lines, all)
  for _, other in ipairs(all) do
    if #other ~= #lines then return nil end
  end
  for i, l in ipairs(lines) do
    local differ, texts = false, {}
    local to = table.concat(l.lhs, ",")
    for r, other in ipairs(all) do
      local lhs, rhs = other[i]:match("^([^\2]*)\2(.*)$")
      if lhs ~= to then return nil end          -- a name for another result
      texts[r] = rhs
      differ = differ or rhs ~= l.rhs
    end
    if differ then l.rhs = D.choice(texts) end
  end
  return lines
end

local function split(text)
  local list = {}
  for part in (text .. "\1"):gmatch("([^\1]*)\1") do list[#list + 1] = part end
  return list
end

-- Ranks that did different things: each has its own block of lines, with the
-- names it has for things; `more` lines end this rank's.
local function blocks(D, lines, head, many, more)
  local mine = {}
  for i = head + 1, #lines do
    mine[#mine + 1] = line_text(D, lines[i], many)
  end
  for _, text in ipairs(more) do mine[#mine + 1] = text end
  local all, groups, of = dt.debug.from_all(table.concat(mine, "\1")), {}, {}
  for r, text in ipairs(all) do
    local g = of[text]
    if not g then
      g = {ranks = {}, lines = text ~= "" and split(text) or {}}
      of[text], groups[#groups + 1] = g, g
    end
    g.ranks[#g.ranks + 1] = r - 1
  end
  return D.blocks(groups)
end

-- Put in what other ranks did otherwise; `more` are lines to end with where
-- ranks did different things.  Collective.  Gives the texts of all lines.
local function whole(D, P, lines, head, more)
  local out, many = {}, #lines > MANY
  local last = #lines
  if P.ranks > 1 and not dt.debug.no_data() then
    local mine = {}
    for i, l in ipairs(lines) do mine[i] = table.concat(l.lhs, ",") .. "\2" .. l.rhs end
    local all = dt.debug.from_all(table.concat(mine, "\1"))
    for r, text in ipairs(all) do all[r] = split(text) end
    P.differ = merge(D, lines, all) == nil
    if P.differ then last = head end
  end
  for i = 1, last do out[i] = line_text(D, lines[i], many) end
  if P.differ then
    for _, text in ipairs(blocks(D, lines, head, many, more)) do
      out[#out + 1] = text
    end
  end
  return out
end

-- lua(P, {mark = true, whole = true, pretend = true}) -> text.  With `mark`, after
-- each step a call __mark(i) with its place in P.steps; with `whole`, what other
-- ranks did otherwise is in it (Collective); with `pretend`, for a world without
-- data.
function M.lua(P, o)
  o = o or {}
  local lines, head = walk(Lua, P, o.whole, o.pretend)
  if o.whole then
    return table.concat(whole(Lua, P, lines, head, {}), "\n"), lines
  end
  local out, index = {}, {}
  for i, s in ipairs(P.steps) do index[s] = i end
  for i, l in ipairs(lines) do
    out[#out + 1] = line_text(Lua, l, #lines > MANY)
    local next_step = lines[i + 1] and lines[i + 1].step
    if o.mark and l.step and l.step ~= next_step then
      out[#out + 1] = ("__mark(%d)"):format(index[l.step])
    end
  end
  return table.concat(out, "\n"), lines
end

-- The program itself, where a sharding rule of its own decided that no script
-- can repeat, and `why`.
local function itself(P, why)
  return original.script(P.ranks, why) or page.fail("COMMAND", "%s: no script "
    .. "without it would decide the same", (why:gsub("^The", "the")))
end

-- python(P[, alone]) -> a script for PyTorch.  Collective, unless `alone`.
function M.python(P, alone)
  local why = custom.unwritable(P)
  if not alone then why = agreed.first(why) end
  if why then return itself(P, why) end
  local lines, head, names = walk(Py, P, not alone)
  P.fails = P.error ~= nil
  if not alone then P.fails = agreed.first(P.fails) ~= nil end
  local texts = {}
  if alone then
    for i, l in ipairs(lines) do texts[i] = line_text(Py, l) end
  else
    texts = whole(Py, P, lines, head, python.shown(P, names))
    if P.differ then
      local had = python.had_apart(P, names)
      table.move(had, 1, #had, #texts + 1, texts)
    end
  end
  return python.script(P, texts, names, {alone = alone})
end

M.Lua, M.Py = Lua, Py
-- dt.debug.program([{first, last, all}]): the record as a program; it prints
-- as Lua.
function M.program(o)
  return page.new(program.build(o), function (p) return M.lua(p) end)
end

return M
