-- SPDX-License-Identifier: MIT
-- dt/debug/mem.lua: dt.debug.mem: memory per rank by kind, from the record.
--
-- Each storage of the record is alive from the operator that made it to the
-- last that used it; what the script still holds lives on, and, where the record
-- keeps no values by which that could be known, parameters, their gradients and
-- the optimizer's state.  The peak is that of this walk:
-- what the program needs, the same in every world, whatever the allocator and
-- the record itself keep.  Kinds: parameters are said to be so by nn and
-- requires_grad; gradients by backward; the optimizer's state is what optimizers
-- hold, and what is written in place together with a gradient, outside of
-- backward.

local dt = require "dt"
local page = require "dt.debug.page"

local M = {}

local KINDS = {"parameters", "gradients", "optimizer", "activations", "comm"}

local function optimizer_op(e)
  return not e.backward and (e.op:find("^aten%._foreach_")
    or e.op:find("^aten%._fused_") or e.op:match("_%.%w+$"))
end

-- Storages that are gradients: those that backward gave to leaves or the
-- program put there, and those of fully_shard, whose parameters no operator
-- takes as they are.  storage -> when its leaf let go of it; false: it did not.
local function gradients(sharded)
  local grads, held = {}, {}
  for _, g in ipairs(dt.debug.gradients()) do grads[g.storage] = false end
  for id, kind in pairs(sharded) do
    if kind == "gradients" then grads[id] = false end
  end
  for _, g in ipairs(dt.debug.new_gradients(true)) do
    if g.storage ~= 0 then
      grads[g.storage] = false
    elseif held[g.leaf] then
      grads[held[g.leaf]] = g.seq
    end
    held[g.leaf] = g.storage ~= 0 and g.storage or nil
  end
  return grads
end

-- When storages were born that no operator made (fully_shard's buffers come back
-- without one): their numbers grow with time, so after the last operator that
-- made one with a smaller number.
local function birth(made, id)
  local low, high = 0, #made
  while low < high do
    local mid = (low + high + 1) // 2
    if made[mid].id < id then low = mid else high = mid - 1 end
  end
  return low > 0 and made[low].when + 0.46 or 0
end

-- Whole parameters of fully_shard are what it copies out of the buffer: backward
-- may need none of them as they are.
local function copied_out(e, all, last)
  if e.op == "fsdp.split_with_sizes_copy.default" then
    last.copies = e.depth
  elseif last.copies and e.depth <= last.copies then
    last.copies = nil
  elseif last.copies and e.op == "aten.copy_.default" then
    local s = all[e.inputs[1].storage]
    if s then s.kind = "parameters" end
  end
end

-- fully_shard gathers into a buffer that holds the own part already: what comes
-- out of the collective is that buffer.  What comes out of its reduce-scatter
-- are gradients; PyTorch keeps what went in until the next of the same backward
-- is made ready (FSDPParamGroup.post_backward@2.15, streams overlap there).
local function of_fully_shard(e, all, last)
  copied_out(e, all, last)
  local gathers = e.op == "_allgather_base_"
  if not gathers and e.op ~= "_reduce_scatter_base_" then
    if last.sent and not e.backward then
      last.quiet = last.quiet or e.when
    end
    return
  end
  local v, out = e.inputs[1], e.outputs[1]
  local s = v and v.storage and all[v.storage]
  local into = out and out.storage and all[out.storage]
  if not s or not into then return end
  s.kind = s.kind or "comm"
  if gathers then
    if s.bytes ~= into.bytes then return end
    into.same = true
    all[out.storage] = s
    return
  end
  into.kind = into.kind or "gradients"
  if last.sent and s.from <= (last.quiet or s.from) then
    last.sent.to = math.max(last.sent.to, s.from - 0.5)
  end
  last.sent, last.quiet = s, nil
end

