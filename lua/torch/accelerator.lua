-- SPDX-License-Identifier: MIT
-- torch/accelerator.lua: torch.accelerator on a machine without one, and
-- memory formats as values of a program.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local args = require "python.args"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"

local M = {}
local None, builtin = dt.None, V.builtin

-- ---- torch.accelerator ----

local function refuse()
  return util.raise("RuntimeError", "Cannot access accelerator device when none "
    .. "is available.")
end

local accelerator = {
  is_available = builtin(function () return false end, "is_available"),
  device_count = builtin(function () return 0 end, "device_count"),
  current_accelerator = builtin(function () return None end,
    "current_accelerator"),
}
for _, name in ipairs {"current_device_index", "current_device_idx",
  "set_device_index", "set_device_idx", "current_stream", "set_stream",
  "synchronize", "empty_cache", "memory_allocated", "max_memory_allocated",
  "memory_reserved", "max_memory_reserved", "memory_stats",
  "reset_peak_memory_stats", "device_index"} do
  accelerator[name] = builtin(refuse, name)
end
M.accelerator = attrs.namespace(accelerator)
attrs.provide("torch.accelerator", M.accelerator)

-- ---- memory formats ----

local format_mt = {__name = "torch.memory_format",
  __tostring = function (f) return "torch." .. f.name end,
  __to_lua = function (f) return f.name end}

M.formats = {}
for _, name in ipairs {"contiguous_format", "preserve_format", "channels_last",
  "channels_last_3d"} do
  M.formats[name] = setmetatable({name = name}, format_mt)
end

local contiguous = args.def("is_contiguous", {"self", "memory_format?"},
  function (a)
    local f = a.memory_format
    return a.self:is_contiguous(getmetatable(f) == format_mt
      and {memory_format = f.name} or nil)
  end)
attributes.tensor_method.is_contiguous = function (t, a, kw)
  return V.call(contiguous, V.list({t, table.unpack(a, 1, a.n)}, a.n + 1), kw)
end

return M
