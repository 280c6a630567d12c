-- TEST: ranks={1,2} world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- loss_parallel.lua: cross_entropy over classes that are cut equals that of one
-- device, for each reduction, with weights, ignored targets, and a whole batch of
-- them; gradients, too.

local T = require "tests.lua.lib.check"
local F = require "dt.functional"

local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local D = dt.distribute_tensor

local function count(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return (dt.arange(n, {dtype = dt.f32}) * 0.37):sin():view(...)
end

local function close(a, b, what)
  local ok, e = pcall(dt.testing.assert_close, a, b)
  T.ok(ok, what .. ": " .. tostring(e))
end

-- One device's loss and gradient beside those of classes cut over the ranks.
local function compare(what, shape, target, options)
  local whole = count(table.unpack(shape))
  local a = whole:clone():requires_grad_()
  local want = F.cross_entropy(a, target, options)
  want:sum():backward()
  local b = D(whole, mesh, {dt.Shard(#shape >= 2 and 1 or 0)}):requires_grad_()
  local given = {}
  for k, v in pairs(options) do given[k] = v end
  if given.weight then given.weight = D(given.weight, mesh, {dt.Replicate()}) end
  dt.loss_parallel(function ()
    local loss = F.cross_entropy(b, D(target, mesh, {dt.Replicate()}), given)
    close(loss:full_tensor(), want, what)
    loss:sum():backward()
  end)
  close(b.grad:full_tensor(), a.grad, what .. ", its gradient")
end

local targets = {
  {"some", {3, 4}, dt.tensor {0, 3, 1}},
  {"one", {1, 4}, dt.tensor {3}},
  {"ends alike", {2, 4}, dt.tensor {0, 0}},
  {"an ignored one", {3, 4}, dt.tensor {0, 2, 1}, 2},
  {"all of them pixels", {2, 4, 3}, dt.tensor {{0, 1, 2}, {3, 0, 1}}},
}
for _, t in ipairs(targets) do
  for _, reduction in ipairs {"none", "sum", "mean"} do
    for _, weight in ipairs {false, dt.tensor {0.5, 2.0, 1.0, 0.25}} do
      compare(("%s, %s, %s"):format(t[1], reduction, weight and "weighted"
        or "plain"), t[2], t[3], {reduction = reduction, ignore_index = t[4],
        weight = weight or nil})
    end
  end
end
T.finish()
