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
local attrs = require "python.attrs"
local A = require "python.args"
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
    options.given = f
    return m[name](m, (options.with_kwargs and named or plain)(f), options)
  end
end

local shapes = {}

function shapes.pre(f)
  return function (m, args)
    return M.new_inputs(V.call(f, V.list {m, inputs(args)}))
  end
end

function shapes.pre_named(f)
  return function (m, args, kwargs)
    return new_inputs_and_keywords(V.call(f, V.list {m, inputs(args),
      V.dict_of(kwargs or {})}))
  end
end

function shapes.after(f)
  return function (m, args, ...)
    return M.new_outputs(V.call(f, V.list {m, inputs(args), outputs(...)}))
  end
end

function shapes.after_named(f)
  return function (m, args, kwargs, ...)
    return M.new_outputs(V.call(f, V.list {m, inputs(args),
      V.dict_of(kwargs or {}), outputs(...)}))
  end
end

function shapes.full(f) return V.lend(f) end
shapes.full_pre = shapes.full

register("register_forward_pre_hook", shapes.pre, shapes.pre_named)
register("register_forward_hook", shapes.after, shapes.after_named)
register("register_full_backward_hook", shapes.full, shapes.full)
register("register_full_backward_pre_hook", shapes.full, shapes.full)

-- torch.nn.modules.module.register_module_…: a hook of all modules.
M.for_all = {}
for name, place in pairs {register_module_forward_pre_hook = "pre",
    register_module_forward_hook = "after",
    register_module_full_backward_hook = "full",
    register_module_full_backward_pre_hook = "full_pre"} do
  local words = {"hook"}
  if place == "after" then
    words = {"hook", "with_kwargs?", "always_call?"}
  end
  M.for_all[name] = A.def(name, words, function (a)
    local named = V.truth(a.with_kwargs or false)
    return V.from_lua(nnm.add_hook(nnm.everywhere[place],
      shapes[named and "after_named" or place](a.hook), {given = a.hook,
      with_kwargs = named or nil,
      always_call = V.truth(a.always_call or false) or nil}))
  end)
end

-- ---- what is registered, as a module's dictionaries have it ----

-- A registry of hooks: an OrderedDict by number whose entries can be deleted.
-- `hooks_of(m)`: the list; `wanted(hook)`: does this one stand there?
local function registry(hooks_of, wanted, value)
  return function (m)
    local d = V.call(attrs.get(attrs.module "collections", "OrderedDict"),
      V.list({}, 0))
    local hooks, at = hooks_of(m), {}
    for i, hook in ipairs(hooks) do
      if not wanted or hook[wanted] then
        at[i - 1] = hook
        V.dict_set(d, i - 1, value or hook.given or hook.f)
      end
    end
    d.changed = function (key, v)
      if v ~= nil then
        util.raise("NotImplementedError", "a hook put into a module's "
          .. "dictionary is not part of dtrepl: register it")
      end
      for i, hook in ipairs(hooks) do
        if hook == at[key] then return table.remove(hooks, i) end
      end
    end
    return d
  end
end

local function backward(which)
  return function (m)
    return (rawget(m, "_backward_hooks") or {})[which] or {}
  end
end

local function before(m) return m._pre_hooks end
local function after(m) return m._hooks end

for name, get in pairs {
    _forward_pre_hooks = registry(before), _forward_hooks = registry(after),
    _forward_pre_hooks_with_kwargs = registry(before, "with_kwargs", true),
    _forward_hooks_with_kwargs = registry(after, "with_kwargs", true),
    _forward_hooks_always_called = registry(after, "always_call", true),
    _backward_hooks = registry(backward "full"),
    _backward_pre_hooks = registry(backward "pre")} do
  attributes.module_maps[name] = get
end

return M
