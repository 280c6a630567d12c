-- SPDX-License-Identifier: MIT
-- dt/debug/agreed.lua: what all ranks must do alike with the programs of their
-- records (dt/debug/program.lua), which need not be alike: a rank alone may
-- have failed, or hold no part of what a step wrote.  All is Collective.

local dt = require "dt"
local plain = require "dt.debug.plain"
local program = require "dt.debug.program"

local M = {}

-- first(x) -> the plain data (a table, a text, true) of the first rank that has
-- some, that rank; nil when none has.
function M.first(x)
  local text = x ~= nil and x ~= false and plain.dump(x) or ""
  for r, other in ipairs(dt.debug.from_all(text)) do
    if other ~= "" then return plain.undump(other), r - 1 end
  end
  return nil
end

-- What is compared of an error.
local FACTS <const> = {"code", "class", "message", "where", "after", "error",
  "op", "seq", "file", "line", "kind"}

-- error_of(e) -> these facts of the first rank that has an error or a step
-- that failed; nil when none has.
function M.error_of(e)
  local facts
  for _, k in ipairs(e and FACTS or {}) do
    facts = facts or {}
    facts[k] = e[k]
  end
  return M.first(facts)
end

-- May the step communicate?
local function talks(P, s)
  if s.kind == "raw" or s.kind == "backward" then return true end
  for _, id in ipairs(s.kind ~= "leaf" and s.ins or {}) do
    if P.values[id].placements then return true end
  end
  return s.kind == "call"
end

-- A name for each step that may communicate: the same on all ranks, also where
-- they did not run equally many operators.  {[step] = text}
local function names_of(P)
  local of, count = {}, {}
  for _, s in ipairs(P.steps) do
    if talks(P, s) then
      local key = s.kind .. " " .. (s.op or "")
      count[key] = (count[key] or 0) + 1
      of[s] = key .. " " .. count[key]
    end
  end
  return of
end

local function join(list) return table.concat(list, "\n") end

-- Keys of what any rank kept, and do all keep it?
local function union(mine)
  local all, set = dt.debug.from_all(join(mine)), {}
  local alike = true
  for _, text in ipairs(all) do
    alike = alike and text == all[1]
    for key in text:gmatch("[^\n]+") do set[key] = true end
  end
  return set, alike
end

-- slice(P, targets) -> program.slice, in which a rank keeps the steps that
-- another needs: they may communicate.
function M.slice(P, targets)
  local of, list = names_of(P), {table.unpack(targets)}
  while true do
    local Q, mine, kept = program.slice(P, list), {}, {}
    for _, s in ipairs(Q.steps) do
      mine[#mine + 1] = of[s]
      kept[s] = true
    end
    local set, alike = union(mine)
    local more = 0
    for _, s in ipairs(alike and {} or P.steps) do
      if not kept[s] and set[of[s]] and s ~= P.error then
        list[#list + 1], more = s, more + 1
      end
    end
    if not M.first(more > 0 or nil) then return Q end
  end
end

-- What is said of an operator found wrong.
local WRONG <const> = {"op", "file", "line", "words", "cause", "worst"}

-- Of the operators that shadow mode found wrong here, the first that is a step of
-- `P`, and that step; with `like` the one at its place.
local function first_wrong(P, like)
  local v = dt.debug.verified()
  for _, w in ipairs(v and v.list or {}) do
    local fits = w.verdict == "wrong" and (not like or w.op == like.op
      and w.file == like.file and w.line == like.line)
    for _, s in ipairs(fits and P.steps or {}) do
      if s.seq == w.seq then return w, s end
    end
  end
end

-- wrong(P) -> the step that shadow mode found wrong first, and what is said of it:
-- on the first rank that found one.  A rank that has no such step takes its last.
-- nil when none found any.
function M.wrong(P)
  local w, facts = first_wrong(P), nil
  for _, k in ipairs(w and WRONG or {}) do
    facts = facts or {}
    facts[k] = w[k]
  end
  facts = M.first(facts)
  if not facts then return nil end
  local _, step = first_wrong(P, facts)
  return step or P.steps[#P.steps], facts
end

-- finding(P, code) -> the step that the last finding is about (of this code, or
-- one that says "wrong") and the finding: the operator's own step, or, where a
-- number was read, the one that made it.  Rank 0 chooses; nil when there is none.
function M.finding(P, code)
  local own, chosen = {}, ""
  for _, f in ipairs(dt.debug.findings()) do
    if (f.code == code or not code and f.severity == "wrong") and f.seq > 0 then
      chosen = ("%s %s %s:%d"):format(f.code, f.op, f.file, f.line)
      own[chosen] = f
    end
  end
  local f = own[dt.debug.from_all(chosen)[1]]
  local step
  for _, s in ipairs(f and P.steps or {}) do
    if s.seq <= f.seq then step = s end
  end
  return step, f
end

return M
