-- SPDX-License-Identifier: MIT
-- dt/nn/transformer.lua: MultiheadAttention; layers and stacks of encoders
-- and decoders; Transformer.  Always PyTorch's general path.  Where PyTorch
-- would run an encoder over a nested tensor (evaluation with a padding mask),
-- the rows of padding are 0 in its result, and they are here.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local attention = require "dt.functional.attention"
local init = require "dt.nn.init_values"
local define = require "dt.nn.define"
local linear = require "dt.nn.linear"
local nnm = require "dt.nn.module"
local activation = require "dt.nn.activation"
local container = require "dt.nn.container"
local norms = require "dt.nn.norm"
local Module = nnm.Module

local M = {}

local function param(a, ...) return init._empty_param({...}, a) end

-- ---- attention ----

local OutProj = linear.Linear:extend("NonDynamicallyQuantizableLinear")

-- nn.MultiheadAttention(embed_dim, num_heads, {dropout=, bias=, batch_first=,
-- kdim=, vdim=, add_bias_kv=, add_zero_attn=})
local Mha = Module:extend("MultiheadAttention")
M.MultiheadAttention = Mha

local function same_sizes(m)
  return m.kdim == m.embed_dim and m.vdim == m.embed_dim
end

define.init(Mha, "MultiheadAttention", "embed_dim, num_heads, dropout=0.0, "
  .. "bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, "
  .. "vdim=None, batch_first=False, device=None, dtype=None", function (m, a)
    local e = a.embed_dim
    if e <= 0 or a.num_heads <= 0 then
      util.raise("ValueError", "embed_dim and num_heads must be greater than "
        .. "0, got embed_dim=%d and num_heads=%d instead", e, a.num_heads)
    elseif e % a.num_heads ~= 0 then
      util.raise("AssertionError", "embed_dim must be divisible by num_heads")
    end
    m.embed_dim, m.num_heads, m.head_dim = e, a.num_heads, e // a.num_heads
    m.kdim, m.vdim = a.kdim or e, a.vdim or e
    m.dropout, m.batch_first = a.dropout, a.batch_first
    m.add_zero_attn = a.add_zero_attn
    if same_sizes(m) then
      m.in_proj_weight = param(a, 3 * e, e)
      for _, name in ipairs {"q", "k", "v"} do
        m:register_parameter(name .. "_proj_weight", nil)
      end
    else
      m.q_proj_weight = param(a, e, e)
      m.k_proj_weight = param(a, e, m.kdim)
      m.v_proj_weight = param(a, e, m.vdim)
      m:register_parameter("in_proj_weight", nil)
    end
    m:register_parameter("in_proj_bias", a.bias and param(a, 3 * e) or nil)
    m.out_proj = OutProj(e, e, {bias = a.bias, dtype = a.dtype,
      device = a.device})
    if a.add_bias_kv then
      m.bias_k = param(a, 1, 1, e)
      m.bias_v = param(a, 1, 1, e)
    end
    m:_reset_parameters()
  end)

function Mha:_reset_parameters()
  for _, name in ipairs {"in_proj_weight", "q_proj_weight", "k_proj_weight",
      "v_proj_weight"} do
    if self[name] then init.xavier_uniform_(self[name]) end
  end
  if self.in_proj_bias then
    init.constant_(self.in_proj_bias, 0.0)
    init.constant_(self.out_proj.bias, 0.0)
  end
  if self.bias_k then init.xavier_normal_(self.bias_k) end
  if self.bias_v then init.xavier_normal_(self.bias_v) end
end

-- Batches first; what is one tensor stays one.
local function turned(q, k, v)
  local tq = q:transpose(1, 0)
  local tk = k._id == q._id and tq or k:transpose(1, 0)
  return tq, tk, v._id == k._id and tk or v:transpose(1, 0)
end

define.forward(Mha, "MultiheadAttention", "query, key, value, "
  .. "key_padding_mask=None, need_weights=True, attn_mask=None, "
  .. "average_attn_weights=True, is_causal=False", function (m, a)
    local q, k, v = a.query, a.key, a.value
    local turn = m.batch_first and q.ndim == 3
    if turn then q, k, v = turned(q, k, v) end
    local out, w = attention.multi_head_attention_forward(q, k, v, {
      embed_dim_to_check = m.embed_dim, num_heads = m.num_heads,
      in_proj_weight = m.in_proj_weight or dt.None,
      in_proj_bias = m.in_proj_bias or dt.None,
      bias_k = m.bias_k or dt.None, bias_v = m.bias_v or dt.None,
      add_zero_attn = m.add_zero_attn, dropout_p = m.dropout,
      out_proj_weight = m.out_proj.weight,
      out_proj_bias = m.out_proj.bias or dt.None, training = m.training,
      key_padding_mask = a.key_padding_mask, need_weights = a.need_weights,
      attn_mask = a.attn_mask, is_causal = a.is_causal,
      use_separate_proj_weight = not same_sizes(m),
      q_proj_weight = m.q_proj_weight, k_proj_weight = m.k_proj_weight,
      v_proj_weight = m.v_proj_weight,
      average_attn_weights = a.average_attn_weights})
    return turn and out:transpose(1, 0) or out, w
  end)

