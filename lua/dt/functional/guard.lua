-- SPDX-License-Identifier: MIT
-- dt/functional/guard.lua: what functions of torch.nn.functional that are
-- written in Python say of an argument of a wrong type, before they use it.
--
-- Those whose body reads an attribute first, or compares, have no more to say
-- than Python; the others hand on to an operator, whose parser speaks.  The
-- tables are facts of PyTorch 2.13.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- Attribute: the functions that read it first.
local READS = {
  size = "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d "
    .. "adaptive_max_pool2d_with_indices adaptive_max_pool3d "
    .. "adaptive_max_pool3d_with_indices binary_cross_entropy "
    .. "binary_cross_entropy_with_logits gaussian_nll_loss huber_loss "
    .. "instance_norm l1_loss max_unpool1d max_unpool2d max_unpool3d mse_loss "
    .. "smooth_l1_loss",
  dim = "dropout1d dropout2d dropout3d embedding_bag glu group_norm "
    .. "interpolate linear_cross_entropy local_response_norm log_softmax "
    .. "margin_ranking_loss multi_head_attention_forward softmax softmin "
    .. "upsample upsample_bilinear upsample_nearest",
  pow = "lp_pool1d lp_pool2d lp_pool3d",
  ndim = "triplet_margin_with_distance_loss",
  norm = "normalize",
  is_floating_point = "affine_grid",
  sigmoid = "sigmoid",
  tanh = "tanh tanhshrink",
  abs = "softsign",
}
local reads = {}
for attribute, names in pairs(READS) do
  for name in names:gmatch("%S+") do reads[name] = attribute end
end

-- The arguments that it is read of, in the order in which they are looked at.
local TENSORS = {"target", "input", "input1", "input2", "theta", "anchor",
  "positive", "negative", "query", "key", "value"}
-- A number, if it is one, is as good.
local NUMBERS = {["gaussian_nll_loss.target"] = true}

-- Arguments that an operator's parser refuses: what it calls them, the place,
-- the kind that it wants.
local PARSED = {
  adaptive_max_pool1d = {{"input", "input", 1, "Tensor"}},
  embedding = {{"weight", "weight", 1, "Tensor"},
    {"input", "indices", 2, "Tensor"}},
  rms_norm = {{"input", "input", 1, "Tensor"}},
  scaled_dot_product_attention = {{"query", "query", 1, "Tensor"},
    {"key", "key", 2, "Tensor"}, {"value", "value", 3, "Tensor"},
    {"attn_mask", "attn_mask", 4, "Tensor", true},
    {"dropout_p", "dropout_p", 5, "float"}},
  group_norm = {{"num_groups", "num_groups", 2, "int"}},
}
PARSED.triplet_margin_loss = {{"anchor", "anchor", 1, "Tensor"},
  {"positive", "positive", 2, "Tensor"}, {"negative", "negative", 3, "Tensor"}}
for _, name in ipairs {"interpolate", "upsample", "upsample_nearest",
    "upsample_bilinear"} do
  PARSED[name] = {{"size", "size", 2, "tuple of ints", true},
    {"scale_factor", "scale_factor", 3, "tuple of floats", true}}
end
for nd = 1, 3 do
  local kernel = {"kernel_size", "kernel_size", 2, "tuple of ints"}
  local stride = {"stride", "stride", 3, "tuple of ints", true}
  PARSED["lp_pool" .. nd .. "d"] = {kernel, stride}
  PARSED["max_unpool" .. nd .. "d"] = {{"indices", "indices", 2, "Tensor"},
    kernel, stride, {"padding", "padding", 5, "tuple of ints", true}}
end

-- Arguments that are compared first: sign, the type of the other side, the
-- place; or with another argument.  Some may be None, or a tensor.
local COMPARED = {
  hardtanh = {"min_val", ">", "float", 2, other = "max_val"},
  triplet_margin_loss = {"margin", "<=", "int", 4},
  embedding = {"padding_idx", ">", "int", 3, optional = true},
  gaussian_nll_loss = {"var", "<", "int", 3, tensor = true},
}
for _, name in ipairs {"dropout", "dropout1d", "dropout2d", "dropout3d",
    "alpha_dropout", "feature_alpha_dropout"} do
  COMPARED[name] = {"p", "<", "float", 2}
