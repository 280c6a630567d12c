-- SPDX-License-Identifier: MIT
-- Breakpoints, stops with a handler, the past, while memory runs out.
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(4, 4), mesh, "S(0)")
dt.debug.breakpoint("op aten.mul* if #inputs == 1")
local n = 0
local ok, err = dt.debug.run(function ()
  local y = x * 2
  y:add_(1)
  return y:redistribute(mesh, "R"):sum()
end, function (s)
  n = n + #s.text
  return n > 2000 and "continue" or "step"
end)
if not ok then error(err, 0) end
local last = dt.debug.recording().last
local then_ = dt.debug.at(last)
assert(then_.x == nil or then_.x:to_local() ~= nil)
dt.debug.load_breakpoints(dt.debug.save_breakpoints())
dt.debug.delete()
