-- SPDX-License-Identifier: MIT
-- dt/debug/program.lua: the record as a program that can run again: elsewhere,
-- smaller, with other placements, or in PyTorch.
--
-- A program is {ranks, values = {[id] = value}, steps = {step...}, error}.  A
-- value is one tensor: {id, name, shape, dtype, placements, mesh,
-- requires_grad}.  A step makes values:
--   {kind = "op", op, args, kwargs, ins, outs}     args: numbers, lists, {id =}
--   {kind = "call", op = "distribute_tensor" | "from_local" | "to_local" |
--    "redistribute", ins, outs}
--   {kind = "leaf", outs}                          made before, or by nobody
--   {kind = "detach", ins, outs}                   another name of a tensor
--   {kind = "view", ins, outs, offset}             the same memory, read
--                                                  otherwise
--   {kind = "data", ins, wrote}                    x.data = y
--   {kind = "raw", raw, ins, outs}                 a collective of the script's
--   {kind = "backward", ins}
--   {kind = "field", ins, outs}, {kind = "clear", ins}    a leaf's gradient is
--                                                  read, is taken away
--   {kind = "raise", ins, ...}                     a call that was refused
--                                                  (called.lua)
-- Backward's own operators are left out where running it makes them again;
-- where it would not (flow.lua), they are steps like all others and nothing
-- asks for gradients (`explicit`).

local dt = require "dt"
local util = require "dt.util"
local called = require "dt.debug.called"
local fields = require "dt.debug.fields"
local flow = require "dt.debug.flow"
local loss = require "dt.parallel.loss"
local naming = require "dt.debug.naming"

local M = {}

local CALLS = {
  distribute_tensor = "distribute_tensor",
  ["dtensor.from_local"] = "from_local", ["dtensor.to_local"] = "to_local",
  ["dtensor.redistribute"] = "redistribute",
  ["dtensor.from_local_backward"] = "from_local_backward",
  ["dtensor.to_local_backward"] = "from_local",
  ["dtensor.redistribute_backward"] = "redistribute",
}

-- Numbers that a script reads and shows.
local READS = {["aten._local_scalar_dense.default"] = true,
  ["aten.equal.default"] = true}

local function value_of(P, v, names)
  local val = P.values[v.id]
  if not val then
    val = {id = v.id, shape = v.shape, stride = v.stride, dtype = v.dtype,
      placements = v.placements, mesh = v.mesh, param = v.param,
      local_shape = v.local_shape, storage = v.storage, offset = v.offset,
      at = v.offset, name = names[v.id] or v.name}
    P.values[v.id] = val
  end
  if v.needs_grad then val.needs_grad = true end
  return val
end

-- An argument with slots resolved to values.
local function argument(a, e)
  if type(a) ~= "table" or a == dt.None then return a end
  if a.slot then
    local v = e.inputs[a.slot]
    return v and v.id and {id = v.id} or dt.None
  end
  if next(a) ~= nil and #a == 0 then return a end       -- {dtype = ...}
  local list = {}
  for i, x in ipairs(a) do list[i] = argument(x, e) end
  return list
end

local function arguments(e)
  local args, kwargs = {}, {}
  for i, a in ipairs(e.args) do args[i] = argument(a, e) end
  for k, a in pairs(e.kwargs) do kwargs[k] = argument(a, e) end
  return args, kwargs
end

