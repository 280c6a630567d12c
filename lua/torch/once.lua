-- SPDX-License-Identifier: MIT
-- torch/once.lua: torch.autograd.function.once_differentiable: a backward that
-- runs without a graph.  What it gives under create_graph=True looks as if it had
-- one, so that asking for its gradient raises and is not silently zero
-- (torch/autograd/function.py: once_differentiable@2.15).

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"

local Delayed = dt.autograd.Function:extend("DelayedError")

function Delayed.forward(_, ...) return ... end

function Delayed.backward()
  util.raise("RuntimeError", "trying to differentiate twice a function that was "
    .. "marked with @once_differentiable")
end

-- The gradients as leaves of their own, behind the node that raises.
local function guarded(out)
  local whole = V.is_tuple(out)
  local list, n = {out}, 1
  if whole then list, n = V.items(out) end
  local leaves, at = {}, {}
  for i = 1, n do
    if util.is_tensor(list[i]) then
      leaves[#leaves + 1], at[#at + 1] = list[i]:detach():requires_grad_(), i
    end
  end
  if #leaves == 0 then return out end
  local made, copy = table.pack(Delayed.apply(table.unpack(leaves))),
    {table.unpack(list, 1, n)}
  for k, i in ipairs(at) do copy[i] = made[k] end
  return whole and V.tuple(copy, n) or copy[1]
end

return V.builtin(function (a)
  local f = a[1]
  return V.builtin(function (args, kw)
    local out
    dt.no_grad(function () out = V.call(f, args, kw) end)
    if not dt.is_grad_enabled() or not util.any_wants_gradient(args) then return out end
    return guarded(out)
  end, "backward")
end, "once_differentiable")
