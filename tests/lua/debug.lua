-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- dt.debug: stops, breakpoints, the past, as data; the same on every rank.

local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0) R")
local w = dt.distribute_tensor(dt.ones(4, 8), mesh, "R S(0)")

local function program()
  local y = x:mm(w)
  local z = y:relu()
  z:mul_(2)
  return z:sum()
end

-- All stops of a run, going on in `mode`.
local function stops(mode, f)
  local list = {}
  local ok, res = dt.debug.run(f or program, function (s)
    list[#list + 1] = s
    return mode
  end)
  return list, ok, res
end

local function kinds(list)
  local t = {}
  for i, s in ipairs(list) do t[i] = s.kind end
  return table.concat(t, " ")
end

-- Every event of the tree, in its order.
local all, ok, res = stops("step")
T.ok(ok, "runs to its end")
T.eq(res:full_tensor():item(), 512.0, "the result is the same as without")
T.has(kinds(all), "OP REDIST KERNEL KERNEL KERNEL LINE OP REDIST COLL KERNEL",
  "step goes into operators, redistributions, collectives and kernels")
T.eq(all[1].op, "aten.mm.default", "starts before the first operator")
T.eq(all[1].why, "step", "why")
T.has(all[1].text, "moves input 0", "what will move is said before")
T.has(all[1].text, "S(0)S(1), RS(0) -> S(0)P(sum)", "and what will be chosen")

-- Over: operators only.  By line: lines only.
T.eq(kinds(stops("next")), "OP OP OP OP", "next stays at operators")
T.eq(kinds(stops("op")), "OP OP OP OP", "op stops at operators")
local lines = stops("line")
T.eq(#lines, 4, "line stops at lines")
T.eq(lines[2].line, lines[1].line + 1, "one after the other")
T.eq(#stops("finish"), 1, "finish at the top leaves the function")

-- To an operator by its number.
local seen = {}
dt.debug.run(program, function (s)
  seen[#seen + 1] = s.seq
  return #seen == 1 and s.seq + 2 or "continue"
end)
T.eq(#seen, 2, "two stops")
T.eq(seen[2], seen[1] + 2, "until #n")

-- Every kind of breakpoint is set, listed, saved and loaded.
local examples = {
  line = "debug.lua:1", op = "op aten.mm*", mixed = "mixed",
  missing = "missing", redistribute = "redistribute > 1M implicit",
  collective = "collective all_gather on tp", placement = "placement x = P(sum)",
  watch = "watch x", uneven = "uneven", cast = "cast", nan = "nan",
  diverge = "diverge", error = "error MIXED", backward = "backward",
  module = "module layers.*", grad = "grad", warning = "warning",
}
for _, k in ipairs(dt.debug.kinds()) do
  local text = examples[k.kind]
  if T.ok(text, "an example of " .. k.kind) then
    local b = dt.debug.breakpoint(text)
    T.eq(b.kind, k.kind, text)
    T.eq(b.where, text, "its text")
  end
end
local saved = dt.debug.save_breakpoints()
local n = #dt.debug.breakpoints()
dt.debug.delete()
T.eq(#dt.debug.breakpoints(), 0, "all deleted")
T.eq(#dt.debug.load_breakpoints(saved), n, "all loaded")
T.eq(dt.debug.save_breakpoints(), saved, "and saved the same")
dt.debug.delete()

-- What each hits, as "kind op" of the stops of a run that only continues.
local function hits(text, f)
  local b = dt.debug.breakpoint(text)
  local list = {}
  dt.debug.run(f or program, function (s)
    list[#list + 1] = s
    return "continue"
  end, "continue")
  dt.debug.delete(b.id)
  return list
end

T.eq(#hits("op aten.mm*"), 1, "op by a pattern")
T.eq(#hits("op mm"), 1, "op by its base name")
T.eq(#hits("op *"), 4, "every op")
T.eq(#hits("op aten.mul_ if inputs[1].shape[1] == 8"), 1, "a condition")
T.eq(#hits("op aten.mul_ if inputs[1].shape[1] == 9"), 0, "that does not hold")
T.eq(#hits("op * if hits == 1"), 1, "hits is the number of this hit")
T.eq(#hits("redistribute"), 2, "redistributions")
T.eq(#hits("redistribute > 64"), 1, "of more than 64 bytes")
T.eq(#hits("redistribute > 1M"), 0, "none that large")
T.eq(hits("collective reduce_scatter on tp")[1].bytes, 128, "a collective")
T.eq(#hits("collective on dp"), 0, "none on dp")
T.eq(#hits("uneven"), 0, "all even")
T.eq(#hits("nan"), 0, "no NaN")
T.eq(#hits("cast"), 0, "no cast")
T.eq(hits("uneven", function ()
  return dt.distribute_tensor(dt.ones(6, 4), mesh, "S(0) S(0)") + 1
end)[1].op, "aten.add.Tensor", "uneven")
T.eq(hits("cast", function ()
  return dt.ones(4):to(dt.float16)
end)[1].kind, "OP_END", "cast")
T.eq(#hits("nan", function ()
  local a = dt.zeros(4)
  return a / a
end), 1, "nan")
T.eq(hits("mixed", function () return pcall(dt.add, x, dt.ones(8, 4)) end)[1]
  .op, "aten.add.Tensor", "mixed")
T.eq(hits("error MIXED", function ()
  return pcall(dt.add, x, dt.ones(8, 4))
end)[1].error, "MIXED", "a caught error")
T.eq(#hits("error SHAPE", function ()
  return pcall(dt.add, x, dt.ones(8, 4))
end), 0, "another error")
T.eq(#hits("line 13"), 1, "a line")
T.eq(#hits("debug.lua:13"), 1, "a line of a file")
T.eq(#hits("other.lua:13"), 0, "of another file")
local v = dt.ones(2)
T.eq(#hits("watch v", function ()
  v:add_(1)
  v:mul_(2)
  return v:sum()
end), 2, "watch: two changes seen")
T.eq(#hits("placement y = P(sum)", function ()
  local y = x:mm(w)
  local z = y:relu()
  return z
end), 1, "placement: when it becomes so")
local leaf = dt.ones(3):requires_grad_()
T.eq(#hits("backward", function () (leaf * 2):sum():backward() end), 1,
  "backward")
T.eq(#hits("grad", function () (leaf * 2):sum():backward() end), 1, "grad")
T.eq(#hits("op aten.mul* if backward", function ()
  (leaf * 2):sum():backward()
end), 1, "an operator of backward")

-- Once, ignored, off.
local once = dt.debug.tbreak("op *")
T.eq(#stops("continue"), 1, "one stop has both reasons")
T.eq(#dt.debug.breakpoints(), 0, "then it is gone: " .. once.text)
local b = dt.debug.breakpoint("op *")
dt.debug.ignore(b.id, 3)
T.eq(#stops("continue"), 2, "three are passed over")
dt.debug.disable(b.id)
T.eq(#stops("continue"), 1, "off")
dt.debug.enable(b.id)
dt.debug.condition(b.id, "nosuch.field")
local bad = stops("continue")
T.has(bad[2].note, "nosuch", "a condition that raises stops and says why")
dt.debug.delete()

-- Bad input.
local function fails(text, part)
  local good, err = pcall(dt.debug.breakpoint, text)
  T.ok(not good, text .. " is refused")
  T.has(tostring(err), part, "in clear words")
end
fails("op aten.nosuch", "no operator is called aten.nosuch")
fails("op", "op wants GLOB")
fails("nosuchkind", "wanted FILE:LINE")
fails("op mm if (", "no Lua expression")
fails("redistribute > x", "wanted a number of bytes")
fails("placement x = Q", "wanted placements")
fails("mixed up", "mixed takes nothing more")
T.eq(#dt.debug.breakpoints(), 0, "none of them was set")

-- A handler that raises ends the run with its error.
local good, err = dt.debug.run(program, function () error("enough") end)
T.ok(not good, "the run ends")
T.has(tostring(err), "enough", "with the handler's error")

-- The past: values and placements by name.
local first = dt.debug.recording().last + 1
local function history()
  local a = dt.ones(3)
  a:add_(1)
  local view = a[0]
  view:add_(5)
  a = a * 2
  return a:sum()
end
history()
local function at(k) return dt.debug.at(first + k).a:tolist() end
T.eq(table.concat(at(1), " "), "1.0 1.0 1.0", "before add_")
T.eq(table.concat(at(2), " "), "2.0 2.0 2.0", "after it")
T.eq(table.concat(at(4), " "), "7.0 2.0 2.0", "a write through a view")
T.eq(table.concat(at(5), " "), "14.0 4.0 4.0", "another tensor of the name")
T.eq(dt.debug.value("a", first + 4):tolist()[1], 7.0, "value by name")
T.ok(not pcall(dt.debug.at, 10 ^ 9 // 1 | 0), "an unknown number is an error")

-- The record: size, values, off.
local r = dt.debug.recording{limit = 1 << 20}
T.eq(r.limit, 1 << 20, "limit")
dt.debug.recording{on = false}
local before = dt.debug.recording().total
history()
T.eq(dt.debug.recording().total, before, "off records nothing")
r = dt.debug.recording{on = true, ring = 16}
T.eq(r.ring, 16, "ring")
for _ = 1, 20 do history() end
T.eq(dt.debug.recording().operators, 16, "it holds no more")

-- JSON.
T.eq(dt.debug.json{b = {1, 2.5, "x\n"}, a = true}, [[{"a":true,"b":[1,2.5,"x\n"]}]],
  "json: sorted keys")

T.finish()
