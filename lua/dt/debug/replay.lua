-- SPDX-License-Identifier: MIT
-- dt/debug/replay.lua: run a program (dt/debug/program.lua) in a world inside
-- this rank, and say what it did step by step.
--
-- Only rank 0 runs it; the others get its answer.  In a pretend world nothing
-- has data, so what depends on shapes and placements alone (strategies, mixed
-- inputs, redistributions, bytes) is known within milliseconds.

local dt = require "dt"
local emit = require "dt.debug.emit"
local plain = require "dt.debug.plain"
local program = require "dt.debug.program"

local M = {}

M.dump, M.undump = plain.dump, plain.undump
local dump, undump = plain.dump, plain.undump

-- The message without numbers that depend on sizes.
function M.shape_of(message)
  return (tostring(message):gsub("%d+", "#"):gsub("%(#[#, ]*%)", "(#)")
    :gsub("%[#[#, ]*%]", "[#]"):gsub("[SRP_]%(?[^%s]*%)[SRP_()%a#]*", "*"))
end

-- An error of other ranks alone is the world's, too.
local function others_failed(r)
  local told, all = pcall(dt.debug.from_all, r.error and dump(r.error) or "")
  for _, text in ipairs(told and not r.error and all or {}) do
    if text ~= "" and not r.error then r.error, r.ok = undump(text), false end
  end
end

-- Inside the world: what the steps did.  marks: {step, entries recorded until
-- then, last operator}.  Entries are counted, for collectives of the script's
-- have no number.
function M.summary(marks, ok, err)
  local r = {ok = ok, steps = {}}
  local all = dt.debug.entries()
  local gone = dt.debug.recording().total - #all
  local from = 0
  for _, m in ipairs(marks) do
    local s = {step = m[1], collectives = 0, bytes = 0, implicit = 0, per = {},
      specs = {}, seq = m[3]}
    for k = math.max(1, from + 1 - gone), m[2] - gone do
      local e = all[k]
      for _, c in ipairs(e.collectives) do
        local key = c.op .. " on " .. c.mesh_dim
        s.collectives, s.bytes = s.collectives + 1, s.bytes + c.bytes
        s.implicit = s.implicit + (c.implicit and 1 or 0)
        s.per[key] = (s.per[key] or 0) + 1
      end
      s.specs = {}
      for i, v in ipairs(e.outputs) do s.specs[i] = v.spec or "None" end
    end
    r.steps[#r.steps + 1] = s
    from = m[2]
  end
  if not ok then
    local last
    for _, e in ipairs(dt.debug.entries()) do if e.error then last = e end end
    local object = type(err) == "table"
    r.error = {code = last and last.error or object and err.code or "LUA",
      message = object and err.message or tostring(err),
      op = last and last.op or nil}
  end
  local mem = dt.debug.mem()
  r.peak = mem.peak.total
  if not dt.debug.no_data() then others_failed(r) end
  return dump(r)
end

local FRAME = [[
local arg = ...
local marks = {}
function __mark(i)
  local now = dt.debug.recording()
  marks[#marks + 1] = {i, now.total, now.last}
end
%s
local ok, err = pcall(function ()
%s
%s
end)
return require("dt.debug.replay").%s(marks, ok, err)
]]

-- Shadow mode inside the world: the verdicts beside the rest.
function M.verdicts(marks, ok, err)
  local r = undump(M.summary(marks, ok, err))
  local v = dt.debug.verified()
  r.wrong = {}
  for i, w in ipairs(v and v.list or {}) do
    if w.verdict == "wrong" then
      r.wrong[#r.wrong + 1] = {op = w.op, cause = w.cause, words = w.words}
    end
  end
  return dump(r)
end

-- The same with the findings.
function M.found(marks, ok, err)
  local r = undump(M.summary(marks, ok, err))
  r.found = {}
  for i, f in ipairs(dt.debug.findings()) do
    r.found[i] = {code = f.code, op = f.op}
  end
  return dump(r)
end

-- run_text(text, ranks, {fake = bool, verify = bool, findings = bool, prelude =
-- text}) -> {ok, error, steps,
-- peak, wrong}.  Collective over the world: rank 0 runs it, all get it.
function M.run_text(text, ranks, o)
  o = o or {}
  local chunk = FRAME:format(o.verify and "dt.debug.verify_set(true)" or "",
    o.prelude or "", text, o.verify and "verdicts" or o.findings and "found"
    or "summary")
  local answer = ""
  if dt.rank() == 0 or dt.debug.no_data() then
    local ok, out = dt.debug.world(ranks, chunk, "",
      {fake = o.fake and 0 or nil, findings = o.findings})
    answer = dump{ok = ok, out = out}
  end
  if not o.alone then answer = dt.debug.from_all(answer)[1] end
  if answer == "" then return {ok = false, steps = {}, error =
    {code = "RUNTIME", message = "no answer"}} end
  local a = undump(answer)
  local r = a.ok and undump(a.out)
  return r or {ok = false, steps = {}, error = {code = "RUNTIME",
    message = a.out}}
end

-- run(P, o): the same for a program.
function M.run(P, o)
  local text = emit.lua(P, {mark = true, pretend = o and o.fake})
  return M.run_text(text, o and o.ranks or P.ranks, o)
end

-- dt.debug.replay([{first, last, fake, verify}]): run the record again in a
-- world of its own: what its steps did.  Collective.
function M.replay(o)
  o = o or {}
  return M.run(program.build(o), o)
end

return M