local function ids(list)
  local out = {}
  for _, v in ipairs(list) do if v.id then out[#out + 1] = v.id end end
  return out
end

-- The same, with a false for None.
local function slots(list)
  local out = {}
  for i, v in ipairs(list) do out[i] = v.id or false end
  return out
end

-- The same memory read in the same way.
function M.storage_key(v)
  return ("%d+%d %s/%s %s"):format(v.storage or 0, v.offset or 0,
    table.concat(v.shape, ","), table.concat(v.stride, ","),
    v.placements and table.concat(v.placements, " ") or "plain")
end

-- First and last element of its storage that a plain value reads.
local function extent(v, shape, stride)
  local last = v.offset or 0
  for i, n in ipairs(shape) do
    if n == 0 then return 0, -1 end
    last = last + (n - 1) * stride[i]
  end
  return v.offset or 0, last
end

-- The value made earlier whose memory holds all that `v` reads, or nil.
local function base_of(P, v)
  local base = P.by_storage[v.storage or 0]
  local b = base and base ~= v.id and P.values[base]
  if not b or v.storage == 0 or v.storage ~= b.storage or v.dtype ~= b.dtype then
    return nil
  end
  local first, last = extent(b, b.local_shape,
    b.placements and util.contiguous_stride(b.local_shape) or b.stride)
  local from, to = extent(v, v.local_shape,
    v.placements and util.contiguous_stride(v.local_shape) or v.stride)
  return from <= to and from >= first and to <= last and b or nil
end

local function made_here(P, made, id)
  local v = P.values[id]
  made[id] = true
  P.by_storage[M.storage_key(v)] = id
  if v.storage ~= 0 and not P.by_storage[v.storage] then
    P.by_storage[v.storage] = id
  end
end

-- Was the tensor given other memory since (x.data = y, context_parallel)?
local function rebound(P, v)
  local val = P.values[v.id]
  if not v.storage or val.storage == v.storage
     or not P.explicit and (v.needs_grad or v.storage == 0) then
    return false
  end
  val.storage, val.offset, val.shape = v.storage, v.offset, v.shape
  val.local_shape, val.stride = v.local_shape, v.stride
  return true
end

-- The value that reads the same memory in the same way, or nil.
local function twin(P, val)
  local key = M.storage_key(val)
  local id = P.by_storage[key]
  if not id or id == val.id or M.storage_key(P.values[id]) ~= key then
    return nil
  end
  return id
end

-- Of each storage the plain value that reads all that others read of it, and
-- more than some: memory of which a part came first (a padded parameter).
local function widest(P)
  local wide, least = {}, {}
  for id, v in pairs(P.values) do
    local s = v.storage or 0
    if s ~= 0 then
      local from, to = extent(v, v.local_shape,
        v.placements and util.contiguous_stride(v.local_shape) or v.stride)
      local w = wide[s]
      least[s] = math.min(least[s] or to, to)
      if not v.placements and from == 0 and to >= 0
         and table.concat(v.stride, ",")
           == table.concat(util.contiguous_stride(v.shape), ",")
         and (not w or to > w.to or to == w.to and id < w.id) then
        wide[s] = {id = id, to = to}
      end
    end
  end
  local out = {}
  for s, w in pairs(wide) do if w.to > least[s] then out[s] = w.id end end
  return out
end

-- A parameter that backward is asked of got other memory (x.data = y,
-- to_empty): it stays itself.
local function other_data(P, val, v, seq)
  if P.explicit or not v.storage or v.storage == 0
     or val.storage == v.storage then return end
  local now = setmetatable({storage = v.storage, offset = v.offset,
    shape = v.shape, stride = v.stride, local_shape = v.local_shape},
    {__index = val})
  local base = twin(P, now)
  if not base then return end
  for _, k in ipairs {"storage", "offset", "shape", "stride", "local_shape"} do
    val[k] = now[k]
  end
  P.steps[#P.steps + 1] = {kind = "data", op = "data", ins = {base}, outs = {},
    wrote = {val.id}, seq = seq, line = 0, file = ""}
end

-- Make sure that every input has a step; gradients are fields of their leaf.
local function need(P, made, v, seq, grads)
  if not v.id then return end
  local val = P.values[v.id]
  if made[v.id] and not rebound(P, v) then return other_data(P, val, v, seq) end
  if fields.take(P, made, grads, val, seq) then return end
  local step = {outs = {v.id}, seq = seq, line = 0, file = ""}
  local base = twin(P, val)
  local b = not base and base_of(P, val)
  local wide = P.wide[val.storage]
  if not base and not b and wide and wide ~= v.id and not made[wide]
     and not P.by_storage[val.storage] then
    need(P, made, P.values[wide], seq, grads)
    b = base_of(P, val)
  end
  if base then         -- nn.Parameter(t): the same memory
    step.kind, step.op, step.ins = "detach", "detach", {base}
    val.at = P.values[base].at
  elseif b then
    step.kind, step.op, step.ins = "view", "detach", {b.id}
    val.at = (b.at or 0) + (val.offset or 0) - (b.offset or 0)
  else
    step.kind, step.ins, val.at = "leaf", {}, 0
  end
  P.steps[#P.steps + 1] = step
  made_here(P, made, v.id)
end

-- Did plain tensors count as replicated?  (Then a switch was on.)
local function implicit(e)
  local dist, plain = false, false
  for _, v in ipairs(e.inputs) do
    if v.placements then dist = true
    elseif v.id and not v.wrapped then
      local n = 1
      for _, s in ipairs(v.shape) do n = n * s end
      plain = plain or n ~= 1
    end
  end
  return dist and plain and not e.error
end

-- Ids of the inputs that it writes (lists of them are no results of it), and
-- of those that ask for gradients then.
local function written(e)
  local all, asking = {}, {}
  local leaf_written = e.reason == "leaf written"
    or e.reason == "leaf view written"
  for slot in pairs(e.writes) do
    local v = e.inputs[slot]
    if v and v.id then
      all[#all + 1] = v.id
      if v.needs_grad and not leaf_written then asking[#asking + 1] = v end
    end
  end
  return all, asking
end

-- Statistics that a batch norm in training writes, though its schema does not
-- say so.
local function statistics(e, all)
  local given = {}
  for i, name in ipairs(e.arg_names or {}) do
    given[name] = e.args and e.args[i]
    if given[name] == nil then given[name] = e.kwargs and e.kwargs[name] end
  end
  local training = given.training
  if training == nil then training = given.use_input_stats end
  if training ~= true then return end
  for _, name in ipairs {"running_mean", "running_var"} do
    local a = given[name]
    local v = type(a) == "table" and e.inputs[a.slot or 0]
    if v and v.id then all[#all + 1] = v.id end
  end
end

-- Masked sums whose own parts are masked when they are summed: written, too,
-- though the record has them as they were.
local function masked(P, e, all)
  for _, v in ipairs(next(e.moves) and e.inputs or {}) do
    for _, p in ipairs(v.placements or {}) do
      if p:match("^MaskP") then
        all[#all + 1] = v.id
        P.stale[v.storage] = true
      end
    end
  end
end

-- Leaves that ask for gradients are written where none are followed.
local function leaf_at_once(asking)
  for _, v in ipairs(asking) do
    if v.param or v.origin.seq == 0 then return true end
  end
  return false
end

-- Did each rank take its part of what it had itself (src_data_rank=None)?
local function cut_here(e)
  local x, v = e.inputs[1], e.outputs[1]
  if e.op ~= "distribute_tensor" or #e.collectives > 0 or x and x.placements
     or not v or not v.mesh or not v.mesh.member then
    return false
  end
  for _, n in ipairs(v.mesh.shape) do if n > 1 then return true end end
  return false
end

local function add_step(P, made, e, o)
  local step = {seq = e.seq, file = e.file, line = e.line, ins = ids(e.inputs),
    outs = ids(e.outputs), slots = slots(e.outputs), op = e.op, error = e.error,
    message = e.message,
    reason = e.reason,
    wrote = {}}
  if e.raw then
    step.kind, step.raw, step.mesh = "raw", e.raw, e.raw.mesh
  elseif e.call then
    step.kind, step.op = "call", CALLS[e.op]
    local v = e.outputs[1]
    step.placements, step.mesh = v and v.placements, v and v.mesh
    step.moved = e.moves[1] and e.moves[1].to
    step.cut_here = cut_here(e)
    step.in_mesh = e.inputs[1] and e.inputs[1].mesh
  else
    step.kind = "op"
    step.args, step.kwargs = arguments(e)
    step.random, step.factory = e.random, e.factory
    step.draw = e.draw and e.draw.at ~= e.draw.stop and e.draw or nil
    step.writes = next(e.writes) ~= nil
    step.wrote, step.asking = written(e)
    statistics(e, step.wrote)
    step.read = READS[e.op] and not e.error
    step.implicit = implicit(e)
    step.no_grad = leaf_at_once(step.asking)
    step.taken_over = o.taken_over[e]
    step.implicit = step.implicit and not step.taken_over
  end
  masked(P, e, step.wrote)
  P.steps[#P.steps + 1] = step
  for _, v in ipairs(e.outputs) do
    if v.id then made_here(P, made, v.id) end
  end
  return step
end

local function add_backward(P, e, over)
  local root = e.inputs[1]
  if root and root.id then
    P.steps[#P.steps + 1] = {kind = "backward", ins = {root.id}, outs = {},
      seq = e.seq, file = e.file, line = e.line, op = "backward",
      taken_over = over}
  end
end

-- Values that ask for gradients though nothing they come from does.
local function mark_requires_grad(P)
  for _, s in ipairs(P.steps) do
    local from, own = false, {}
    for _, id in ipairs(s.ins) do
      own[id] = true
      from = from or P.values[id] and P.values[id].needs_grad
    end
    from = from and s.kind ~= "detach" and s.kind ~= "view"
      and s.op ~= "aten.detach.default"
      and not s.no_grad
    for _, id in ipairs(s.outs) do
      local v = P.values[id]
      if not own[id] then v.requires_grad = v.needs_grad and not from end
    end
  end
  for _, s in ipairs(P.steps) do
    for _, v in ipairs(s.asking or {}) do
      s.no_grad = s.no_grad or P.values[v.id].requires_grad
    end
  end
end

-- Entries of the record; a call that is stopped where it raises has failed,
-- though it has not ended.
local function entries_of(o)
  local list, failed = dt.debug.entries(o.first, o.last), dt.debug.failed()
  for _, e in ipairs(list) do
    if e.unfinished and failed and failed.seq == e.seq then
      e.error, e.message, e.reason = failed.code, failed.message, failed.reason
      e.unfinished = nil
    end
  end
  return list
end
M.entries = entries_of

-- What nothing comes of here.
local function only_read(e)
  return not e.call and not e.error and #e.outputs == 0
    and next(e.writes) == nil
end

-- A call that raised after the last operator, also where it was recorded
-- itself: what it was given is in no entry.
local function refused(P, entries, made, grads)
  local s = called.step(P, entries)
  if not s then return false end
  for _, id in ipairs(s.ins) do
    local v = P.values[id]
    need(P, made, {id = id, shape = v.shape, placements = v.placements}, s.seq,
      grads)
  end
  P.steps[#P.steps + 1] = s
  P.error = s
  return true
end

-- Did the call of the last entry fail, or something after it?
local function ends_refused(entries, failed)
  local c = dt.debug.raised()
  local last = entries[#entries]
  return c and c.code ~= "DT0007" and not c.code:match("^DT07")
    and (not last or last.seq <= c.seq)
    and (not failed or failed.call or failed.seq < c.seq)
end

local function all_values(P, entries)
  local names = naming.variables()
  for _, e in ipairs(entries) do
    for _, side in ipairs {e.inputs, e.outputs} do
      for _, v in ipairs(side) do if v.id then value_of(P, v, names) end end
    end
  end
end

-- Is the entry a step?  Composites are not: what they call is.
local function is_step(e, o)
  if e.backward and not o.explicit then return false end
  local ends = e == o.failed or o.all and e == o.last
  if e.error and not ends then return false end         -- the script caught it
  return (READS[e.op] or not only_read(e)) and (not e.call or CALLS[e.op] or e.raw)
end

-- Was the operator refused by loss_parallel, before it ran others?
local function refused_over(e)
  return e.reason == "loss_parallel"
end

-- Operators that loss_parallel took over, as keys: they ran others, which
-- `inner` has as keys.
local function taken_over(entries)
  local outer, inner, over = {}, {}, nil
  for i, e in ipairs(entries) do
    local next_one = entries[i + 1]
    if over and e.depth > over.depth then
      inner[e] = true
    else
      over = loss.operators[e.op] and (refused_over(e)
        or next_one and next_one.depth > e.depth) and e or nil
      if over then outer[e] = true end
    end
  end
  return outer, inner
end

-- Add the entries up to the one that failed.  o: {explicit, refuses, all, last,
-- failed, grads}.
local function add_entries(P, made, entries, o)
  local was_backward, seq = false, 0
  local outer, inner = taken_over(entries)
  o.taken_over = outer
  for _, e in ipairs(entries) do
    local own = e.backward and not o.explicit
    if own and not was_backward then
      fields.clear(P, made, o.grads, e)
      add_backward(P, e, next(o.taken_over) ~= nil)
    end
    was_backward = own
    seq = math.max(seq, e.seq)
    if e.seq == 0 then e.seq = seq end
    if is_step(e, o) and not inner[e] then
      for _, v in ipairs(e.inputs) do
        need(P, made, v, e.raw and seq + 1 or e.seq, o.grads)
      end
      local step = add_step(P, made, e, o)
      if e == o.failed then P.error = step end
    elseif own and e == o.failed then
      P.error = P.steps[#P.steps]
      P.error.error, P.error.message = e.error, e.message
    end
    if e == o.failed then return end
  end
end

-- The program; `refuses`: ended by a call that no operator recorded, nil when
-- that has no form.
local function build(o, refuses)
  local entries = entries_of(o)
  local failed
  for _, e in ipairs(entries) do if e.error then failed = e end end
  refuses = refuses and not o.all and not o.last
    and ends_refused(entries, failed)
  if o.all or refuses then failed = nil end
  local P = {ranks = dt.world_size(), values = {}, steps = {}, by_storage = {},
    stale = {}}
  local made = {}
  all_values(P, entries)
  P.wide = widest(P)
  P.explicit = flow.explicit(entries, failed)
  local grads = P.explicit and {of = {}, again = {}} or fields.log(entries)
  add_entries(P, made, entries, {explicit = P.explicit, failed = failed,
    refuses = refuses, all = o.all, last = entries[#entries], grads = grads})
  if refuses and not refused(P, entries, made, grads) then return nil end
  if not P.explicit then mark_requires_grad(P) end
  return P
end

-- build([{first =, last =, upto =}]) -> program of recorded operators, up to
-- and with the last one that failed when there is one (all = true: all).
function M.build(o)
  o = o or {}
  return build(o, true) or build(o, false)
end

-- Which tensors and what memory a slice wants so far.
local Wanted = {}
Wanted.__index = Wanted

function Wanted:add(id)
  local v = self.P.values[id]
  self.ids[id] = true
  if not v then return end
  if (v.storage or 0) ~= 0 then self.memory[v.storage] = true end
  if v.grad_of then
    self.fed = true
    self:add(v.grad_of)
  end
end

-- Does the step make one of them, write into their memory, or feed a gradient?
function Wanted:needs(s)
  if self.fed and (s.kind == "backward" or s.kind == "clear") then return true end
  for _, id in ipairs(s.outs) do if self.ids[id] then return true end end
  for _, id in ipairs(s.wrote or {}) do
    local v = self.P.values[id]
    if self.ids[id] or v and self.memory[v.storage] then return true end
  end
  return false
end

-- A copy of the program whose steps are only what `targets` (steps) need.
-- `stale`: memory that steps which are left out write, as keys; its numbers are
-- not shown.
function M.slice(P, targets)
  local want = setmetatable({P = P, ids = {}, memory = {}}, Wanted)
  local keep, stale = {}, {}
  for k in pairs(P.stale or {}) do stale[k] = true end
  for _, s in ipairs(targets) do keep[s] = true end
  for i = #P.steps, 1, -1 do
    local s = P.steps[i]
    if keep[s] or want:needs(s) then
      keep[s] = true
      want.fed = want.fed or s.kind == "field"          -- by backward
      for _, id in ipairs(s.ins) do want:add(id) end
    else
      for _, id in ipairs(s.wrote or {}) do
        local v = P.values[id]
        if v and v.storage then stale[v.storage] = true end
      end
    end
  end
  local steps = {}
  for _, s in ipairs(P.steps) do if keep[s] then steps[#steps + 1] = s end end
  local Q = M.with(P, steps)
  Q.stale = stale
  return Q
end

-- The same values, other steps.
function M.with(P, steps)
  local Q = {}
  for k, v in pairs(P) do Q[k] = v end
  Q.steps = steps
  return Q
end

-- The program on one device: every tensor whole and plain.  Raises for what has
-- no such form (from_local of parts).
function M.plain(P)
  local Q = M.with(P, {})
  Q.ranks, Q.values = 1, {}
  for id, v in pairs(P.values) do
    local copy = {}
    for k, x in pairs(v) do copy[k] = x end
    copy.placements, copy.mesh, copy.local_shape = nil, nil, v.shape
    copy.replaced = v.placements ~= nil
    Q.values[id] = copy
  end
  for i, s in ipairs(P.steps) do
    local copy = {}
    for k, x in pairs(s) do copy[k] = x end
    if s.kind == "raw" or s.kind == "view" then
      error("parts have no whole", 0)
    end
    if s.kind == "call" then
      for _, p in ipairs(s.op == "from_local" and s.placements or {}) do
        if p ~= "R" then error("parts have no whole", 0) end
      end
      copy.kind, copy.mesh, copy.in_mesh = "alias", nil, nil
    end
    Q.steps[i] = copy
    if P.error == s then Q.error = copy end
  end
  return Q
end

M.names, M.meshes = naming.names, naming.meshes

return M
