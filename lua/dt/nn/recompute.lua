-- SPDX-License-Identifier: MIT
-- dt/nn/recompute.lua: torch.utils.checkpoint: activation checkpoints.
--
-- A region's activations are not kept: when the backward pass reaches the
-- region, its forward runs again.  Without reentrance the graph is the one of
-- the first forward, and the second one runs just before the region's last
-- node does; with it the region is one node whose backward runs the forward
-- again and a backward pass of its own.  Without reentrance the second forward
-- begins when backward first reads a tensor that was kept, and (early_stop) it
-- ends when the last of them is there again.  The detached copies that PyTorch
-- makes of each are not seen here: tensors are kept as they are.

local dt = require "dt"
local util = require "dt.util"
local autograd = require "dt.autograd"
local packing = require "dt.autograd.packing"
local nnm = require "dt.nn.module"

local M = {}

-- What is said when a program leaves use_reentrant out.
local unsaid = "torch.utils.checkpoint: the use_reentrant parameter should be "
  .. "passed explicitly. Starting in PyTorch 2.9, calling checkpoint without "
  .. "use_reentrant will raise an exception. use_reentrant=False is "
  .. "recommended, but if you need to preserve the current default behavior, "
  .. "you can pass use_reentrant=True. Refer to docs for more details on the "
  .. "differences between the two variants."

-- Positional arguments and keywords, which may be there and empty.
local function split(...)
  local args, kw = util.split(...)
  local last = args[args.n]
  if type(last) == "table" and getmetatable(last) == nil
     and next(last) == nil and not util.is_value(last) then
    args[args.n], args.n = nil, args.n - 1
  end
  return args, kw
end

-- Inputs of a second forward: the same values, no part of the first graph.
local function detached(args)
  local out = {n = args.n}
  for i = 1, args.n do
    local t = args[i]
    if util.is_tensor(t) then
      out[i] = t:detach()
      out[i].requires_grad = t.requires_grad
    else
      out[i] = t
    end
  end
  return out
end

local function on_graph(f, args)
  local guard <close> = dt.enable_grad()        -- luacheck: ignore guard
  return table.pack(f(table.unpack(args, 1, args.n)))
end

-- What a second forward draws is what the first one drew (preserve_rng_state),
-- and what is drawn after it does not know of it.
local put_back = {__close = function (self) dt._rng(self.state) end}

local function as_drawn(state)
  if not state then return nil end
  local now = dt._rng()
  dt._rng(state)
  return setmetatable({state = now}, put_back)
end

-- ---- with a graph of the first forward ----

-- A second forward that keeps what `found` operators need is no repetition of one
-- that kept what `kept` need.
local function compare(kept, found)
  if found < kept then
    util.raise("CheckpointError", "torch.utils.checkpoint: A different number of "
      .. "tensors was saved during the original forward and recomputation.\n"
      .. "Operators that saved some during forward: %d\n"
      .. "Operators that saved some during recomputation: %d.", kept, found)
  elseif found > kept then
    util.raise("CheckpointError", "torch.utils.checkpoint: trying to save more "
      .. "tensors during recomputation than during the original forward pass.")
  end
end

-- The forward again; `early`: up to the last operator that keeps something.
local function rebuild(f, args, kept, early, state)
  local _, old = dt._saving_end(early and kept or 0)
  local drawn <close> = as_drawn(state)         -- luacheck: ignore drawn
  local aside <close> = packing.aside()         -- luacheck: ignore aside
  local before = dt._saving()
  local ok, why = pcall(on_graph, f, args)
  local found = dt._saving() - before
  local ended = dt._saving_end(0, old)
  if not ok and not ended then error(why, 0) end
  if not ended then compare(kept, found) end
end

-- What a region keeps is not there between its two forwards: no copies.
local restore = {__close = function (self) dt._saving_end(0, self.old) end}

local function first_forward(f, args)
  local _, old = dt._saving_end(-1)
  if old > 0 then dt._saving_end(0, old) end    -- inside a second forward
  local guard <close> = setmetatable({old = old}, restore) -- luacheck: ignore
  local aside <close> = packing.aside()         -- luacheck: ignore aside
  return table.pack(f(table.unpack(args, 1, args.n)))
end

