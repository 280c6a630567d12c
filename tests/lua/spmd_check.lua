-- TEST: ranks={2,4} world={threads,mpi,fake}
-- SPDX-License-Identifier: MIT
-- Calls under the SPMD checker on every rank: Python's and Lua's, by the local
-- rules and with partition specs; and nothing is looked at outside of a block.

local T = require "tests.lua.lib.check"
local python = require "torch"
local state = require "dt.spmd.state"
require "torch.spmd"
local core = dt._spmd

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local axes, by_name = state.of_mesh(mesh)
local tp = axes[1]
local env = python.environment()

local function typed(shape, letter, dim)
  local t = dt.ones(shape)
  local spec
  if dim then
    spec = {}
    for i = 1, #shape do spec[i] = i - 1 == dim and {tp} or false end
  end
  core.set(t, {{tp, letter}}, spec)
  return t
end

local function told(t)
  local types, spec = core.types(t), core.spec(t)
  local text = types and core.type_text(types) or "none"
  if spec then
    local _, more = core.type_text(types, spec)
    text = text .. " " .. more
  end
  return text
end

local outer = state.set_mesh(axes, {by_name = by_name})

-- The value of a Python expression in a block, or its error.
local function called(text, vars, mode)
  for name, v in pairs(vars) do env.vars[name] = v end
  local block = state.enter(mode)
  local ok, v = pcall(python.value, text, env)
  state.leave(block)
  return ok and v or nil, not ok and v or nil
end

local function gives(text, want, vars, mode)
  local v, e = called(text, vars, mode)
  T.eq(e and e.message or told(v), want, text)
end

local function refused(text, want, vars, mode)
  local _, e = called(text, vars, mode)
  T.eq(e and e.class, "SpmdTypeError", text .. ": class")
  T.has(e and e.message or "", want, text)
end

gives("torch.relu(a)", "{mesh_tp: V}", {a = typed({4, 6}, "V")})
gives("a @ b", "{mesh_tp: P}", {a = typed({4, 6}, "P"),
  b = typed({6, 4}, "R")})
refused("torch.relu(a)", "cannot propagate through non-linear ops",
  {a = typed({4, 6}, "P")})
refused("a + 1.5", "Found types: [P, Scalar]", {a = typed({4, 6}, "P")})
refused("a.add_(b)", "In add_(\n    args[0]: f32[4, 6] {mesh_tp: R}",
  {a = typed({4, 6}, "R"), b = typed({4, 6}, "P")})
refused("a + b", "args[1] missing axis mesh_tp",
  {a = typed({4}, "R"), b = dt.ones({4})})
gives("a + b", "{mesh_tp: R}", {a = typed({4}, "R"), b = dt.ones({4})},
  {strict = false})

-- code decides by the reason of a refusal, not by its words
local function reason_of(text, vars)
  local _, e = called(text, vars)
  return e and e.reason
end
T.eq(reason_of("a + b", {a = typed({4}, "R"), b = dt.ones({4})}),
  "MISSING_MESH", "the reason of a missing axis")
T.eq(reason_of("torch.relu(a)", {a = typed({4, 6}, "P")}), "P_NONLINEAR",
  "the reason of another refusal")
T.eq(reason_of("a @ b", {a = dt.ones({4, 6}), b = dt.ones({5, 4})}), nil,
  "an error outside of the checker has none")
refused("F.linear(a, b)", "cannot propagate", {a = typed({4, 6}, "P"),
  b = typed({3, 6}, "R")})

-- a shape error wins
local _, wrong = called("a @ b", {a = typed({4, 6}, "P"),
  b = typed({5, 4}, "P")})
T.eq(wrong and wrong.class, "RuntimeError", "shapes first")

local global = {["local"] = false}
gives("torch.relu(a)", "{mesh_tp: V} PartitionSpec(mesh_tp, None)",
  {a = typed({4, 6}, "V", 0)}, global)
gives("a.sum(0)", "{mesh_tp: P}", {a = typed({4, 6}, "V", 0)}, global)
gives("a @ b", "{mesh_tp: P}", {a = typed({4, 6}, "V", 1),
  b = typed({6, 4}, "V", 0)}, global)
gives("a.view(24)", "{mesh_tp: V} PartitionSpec(mesh_tp)",
  {a = typed({4, 6}, "V", 0)}, global)
refused("F.softmax(a, 0)", "No valid sharding strategy for softmax on axis "
  .. "mesh_tp", {a = typed({4, 6}, "V", 0)}, global)
refused("torch.relu(a)", "no PartitionSpec entry", {a = typed({4}, "V")},
  global)

