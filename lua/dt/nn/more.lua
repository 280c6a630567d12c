-- SPDX-License-Identifier: MIT
-- dt/nn/more.lua: Bilinear, EmbeddingBag, MultiheadAttention.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local Module = require("dt.nn.module").Module

local M = {}

local function param(sizes, a)
  return dt._make_param(dt.empty(sizes, {dtype = a.dtype, device = a.device}),
    true)
end

-- nn.Bilinear(in1, in2, out, {bias=true}): y = x1 W x2 + b
M.Bilinear = Module:extend("Bilinear")

function M.Bilinear:__init__(...)
  local a = util.bind("Bilinear", {"in1_features", "in2_features",
    "out_features", "bias", "device", "dtype"}, {bias = true}, ...)
  self.in1_features, self.in2_features = a.in1_features, a.in2_features
  self.out_features = a.out_features
  self.weight = param({a.out_features, a.in1_features, a.in2_features}, a)
  self:register_parameter("bias", a.bias and param({a.out_features}, a)
    or nil)
  local bound = 1 / math.sqrt(a.in1_features)
  init.uniform_(self.weight, -bound, bound)
  if self.bias then init.uniform_(self.bias, -bound, bound) end
end

function M.Bilinear:forward(x1, x2)
  local left = dt.matmul(x1:unsqueeze(-2):unsqueeze(-2), self.weight)
  local y = dt.matmul(left, x2:unsqueeze(-2):unsqueeze(-1))
    :squeeze(-1):squeeze(-1)
  return self.bias and y + self.bias or y
end

function M.Bilinear:extra_repr()
  return ("in1_features=%d, in2_features=%d, out_features=%d, bias=%s"):format(
    self.in1_features, self.in2_features, self.out_features,
    self.bias and "True" or "False")
end

-- nn.EmbeddingBag(num_embeddings, embedding_dim, {mode="mean"}): bags are the
-- rows of a 2-D input.
M.EmbeddingBag = Module:extend("EmbeddingBag")

function M.EmbeddingBag:__init__(...)
  local a = util.bind("EmbeddingBag", {"num_embeddings", "embedding_dim",
    "mode", "device", "dtype"}, {mode = "mean"}, ...)
  self.num_embeddings, self.embedding_dim = a.num_embeddings, a.embedding_dim
  self.mode = a.mode
  self.weight = param({a.num_embeddings, a.embedding_dim}, a)
  init.normal_(self.weight)
end

function M.EmbeddingBag:forward(ids)
  local rows = F.embedding(ids, self.weight)
  if self.mode == "sum" then return rows:sum(1) end
  if self.mode == "max" then return rows:amax({1}) end
  return rows:mean(1)
end

function M.EmbeddingBag:extra_repr()
  return ("%d, %d, mode='%s'"):format(self.num_embeddings, self.embedding_dim,
    self.mode)
end

-- nn.MultiheadAttention(embed_dim, num_heads, {bias=true, batch_first=false})
M.MultiheadAttention = Module:extend("MultiheadAttention")

function M.MultiheadAttention:__init__(...)
  local a = util.bind("MultiheadAttention", {"embed_dim", "num_heads",
    "dropout", "bias", "batch_first", "device", "dtype"}, {dropout = 0.0,
    bias = true, batch_first = false}, ...)
  if a.embed_dim % a.num_heads ~= 0 then
    util.raise("AssertionError", "embed_dim must be divisible by num_heads")
  end
  self.embed_dim, self.num_heads = a.embed_dim, a.num_heads
  self.dropout, self.batch_first = a.dropout, a.batch_first
  self.in_proj_weight = param({3 * a.embed_dim, a.embed_dim}, a)
  self:register_parameter("in_proj_bias", a.bias
    and dt._make_param(dt.zeros({3 * a.embed_dim}, {dtype = a.dtype}), true)
    or nil)
  self.out_proj = require("dt.nn.linear").Linear(a.embed_dim, a.embed_dim,
    {bias = a.bias})
  init.xavier_uniform_(self.in_proj_weight)
end

local function heads(self, x)                   -- [B, L, E] to [B, H, L, D]
  local b, l = x.shape[1], x.shape[2]
  return x:view({b, l, self.num_heads, -1}):transpose(1, 2)
end

-- Attention of q over k and v; gives the output (weights are not averaged).
function M.MultiheadAttention:forward(q, k, v, ...)
  local a = util.bind("forward", {"attn_mask", "is_causal"},
    {is_causal = false}, ...)
  local w = self.in_proj_weight:chunk(3, 0)
  local b = self.in_proj_bias and self.in_proj_bias:chunk(3, 0) or {}
  local x = {q, k, v}
  for i = 1, 3 do
    if not self.batch_first then x[i] = x[i]:transpose(0, 1) end
    x[i] = heads(self, F.linear(x[i], w[i], b[i]))
  end
  local out = F.scaled_dot_product_attention(x[1], x[2], x[3], {
    attn_mask = a.attn_mask, is_causal = a.is_causal,
    dropout_p = self.training and self.dropout or 0.0})
  out = out:transpose(1, 2):flatten(2)
  out = self.out_proj(out)
  return self.batch_first and out or out:transpose(0, 1)
end

return M