-- The arguments, of which tensors went through the hooks for what is kept.
local function readers_of(args)
  if not packing.active() then return function () return args end end
  local kept = {n = args.n}
  for i = 1, args.n do kept[i] = packing.keep(args[i]) end
  return function ()
    local out = {n = args.n}
    for i = 1, args.n do out[i] = kept[i]() end
    return out
  end
end

local function without_reentrance(f, args, early, state, again_f)
  local before = dt._saving()
  local read = readers_of(args)
  local outs = first_forward(f, args)
  local kept = dt._saving() - before
  if not dt.is_grad_enabled() or not util.any_wants_gradient(outs) or kept == 0 then
    return outs
  end
  local again = false
  local function reached()
    if again then return end
    again = true
    autograd._queue_callback(function () again = false end)
    rebuild(again_f or f, read(), kept, early, state)
  end
  for i = 1, outs.n do
    local t = outs[i]
    if util.is_tensor(t) and t.requires_grad then dt._hook_saved(t, reached) end
  end
  return outs
end

-- ---- as one node ----

local function again(f, args, state)
  local drawn <close> = as_drawn(state)         -- luacheck: ignore drawn
  return on_graph(f, args)
end

local function with_reentrance(f, args, _, state)
  local outs
  dt.no_grad(function ()
    outs = table.pack(f(table.unpack(args, 1, args.n)))
  end)
  if not dt.is_grad_enabled() then return outs end
  if not util.any_wants_gradient(args) then
    dt._warn("None of the inputs have requires_grad=True. Gradients will be "
      .. "None")
    return outs
  end
  local ins, results, read = {}, {}, readers_of(args)
  for i = 1, args.n do
    ins[i] = util.is_tensor(args[i]) and args[i] or dt.None
  end
  for i = 1, outs.n do
    local out = outs[i]
    for _, v in ipairs(ins) do          -- an input given back as it is: a node
      if util.is_tensor(v) and v == out then outs[i] = v:detach() end  -- on it
    end                                 -- would hold itself
    if util.is_tensor(out) then results[#results + 1] = outs[i] end
  end
  dt._custom_node("CheckpointFunctionBackward", ins, results,
    function (grads)
      local given = detached(read())
      local second, roots, with = again(f, given, state), {}, {}
      local k = 0
      for i = 1, second.n do
        if util.is_tensor(second[i]) then
          k = k + 1
          if second[i].requires_grad and grads[k] ~= dt.None then
            roots[#roots + 1], with[#with + 1] = second[i], grads[k]
          end
        end
      end
      if #roots == 0 then
        util.raise("RuntimeError", "none of output has requires_grad=True, "
          .. "this checkpoint() is not necessary")
      end
      autograd.backward(roots, with)
      local back = {grads_of = true}
      for i = 1, args.n do
        back[i] = util.is_tensor(given[i]) and given[i] or dt.None
      end
      return back
    end)
  return outs
end

-- Does a second forward end early, where checkpoint does not say?
M.early_stop = true

local options = {use_reentrant = true, preserve_rng_state = true,
  context_fn = true, determinism_check = true, debug = true,
  early_stop = true}

-- in_contexts(context_fn, f) -> f in the first forward, f in the second one; nil:
-- context_fn is not looked at.
M.in_contexts = nil

-- f inside of what context_fn gives, for the two forwards.
local function in_contexts(own, reentrant, f)
  if util.is_none(own.context_fn) or not M.in_contexts then return f, nil end
  if reentrant then
    util.raise("ValueError", "Passing `context_fn`, `debug`, or "
      .. "`respect_saved_tensors_hooks` is only supported when "
      .. "use_reentrant=False.")
  end
  return M.in_contexts(own.context_fn, f)
end

-- look(f, args): who wants to see what a reentrant checkpoint is given.
M.look = nil

-- checkpoint(f, ..., {use_reentrant =, preserve_rng_state =, context_fn =,
-- determinism_check =, debug =}): f(...), whose activations are made again
-- for backward.  Other keywords are f's.
function M.checkpoint(f, ...)
  autograd._watch_backward()
  local args, kw = split(...)
  local own, rest = {}, {}
  for key, v in pairs(kw) do
    if options[key] then own[key] = v else rest[key] = v end
  end
  local reentrant = own.use_reentrant
  if util.is_none(reentrant) then
    dt._warn(unsaid)
    reentrant = true
  end
  if next(rest) then
    if reentrant then
      local names = table.concat(util.sorted_keys(rest), ",")
      util.raise("ValueError", "Unexpected keyword arguments: %s", names)
    end
    args.n = args.n + 1
    args[args.n] = rest
  end
  local early = M.early_stop
  if own.early_stop ~= nil then early = own.early_stop end
  if reentrant and M.look then M.look(f, args) end
  local before, keeps = dt._rng(), own.preserve_rng_state ~= false
  local first, second = in_contexts(own, reentrant, f)
  local outs = (reentrant and with_reentrance or without_reentrance)(first, args,
    early, keeps and before or nil, second)
  if not keeps and dt.is_grad_enabled() and dt._rng() ~= before then
    dt._finding("DRAWS_AGAIN", nil,
      "preserve_rng_state=False, and its forward draws random numbers",
      "checkpoint")
  end
  return table.unpack(outs, 1, outs.n)
end

-- ---- wrapped modules ----

local Wrapper = nnm.Module:extend("CheckpointWrapper")

-- A state_dict has the names of the module inside.
Wrapper.unnamed_in_states = "_checkpoint_wrapped_module"

function Wrapper:__init__(module, kw)
  self._checkpoint_wrapped_module = module
  self.use_reentrant = kw ~= nil
    and kw.checkpoint_impl == M.CheckpointImpl.REENTRANT
  self.how = {}
  for key in pairs(options) do
    if kw and key ~= "use_reentrant" then self.how[key] = kw[key] end
  end
end

function Wrapper:forward(...)
  local f, given = self._checkpoint_wrapped_module, nnm.packed_of((...))
  local args, kw, finish
  if given then
    local list = given:plain()
    f, finish = given:through(f)
    args, kw = split(table.unpack(list, 1, list.n))
  else
    args, kw = split(...)
  end
  kw.use_reentrant = self.use_reentrant
  for key, v in pairs(self.how) do kw[key] = v end
  args.n = args.n + 1
  args[args.n] = kw
  if finish then return finish(M.checkpoint(f, table.unpack(args, 1, args.n))) end
  return M.checkpoint(f, table.unpack(args, 1, args.n))
end

-- What the wrapper does not have, the module inside may.
function Wrapper.__getattr__(self, key)
  local inside = rawget(self, "_modules").map._checkpoint_wrapped_module
  local v = inside and inside[key]
  if type(v) ~= "function" then return v end
  return function (_, ...)
    local args, kw = split(...)
    if next(kw) then
      args.n = args.n + 1
      args[args.n] = kw
    end
    return v(inside, table.unpack(args, 1, args.n))
  end
end

-- Its own names are those of the module inside.
for _, kind in ipairs {"named_parameters", "named_buffers"} do
  local plain = nnm.Module[kind]
  Wrapper[kind] = function (self, ...)
    local step, state, at = plain(self, ...)
    return function (...)
      local name, p = step(...)
      if name then
        return name:gsub("_checkpoint_wrapped_module%.", ""), p
      end
    end, state, at
  end
end

-- Which of the two ways.
M.CheckpointImpl = {REENTRANT = "REENTRANT", NO_REENTRANT = "NO_REENTRANT"}

-- checkpoint_wrapper(module, {checkpoint_impl =}): a module that is a
-- checkpoint whenever it is called.
function M.checkpoint_wrapper(module, kw)
  if not nnm.is_module(module) then
    util.raise("TypeError", "checkpoint_wrapper expects a module, got %s",
      util.type_text(module))
  end
  return Wrapper(module, kw)
end

M.Wrapper = Wrapper

-- apply_activation_checkpointing(model, {check_fn =,
-- checkpoint_wrapper_fn =}): wraps the submodules that check_fn names.
function M.apply_activation_checkpointing(model, kw)
  local check = kw and kw.check_fn or function () return true end
  local wrap = kw and kw.checkpoint_wrapper_fn or M.checkpoint_wrapper
  local function walk(m)
    local found = {}
    for name, child in m:named_children() do
      found[#found + 1] = {name, child}
    end
    for _, item in ipairs(found) do
      walk(item[2])
      if check(item[2]) then m._modules:set(item[1], wrap(item[2])) end
    end
  end
  walk(model)
end

return M
