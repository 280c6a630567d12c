-- SPDX-License-Identifier: MIT
-- dt/nn/more.lua: Bilinear, EmbeddingBag.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local linear = require "dt.nn.linear"
local Module = require("dt.nn.module").Module

local M = {}

local param = init._empty_param

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
-- rows of a 2-D input, or begin at offsets in a 1-D one.
M.EmbeddingBag = Module:extend("EmbeddingBag")

function M.EmbeddingBag:__init__(...)
  local a = util.bind("EmbeddingBag", {"num_embeddings", "embedding_dim",
    "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse", "_weight",
    "include_last_offset", "padding_idx", "device", "dtype"}, {mode = "mean",
    norm_type = 2.0, scale_grad_by_freq = false, sparse = false,
    include_last_offset = false}, ...)
  for _, name in ipairs {"num_embeddings", "embedding_dim", "max_norm",
    "norm_type", "scale_grad_by_freq", "mode", "sparse",
    "include_last_offset"} do
    self[name] = a[name]
  end
  local pad, n = a.padding_idx, a.num_embeddings
  if not util.is_none(pad) then
    if pad >= n or pad < -n then
      util.raise("AssertionError", "padding_idx must be within num_embeddings")
    end
    self.padding_idx = pad < 0 and pad + n or pad
  end
  if not util.is_none(a._weight) then
    self.weight = dt._make_param(a._weight, true)
    return
  end
  self.weight = param({n, a.embedding_dim}, a)
  init.normal_(self.weight)
  if self.padding_idx then
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    self.weight:select(0, self.padding_idx):fill_(0)
  end
end

function M.EmbeddingBag:forward(input, offsets, per_sample_weights)
  return F.embedding_bag(input, self.weight, offsets, self.max_norm,
    self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
    per_sample_weights, self.include_last_offset, self.padding_idx)
end

function M.EmbeddingBag:extra_repr()
  local text = ("%d, %d%s"):format(self.num_embeddings, self.embedding_dim,
    linear._table_text(self))
  text = text .. ", mode='" .. self.mode .. "'"
  if self.padding_idx then
    text = text .. ", padding_idx=" .. self.padding_idx
  end
  return text
end

return M
