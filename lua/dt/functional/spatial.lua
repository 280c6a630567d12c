-- SPDX-License-Identifier: MIT
-- dt/functional/spatial.lua: F over spatial dims: pooling, resizing, padding,
-- sampling, convolution.  Each function checks what torch.nn.functional
-- checks in Python and calls the aten operator that decides and computes.

local dt = require "dt"
local util = require "dt.util"

local M = {}
local aten, torch = dt.ops.aten, require "dt.torch.functions"

local function raise(...) return util.raise(...) end

-- One number, or a list of n.
local function list(v, n)
  if type(v) ~= "number" then return util.list(v) end
  local out = {}
  for i = 1, n do out[i] = v end
  return out
end

-- ---- pooling ----

local function pool(op)
  local names = {"kernel_size", "stride", "padding", "dilation", "ceil_mode",
    "return_indices"}
  return function (x, ...)
    local a = util.bind(op, names, {padding = 0, dilation = 1,
      ceil_mode = false}, ...)
    local f = a.return_indices and torch[op .. "_with_indices"] or torch[op]
    local s = a.stride
    if s == nil or s == dt.None then s = {} end
    return f(x, a.kernel_size, s, a.padding, a.dilation, a.ceil_mode)
  end
end

-- The sizes that an adaptive pooling is asked for; None keeps the input's.  One
-- dim is taken as it is, a list of more has a dim of the input each.
local function adaptive_sizes(op, x, asked, nd)
  if type(asked) ~= "table" then return list(asked, nd) end
  local size, n = {}, asked.n or #asked
  if nd == 1 then
    if n ~= 1 and op:find("max") then
      raise("RuntimeError", "%s() argument 'output_size' should contain one "
        .. "int (got %d)", op, n)
    end
    return asked
  elseif x.ndim <= n then
    raise("ValueError", "Input dimension should be at least %d", n + 1)
  end
  for i = 1, n do
    size[i] = asked[i]
    if size[i] == nil or size[i] == dt.None then
      size[i] = x.shape[x.ndim - n + i]
    end
  end
  return size
end

local function adaptive(op, nd, max)
  return function (x, ...)
    local a = util.bind(op, {"output_size", "return_indices"}, {}, ...)
    local y, index = torch[op](x, adaptive_sizes(op, x, a.output_size, nd))
    if max and a.return_indices then return y, index end
    return y
  end
end

for nd = 1, 3 do
  M["max_pool" .. nd .. "d"] = pool("max_pool" .. nd .. "d")
  local avg, max = "adaptive_avg_pool" .. nd .. "d",
    "adaptive_max_pool" .. nd .. "d"
  M[avg], M[max] = adaptive(avg, nd, false), adaptive(max, nd, true)
end

-- ---- resizing ----

local modes = {
  nearest = {"upsample_nearest1d", "upsample_nearest2d",
             "upsample_nearest3d"},
  ["nearest-exact"] = {"_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d", "_upsample_nearest_exact3d"},
  linear = {"upsample_linear1d"}, bilinear = {[2] = "upsample_bilinear2d"},
  bicubic = {[2] = "upsample_bicubic2d"},
  trilinear = {[3] = "upsample_trilinear3d"}, lanczos = {[2] = false},
  area = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
          "adaptive_avg_pool3d"}
}
local smooth = {bilinear = "_upsample_bilinear2d_aa",
  bicubic = "_upsample_bicubic2d_aa", lanczos = "_upsample_lanczos2d_aa"}
local aligned = {linear = true, bilinear = true, bicubic = true,
  trilinear = true, lanczos = true}
local all_modes =
  "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | "
  .. "nearest-exact"

local function sizes_of(x, a, nd)
  if a.size ~= nil and a.scale_factor ~= nil then
    raise("ValueError", "only one of size or scale_factor should be defined")
  end
  if a.size == nil and a.scale_factor == nil then
    raise("ValueError", "either size or scale_factor should be defined")
  end
  if a.size ~= nil then return list(a.size, nd), nil end
  local factors, size = list(a.scale_factor, nd), {}
  for i = 1, nd do factors[i] = factors[i] + 0.0 end
  if a.recompute_scale_factor or a.mode == "area" then
    for i = 1, nd do
      size[i] = math.floor(x.shape[2 + i] * factors[i])
    end
    return size, nil
  end
  return nil, factors
end

-- F.interpolate(x, size, scale_factor, mode = "nearest", align_corners,
-- recompute_scale_factor, antialias = false)
function M.interpolate(x, ...)
  local a = util.bind("interpolate", {"size", "scale_factor", "mode",
    "align_corners", "recompute_scale_factor", "antialias"},
    {mode = "nearest", antialias = false}, ...)
  if a.size == dt.None then a.size = nil end
  if a.scale_factor == dt.None then a.scale_factor = nil end
  if a.align_corners == dt.None then a.align_corners = nil end
  local nd = x.ndim - 2
  if not aligned[a.mode] and a.align_corners ~= nil then
    raise("ValueError", "align_corners option can only be set with the "
      .. "interpolating modes: linear | bilinear | bicubic | trilinear | "
      .. "lanczos")
  end
  local size, factors = sizes_of(x, a, math.max(nd, 1))
  local align = a.align_corners or false
  if a.antialias and smooth[a.mode] and x.ndim == 4 then
    return aten[smooth[a.mode]].vec(x, size or dt.None, align,
      factors or dt.None)
  end
  if a.antialias then
    raise("ValueError", "Anti-alias option is restricted to bilinear, "
      .. "bicubic, and lanczos modes and requires a 4-D tensor as input")
  end
  local row = modes[a.mode]
  if row == nil or nd < 1 or nd > 3 then
    raise("NotImplementedError", "Input Error: Only 3D, 4D and 5D input "
      .. "Tensors supported (got %dD) for the modes: %s (got %s)", x.ndim,
      all_modes, a.mode)
  end
  local op = row[nd]
  if not op then
    local want = next(row)
    raise("NotImplementedError", "Got %dD input, but %s mode needs %dD input",
      x.ndim, a.mode, want + 2)
  end
  if a.mode == "area" then return torch[op](x, size) end
  if aligned[a.mode] then
    return aten[op].vec(x, size or dt.None, align, factors or dt.None)
  end
  return aten[op].vec(x, size or dt.None, factors or dt.None)
