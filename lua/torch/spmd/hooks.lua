-- SPDX-License-Identifier: MIT
-- torch/spmd/hooks.lua: while types are checked: backward() of a loss, and
-- autograd Functions of the program with what it registered for them.

local dt = require "dt"
local util = require "dt.util"
local V = require "python.values"
local attrs = require "python.attrs"
local attributes = require "torch.attributes"
local args = require "python.args"
local autograd = require "dt.autograd"
local backward_hooks = require "dt.nn.backward_hooks"
local recompute = require "dt.nn.recompute"
local phantom = require "torch.spmd.phantom"
local check = require "dt.spmd.check"
local checked = require "dt.spmd.checked"
local state = require "dt.spmd.state"
local watch = require "torch.spmd.watch"
local global = require "dt.spmd.global"

local core = dt._spmd
local F = {}
local None = dt.None

local function wrong(...) util.raise("SpmdTypeError", ...) end
local function name_of(axis) return core.axis_info(axis).name end

-- ---- backward() ----

local FULL = {R = "Replicate", V = "Varying"}

local function check_loss(t)
  local types = core.types(t)
  if not types then
    if state.strict() then
      wrong("backward() called on a loss tensor with no SPMD type annotation. "
        .. "In strict mode, annotate the loss with assert_type() before "
        .. "calling backward().")
    end
    return
  end
  table.sort(types, function (a, b) return name_of(a[1]) < name_of(b[1]) end)
  for _, v in ipairs(types) do
    local kind, axis = v[2], name_of(v[1])
    if FULL[kind] then
      wrong("backward() on a %s loss on axis %s would produce incorrect "
        .. "gradients. The implicit grad_output is a 1.0 scalar on each rank "
        .. "(Invariant), but only Invariant or Partial losses are valid for "
        .. "backward() without an explicit gradient.\n%s", FULL[kind], axis,
        kind == "R" and ("The loss is Replicate on axis %s -- this usually "
        .. "means an upstream all_reduce reduced to R instead of I. "
        .. "Consider:\n  - Changing the upstream reduction to all_reduce(..., "
        .. "dst=I) so the loss is Invariant, or\n  - Removing the all_reduce "
        .. "entirely and calling backward() on the local (Partial) loss, "
        .. "which is also more efficient"):format(axis)
        or ("The loss is Varying -- each rank holds a different local loss. "
        .. "Use reinterpret(loss, %s, src=V, dst=P) to declare that the "
        .. "semantics is that you want to differentiate with regards to the "
        .. "(pending) reduction of the loss on all ranks"):format(axis))
    end
  end
end

-- t.backward(): its loss is looked at where no gradient is given.
local function backward(t, a, kw)
  local gradient = a[1] or kw and V.dict_get(kw, "gradient")
  if state.on() and not t.is_dtensor and not args.given(gradient) then
    check_loss(t)
  end
  local list = V.list({t, table.unpack(a, 1, a.n)}, a.n + 1)
  if not state.on() then return V.call(t.backward, list, kw) end
  local token = state.pause()           -- gradients have no types here
  local out = table.pack(pcall(V.call, t.backward, list, kw))
  state.resume(token)
  if not out[1] then error(out[2], 0) end
  return out[2]
end
attributes.tensor_method.backward = backward

-- ---- Functions of the program ----

local known = setmetatable({}, {__mode = "k"})      -- class -> how it is typed

F.register_local_autograd_function = args.def(
  "register_local_autograd_function", {"cls"}, function (a)
    known[a.cls] = {how = "local"}
    return a.cls
  end)

local function own(class, name)
  local x = rawget(class, name)
  if x == nil then return nil end
  return attrs.get(class, name)
end

local function is_callable(f)
  return V.is_function(f) or type(f) == "function"
end

F.register_autograd_function = args.def("register_autograd_function", {"cls"},
  function (a)
    local class, name = a.cls, a.cls.name
    local forward, hook = own(class, "typecheck_forward"),
      own(class, "spmd_typecheck")
    if forward ~= nil and hook ~= nil then
      util.raise("TypeError", "%s cannot define typecheck_forward together with "
        .. "spmd_typecheck", name)
    elseif forward == nil and hook == nil then
      util.raise("TypeError", "%s must define typecheck_forward or "
        .. "spmd_typecheck when using @register_autograd_function", name)
    elseif forward ~= nil and not is_callable(forward) then
      util.raise("TypeError", "%s.typecheck_forward must be callable", name)
    end
    if forward ~= nil then known[class] = {how = "forward", f = forward} end
    return class
  end)

F.register_decomposition = args.def("register_decomposition", {"cls",
  "ref_impl?"}, function (a)
    local function take(f)
      known[a.cls] = {how = "decomposition", f = f}
      return f
    end
    if args.given(a.ref_impl) then
      take(a.ref_impl)
      return a.cls
    end
    return V.builtin(function (b) return take(b[1]) end)
  end)

local local_hooks = setmetatable({}, {__mode = "k"})

