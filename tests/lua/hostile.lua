-- TEST: ranks={1,2} world=threads needs=data tags=quick
-- SPDX-License-Identifier: MIT
-- Sizes and strides that no memory holds, and numbers that overflow where they
-- are multiplied: an error with PyTorch's words, never a wrong size.

local T = require "tests.lua.lib.check"

local huge, half = math.maxinteger, 1 << 40

local function numel()
  local one = dt.ones(1, 1)
  T.raises("RUNTIME", "numel: integer multiplication overflow", one.expand, one,
    {half, half})
  T.eq(pcall(one.as_strided, one, {1 << 62, 8}, {0, 0}), false, "strides of 0")
  T.eq(one:expand({half, 1}):numel(), half, "what can be counted can be had")
  T.has(tostring(dt.ones(1):expand({huge})), "...", "and printed")
  T.eq(dt.empty(huge, 0, huge):numel(), 0, "nothing at all is small")
end

local function strides()
  T.raises("OVERFLOW", "with sizes=[2, 2] and strides=[-1, 1]", dt.empty_strided,
    {2, 2}, {-1, 1})
  T.eq(dt.empty_strided({2, 0}, {-1, 1}):numel(), 0, "nothing has any stride")
  T.raises("OVERFLOW", "with sizes=[4611686018427387904, 4]", dt.zeros, 1 << 62, 4)
  local x, none = dt.zeros(2, 3), dt.tensor(1)
  local range = "Dimension out of range (expected to be in range of [-2, 1], "
  for _, f in ipairs {x.size, x.stride} do
    for _, d in ipairs {2, -3, huge} do
      T.raises("INDEX", ("%sbut got %d)"):format(range, d), f, x, d)
    end
    T.raises("INDEX", "Dimension specified as 0 but tensor has no dimensions",
      f, none, 0)
  end
  T.eq(x:stride(-2), 3, "counted from the end")
end

local function values()
  T.raises("OVERFLOW", "Storage size calculation overflowed", dt.bincount,
    dt.tensor {huge})
end

local function placements()
  local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
  local x = dt.ones(4, 3)
  for _, sf in ipairs {huge, huge - 1, half} do
    local ok, d = pcall(dt.distribute_tensor, x, mesh, {dt._StridedShard(0, sf)})
    if ok then T.eq(d:full_tensor():sum():item(), 12, "a factor of " .. sf) end
  end
  T.throws("IndexError", "Dimension out of range (expected to be in range of "
    .. "[-2, 1], but got -3)", dt.distribute_tensor, x, mesh, {dt.Shard(-5)})
end

local function circles()
  local m = dt.nn.Module()
  m.a = m
  T.throws("RecursionError", "maximum recursion depth exceeded", m.state_dict, m)
  local _, e = pcall(dt.save, {a = "text"}, "none.safetensors")
  T.has(tostring(e), "TypeError: a file holds tensors: this is a str", "no tensor")
end

-- A step over the end: one place remains.
local function steps()
  local g = dt.ops.aten.slice_backward.default(dt.ones(1, 3), {4, 3}, 0, 1, 4, huge)
  T.eq(g[1]:sum():item(), 3, "the place the slice had")
  T.eq(g:sum():item(), 3, "and no other")
end

-- Gradients and masks of other sizes than the losses they are of.
local function losses()
  local A = dt.ops.aten
  local x, list = dt.ones(3, 4), dt.zeros(3, 4, {dtype = dt.int64})
  local many = A.multilabel_margin_loss_backward
  T.raises("RUNTIME", "but [3, 4] does not equal [2, 1, 3, 3]", many, dt.ones(),
    x, list, 1, dt.ones(2, 1, 3, 3))
  T.raises("RUNTIME", "expected scalar type Float but found Char", many,
    dt.ones(), x, list, 1, dt.ones(3, 4, {dtype = dt.int8}))
  T.raises("RUNTIME", "tensor.size[0] == 3 but got: dimension 1 and "
    .. "tensor.size[0] = 2", many, dt.ones(2), x, list, 0, dt.ones(3, 4))
  T.raises("RUNTIME", "grad_output has 2 elements for 3 samples",
    A.multi_margin_loss_backward, dt.ones(2), x, dt.zeros(3, {dtype = dt.int64}),
    1, 1.0, nil, 0)
end

numel()
circles()
strides()
values()
placements()
losses()
steps()

T.finish()