-- ---- parts ----

local activations = {relu = "relu", gelu = "gelu"}

local function activation_of(v)
  if type(v) ~= "string" then return v or F.relu end
  if not activations[v] then
    util.raise("RuntimeError", "activation should be relu/gelu, not %s", v)
  end
  return F[activations[v]]
end

-- A copy with parameters of its own.
local function clone(m, seen)
  if seen[m] then return seen[m] end
  local out = m._class.__new(setmetatable({__init__ = false},
    {__index = m._class}))
  rawset(out, "_class", m._class)
  seen[m] = out
  for name, p in m._parameters:each() do
    if p then
      local copy = seen[p._id]
        or dt._make_param(dt.no_grad(function ()
          return p:detach():clone()
        end), p.requires_grad)
      seen[p._id] = copy
      out[name] = copy
    else
      out:register_parameter(name, nil)
    end
  end
  for name, b in m._buffers:each() do
    out:register_buffer(name, b and b:clone() or nil, not m._transient[name])
  end
  for name, child in m._modules:each() do
    out:register_module(name, child and clone(child, seen) or nil)
  end
  for key, v in pairs(m._attrs) do out._attrs[key] = v end
  return out
end

local function clones(m, n)
  local list = {}
  for i = 1, n do list[i] = clone(m, {}) end
  return container.ModuleList(list)
end

local function layer_norm(a, d_model)
  return norms.LayerNorm(d_model, {eps = a.layer_norm_eps,
    bias = a.bias, dtype = a.dtype, device = a.device})
end

local function dropout(p) return activation.Dropout(p) end

local layer_text = "d_model, nhead, dim_feedforward=2048, dropout=0.1, "
  .. "activation='relu', layer_norm_eps=1e-05, batch_first=False, "
  .. "norm_first=False, bias=True, device=None, dtype=None"

-- What both kinds of layers have, in PyTorch's order: `attentions` names,
-- and as many norms and dropouts as there are blocks.
local function build_layer(m, a, attentions, blocks)
  local function map(from, to)
    return linear.Linear(from, to, {bias = a.bias, dtype = a.dtype,
      device = a.device})
  end
  for _, name in ipairs(attentions) do
    m[name] = Mha(a.d_model, a.nhead, {dropout = a.dropout, bias = a.bias,
      batch_first = a.batch_first, dtype = a.dtype, device = a.device})
  end
  m.linear1 = map(a.d_model, a.dim_feedforward)
  m.dropout = dropout(a.dropout)
  m.linear2 = map(a.dim_feedforward, a.d_model)
  m.norm_first = a.norm_first
  for i = 1, blocks do m["norm" .. i] = layer_norm(a, a.d_model) end
  for i = 1, blocks do m["dropout" .. i] = dropout(a.dropout) end
  m.activation = activation_of(a.activation)
end

local function feed_forward(m, x, last)
  return last(m.linear2(m.dropout(m.activation(m.linear1(x)))))
end

-- x plus block(norm(x)), or norm(x plus block(x)).
local function residual(m, x, norm, block)
  if m.norm_first then return x + block(norm(x)) end
  return norm(x + block(x))
end

local function additive(mask, like, name)
  return attention._additive_mask(mask, like, name)
end

-- ---- layers ----

local EncoderLayer = Module:extend("TransformerEncoderLayer")
M.TransformerEncoderLayer = EncoderLayer
define.init(EncoderLayer, "TransformerEncoderLayer", layer_text,
  function (m, a) build_layer(m, a, {"self_attn"}, 2) end)

define.forward(EncoderLayer, "TransformerEncoderLayer", "src, src_mask=None, "
  .. "src_key_padding_mask=None, is_causal=False", function (m, a)
    local x = a.src
    local pad = additive(a.src_key_padding_mask, x, "src_key_padding_mask")
    local mask = additive(a.src_mask, x, "src_mask")
    x = residual(m, x, m.norm1, function (y)
      return m.dropout1((m.self_attn(y, y, y, {attn_mask = mask,
        key_padding_mask = pad, need_weights = false,
        is_causal = a.is_causal})))
    end)
    return residual(m, x, m.norm2, function (y)
      return feed_forward(m, y, m.dropout2)
    end)
  end)

