-- SPDX-License-Identifier: MIT
-- torch/node.lua: grad_fn of tensors in Python programs: the nodes of the graph
-- of gradients, which print and are walked as PyTorch's are.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local autograd = require "dt.autograd"

local M = {}
local made = setmetatable({}, {__mode = "v"})       -- by the node's number

local wrapped

local function next_functions(node)
  local list = node:next()
  for i, edge in ipairs(list) do
    list[i] = V.tuple({edge[1] and wrapped(edge[1]) or dt.None, edge[2]}, 2)
  end
  return V.tuple(list, #list)
end

-- What takes a hook away: handle.remove(), or `with handle:`.
local function handle(remove)
  return attrs.namespace {remove = V.builtin(function ()
    remove()
    return dt.None
  end, "remove")}
end

local function tuple_of(list) return V.tuple({table.unpack(list)}, #list) end

-- What a hook gave in the place of gradients: a list of as many.
local function replaced(f, given, list)
  if given == dt.None then return nil end
  local items, n = V.is_seq(given) and V.items(given) or {given},
    V.is_seq(given) and given.n or 1
  if n ~= #list then
    util.raise("RuntimeError", "hook '%s' has returned an incorrect number of "
      .. "values (got %d, but expected %d)", attrs.get(f, "__name__"), n, #list)
  end
  return {table.unpack(items, 1, n)}
end

-- register_hook(f) of a node that adds to a leaf's gradient: f(grads of
-- inputs, grads of outputs) when it has; of any other node: the same when it
-- has run, and what f gives takes the place of the inputs' gradients.
local function register_hook(node)
  return V.builtin(function (a)
    local leaf, f = node:leaf(), a[1]
    if leaf then
      return handle(leaf:register_post_accumulate_grad_hook(function (p)
        V.call(f, V.list({V.tuple({}, 0), V.tuple({p.grad}, 1)}, 2))
      end))
    end
    return handle(node:hook(function (gin, gout)
      return replaced(f, V.call(f, V.list({tuple_of(gin), tuple_of(gout)},
        2)), gin)
    end))
  end, "register_hook")
end

-- register_prehook(f): f(grads of outputs) before it runs.
local function register_prehook(node)
  return V.builtin(function (a)
    local f = a[1]
    return handle(node:hook(function (_, gout)
      return replaced(f, V.call(f, V.list({tuple_of(gout)}, 1)), gout)
    end, true))
  end, "register_prehook")
end

-- What a program keeps at a node, as anomaly detection does: by its number, which
-- no other node gets.  Nothing else holds these dicts.
local metadata = {}

local FIELDS = {
  metadata = function (node)
    local d = metadata[node:id()] or V.dict()
    metadata[node:id()] = d
    return d
  end,
  next_functions = next_functions,
  register_hook = register_hook,
  register_prehook = register_prehook,
  name = function (node)
    return V.builtin(function ()
      return node:leaf() and "torch::autograd::AccumulateGrad" or node:name()
    end, "name")
  end,
  variable = function (node) return node:leaf() end,
}

function wrapped(node)
  local known = made[node:id()]
  if known then return known end
  local name = node:name()
  local t = setmetatable({}, {__name = name,
    __index = function (_, key)
      if type(key) == "string" and key:find "^_r?a?w?_?saved_" then
        util.refuse("what a node has saved (%s.%s) is not part of dtrepl",
          name, key)
      end
      return FIELDS[key] and FIELDS[key](node)
    end,
    __tostring = function (t)
      return ("<%s%s object at %s>"):format(name:find "Backward$" and "torch.autograd.function."
        or "", name, ("0x%x"):format(V.identity(t)))
    end})
  made[node:id()] = t
  return attrs.namespace(t)
end

-- For torch.autograd.anomaly_mode (pylib): see_nodes(f): f(gradients of inputs,
-- name) for each node that has run backwards; None: nobody is told.
attrs.provide("_nodes", attrs.namespace {
  see = V.builtin(function (a)
    local f = a[1]
    dt._see_nodes(f ~= dt.None and function (gin, _, name)
      V.call(f, V.list({tuple_of(gin), name}, 2))
    end or nil)
    return dt.None
  end, "see"),
  swap = V.builtin(function (a)
    dt._swap(a[1], a[2])
    return dt.None
  end, "swap")})

-- The tensors that get_gradient_edge (pylib) was asked for, by the edge; and
-- at_end(f): f() when the pass that is under way has ended, once watch() was called.
local asked = setmetatable({}, {__mode = "k"})
attrs.provide("_edges", attrs.namespace {
  keep = V.builtin(function (a)
    asked[a[1]] = a[2]
    return a[1]
  end, "keep"),
  watch = V.builtin(function ()
    autograd._watch_backward()
    return dt.None
  end, "watch"),
  at_end = V.builtin(function (a)
    autograd._queue_callback(function () V.call(a[1], V.list({}, 0)) end)
    return dt.None
  end, "at_end")})

-- tensors_of(v): v, or a sequence like it, with tensors for edges of the graph.
function M.tensors_of(v)
  if v == nil or util.is_tensor(v) or not V.is_seq(v) then return v end
  if not V.type_name(v):find "GradientEdge$" then
    local items, out = V.items(v), {}
    for i = 1, v.n do out[i] = M.tensors_of(items[i]) end
    return V.list(out, v.n)
  end
  local node, t = attrs.get(v, "node"), asked[v]
  if t and (M.of(t) == node or M.of(t) == dt.None) then return t end
  t = node ~= dt.None and attrs.get(node, "variable")
  if util.is_tensor(t) then return t end
  util.refuse("a GradientEdge that get_gradient_edge did not give is not part of "
    .. "dtrepl")
end

-- of(t): grad_fn of a tensor, or None.
function M.of(t)
  local node = dt._grad_node(t)
  return node and wrapped(node) or dt.None
end

return M