-- A call like one that was legal is judged anew where its operands, the mode or
-- the gradient mode are others; what it gives is of the same type, also what is
-- its argument.
for _ = 1, 2 do
  gives("a * b", "{mesh_tp: V}", {a = typed({4}, "V"), b = typed({4}, "R")})
  gives("a * b", "{mesh_tp: I}", {a = typed({4}, "I"), b = typed({4}, "I")})
  gives("a * b", "{mesh_tp: R}", {a = typed({4}, "R"), b = dt.ones({4})},
    {strict = false})
  refused("a * b", "args[1] missing axis mesh_tp", {a = typed({4}, "R"),
    b = dt.ones({4})})
  local w = typed({4}, "I"):requires_grad_()
  refused("a * b", "Found types: [V, I]", {a = typed({4}, "V"), b = w})
  do
    local off <close> = dt.no_grad()            -- luacheck: ignore off
    gives("a * b", "{mesh_tp: V}", {a = typed({4}, "V"), b = w})
  end
  gives("a + 1.0", "{mesh_tp: V}", {a = typed({4}, "V")})
  refused("a + 1.0", "Found types: [P, Scalar]", {a = typed({4}, "P")})
  gives("a + True", "{mesh_tp: P}", {a = typed({4}, "P")})
  gives("a.contiguous()", "{mesh_tp: V}", {a = typed({4}, "V")})
  gives("torch.cat([a, b])", "{mesh_tp: P}", {a = typed({4}, "P"),
    b = typed({4}, "P")})
  refused("torch.cat([a, b])", "requires all operands to be Partial",
    {a = typed({4}, "P"), b = typed({4}, "R")})
  gives("a.relu_()", "{mesh_tp: V}", {a = typed({4}, "V")})
  refused("a.mul_(b)", "In-place and out= operations", {a = typed({4}, "R"),
    b = typed({4}, "P")})
  gives("torch.add(a, b, out=a)", "{mesh_tp: V}", {a = typed({4}, "R"),
    b = typed({4}, "V")})
end
local twice = typed({4}, "V")
called("a.contiguous()", {a = twice})
T.eq(told(twice), "{mesh_tp: V}", "the argument itself")

-- Lua's own calls and modules
local block = state.enter()
local ok, e = pcall(function ()
  return dt.relu(typed({4, 6}, "P"))
end)
T.eq(ok, false, "an operator of Lua")
T.has(e.message, "In relu(", "its name")
T.eq(told(typed({4, 6}, "V") * typed({4, 6}, "R")), "{mesh_tp: V}", "a sign")
ok, e = pcall(F.gelu, typed({4, 6}, "P"))
T.eq(ok, false, "a function of Lua")
T.has(e.message, "In gelu(", "the function's name")
state.leave(block)

-- what the library does for a call of its own is not looked at
block = state.enter()
ok = pcall(dt.testing.fill, {4}, 17, 3, 13)
T.eq(ok, true, "the library's own calls")
local w = typed({3}, "R")
w.requires_grad = true
ok, e = pcall(function () (w * w):sum():backward() end)
T.eq(ok, true, "backward")
state.leave(block)

-- outside of a block
T.eq(told(typed({4}, "P"):relu()), "none", "no block")
T.eq(told(python.value("torch.relu(a)", env)), "none", "no block in Python")
state.leave_mesh(outer)

-- dt.spmd
dt.spmd.set_current_mesh(mesh, function ()
  local a = dt.spmd.assert_type(dt.ones {4, 6}, {tp = "S(0)"})
  T.eq(dt.spmd.text(a), "f32[4, 6] {mesh_tp: V} PartitionSpec(mesh_tp, None)",
    "assert_type")
  local why = select(2, pcall(dt.spmd.assert_type, a, {tp = "R"}))
  T.eq(why.class, "SpmdTypeError", "another type")
  T.eq(dt.spmd.typecheck(function ()
    return dt.spmd.text(a:sum(0))
  end, {["local"] = false}), "f32[6] {mesh_tp: P}", "typecheck")
  T.eq(dt.spmd.get_type(a).mesh_tp, "V", "get_type")
  local p = dt.spmd.assert_type(dt.ones {4}, {tp = "P"})
  why = select(2, pcall(dt.spmd.typecheck, function () return p:relu() end))
  T.has(why.explain, "P on mesh_tp: asserted at", "who gave the type")
  local on <close> = dt.spmd.typecheck()        -- luacheck: ignore on
  T.eq(dt.spmd.is_type_checking(), true, "a scope")
  T.eq(dt.spmd.no_typecheck(function ()
    return dt.spmd.is_type_checking()
  end), false, "no_typecheck")
end)
T.eq(dt.spmd.is_type_checking(), false, "after the scope")
T.finish()
