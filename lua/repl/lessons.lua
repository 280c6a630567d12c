-- SPDX-License-Identifier: MIT
-- repl/lessons.lua: the guided tour, as data: each lesson has a title and a
-- session: comments are what is said, other lines are typed.  Lessons stand
-- alone: each makes what it needs.  tests/repl/lesson.dt runs them all.

local M = {}

local lessons = {
  {"ranks and a mesh", [[
-- A program for several devices runs once on each: those are the ranks.
-- Every line you type runs on all of them; equal output is shown once.
dt.world_size()
dt.rank() % 2
-- @ addresses some ranks only.
@0,3 dt.rank() * 10
-- A mesh arranges the ranks, here 2 x 2, and names its dimensions.
mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
mesh
@tp=1 dt.rank()
]]},
  {"placements", [[
-- A distributed tensor is one tensor whose parts lie on the ranks of a mesh.
-- One placement for each mesh dimension says how: S(0) cuts dimension 0 of
-- the tensor, R keeps copies, P(sum) holds terms still to be added.
mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
x = dt.distribute_tensor(dt.arange(8):reshape(4, 2), mesh, "S(0) R")
x
-- The first line is the whole tensor's: i64[4, 2], cut by 0 over dp,
-- copied over tp.  Below are the parts, ranks with equal ones together.
x.placements
@all x:to_local().shape
]]},
  {"a picture", [[
-- :show draws which rank holds what.
mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
x = dt.distribute_tensor(dt.ones(8, 6), mesh, "S(0) S(1)");
:show x
-- And :who asks it of one element.
:who x 5 2
]]},
  {"traffic nobody asked for", [[
-- An operator needs inputs whose placements fit.  Where they do not, tensors
-- are redistributed on their way in.  It is correct, and it costs.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
a = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0)");
b = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(1)");
:set notes on
c = a + b;
-- The note says it: the operator's number, what was sent over which
-- dimension of the mesh, how many bytes, and that no line asked for it.
:set notes off
-- :ledger adds up the traffic so far.
:ledger
]]},
  {"the error everybody meets", [[
-- Half of the reports about DTensor show this one.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)");
w = dt.ones(8, 4);
x + w
-- One of the two knows about the mesh, the other does not.  :fix lists
-- repairs, each tried on this very call.
:fix
]]},
  {"why this placement?", [[
-- For each call all strategies are weighed by what they would send.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
x = dt.distribute_tensor(dt.ones(8, 16), mesh, "S(1)");
w = dt.distribute_tensor(dt.ones(16, 4), mesh, "S(0)");
y = x:mm(w)
-- The inner dimension is cut: each rank has a term of the sum, P(sum).
:why
-- :blame goes back to the line that set a placement.
:blame y
]]},
  {"stop and step", [[
-- :run FILE stops before the first operator of a script, :break at places and
-- events.  :step goes into what an operator does, :next over it.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)");
:break op aten.sum
:info breakpoints
:delete
-- :help break lists the kinds; conditions, counts and commands can follow.
]]},
  {"back in time", [[
-- Operators are recorded: what a tensor was can still be looked at.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
x = dt.distribute_tensor(dt.ones(4), mesh, "S(0)");
x:mul_(3);
:back
x
-- That was before mul_.  :goto N goes anywhere, :when says where you are.
:when
:goto now
x:sum()
]]},
  {"is it right?", [[
-- :verify compares operators with one device; wrong and rounding are reported
-- apart by computing, not by a tolerance.
mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
x = dt.distribute_tensor(dt.arange(16.0):reshape(4, 4), mesh, "S(0)");
y = x:softmax(1):sum();
:check y
-- Findings are silent traps, noticed while the program ran.
:findings
]]},
  {"a report without its program", [[
-- A bug report alone says much: :import reads pasted text.  So does
-- dtrepl diagnose FILE, outside of a session.
:import RuntimeError: Cannot create a submesh from a submesh.
-- Every error has a page.
:explain DT0101
-- That was the tour.  :help lists everything, :report writes a report of
-- what failed in your own session.
]]},
}

-- All titles, and how to go on.
local function overview()
  local out = {"The tour, about a minute each:\n"}
  for i, l in ipairs(lessons) do
    out[#out + 1] = ("  :lesson %-2d  %s\n"):format(i, l[1])
  end
  return table.concat(out)
end

-- What `:lesson ARG` writes, then the session to play (nil: none); nil and a
-- message for an argument that names no lesson.
function M.page(arg)
  if arg == "" then return overview() end
  local n = math.tointeger(tonumber(arg))
  local l = n and lessons[n]
  if not l then
    return nil, ("the lessons go from 1 to %d"):format(#lessons)
  end
  local dt = require "dt"
  if dt.world_size() < 4 then
    return nil, "the tour wants 4 ranks: dtrepl -n 4"
  end
  local rest = n < #lessons and ("-- (:lesson %d: %s)\n"):format(n + 1,
    lessons[n + 1][1]) or ""
  return ("Lesson %d of %d: %s\n"):format(n, #lessons, l[1]), l[2] .. rest
end

return M
