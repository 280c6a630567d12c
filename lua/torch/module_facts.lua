-- SPDX-License-Identifier: MIT
-- torch/module_facts.lua: what a module's __dict__ holds, and a module whose
-- __init__ has not called super().__init__(): PyTorch refuses what is put into
-- it, or read of it, by name.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"
local V = require "python.values"
local attrs = require "python.attrs"
local foreign = require "python.foreign"

local M = {}
local None = dt.None

-- ---- __dict__ ----

-- The registries without an own list here: they are empty where nobody looks.
local FACTS <const> = {"training", "_parameters", "_buffers",
  "_non_persistent_buffers_set", "_backward_pre_hooks", "_backward_hooks",
  "_is_full_backward_hook", "_forward_hooks", "_forward_hooks_with_kwargs",
  "_forward_hooks_always_called", "_forward_pre_hooks",
  "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
  "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
  "_load_state_dict_post_hooks", "_modules"}

local function fact(m, name)
  if name == "training" then return m.training end
  if name == "_is_full_backward_hook" then return None end
  if name == "_non_persistent_buffers_set" then
    local items = {}
    for _, key in ipairs(util.sorted_keys(m._transient)) do
      items[#items + 1] = key
    end
    return V.set(items)
  end
  if name:find("_state_dict_", 1, true) then return V.dict() end
  return attrs.get(m, name)
end

-- What stands in a module's __dict__ before its own attributes.
foreign.of(nnm.Module()).inner = function (m)
  local out = {}
  for i, name in ipairs(FACTS) do out[i] = {name, fact(m, name)} end
  return out
end

-- ---- before Module.__init__() ----

local function missing(m, name)
  util.raise("AttributeError", "'%s' object has no attribute '%s'",
    m._class.__name, name)
end

-- Refuse what is put under a name of a module that is not initialised.
function M.check_set(m, x)
  if not rawget(m, "_bare") then return end
  local kind = nnm.is_module(x) and "module"
    or util.is_tensor(x) and x.is_parameter and "parameters"
  if kind then
    util.raise("AttributeError", "cannot assign %s before Module.__init__() "
      .. "call", kind)
  end
end

-- What PyTorch misses first, by what is asked of the module.
local READS <const> = {parameters = "_parameters",
  named_parameters = "_parameters",
  state_dict = "_state_dict_pre_hooks", training = "training",
  _parameters = "_parameters", _buffers = "_buffers", _modules = "_modules"}
local REGISTERS <const> = {register_buffer = "buffer",
  register_parameter = "parameter"}

-- check_get(m, name): refuse a name that needs what Module.__init__ makes.
-- The class's own attributes and what was set are there without it.
function M.check_get(m, name)
  if not rawget(m, "_bare") then return end
  local class = m._class
  if rawget(m, "_attrs")[name] ~= nil and name ~= "training"
     or rawget(class, name) ~= nil then
    return
  end
  if REGISTERS[name] then
    util.raise("AttributeError", "cannot assign %s before Module.__init__() "
      .. "call", REGISTERS[name])
  elseif READS[name] then
    missing(m, READS[name])
  elseif nnm.Module[name] ~= nil and not name:find("^__") then
    missing(m, "_modules")
  end
end

-- check_call(m): refuse a call.
function M.check_call(m)
  if rawget(m, "_bare") then missing(m, "_backward_hooks") end
end

return M
