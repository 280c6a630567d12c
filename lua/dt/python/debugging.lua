-- SPDX-License-Identifier: MIT
-- dt/python/debugging.lua: torch.distributed.tensor.debug: CommDebugMode
-- counts collectives as PyTorch's does, from the engine's record of calls;
-- visualize_sharding shows the layout as :show does.

local dt = require "dt"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"

local None, builtin, namespace = dt.None, V.builtin, attrs.namespace

-- What PyTorch's counter calls a collective: the functional ones by the name
-- of their older set.
local function packet(c)
  local set = c.ns == "c10d" and "c10d" or "c10d_functional"
  local name = ("%s.%s"):format(set, c.op)
  return setmetatable({shown = ("<OpOverloadPacket(op='%s')>"):format(name),
    name = name}, {__name = "OpOverloadPacket",
    __tostring = function () return name end})
end

-- Collectives by name, in the order they were first met.
local function counted(rows)
  local d, made = V.dict(), {}
  d.factory = function () return 0 end
  d.shown_as = function (_, text)
    return "defaultdict(<class 'int'>, " .. text .. ")"
  end
  local total = 0
  for _, row in ipairs(rows) do
    for _, c in ipairs(row.coll or {}) do
      local key = (c.ns or "") .. c.op
      made[key] = made[key] or packet(c)
      V.dict_set(d, made[key], (V.dict_get(d, made[key]) or 0) + 1)
      total = total + 1
    end
  end
  return d, total
end

local function comm_mode()
  local recorder = dt._record()
  local counts, total = counted {}
  local t = {}
  t.__enter__ = function ()
    recorder:take()
    recorder(true)
    return t
  end
  t.__exit__ = function ()
    recorder(false)
    counts, total = counted(recorder:take())
    return false
  end
  t.get_comm_counts = builtin(function () return counts end)
  t.get_total_counts = builtin(function () return total end)
  t.comm_counts = counts
  t.generate_comm_debug_tracing_table = builtin(function ()
    return dt.debug.ledger_text()
  end)
  t.log_comm_debug_tracing_table_to_file = builtin(function () return None end)
  return namespace(t)
end

local function show(args)
  print(dt.debug.show_text(args[1]))
  return None
end

-- torch.utils._debug_mode.DebugMode: the operators as dt.debug.trace sees
-- them.  What else it can record (hashes, stacks) is taken and left out.
local function debug_mode()
  local t, trace, text = {}, nil, ""
  t.__enter__ = function ()
    trace, text = dt.debug.trace(), ""
    return t
  end
  t.__exit__ = function ()
    text, trace = trace:stop(), nil
    return false
  end
  t.debug_string = builtin(function () return (text:gsub("\n$", "")) end)
  return namespace(t)
end
attrs.provide("torch.utils._debug_mode", namespace {
  DebugMode = builtin(debug_mode, "DebugMode")})

local M = namespace {
  CommDebugMode = builtin(comm_mode, "CommDebugMode"),
  visualize_sharding = builtin(show, "visualize_sharding"),
}
for _, path in ipairs {"torch.distributed._tensor.debug",
  "torch.distributed.tensor.debug"} do
  attrs.provide(path, M)
end

return M
