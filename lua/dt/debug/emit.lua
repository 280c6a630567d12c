-- SPDX-License-Identifier: MIT
-- dt/debug/emit.lua: a program (dt/debug/program.lua) as text: Lua for dtrepl,
-- Python for PyTorch.
--
-- Both are made by the same walk; what differs is in the two dialects below.
-- Values of tensors nobody made here are written out while they are few; else
-- a pattern stands for them, and a comment says so.

local dt = require "dt"
local page = require "dt.debug.page"
local program = require "dt.debug.program"
local custom = require "dt.debug.custom"
local called = require "dt.debug.called"

local M = {}

local LITERAL = 64              -- numbers written out
local LITERAL_INT = 4096        -- integers may be indices: more of them

-- ---- dialects ----------------------------------------------------------

local function number(x, inf, nan)
  if math.type(x) == "integer" then return tostring(x) end
  if x ~= x then return nan end
  if x == math.huge then return inf end
  if x == -math.huge then return "-" .. inf end
  local s = ("%.17g"):format(x)
  for digits = 1, 16 do
    local short = ("%." .. digits .. "g"):format(x)
    if tonumber(short) == x then s = short break end
  end
  return s:find("[.e]") and s or s .. ".0"
end

local keywords = {}
for word in ("and break do else elseif end false for function goto if in local "
  .. "nil not or repeat return then true until while"):gmatch("%a+") do
  keywords[word] = true
end

local Lua = {name = "lua", comment = "-- ", none = "dt.None", open = "{", close = "}",
  implicit = "dt.implicit_replication(function() return %s end)",
  no_grad = "dt.no_grad(function() return %s end)"}
function Lua.number(x) return number(x, "math.huge", "(0/0)") end
function Lua.bool(b) return tostring(b) end
function Lua.string(s) return ("%q"):format(s) end
function Lua.dtype(name) return (name:gsub("^torch%.", "dt.")) end
function Lua.tag(t)
  if t.dtype then return Lua.dtype(t.dtype) end
  if t.device then return ("%q"):format(t.device) end
  return ("%q"):format((t.memory_format or t.layout):gsub("^torch%.", ""))
