-- SPDX-License-Identifier: MIT
-- TEST: ranks={2} world={threads} torch=2.15
-- release_texts.lua: errors in the words of the release that is followed, with
-- its class, wherever they are raised: in the engine, in an operator's local
-- call, by a library in Lua.

local fsdp = require "dt.fsdp"
local nn = require "dt.nn"
local T = require "tests.lua.lib.check"

local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})

local function said(release, f)
  dt._set_profile(release)
  local ok, err = pcall(f)
  dt._set_profile "2.15"
  return ok and "no error" or err.class .. ": " .. err.message
end

local function scalar()
  local m = nn.Linear(2, 2)
  m.scale = nn.Parameter(dt.tensor(1.0))
  fsdp.fully_shard(m, {mesh = mesh})
end
local tail = " parameters. Change scale to a 1D tensor with numel equal to 1."
for release, word in pairs {["2.4"] = "scalar", ["2.5"] = "salar",
    ["2.6"] = "salar", ["2.7"] = "scalar", ["2.15"] = "scalar"} do
  T.eq(said(release, scalar),
    "ValueError: fully_shard doesn't support " .. word .. tail, release)
end

local function to_partial()
  dt.distribute_tensor(dt.ones(4), mesh, {dt.Replicate()})
    :redistribute(mesh, {dt.Partial()})
end
T.eq(said("2.9", to_partial), "RuntimeError: Can not redistribute to Partial, "
  .. "redistributing to Partial is for internal use only!", "2.9 to Partial")
T.eq(said("2.13", to_partial), "RuntimeError: Can not redistribute from R to "
  .. "P(sum), redistributing to Partial is for internal use only!", "2.13")
T.eq(said("2.15", to_partial), "RuntimeError: Can not redistribute from R to "
  .. "P(sum), only Shard to Partial(sum) redistribution is supported!", "2.15")

for release, class in pairs {["2.13"] = "RuntimeError",
    ["2.14"] = "RuntimeError", ["2.15"] = "TypeError"} do
  T.eq(said(release, function ()
    dt.maximum(dt.ones(2, {dtype = dt.complex64}),
      dt.ones(2, {dtype = dt.complex64}))
  end), class .. ": maximum not implemented for complex tensors.", release)
end
for release, class in pairs {["2.13"] = "RuntimeError",
    ["2.14"] = "NotImplementedError", ["2.15"] = "NotImplementedError"} do
  T.eq(said(release, function () return -dt.tensor {true} end),
    class .. ": Negation, the `-` operator, on a bool tensor is not supported. "
    .. "If you are trying to invert a mask, use the `~` or `logical_not()` "
    .. "operator instead.", release)
end
for release, class in pairs {["2.14"] = "RuntimeError",
    ["2.15"] = "TypeError"} do
  T.eq(said(release, function ()
    return dt.argmax(dt.ones(2, {dtype = dt.complex64}))
  end), class .. ": argmax(): does not support complex input", release)
end

-- Propagation's own line hid the reason once, and then stood before it.
local function inner()
  local x = dt.distribute_tensor(dt.ones(6, 4), mesh, {dt.Shard(0)})
  return x:view(3, 2, 4)
end
local reason = {["2.8"] = "Sharding propagation failed on op ",
  ["2.9"] = "Sharding propagation failed for ",
  ["2.13"] = "Cannot unflatten unevenly sharded tensor: "}
for release, start in pairs(reason) do
  local text = said(release, inner)
  T.ok(text:find("Error: " .. start, 1, true), release .. ": " .. text)
end

T.finish()
