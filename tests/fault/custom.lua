-- SPDX-License-Identifier: MIT
-- Operators of the user's own: Lua called by the engine, called by Lua.
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
dt.library.define("fault::twice(Tensor x, float k=2.0) -> Tensor", {
  impl = function (t, k) return t * k end,
  backward = function (ctx, g) return g * ctx.args[2] end,
})
local x = dt.distribute_tensor(dt.ones(4, 6), mesh, {Shard(0)})
local ok, err = pcall(dt.ops.fault.twice.default, x)
assert(not ok)
if err.code ~= "MISSING" then error(err, 0) end
dt.register_sharding("fault::twice", function ()
  return {{{Shard(0)}, {Shard(0), dt.None}}}
end)
local w = x:detach():requires_grad_()
dt.ops.fault.twice.default(w, 3.0):sum():backward()
assert(w.grad:full_tensor():sum():item() == 3 * 24)
