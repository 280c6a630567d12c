-- SPDX-License-Identifier: MIT
-- repl/python_operators.lua: an operator's page as a Python program calls it:
-- torch.mm(input, mat2, *, out=None), of the schemas in its definition.

local dt = require "dt"
local functions_only = require "torch.functions_only"

local M = {}

-- Name spaces that operators carry in their names.
local spaces = {linalg = true, fft = true, special = true}

-- Methods that are no functions of torch, beside those that end in "_".
local methods = {}
for name in ([[contiguous dim expand expand_as index item masked_fill new_empty
  new_empty_strided new_full new_ones new_zeros repeat reshape_as resize_as
  retain_grad size stride storage_offset sum_to_size to type_as unfold view
  view_as is_contiguous coalesce to_dense pin_memory is_pinned]])
    :gmatch "%S+" do methods[name] = true end

-- Operators behind functions of torch.nn.functional, and others that torch does
-- not call by their names.
local inner = {}
for name in ([[adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d
  adaptive_max_pool3d alias avg_pool2d avg_pool3d binary_cross_entropy cauchy
  col2im copy cross_entropy_loss data elu exponential
  fake_quantize_per_channel_affine_cachemask
  fake_quantize_per_tensor_affine_cachemask flatten_dense_tensors
  fractional_max_pool2d fractional_max_pool3d gelu geometric glu hardsigmoid
  hardswish hardtanh huber_loss im2col infinitely_differentiable_gelu_backward
  is_leaf l1_loss leaky_relu lift lift_fresh lift_fresh_copy linear log_normal
  log_sigmoid log_sigmoid_forward mH mT matrix_H max_pool2d_with_indices
  max_pool3d_with_indices max_unpool2d max_unpool3d meta mish mse_loss
  multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward
  nested_to_padded_tensor nll_loss nll_loss2d nll_loss2d_forward
  nll_loss_forward nll_loss_nd nonzero_numpy normal_functional numpy_T one_hot
  output_nr pad pad_sequence reflection_pad1d reflection_pad2d reflection_pad3d
  relu6 replication_pad1d replication_pad2d replication_pad3d retains_grad
  rrelu_with_noise rrelu_with_noise_functional scaled_dot_product_attention
  set_data silu slice slow_conv3d smooth_l1_loss soft_margin_loss softplus
  softshrink sym_is_contiguous sym_numel sym_size sym_storage_offset sym_stride
  thnn_conv2d unflatten_dense_tensors uniform unique_dim unique_dim_consecutive
  upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
  upsample_nearest2d upsample_nearest3d upsample_trilinear3d zero]])
    :gmatch "%S+" do inner[name] = true end

-- Written in place and yet functions of torch.
local in_place = {}
for name in ([[abs acos acosh alpha_dropout arccos arccosh arcsin arcsinh
  arctan arctanh asin asinh atan atanh ceil celu clamp clip conj_physical cos
  cosh deg2rad detach dropout embedding_renorm erf erfc exp exp2 expm1
  feature_alpha_dropout feature_dropout fill fix floor frac i0 index_put log
  log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu
  resize_as round rrelu rsqrt selu sigmoid sin sinc sinh sqrt square tan tanh
  threshold trunc xlogy zero]])
    :gmatch "%S+" do in_place[name .. "_"] = true end

-- How a program spells aten.BASE: what stands before the bracket, and whether it
-- is a function or a method; one that only torch.ops has is a packet.
local function spelled(ns, base)
  local space, rest = base:match("^(%a+)_(.*)$")
  local only_writes = base:match("_$") and not in_place[base]
  if ns ~= "aten" or inner[base] or base:match("_backward%f[_%z]")
     or base:match("^_") or only_writes and functions_only[base] then
    return ("torch.ops.%s.%s"):format(ns, base), "packet"
  elseif spaces[space] then
    return "torch." .. space .. "." .. rest, "function"
  elseif methods[base] or only_writes then
    return "x." .. base, "method"
  end
  return "torch." .. base, "function"
end

