-- SPDX-License-Identifier: MIT
-- dt/npu.lua: the fused attention operator of the npu device profile, as an
-- out-of-tree device library defines it: forward, backward, and neither with
-- a sharding strategy.  Loading the module defines both operators.

local dt = require "dt"
local util = require "dt.util"

local M = {}

local function check_heads(q, heads)
  if heads ~= q.shape[2] then
    local s = q.shape
    util.raise("RuntimeError", "npu_fusion_attention: head_num %d does not "
      .. "match query shape [%d, %d, %d, %d]", heads, s[1], s[2], s[3], s[4])
  end
end

-- Scores before the softmax; masked (true) elements are -inf.
local function scores(q, k, mask, scale)
  local s = dt.matmul(q, k:transpose(-2, -1)) * scale
  if mask then s = s:masked_fill(mask, -math.huge) end
  return s
end

-- out, row maxima, row sums of exp(score - max)
function M.forward(q, k, v, heads, _, mask, scale)
  check_heads(q, heads)
  if mask == dt.None then mask = nil end
  local s = scores(q, k, mask, scale)
  local top = s:amax({-1}, true)
  local e = (s - top):exp()
  local total = e:sum({-1}, true)
  return dt.matmul(e / total, v), top, total
end

-- dq, dk, dv from the saved statistics
function M.backward(q, k, v, dy, heads, _, mask, top, total, out, scale)
  check_heads(q, heads)
  if mask == dt.None then mask = nil end
  local p = (scores(q, k, mask, scale) - top):exp() / total
  local dv = dt.matmul(p:transpose(-2, -1), dy)
  local dp = dt.matmul(dy, v:transpose(-2, -1))
  local row = (dy * out):sum({-1}, true)
  local ds = p * (dp - row) * scale
  return dt.matmul(ds, k), dt.matmul(ds:transpose(-2, -1), q), dv
end

-- The kernels write row-major results whatever the strides of the inputs.
local function new_like(t) return dt.empty(t.shape, {dtype = t.dtype}) end

local function stats_like(q)
  local s = q.shape
  return dt.empty({s[1], s[2], s[3], 1}, {dtype = dt.float32})
end

local schema = "npu::npu_fusion_attention(Tensor query, Tensor key, "
  .. "Tensor value, int head_num, str input_layout, "
  .. "Tensor? atten_mask=None, float scale=1.0) -> (Tensor, Tensor, Tensor)"
local grad_schema = "npu::npu_fusion_attention_grad(Tensor query, Tensor key, "
  .. "Tensor value, Tensor dy, int head_num, str input_layout, "
  .. "Tensor? atten_mask, Tensor softmax_max, Tensor softmax_sum, "
  .. "Tensor attention_in, float scale_value) -> (Tensor, Tensor, Tensor)"

dt.library.define(grad_schema, {module = "dt.npu",
  impl = M.backward,
  meta = function (q, k, v) return new_like(q), new_like(k), new_like(v) end,
})

dt.library.define(schema, {module = "dt.npu",
  impl = M.forward,
  meta = function (q) return new_like(q), stats_like(q), stats_like(q) end,
  -- gradients of the three tensors; the mask and the numbers have none
  backward = function (ctx, dy)
    local q, k, v, heads, layout, mask, scale = table.unpack(ctx.args, 1, 7)
    local out, top, total = table.unpack(ctx.outputs, 1, 3)
    return dt.ops.npu.npu_fusion_attention_grad.default(q, k, v, dy, heads,
      layout, mask or dt.None, top, total, out, scale)
  end,
})

return M
