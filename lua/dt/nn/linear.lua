-- SPDX-License-Identifier: MIT
-- dt/nn/linear.lua: Linear, Embedding, Identity, Flatten, with PyTorch's
-- default initialisation.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local init = require "dt.nn.init_values"
local Module = require("dt.nn.module").Module

local M = {}

local param = init._empty_param

-- nn.Linear(in_features, out_features, {bias=true, dtype=, device=})
M.Linear = Module:extend("Linear")

function M.Linear:__init__(...)
  local a = util.bind("Linear", {"in_features", "out_features", "bias",
    "device", "dtype"}, {bias = true}, ...)
  self.in_features, self.out_features = a.in_features, a.out_features
  self.weight = param({a.out_features, a.in_features}, a)
  if a.bias then self.bias = param({a.out_features}, a)
  else self:register_parameter("bias", nil) end
  self:reset_parameters()
end

-- Kaiming-uniform weights, bias uniform in +-1/sqrt(in_features).
function M.Linear:reset_parameters()
  init.kaiming_uniform_(self.weight, {a = math.sqrt(5)})
  if self.bias then
    local bound = self.in_features > 0 and 1 / math.sqrt(self.in_features) or 0
    init.uniform_(self.bias, -bound, bound)
  end
end

function M.Linear:forward(x) return F.linear(x, self.weight, self.bias) end

function M.Linear:extra_repr()
  return ("in_features=%d, out_features=%d, bias=%s"):format(self.in_features,
    self.out_features, self.bias and "True" or "False")
end

-- nn.Embedding(num_embeddings, embedding_dim, {padding_idx=, max_norm=, ...})
M.Embedding = Module:extend("Embedding")

function M.Embedding:__init__(...)
  local a = util.bind("Embedding", {"num_embeddings", "embedding_dim",
    "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
    "_weight", "_freeze", "device", "dtype"}, {norm_type = 2.0,
    scale_grad_by_freq = false, sparse = false}, ...)
  self.num_embeddings, self.embedding_dim = a.num_embeddings, a.embedding_dim
  local pad, n = a.padding_idx, a.num_embeddings
  if not util.is_none(pad) then
    if pad >= n or pad < -n then
      util.raise("AssertionError", "Padding_idx must be within num_embeddings")
    end
    self.padding_idx = pad < 0 and pad + n or pad
  end
  self.max_norm, self.norm_type = a.max_norm, a.norm_type
  self.scale_grad_by_freq, self.sparse = a.scale_grad_by_freq, a.sparse
  if not util.is_none(a._weight) then
    self.weight = dt._make_param(a._weight, not a._freeze)
    return
  end
  self.weight = param({n, a.embedding_dim}, a)
  if a._freeze then self.weight.requires_grad = false end
  self:reset_parameters()
end

-- Normal with mean 0 and deviation 1; the padding row is zero.
function M.Embedding:reset_parameters()
  init.normal_(self.weight)
  if self.padding_idx then
    local guard <close> = dt.no_grad()          -- luacheck: ignore guard
    self.weight[self.padding_idx] = 0
  end
end

function M.Embedding:forward(x)
  return F.embedding(x, self.weight, {padding_idx = self.padding_idx,
    max_norm = self.max_norm, norm_type = self.norm_type,
    scale_grad_by_freq = self.scale_grad_by_freq})
end

--- _table_text(m): what a table of rows (Embedding, EmbeddingBag) prints of how
--- its rows are cut and its gradients scaled.
function M._table_text(m)
  local text = ""
  if not util.is_none(m.max_norm) then
    text = text .. ", max_norm=" .. tostring(m.max_norm)
  end
  if m.norm_type ~= 2 then
    text = text .. ", norm_type=" .. tostring(m.norm_type)
  end
  return m.scale_grad_by_freq and text .. ", scale_grad_by_freq=True" or text
end

function M.Embedding:extra_repr()
  local text = ("%d, %d"):format(self.num_embeddings, self.embedding_dim)
  if self.padding_idx then
    text = text .. ", padding_idx=" .. self.padding_idx
  end
  return text .. M._table_text(self)
end

-- nn.Identity()
M.Identity = Module:extend("Identity")
function M.Identity:forward(x) return x end

-- nn.Flatten(start_dim = 1, end_dim = -1)
M.Flatten = Module:extend("Flatten")
function M.Flatten:__init__(start_dim, end_dim)
  self.start_dim, self.end_dim = start_dim or 1, end_dim or -1
end
function M.Flatten:forward(x)
  return x:flatten(self.start_dim, self.end_dim)
end
function M.Flatten:extra_repr()
  return ("start_dim=%d, end_dim=%d"):format(self.start_dim, self.end_dim)
end

return M
