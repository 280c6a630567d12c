-- TEST: ranks={1,4} world={threads,mpi} needs=data
-- SPDX-License-Identifier: MIT
-- Error objects: their fields, their text, and one clear error that names the
-- parameter for every kind of bad input; work goes on after each.

local T = require "tests.lua.lib.check"

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local plain = dt.ones(8, 8)
local x = dt.distribute_tensor(plain, mesh, {Shard(0)})

local function fields()
  local e = T.raises("SHAPE", "mat1 and mat2 shapes cannot be multiplied "
    .. "(2x3 and 2x3)", function () local y = dt.ones(2, 3):mm(dt.ones(2, 3))
      return y end)
  T.eq(e.class, "RuntimeError", "class")
  T.eq(e.id, "DT0020", "id")
  T.eq(e.torch, e.message, "torch is the text of PyTorch")
  T.eq(e.op, "aten.mm.default", "op")
  T.eq(e.rank, dt.rank(), "rank")
  T.ok(e.where:find("errors%.lua:%d+$"), "where: " .. e.where)
  T.eq(#e.args, 2, "args")
  T.has(e.args[1], "f32[2, 3]", "first argument")
  T.has(e.traceback, "errors.lua", "traceback")
  T.ok(type(e.explain) == "string" and #e.explain > 0, "explain")
  T.has(e, "DT0020", "tostring names the code")
  T.has(e, e.message, "tostring has the message")
  T.eq(e.nonsense, nil, "no other field")
end

local function passed_on()
  local e = T.raises("MIXED", "got mixed", function ()
    local ok, err = pcall(function () local y = x + dt.ones(8, 8) return y end)
    T.eq(ok, false, "inner pcall")
    error(err)
  end)
  T.eq(e.op, "aten.add.Tensor", "an object that is raised again is the same")
  local ok, s = pcall(error, "plain words", 0)
  T.eq(ok, false, "error of Lua")
  T.eq(s, "plain words", "a string stays a string")
  local own = dt.error("VALUE", "mine")
  T.raises("VALUE", "mine", error, own)
end

local function meshes()
  local init = dt.init_device_mesh
  T.raises("MESH", "Mesh should not be bigger than default world size "
    .. world .. ", but found " .. 2 * world .. " ranks", init, "cpu",
    {2 * world})
  T.raises("MESH", "Each mesh_dim_name must be unique", init, "cpu",
    {1, world}, {mesh_dim_names = {"a", "a"}})
  T.raises("MESH", "len(mesh_dim_names): 1 and len(mesh_shape):2", init, "cpu",
    {1, world}, {mesh_dim_names = {"a"}})
  T.raises("TYPE", "want an integer", init, "cpu", {0 / 0})
  T.raises("TYPE", "want an integer", init, "cpu", {1.5})
  T.raises("MESH", "", init, "cpu", {-world})
  T.raises("OVERFLOW", "more ranks than an integer can hold", init, "cpu",
    {1 << 40, 1 << 40})
  T.raises("MESH", "20 dimensions", init, "cpu",
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, world})
  T.raises("KEY", "Invalid mesh_dim_names ('zz',) specified. Valid "
    .. "mesh_dim_names are ['tp']", function () return mesh["zz"] end)
  local ten = init("cpu", {1, 1, 1, 1, 1, 1, 1, 1, 1, world})
  local y = dt.distribute_tensor(plain, ten, "R R R R R R R R R S(1)")
  T.eq(y:sum():full_tensor():item(), 64, "a mesh of ten dimensions works")
end

local function placements()
  local d = dt.distribute_tensor
  T.raises("VALUE", "`placements` must have the same length as "
    .. "`device_mesh.ndim`", d, plain, mesh, {Shard(0), Shard(1)})
  T.raises("ASSERT", "Sharding dim 7 greater than tensor ndim 2", d, plain,
    mesh, {Shard(7)})
  T.raises("PARSE", '"Q(0)"', d, plain, mesh, "Q(0)")
  T.raises("PLACEMENT", "placement 0 is a number", d, plain, mesh, {3})
  T.raises("TYPE", "placements must be a list", d, plain, mesh, 3)
  T.raises("TYPE", "argument 'tensor' must be Tensor, not NoneType", d, nil,
    mesh, "R")
  T.raises("TYPE", "argument 'device_mesh' must be DeviceMesh, not int", d,
    plain, 3, "R")
  T.raises("TYPE", "argument 'local_tensor'", DTensor.from_local, 3, mesh)
  T.raises("TYPE", "dim must be an integer", Shard, "x")
  T.raises("TYPE", "dim must be an integer", Shard, 1.5)
  T.raises("TYPE", "dim must be an integer", Shard)
  T.raises("PLACEMENT", "'foo'", Partial, "foo")
  T.raises("REDIST", "only Shard to Partial(sum) redistribution is supported",
    x.redistribute, x, mesh, {Partial("max")})
  -- A dim that is not there: as the step that meets it says it.
  local range = "Dimension out of range (expected to be in range of [-2, 1], "
  for text, from in pairs {["list index out of range"] = Shard(0),
    [range .. "but got 3)"] = Partial(),
    ["Sharding dim 3 greater than tensor ndim 2"] = Replicate()} do
    if world == 1 then break end        -- one rank moves nothing
    local y = DTensor.from_local(dt.ones(4, 4), mesh, {from})
    T.throws(from == Replicate() and "AssertionError" or "IndexError", text,
      y.redistribute, y, mesh, {Shard(3)})
  end
  T.raises("ATTR", "'Tensor' object has no attribute 'full_tensor'",
    plain.full_tensor, plain)
end

local function sizes()
  T.raises("TYPE", "argument 'size'", dt.zeros, 0 / 0)
  T.raises("TYPE", "argument 'size'", dt.zeros, {4, 1 / 0})
  T.raises("TYPE", "argument 'size'", dt.zeros, 2.5)
  T.raises("RUNTIME", "negative dimension -1", dt.zeros, -1)
  T.raises("NOMEM", "out of memory", dt.zeros, 1 << 45)
  T.raises("OVERFLOW", "Storage size calculation overflowed", dt.zeros,
    1 << 40, 1 << 40)
  local long = {}
  for i = 1, 70000 do long[i] = 1 end
  T.raises("LIMIT", "limit 65536", dt.sum, dt.ones(2), long)
  local loop = {}
  loop[1] = loop
  T.raises("VALUE", "nested too deeply", dt.add, loop, 1)
  T.raises("TYPE", "unexpected keyword argument 'foo'", dt.add, plain, plain,
    {foo = 1})
  T.raises("TYPE", "cannot be an operator's argument", dt.add, plain, print)
  T.raises("RUNTIME", "cannot be converted to Scalar", plain.item, plain)
  T.raises("ATTR", "has no attribute 'nosuch'", function ()
    return x:nosuch() end)
end

fields()
passed_on()
meshes()
placements()
sizes()
T.eq(x:full_tensor():sum():item(), 64, "the tensors are as they were")
T.finish()
