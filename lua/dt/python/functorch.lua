-- SPDX-License-Identifier: MIT
-- dt/python/functorch.lua: torch.func for Python programs: grad,
-- grad_and_value, vjp, vmap, functional_call; and jvp as far as DTensors get
-- with it in PyTorch 2.13: to an error.  Gradients of gradients are not here.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.python.values"
local attrs = require "dt.python.attrs"
local vmap = require "dt.python.vmap"

local M = {vmap = vmap.vmap}
local None, builtin = dt.None, V.builtin

local function argument(args, kw, i, name, default)
  local v = kw and V.dict_get(kw, name)
  if v == nil then v = args[i] end
  if v == nil then return default end
  return v
end

-- The arguments with leaves of their own in place of some.
local function leaves(args, which)
  local out, list = {}, {}
  for i = 1, args.n do out[i] = args[i] end
  for k, at in ipairs(which) do
    at = at < 0 and at + args.n + 1 or at + 1
    if not util.is_tensor(out[at]) then
      util.raise("ValueError", "expected a Tensor as argument %d", at - 1)
    end
    out[at] = out[at]:detach()
    out[at].requires_grad = true
    list[k] = out[at]
  end
  return V.list(out, args.n), list
end

-- func of leaves, its value, and what comes beside it with has_aux.
local function forward(f, args, kw, has_aux)
  local guard <close> = dt.enable_grad()        -- luacheck: ignore guard
  local out = V.call(f, args, kw)
  if has_aux then return out[1], out[2] end
  return out
end

local function gradients(out, list, cotangent)
  local got = dt.autograd.grad({out}, list, {allow_unused = true,
    grad_outputs = cotangent and {cotangent} or nil})
  for i, leaf in ipairs(list) do
    if not util.is_tensor(got[i]) then got[i] = dt.zeros_like(leaf) end
  end
  return got
end

local function grad_and_value(a, kw, finish)
  local f, argnums = argument(a, kw, 1, "func"), argument(a, kw, 2, "argnums", 0)
  local has_aux = argument(a, kw, 3, "has_aux", false)
  local which = type(argnums) == "number" and {argnums} or V.to_lua(argnums)
  return builtin(function (args, kwargs)
    local inner, list = leaves(args, which)
    local out, aux = forward(f, inner, kwargs, has_aux)
    if not util.is_tensor(out) or out.ndim > 0 then
      util.raise("RuntimeError", "Expected f(*args) to return a scalar tensor, "
        .. "got tensor with %d dims. Did you forget to set has_aux=True?",
        util.is_tensor(out) and out.ndim or 0)
    end
    local got = gradients(out, list)
    return finish(type(argnums) == "number" and got[1] or V.tuple(got),
      out:detach(), aux)
  end)
end

M.grad = builtin(function (a, kw)
  return grad_and_value(a, kw, function (g, _, aux)
    return aux and V.tuple {g, aux} or g
  end)
end, "grad")

M.grad_and_value = builtin(function (a, kw)
  return grad_and_value(a, kw, function (g, v, aux)
    return V.tuple {g, aux and V.tuple {v, aux} or v}
  end)
end, "grad_and_value")

-- vjp(func, *primals) -> (func(*primals), cotangent -> gradients)
M.vjp = builtin(function (a, kw)
  local which = {}
  for i = 1, a.n - 1 do which[i] = i - 1 end
  local inner, list = leaves(V.list({table.unpack(a, 2, a.n)}, a.n - 1), which)
  local out, aux = forward(a[1], inner, nil,
    kw and V.dict_get(kw, "has_aux") or false)
  local function back(b) return V.tuple(gradients(out, list, b[1])) end
  local result = V.tuple {out:detach(), builtin(back, "vjp_fn")}
  if aux then result = V.tuple {result[1], result[2], aux} end
  return result
end, "vjp")

-- ---- jvp ----

-- The first use loads PyTorch's rules, six of which say this.
local loaded = false
local function load_rules()
  if loaded then return end
  loaded = true
  for _ = 1, 6 do
    dt._warn("`torch.jit.script` is deprecated. Please switch to "
      .. "`torch.compile` or `torch.export`.")
  end
end

-- A primal and its tangent are compared by an operator that DTensors lack.
local function check_dual(p, t)
  if not (util.is_dtensor(p) or util.is_dtensor(t)) then return end
  local op = "aten._has_same_storage_numel.default"
  if util.is_dtensor(p) and util.is_dtensor(t) then
    util.raise("NotImplementedError", "Operator %s does not have a sharding "
      .. "strategy registered.", op)
  end
  util.raise("RuntimeError", "%s got mixed torch.Tensor and DTensor, need to "
    .. "convert all torch.Tensor to DTensor before calling distributed "
    .. "operators!", op)
end

M.jvp = builtin(function (a, kw)
  local primals = argument(a, kw, 2, "primals")
  local tangents = argument(a, kw, 3, "tangents")
  load_rules()
  for i = 1, primals.n do check_dual(primals[i], tangents[i] or None) end
  return util.raise("NotImplementedError", "jvp of plain tensors is not part "
    .. "of dtrepl")
end, "jvp")

-- names.lua hands torch.
function M.provide(torch)
  local own = {__name__ = "torch.func"}
  for _, name in ipairs {"grad", "grad_and_value", "jvp", "vjp", "vmap"} do
    own[name] = M[name]
  end
  own.functional_call = require("dt.nn.stateless").functional_call
  torch.func = attrs.namespace(own)
  torch.vmap = M.vmap
  attrs.provide("torch.func", torch.func)
end

return M
