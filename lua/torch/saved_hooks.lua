-- SPDX-License-Identifier: MIT
-- torch/saved_hooks.lua: what torch.autograd.graph (pylib) stands on: functions
-- of Python that see the tensors kept for gradients.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"
local packing = require "dt.autograd.packing"

packing.type_name = V.type_name

local function given_to(f)
  return function (v) return V.call(f, V.list({v}, 1)) end
end

local function does(f)
  return function (a)
    f(table.unpack(a, 1, 2))
    return dt.None
  end
end

local M = {
  enter = does(function (pack, unpack)
    packing.enter(given_to(pack), given_to(unpack))
  end),
  leave = does(packing.leave),
  forbid = does(packing.forbid),
  allow = does(packing.allow),
}
for name, f in pairs(M) do M[name] = V.builtin(f, name) end

attrs.provide("_saved_hooks", attrs.namespace(M))

return {reset = packing.reset}