end

-- The older names of interpolate, each with what it sets.
local function older(name, fixed)
  M[name] = function (x, ...)
    dt._warn(("`nn.functional.%s` is deprecated. Use "
      .. "`nn.functional.interpolate` instead."):format(name))
    local a = util.bind(name, {"size", "scale_factor", "mode",
      "align_corners"}, {mode = "nearest"}, ...)
    for key, v in pairs(fixed) do a[key] = v end
    return M.interpolate(x, a)
  end
end

-- F.upsample(x, size, scale_factor, mode = "nearest", align_corners);
-- F.upsample_nearest, F.upsample_bilinear(x, size, scale_factor)
older("upsample", {})
older("upsample_nearest", {mode = "nearest"})
older("upsample_bilinear", {mode = "bilinear", align_corners = true})

-- ---- sampling ----

local sample_modes = {bilinear = 0, nearest = 1, bicubic = 2}
local border_modes = {zeros = 0, border = 1, reflection = 2}

-- F.grid_sample(x, grid, mode = "bilinear", padding_mode = "zeros",
-- align_corners = false)
function M.grid_sample(x, grid, ...)
  local a = util.bind("grid_sample", {"mode", "padding_mode",
    "align_corners"}, {mode = "bilinear", padding_mode = "zeros",
    align_corners = false}, ...)
  if not sample_modes[a.mode] then
    raise("ValueError", "nn.functional.grid_sample(): expected mode to be "
      .. "'bilinear', 'nearest' or 'bicubic', but got: '%s'", a.mode)
  end
  if not border_modes[a.padding_mode] then
    raise("ValueError", "nn.functional.grid_sample(): expected padding_mode "
      .. "to be 'zeros', 'border', or 'reflection', but got: '%s'",
      a.padding_mode)
  end
  return torch.grid_sampler(x, grid, sample_modes[a.mode],
    border_modes[a.padding_mode], a.align_corners)
end

-- F.affine_grid(theta, size, align_corners = false)
function M.affine_grid(theta, size, align_corners)
  return torch.affine_grid_generator(theta, util.list(size),
    align_corners or false)
end

-- ---- padding, shuffles, blocks ----

-- F.pad(x, pad, mode = "constant", value)
function M.pad(x, pad, ...)
  local a = util.bind("pad", {"mode", "value"}, {mode = "constant"}, ...)
  return torch.pad(x, util.list(pad), a.mode, a.value or dt.None)
end

-- F.unfold(x, kernel_size, dilation = 1, padding = 0, stride = 1)
function M.unfold(x, ...)
  local a = util.bind("unfold", {"kernel_size", "dilation", "padding",
    "stride"}, {dilation = 1, padding = 0, stride = 1}, ...)
  return torch.im2col(x, list(a.kernel_size, 2), list(a.dilation, 2),
    list(a.padding, 2), list(a.stride, 2))
end

-- F.fold(x, output_size, kernel_size, dilation = 1, padding = 0, stride = 1)
function M.fold(x, ...)
  local a = util.bind("fold", {"output_size", "kernel_size", "dilation",
    "padding", "stride"}, {dilation = 1, padding = 0, stride = 1}, ...)
  return torch.col2im(x, list(a.output_size, 2), list(a.kernel_size, 2),
    list(a.dilation, 2), list(a.padding, 2), list(a.stride, 2))
end

-- ---- what PyTorch calls without Python in between ----

for _, name in ipairs {"pixel_shuffle", "pixel_unshuffle", "channel_shuffle",
    "adaptive_avg_pool1d"} do
  M[name] = torch[name]
end
for nd = 1, 3 do
  for _, name in ipairs {"avg_pool%dd", "conv%dd", "conv_transpose%dd"} do
    name = name:format(nd)
    M[name] = torch[name]
  end
end

-- ---- pooling at random places ----

local function fractional(nd)
  local name = "fractional_max_pool" .. nd .. "d"
  local function both(x, ...)
    local a = util.bind(name, {"kernel_size", "output_size", "output_ratio",
      "return_indices", "_random_samples"}, {}, ...)
    if util.is_none(a.output_size) and util.is_none(a.output_ratio) then
      raise("ValueError", "%s requires specifying either an output_size or an "
        .. "output_ratio", name)
    end
    local size = a.output_size
    if util.is_none(size) then
      local ratio = list(a.output_ratio, nd)
      size = {}
      for d = 1, nd do
        size[d] = math.floor(x.shape[x.ndim - nd + d] * ratio[d])
      end
    end
    local places = a._random_samples
    if util.is_none(places) then
      places = dt.rand({x.ndim == nd + 1 and 1 or x:size(0), x:size(-nd - 1),
        nd}, {dtype = x.dtype, device = x.device})
    end
    return aten[name](x, list(a.kernel_size, nd), list(size, nd), places)
  end
  M[name .. "_with_indices"] = both
  M[name] = function (x, ...)
    local a = util.bind(name, {"kernel_size", "output_size", "output_ratio",
      "return_indices", "_random_samples"}, {}, ...)
    local y, at = both(x, ...)
    if a.return_indices == true then return y, at end
    return y
  end
end
fractional(2)
fractional(3)

return M
