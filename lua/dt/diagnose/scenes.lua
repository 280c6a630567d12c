-- SPDX-License-Identifier: MIT
-- dt/diagnose/scenes.lua: more fixed scenes of classes, for reports that do
-- not print the call: a few lines that raise what the class is about, and the
-- fixes that cure it.  The form of a scene: scenarios.lua.

local script = require "dt.diagnose.script"

local M = {}

local function line(n, name)
  return script.mesh_of({meshes = {}}, {shape = {n}, names = {name}})
end

-- A module class `name` whose __init__ and forward are given.
local function class(name, init, forward)
  return {("local %s = nn.Module:extend(%q)"):format(name, name),
    ("function %s:__init__() %s end"):format(name, init),
    ("function %s:forward(x) %s end"):format(name, forward)}
end

M["out-variant-kwarg-dtensor"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    setup = {"local x = dt.ones(8)",
      'local y = dt.distribute_tensor(dt.zeros(8), mesh, "R")'},
    fail = "return dt.ops.aten.exp.out(x, {out = y})", fixes = {
      {text = "make the whole result, then distribute it",
        lua = 'return dt.distribute_tensor(x:exp(), mesh, "R")'},
      {text = "write into the local tensor",
        lua = "return dt.ops.aten.exp.out(x, {out = y:to_local()})"}}}
end

M["tp-plan-unmatched"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    setup = {'local tp = require "dt.parallel"'},
    fail = "return tp.parallelize_module(nn.LayerNorm(8), mesh, "
      .. "tp.ColwiseParallel())",
    python = "from torch.distributed.tensor.parallel import (\n"
      .. "    ColwiseParallel, parallelize_module)\n\n"
      .. 'mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))\n'
      .. "parallelize_module(torch.nn.LayerNorm(8), mesh, ColwiseParallel())\n",
    fixes = {
      {text = "a style that fits the module", lua =
        "return tp.parallelize_module(nn.LayerNorm(8), mesh, "
        .. "tp.SequenceParallel())"},
      {text = "the style on a linear layer", lua =
        "return tp.parallelize_module(nn.Linear(8, 8), mesh, "
        .. "tp.ColwiseParallel())"}}}
end

-- The lines of a scene in Python, where what fails is fully_shard.
local function python(params, last)
  return ([[
from torch.distributed.fsdp import fully_shard

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("fsdp",))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
%s

    def forward(self, x):
        return x @ self.w


%s]]):format(params, last)
end

M["fsdp-uneven-nonzero-dim"] = function ()
  return {ranks = 2, mesh = line(2, "fsdp"),
    setup = class("Net", "self.w = nn.Parameter(dt.ones(4, 3))",
      "return x:matmul(self.w)"),
    fail = "return dt.fully_shard(Net(), {mesh = mesh, shard_placement_fn = "
      .. "function () return Shard(1) end})",
    python = python("        self.w = torch.nn.Parameter(torch.ones(4, 3))",
      "fully_shard(Net(), mesh=mesh, shard_placement_fn=lambda p: Shard(1))"),
    fixes = {{text = "shard dimension 0",
      lua = "return dt.fully_shard(Net(), {mesh = mesh})"}}}
end

