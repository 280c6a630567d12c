-- SPDX-License-Identifier: MIT
-- dt/float8/init.lua: linear layers whose products are made of float8 values,
-- as torchao makes them with emulate=True: each operand is scaled by its
-- largest value, rounded to float8, and the product is made in float32 of the
-- rounded values divided by their scales.
--
-- A float8 operand is a table: `hp` stands for it in what is recorded (same
-- shape and strides), `data` are the rounded values (with `turned` those of
-- the transpose), `scale` is a scalar.  A distributed one is a distributed
-- tensor of the rounded values divided by their scale, `cast`, for there the
-- operators on it are DTensor's own; it is cast by the hooks of the layer's
-- parallel style (dt.float8.parallel), before it travels.

local dt = require "dt"
local autograd = require "dt.autograd"
local nn = require "dt.nn"
local nnm = require "dt.nn.module"
local util = require "dt.util"

local A = dt.ops.aten
local M = {}

local E4M3 = {dtype = dt.float8_e4m3fn, max = 448.0}
local E5M2 = {dtype = dt.float8_e5m2, max = 57344.0}

-- The factor that brings a largest value to the largest float8.
local function scale_of(amax, kind)
  local t = A.clamp.default(amax:to(dt.float64), 1e-12)
  return A.mul.Tensor(t:reciprocal(), kind.max):to(dt.float32)
end

-- Scaled and rounded; over the ranks of `mesh` with one scale for all.
local function to_float8(t, kind, mesh, scale)
  if not scale then
    local amax = t:abs():max()
    if mesh then amax = dt._coll("all_reduce", amax, mesh, 0, {op = "max"}) end
    scale = scale_of(amax, kind)
  end
  local hp = A.clamp.default(A.mul.Tensor(t, scale), -kind.max, kind.max)
  return {hp = hp, data = hp:to(kind.dtype), scale = scale}
end

-- A distributed tensor rounded to float8, with one scale for all its shards.
local function cast(t, kind)
  local scale = scale_of(t:abs():max(), kind)
  local t8 = A.clamp.default(A.mul.Tensor(t, scale), -kind.max, kind.max)
    :to(kind.dtype)
  local own = dt._local_of(t8)
  local wide = dt._named("torchao.float8.wide", {own}, function ()
    return (own:to(dt.float32) / dt._local_of(scale)):to(t.dtype)
  end)
  return dt.DTensor.from_local(wide, t.device_mesh, t.placements,
    {run_check = false, shape = t.shape, stride = t:stride()})
end

-- Is this tensor one of float8 values already?
local function is_cast(t) return dt._own_attr(t, "_float8") == true end

-- The operand of a product that `t` is.
local function operand(t, kind, done)
  if done or is_cast(t) then return {hp = t, cast = true} end
  if t.is_dtensor then return {hp = cast(t, kind), cast = true} end
  return to_float8(t, kind)
end

local function transposed(x)
  if x.cast then return {hp = x.hp:t(), cast = true} end
  local hp = dt._named("aten.t.default", {x.hp}, function ()
    return x.hp:t()
  end)
  return {hp = hp, data = x.data, scale = x.scale, turned = not x.turned}
end

-- Rows and columns of the last dim, whatever came before it.
local function flat(x)
  local data
  local n = x.hp.shape[x.hp.ndim]
  if x.cast then return {hp = x.hp:reshape({-1, n}), cast = true} end
  local hp = dt._named("aten.view.default", {x.hp}, function ()
    data = x.data:reshape({-1, n})
    return x.hp:reshape({-1, n})
  end)
  return {hp = hp, data = data, scale = x.scale}
end

local function wide(x)
  local t = x.data:to(dt.float32) / x.scale
  return x.turned and t:t() or t
end

local function mm(a, b)
  if a.cast and b.cast then return dt.mm(a.hp, b.hp) end
  return dt._named("aten.mm.default", {a.hp, b.hp}, function ()
    return dt.mm(wide(a), wide(b)):to(a.hp.dtype)
  end)
end

-- ---- the product ----

local product = autograd.Function:extend("matmul_with_hp_or_float8_args")