local DecoderLayer = Module:extend("TransformerDecoderLayer")
M.TransformerDecoderLayer = DecoderLayer
define.init(DecoderLayer, "TransformerDecoderLayer", layer_text,
  function (m, a)
    build_layer(m, a, {"self_attn", "multihead_attn"}, 3)
  end)

local decoder_masks = "tgt_mask=None, memory_mask=None, "
  .. "tgt_key_padding_mask=None, memory_key_padding_mask=None, "

define.forward(DecoderLayer, "TransformerDecoderLayer", "tgt, memory, "
  .. decoder_masks .. "tgt_is_causal=False, memory_is_causal=False",
  function (m, a)
    local x = residual(m, a.tgt, m.norm1, function (y)
      return m.dropout1((m.self_attn(y, y, y, {attn_mask = a.tgt_mask,
        key_padding_mask = a.tgt_key_padding_mask,
        is_causal = a.tgt_is_causal, need_weights = false})))
    end)
    x = residual(m, x, m.norm2, function (y)
      return m.dropout2((m.multihead_attn(y, a.memory, a.memory, {
        attn_mask = a.memory_mask,
        key_padding_mask = a.memory_key_padding_mask,
        is_causal = a.memory_is_causal, need_weights = false})))
    end)
    return residual(m, x, m.norm3, function (y)
      return feed_forward(m, y, m.dropout3)
    end)
  end)

-- ---- stacks ----

local function causal_mask(n, kw)
  return dt.triu(dt.full({n, n}, -math.huge, kw), 1)
end

-- Is the mask the causal one?  A hint that is given is taken.
local function is_causal(mask, hint, n)
  if hint ~= nil then return hint end
  if mask == nil or mask.ndim ~= 2 or mask.shape[1] ~= n
     or mask.shape[2] ~= n then
    return false
  end
  local want = causal_mask(n, {dtype = mask.dtype})
  return mask:eq(want):all():item()
end

local function length(x, batch_first)
  if x.ndim == 2 then return x.shape[1] end
  return x.shape[batch_first and 2 or 1]
end

local function grad_asked(m, x)
  if not dt.is_grad_enabled() then return false end
  if x.requires_grad then return true end
  for p in m:parameters() do
    if p.requires_grad then return true end
  end
  return false
end

local Encoder = Module:extend("TransformerEncoder")
M.TransformerEncoder = Encoder
define.init(Encoder, "TransformerEncoder", "encoder_layer, num_layers, "
  .. "norm=None, enable_nested_tensor=True, mask_check=True",
  function (m, a)
    m.layers = clones(a.encoder_layer, a.num_layers)
    m.num_layers = a.num_layers
    m.norm = a.norm
    local layer = a.encoder_layer
    m.enable_nested_tensor = a.enable_nested_tensor
    m._nested = a.enable_nested_tensor
      and nnm.isinstance(layer, EncoderLayer) and not layer.norm_first
      and layer.self_attn.batch_first and layer.self_attn.in_proj_bias ~= nil
      and layer.self_attn.in_proj_weight ~= nil
      and layer.self_attn.num_heads % 2 == 0
      and layer.norm1.eps == layer.norm2.eps
      and (layer.activation == F.relu or layer.activation == F.gelu)
  end)

-- Do the rows of padding become 0?
local function nested(m, a, x)
  local pad = a.src_key_padding_mask
  if not m._nested or m.layers[0].training or x.ndim ~= 3 or pad == nil
     or a.mask ~= nil or pad.dtype ~= dt.bool or grad_asked(m, x)
     or x.is_dtensor then
    return false
  end
  -- every row: first what counts, then padding only
  return pad:to(dt.int64):diff(1, -1):ge(0):all():item()
end

define.forward(Encoder, "TransformerEncoder", "src, mask=None, "
  .. "src_key_padding_mask=None, is_causal=None", function (m, a)
    local x = a.src
    local zero = nested(m, a, x)
    local pad = additive(a.src_key_padding_mask, x, "src_key_padding_mask")
    local mask = additive(a.mask, x, "mask")
    local causal = is_causal(mask, a.is_causal,
      length(x, m.layers[0].self_attn.batch_first))
    for _, layer in pairs(m.layers) do
      x = layer(x, {src_mask = mask, is_causal = causal,
        src_key_padding_mask = pad})
    end
    if zero then
      x = x:masked_fill(a.src_key_padding_mask:unsqueeze(-1), 0.0)
    end
    return m.norm and m.norm(x) or x
  end)