F.register_local_backward_hook = args.def("register_local_backward_hook",
  {"fn"}, function (a)
    local_hooks[a.fn] = true
    return a.fn
  end)

-- Hooks on a module's gradients are those that the program vouches for.
local function check_hooks(list)
  for _, hook in ipairs(list) do
    local f = V.python_of(hook.f) or hook.f
    if not local_hooks[f] then
      wrong("Backward hook %s attached to nn.Module is not registered for SPMD "
        .. "type propagation.  Call register_local_backward_hook(fn) if the "
        .. "hook does not alter gradient SPMD types.", V.repr(type(f) == "table"
        and (rawget(f, "qualname") or rawget(f, "name")) or "<lambda>"))
    end
  end
end

backward_hooks.look = function (hooks)
  if not state.on() then return end
  check_hooks(hooks.full)
  check_hooks(hooks.pre)
end
backward_hooks.same = function (from, to)
  if core.types(from) then core.set(to, core.types(from), core.spec(from)) end
end

local function function_text(f)
  local python = V.python_of(f)
  local _, name = watch.key_of(python or V.plain_of[f] or f)
  return name and ("<built-in method %s of type object at 0x0>"):format(name)
    or V.repr(python or V.from_lua(f))
end

-- A checkpoint with reentrance is an autograd Function of PyTorch's own.
recompute.look = function (f, list)
  if not state.on() or not state.strict() then return end
  local labels = {{"args[0]", function_text(f)}, {"args[1]", true}}
  for i = 1, list.n do
    labels[i + 2] = {("args[%d]"):format(i + 1), V.from_lua(list[i])}
  end
  checked.call("apply", labels, function ()
    wrong("CheckpointFunction.apply: autograd Function is not registered for "
      .. "SPMD type checking. Use register_local_autograd_function("
      .. "CheckpointFunction) to mark it as safe for type propagation, or "
      .. "define CheckpointFunction.spmd_typecheck composed from "
      .. "spmd_types.rules operations to declare its comms.")
  end)
end

-- f(…) with nothing looked at.
local function unseen(f, ...)
  local token = state.pause()
  local out = table.pack(pcall(f, ...))
  state.resume(token)
  if not out[1] then error(out[2], 0) end
  return table.unpack(out, 2, out.n)
end

local function python_args(...)
  local list = table.pack(...)
  for i = 1, list.n do list[i] = V.from_lua(list[i] == nil and None
    or list[i]) end
  return V.list(list, list.n)
end

