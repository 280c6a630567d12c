-- SPDX-License-Identifier: MIT
-- torch/comm_mode.lua: CommDebugMode: counts collectives as PyTorch's does,
-- from the engine's record of calls, in all and by module.  Modules are named
-- by the class of the outermost one and the path below it; "Global" is what
-- runs in none of them, and the sum of all.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local collective = require "torch.collective"
local nnm = require "dt.nn.module"

local builtin, namespace = V.builtin, attrs.namespace
local None = dt.None
local M = {}

-- What PyTorch's counter calls a collective: the functional ones by the name
-- of their older set.
local function packet(c)
  local set = c.ns == "c10d" and "c10d" or "c10d_functional"
  return collective[set][c.op]
end

-- Collectives by operator, in the order they were first met.
local function no_counts()
  local d = V.dict()
  d.factory = function () return 0 end
  d.shown_as = function (_, text)
    return "defaultdict(<class 'int'>, " .. text .. ")"
  end
  return d
end

local function pair()
  return V.dict_of({forward = no_counts(), backward = no_counts()},
    {"forward", "backward"})
end

-- ---- counting ----

local function add(d, key) V.dict_set(d, key, (V.dict_get(d, key) or 0) + 1) end

local function add_to_module(mode, name, way, key)
  local counts = V.dict_get(mode.by_module, name)
  if not counts then
    counts = pair()
    V.dict_set(mode.by_module, name, counts)
  end
  add(V.dict_get(counts, way), key)
end

-- What the record has since it was last asked, for the modules under way; in
-- backward for the module that the operator's forward was in.
local function counted(mode)
  for _, row in ipairs(mode.recorder:take()) do
    local way = row.backward and "backward" or "forward"
    for _, c in ipairs(row.coll or {}) do
      local key = packet(c)
      add(mode.counts, key)
      mode.total = mode.total + 1
      add_to_module(mode, "Global", way, key)
      local open = row.backward and mode.parents[row.module] or mode.open
      for _, name in ipairs(open or {}) do
        add_to_module(mode, name, way, key)
      end
    end
  end
  return mode
end

-- ---- modules ----

local function name_of(m, root)
  if m == root then return m._class.__name end
  for path, sub in root:named_modules() do
    if sub == m then return root._class.__name .. "." .. path end
  end
  return m._class.__name
end

local function note_parameters(mode, name, m, helper)
  for key, p in m._parameters:each() do
    if util.is_tensor(p) then
      local mine = V.dict_get(mode.parameters, name)
      if not mine then
        mine = V.dict()
        V.dict_set(mode.parameters, name, mine)
      end
      V.dict_set(mine, key, p:detach())
      if p.is_dtensor then
        local list = V.tuple {table.unpack(p.placements)}
        V.dict_set(mode.sharding, name .. "." .. key, list)
        local told = V.dict_get(helper, "parameters") or V.dict()
        V.dict_set(told, key, V.str(list))
        V.dict_set(helper, "parameters", told)
      end
    end
  end
end

-- The forward of m begins (nil: of the innermost one ends).
local function entered(mode, m, root)
  counted(mode)
  if not m then
    table.remove(mode.open)
    return
  end
  local name = name_of(m, root)
  mode.open[#mode.open + 1] = name
  mode.parents[name:gsub("^[^.]*%.", "")] = {table.unpack(mode.open)}
  local helper = V.dict_get(mode.helper, name) or V.dict()
  V.dict_set(helper, "module_type", ("class '%s.%s'"):format(
    V.str(attrs.get(m._class, "__module__")), m._class.__name))
  V.dict_set(helper, "depth", #mode.open)
  V.dict_set(mode.helper, name, helper)
  note_parameters(mode, name, m, helper)
end

-- ---- the mode ----

local function clear(mode)
  mode.counts, mode.total, mode.open = no_counts(), 0, {}
  mode.parents, mode.parameters, mode.sharding = {}, V.dict(), V.dict()
  mode.by_module = V.dict_of({Global = pair()}, {"Global"})
  mode.helper = V.dict_of({Global = V.dict_of({depth = 0}, {"depth"})},
    {"Global"})
end

local Mode = {}
function Mode.get_comm_counts(mode) return counted(mode).counts end
function Mode.get_total_counts(mode) return counted(mode).total end
function Mode.get_parameter_info(mode) return mode.parameters end
function Mode.get_sharding_info(mode) return mode.sharding end
function Mode.generate_comm_debug_tracing_table()
  return dt.debug.ledger_text()
end
function Mode.log_comm_debug_tracing_table_to_file() return None end

local function tracker(mode)
  return namespace(setmetatable({}, {__name = "_CommModeModuleTracker",
    __index = function (_, name)
      if name == "module_helper_dict" then return mode.helper end
      if name == "module_parameters_dict" then return mode.parameters end
      if name == "sharding_dict" then return mode.sharding end
      if name == "name" then return mode.open[#mode.open] or "Global" end
    end}))
end

-- CommDebugMode()
function M.new()
  local mode = {recorder = dt._record()}
  clear(mode)
  local before
  local t = setmetatable({advanced_module_tracker = tracker(mode)},
    {__name = "CommDebugMode", __index = function (_, name)
      if name == "comm_counts" then return counted(mode).counts end
      if name == "comm_module_counts" then return counted(mode).by_module end
    end})
  t.__enter__ = function ()
    mode.recorder:take()
    clear(mode)
    mode.recorder(true)
    before = nnm.listen(function (m, root)
      entered(mode, m, root)
      if before then before(m, root) end
    end)
    return t
  end
  t.__exit__ = function ()
    mode.recorder(false)
    counted(mode)
    nnm.listen(before)
    return false
  end
  for name, f in pairs(Mode) do
    t[name] = builtin(function () return f(mode) end, name)
  end
  return namespace(t)
end

return M