end

local function type_name(v)
  if type(v) == "table" and getmetatable(v) == nil then
    return #v == 0 and next(v) ~= nil and "dict" or "list"
  end
  return util.type_text(v)
end

local fits = {Tensor = util.is_tensor}
function fits.float(v) return type(v) == "number" end
fits["int"] = function (v) return math.type(v) == "integer" end
fits["tuple of ints"] = function (v)
  if type(v) == "number" then return true end
  if type(v) ~= "table" then return false end
  for _, x in ipairs(util.list(v)) do
    if type(x) ~= "number" then return false end
  end
  return true
end
fits["tuple of floats"] = fits["tuple of ints"]

local function check_attribute(name, a, takes)
  local what = reads[name]
  if a.dim ~= nil and name:match("softm") then
    what = name == "log_softmax" and name or "softmax"
  end
  for _, p in ipairs(TENSORS) do
    if takes[p] and not util.is_tensor(a[p])
       and not (NUMBERS[name .. "." .. p] and type(a[p]) == "number") then
      util.raise("AttributeError", "'%s' object has no attribute '%s'",
        type_name(a[p]), what)
    end
  end
end

local function refuse(name, said, place, kind, v)
  util.raise("TypeError", "%s(): argument '%s' (position %d) must be %s, not "
    .. "%s", name, said, place, kind, type_name(v))
end

local function check_parsed(name, a)
  for _, row in ipairs(PARSED[name]) do
    local v = a[row[1]]
    if not (row[5] and v == nil) and not fits[row[4]](v) then
      refuse(name, row[2], row[3], row[4], v)
    end
  end
end

local function check_compared(name, a)
  local row = COMPARED[name]
  local arg, other = row[1], row[3]
  local v, place = a[arg], row[4]
  local left, right = type_name(v), other
  if type(v) == "number" and row.other and type(a[row.other]) ~= "number" then
    v, arg, place = a[row.other], row.other, place + 1
    right = type_name(v)
  end
  if type(v) == "number" or v == nil and row.optional then return end
  if util.is_tensor(v) and row.tensor then return end
  if util.is_tensor(v) and v:numel() > 1 then
    util.raise("RuntimeError",
      "Boolean value of Tensor with more than one value is ambiguous")
  elseif util.is_tensor(v) or type(v) == "boolean" then
    refuse(name, arg, place, other, v)
  end
  util.raise("TypeError", "'%s' not supported between instances of '%s' and "
    .. "'%s'", row[2], left, right)
end

-- Others of which an attribute is read: {argument, attribute, optional}.
local WEIGHTS = {
  embedding_bag = {{"weight", "dtype"}, {"offsets", "dim", true}},
  binary_cross_entropy = {{"weight", "size", true}},
  multi_margin_loss = {{"weight", "dim", true}},
}
for _, name in ipairs {"mse_loss", "l1_loss", "huber_loss"} do
  WEIGHTS[name] = WEIGHTS.binary_cross_entropy
end

local function check_weights(name, a)
  for _, row in ipairs(WEIGHTS[name]) do
    local v = a[row[1]]
    if not util.is_tensor(v) and not (row[3] and v == nil) then
      util.raise("AttributeError", "'%s' object has no attribute '%s'",
        type_name(v), row[2])
    end
  end
end

-- check(name) -> function (arguments by name, the names there are) that raises
-- for those of a wrong type; nil when there is nothing to look at.  Pure.
function M.check(name)
  local list = {}
  if COMPARED[name] then list[#list + 1] = check_compared end
  if reads[name] then list[#list + 1] = check_attribute end
  if WEIGHTS[name] then list[#list + 1] = check_weights end
  if PARSED[name] then list[#list + 1] = check_parsed end
  if #list == 0 then return nil end
  return function (a, takes)
    for _, f in ipairs(list) do f(name, a, takes) end
  end
end

return M
