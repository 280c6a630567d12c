-- TEST: ranks=4 world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- parallelize_module, its styles, distribute_module: placements, what hooks
-- do, warnings and errors; results against one device.

local tp = require "dt.parallel"
local T = require "tests.lua.lib.seeds"
local check = T.check
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local close = dt.testing.assert_close

local function raises(class, text, f, ...)
  local ok, err = pcall(f, ...)
  check(not ok and type(err) == "table" and err.class == class
    and err.message:find(text, 1, true) ~= nil, class .. " " .. text,
    type(err) == "table" and err.message or tostring(err))
end

local function mlp()
  dt.manual_seed(1)
  return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
end
local x = dt.testing.fill({4, 8}, 13, 6, 4)
local want = mlp()(x):detach()

-- keys match with * ? [..]; a style on a nested path
local m = nn.Sequential(mlp(), nn.Identity())
tp.parallelize_module(m, mesh, {["0.0"] = tp.ColwiseParallel(),
  ["?.2"] = tp.RowwiseParallel()})
check(tostring(m[0][0].weight.placements[1]) == "S(0)", "colwise weight")
check(tostring(m[0][2].weight.placements[1]) == "S(1)", "rowwise weight")
check(tostring(m[0][2].bias.placements[1]) == "R", "rowwise bias")
close(m(x):detach(), want)
m = nn.ModuleList {nn.Linear(4, 4), nn.Linear(4, 4)}
tp.parallelize_module(m, mesh, {["[01]"] = tp.ColwiseParallel()})
check(m[0].weight.is_dtensor and m[1].weight.is_dtensor, "a class of names")

-- no scatter when src_data_rank is None
local _, _, colls = T.run(function ()
  tp.parallelize_module(mlp(), mesh, {["0"] = tp.ColwiseParallel()},
    {src_data_rank = dt.None})
end)
check(#colls == 0, "src_data_rank = None")

-- embeddings
local ids = dt.tensor {{0, 3, 5}, {7, 1, 2}}
local function embedding()
  dt.manual_seed(2)
  return nn.Embedding(8, 12)
end
local e = tp.parallelize_module(embedding(), mesh,
  tp.RowwiseParallel {input_layouts = Replicate()})
check(tostring(e.weight.placements[1]) == "S(0)", "rowwise embedding")
close(e(ids):detach(), embedding()(ids):detach())
e = tp.parallelize_module(embedding(), mesh,
  tp.ColwiseParallel {output_layouts = Replicate()})
check(tostring(e.weight.placements[1]) == "S(1)", "colwise embedding")
close(e(ids):detach(), embedding()(ids):detach())

-- sequence parallel norm: parameters R without communication
local norm = nn.LayerNorm(8)
_, _, colls = T.run(function ()
  tp.parallelize_module(norm, mesh, tp.SequenceParallel())
end)
check(#colls == 0 and norm.weight.is_dtensor, "sequence parallel")
local s = norm(dt.ones(2, 1, 8))
check(s.is_dtensor and tostring(s.placements[1]) == "S(1)"
  and s.shape[2] == 4, "sequence parallel output")

-- preparing inputs and outputs
local id = tp.parallelize_module(nn.Identity(), mesh, tp.PrepareModuleInput {
  input_layouts = Shard(0), desired_input_layouts = Replicate()})
local y = id(dt.ones(2, 2))
check(y.is_dtensor and y.shape[1] == 8 and tostring(y.placements[1]) == "R",
  "prepared input")
id = tp.parallelize_module(nn.Identity(), mesh, tp.PrepareModuleOutput {
  output_layouts = Replicate(), desired_output_layouts = Shard(0)})
y = id(dt.ones(8, 2))
check(not y.is_dtensor and y.shape[1] == 2, "prepared output")
raises("ValueError", "module inputs and input_layouts should have same length!",
  tp.parallelize_module(nn.Identity(), mesh, tp.PrepareModuleInput {
    input_layouts = {Replicate(), Replicate()},
    desired_input_layouts = {Replicate(), Replicate()}}), dt.ones(1))
raises("AssertionError", "desired module inputs should not be None!",
  tp.PrepareModuleInput, {input_layouts = Shard(0)})
raises("AssertionError", "should have same length!", tp.PrepareModuleOutput,
  {output_layouts = {Shard(0)}, desired_output_layouts = {Shard(0), Shard(1)}})

-- misuse
raises("NotImplementedError", "ColwiseParallel currently only support",
  tp.parallelize_module, nn.ReLU(), mesh, tp.ColwiseParallel())
raises("TypeError", "Expect Union[ParallelStyle, Dict[str, ParallelStyle]]",
  tp.parallelize_module, mlp(), mesh, {["0"] = 5})
m = mlp()
tp.parallelize_module(m, mesh, {["0"] = tp.ColwiseParallel()})
raises("RuntimeError", "distribute_module should only be called once",
  tp.parallelize_module, m, mesh, {["0"] = tp.ColwiseParallel()})
raises("ValueError", "placements", tp.parallelize_module, mlp(),
  dt.init_device_mesh("cpu", {2, 2}), {["0"] = tp.ColwiseParallel()})
check(tostring(tp.ColwiseParallel()) == "ColwiseParallel(input_layouts="
  .. "(Replicate(),), output_layouts=(Shard(dim=-1),), use_local_output=True)",
  "printed", tostring(tp.ColwiseParallel()))

-- distribute_module replicates what nobody placed
m = nn.Linear(4, 4)
dt.distribute_module(m, mesh)
check(m.weight.is_dtensor and tostring(m.bias.placements[1]) == "R",
  "distribute_module")
T.finish()
