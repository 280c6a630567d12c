-- SPDX-License-Identifier: MIT
-- dt/nn/backward_hooks.lua: hooks of a module on its gradients.  The inputs
-- and the outputs of a forward pass a node of their own; when backward comes
-- to the outputs' node the gradients are kept, and at the inputs' node the
-- hooks are called with both.  Other values than tensors count as none.

local dt = require "dt"
local util = require "dt.util"
local nnm = require "dt.nn.module"

local M = {}

local NO_INPUT = "Full backward hook is firing when gradients are computed "
  .. "with respect to module outputs since no inputs require gradients. See "
  .. "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
  .. "#torch.nn.Module.register_full_backward_hook for more details."

-- Makes zeros like t; it holds a distributed tensor only.
local function zeros_for(t)
  if util.is_dtensor(t) then
    return function () return dt.zeros_like(t) end
  end
  local shape, kw = {table.unpack(t.shape)}, {dtype = t.dtype}
  return function () return dt.zeros(shape, kw) end
end

-- Tensors of a list of values go through a node whose backward is f(grads);
-- returns the new values, where the tensors are, or nil when none learns, and
-- a function that puts zeros for the gradients that are missing.  What does not
-- learn has none.
local function through(values, n, f)
  local ins, at, learning, zeros = {}, {}, {}, {}
  for i = 1, n do
    if util.is_tensor(values[i]) then
      ins[#ins + 1], at[#at + 1] = values[i], i
      if values[i].requires_grad then learning[#learning + 1] = #ins end
    end
  end
  if #learning == 0 or not dt.is_grad_enabled() then return values, nil end
  local outs, followed = {}, {}
  dt.no_grad(function ()
    for k, t in ipairs(ins) do outs[k] = t:view(t.shape) end
  end)
  if M.same then
    for k, t in ipairs(ins) do M.same(t, outs[k]) end
  end
  for j, k in ipairs(learning) do followed[j] = outs[k] end
  for k, t in ipairs(ins) do zeros[k] = zeros_for(t) end
  dt._custom_node("BackwardHookFunctionBackward", ins, followed,
    function (grads)
      local all = {}
      for k = 1, #zeros do all[k] = dt.None end
      for j, k in ipairs(learning) do all[k] = grads[j] end
      return f(all)
    end)
  local new = {n = values.n}
  for i = 1, values.n do new[i] = values[i] end
  for k, i in ipairs(at) do new[i] = outs[k] end
  return new, at, function (grads)
    for k, make in ipairs(zeros) do
      if grads[k] == dt.None then grads[k] = make() end
    end
    return grads
  end
end

-- A list of n with the gradients at their places and None elsewhere.
local function spread(grads, at, n)
  local out = {n = n}
  for i = 1, n do out[i] = dt.None end
  for k, i in ipairs(at or {}) do out[i] = grads[k] end
  return out
end

-- What a hook returned, as a list: several values, or one list of them.
local function listed(new)
  local one = new[1]
  if new.n == 1 and type(one) == "table" and getmetatable(one) == nil then
    one.n = one.n or #one
    return one
  end
  return new
end

-- Each hook in turn may replace what the next one is given.
local function run(hooks, values, what, call)
  for _, hook in ipairs {table.unpack(hooks)} do
    local new = table.pack(call(hook.f, values))
    if new.n > 0 and new[1] ~= nil then
      new = listed(new)
      if new.n ~= values.n then
        util.raise("RuntimeError", "Backward %s returned an invalid number of "
          .. "%s, got %d, but expected %d", what[1], what[2], new.n, values.n)
      end
      values = new
    end
  end
  return values
end

local HOOK, PRE = {"hook", "grad_input"}, {"pre hook", "grad_output"}

-- look(hooks): who wants to see a module's hooks before they are used;
-- same(from, to): who keeps notes about tensors, which the nodes hand on.
M.look, M.same = nil, nil

-- Begin a forward of m with `args`; returns the arguments it runs with and a
-- function for its outputs.
function M.watch(m, hooks, args)
  local kept, inputs, outputs, fill, fill_outputs
  if M.look then M.look(hooks) end
  local last = args[args.n]
  local n = args.n - (args.n > 0 and util.is_kwargs(last) and 1 or 0)
  local function call(f, values) return f(m, values, kept) end
  args, inputs, fill = through(args, n, function (grads)
    fill(grads)
    if not kept then return grads end
    local got = run(hooks.full, spread(grads, inputs, n), HOOK, call)
    kept = nil
    local out = {}
    for k, i in ipairs(inputs) do out[k] = got[i] end
    return out
  end)
  return args, function (outs)
    outs, outputs, fill_outputs = through(outs, outs.n, function (grads)
      kept = run(hooks.pre, spread(grads, outputs, outs.n), PRE,
        function (f, values) return f(m, values) end)
      local out = {}
      for k, i in ipairs(outputs) do out[k] = kept[i] end
      if not inputs then
        dt._warn(NO_INPUT)
        run(hooks.full, spread({}, nil, n), HOOK, call)
        kept = nil
      end
      return fill_outputs(out)
    end)
    return outs
  end
end

local function hooks_of(m)
  local hooks = rawget(m, "_backward_hooks")
  if not hooks then
    hooks = {full = {}, pre = {}}
    rawset(m, "_backward_hooks", hooks)
  end
  return hooks
end

-- m:register_full_backward_hook(f, {prepend=}): f(module, grad_input,
-- grad_output), both lists; returns nothing, or the inputs' new gradients.
function nnm.Module:register_full_backward_hook(f, kw)
  return nnm.add_hook(hooks_of(self).full, f, kw)
end

-- m:register_full_backward_pre_hook(f, {prepend=}): f(module, grad_output)
-- returns nothing, or the outputs' new gradients.
function nnm.Module:register_full_backward_pre_hook(f, kw)
  return nnm.add_hook(hooks_of(self).pre, f, kw)
end

nnm.gradient_hooks.watch = M.watch

return M
