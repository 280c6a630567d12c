-- SPDX-License-Identifier: MIT
-- torch/functorch.lua: torch.func for Python programs: grad,
-- grad_and_value, jacrev, jacfwd, vjp, jvp, vmap, functional_call.  DTensors get
-- no further with jvp than in PyTorch 2.13: to an error.

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
    local hidden, t = vmap.leaf(v, function (x) return own_leaf(x, list) end)
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

-- What stands beside the value, without its history.
local function detached(v)
  if util.is_tensor(v) then return v:detach() end
  if vmap.is_batched(v) then return v end
  if not (V.is_dict(v) or V.is_seq(v)) then
    util.raise("RuntimeError", "Expected tensors, got unsupported type %s",
      V.repr(attrs.get(v, "__class__")))
  end
  if V.is_dict(v) then
    local d = V.dict()
    for k, x in V.each(v) do V.dict_set(d, k, detached(x)) end
    return d
  end
  local out = {}
  for i = 1, v.n do out[i] = detached(v[i]) end
  return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
end

-- The tensors of a tree, whole, in order.
local function tensors_in(v, out)
  out = out or {}
  if util.is_tensor(v) or vmap.is_batched(v) then
    out[#out + 1] = vmap.whole(v)
  elseif V.is_dict(v) then
    for _, x in V.each(v) do tensors_in(x, out) end
  elseif V.is_seq(v) then
    for i = 1, v.n do tensors_in(v[i], out) end
  end
  return out
end

-- `given` for `like`: what is the same for all rows of a vmap is so for each.
local function for_rows(given, like)
  for i, t in ipairs(given) do
    if like[i] and t.ndim < like[i].ndim and vmap.size then
      given[i] = t:expand_as(like[i])
    end
  end
  return given
end

-- The gradients of `list`, zeros for what `outs` do not come of; `keep`: others
-- of the same graph are asked for after it.
local function gradients(outs, list, cotangents, keep)
  local live, given = {}, cotangents and {}
  for i, out in ipairs(outs) do
    if out.requires_grad then
      live[#live + 1] = out
      if given then given[#live] = cotangents[i] end
    end
  end
  local got = #live > 0 and dt.autograd.grad(live, list, {
    allow_unused = true, create_graph = is_nested(list), retain_graph = keep,
    grad_outputs = given}) or {}
  for i, leaf in ipairs(list) do
    if not util.is_tensor(got[i]) then got[i] = dt.zeros_like(leaf) end
  end
  return got
end

-- The trees of inner[places[k]] with `got` in place of their tensors.
local function trees_of(inner, places, got)
  local next, each = {i = 0}, {}
  for k, at in ipairs(places) do each[k] = in_place_of(inner[at], got, next) end
  return V.tuple(each, #places)
end

-- A result as the program gets it: outside of all transforms without a graph.
local function value_of(out, list)
  if is_nested(list) then return out end
  local values = {}
  for i, t in ipairs(tensors_in(out)) do values[i] = t:detach() end
  return in_place_of(out, values, {i = 0})
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
    local each = trees_of(inner, places, gradients({total}, list))
    local value = vmap.whole(out)
    if not is_nested(list) then
      value, aux = value:detach(), aux and detached(aux)
    end
    if vmap.is_batched(out) then value = vmap.wrap(value) end
    return finish(type(argnums) == "number" and each[1] or each, value, aux)
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

-- Are two trees alike but for their tensors?
local function is_alike(a, b)
  if V.is_dict(a) or V.is_dict(b) then
    if not (V.is_dict(a) and V.is_dict(b) and V.count(a) == V.count(b)) then
      return false
    end
    for k, v in V.each(a) do
      local other = V.dict_get(b, k)
      if other == nil or not is_alike(v, other) then return false end
    end
  elseif V.is_seq(a) or V.is_seq(b) then
    if not (V.is_seq(a) and V.is_seq(b) and a.n == b.n
        and V.is_tuple(a) == V.is_tuple(b)) then
      return false
    end
    for i = 1, a.n do
      if not is_alike(a[i], b[i]) then return false end
    end
  end
  return true
end

local function check_tree(name, v)
  if #tensors_in(v) > 0 then return end
  util.raise("RuntimeError", "%s(f, *primals): Expected f(*primals) to return "
    .. "one or more Tensors, got %s", name, V.repr(attrs.get(v, "__class__")))
end

-- vjp(func, *primals) -> (func(*primals), cotangent -> gradients)
M.vjp = builtin(function (a, kw)
  local which = {}
  for i = 1, a.n - 1 do which[i] = i - 1 end
  local inner, list, places = leaves(V.list({table.unpack(a, 2, a.n)}, a.n - 1),
    which)
  local out, aux = forward(a[1], inner, nil,
    kw and V.dict_get(kw, "has_aux") or false)
  check_tree("vjp", out)
  local outs = tensors_in(out)
  local function back(b)
    if not is_alike(out, b[1]) then
      util.raise("RuntimeError", "Expected pytree structure of cotangents to be "
        .. "the same as pytree structure of outputs to the function.")
    end
    return trees_of(inner, places, gradients(outs, list,
      for_rows(tensors_in(b[1]), outs), true))
  end
  local result = V.tuple {value_of(out, list), builtin(back, "vjp_fn")}
  if aux then
    result = V.tuple {result[1], result[2], value_of(aux, list)}
  end
  return result
end, "vjp")

-- The gradients of one element of a result after the other, stacked: of each
-- leaf a tensor of the shapes of both; `hidden`: 1 for a result with a dim of a
-- vmap in front, whose rows have leaves of their own, else 0.
local function stacked(out, list, hidden)
  local rows, sizes = {}, {table.unpack(out.shape, hidden + 1)}
  local flat = out:reshape({hidden == 1 and out.shape[1] or 1, -1})
  for i = 1, flat.shape[2] do
    rows[i] = gradients({flat:select(1, i - 1):sum()}, list, nil, true)
  end
  local all = {}
  for k, leaf in ipairs(list) do
    local shape, of = {table.unpack(leaf.shape, 1, hidden)}, {}
    table.move(sizes, 1, #sizes, #shape + 1, shape)
    for d = hidden + 1, leaf.ndim do shape[#shape + 1] = leaf.shape[d] end
    for i, row in ipairs(rows) do of[i] = row[k] end
    all[k] = #of == 0 and dt.zeros(shape, {dtype = leaf.dtype})
      or dt.stack(of, hidden):reshape(shape)
  end
  return all
end

-- jacrev(func, argnums): one gradient for each element of the result.
-- jacfwd gives the same numbers.
local function jacobian(name)
  return builtin(function (a, kw)
    local f = argument(a, kw, 1, "func")
    local at = argument(a, kw, 2, "argnums", 0)
    local which = type(at) == "number" and {at} or V.to_lua(at)
    return builtin(function (args, kwargs)
      local inner, list, places = leaves(args, which)
      local out = forward(f, inner, kwargs)
      local whole = vmap.whole(out)
      if not util.is_tensor(whole) then
        util.refuse("%s of a function that gives several tensors is not part "
          .. "of dtrepl", name)
      end
      local each = trees_of(inner, places, stacked(whole, list,
        vmap.is_batched(out) and 1 or 0))
      return type(at) == "number" and each[1] or each
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

-- The change of `outs` with the leaves' tangents: the product with the Jacobian
-- from the left is linear in what it is multiplied with, and its derivative by
-- that is the product from the right.
local function changes(outs, list, tangents)
  local inside <close> = enter()                -- luacheck: ignore inside
  local weights, all = {}, {}
  for i, out in ipairs(outs) do
    weights[i] = dt.zeros_like(out:detach())
    weights[i].requires_grad = true
  end
  local products = gradients(outs, list, weights, true)
  local got = gradients(products, weights, tangents, true)
  for i = 1, #outs do all[i] = got[i] end
  return all
end

local function check_pair(primals, tangents)
  for _, v in ipairs {primals, tangents} do
    if not V.is_tuple(v) then
      util.raise("RuntimeError", "jvp(f, primals, tangents): Expected primals "
        .. "and tangents to be tuples")
    end
  end
  if not is_alike(primals, tangents) then
    util.raise("RuntimeError", "jvp(f, primals, tangents): Expected primals and "
      .. "tangents to have the same python structure. For example, if primals is "
      .. "a tuple of 3 tensors, tangents also must be.")
  end
  load_rules()
  for i = 1, primals.n do check_dual(primals[i], tangents[i] or None) end
end

-- jvp(func, primals, tangents) -> (func(*primals), its change)
M.jvp = builtin(function (a, kw)
  local primals = argument(a, kw, 2, "primals")
  local tangents = argument(a, kw, 3, "tangents")
  check_pair(primals, tangents)
  local guard <close> = dt.enable_grad()        -- luacheck: ignore guard
  local which = {}
  for i = 1, primals.n do which[i] = i - 1 end
  local inner, list = leaves(V.list({table.unpack(primals, 1,
    primals.n)}, primals.n), which)
  local out, aux = forward(argument(a, kw, 1, "func"), inner, nil,
    kw and V.dict_get(kw, "has_aux") or false)
  check_tree("jvp", out)
  local got = changes(tensors_in(out), list,
    for_rows(tensors_in(tangents), list))
  local change = in_place_of(out, got, {i = 0})
  return V.tuple {value_of(out, list), value_of(change, list),
    aux and value_of(aux, list)}
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
