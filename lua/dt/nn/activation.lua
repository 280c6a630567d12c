-- SPDX-License-Identifier: MIT
-- dt/nn/activation.lua: activations, softmaxes and dropouts as modules.

local dt = require "dt"
local util = require "dt.util"
local F = require "dt.functional"
local define = require "dt.nn.define"
local init_values = require "dt.nn.init_values"
local signature = require "dt.torch.signature"

local ops = dt.ops.aten

-- A method of the tensor.
local function method(name)
  return function (_, x)
    if type(x) == "table" and x[name] then return x[name](x) end   -- of a vmap
    return ops[name](x)
  end
end

local function check_dropout(m)
  if m.p < 0 or m.p > 1 then
    util.raise("ValueError", "dropout probability has to be between 0 and 1, "
      .. "but got %s", signature.text(m.p))
  end
end

local function renamed(m, a)
  for old, new in pairs {min_value = "min_val", max_value = "max_val"} do
    m[old] = nil
    if a[old] ~= nil then
      dt._warn(("keyword argument `%s` is deprecated and renamed to `%s`")
        :format(old, new))
      m[new] = a[old]
    end
  end
  if m.max_val <= m.min_val then
    util.raise("AssertionError", "max_val (%s) must be greater than min_val "
      .. "(%s)", signature.text(m.max_val), signature.text(m.min_val))
  end
end

local function softmax2d(_, x)
  if x.ndim ~= 3 and x.ndim ~= 4 then
    util.raise("ValueError", "Softmax2d: expected input to be 3D or 4D, got "
      .. "%dD instead", x.ndim)
  end
  return F.softmax(x, -3)
end

local inplace = "inplace=False"
local M = define.modules {
  {"Threshold", "threshold, value, inplace=False", "threshold",
    "threshold={threshold}, value={value}|inplace"},
  {"ReLU", inplace, "relu", "|inplace"},
  {"ReLU6", inplace, "relu6", "|inplace"},
  {"RReLU", "lower=0.125, upper=0.3333333333333333, inplace=False", "rrelu",
    "lower={lower}, upper={upper}|inplace", training = true},
  {"Hardtanh", "min_val=-1.0, max_val=1.0, inplace=False, min_value=None, "
    .. "max_value=None", function (m, x)
      return F.hardtanh(x, m.min_val, m.max_val, m.inplace)
    end, "min_val={min_val}, max_val={max_val}|inplace", check = renamed},
  {"Sigmoid", "", method "sigmoid"},
  {"Hardsigmoid", inplace, "hardsigmoid"},
  {"Tanh", "", method "tanh"},
  {"SiLU", inplace, "silu", "|inplace"},
  {"Mish", inplace, "mish", "|inplace"},
  {"Hardswish", inplace, "hardswish"},
  {"ELU", "alpha=1.0, inplace=False", "elu", "alpha={alpha}|inplace"},
  {"CELU", "alpha=1.0, inplace=False", "celu", "alpha={alpha}|inplace"},
  {"SELU", inplace, "selu", "|inplace"},
  {"GLU", "dim=-1", "glu", "dim={dim}"},
  {"GELU", "approximate='none'", "gelu", "approximate={approximate}"},
  {"Hardshrink", "lambd=0.5", function (m, x)
    return F.hardshrink(x, m.lambd)
  end, "{lambd}"},
  {"LeakyReLU", "negative_slope=0.01, inplace=False", "leaky_relu",
    "negative_slope={negative_slope}|inplace"},
  {"LogSigmoid", "", method "log_sigmoid"},
  {"Softplus", "beta=1.0, threshold=20.0", function (m, x)
    return F.softplus(x, m.beta, m.threshold)
  end, "beta={beta}, threshold={threshold}"},
  {"Softshrink", "lambd=0.5", function (m, x)
    return F.softshrink(x, m.lambd)
  end, "{lambd}"},
  {"Softsign", "", "softsign"},
  {"Tanhshrink", "", "tanhshrink"},
  {"Softmin", "dim=None", "softmin", "dim={dim}"},
  {"Softmax", "dim=None", "softmax", "dim={dim}"},
  {"Softmax2d", "", softmax2d},
  {"LogSoftmax", "dim=None", "log_softmax", "dim={dim}"},
}

local names = {Dropout = "dropout", Dropout1d = "dropout1d",
  Dropout2d = "dropout2d", Dropout3d = "dropout3d",
  AlphaDropout = "alpha_dropout", FeatureAlphaDropout = "feature_alpha_dropout"}
for name, f in pairs(names) do
  M[name] = define.module {name, "p=0.5, inplace=False", f,
    "p={p}, inplace={inplace}", training = true, check = check_dropout}
end

-- nn.PReLU(num_parameters = 1, init = 0.25): the slope is learned.
M.PReLU = define.module {"PReLU",
  "num_parameters=1, init=0.25, device=None, dtype=None",
  function (m, x) return F.prelu(x, m.weight) end,
  "num_parameters={num_parameters}", check = function (m, a)
    m.device, m.dtype = nil, nil
    m.weight = dt._make_param(dt.empty({a.num_parameters},
      {dtype = a.dtype, device = a.device}), true)
    m:reset_parameters()
  end}

-- All slopes as `init` says.
function M.PReLU:reset_parameters()
  init_values.constant_(self.weight, self.init)
end

return M
