-- SPDX-License-Identifier: MIT
-- dt/nn/more.lua: Bilinear, EmbeddingBag.

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

return M
