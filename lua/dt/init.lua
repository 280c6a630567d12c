-- SPDX-License-Identifier: MIT
-- dt/init.lua: fills the table `dt` that the binding made, and sets the
-- presets.  Small on purpose, since it runs at every start: everything that
-- is not used by nearly all scripts is loaded when it is first named.

-- Where the names live that are loaded on demand: name = {module, field}.
-- Without a field the module itself is the value.
local lazy = {}

local function provide(module, ...)
  for _, name in ipairs {...} do lazy[name] = {module, name} end
end

lazy.nn = {"dt.nn"}
lazy.optim = {"dt.optim"}
lazy.F = {"dt.functional"}
lazy.testing = {"dt.testing"}
lazy.distributed = {"dt.distributed"}
lazy.autograd = {"dt.autograd"}
lazy.tensor_parallel = {"dt.parallel"}
lazy.fsdp = {"dt.fsdp"}
lazy.spmd = {"dt.spmd"}
provide("dt.tensor.create", "zeros", "ones", "empty", "full", "arange", "eye",
  "rand", "randn", "randint", "tensor", "zeros_like", "ones_like",
  "empty_like", "full_like", "rand_like", "randn_like", "linspace",
  "as_tensor", "set_default_dtype", "get_default_dtype")
provide("dt.parallel", "parallelize_module", "ColwiseParallel",
  "RowwiseParallel", "SequenceParallel", "PrepareModuleInput",
  "PrepareModuleOutput", "PrepareModuleInputOutput", "distribute_module",
  "local_map")
provide("dt.parallel.loss", "loss_parallel")
provide("dt.fsdp", "fully_shard", "MixedPrecisionPolicy", "FSDPModule")
provide("dt.cp", "context_parallel", "context_parallel_unshard")
provide("dt.torch.library", "register_sharding")
provide("dt.torch.scope", "no_grad", "enable_grad", "inference_mode",
  "implicit_replication", "set_grad_enabled", "is_grad_enabled", "meta")
provide("dt.torch.autocast", "autocast", "is_autocast_enabled",
  "get_autocast_dtype")
provide("dt.testing", "allclose")
provide("dt.debug.ledger", "expect")
provide("dt.io", "save", "load")
provide("dt.tensor.printing", "set_printoptions", "get_printoptions")
provide("dt.torch", "einsum", "meshgrid", "broadcast_tensors", "atleast_1d",
  "atleast_2d", "atleast_3d", "cartesian_prod", "block_diag", "tensordot",
  "chain_matmul", "norm", "broadcast_shapes", "unravel_index", "linalg", "fft",
  "special", "compile")
provide("dt.torch.facts", "finfo", "iinfo")
lazy.float8 = {"dt.float8"}

local function load_lazy(dt, name)
  local at = lazy[name]
  if not at then return nil end
  local value = require(at[1])
  if at[2] then value = value[at[2]] end
  rawset(dt, name, value)
  return value
end

-- dt.name: a lazily loaded part, else a function calling the aten operator.
local function dt_index(dt, name)
  if type(name) ~= "string" then return nil end
  local value = load_lazy(dt, name)
  if value ~= nil then return value end
  value = dt._find(name)
  if value == nil then                          -- repeat_op and the like
    local plain = name:match("^(%a+)_op$")
    value = plain and dt._find(plain)
  end
  if value then rawset(dt, name, value) end
  return value
end

-- A table that becomes the module when it is first used.
local function later(module)
  local proxy = {}
  return setmetatable(proxy, {
    __index = function (_, key) return require(module)[key] end,
    __pairs = function () return pairs(require(module)) end,
    __newindex = function (_, key, value) require(module)[key] = value end,
    __name = module,
  })
end

-- Names of dt that are not loaded yet, for completion and help.
local function lazy_names()
  local names = {}
  for name in pairs(lazy) do names[#names + 1] = name end
  return names
end

local function presets(dt)
  local g = _G
  g.Shard, g.Replicate, g.Partial = dt.Shard, dt.Replicate, dt.Partial
  g.DTensor, g.DeviceMesh = dt.DTensor, dt.DeviceMesh
  g.nn, g.F = later("dt.nn"), later("dt.functional")
end

return function (dt, bare)
  setmetatable(dt, {__index = dt_index, __name = "dt"})
  setmetatable(dt.library, {__index = function (_, name)
    return require("dt.torch.library")[name]
  end})
  setmetatable(dt.debug, {__index = function (t, name)
    if type(name) ~= "string" or name == "_commands" then return nil end
    local value = require("dt.debug").find(name)
    if value then
      rawset(t, name, value)
      return value
    end
    local commands = rawget(t, "_commands")     -- the shell's, by name
    return commands and commands[name]
  end})
  dt._lazy_names = lazy_names
  dt._debug_names = function () return require("dt.debug").names() end
  require "dt.tensor"
  if not bare then presets(dt) end
  return dt
end
