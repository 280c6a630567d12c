-- SPDX-License-Identifier: MIT
-- dt/nn/lazy.lua: modules that learn how many inputs they have from the first
-- one: LazyLinear, LazyConv, LazyConvTranspose, LazyBatchNorm, LazyInstanceNorm.
-- At the first forward they become what they are lazy forms of, with the random
-- numbers drawn then, as in PyTorch.  Before it they have no parameters: who
-- asks for them gets an error, where PyTorch gives objects without a shape.

local util = require "dt.util"
local conv = require "dt.nn.pooling"
local transposed = require "dt.nn.convtranspose"
local linear = require "dt.nn.linear"
local norm = require "dt.nn.norm"
local shaping = require "dt.nn.shaping"

local M = {}

-- Channels of an input with nd dimensions behind them, batched or not.
local function channels(nd, name)
  return function (x)
    if x.ndim ~= nd + 1 and x.ndim ~= nd + 2 then
      util.raise("RuntimeError", "Expected %dD (unbatched) or %dD (batched) "
        .. "input to %s, but got input of size: [%s]", nd + 1, nd + 2, name,
        table.concat(x.shape, ", "))
    end
    return x.shape[x.ndim - nd]
  end
end

-- What was given, with defaults {place, name, value} that the lazy form alone has.
local function completed(given, defaults)
  local n, kw = given.n, {}
  if type(given[n]) == "table" and getmetatable(given[n]) == nil then
    for k, v in pairs(given[n]) do kw[k] = v end
    n = n - 1
  end
  for _, d in ipairs(defaults) do
    if n < d[1] and kw[d[2]] == nil then kw[d[2]] = d[3] end
  end
  local out = table.pack(table.unpack(given, 1, n))
  out.n, out[n + 1] = n + 1, kw
  return out
end

-- lazy("LazyLinear", Linear, f): f(x) is what Linear is given first; `defaults`:
-- see completed().
local function lazy(name, class, first, defaults)
  local C = class:extend(name)
  function C:__init__(...)
    self._attrs._uninitialized = true
    self._attrs._given = table.pack(...)
  end
  function C:forward(x, ...)
    local given = completed(self._attrs._given, defaults or {})
    local training = self.training
    self._attrs._uninitialized, self._attrs._given = nil, nil
    rawset(self, "_class", class)
    class.__init__(self, first(x), table.unpack(given, 1, given.n))
    self.training = training
    return class.forward(self, x, ...)
  end
  function C:extra_repr()
    return "not initialized: its first input says how many it has"
  end
  M[name] = C
end

lazy("LazyLinear", linear.Linear, function (x) return x.shape[x.ndim] end)
for nd = 1, 3 do
  local function named(text) return text:format(nd) end
  local of = channels(nd, named "LazyConv%dd")
  lazy(named "LazyConv%dd", conv[named "Conv%dd"], of)
  lazy(named "LazyConvTranspose%dd", transposed[named "ConvTranspose%dd"], of)
  lazy(named "LazyBatchNorm%dd", norm[named "BatchNorm%dd"], function (x)
    return x.shape[2]
  end)
  lazy(named "LazyInstanceNorm%dd", shaping[named "InstanceNorm%dd"],
    channels(nd, named "LazyInstanceNorm%dd"),
    {{3, "affine", true}, {4, "track_running_stats", true}})
end

return M