local function shape_with(t, last)
  local s = {}
  for i = 1, t.ndim - 1 do s[i] = t.shape[i] end
  s[#s + 1] = last
  return s
end

-- The weight as an operand: as it was gathered, or cast now.
local function weight_operand(t, layer)
  local made = layer._attrs._float8_weight
  if made and t.is_dtensor then return operand(t, E4M3, true) end
  return made and made(t) or operand(t, E4M3)
end

function product.forward(ctx, input, weight_t, layer)
  ctx:save_for_backward(input, weight_t)
  ctx.layer, ctx.cast = layer, is_cast(input)
  local a = operand(input, E4M3, ctx.cast)
  local b = weight_operand(weight_t, layer)
  local out = mm(flat(a), b)
  return out:view(shape_with(input, weight_t.shape[2]))
end

function product.backward(ctx, grad)
  local input, weight_t = ctx.saved_tensors[1], ctx.saved_tensors[2]
  local done = ctx.layer._attrs._float8_grad    -- cast by the style's hook
  local n = grad.shape[grad.ndim]
  local g = grad:reshape({-1, n})
  local g8 = operand(g, E5M2, done)
  local w8 = weight_operand(weight_t, ctx.layer)
  local k = input.shape[input.ndim]
  local gx = mm(g8, transposed(w8)):view(shape_with(grad, k))
  local x = input:reshape({-1, k})
  if not done then g8 = operand(g, E5M2) end
  local x8 = operand(x, E4M3, ctx.cast)
  return gx, mm(transposed(g8), x8):t()
end

-- Forward: the cast; backward: nothing.
local to_cast = autograd.Function:extend("_ToFloat8ConstrFunc")
function to_cast.forward(_, x) return cast(x, E4M3) end
function to_cast.backward(_, grad) return grad end

-- A distributed tensor as float8, marked as such; as it is where it is one.
function M.to_float8(t)
  if is_cast(t) then return t end
  local out = to_cast.apply(t)
  out._float8 = true
  return out
end

-- Forward: nothing; backward: the gradient is cast.
local cast_grad = autograd.Function:extend("NoopFwToFloat8BwDynamic")
function cast_grad.forward(_, x) return x:view_as(x) end
function cast_grad.backward(_, grad) return cast(grad, E5M2) end
M.cast_grad = cast_grad.apply

-- ---- the layer ----

-- Float8Linear: a Linear whose products are made of float8 values.
M.Float8Linear = nn.Linear:extend("Float8Linear")

function M.Float8Linear:forward(x)
  local out = product.apply(x, self.weight:t(), self)
  if self.bias then out = out + self.bias:to(out.dtype) end
  return out
end

function M.Float8Linear:extra_repr()
  return nn.Linear.extra_repr(self)
    .. ', cast_configs=i:dyn_ten_e4m3,w:dyn_ten_e4m3,go:dyn_ten_e5m2"'
end

-- Float8LinearConfig{enable_fsdp_float8_all_gather=, emulate=}
function M.Float8LinearConfig(...)
  return util.bind("Float8LinearConfig", {"enable_fsdp_float8_all_gather",
    "emulate"}, {enable_fsdp_float8_all_gather = false, emulate = false}, ...)
end

-- The weight travels as float8: cast with one scale for all ranks before the
-- gather, and used as it comes.
local function gather_as_float8(layer)
  local whole
  layer.weight.fsdp_pre_all_gather = function (own, mesh)
    local x = to_float8(own, E4M3, mesh, layer._attrs._float8_scale)
    return {x.data}, {x.scale}
  end
  layer.weight.fsdp_post_all_gather = function (_, parts, metadata, dtype)
    whole = {data = parts[1], scale = metadata[1]}
    return dt._named("torchao.float8.wide", {parts[1]}, function ()
      return wide(whole):to(dtype)
    end)
  end
  layer.weight.is_wrapper = true
  layer._attrs._float8_weight = function (weight_t)
    return {hp = weight_t, data = whole.data, scale = whole.scale,
      turned = true}
  end
end

M.gather_as_float8 = gather_as_float8

local function converted(m, config)
  local layer = M.Float8Linear(m.in_features, m.out_features,
    {bias = m.bias ~= nil, device = "meta"})
  layer.weight = m.weight
  if m.bias then layer.bias = m.bias end
  layer._attrs._float8_config = config
  if config.enable_fsdp_float8_all_gather then gather_as_float8(layer) end
  return layer
end

-- convert_to_float8_training(model, {config=, module_filter_fn=}): every
-- Linear becomes a Float8Linear with the same parameters, in place.
function M.convert_to_float8_training(model, kw)
  kw = kw or {}
  local config = kw.config or M.Float8LinearConfig()
  local function visit(m, path)
    for name, child in m._modules:each() do
      local full = path == "" and name or path .. "." .. name
      visit(child, full)
      if nnm.isinstance(child, nn.Linear)
          and not nnm.isinstance(child, M.Float8Linear)
          and (not kw.module_filter_fn or kw.module_filter_fn(child, full)) then
        m._modules:set(name, converted(child, config))
      end
    end
  end
  visit(model, "")
  return model
end

-- precompute_float8_dynamic_scale_for_fsdp(model): the scales of all weights
-- that travel as float8, with one collective: every gather from then on has
-- them, also after an optimizer's step, until they are computed again.
function M.precompute_float8_dynamic_scale_for_fsdp(model)
  local guard <close> = dt.no_grad()            -- luacheck: ignore guard
  local layers, weights = {}, {}
  for m in model:modules() do
    if m._attrs._float8_weight and m.weight.is_dtensor then
      layers[#layers + 1], weights[#weights + 1] = m, m.weight
    end
  end
  if #layers == 0 then return end
  local amax = dt.stack(A._foreach_norm.Scalar(weights, math.huge))
  local t = A.clamp.default(amax, 1e-12):to(dt.float64):reciprocal()
  local scales = dt._local_of(A.mul.Tensor(t, E4M3.max)):to(dt.float32)
  for i, m in ipairs(layers) do
    m._attrs._float8_scale = scales:select(0, i - 1)
  end
end

return M