-- storage -> {bytes, from, to, kind, live}, and operators in order.
local function storages(entries)
  local all, order, made, last = {}, {}, {}, {}
  local fsdp = package.loaded["dt.fsdp.param"]
  local sharded = fsdp and fsdp.storages() or {}
  local optim = package.loaded["dt.optim.base"]
  local state = optim and optim.storages() or {}
  local grads = gradients(sharded)
  local function see(e, v, out)
    if not v.storage or v.bytes == 0 then return end
    local s = all[v.storage]
    if not s then
      s = {bytes = v.bytes, to = e.when,
        from = out and e.when or math.min(birth(made, v.storage), e.when)}
      all[v.storage] = s
      order[#order + 1] = s
      if out then made[#made + 1] = {id = v.storage, when = e.when} end
    end
    s.bytes = math.max(s.bytes, v.bytes)
    s.to = math.max(s.to, e.when, grads[v.storage] or 0)
    s.live = s.live or v.live
    s.known = s.known or v.kept
    if v.param or (v.needs_grad and v.origin.seq == 0)
       or sharded[v.storage] == "parameters" then
      s.kind = "parameters"
    end
    if grads[v.storage] ~= nil and not s.kind then s.kind = "gradients" end
    if state[v.storage] and not s.kind then s.kind = "optimizer" end
  end
  for _, e in ipairs(entries) do
    for _, v in ipairs(e.inputs) do see(e, v, false) end
    for _, v in ipairs(e.outputs) do see(e, v, true) end
    of_fully_shard(e, all, last)
  end
  return all, order, grads
end

local function mark_leaves(entries, all)
  local leaf = {}
  for _, g in ipairs(dt.debug.gradients()) do leaf[g.id] = true end
  for _, e in ipairs(entries) do
    for _, side in ipairs {e.inputs, e.outputs} do
      for _, v in ipairs(side) do
        if v.id and leaf[v.id] and all[v.storage] then
          all[v.storage].kind = "parameters"
        end
      end
    end
  end
end

local function mark_optimizer(entries, all, grads)
  for _, e in ipairs(entries) do
    if e.writes and optimizer_op(e) then
      local with_grad = false
      for _, v in ipairs(e.inputs) do
        local s = v.storage and all[v.storage]
        if s and (grads[v.storage] ~= nil or s.kind == "optimizer") then
          with_grad = true
        end
      end
      for slot in pairs(e.writes) do
        local v = e.inputs[slot]
        local s = v and v.storage and all[v.storage]
        if with_grad and s and not s.kind then s.kind = "optimizer" end
      end
    end
  end
end

local stays = {parameters = true, gradients = true, optimizer = true}

-- What the collectives of an operator bring, where it is neither its input nor
-- its output: those are counted as what they are.
local function received(e)
  local most = 0
  for _, c in ipairs(e.collectives) do most = math.max(most, c.bytes_out) end
  if most > 0 and not e.op:find("^aten%.") then
    for _, v in ipairs(e.outputs) do most = most - (v.bytes or 0) end
  end
  return math.max(most, 0)
end

-- Births and deaths of storages and of what collectives send, in order: {when,
-- 1 or -1, storage}.
local function births(entries, order)
  local last = #entries > 0 and entries[#entries].when or 0
  local events = {}
  for _, s in ipairs(order) do
    s.kind = s.kind or "activations"
    if s.same then goto continue end
    if s.live or (stays[s.kind] and not s.known) then s.to = last + 1 end
    events[#events + 1] = {s.from, 1, s}
    events[#events + 1] = {s.to + 0.45, -1, s}
    ::continue::
  end
  for _, e in ipairs(entries) do
    local most = received(e)
    if most > 0 then
      local s = {kind = "comm", bytes = most}
      events[#events + 1] = {e.when + 0.1, 1, s}
      events[#events + 1] = {e.when + 0.4, -1, s}
    end
  end
  table.sort(events, function (a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  return events, last
end

local function walk(entries, order)
  local events, last = births(entries, order)
  local now, peak, at = {}, {total = 0}, 0
  for _, k in ipairs(KINDS) do now[k], peak[k] = 0, 0 end
  local total, finish = 0, {total = 0}
  for _, k in ipairs(KINDS) do finish[k] = 0 end
  for _, ev in ipairs(events) do
    local s = ev[3]
    if ev[1] < last + 1 then
      now[s.kind] = now[s.kind] + ev[2] * s.bytes
      total = total + ev[2] * s.bytes
      if total > peak.total then
        peak = {total = total}
        for _, k in ipairs(KINDS) do peak[k] = now[k] end
        at = ev[1]
      end
    end
  end
  for _, k in ipairs(KINDS) do
    finish[k] = now[k]
    finish.total = finish.total + now[k]
  end
  return finish, peak, at
end

local function text(d)
  local rows = {{"", "now", "at the peak"}}
  for _, k in ipairs(KINDS) do
    rows[#rows + 1] = {k, page.bytes(d.now[k]), page.bytes(d.peak[k])}
  end
  rows[#rows + 1] = {"total", page.bytes(d.now.total),
    page.bytes(d.peak.total)}
  local out = page.columns(rows)
  if d.at then
    out = out .. ("\npeak at %s%s  %s"):format(d.at.seq > 0
      and "#" .. d.at.seq .. " " or "", d.at.op, page.place(d.at))
  end
  return out
end

-- When each entry was: its operator's number; communication outside operators
-- has none and comes between the two beside it.
local function ordered(entries)
  local before = 0
  for _, e in ipairs(entries) do
    e.when = e.seq > 0 and e.seq or before + 0.5
    before = e.seq > 0 and e.seq or before
  end
  return entries
end

local function read()
  collectgarbage()                      -- held or not: no matter of when
  collectgarbage()
  local entries = ordered(dt.debug.entries())
  local all, order, grads = storages(entries)
  mark_leaves(entries, all)
  mark_optimizer(entries, all, grads)
  return entries, order
end

-- series() -> {{seq, at its end?, bytes by kind as JSON}}: memory as operators
-- run, in order: with what a call makes, and after it; what is on its way to
-- other ranks is not in it.  Local.
function M.series()
  local entries, order = read()
  local now, out, pending = {}, {}, nil
  for _, k in ipairs(KINDS) do now[k] = 0 end
  local function say(seq, at_end)
    if seq < 1 then return end
    local text = {}
    for i, k in ipairs(KINDS) do
      if k ~= "comm" then text[i] = ("%q:%d"):format(k, now[k]) end
    end
    out[#out + 1] = {seq, at_end, "{" .. table.concat(text, ",") .. "}"}
  end
  for _, ev in ipairs(births(entries, order)) do
    local seq = math.floor(ev[1])
    local at_end = ev[1] - seq > 0.3
    if pending and (pending.seq ~= seq or pending.at_end ~= at_end) then
      say(pending.seq, pending.at_end)
    end
    pending = {seq = seq, at_end = at_end}
    now[ev[3].kind] = now[ev[3].kind] + ev[2] * ev[3].bytes
  end
  if pending then say(pending.seq, pending.at_end) end
  return out
end

-- dt.debug.mem(): bytes of this rank: {now = {parameters, gradients, optimizer,
-- activations, comm, total}, peak = {...}, at = {seq, op, file, line}}.
function M.mem()
  local entries, order = read()
  local now, peak, seq = walk(entries, order)
  local at
  for _, e in ipairs(entries) do
    if e.when <= math.max(seq, 1) then
      at = {seq = e.seq, op = e.op, file = e.file, line = e.line}
    end
  end
  return page.new({now = now, peak = peak, at = at}, text)
end

return M
