-- SPDX-License-Identifier: MIT
-- TEST: ranks=4 world=threads
-- bad_training.lua: what a person gets wrong with plans, wrapping and meshes:
-- PyTorch's text, and beside it what is legal.

local dt = require "dt"
local nn, P = dt.nn, require "dt.parallel"
local T = require "tests.lua.lib.seeds"

local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local tp, dp = mesh["tp"], mesh["dp"]

local function toy()
  return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
end

local cases = {
  {"ValueError", "`placements` must have the same length as "
    .. "`device_mesh.ndim`! Found placements length: 1, and "
    .. "device_mesh.ndim: 2.", 'mesh["dp"] or mesh["tp"]', function ()
    P.parallelize_module(toy(), mesh, {["0"] = P.ColwiseParallel()})
  end},
  {"NotImplementedError", "ColwiseParallel currently only support nn.Linear "
    .. "and nn.Embedding!", "SequenceParallel", function ()
    P.parallelize_module(nn.Conv2d(3, 4, 1), tp, P.ColwiseParallel())
  end},
  {"RuntimeError", "distribute_module should only be called once on a module, "
    .. "but it has already been called on this module!", "one entry",
    function ()
      local m = toy()
      P.parallelize_module(m, tp, {["0"] = P.ColwiseParallel()})
      P.parallelize_module(m, tp, {["0"] = P.RowwiseParallel()})
    end},
  {"ValueError", "Cannot distribute a DTensor with device mesh DeviceMesh(("
    .. "dp=2), 'cpu', stride=(2,)) to a different device mesh DeviceMesh(("
    .. "tp=2), 'cpu', stride=(1,)).", "0.weight", function ()
    local m = toy()
    dt.fully_shard(m, {mesh = dp})
    P.parallelize_module(m, tp, {["0"] = P.ColwiseParallel()})
  end},
  {"ValueError", "If passing reshard_after_forward as an int, it should be a "
    .. "factor of 2, not 3", "one of 1, 2", function ()
    dt.fully_shard(toy(), {mesh = dp, reshard_after_forward = 3})
  end},
  {"NotImplementedError", "FSDP does not support uneven sharding on dim 1: "
    .. "torch.Size([4, 7]) (world size: 2)", "weight of shape", function ()
    dt.fully_shard(nn.Linear(7, 4), {mesh = dp,
      shard_placement_fn = function (p)
        return p.ndim == 2 and dt.Shard(1) or nil
      end})
  end},
  {"ValueError", "Invalid shard_placement_fn result: R", "along dim 0",
    function ()
      dt.fully_shard(toy(), {mesh = dp,
        shard_placement_fn = function () return dt.Replicate() end})
    end},
  {"AssertionError", "Shard dim 5 is invalid for 2D tensor: "
    .. "torch.Size([16, 8])", "0.weight", function ()
    dt.fully_shard(toy(), {mesh = dp,
      shard_placement_fn = function () return dt.Shard(5) end})
  end},
  {"AttributeError", "'Parameter' object has no attribute '_local_tensor'",
    "weight was replaced", function ()
      local m = toy()
      dt.fully_shard(m, {mesh = dp})
      m[0].weight = nn.Parameter(dt.zeros(16, 8))
      m(dt.ones(4, 8))
    end},
  {"AssertionError", "Each distinct composable distributed API can only be "
    .. "applied to a module once. fully_shard has already been applied to the "
    .. "following module:\n", nil, function ()
    local m = toy()
    dt.fully_shard(m, {mesh = dp})
    dt.fully_shard(m, {mesh = dp})
  end},
  {"RuntimeError", "Cannot run aten.add.Tensor on inputs with different "
    .. "meshes: got DeviceMesh((tp=2), 'cpu', stride=(1,)) and "
    .. "DeviceMesh((dp=2), 'cpu', stride=(2,))", nil, function ()
    local x = dt.ones(4, 8)
    return dt.distribute_tensor(x, tp, "R") + dt.distribute_tensor(x, dp, "R")
  end},
  {"RuntimeError", "Cannot unflatten unevenly sharded tensor: output dimension "
    .. "0 (size 3) is not evenly divisible by mesh dimension 0 (size 2).",
    nil, function ()
    local m = nn.Linear(8, 12, {bias = false})
    P.parallelize_module(m, tp, P.ColwiseParallel {use_local_output = false})
    return m(dt.ones(4, 8)):view(4, 3, 4)
  end},
}

-- ---- wrapping more than once, and what changes after wrapping ----

local world = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"w"}})
local one = {mesh = world}
local replicate = require("dt.fsdp").replicate
local x = dt.ones {4, 8}

local Two = nn.Module:extend("Two")

function Two:__init__(h)
  self.a = nn.Linear(8, h or 16)
  self.b = nn.Linear(h or 16, 8)
end

function Two:forward(v) return self.b(dt.relu(self.a(v))) end

local overlap = "Cannot concatenate overlapping meshes: [DeviceMesh((w=4), "
  .. "'cpu', stride=(1,)), DeviceMesh((w=4), 'cpu', stride=(1,))]"

