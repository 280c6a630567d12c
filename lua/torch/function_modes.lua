-- SPDX-License-Identifier: MIT
-- torch/function_modes.lua: torch.overrides.TorchFunctionMode: what a program
-- calls of torch while one is entered goes through its __torch_function__, the
-- innermost first; inside of it the next one sees.  Calls are found as those
-- that are checked are (torch.spmd.watch).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local calls = require "python.call"
local names = require "torch.names"
local watch = require "dt.spmd.watch"
local looked_at = require "torch.spmd.watch"

local None, builtin = dt.None, V.builtin
local stack, aside = {}, 0          -- modes; how many are being asked

local modes = {}

function modes.busy() return aside >= #stack end

-- The function that a mode is given: the one that was called, torch.Tensor's of
-- that name, or one of the name alone.
local methods = {}

local function found_in(place, name)
  local ok, f = pcall(attrs.get, place, name)
  return ok and (V.is_function(f) or type(f) == "function") and f or false
end

local function method_of(name)
  if methods[name] == nil then
    methods[name] = found_in(names.torch.Tensor, name)
  end
  return methods[name]
end

-- What a program calls the function of that key.
local function known_of(key, name)
  if name:find("^__") then return nil end
  local place = key:match("^(%w+)%.")
  if place == "Tensor" then return method_of(name) end
  local space = place == "F" and names.F or place == "torch" and names.torch
  return space and found_in(space, name)
end

local given = looked_at.given_to_modes

local function function_of(key, name, f, itself)
  if itself then return f end
  local known = known_of(key, name)
  if known then
    given[known] = f
    return known, known
  end
  local own = builtin(f, name)
  own.__module__, own.qualified = "torch", "torch." .. key
  return own
end

-- What a function of Python's in torch.nn.functional says of its tensors, and
-- what asks one tensor for itself.
local function types_of(key, name, args)
  if (key:find("^F%.") and name ~= "linear" or name == "__get__")
     and util.is_tensor(args[1]) then
    return V.tuple({attrs.get(args[1], "__class__")}, 1)
  end
  return V.tuple({}, 0)
end

function modes.run(key, name, f, args, kw, again)
  local mode = stack[#stack - aside]
  local types = types_of(key, name, args)
  aside = aside + 1
  local method
  local ok, out = pcall(function ()
    local own
    own, method = function_of(key, name, f, again == "itself")
    return calls.call(attrs.get(mode, "__torch_function__"), V.list({own, types,
      V.tuple({table.unpack(args, 1, args.n)}, args.n), kw or V.dict()}, 4))
  end)
  aside = aside - 1
  if method then given[method] = nil end
  if not ok then error(out, 0) end
  if out == V.not_implemented then
    util.raise("TypeError", "Multiple dispatch failed for '%s'; all "
      .. "__torch_function__ handlers returned NotImplemented", key)
  end
  return out
end

local function push(a)
  stack[#stack + 1] = a[1]
  watch.set_modes(modes)
  return None
end

local function pop()
  stack[#stack] = nil
  if #stack == 0 then watch.set_modes(nil) end
  return None
end

-- where(f): the name of a function of torch with its modules, or None.
local function where(a)
  local f = a[1]
  local key = type(f) == "table" and rawget(f, "qualified")
  if key then return key end
  local ok, name = pcall(attrs.get, f, "__name__")
  if ok and method_of(name) == f then return "torch.Tensor." .. name end
  key = looked_at.key_of(f)
  if not key then return None end
  return (key:gsub("^F%.", "torch.nn.functional."):gsub("^autograd%.",
    "torch.autograd."))
end

-- A program ended inside.
local function reset()
  stack, aside = {}, 0
  watch.set_modes(nil)
end

attrs.provide("_function_modes", attrs.namespace {push = builtin(push, "push"),
  pop = builtin(pop, "pop"), where = builtin(where, "where")})

return {reset = reset}
