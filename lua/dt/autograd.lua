-- SPDX-License-Identifier: MIT
-- dt/autograd.lua: torch.autograd: grad, backward, Function, and callbacks
-- that run when a backward pass is over.

local dt = require "dt"
local util = require "dt.util"

local M = {}

-- autograd.grad(outputs, inputs, {grad_outputs=, retain_graph=,
-- allow_unused=}): a list of gradients; nothing is accumulated.
M.grad = dt._autograd_grad

-- ---- end of backward ----

local queue, running = {}, 0

-- Run f when the backward pass that is under way has ended.
function M.queue_callback(f) queue[#queue + 1] = f end

local function finish(ok, ...)
  running = running - 1
  if running > 0 then
    if not ok then error(..., 0) end
    return
  end
  local list = queue
  queue = {}
  if not ok then error(..., 0) end
  for _, f in ipairs(list) do f() end
end

-- Callbacks are wanted: backward passes go through here from now on.
function M.watch_backward()
  M.watch_backward = function () end
  local method, all = dt.Tensor.backward, dt._autograd_backward
  dt.Tensor.backward = function (...)
    running = running + 1
    finish(pcall(method, ...))
  end
  M.backward = function (...)
    running = running + 1
    finish(pcall(all, ...))
  end
end

-- autograd.backward(tensors, grads, {retain_graph=})
function M.backward(...) return dt._autograd_backward(...) end

-- ---- autograd.Function ----

local gathered = setmetatable({}, {__mode = "k"})

-- _reduced(p): somebody reduces the gradient that autograd gives p over the
-- ranks (fully_shard).  Only so can it be noticed when none is given.
function M._reduced(p) gathered[p] = true end

local function bypass(name, inputs, wanted, grads)
  for i, p in ipairs(inputs) do
    if wanted[i] and gathered[p] and not util.is_tensor(grads[i]) then
      dt._finding("GRAD_BYPASS", p, ("%s gives no gradient for input %d, a "
        .. "parameter gathered by fully_shard"):format(name, i - 1), name)
    end
  end
  return grads
end

local Function = {}
M.Function = Function

local ctx_mt = {__index = {
  -- ctx:save_for_backward(...): tensors for backward, in ctx.saved_tensors
  save_for_backward = function (ctx, ...) ctx.saved_tensors = {...} end,
}}

-- autograd.Function:extend("Name"): then define Name.forward(ctx, ...) and
-- Name.backward(ctx, grads...); call Name.apply(...).
function Function:extend(name)
  local class = {name = name or "Function"}
  -- Run forward, recording that backward is `class.backward`.
  class.apply = function (...)
    local args = table.pack(...)
    local ctx = setmetatable({saved_tensors = {}, needs_input_grad = {}},
      ctx_mt)
    local inputs, needs = {}, false
    for i = 1, args.n do
      local is = util.is_tensor(args[i])
      inputs[i] = is and args[i] or dt.None
      ctx.needs_input_grad[i] = is and args[i].requires_grad or false
      needs = needs or ctx.needs_input_grad[i]
    end
    local outs
    dt.no_grad(function ()
      outs = table.pack(class.forward(ctx, table.unpack(args, 1, args.n)))
    end)
    if not needs or not dt.is_grad_enabled() then
      return table.unpack(outs, 1, outs.n)
    end
    local results = {}
    for i = 1, outs.n do
      for _, v in ipairs(inputs) do            -- an input returned as it is
        if v == outs[i] and util.is_tensor(v) then outs[i] = v:detach() end
      end
      if util.is_tensor(outs[i]) then results[#results + 1] = outs[i] end
    end
    dt._custom_node(class.name .. "Backward", inputs, results,
      function (grads)
        for i = 1, #grads do
          if grads[i] == dt.None then
            grads[i] = dt.zeros_like(results[i]:detach())
          end
        end
        return bypass(class.name .. "Backward", inputs, ctx.needs_input_grad,
          {class.backward(ctx, table.unpack(grads))})
      end)
    return table.unpack(outs, 1, outs.n)
  end
  return class
end

return M