local Decoder = Module:extend("TransformerDecoder")
M.TransformerDecoder = Decoder
define.init(Decoder, "TransformerDecoder", "decoder_layer, num_layers, "
  .. "norm=None", function (m, a)
    m.layers = clones(a.decoder_layer, a.num_layers)
    m.num_layers, m.norm = a.num_layers, a.norm
  end)

define.forward(Decoder, "TransformerDecoder", "tgt, memory, "
  .. decoder_masks .. "tgt_is_causal=None, memory_is_causal=False",
  function (m, a)
    local x = a.tgt
    local causal = is_causal(a.tgt_mask, a.tgt_is_causal,
      length(x, m.layers[0].self_attn.batch_first))
    for _, layer in pairs(m.layers) do
      x = layer(x, a.memory, {tgt_mask = a.tgt_mask,
        memory_mask = a.memory_mask,
        tgt_key_padding_mask = a.tgt_key_padding_mask,
        memory_key_padding_mask = a.memory_key_padding_mask,
        tgt_is_causal = causal, memory_is_causal = a.memory_is_causal})
    end
    return m.norm and m.norm(x) or x
  end)

-- ---- both ----

local Transformer = Module:extend("Transformer")
M.Transformer = Transformer
define.init(Transformer, "Transformer", "d_model=512, nhead=8, "
  .. "num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, "
  .. "dropout=0.1, activation='relu', custom_encoder=None, "
  .. "custom_decoder=None, layer_norm_eps=1e-05, batch_first=False, "
  .. "norm_first=False, bias=True, device=None, dtype=None", function (m, a)
    local kw = {}
    for _, key in ipairs {"dim_feedforward", "dropout", "activation",
        "layer_norm_eps", "batch_first", "norm_first", "bias", "device",
        "dtype"} do
      kw[key] = a[key]
    end
    if a.custom_encoder then
      m.encoder = a.custom_encoder
    else
      local layer = EncoderLayer(a.d_model, a.nhead, kw)
      m.encoder = Encoder(layer, a.num_encoder_layers,
        layer_norm(a, a.d_model))
    end
    if a.custom_decoder then
      m.decoder = a.custom_decoder
    else
      local layer = DecoderLayer(a.d_model, a.nhead, kw)
      m.decoder = Decoder(layer, a.num_decoder_layers,
        layer_norm(a, a.d_model))
    end
    for p in m:parameters() do
      if p.ndim > 1 then init.xavier_uniform_(p) end
    end
    m.d_model, m.nhead, m.batch_first = a.d_model, a.nhead, a.batch_first
  end)

define.forward(Transformer, "Transformer", "src, tgt, src_mask=None, "
  .. "tgt_mask=None, memory_mask=None, src_key_padding_mask=None, "
  .. "tgt_key_padding_mask=None, memory_key_padding_mask=None, "
  .. "src_is_causal=None, tgt_is_causal=None, memory_is_causal=False",
  function (m, a)
    local src, tgt = a.src, a.tgt
    local batch = m.batch_first and 1 or 2
    if src.ndim == 3 and src.shape[batch] ~= tgt.shape[batch] then
      util.raise("RuntimeError", "the batch number of src and tgt must be "
        .. "equal")
    elseif src.shape[src.ndim] ~= m.d_model
           or tgt.shape[tgt.ndim] ~= m.d_model then
      util.raise("RuntimeError", "the feature number of src and tgt must be "
        .. "equal to d_model")
    end
    local memory = m.encoder(src, {mask = a.src_mask,
      src_key_padding_mask = a.src_key_padding_mask,
      is_causal = a.src_is_causal})
    return m.decoder(tgt, memory, {tgt_mask = a.tgt_mask,
      memory_mask = a.memory_mask,
      tgt_key_padding_mask = a.tgt_key_padding_mask,
      memory_key_padding_mask = a.memory_key_padding_mask,
      tgt_is_causal = a.tgt_is_causal,
      memory_is_causal = a.memory_is_causal})
  end)

-- generate_square_subsequent_mask(n): -inf above the diagonal, else 0.
function Transformer.generate_square_subsequent_mask(n, ...)
  if nnm.is_module(n) then
    return Transformer.generate_square_subsequent_mask(...)
  end
  local a = util.bind("generate_square_subsequent_mask", {"device", "dtype"},
    {}, ...)
  return causal_mask(n, {dtype = a.dtype, device = a.device})
end

return M
