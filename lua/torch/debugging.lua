-- SPDX-License-Identifier: MIT
-- torch/debugging.lua: torch.distributed.tensor.debug: visualize_sharding
-- shows the layout as :show does; CommDebugMode is comm_mode.lua's.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local comm_mode = require "torch.comm_mode"
local meshes = require "torch.mesh"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

local function show(a)
  print(dt.debug.show_text(a[1]))
  return None
end

-- What would put other lines or other words into the text.
local BEYOND <const> = {"record_torchfunction", "record_nn_module", "record_ids",
  "record_tensor_attributes"}

-- torch.utils._debug_mode.DebugMode: the operators as dt.debug.trace sees
-- them.  What it keeps beside the text (arguments, stacks) is left out.
local debug_mode = args.def("DebugMode", {"*", "record_torchfunction?",
  "record_faketensor?", "record_realtensor?", "record_tensor_attributes?",
  "record_nn_module?", "store_original_args?", "record_stack_trace?",
  "record_output?", "record_ids?", "record_profiler_context?",
  "record_localtensor?", "run_compile_with_interpreter?"}, function (a)
  for _, name in ipairs(BEYOND) do
    if args.given(a[name]) and V.truth(a[name]) then
      util.raise("NotImplementedError", "DebugMode(%s=%s): dtrepl writes what "
        .. "DebugMode() does", name, V.repr(a[name]))
    end
  end
  local t, trace, text = {}, nil, ""
  t.__enter__ = function ()
    trace, text = dt.debug.trace(nil, true, a.record_output ~= false), ""
    return t
  end
  t.__exit__ = function ()
    text, trace = trace:stop():gsub("\1([%d ]+)\1", meshes.name_of_ranks), nil
    return false
  end
  t.debug_string = builtin(function () return (text:gsub("\n$", "")) end)
  return namespace(t)
end)
attrs.provide("torch.utils._debug_mode", namespace {DebugMode = debug_mode})

local M = namespace {
  CommDebugMode = builtin(comm_mode.new, "CommDebugMode"),
  visualize_sharding = builtin(show, "visualize_sharding"),
}
for _, path in ipairs {"torch.distributed._tensor.debug",
  "torch.distributed.tensor.debug"} do
  attrs.provide(path, M)
end

return M