-- What the first parameter, self, is called; a method does not list it.
local own = {["function"] = "input", packet = "self"}

-- "ScalarType? dtype=None" -> "dtype=None".
local function parameter(text, how, first)
  if text == "*" then return text end
  local name = text:match(" (.*)$")
  if first and name == "self" then return own[how] end
  return (name:gsub("=%[(.*)%]$", "=(%1)"):gsub("=contiguous_format$",
    "=torch.contiguous_format"))
end

-- The parameters of a schema, for `how`: a function, method or packet.
local function parameters(schema, how)
  local inside = schema:match("%((.*)%) %->")
  local out, depth, from = {}, 0, 1
  for i = 1, #inside + 1 do
    local c = inside:sub(i, i)
    if c == "(" or c == "[" then depth = depth + 1 end
    if c == ")" or c == "]" then depth = depth - 1 end
    if c == "" or c == "," and depth == 0 then
      local text = inside:sub(from, i - 1):match("^%s*(.-)%s*$")
      local one = text ~= "" and parameter(text, how, from == 1)
      if one then out[#out + 1] = one end
      from = i + 1
    end
  end
  return out
end

local function is_out(name) return name:match("out$") ~= nil end

-- Names of a packet's overloads: default first.
function M.overloads(packet)
  local list = {}
  for name, op in next, packet do
    local mt = getmetatable(op)
    if mt and mt.__name == "dt.overload" then list[#list + 1] = name end
  end
  table.sort(list, function (a, b)
    if (a == "default") ~= (b == "default") then return a == "default" end
    return a < b
  end)
  return list
end

-- out= may be given, too.
local function add_out(list)
  local star = false
  for _, p in ipairs(list) do star = star or p == "*" end
  if not star then list[#list + 1] = "*" end
  list[#list + 1] = "out=None"
end

-- A line for each way to call it, and all its overloads' names.
local function calls(ns, base, head, how)
  local packet = dt.ops[ns][base]
  local lines, names, given = {}, {}, {}
  local has_out = false
  for i, name in ipairs(M.overloads(packet)) do
    names[i] = ("%s.%s.%s"):format(ns, base, name)
    has_out = has_out or is_out(name)
    if not is_out(name) then given[#given + 1] = name end
  end
  for _, name in ipairs(#given > 0 and given or M.overloads(packet)) do
    local list = parameters(dt.debug.op_info(packet[name]).schema, how)
    if has_out and how == "function" then add_out(list) end
    lines[#lines + 1] = ("%s(%s)"):format(head, table.concat(list, ", "))
  end
  return lines, names
end

-- What its overloads do, each sentence once.
local function words(packet)
  local out, seen = {}, {}
  for _, name in ipairs(M.overloads(packet)) do
    local info = dt.debug.op_info(packet[name])
    for _, text in ipairs {info.brief or "", info.doc or ""} do
      if text ~= "" and not seen[text] then out[#out + 1] = text end
      seen[text] = true
    end
  end
  return out
end

-- An overload's call in Python as people write it, by its short name.
local function short(call, base, head, how)
  local inside = call:match("^torch%.ops%.[%w_]+%.[%w_]+%.[%w_]+(%(.*%))$")
  if not inside or how == "packet" then return call end
  if how == "method" then
    local first, rest = inside:match("^%((torch%.%w+%b()),? ?(.*)$")
    return first and ("%s.%s(%s"):format(first, base, rest) or call
  end
  return head .. inside
end

-- page(ns, base, rest): the page on ns.base, a text; `rest` are the lines of its
-- definition (Example:, Sharding), already Python's.
function M.page(ns, base, rest)
  local head, how = spelled(ns, base)
  local out, names = calls(ns, base, head, how)
  for _, text in ipairs(words(dt.ops[ns][base])) do out[#out + 1] = text end
  out[#out + 1] = "In traces: " .. table.concat(names, ", ")
  for _, line in ipairs(rest) do
    local example = line:match("^Example: (.*)$")
    out[#out + 1] = example and "Example: " .. short(example, base, head, how) or line
  end
  return table.concat(out, "\n") .. "\n"
end

return M
