-- TEST: ranks={1,4} world={threads,mpi,fake}
-- SPDX-License-Identifier: MIT
-- The current mesh and the mode of the SPMD checker, and its axes.

local T = require "tests.lua.lib.check"
local state = require "dt.spmd.state"
local core = dt._spmd

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local axes, by_name = state.of_mesh(mesh)
T.eq(#axes, 1, "1")
T.eq(core.axis_info(axes[1]).size, world, "2")
T.eq(core.axis_info(axes[1]).name, world > 1 and "mesh_tp"
  or "mesh_tp(trivial)", "name")
T.eq(state.mesh(), nil, "3")
local ok, e = pcall(state.axis, "tp")
T.eq(ok, false, "4")
T.eq(e.class, "SpmdTypeError", "5")
local m = state.set_mesh(axes, {by_name = by_name})
T.eq(state.axis("tp"), axes[1], "6")
local inner = state.set_mesh(nil, {local_axes = axes})
T.eq(state.axis("tp"), axes[1], "7")

T.eq(state.on(), false, "8")
local outer = state.enter()
T.eq(state.on() and state.strict() and state.is_local(), true, "9")
local block = state.enter {strict = false, ["local"] = false}
T.eq(state.strict(), false, "10")
-- a local axis of this block
T.eq(state.is_global(axes[1]), false, "global")
state.leave_mesh(inner)
T.eq(state.is_global(axes[1]), true, "11")
local off = state.pause()
T.eq(state.on(), false, "12")
state.resume(off)
state.leave(block)
T.eq(state.strict(), true, "13")
state.leave(outer)
state.leave_mesh(m)
T.eq(state.on() or state.mesh() ~= nil, false, "14")

T.finish()