M["fsdp2-scalar-parameter"] = function ()
  local setup = class("Net", "self.scale = nn.Parameter(dt.ones({}))",
    "return x * self.scale")
  for _, l in ipairs(class("Fixed", "self.scale = nn.Parameter(dt.ones(1))",
    "return x * self.scale")) do
    setup[#setup + 1] = l
  end
  return {ranks = 2, mesh = line(2, "fsdp"), setup = setup,
    fail = "return dt.fully_shard(Net(), {mesh = mesh})",
    python = python("        self.scale = torch.nn.Parameter(torch.ones(()))",
      "fully_shard(Net(), mesh=mesh)"),
    fixes = {{text = "shape (1,)",
      lua = "return dt.fully_shard(Fixed(), {mesh = mesh})"}}}
end

M["fsdp2-mixed-dtype-group"] = function ()
  return {ranks = 2, mesh = line(2, "fsdp"),
    setup = class("Net", "self.a = nn.Parameter(dt.ones(4, 4)); self.b = "
      .. "nn.Parameter(dt.ones({4, 4}, {dtype = dt.bfloat16}))",
      "return x:matmul(self.a)"),
    fail = "return dt.fully_shard(Net(), {mesh = mesh})(dt.ones(2, 4))",
    python = python("        self.w = torch.nn.Parameter(torch.ones(4, 4))\n"
      .. "        self.b = torch.nn.Parameter(torch.ones(4, 4, "
      .. "dtype=torch.bfloat16))", "fully_shard(Net(), mesh=mesh)"
      .. "(torch.ones(2, 4))"),
    fixes = {{text = "one dtype before sharding", lua =
      "return dt.fully_shard(Net():to(dt.float32), {mesh = mesh})"
      .. "(dt.ones(2, 4))"}}}
end

M["tp-local-output-uneven"] = function ()
  local setup = class("Net",
    "self.a, self.b = nn.Linear(8, 5), nn.Linear(5, 4)",
    "return self.b(self.a(x))")
  setup[#setup + 1] = 'local tp = require "dt.parallel"'
  return {ranks = 2, mesh = line(2, "tp"), setup = setup,
    fail = "return tp.parallelize_module(Net(), mesh, {a = "
      .. "tp.ColwiseParallel(), b = tp.RowwiseParallel()})(dt.ones(2, 8))",
    fixes = {{text = "keep DTensors along the chain", lua =
      "return tp.parallelize_module(Net(), mesh, {a = tp.ColwiseParallel "
      .. "{use_local_output = false}, b = tp.RowwiseParallel()})"
      .. "(dt.ones(2, 8))"}}}
end

local by_data = {["aten.masked_select.default"] = "x:masked_select(x:gt(0))",
  ["aten.nonzero.default"] = "x:nonzero()", ["aten.index.Tensor"] =
    "dt.ops.aten.index.Tensor(x, {x:gt(0)})"}

M["dynamic-output-shape"] = function (r)
  local call = by_data[r.op or "aten.nonzero.default"]
  if not call then return nil end
  return {ranks = 2, mesh = line(2, "tp"),
    setup = {'local x = dt.distribute_tensor(dt.ones(8), mesh, "S(0)")'},
    fail = "return " .. call, fixes = {
      {text = "where instead of an index",
        lua = "return dt.where(x:gt(0), x, 0)"},
      {text = "through the full tensor",
        lua = "return x:full_tensor():nonzero()"}}}
end

M["partial-plus-scalar"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    silent = "each rank adds the number to its addend when the local tensors "
      .. "are used: the sum is off by (ranks - 1) times it",
    setup = {"local x = DTensor.from_local(dt.ones(4), mesh, {Partial()})"},
    fail = "local y = DTensor.from_local(x:to_local() + 1, mesh, {Partial()})"
      .. "; assert(y:full_tensor()[0]:item() == 4, 'not off')",
    fixes = {{text = "reduce first", lua = "assert((x:redistribute(mesh, "
      .. '"R") + 1):full_tensor()[0]:item() == 3, "off")'}}}
end

M["from-local-lies"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    silent = "from_local believes the placement: each rank has another tensor "
      .. "and calls it Replicate",
    setup = {"local x = dt.ones(4) * dt.rank()"},
    fail = "return DTensor.from_local(x, mesh, {Replicate()})",
    fixes = {{text = "the true placement", lua =
      "return DTensor.from_local(x, mesh, {Shard(0)})"}}}
end

M["distribute-source-rank-wins"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    silent = "distribute_tensor takes rank 0's values; what rank 1 prepared "
      .. "is dropped",
    setup = {"local function mine() return dt.ones(4) * dt.rank() end"},
    fail = 'local y = dt.distribute_tensor(mine(), mesh, "R"); '
      .. "assert(y:to_local():sum():item() == 0, 'own values')",
    fixes = {{text = "from_local keeps each rank's own", lua =
      "local y = DTensor.from_local(mine(), mesh, {Shard(0)}); "
      .. "assert(y:full_tensor():sum():item() == 4, 'lost')"}}}
end

M["hidden-redistribution"] = function ()
  return {ranks = 2, mesh = line(2, "tp"),
    silent = "the addition moves one operand; nothing in the code says so",
    setup = {'local x = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0)")',
      'local y = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(1)")'},
    fail = "return x + y", fixes = {
      {text = "redistribute once, where the tensor is made",
        lua = 'local z = y:redistribute(mesh, "S(0)"); return x + z'}}}
end

return M