local function tensors_of(list)
  local out = {}
  for i = 1, list.n do
    if util.is_tensor(list[i]) then out[#out + 1] = list[i] end
  end
  return out
end

-- ---- spmd_typecheck ----

-- Names of a hook's parameters: before and behind the star; which of those
-- behind it have a default.
local function parameters(f)
  local names, keyword, has_default = {}, {}, {}
  local raw = V.raw(f) or f
  for _, p in ipairs(rawget(raw, "params") or {}) do
    if p.name and (p.only == "keyword" or #names > 0) then
      keyword[#keyword + 1] = p.name
      has_default[#keyword] = p.value ~= nil or p.default ~= nil
    elseif p.name then
      names[#names + 1] = p.name
    end
  end
  return names, keyword, has_default
end

-- The arguments of forward by name, in order: {{name, value}, …}.
local function forward_args(class, list)
  local f = attrs.get(class, "forward")
  local first = rawget(class, "setup_context") and 0 or 1
  local out = {}
  local raw = V.raw(f) or f
  local i = 0
  for _, p in ipairs(rawget(raw, "params") or {}) do
    if p.name then
      i = i + 1
      local v = list[i - first]
      if i > first and i - first > list.n then v = p.value end
      if i > first then out[#out + 1] = {p.name, v} end
    end
  end
  return out
end

local function named_args(class, hook, at)
  local known, sorted = {}, {}
  for i, pair in ipairs(at) do
    known[pair[1]] = pair
    sorted[i] = ("'%s'"):format(pair[1])
  end
  table.sort(sorted)
  local positional, keyword, has_default = parameters(hook)
  local kw = V.dict()
  for i, name in ipairs(keyword) do
    if known[name] then
      V.dict_set(kw, name, known[name][2] == nil and None or known[name][2])
    elseif not has_default[i] then
      util.raise("TypeError", "%s.spmd_typecheck: '%s' is not a parameter of "
        .. "%s.forward (has [%s])", class.name, name, class.name,
        table.concat(sorted, ", "))
    end
  end
  return kw, #positional > 0
end

local function check_used(class, at)
  for _, pair in ipairs(at) do
    local missed = false
    check.each_tensor(pair[2], function (t)
      missed = missed or not phantom.used[t._id]
    end)
    if missed then
      wrong("%s.spmd_typecheck: tensor argument '%s' was not accounted for. "
        .. "Pass it to the rules operation that consumes it, assert_type it, "
        .. "or declare rules.ignore(%s) if it does not affect the forward "
        .. "value.", class.name, pair[1], pair[1])
    end
  end
end

-- The hook is run on the results, or gives their types.
local function ask_hook(class, hook, kw, stamps, whole, outs)
  if stamps then
    V.call(hook, V.list({whole}, 1), kw)
    return
  end
  local v = V.call(hook, V.list({}, 0), kw)
  if v == None and #outs > 0 then
    wrong("%s.spmd_typecheck: returned None; a keyword-only spmd_typecheck must "
      .. "return the output type(s) (a NdimWithSpmdType, a tensor, or a tuple)",
      class.name)
  end
  phantom.output(whole, v)
end

local function by_hook(class, hook, kw, stamps, at, outs)
  local whole = #outs == 1 and outs[1] or V.tuple(outs, #outs)
  local before = phantom.used
  phantom.used = {}
  local ok, e = pcall(function ()
    ask_hook(class, hook, kw, stamps, whole, outs)
    check_used(class, at)
  end)
  phantom.used = before
  if not ok then error(e, 0) end
  for i, t in ipairs(outs) do
    if core.types(t) == nil then
      wrong("%s.spmd_typecheck: output %d was left untyped; return its type "
        .. "from the hook, or finish the rule with rules.output(out, "
        .. "<NdimWithSpmdType>) or assert_type(out, ...)", class.name, i - 1)
    end
  end
end

-- ---- apply ----

local function results(...)
  local outs = {}
  for i = 1, select("#", ...) do
    local t = select(i, ...)
    if util.is_tensor(t) then outs[#outs + 1] = t end
  end
  return outs
end

local inside = setmetatable({}, {__mode = "k"})

-- How PyTorch writes the tree of a value.
local function tree_text(v)
  if not V.is_seq(v) then return "*" end
  local items = {}
  for i = 1, v.n do
    items[i] = tree_text(v[i]):gsub("\n", "\n  ")
  end
  return ("TreeSpec(%s, None, [%s])"):format(V.type_name(v),
    table.concat(items, ",\n  "))
end

local function check_tree(name, v, whole)
  local a, b = tree_text(v), tree_text(whole)
  if a ~= b then
    wrong("%s: decomposition output tree does not match real computation path "
      .. "output tree. decomposition: %s, fused: %s", name, a, b)
  end
end

-- Results get the types of what another function made of the same arguments.
local function like_other(name, f, list, outs)
  local whole = #outs == 1 and outs[1] or V.tuple(outs, #outs)
  local v = V.call(f, list)
  check_tree(name, v, whole)
  local others = V.is_seq(v) and tensors_of(v) or {v}
  for i, t in ipairs(outs) do
    if util.is_tensor(others[i]) then
      core.set(t, core.types(others[i]), core.spec(others[i]))
    end
  end
end

local function unregistered(class)
  if not state.strict() then return end
  wrong("%s.apply: autograd Function is not registered for SPMD type checking. "
    .. "Use register_local_autograd_function(%s) to mark it as safe for type "
    .. "propagation, or define %s.spmd_typecheck composed from "
    .. "spmd_types.rules operations to declare its comms.", class.name,
    class.name, class.name)
end

local function labels_of(list)
  local out = {}
  for i = 1, list.n do out[i] = {("args[%d]"):format(i - 1), list[i]} end
  return out
end

local function typed_apply(class, run, ...)
  local list, way = python_args(...), known[class]
  local hook = own(class, "spmd_typecheck")
  if not state.is_local() and not inside[class] then
    checked.call("apply", labels_of(list), function ()
      check.each_tensor(list, function (t)
        global.check_tensor(t)
      end)
    end)
  end
  if hook ~= nil and not is_callable(hook) then
    util.raise("TypeError", "%s.spmd_typecheck must be callable", class.name)
  end
  local at, kw, stamps
  if hook ~= nil then
    at = forward_args(class, list)
    kw, stamps = named_args(class, hook, at)
  end
  if way and way.how == "local" then
    local given = table.pack(...)
    return check.run(class.name .. ".apply", "apply", function ()
      return V.from_lua(run(table.unpack(given, 1, given.n)))
    end, list)
  elseif way and way.how == "forward" and not inside[class] then
    inside[class] = true
    local out = table.pack(pcall(checked.call, "apply", labels_of(list), V.call,
      way.f, list))
    inside[class] = nil
    if not out[1] then error(out[2], 0) end
    return out[2]
  end
  local out = table.pack(unseen(run, ...))
  local outs = results(table.unpack(out, 1, out.n))
  if inside[class] then return table.unpack(out, 1, out.n) end
  checked.call("apply", labels_of(list), function ()
    if hook ~= nil then
      by_hook(class, hook, kw, stamps, at, outs)
    elseif way then
      like_other(class.name, way.f, list, outs)
    else
      unregistered(class)
    end
  end)
  return table.unpack(out, 1, out.n)
end

autograd._watch_apply(function (class, run, ...)
  if not state.on() or check.busy() then return run(...) end
  return typed_apply(class, run, ...)
end)

return F
