-- TEST: ranks={1,2,3} world=threads needs=data
-- SPDX-License-Identifier: MIT
-- Pooling, resizing, padding, sampling, convolution: distributed calls equal
-- those on one device; gradients of linear maps are their transposes
-- (<A x, y> = <x, A^T y>); shuffles and blocks undo each other.

local T = require "tests.lua.lib.check"
local nn = dt.nn

local world = dt.world_size()
local mesh = dt.init_device_mesh("cpu", {world}, {mesh_dim_names = {"tp"}})
local function fill(shape, seed) return dt.testing.fill(shape, 17, seed, 13) end

local x = fill({6, 6, 5, 4}, 1)
local grid = fill({6, 3, 2, 2}, 2) / 10
local w = fill({4, 6, 3, 2}, 3)

-- name, function, how exact
local calls = {
  max_pool2d = function (t) return F.max_pool2d(t, {2, 3}, 1, {1, 1}) end,
  avg_pool2d = function (t) return F.avg_pool2d(t, 2, {padding = 1}) end,
  adaptive = function (t) return F.adaptive_avg_pool2d(t, {3, 3}) end,
  adaptive_max = function (t) return F.adaptive_max_pool2d(t, {2, 3}) end,
  nearest = function (t) return F.interpolate(t, {scale_factor = 2}) end,
  bilinear = function (t)
    return F.interpolate(t, {size = {7, 3}, mode = "bilinear"})
  end,
  bicubic = function (t)
    return F.interpolate(t, {size = {3, 9}, mode = "bicubic",
      align_corners = true})
  end,
  smooth = function (t)
    return F.interpolate(t, {size = {2, 2}, mode = "bilinear",
      antialias = true})
  end,
  pad = function (t) return F.pad(t, {1, 2, 0, -1}) end,
  pixel_unshuffle = function (t)
    return F.pixel_unshuffle(F.pad(t, {0, 0, 0, 1}), 2)
  end,
  channel_shuffle = function (t) return F.channel_shuffle(t, 3) end,
}
for name, f in pairs(calls) do
  local want = f(x)
  -- PyTorch keeps divided channels and shuffles each part by itself: its
  -- decision, not what one device computes
  local whole = name == "channel_shuffle"
  for _, pl in ipairs({"S(0)", whole and "R" or "S(1)", "R"}) do
    local d = dt.distribute_tensor(x, mesh, pl)
    local ok, got = pcall(f, d)
    T.ok(ok, name .. " on " .. pl .. ": " .. tostring(got))
    if ok then T.close(got:full_tensor(), want, name .. " on " .. pl, 1e-5) end
  end
end

-- two operands
do
  local dx = dt.distribute_tensor(x, mesh, "S(0)")
  local dg = dt.distribute_tensor(grid, mesh, "S(0)")
  local dw = dt.distribute_tensor(w, mesh, "R")
  T.close(F.grid_sample(dx, dg):full_tensor(), F.grid_sample(x, grid),
    "grid_sample on S(0)", 1e-5)
  T.close(F.conv2d(dx, dw):full_tensor(), F.conv2d(x, w), "conv2d on S(0)",
    1e-4)
end

-- <A x, y> = <x, A^T y>
local linear = {"avg_pool2d", "adaptive", "nearest", "bilinear", "bicubic",
  "smooth", "pad", "pixel_unshuffle", "channel_shuffle"}
for _, name in ipairs(linear) do
  local t = x:clone():requires_grad_(true)
  local out = calls[name](t)
  local y = fill(out.shape, 5)
  local left = (out * y):sum()
  left:backward()
  T.close((t.grad * x):sum(), left:detach(), "transpose of " .. name, 1e-2)
end
for _, mode in ipairs({"reflect", "replicate", "circular"}) do
  local t = x:clone():requires_grad_(true)
  local out = F.pad(t, {2, 1, 1, 0}, mode)
  local left = (out * fill(out.shape, 5)):sum()
  left:backward()
  T.close((t.grad * x):sum(), left:detach(), "transpose of " .. mode, 1e-2)
end

