-- SPDX-License-Identifier: MIT
-- dt/zoo/llama.lua: a Llama of any size (grouped queries, rotary embedding,
-- SwiGLU) with the tensor, sequence and data parallel plan torchtitan uses.
--
--   local llama = require "dt.zoo.llama"
--   local c = llama.config("8B", {layers = 2})
--   local model = llama.Transformer(c)
--   llama.parallelize(model, mesh["tp"], mesh["dp"])
--   local logits = model(ids, llama.angles(c))

local dt = require "dt"
local nn = require "dt.nn"
local F = require "dt.functional"
local tp = require "dt.parallel"
local util = require "dt.util"
local fully_shard = require("dt.fsdp").fully_shard

local M = {}

-- Sizes as published; multiple_of and the multiplier give `hidden`.
M.sizes = {
  tiny = {dim = 64, layers = 2, heads = 8, kv = 4, hidden = 128, vocab = 256,
    seq = 32},
  ["8B"] = {dim = 4096, layers = 32, heads = 32, kv = 8, hidden = 14336,
    vocab = 128256, seq = 8192},
  ["70B"] = {dim = 8192, layers = 80, heads = 64, kv = 8, hidden = 28672,
    vocab = 128256, seq = 8192},
  ["405B"] = {dim = 16384, layers = 126, heads = 128, kv = 8, hidden = 53248,
    vocab = 128256, seq = 8192},
}

-- config(name [, changes]): a table of sizes; `changes` replace entries.
function M.config(name, changes)
  local base = M.sizes[name]
  if not base then
    util.raise("ValueError", "llama.config: no size called '%s'; there are "
      .. "tiny, 8B, 70B, 405B", tostring(name))
  end
  local c = {theta = 500000.0, eps = 1e-5}
  for k, v in pairs(base) do c[k] = v end
  for k, v in pairs(changes or {}) do c[k] = v end
  if c.dim % c.heads ~= 0 or c.heads % c.kv ~= 0 then
    util.raise("ValueError", "llama.config: %d heads and %d key-value heads "
      .. "do not divide a width of %d", c.heads, c.kv, c.dim)
  end
  c.head_dim = c.dim // c.heads
  return c
end

-- Number of parameters of a configuration.
function M.count(c)
  local attention = c.dim * c.head_dim * (2 * c.heads + 2 * c.kv)
  local block = attention + 3 * c.dim * c.hidden + 2 * c.dim
  return 2 * c.vocab * c.dim + c.layers * block + c.dim
end

-- angles(c [, {device=, dtype=}]) -> cos, sin of [1, seq, 1, head_dim], the
-- halves of a head rotated together.
function M.angles(c, kw)
  local half = c.head_dim // 2
  local pos = dt.arange(c.seq, {dtype = dt.float32})
  local freq = dt.arange(half, {dtype = dt.float32})
    :mul(-math.log(c.theta) / half):exp()
  local a = pos:unsqueeze(1) * freq:unsqueeze(0)
  a = dt.cat({a, a}, -1):view({1, c.seq, 1, c.head_dim})
  local cos, sin = a:cos(), a:sin()
  if kw then cos, sin = cos:to(kw), sin:to(kw) end
  return cos, sin
end

local function rotate(x, cos, sin, half)
  local a, b = x:narrow(-1, 0, half), x:narrow(-1, half, half)
  return x * cos + dt.cat({-b, a}, -1) * sin
end

-- ---- modules ----

M.Attention = nn.Module:extend("Attention")

function M.Attention:__init__(c, kw)
  self.c = c
  self.wq = nn.Linear(c.dim, c.heads * c.head_dim, kw)
  self.wk = nn.Linear(c.dim, c.kv * c.head_dim, kw)
  self.wv = nn.Linear(c.dim, c.kv * c.head_dim, kw)
  self.wo = nn.Linear(c.heads * c.head_dim, c.dim, kw)
end

