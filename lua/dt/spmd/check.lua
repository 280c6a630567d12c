-- SPDX-License-Identifier: MIT
-- dt/spmd/check.lua: checks one call of a program: its operands are looked up,
-- the call runs, then its types are inferred and given to what came out.  A
-- call inside of a checked one is its own matter and is not looked at.

local dt = require "dt"
local util = require "dt.util"
local V = require "dt.spmd.values"
local core = dt._spmd
local autopsy = require "dt.spmd.autopsy"
local advice = require "dt.spmd.advice"
local labels = require "dt.spmd.labels"
local remesh = require "dt.spmd.remesh"
local say = require "dt.spmd.say"
local state = require "dt.spmd.state"
local trace = require "dt.spmd.trace"
local global = require "dt.spmd.global"

local M = {}
local None = dt.None

local busy = false
local modes                         -- a program's own: {busy=, run=}, or nil

-- set_modes(m): who sees each call from now on: m.busy() and m.run(), which take
-- the place of those here; nil: nobody.
function M.set_modes(m) modes = m end
function M.has_modes() return modes ~= nil end

function M.busy()
  if modes then return modes.busy() end
  return busy or not state.looking
end

-- ---- operands ----

-- The types of a number that has some (spmd_types' Scalar), or nil.
local function scalar(v)
  return type(v) == "table" and rawget(v, "_spmd_scalar") or nil
end
M.scalar = scalar

local function scalar_types(v)
  return type(v) == "table" and not util.is_tensor(v)
end

local function core_types(v)
  if util.is_tensor(v) then return core.types(v) or {} end
  return v
end

local operands = {}
operands.__index = operands

local function new()
  return setmetatable({values = {}, places = {}, grads = {}, tensors = {},
    had_grad = {}, n = 0}, operands)
end

function operands:add(v, place)
  local n = self.n + 1
  self.n = n
  self.values[n], self.places[n] = v, place
  if util.is_tensor(v) then
    local grad = core.takes_grad(v)
    self.grads[n] = grad
    self.tensors[v._id], self.had_grad[v._id] = v, grad
    self.distributed = self.distributed or v.is_dtensor
  else
    self.grads[n] = false
  end
end

-- A value of an argument; `sums`: a plain number there is an addend.
function operands:look(v, place, sums)
  if util.is_tensor(v) then
    self:add(v, place)
  elseif scalar(v) then
    self.scalars = true
    self:add(scalar(v), place)
  elseif sums and type(v) == "number" then
    self:add(true, place)
  elseif V.is_seq(v) then
    for i = 1, v.n do
      if util.is_tensor(v[i]) then self:add(v[i], place)
      elseif scalar(v[i]) then
        self.scalars, self.in_sequence = true, true
        self:add(scalar(v[i]), place)
      end
    end
  end
end

local addend = {input = 0, other = 1}

local function operands_of(key, args, kw)
  local o = new()
  local sums = core.class(key) == "linear2"
  for i = 1, args.n do o:look(args[i], i - 1, sums and i <= 2) end
  if kw then
    for k, v in V.each(kw) do
      if k ~= "out" then o:look(v, addend[k] or -1, sums and addend[k]) end
    end
  end
  return o
end

-- Arguments with the values of typed numbers in their place.
local function bare(v)
  if scalar(v) then return v.value end
  if not V.is_seq(v) then return v end
  local out, any = {}, false
  for i = 1, v.n do
    out[i] = scalar(v[i]) and v[i].value or v[i]
    any = any or scalar(v[i]) ~= nil
  end
  if not any then return v end
  return V.is_tuple(v) and V.tuple(out, v.n) or V.list(out, v.n)
end

say.bare = bare

-- How a tuple is shown that stands where an axis is wanted, nil for others.
function say.tuple_text(v)
  if V.is_list(v) and not V.is_tuple(v) then
    util.raise("TypeError", "unhashable type: 'list'")
  end
  return V.is_tuple(v) and V.repr(v) or nil
end

local function bare_all(args, kw, any)
  local list, named = {table.unpack(args, 1, args.n)}, kw and V.dict()
  for i = 1, any and args.n or 0 do list[i] = bare(list[i]) end
  if kw then
    for k, v in V.each(kw) do V.dict_set(named, k, any and bare(v) or v) end
  end
  return V.list(list, args.n), named
end

-- ---- results ----

-- Call f for each tensor of a result.
local function each_tensor(v, f, depth)
  if util.is_tensor(v) then
    f(v)
  elseif V.is_seq(v) and (depth or 0) < 3 then
    for i = 1, v.n do each_tensor(v[i], f, (depth or 0) + 1) end
  end
end
M.each_tensor = each_tensor

-- Raise what the checker found, the call behind it.
local with_call = {SpmdTypeError = true, RedistributeError = true,
  DTensorPropagationError = true}

local function failed(e, call)
  if type(e) == "table" and with_call[e.class] then
    local mesh = state.mesh()
    local named = labels.of(call.name == "__get__" and "Tensor.__get__"
      or call.key, call.args, call.kw)
    say.dress(e, call.name, named, mesh and mesh.axes)
    e.torch = e.message
    autopsy.attach(e, named)
  end
  error(e, 0)
end

-- Give the types to the tensors of the result; what was written keeps its own
-- but for what check_write() lets through.
local function give(call, out, types)
  local written = {}
  if call.out then
    each_tensor(call.out, function (t) written[t._id] = true end)
  end
  local lists = call.name:find("^_foreach_")    -- written without a check
  each_tensor(out, function (t)
    if lists then return end
    if call.operands.tensors[t._id] or written[t._id] then
      core.check_write(call.name, t, types, call.operands.had_grad[t._id]
        or call.out_grad and call.out_grad[t._id] or false)
    end
  end)
  each_tensor(out, function (t)
    local own = call.operands.tensors[t._id] or written[t._id]
    core.set(t, types, own and core.spec(t) or nil)
    autopsy.note(t, call.name, types)
  end)
  if call.name:find("_$") and not call.name:find("^__") and out == None then
    each_tensor(call.args[1], function (t) core.set(t, types) end)
  end
end

-- Operands of another mesh get the types that they have over the axes of the
-- current one: gives the list of what core.infer() looks at.
local function onto_mesh(o)
  local mesh = state.mesh()
  if not mesh or not core.outside(o.values) then return o.values end
  local out = {}
  for i = 1, o.n do
    local v = o.values[i]
    out[i] = v
    if util.is_tensor(v) or scalar_types(v) then
      out[i] = remesh.onto_mesh(core_types(v), util.is_tensor(v)
        and core.spec(v) or nil, i - 1, mesh.axes)
    end
  end
  return out
end

-- The axes of each operand that has its own; a plain number goes with the
-- others.
local function axes_of(values, n)
  local out = {}
  for i = 1, n do
    if values[i] ~= true then
      local list = {}
      for k, t in ipairs(core_types(values[i])) do list[k] = t[1] end
      out[#out + 1] = list
    end
  end
  return out
end

local function infer(call, values)
  local o = call.operands
  local ok, types = pcall(core.infer, call.key, call.name, values, o.places,
    o.grads)
  if ok then return types end
  local e = types
  if advice.belongs_to(e) then
    local sets = axes_of(values, o.n)
    if core.class(call.key) == "sum_product" and #sets == 3 then
      sets = #sets[2] == #sets[3] and {sets[2], sets[1]} or {sets[2], sets[3]}
    end
    e.message = e.message .. advice.advice(sets)
  end
  return error(e, 0)
end

local function judge(call, out)
  local o = call.operands
  state.sync()
  local types
  if not state.is_local() then
    global.operands(call)
  end
  local values = onto_mesh(o)
  types = infer(call, values)
  if values == o.values and not o.scalars and not call.out then
    call.types = types
  end
  local before = trace.on and trace.before(o.values, o.n)
  give(call, out, types)
  if not state.is_local() then
    global.results(call, out, types)
  end
  if before then
    each_tensor(out, function (t) types = core.types(t) or types end)
    trace.call(call.name, before, types)
  end
end

-- What is made from nothing has no type on any axis, as far as is known.
local function untyped(...)
  for i = 1, select("#", ...) do
    each_tensor((select(i, ...)), function (t)
      if not core.types(t) then core.set(t, {}) end
    end)
  end
  return ...
end

-- f(…) while nothing that it calls is looked at.
local function inside(f, ...)
  busy = true
  core.look(false)
  local ok, out = pcall(f, ...)
  busy = false
  core.look(state.looking)
  return ok, out
end

local function judged(call, out)
  busy = true
  local ok, e = pcall(judge, call, out)
  busy = false
  if not ok then failed(e, call) end
end

-- ---- calls like one that was judged before ----

local known = {}                    -- key -> {id, name, sums}, or false

-- Functions that write into their arguments are judged each time.
local function writes(name)
  return name:find("_$") and not name:find("^__") or name:find("^_foreach_")
end

local function known_of(key, name)
  local k = not writes(name) and {id = autopsy.number(key),
    name = autopsy.number(name), sums = core.class(key) == "linear2"}
  known[key] = k
  return k
end

-- Are a call's keywords such that no type hangs on them?
local function are_plain(kw, sums)
  for name, v in V.each(kw) do
    local kind = type(v)
    if kind == "userdata" and util.is_tensor(v) or name == "out"
       or kind == "table" and (scalar(v) or V.is_seq(v))
       or sums and addend[name] then
      return false
    end
  end
  return true
end

-- ---- a call ----

local function looked_up(call)
  local kw = call.kw
  call.operands = operands_of(call.key, call.args, kw)
  call.out = kw and V.dict_get(kw, "out")
  call.out_grad, call.each = {}, each_tensor
  call.bare, call.bare_kw = bare_all(call.args, kw, call.operands.scalars)
  if call.out then
    each_tensor(call.out, function (t)
      call.out_grad[t._id] = core.takes_grad(t)
    end)
  end
  return call.operands
end

-- PyTorch takes no typed number inside of a list or tuple.
local function refuse_sequence(key)
  if key == "torch.tensor" then
    util.raise("RuntimeError", "Could not infer dtype of Scalar")
  end
  local name = key:gsub("^Tensor%.", "torch.Tensor."):gsub("^F%.", "torch.nn.")
  util.raise("TypeError", "Multiple dispatch failed for '%s'; all "
    .. "__torch_function__ handlers returned NotImplemented:\n\n  - tensor "
    .. "subclass <class 'spmd_types._scalar.Scalar'>\n\nFor more information, "
    .. "try re-running with TORCH_LOGS=not_implemented", name)
end

-- The call is judged whole, and kept where it was legal.
local function run_judged(call, f, serial)
  local o = looked_up(call)
  local args, kw = call.args, call.kw
  if o.in_sequence then refuse_sequence(call.key) end
  if o.distributed then return f(args, kw) end
  if o.n == 0 and core.class(call.key) ~= "replicated" then
    return untyped(f(args, kw))
  end
  local ok, out = inside(f, call.bare, call.bare_kw)
  if not ok then error(out, 0) end
  judged(call, out)
  if serial and call.types then core.keep(call.types, serial) end
  return out
end

-- run(key, name, f, args, kw): f(args, kw) is called and checked.  `key` is
-- the function's place in functions.def, `name` what messages call it; `again`,
-- if not f, calls it once more on other arguments.
function M.run(key, name, f, args, kw, again)
  if modes then return modes.run(key, name, f, args, kw, again) end
  local k = known[key]
  if k == nil then k = known_of(key, name) end
  local types, serial
  if k and state.by_axis and not trace.on
     and (not kw or are_plain(kw, k.sums)) then
    types, serial = core.known(k.id, args, k.sums)
  end
  local call
  if not types then
    call = {key = key, name = name, args = args, kw = kw, again = again or f}
    return run_judged(call, f, serial)
  end
  local ok, out = inside(f, args, kw)
  if not ok then error(out, 0) end
  if not core.give(out, types, k.name, args) then
    call = {key = key, name = name, args = args, kw = kw, again = again or f}
    looked_up(call)
    judged(call, out)
  end
  return out
end

return M