local function add(class, text, explained, f)
  cases[#cases + 1] = {class, text, explained, f}
end

add("RuntimeError", overlap, "the parameter is weight, distributed over",
  function ()
    local m = Two()
    dt.fully_shard(m, one)
    dt.fully_shard(m.a, one)                    -- the child after its parent
  end)
add("RuntimeError", overlap, "the parameter is a.weight, distributed over",
  function ()
    local m = Two()
    P.parallelize_module(m, world, {a = P.ColwiseParallel(),
      b = P.RowwiseParallel()})
    dt.fully_shard(m, one)                      -- over the same dimension
  end)
add("AssertionError", "Inserting ReplicateTwo(", nil, function ()
  local m = Two()
  replicate(m, one)
  dt.fully_shard(m, one)
end)
add("RuntimeError", "Cannot apply `replicate()` on a Module already managed by "
  .. "`fully_shard`", nil, function ()
  local m = Two()
  dt.fully_shard(m, one)
  replicate(m, one)
end)
add("ValueError", "replicate expects a 1D DeviceMesh but got DeviceMesh((dp=2, "
  .. "tp=2), 'cpu', stride=(2, 1))", nil,
  function () replicate(Two(), {mesh = mesh}) end)
add("ValueError", "Parameter 'b.weight' is shared with a parameter already "
  .. "managed by another FSDP group.", nil, function ()
  local m = Two(8)
  m.a.weight = m.b.weight
  for _, part in ipairs {m.a, m.b, m} do dt.fully_shard(part, one) end
  m(x)
end)
add("RuntimeError", "mat1 and mat2 must have the same dtype, but got Float and "
  .. "BFloat16", nil, function ()
  local m = Two()
  dt.fully_shard(m, one)
  m:to(dt.bfloat16)                             -- the inputs are not cast
  m(x)
end)
add("RuntimeError", "Cannot run aten.addmm.default on inputs with different "
  .. "meshes: got DeviceMesh((tp=2), 'cpu', stride=(1,)) and DeviceMesh((dp=2)"
  .. ", 'cpu', stride=(2,))", nil, function ()
  local m = Two()
  m.a.weight = nn.Parameter(dt.distribute_tensor(m.a.weight, dp, {dt.Shard(0)}))
  m.a.bias = nn.Parameter(dt.distribute_tensor(m.a.bias, tp, {dt.Shard(0)}))
  m.a(dt.DTensor.from_local(x, dp, {dt.Replicate()}))
end)

-- ---- plans and layouts ----

add("NotImplementedError", "RowwiseParallel currently only support nn.Linear "
  .. "and nn.Embedding!", "SequenceParallel", function ()
  P.parallelize_module(nn.LayerNorm(8), world, P.RowwiseParallel())
end)
add("TypeError", "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for "
  .. "parallelize_plan, <class 'str'> found!", "a.weight", function ()
  P.parallelize_module(Two(), world, {a = "colwise"})
end)
add("AssertionError", "output_layouts and desired_output_layouts should have "
  .. "same length!", nil, function ()
  P.PrepareModuleOutput {output_layouts = {dt.Shard(0), dt.Shard(0)},
    desired_output_layouts = {dt.Replicate()}}
end)
add("AssertionError", "desired module inputs should not be None!", nil,
  function () P.PrepareModuleInput {input_layouts = dt.Shard(0)} end)
add("RuntimeError", "Sharding dim 5 greater than tensor ndim 2 for placement "
  .. "number 0", nil, function ()
  P.parallelize_module(nn.LayerNorm(8), world,
    P.SequenceParallel {sequence_dim = 5})(x)
end)
add("RuntimeError", "No device mesh is currently active!", nil, function ()
  P.parallelize_module(Two(), nil, {a = P.ColwiseParallel()})
end)
add("AssertionError", "Please init the 2D mesh for HSDP with mesh_dim_names "
  .. "specified", nil, function ()
  dt.fully_shard(Two(), {mesh = dt.init_device_mesh("cpu", {2, 2})})
end)

for i, c in ipairs(cases) do
  local what = ("case %d"):format(i)
  local ok, e = pcall(c[4])
  if T.check(not ok, what .. " raises") then
    T.check(e.class == c[1], what .. ": class", e.class, c[1])
    T.check(e.message:sub(1, #c[2]) == c[2], what .. ": text", e.message, c[2])
    T.check(c[3] == nil or (e.explain or ""):find(c[3], 1, true) ~= nil,
      what .. ": explanation", e.explain, c[3])
  end
end

-- What is frozen after wrapping, before the first forward, stays so.
local frozen = Two()
dt.fully_shard(frozen, one)
frozen.a.weight:requires_grad_(false)
frozen(x):sum():backward()
T.check(frozen.a.weight.grad == nil and frozen.b.weight.grad ~= nil,
  "frozen after wrapping")
local _, odd = pcall(dt.fully_shard, nn.Linear(2, 2), {dp_mesh_dims = 3})
T.check(odd.class == "TypeError" and odd.message:find("dp_mesh_dims wants", 1,
  true) ~= nil, "a number as dp_mesh_dims")
T.finish()
