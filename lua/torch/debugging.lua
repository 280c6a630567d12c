-- SPDX-License-Identifier: MIT
-- torch/debugging.lua: torch.distributed.tensor.debug: visualize_sharding
-- shows the layout as :show does; CommDebugMode is comm_mode.lua's.

local dt = require "dt"
local V = require "python.values"
local attrs = require "python.attrs"
local comm_mode = require "torch.comm_mode"
local meshes = require "torch.mesh"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function show(args)
  print(dt.debug.show_text(args[1]))
  return None
end

-- torch.utils._debug_mode.DebugMode: the operators as dt.debug.trace sees
-- them.  What else it can record (hashes, stacks) is taken and left out.
local function debug_mode()
  local t, trace, text = {}, nil, ""
  t.__enter__ = function ()
    trace, text = dt.debug.trace(nil, true), ""
    return t
  end
  t.__exit__ = function ()
    text, trace = trace:stop():gsub("\1([%d ]+)\1", meshes.name_of_ranks), nil
    return false
  end
  t.debug_string = builtin(function () return (text:gsub("\n$", "")) end)
  return namespace(t)
end
attrs.provide("torch.utils._debug_mode", namespace {
  DebugMode = builtin(debug_mode, "DebugMode")})

local M = namespace {
  CommDebugMode = builtin(comm_mode.new, "CommDebugMode"),
  visualize_sharding = builtin(show, "visualize_sharding"),
}
for _, path in ipairs {"torch.distributed._tensor.debug",
  "torch.distributed.tensor.debug"} do
  attrs.provide(path, M)
end

return M