end
function Lua.call(f, args, kwargs)
  local list = {table.unpack(args)}
  local kw = {}
  for _, p in ipairs(kwargs) do
    kw[#kw + 1] = (keywords[p[1]] and ("[%q]"):format(p[1]) or p[1]) .. " = "
      .. p[2]
  end
  if #kw > 0 then list[#list + 1] = "{" .. table.concat(kw, ", ") .. "}" end
  return f .. "(" .. table.concat(list, ", ") .. ")"
end
function Lua.op(name) return "dt.ops." .. name end
function Lua.placements(pl)
  return ("%q"):format(table.concat(pl, " "))
end
function Lua.mesh(m, name)
  if m.root then
    local list = {}
    for i, n in ipairs(m.names) do list[i] = ("%q"):format(n) end
    return #list == 1 and ("%s[%s]"):format(name[m.root], list[1])
      or ("%s[{%s}]"):format(name[m.root], table.concat(list, ", "))
  end
  local straight = true
  for i, r in ipairs(m.ranks or {}) do straight = straight and r == i - 1 end
  local names = ""
  if #m.names > 0 then
    names = (', {mesh_dim_names = {"%s"}}'):format(
      table.concat(m.names, '", "'))
  end
  if straight then
    return ("dt.init_device_mesh(%q, {%s}%s)"):format(m.device,
      table.concat(m.shape, ", "), names)
  end
  return ("dt.DeviceMesh(%q, %s%s)"):format(m.device,
    require("dt.inspect").text(page.nest(m.ranks, m.shape)):gsub("%s+", " "),
    names)
end

local Py = {name = "python", comment = "# ", none = "None", open = "[", close = "]",
  implicit = "implicitly(lambda: %s)",
  no_grad = "torch.no_grad()(lambda: %s)()"}
function Py.number(x) return number(x, 'float("inf")', 'float("nan")') end
function Py.bool(b) return b and "True" or "False" end
function Py.string(s) return ("%q"):format(s):gsub("\\\n", "\\n") end
function Py.dtype(name) return name end
function Py.tag(t)
  if t.device then return ("torch.device(%q)"):format(t.device) end
  return t.dtype or t.memory_format or t.layout
end
function Py.call(f, args, kwargs)
  local list = {table.unpack(args)}
  for _, p in ipairs(kwargs) do list[#list + 1] = p[1] .. "=" .. p[2] end
  return f .. "(" .. table.concat(list, ", ") .. ")"
end
function Py.op(name) return "torch.ops." .. name end
local function py_placement(p)
  local d, sf = p:match("^_S%((%-?%d+), (%d+)%)$")
  if d then return ("_StridedShard(%s, split_factor=%s)"):format(d, sf) end
  d = p:match("^S%((%-?%d+)%)$")
  if d then return ("Shard(%s)"):format(d) end
  d = p:match("^P%((%a+)%)$")
  if d then return ('Partial("%s")'):format(d) end
  return "Replicate()"
end
function Py.placements(pl)
  local list = {}
  for i, p in ipairs(pl) do list[i] = py_placement(p) end
  return "[" .. table.concat(list, ", ") .. "]"
end
function Py.mesh(m, name)
  if m.root then
    local list = {}
    for i, n in ipairs(m.names) do list[i] = ("%q"):format(n) end
    return ("%s[%s]"):format(name[m.root], table.concat(list, ", "))
  end
  local straight = true
  for i, r in ipairs(m.ranks or {}) do straight = straight and r == i - 1 end
  local names = ""
  if #m.names > 0 then
    names = (', mesh_dim_names=("%s",)'):format(
      table.concat(m.names, '", "'))
  end
  local device = '"cpu"'
  if straight then
    return ("init_device_mesh(%s, (%s,)%s)"):format(device,
      table.concat(m.shape, ", "), names)
  end
  return ("DeviceMesh(%s, torch.tensor([%s]).reshape(%s)%s)"):format(device,
    table.concat(m.ranks, ", "), table.concat(m.shape, ", "), names)
end

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

local function count(shape)
  local n = 1
  for _, x in ipairs(shape) do n = n * x end
  return n
end

local function ints(D, list)
  return D.open .. table.concat(list, ", ") .. D.close
end

-- A size: Python wants a tuple.
local function size(D, list)
  if D == Lua then return ints(D, list) end
  return "(" .. table.concat(list, ", ") .. (#list == 1 and ",)" or ")")
end

-- A tensor's numbers as text of a dialect, or nil when they are too many or
-- not known.
local function literal(D, v, shape, seq)
  if dt.debug.no_data() or v.replaced then return nil end
  local n = count(shape)
  local whole = not v.dtype:match("float") and not v.dtype:match("complex")
  if n > (whole and LITERAL_INT or LITERAL) or v.dtype:match("complex")
     or v.dtype:match("float8") then
    return nil
  end
  local t = dt.debug.revive(v.id, seq)
  if not t then return nil end
  return dt.debug.quietly(function ()
    if t.is_dtensor then t = t:to_local() end
    if table.concat(t.shape, ",") ~= table.concat(shape, ",") then
      return nil
    end
    local flat = t:reshape({-1}):tolist()
    local same = n > 0
    for _, x in ipairs(flat) do same = same and x == flat[1] end
    if same and n > 1 then
      return D.call(D == Lua and "dt.full" or "torch.full",
        {ints(D, shape), value(D, flat[1])}, {{"dtype", D.dtype(v.dtype)}})
    end
    local list = {}
    for i, x in ipairs(flat) do list[i] = value(D, x) end
    local text = D.call(D == Lua and "dt.tensor" or "torch.tensor",
      {D.open .. table.concat(list, ", ") .. D.close},
      {{"dtype", D.dtype(v.dtype)}})
    if #shape == 1 then return text end
    return ("%s%sreshape(%s)"):format(text, D == Lua and ":" or ".",
      ints(D, shape))
  end)
end

-- Distinct small numbers of both signs.
local function pattern(D, v, shape)
  local n, lua = count(shape), D == Lua
  local whole = not v.dtype:match("float") and not v.dtype:match("complex")
  local dot, mod = lua and ":" or ".", whole and 2 or 17
  local text = ("%s.arange(%d)%sremainder(%d)"):format(lua and "dt" or "torch",
    n, dot, mod)
  if not whole then
    text = ("%s%ssub(8)%sdiv(8)"):format(text, dot, dot)
  end
  return ("%s%sto(%s)%sreshape(%s)"):format(text, dot, D.dtype(v.dtype), dot,
    ints(D, shape))
end

local function has_partial(pl)
  for _, p in ipairs(pl) do
    if not p:match("^S%(") and p ~= "R" and not p:match("^_S%(") then
      return true
    end
  end
  return false
end

local function distribute(D, text, v, mesh)
  local f = D == Lua and "dt.distribute_tensor" or "distribute_tensor"
  return D.call(f, {text, mesh, D.placements(v.placements)}, {})
end

local function from_local(D, text, v, mesh, pl)
  local dot = D == Lua and "dt.DTensor.from_local" or "DTensor.from_local"
  return D.call(dot, {text, mesh, D.placements(pl)},
    {{"run_check", D.bool(false)}, {"shape", size(D, v.shape)},
     {"stride", size(D, v.stride)}})
end

-- A tensor that nobody made here.  *made up: its numbers are a pattern's.
local function leaf(D, v, seq, meshes)
  if not v.placements then
    local text = literal(D, v, v.shape, seq)
    return text or pattern(D, v, v.shape), text == nil
  end
  local mesh = meshes[v.mesh]
  if has_partial(v.placements) then
    local text = literal(D, v, v.local_shape, seq)
    return from_local(D, text or pattern(D, v, v.local_shape), v, mesh,
      v.placements), text == nil
  end
  return distribute(D, pattern(D, v, v.shape), v, mesh), true
end

local function call_step(D, s, P, of, meshes)
  local x, out = of(s.ins[1]), P.values[s.outs[1] or 0]
  local dot = D == Lua and ":" or "."
  if s.op == "to_local" then return x .. dot .. "to_local()" end
  if not s.placements then return nil end
  local mesh, pl = meshes[s.mesh], s.placements
  if s.op == "distribute_tensor" then
    return distribute(D, x, {placements = pl}, mesh)
  elseif s.op == "redistribute" then
    return D.call(x .. dot .. "redistribute", {mesh, D.placements(pl)}, {})
  end
  return from_local(D, x, out, mesh, pl)
end

local function step_lines(D, s, P, names, meshes, lines)
  local function of(id)
    local v = P.values[id]
    if v and v.grad_of then return (names[v.grad_of] or "?") .. ".grad" end
    return names[id] or ("missing_" .. id)
  end
  local rhs, note
  if s.kind == "leaf" then
    rhs, note = leaf(D, P.values[s.outs[1]], s.seq, meshes)
    note = note and "numbers made up" or nil
  elseif s.kind == "op" then
    rhs = op_call(D, s, of)
    if s.implicit then rhs = D.implicit:format(rhs) end
    if s.no_grad then rhs = D.no_grad:format(rhs) end
  elseif s.kind == "alias" then
    rhs = of(s.ins[1])
  elseif s.kind == "detach" then
    rhs = of(s.ins[1]) .. (D == Lua and ":" or ".") .. "detach()"
  elseif s.kind == "raise" then
    rhs = called.text(D, s, of, meshes)
  elseif s.kind == "backward" then
    rhs = of(s.ins[1]) .. (D == Lua and ":" or ".") .. "backward()"
  else
    rhs = call_step(D, s, P, of, meshes)
  end
  if not rhs then return end
  local own = {}
  for _, id in ipairs(s.ins) do own[id] = true end
  local lhs = {}
  for i, id in ipairs(s.outs) do lhs[i] = own[id] and "_" or names[id] end
  while #lhs > 0 and lhs[#lhs] == "_" do lhs[#lhs] = nil end
  if s.kind == "raise" and called.is_value(s) then lhs = {"_"} end
  lines[#lines + 1] = {lhs = lhs, rhs = rhs, note = note, step = s}
end

-- Leaves ask for gradients just before the first step that follows them:
-- what was written into them before is past.
local function ask_gradients(D, s, P, names, asked, lines)
  if s.no_grad or s.kind == "detach" then return end
  for _, id in ipairs(s.ins) do
    if P.values[id].requires_grad and not asked[id] and names[id] then
      asked[id] = true
      lines[#lines + 1] = {lhs = {}, step = s, rhs = names[id]
        .. (D == Lua and ":" or ".") .. "requires_grad_("
        .. (D == Lua and "" or "True") .. ")"}
    end
  end
end

-- Lines {lhs, rhs, note, step} of a program in a dialect.
local function walk(D, P)
  local names = program.names(P)
  local list, meshes = program.meshes(P)
  local lines = {}
  for _, text in ipairs(custom.lines(D, P)) do
    lines[#lines + 1] = {lhs = {}, rhs = text}
  end
  for _, m in ipairs(list) do
    lines[#lines + 1] = {lhs = {meshes[m]}, rhs = D.mesh(m, meshes)}
  end
  local asked = {}
  for _, s in ipairs(P.steps) do
    ask_gradients(D, s, P, names, asked, lines)
    step_lines(D, s, P, names, meshes, lines)
  end
  return lines, names
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
-- list of {lhs, rhs}.  nil when they differ in more than right sides.
local function merge(D, lines, all)
  for _, other in ipairs(all) do
    if #other ~= #lines then return nil end
  end
  for i, l in ipairs(lines) do
    local differ = false
    for _, other in ipairs(all) do differ = differ or other[i] ~= l.rhs end
    if differ then
      local alt = {}
      for r, other in ipairs(all) do
        alt[#alt + 1] = (D == Lua and "[%d] = function() return %s end"
          or "%d: lambda: %s"):format(r - 1, other[i])
      end
      l.rhs = (D == Lua and "({%s})[dt.rank()]()"
        or "{%s}[dist.get_rank()]()"):format(table.concat(alt, ", "))
    end
  end
  return lines
end

-- Put in what other ranks did otherwise.  Collective.
local function whole(D, P, lines)
  if P.ranks == 1 or dt.debug.no_data() then return end
  local mine = {}
  for i, l in ipairs(lines) do mine[i] = l.rhs end
  local all = dt.debug.from_all(table.concat(mine, "\1"))
  for r, text in ipairs(all) do
    all[r] = {}
    for rhs in (text .. "\1"):gmatch("([^\1]*)\1") do
      table.insert(all[r], rhs)
    end
  end
  P.differ = merge(D, lines, all) == nil
end

-- lua(P, {mark = true, whole = true}) -> text.  With `mark`, after each step a
-- call __mark(i) with its place in P.steps; with `whole`, what other ranks did
-- otherwise is in it (Collective).
function M.lua(P, o)
  o = o or {}
  local lines = walk(Lua, P)
  if o.whole then whole(Lua, P, lines) end
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

local PY_HEAD = [[
import os
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (DTensor, Partial, Replicate, Shard,
                                      distribute_tensor)
from torch.distributed.tensor.placement_types import _StridedShard

# One process that pretends to be rank 0 of %d; under torchrun, real ranks.
if "WORLD_SIZE" in os.environ:
    dist.init_process_group("gloo")
else:
    from torch.testing._internal.distributed.fake_pg import FakeStore
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=%d)
]]

local PY_IMPLICIT = [[
from torch.distributed.tensor.experimental import implicit_replication

def implicitly(f):
    with implicit_replication():
        return f()
]]

-- python(P[, alone]) -> a script for PyTorch.  Collective, unless `alone`.
function M.python(P, alone)
  local lines, names = walk(Py, P)
  if not alone then whole(Py, P, lines) end
  local out = {PY_HEAD:format(P.ranks, P.ranks)}
  for _, s in ipairs(P.steps) do
    if s.implicit then out[2] = PY_IMPLICIT end
  end
  for _, l in ipairs(lines) do out[#out + 1] = line_text(Py, l) end
  local last = P.steps[#P.steps]
  if last and not P.error then
    for _, id in ipairs(last.outs) do
      out[#out + 1] = ('print("%s", %s)'):format(names[id], names[id])
    end
  end
  out[#out + 1] = "dist.destroy_process_group()"
  return table.concat(out, "\n") .. "\n"
end

M.Lua, M.Py = Lua, Py
return M
