-- SPDX-License-Identifier: MIT
-- dt/functional/basic.lua: the functions of F that others of F are made of:
-- linear, softmax, dropout.  They stand below all of them.

local dt = require "dt"
local util = require "dt.util"
local signature = require "dt.torch.signature"

local M = {}

-- The aten operator `name`.
function M.need(name)
  local f = dt._find(name)
  if f == nil then
    util.raise("NotImplementedError", "operator aten.%s is not built in", name)
  end
  return f
end

local need = M.need

M.linear = need("linear")

local function implicit_dim(name, ndim)
  dt._warn(("Implicit dimension choice for %s has been deprecated. Change "
    .. "the call to include dim=X as an argument."):format(name))
  return (ndim == 0 or ndim == 1 or ndim == 3) and 0 or 1
end

local function softmax(name)
  return signature.def(name, "input, dim=None, _stacklevel=3, dtype=None",
    function (a)
      local x, dim = a.input, a.dim
      if dim == nil then dim = implicit_dim(name, x.ndim) end
      if math.type(dim) ~= "integer" then
        util.raise("TypeError", "%s(): argument 'dim' (position 1) must be "
          .. "int, not %s", name, util.type_text(dim))
      end
      if a.dtype then x = x:to(a.dtype) end
      return need("_" .. name)(x, dim, false)
    end)
end

-- F.softmax(x, dim, {dtype =}), F.log_softmax(x, dim, {dtype =})
M.softmax = softmax("softmax")
M.log_softmax = softmax("log_softmax")

-- F.dropout(x, p = 0.5, training = true)
function M.dropout(x, ...)
  local a = util.bind("dropout", {"p", "training", "inplace"},
    {p = 0.5, training = true}, ...)
  if a.p < 0 or a.p > 1 then
    util.raise("ValueError", "dropout probability has to be between 0 and 1, "
      .. "but got %s", tostring(a.p))
  end
  if a.p > 0 then dt._mode(a.training) end
  if not a.training or a.p == 0 then return x end
  if a.p == 1 then return x * dt.zeros({}, {dtype = x.dtype}) end
  local noise
  dt.no_grad(function ()
    noise = dt.empty_like(x)
    noise = noise:bernoulli_(1 - a.p)
    noise = dt.ops.aten.div_.Scalar(noise, 1 - a.p)
  end)
  return x * noise
end

return M
