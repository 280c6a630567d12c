-- SPDX-License-Identifier: MIT
-- torch/dispatch_modes.lua: torch.utils._python_dispatch.TorchDispatchMode: while
-- one is entered, each operator goes through its __torch_dispatch__, below
-- autograd, in the dispatcher's place, the innermost first; inside of it the
-- next one sees.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local operators_called = require "torch.operators_called"

local None, builtin = dt.None, V.builtin
local stack, overloads = {}, {}

local function overload(full)
  if not overloads[full] then
    local at = dt.ops
    for part in full:gmatch "[^.]+" do at = at[part] end
    overloads[full] = at
  end
  return overloads[full]
end

local function is_distributed(list)
  for _, v in ipairs(list) do
    if util.is_tensor(v) and v.placements then return true end
    if type(v) == "table" and getmetatable(v) == nil and is_distributed(v) then
      return true
    end
  end
  return false
end

local function types_of(list)
  if not is_distributed(list) then return V.tuple({}, 0) end
  return V.tuple({attrs.get(attrs.module "torch.distributed.tensor", "DTensor")},
    1)
end

local function check_tensor(v)
  if not util.is_tensor(v) and not util.is_none(v) then
    util.raise("RuntimeError", "Unable to cast %s to Tensor", V.str(v))
  end
end

local function check_list(out)
  local good = V.is_seq(out)
  for i = 1, good and out.n or 0 do
    good = good and util.is_tensor(V.items(out)[i])
  end
  if not good then
    util.raise("RuntimeError", "Unable to cast Python instance of type %s to C++ "
      .. "type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug "
      .. "mode for details)", V.repr(attrs.get(out, "__class__")))
  end
end

-- What a mode gave is what the operator gives: a list, or `wanted` tensors.
local function check_results(full, out, is_list, wanted)
  if is_list then
    check_list(out)
  elseif wanted == 1 then
    check_tensor(out)
  elseif wanted > 1 then
    if not V.is_seq(out) then
      util.raise("RuntimeError", "Object of type '%s' is not an instance of "
        .. "'sequence'", V.type_name(out))
    elseif out.n ~= wanted then
      util.raise("RuntimeError", "a TorchDispatchMode gave %d results for %s, "
        .. "which has %d", out.n, full, wanted)
    end
    for i = 1, wanted do check_tensor(V.items(out)[i]) end
  end
end

-- The function that gives an operator's results.
local function ask(which, full, list, n, keywords, is_list, wanted)
  local args, kw = {}, V.dict()
  for i = 1, n do args[i] = operators_called.argument(list[i]) end
  for name, v in pairs(keywords) do
    V.dict_set(kw, name, operators_called.argument(v))
  end
  local out = V.call(attrs.get(stack[which], "__torch_dispatch__"),
    V.list({overload(full), types_of(list), V.tuple(args, n), kw}, 4))
  if out == V.not_implemented then
    if is_distributed(list) then
      util.raise("NotImplementedError", "a TorchDispatchMode that leaves %s of "
        .. "DTensors to them (NotImplemented) is not part of dtrepl", full)
    end
    util.raise("TypeError", "Multiple dispatch failed for 'torch._ops.%s'; all "
      .. "__torch_dispatch__ handlers returned NotImplemented", full)
  end
  check_results(full, out, is_list, wanted)
  if not V.is_seq(out) then return out end
  local items = V.items(out)
  if #items == 0 and is_list then return end
  return table.unpack(items, 1, out.n)
end

local function push(a)
  local level = dt._dispatch_modes(1, ask)
  table.insert(stack, level, a[1])
  return None
end

local function pop()
  local level = dt._dispatch_modes(0)
  table.remove(stack, level)
  dt._dispatch_modes(-1)
  return None
end

-- current(): the innermost mode, or None.
local function current()
  return stack[dt._dispatch_modes(0)] or None
end

-- A program ended inside.
local function reset()
  stack = {}
  dt._dispatch_modes(-dt._dispatch_modes(0))
end

attrs.provide("_dispatch_modes", attrs.namespace {push = builtin(push, "push"),
  pop = builtin(pop, "pop"), current = builtin(current, "current")})

return {reset = reset}
