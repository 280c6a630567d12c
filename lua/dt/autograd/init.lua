-- SPDX-License-Identifier: MIT
-- dt/autograd/init.lua: torch.autograd: grad, backward, Function, and
-- callbacks that run when a backward pass is over.

local dt = require "dt"
local util = require "dt.util"
local packing = require "dt.autograd.packing"

local M = {}

-- autograd.grad(outputs, inputs, {grad_outputs=, retain_graph=,
-- allow_unused=}): a list of gradients; nothing is accumulated.
M.grad = dt._autograd_grad

-- ---- end of backward ----

local queue = {}
local passes, begun = {}, 0     -- that are under way, one inside the other; all

-- Run f when the backward pass that is under way has ended.
function M._queue_callback(f) queue[#queue + 1] = f end

-- The innermost pass that is under way, by its number; is pass `n` still?
function M._current_pass() return passes[#passes] end
function M._is_under_way(n)
  for _, pass in ipairs(passes) do
    if pass == n then return true end
  end
  return false
end

local function begin()
  begun = begun + 1
  passes[#passes + 1] = begun
end

local function finish(ok, ...)
  passes[#passes] = nil
  if #passes > 0 then
    if not ok then error(..., 0) end
    return
  end
  local list = queue
  queue = {}
  if not ok then error(..., 0) end
  for _, f in ipairs(list) do f() end
end

-- Callbacks are wanted: backward passes go through here from now on.
function M._watch_backward()
  M._watch_backward = function () end
  local method, all = dt.Tensor.backward, dt._autograd_backward
  dt.Tensor.backward = function (...)
    begin()
    finish(pcall(method, ...))
  end
  M.backward = function (...)
    begin()
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

-- What a context knows that the program, which may give it any attribute, does
-- not see: `pack`, and what its methods were told.
local hidden = setmetatable({}, {__mode = "k"})

-- The gradients that backward is given: one for each tensor of `shown`, zeros
-- (or dt.None) where there is none.
local function all_grads(ctx, shown, results, grads)
  local out, at = {}, 0
  for i, t in ipairs(shown) do
    if results[at + 1] == t then
      at = at + 1
      out[i] = grads[at]
    else
      out[i] = dt.None
    end
    if out[i] == dt.None and not hidden[ctx].keep_none then
      out[i] = dt.zeros_like(t:detach())
    end
  end
  return out
end

-- Forward brought the parts of all ranks together (the `results` are that many
-- times `own`), and backward gives a gradient without a collective.
local function look_at_gather(own, results, grad, back)
  local out = results[1]
  if util.is_tensor(own) and util.is_tensor(out) and util.is_tensor(grad)
     and util.is_tensor(back) and not out.placements
     and own:numel() > 0 and #results * out:numel() >= 2 * own:numel()
     and back:numel() == own:numel() then
    dt._gather_back(out, grad, back)
    return true
  end
end

-- Where a function's backward ends: the line of its last statement.
local function last_line(f)
  if type(f) == "function" then
    local info = debug.getinfo(f, "S")
    return info.source:gsub("^@", ""), info.lastlinedefined
  end
  f = type(f) == "table" and f.get or f
  local body = type(f) == "table" and rawget(f, "source") and f.source.body
  local file, line = (type(f) == "table" and rawget(f, "where") or ""):match "^(.*):(%d+)$"
  local last = type(body) == "table" and body[#body]
  return file, last and (last.line or last.first) or tonumber(line)
end

-- Is what backward gives the gradient of what forward, call `number`, communicated?
local function look_at_backward(class, number, given, out)
  if number == 0 then return end
  local file, line = last_line(class.backward)
  if file then
    dt._function_back(number, given, table.move(out, 1, out.n, 1, {}), class.name, file,
      line)
  end
end

local function run_backward(class, ...)
  if class.backward == nil then
    util.raise("NotImplementedError", "You must implement either the backward "
      .. "or vjp method for your custom autograd.Function to use it with "
      .. "backward mode AD.")
  end
  return table.pack(class.backward(...))
end

-- backward gives a gradient for each argument of forward; None may follow,
-- and in Lua the last ones may be left out.
local function check_count(class, out, want)
  local n = out.n
  while n > want and util.is_none(out[n]) do n = n - 1 end
  if n > want or n < want and rawget(class, "__python") then
    util.raise("RuntimeError", "function %sBackward returned an incorrect "
      .. "number of gradients (expected %d, got %d)", class.name, want, n)
  end
end

local Function = {}
M.Function = Function

local ctx_mt = {__index = {
  -- ctx:save_for_backward(...): tensors for backward, in ctx.saved_tensors
  save_for_backward = function (ctx, ...)
    local n = select("#", ...)
    hidden[ctx].saved = {n = n, ...}
    ctx.saved_tensors = hidden[ctx].pack({...}, n)
  end,
  save_for_forward = function () end,
  -- ctx:set_materialize_grads(false): a gradient that is not there is dt.None
  -- in backward, not zeros.
  set_materialize_grads = function (ctx, on)
    hidden[ctx].keep_none = not on
  end,
  -- ctx:mark_non_differentiable(...): results that have no gradient.
  mark_non_differentiable = function (ctx, ...)
    hidden[ctx].constant = {...}
  end,
  -- ctx:mark_dirty(...): inputs that forward changes in place and returns.
  mark_dirty = function (ctx, ...) hidden[ctx].dirty = {...} end,
}}

-- A context whose tensors went through saved_tensors_hooks: they are read through
-- them, each time.
local packed_mt = {__index = function (ctx, key)
  if key ~= "saved_tensors" then return ctx_mt.__index[key] end
  local list, readers = {}, hidden[ctx].readers
  for i = 1, readers.n do list[i] = readers[i]() or dt.None end
  return hidden[ctx].pack(list, readers.n)
end}

-- What forward kept, handed to the hooks, if there are any.
local function pack_saved(ctx)
  local list = hidden[ctx].saved
  hidden[ctx].saved = nil
  if not packing.active() or not list then return end
  local readers = {n = list.n}
  for i = 1, list.n do readers[i] = packing.keep(list[i]) end
  hidden[ctx].readers = readers
  rawset(ctx, "saved_tensors", nil)
  setmetatable(ctx, packed_mt)
end

local function as_list(list) return list end

-- _packed(list, n): the sequences that classes of Python programs are handed
-- (a tuple there, which the Python side puts here).
M._packed = as_list

local function has(list, t)
  for _, v in ipairs(list or {}) do if v == t then return true end end
  return false
end

-- A leaf that wants a gradient may not be what forward wrote into
-- (torch/csrc/autograd/custom_function.cpp: _process_backward_mode_ad@2.15).
local function check_dirty(dirty, inputs)
  for _, v in ipairs(dirty or {}) do
    if has(inputs, v) and v.is_leaf and v.requires_grad then
      util.raise("RuntimeError", "a leaf Variable that requires grad has been "
        .. "used in an in-place operation.")
    end
  end
end

-- forward of a class, and setup_context where it has one.
local function run_forward(class, ctx, args)
  local function call(...)
    local f = class.forward
    if rawget(class, "__python") and type(f) == "table" and f.get then
      return M._pack_call(f.get, ...)           -- of a static method
    end
    return table.pack(f(...))
  end
  if class.setup_context == nil then
    return call(ctx, table.unpack(args, 1, args.n))
  end
  local outs = call(table.unpack(args, 1, args.n))
  local pack = hidden[ctx].pack
  class.setup_context(ctx, pack({table.unpack(args, 1, args.n)}, args.n),
    outs.n == 1 and outs[1] or pack({table.unpack(outs, 1, outs.n)}, outs.n))
  return outs
end

-- A result that is an input as it is, is a view of it; so is what forward made as a
-- view, also of a tensor of its own.  Such a result may not be written where a
-- gradient is recorded, and of several results none that is a view
-- (torch/csrc/autograd/custom_function.cpp: _process_backward_mode_ad@2.15).
local function mark_views(outs, inputs, dirty, counted)
  for i = 1, outs.n do
    local t = outs[i]
    if util.is_tensor(t) and has(inputs, t) and not has(dirty, t) then
      outs[i] = t:detach()
      dt._function_view(outs[i], t, counted > 1)
    elseif util.is_tensor(t) and not has(dirty, t) then
      dt._function_view(t, nil, counted > 1)
    end
  end
end

-- Of how many results a gradient may come back.
local function count_differentiable(outs, constant)
  local n = 0
  for i = 1, outs.n do
    local t = outs[i]
    if util.is_tensor(t) and not has(constant, t)
       and (t:is_floating_point() or t:is_complex()) then
      n = n + 1
    end
  end
  return n
end

-- A tuple of one is no tensor.
local function give_results(outs)
  if outs.tuple and outs.n == 1 then return M._packed(outs, 1) end
  return table.unpack(outs, 1, outs.n)
end

-- Who looks at Functions of Python programs that are applied: f(class, run, …),
-- where run(…) applies it.
local watcher
function M._watch_apply(f) watcher = f end

-- A forward that raises ends, too.
local ends_if_failed = setmetatable({}, {__close = function (_, e)
  if e ~= nil then dt._function_ends(false, {}) end
end})

-- autograd.Function:extend("Name"): then define Name.forward(ctx, ...) and
-- Name.backward(ctx, grads...); call Name.apply(...).
-- A class of it can be extended in turn, by what it has at that moment.
function Function:extend(name)
  local class = {}
  for member, v in pairs(self) do
    if not member:find("^__") then class[member] = v end
  end
  class.name, class.extend = name or "Function", Function.extend
  class.__name = class.name
  -- Run forward, recording that backward is `class.backward`.
  local function apply(...)
    local args = table.pack(...)
    local pack = rawget(class, "__python") and M._packed or as_list
    local ctx = setmetatable({saved_tensors = pack({}, 0)}, ctx_mt)
    hidden[ctx] = {pack = pack}
    local inputs, wanted, needs = {}, {}, false
    for i = 1, args.n do
      local is = util.is_tensor(args[i])
      inputs[i] = is and args[i] or dt.None
      wanted[i] = is and args[i].requires_grad or false
      needs = needs or wanted[i]
    end
    ctx.needs_input_grad = pack(wanted, args.n)
    local outs
    local before = dt._raws()
    dt._function_begins(class.name, inputs)
    do
      local failed <close> = ends_if_failed       -- luacheck: ignore failed
      dt.no_grad(function ()
        outs = run_forward(class, ctx, args)
      end)
    end
    local gathers = dt._function_sent(before)
    if not needs or not dt.is_grad_enabled() then
      mark_views(outs, inputs, hidden[ctx].dirty, 0)
      dt._function_ends(false, {})
      return give_results(outs)
    end
    check_dirty(hidden[ctx].dirty, inputs)
    local results, shown = {}, {}     -- with a gradient, and all tensors
    local constant = hidden[ctx].constant
    mark_views(outs, inputs, hidden[ctx].dirty, count_differentiable(outs, constant))
    for i = 1, outs.n do
      if util.is_tensor(outs[i]) then
        shown[#shown + 1] = outs[i]
        if not has(constant, outs[i]) then
          results[#results + 1] = outs[i]
        end
      end
    end
    pack_saved(ctx)
    local number = dt._function_ends(gathers, shown)
    dt._custom_node(class.name .. "Backward", inputs, results,
      function (grads)
        local began = dt._raws()
        local given = all_grads(ctx, shown, results, grads)
        dt._function_turns(number)
        local out = run_backward(class, ctx, table.unpack(given))
        if not (gathers and dt._raws() == began
                and look_at_gather(inputs[1], results, grads[1], out[1])) then
          look_at_backward(class, number, given, out)
        end
        check_count(class, out, args.n)
        return bypass(class.name .. "Backward", inputs, wanted, out)
      end)
    return give_results(outs)
  end
  class.apply = function (...)
    if watcher and rawget(class, "__python") then
      return watcher(class, apply, ...)
    end
    return apply(...)
  end
  return class
end

return M
