-- SPDX-License-Identifier: MIT
-- torch/module_hooks.lua: Python's functions as hooks of a module's
-- forward.  In Lua several inputs or results are several values; a hook of
-- Python's takes them as one tuple, and what it gives back that is no tuple is
-- one value, a list too.

local dt = require "dt"
local util = require "dt.util"
local nn = require "dt.nn"
local nnm = require "dt.nn.module"
local parallel = require "dt.nn.parallel"
local recompute = require "dt.nn.recompute"
local V = require "python.values"
local calls = require "python.call"
local attributes = require "torch.attributes"
local facts = require "torch.module_facts"

attributes.set_facts(facts)

local M = {}
local None = dt.None

local function items(v)
  local out = {}
  for i = 1, v.n do out[i] = V.lend(v[i]) end
  return out
end

--- inputs(list): the positional inputs as a tuple.
local function inputs(list)
  local n, out = list.n or #list, {}
  for i = 1, n do out[i] = V.from_lua(list[i]) end
  return V.tuple(out, n)
end

--- outputs(...): what forward gave: several values are a tuple.
local function outputs(...)
  if select("#", ...) == 1 then return V.from_lua((...)) end
  return inputs(table.pack(...))
end

--- new_inputs(v): what a hook before forward gave, for the module: nothing, or
--- the list of the new inputs.
function M.new_inputs(v)
  if v == None then return nil end
  if not V.is_tuple(v) then return {V.lend(v), n = 1} end
  local out = items(v)
  out.n = v.n
  return out
end

--- new_outputs(v): what a hook after forward gave: nothing, or the values.
function M.new_outputs(v)
  if v == None then return nil end
  if not V.is_tuple(v) then return V.lend(v) end
  return table.unpack(items(v), 1, v.n)
end

M.inputs, M.outputs = inputs, outputs

-- A module whose forward is the program's gets what it is called with as it
-- is: a list that forward appends to is the caller's.
calls.set_passing(function (m)
  local class = rawget(m, "_class")
  if not class or not nnm.is_module(m) then return nil end
  facts.check_call(m)
  return rawget(m, "_attrs").forward or class.forward
end)
calls.leave_arguments(nn.Identity)
calls.accept_packed(recompute.Wrapper.forward)
calls.accept_packed(parallel.DistributedDataParallel.forward)

-- Several values in a Sequential are one tuple to a class of the program.
require("dt.nn.container")._set_tuple(function (m, values)
  if not rawget(m, "_class") or not rawget(m._class, "__python") then
    return nil
  end
  return outputs(table.unpack(values, 1, values.n))
end)

-- What a hook before forward gave that is shown the keywords, too.
local function new_inputs_and_keywords(v)
  if v == None then return nil end
  if not V.is_tuple(v) or v.n ~= 2 then
    util.raise("RuntimeError", "forward pre-hook must return None or a tuple "
      .. "of (new_args, new_kwargs), but got %s.", V.str(v))
  end
  local kwargs = {}
  for k, item in V.each(v[2]) do kwargs[k] = V.lend(item) end
  return M.new_inputs(v[1]), kwargs
end

-- register_…(hook, *, prepend, with_kwargs, always_call); `named` for hooks
-- with the keywords, `plain` for those without.
local function register(name, plain, named)
  attributes.of_module[name] = function (m, a, kw)
    local options = {}
    for k, v in V.each(kw or V.dict()) do
      if k ~= "hook" then options[k] = V.truth(v) end
    end
    local f = a[1] or kw and V.dict_get(kw, "hook")
    return m[name](m, (options.with_kwargs and named or plain)(f), options)
  end
end

register("register_forward_pre_hook", function (f)
  return function (m, args)
    return M.new_inputs(V.call(f, V.list {m, inputs(args)}))
  end
end, function (f)
  return function (m, args, kwargs)
    return new_inputs_and_keywords(V.call(f, V.list {m, inputs(args),
      V.dict_of(kwargs or {})}))
  end
end)

register("register_forward_hook", function (f)
  return function (m, args, ...)
    return M.new_outputs(V.call(f, V.list {m, inputs(args), outputs(...)}))
  end
end, function (f)
  return function (m, args, kwargs, ...)
    return M.new_outputs(V.call(f, V.list {m, inputs(args),
      V.dict_of(kwargs or {}), outputs(...)}))
  end
end)

return M
