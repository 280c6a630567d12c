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
local GLOBAL = "Global"             -- what runs in no module
local GLOBAL = "Global"
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

-- ---- operators ----

local function is_inside(name, outer)
  return name == outer or name:sub(1, #outer + 1) == outer .. "."
end

-- The module that PyTorch's tracker would name for a row.  Its name moves on
-- where a module begins or ends a forward, and in backward where a gradient
-- enters a module, which also ends what counts as recomputed: what a module
-- does after a child of it has begun counts for the child, and so does what
-- follows the backward.
local function name_module(mode, row)
  local name = row.backward and mode.names[row.module or ""]
  if name and not is_inside(mode.name, name) then
    mode.name, mode.recomputing = name, false
  end
  return mode.name
end

-- The gradient that a backward begins with is made before its engine runs.
local function is_root_gradient(row)
  return row.op == "aten.ones_like.default" and (row.module or "") == ""
end

local function operation(mode, row, name, dtensors)
  local shapes, placements, mesh = {}, {}, ""
  for i, x in ipairs(dtensors or {}) do
    shapes[i], mesh = x.shape, V.str(x.device_mesh)
    placements[i] = V.tuple {table.unpack(x.placements)}
  end
  return V.dict_of({name = name, input_shape = V.list(shapes),
    input_sharding = V.list(placements), device_mesh = mesh,
    is_bw = row.backward == true and not is_root_gradient(row),
    is_activation_checkpointing = mode.recomputing == true},
    {"name", "input_shape", "input_sharding", "device_mesh", "is_bw",
      "is_activation_checkpointing"})
end

-- A functional collective gives a tensor that waits for itself; inside an
-- operator it is waited for at once.
local function collective_names(row)
  local names = {}
  for _, c in ipairs(row.coll or {}) do
    if c.ns == "c10d" then
      names[#names + 1] = "c10d." .. c.op .. ".default"
    else
      names[#names + 1] = "_c10d_functional." .. c.op .. ".default"
      names[#names + 1] = "_c10d_functional._wrap_tensor_autograd.default"
      if row.dtensors then
        names[#names + 1] = "_c10d_functional.wait_tensor.default"
      end
    end
  end
  return names
end

-- A row is the operator as the program called it and then what ran inside:
-- of a plain operator nothing, of a DTensor's its collectives and operators
-- on what each rank has, itself the last of them.
local function note_operations(mode, row)
  local name = name_module(mode, row)
  local held = V.dict_get(mode.operations, name)
  if not held then
    held = V.dict_of({operations_list = V.list({})}, {"operations_list"})
    V.dict_set(mode.operations, name, held)
  end
  local list = V.dict_get(held, "operations_list")
  local function add_operation(op, dtensors)
    list.n = list.n + 1
    list[list.n] = operation(mode, row, op, dtensors)
  end
  if row.dtensors or row.plain and not row.coll then
    add_operation(row.op, row.dtensors)
  end
  for _, op in ipairs(collective_names(row)) do add_operation(op) end
  for _, op in ipairs(row["local"] or {}) do add_operation(op) end
  if row.dtensors and not row.error then add_operation(row.op) end
end

-- What the record has since it was last asked, for the modules under way; in
-- backward for the module that the operator's forward was in.
local function counted(mode)
  for _, row in ipairs(mode.recorder:take()) do
    local way = row.backward and "backward" or "forward"
    note_operations(mode, row)
    for _, c in ipairs(row.coll or {}) do
      local key = packet(c)
      add(mode.counts, key)
      mode.total = mode.total + 1
      add_to_module(mode, GLOBAL, way, key)
      local open = row.backward
        and mode.around[mode.names[row.module or ""] or ""]
        or mode.open
      for _, name in ipairs(open or {}) do
        add_to_module(mode, name, way, key)
      end
    end
  end
  return mode
end

-- ---- modules ----

-- The path of m below root; root's class where it is root itself, as the
-- record has it.
local function path_below(root, m)
  for path, sub in root:named_modules() do
    if sub == m and path ~= "" then return path end
  end
  return m._class.__name
end

-- A module keeps the name that it had first: a checkpoint calls it again
-- without what is around it.
local function name_of(mode, m, root, path)
  local name = mode.known[m]
  if not name then
    name = m == root and path or root._class.__name .. "." .. path
    mode.known[m] = name
  end
  return name
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

local function describe_module(mode, name, m)
  local above = mode.open[#mode.open - 1] or GLOBAL
  local children = V.dict_get(mode.children, above) or V.list({})
  children.n = children.n + 1
  children[children.n] = name
  V.dict_set(mode.children, above, children)
  local helper = V.dict_get(mode.helper, name) or V.dict()
  V.dict_set(helper, "module_type", ("class '%s.%s'"):format(
    V.str(attrs.get(m._class, "__module__")), m._class.__name))
  V.dict_set(helper, "depth", #mode.open)
  V.dict_set(mode.helper, name, helper)
  note_parameters(mode, name, m, helper)
end

-- The forward of m begins (nil: of the innermost one ends).
local function entered(mode, m, root)
  counted(mode)
  mode.recomputing = mode.recorder:in_backward()
  if not m then
    table.remove(mode.open)
    if not mode.recomputing then mode.name = mode.open[#mode.open] or GLOBAL end
    return
  end
  local path = path_below(root, m)
  local name = name_of(mode, m, root, path)
  mode.open[#mode.open + 1] = name
  mode.name, mode.names[path] = name, name
  mode.around[name] = mode.around[name] or {table.unpack(mode.open)}
  if not mode.recomputing then describe_module(mode, name, m) end
end

-- ---- the mode ----

local function clear(mode)
  mode.counts, mode.total, mode.open = no_counts(), 0, {}
  mode.around, mode.parameters, mode.sharding = {}, V.dict(), V.dict()
  mode.name, mode.names, mode.recomputing = GLOBAL, {}, false
  mode.operations, mode.children = V.dict(), V.dict()
  mode.by_module = V.dict_of({[GLOBAL] = pair()}, {GLOBAL})
  mode.helper = V.dict_of({[GLOBAL] = V.dict_of({depth = 0}, {"depth"})},
    {GLOBAL})
end

local Mode = {}
function Mode.get_comm_counts(mode) return counted(mode).counts end
function Mode.get_total_counts(mode) return counted(mode).total end
function Mode.get_parameter_info(mode) return mode.parameters end
function Mode.get_sharding_info(mode) return mode.sharding end

local function tracker(mode)
  return namespace(setmetatable({}, {__name = "_CommModeModuleTracker",
    __index = function (_, name)
      if name == "module_helper_dict" then return mode.helper end
      if name == "module_parameters_dict" then return mode.parameters end
      if name == "sharding_dict" then return mode.sharding end
      if name == "parent_dict" then return mode.children end
      if name == "name" then return mode.name end
    end}))
end

-- What the mode writes out is Python: pylib/torch/distributed/tensor.
local REPORTS = {"generate_comm_debug_tracing_table", "generate_json_dump",
  "log_comm_debug_tracing_table_to_file"}

local function report(name, self, a, kw)
  local reports = attrs.module("torch.distributed.tensor._comm_report")
  return V.call(attrs.get(reports, name),
    V.list({self, table.unpack(a, 1, a.n)}, a.n + 1), kw)
end

-- CommDebugMode()
function M.new()
  local mode = {recorder = dt._record(), known = setmetatable({},
    {__mode = "k"})}
  clear(mode)
  local before
  local t = setmetatable({advanced_module_tracker = tracker(mode)},
    {__name = "CommDebugMode", __index = function (_, name)
      if name == "comm_counts" then return counted(mode).counts end
      if name == "comm_module_counts" then return counted(mode).by_module end
      if name == "comm_module_operation_counts" then
        return counted(mode).operations
      end
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
  local self = namespace(t)
  for _, name in ipairs(REPORTS) do
    t[name] = builtin(function (a, kw)
      return report(name, self, a, kw)
    end, name)
  end
  return self
end

return M
