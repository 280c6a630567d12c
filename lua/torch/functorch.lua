-- SPDX-License-Identifier: MIT
-- torch/functorch.lua: torch.func for Python programs: grad,
-- grad_and_value, jacrev, jacfwd, vjp, vmap, functional_call; and jvp as far as
-- DTensors get with it in PyTorch 2.13: to an error.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local vmap = require "torch.vmap"
local stateless = require "dt.nn.stateless"

local M = {vmap = vmap.vmap}
local None, builtin = dt.None, V.builtin

local function argument(args, kw, i, name, default)
  local v = kw and V.dict_get(kw, name)
  if v == nil then v = args[i] end
  if v == nil then return default end
  return v
end

local depth = 0                     -- transforms whose function is running

-- For a scope: what runs in it is the function of one transform more.
local function enter()
  depth = depth + 1
  return setmetatable({}, {__close = function () depth = depth - 1 end})
end

-- Are gradients of `list` to be differentiated again: by a transform around
-- this one, or by the program, whose tensor is differentiated through?
local function is_nested(list) return depth > 0 or list.linked end

-- What stands for tensor v and is differentiated: of the graph of v, if any.
local function own_leaf(v, list)
  if v.requires_grad and dt.is_grad_enabled() then
    list.linked = true
    return v:view_as(v)
  end
  local t = v:detach()
  t.requires_grad = true
  return t
end

-- v with leaves of its own in place of its tensors, which go into `list`.
local function leaf_of(v, at, list)
  if util.is_tensor(v) or vmap.is_batched(v) then
    local hidden, t = vmap.leaf(v)
    if not hidden then t = own_leaf(v, list) end
    list[#list + 1] = t
    return hidden or t
  elseif V.is_dict(v) and not V.is_set(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, k, leaf_of(x, at, list)) end
    return d
  elseif V.is_seq(v) then
    local out = {}
    for i = 1, v.n do out[i] = leaf_of(v[i], at, list) end
    return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
  end
  return util.raise("ValueError", "expected a Tensor as argument %d", at)
end

-- The arguments with leaves of their own in place of some; the leaves; and
-- which arguments they are of.
local function leaves(args, which)
  local out, list, places = {}, {}, {}
  for i = 1, args.n do out[i] = args[i] end
  for k, at in ipairs(which) do
    at = at < 0 and at + args.n + 1 or at + 1
    out[at] = leaf_of(out[at], at - 1, list)
    places[k] = at
  end
  return V.list(out, args.n), list, places
end

-- v with gradients (in order, from got[next.i]) in place of its leaves.
local function in_place_of(v, got, next)
  if util.is_tensor(v) or vmap.is_batched(v) then
    next.i = next.i + 1
    local g = got[next.i]
    return vmap.is_batched(v) and vmap.wrap(g) or g
  elseif V.is_dict(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, k, in_place_of(x, got, next)) end
    return d
  end
  local out = {}
  for i = 1, v.n do out[i] = in_place_of(v[i], got, next) end
  return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
end

local function refuse_result(text)
  util.raise("RuntimeError", "grad_and_value(f)(*args): " .. text)
end

-- func of leaves, its value, and what comes beside it with has_aux.
local function forward(f, args, kw, has_aux)
  local guard <close> = dt.enable_grad()        -- luacheck: ignore guard
  local inside <close> = enter()                -- luacheck: ignore inside
  local out = V.call(f, args, kw)
  if not has_aux then return out end
  if not V.is_tuple(out) or out.n ~= 2 then
    refuse_result "output of function f should be a tuple: (output, aux) if has_aux is True"
  end
  return out[1], out[2]
end

-- The gradients of `list`, zeros for what `out` does not come of; `keep`: others
-- of the same graph are asked for after it.
local function gradients(out, list, cotangent, keep)
  local got = out.requires_grad and dt.autograd.grad({out}, list, {
    allow_unused = true, create_graph = is_nested(list), retain_graph = keep,
    grad_outputs = cotangent and {cotangent} or nil}) or {}
  for i, leaf in ipairs(list) do
    if not util.is_tensor(got[i]) then got[i] = dt.zeros_like(leaf) end
  end
  return got
end

-- What a function gave to be differentiated is one number.
local function check_scalar(out)
  if not (vmap.is_batched(out) or util.is_tensor(out)) then
    refuse_result("Expected f(*args) to return a Tensor, got "
      .. V.repr(attrs.get(out, "__class__")))
  elseif vmap.ndim(out) > 0 then
    refuse_result(("Expected f(*args) to return a scalar Tensor, got tensor with "
      .. "%d dims. Maybe you wanted to use the vjp or jacrev APIs instead?")
      :format(vmap.ndim(out)))
  end
end

local function grad_and_value(a, kw, finish)
  local f, argnums = argument(a, kw, 1, "func"), argument(a, kw, 2, "argnums", 0)
  local has_aux = argument(a, kw, 3, "has_aux", false)
  local which = type(argnums) == "number" and {argnums} or V.to_lua(argnums)
  return builtin(function (args, kwargs)
    local inner, list, places = leaves(args, which)
    local out, aux = forward(f, inner, kwargs, has_aux)
    check_scalar(out)
    local total = vmap.whole(out)       -- rows have leaves of their own
    if vmap.is_batched(out) then total = total:sum() end
    local got, next, each = gradients(total, list), {i = 0}, {}
    for k, at in ipairs(places) do
      each[k] = in_place_of(inner[at], got, next)
    end
    local value = vmap.whole(out)
    if not is_nested(list) then value = value:detach() end
    if vmap.is_batched(out) then value = vmap.wrap(value) end
    return finish(type(argnums) == "number" and each[1] or V.tuple(each), value,
      aux)
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
  local value = is_nested(list) and out or out:detach()
  local result = V.tuple {value, builtin(back, "vjp_fn")}
  if aux then result = V.tuple {result[1], result[2], aux} end
  return result
end, "vjp")

-- jacrev(func, argnums): one gradient for each element of the result.
-- jacfwd gives the same numbers.
local function jacobian(name)
  return builtin(function (a, kw)
    local f = argument(a, kw, 1, "func")
    local at = argument(a, kw, 2, "argnums", 0)
    return builtin(function (args, kwargs)
      local inner, list = leaves(args, {at})
      local out = forward(f, inner, kwargs)
      if not util.is_tensor(out) or #list ~= 1 then
        util.refuse("%s of several tensors is not part "
          .. "of dtrepl", name)
      end
      local rows, leaf, flat = {}, list[1], out:reshape({-1})
      for i = 1, flat:numel() do
        rows[i] = gradients(flat[i - 1], list, nil, true)[1]
      end
      local shape = {table.unpack(out.shape)}
      for _, n in ipairs(leaf.shape) do shape[#shape + 1] = n end
      if #rows == 0 then return dt.zeros(shape, {dtype = leaf.dtype}) end
      return dt.stack(rows):reshape(shape)
    end)
  end, name)
end
M.jacrev, M.jacfwd = jacobian "jacrev", jacobian "jacfwd"

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
  return util.refuse("jvp of plain tensors is not part "
    .. "of dtrepl")
end, "jvp")

-- names.lua hands torch.
function M.provide(torch)
  local own = {__name__ = "torch.func"}
  for _, name in ipairs {"grad", "grad_and_value", "jacfwd", "jacrev", "jvp", "vjp",
    "vmap"} do
    own[name] = M[name]
  end
  own.functional_call = stateless.functional_call
  torch.func = attrs.namespace(own)
  torch.vmap = M.vmap
  attrs.provide("torch.func", torch.func)
end

return M