-- Heads are counted by size: under tensor parallelism each rank has some.
function M.Attention:forward(x, cos, sin)
  local c, b, s = self.c, x.shape[1], x.shape[2]
  local function heads(w) return w(x):view({b, s, -1, c.head_dim}) end
  local q = rotate(heads(self.wq), cos, sin, c.head_dim // 2)
  local k = rotate(heads(self.wk), cos, sin, c.head_dim // 2)
  local v = heads(self.wv)
  local o = F.scaled_dot_product_attention(q:transpose(1, 2),
    k:transpose(1, 2), v:transpose(1, 2), {is_causal = true,
    enable_gqa = true})
  return self.wo(o:transpose(1, 2):contiguous():view({b, s, -1}))
end

M.FeedForward = nn.Module:extend("FeedForward")

function M.FeedForward:__init__(c, kw)
  self.w1 = nn.Linear(c.dim, c.hidden, kw)
  self.w2 = nn.Linear(c.hidden, c.dim, kw)
  self.w3 = nn.Linear(c.dim, c.hidden, kw)
end

function M.FeedForward:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end

M.Block = nn.Module:extend("TransformerBlock")

function M.Block:__init__(c, kw, norm)
  self.attention = M.Attention(c, kw)
  self.feed_forward = M.FeedForward(c, kw)
  self.attention_norm = nn.RMSNorm(c.dim, norm)
  self.ffn_norm = nn.RMSNorm(c.dim, norm)
end

function M.Block:forward(x, cos, sin)
  local h = x + self.attention(self.attention_norm(x), cos, sin)
  return h + self.feed_forward(self.ffn_norm(h))
end

-- Transformer(config [, {device=, dtype=}])
M.Transformer = nn.Module:extend("Transformer")

function M.Transformer:__init__(c, kw)
  kw = kw or {}
  local linear = {bias = false, device = kw.device, dtype = kw.dtype}
  local norm = {eps = c.eps, device = kw.device, dtype = kw.dtype}
  self.c = c
  self.tok_embeddings = nn.Embedding(c.vocab, c.dim,
    {device = kw.device, dtype = kw.dtype})
  local layers = {}
  for i = 1, c.layers do layers[i] = M.Block(c, linear, norm) end
  self.layers = nn.ModuleList(layers)
  self.norm = nn.RMSNorm(c.dim, norm)
  self.output = nn.Linear(c.dim, c.vocab, linear)
end

function M.Transformer:forward(ids, cos, sin)
  local h = self.tok_embeddings(ids)
  for _, layer in pairs(self.layers) do h = layer(h, cos, sin) end
  return self.output(self.norm(h))
end

-- ---- the plan ----

-- plan(c [, {loss_parallel=}]): keys and styles for parallelize_module: heads
-- and hidden units over the ranks, sequence parallel between them.
function M.plan(c, kw)
  local lp = kw and kw.loss_parallel
  local S, R, col, row = dt.Shard, dt.Replicate, tp.ColwiseParallel,
    tp.RowwiseParallel
  local plan = {
    tok_embeddings = row {input_layouts = R(), output_layouts = S(1)},
    norm = tp.SequenceParallel(),
    output = col {input_layouts = S(1),
      output_layouts = lp and S(-1) or R(), use_local_output = not lp},
  }
  for i = 0, c.layers - 1 do
    local at = ("layers.%d."):format(i)
    plan[at .. "attention_norm"] = tp.SequenceParallel()
    plan[at .. "attention"] = tp.PrepareModuleInput {
      input_layouts = {S(1), dt.None, dt.None},
      desired_input_layouts = {R(), dt.None, dt.None}}
    for _, w in ipairs {"wq", "wk", "wv"} do
      plan[at .. "attention." .. w] = col()
    end
    plan[at .. "attention.wo"] = row {output_layouts = S(1)}
    plan[at .. "ffn_norm"] = tp.SequenceParallel()
    plan[at .. "feed_forward"] = tp.PrepareModuleInput {
      input_layouts = {S(1)}, desired_input_layouts = {R()}}
    plan[at .. "feed_forward.w1"] = col()
    plan[at .. "feed_forward.w2"] = row {output_layouts = S(1)}
    plan[at .. "feed_forward.w3"] = col()
  end
  return plan
end

-- parallelize(model, tp_mesh, dp_mesh [, {loss_parallel=, mp_policy=,
-- reshard_after_forward=}]): tensor and sequence parallel over one mesh, then
-- FSDP2 (HSDP when it has two dimensions), a unit a layer, over the other;
-- either may be nil.
function M.parallelize(model, tp_mesh, dp_mesh, kw)
  kw = kw or {}
  local c = model.c
  if tp_mesh then
    local n = tp_mesh:size()
    if c.heads % n ~= 0 or c.kv % n ~= 0 then
      util.raise("ValueError", "%d heads with %d key-value heads cannot be "
        .. "cut over %d ranks; legal tensor parallel degrees: %s", c.heads,
        c.kv, n, table.concat(M.degrees(c), ", "))
    end
    tp.parallelize_module(model, tp_mesh, M.plan(c, kw))
  end
  if dp_mesh then
    local how = {mesh = dp_mesh, mp_policy = kw.mp_policy,
      reshard_after_forward = kw.reshard_after_forward}
    for _, layer in pairs(model.layers) do fully_shard(layer, how) end
    fully_shard(model, how)
  end
  return model
end

-- degrees(c): numbers of ranks that divide the key-value heads.
function M.degrees(c)
  local out = {}
  for n = 1, c.kv do
    if c.kv % n == 0 and c.heads % n == 0 then out[#out + 1] = n end
  end
  return out
end

return M