-- there and back
T.close(F.pixel_shuffle(F.pixel_unshuffle(fill({2, 3, 4, 6}, 4), 2), 2),
  fill({2, 3, 4, 6}, 4), "pixel_shuffle undoes pixel_unshuffle", 0)
T.close(F.fold(F.unfold(fill({2, 3, 4, 6}, 4), 2, {stride = 2}), {4, 6}, 2,
  {stride = 2}), fill({2, 3, 4, 6}, 4), "fold undoes unfold", 0)

-- The grid's gradient is how the result changes when the grid moves.  Points
-- stand away from where a mode has a kink: the middles and ends of pixels.
do
  local image = fill({2, 2, 5, 4}, 6):to(dt.float64)
  local points = (fill({2, 3, 2, 2}, 7):to(dt.float64) / 7 + 0.013)
  local move = fill({2, 3, 2, 2}, 8):to(dt.float64)
  local cotangent = fill({2, 2, 3, 2}, 9):to(dt.float64)
  for _, mode in ipairs({"bilinear", "bicubic"}) do
    for _, padding in ipairs({"zeros", "border", "reflection"}) do
      for _, corners in ipairs({false, true}) do
        local function value(t)
          return (F.grid_sample(image, t, {mode = mode, padding_mode = padding,
            align_corners = corners}) * cotangent):sum()
        end
        local t = points:clone():requires_grad_(true)
        value(t):backward()
        local step = 1e-6
        local change = (value(points + move * step)
          - value(points - move * step)) / (2 * step)
        T.close((t.grad * move):sum(), change, ("grid gradient of %s, %s, %s")
          :format(mode, padding, corners), 1e-5)
      end
    end
  end
end

-- layout in memory does not matter
local function twisted(t)
  return t:permute({0, 2, 3, 1}):contiguous():permute({0, 3, 1, 2})
end
for name, f in pairs(calls) do
  T.close(f(twisted(x)), f(x), name .. " of other strides", 1e-5)
end
T.close(F.conv2d(twisted(x), twisted(w)), F.conv2d(x, w),
  "conv2d of other strides", 1e-4)

-- words
T.raises("VALUE", "only one of size or scale_factor should be defined",
  F.interpolate, x, {size = 2, scale_factor = 2})
T.raises("RUNTIME", "Output size is too small", F.max_pool2d, x, 9)
T.raises("NOTIMPL", "Got 4D input, but linear mode needs 3D input",
  F.interpolate, x, {size = 2, mode = "linear"})
T.raises("NOTIMPL", "Unrecognised padding mode foo", F.pad, x, {1, 1}, "foo")

-- unfold_copy is unfold in memory of its own; PyTorch has no strategy for it
do
  local line = dt.arange(6):to(dt.float32):requires_grad_()
  local windows = dt.unfold_copy(line, 0, 3, 2)
  T.close(windows, dt.tensor {{0, 1, 2}, {2, 3, 4}}, "unfold_copy", 0)
  T.eq(tostring(windows:stride()), "torch.Size([3, 1])", "its strides")
  windows:sum():backward()
  T.close(line.grad, dt.tensor {1, 1, 2, 1, 1, 0}, "its gradient", 0)
  T.raises("RUNTIME", "maximum size for tensor at dimension 0 is 6 but size is 7",
    dt.unfold_copy, line, 0, 7, 1)
  T.raises("MISSING", "Operator aten.unfold_copy.default does not have a "
    .. "sharding strategy registered.", dt.unfold_copy,
    dt.distribute_tensor(dt.ones {8, 4}, mesh, {dt.Shard(0)}), 0, 2, 1)
end

-- modules
T.eq(tostring(nn.MaxPool2d(2)(x).shape), "torch.Size([6, 6, 2, 2])",
  "MaxPool2d")
T.eq(tostring(nn.Conv2d(6, 4, 3, {padding = 1})(x).shape),
  "torch.Size([6, 4, 5, 4])", "Conv2d")
T.eq(tostring(nn.Upsample({scale_factor = 2})(x).shape),
  "torch.Size([6, 6, 10, 8])", "Upsample")

T.finish()
