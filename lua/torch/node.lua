-- SPDX-License-Identifier: MIT
-- torch/node.lua: grad_fn of tensors in Python programs: the nodes of the graph
-- of gradients, which print and are walked as PyTorch's are.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"

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

-- register_hook(f) of a node that adds to a leaf's gradient: f(grads of
-- inputs, grads of outputs) when it has.  Other nodes' hooks are refused.
local function register_hook(node)
  return V.builtin(function (a)
    local leaf, f = node:leaf(), a[1]
    if not leaf then
      util.raise("NotImplementedError", "register_hook of %s is not part of "
        .. "dtrepl: tensors have register_hook", node:name())
    end
    local remove = leaf:register_post_accumulate_grad_hook(function (p)
      V.call(f, V.list({V.tuple({}, 0), V.tuple({p.grad}, 1)}, 2))
    end)
    return attrs.namespace {remove = V.builtin(function ()
      remove()
      return dt.None
    end, "remove")}
  end, "register_hook")
end

local FIELDS = {
  next_functions = next_functions,
  register_hook = register_hook,
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
    __index = function (_, key) return FIELDS[key] and FIELDS[key](node) end,
    __tostring = function (t)
      return ("<%s object at %s>"):format(name, ("0x%x"):format(V.identity(t)))
    end})
  made[node:id()] = t
  return attrs.namespace(t)
end

-- of(t): grad_fn of a tensor, or None.
function M.of(t)
  local node = dt._grad_node(t)
  return node and wrapped(node) or dt.None
end

return M
