-- SPDX-License-Identifier: MIT
-- dt/diagnose/advice.lua: which fixes of a class are said to this report, in
-- which words: those whose condition holds, without what the report says was
-- done, with the reporter's own names; and the commands that find out when
-- the text alone does not decide.

local facts = require "dt.diagnose.facts"
local names = require "dt.diagnose.names"
local particular = require "dt.diagnose.particular"
local releases = require "dt.diagnose.release"

local M = {}

-- ---- releases ----------------------------------------------------------

local function later(release, fixed)
  if not release or not fixed then return true end
  return (releases.number(fixed) or 0) > (releases.number(release) or 0)
end

-- The release the report surely has: the one it states, or the oldest that
-- its wording allows.
local function sure_release(r)
  local t = r.torch
  return t and (t.how == "stated" and t.release or t.range and t.range[1])
end

-- Operators that every release takes for some arguments only: no upgrade helps.
local for_some = {["aten.as_strided.default"] =
  "as_strided of a DTensor is taken only where it changes nothing or, in late "
    .. "releases, permutes the dimensions"}

-- When the operator got its strategy.
local function op_story(r)
  if for_some[r.op or ""] then return nil, for_some[r.op], true end
  local span = r.op and facts.ops().span[r.op]
  if not span then return nil end
  if span[1] == releases.oldest then
    if span[2] ~= releases.newest then
      return nil, ("%s had a rule until %s; later it is taken apart")
        :format(r.op, span[2])
    end
    return nil, ("%s has a strategy since %s or before"):format(r.op,
      releases.oldest)
  end
  return span[1], ("%s has a strategy since %s"):format(r.op, span[1])
end

-- ---- what was done already ---------------------------------------------

-- Calls whose presence in a report's code means that the fix was tried.
local telling = {"register_fsdp_forward_method", "implicit_replication",
  "set_requires_gradient_sync", "context_parallel_unshard",
  "register_sharding", "local_map", "sdpa_kernel", "set_device",
  "set_model_state_dict", "mark_sharding", "to_empty", "_flatten"}

-- Does the report's own text show what the fix asks for?
local function shown(r, f)
  local flat = r.doc.flat
  local settings, found = 0, 0
  for name, value in f.torch:gmatch "([%a_][%w_]*)=([%w_][%w_%.]*)" do
    if #name > 4 and name ~= "shape" then
      settings = settings + 1
      if flat:find(name .. "=" .. value, 1, true)
        or flat:find(name .. " = " .. value, 1, true) then
        found = found + 1
      end
    end
  end
  if settings > 0 and found == settings then return true end
  for _, call in ipairs(telling) do
    if f.torch:find(call, 1, true) and flat:find(call .. "(", 1, true) then
      return true
    end
  end
  return false
end

-- Words by which a report says how it went with what a sentence names.
local it_helped = {"makes it run", "made it run", "works", "worked", "resolves",
  "resolved", "solves", "solved", "fixes", "%f[%a]fixed", "helps", "helped",
  "is ok%f[%A]", "is fine", "is flat", "are flat", "is right", "it runs%f[%A]",
  "would do%f[%A]", "agrees", "is gone", "goes away", "went away"}
local it_did_not = {"not help", "n't help", "no effect", "not an option",
  "not possible", "no difference", "even with", "even when", "%f[%a]tried",
  "same error", "not work", "n't work", "still%f[%A]"}
local unclear = {"%f[%a]not%f[%A]", "n't%f[%A]", "%f[%a]fail", "error", "crash",
  "%f[%a]hang", "%f[%a]but%f[%A]", "wrong", "%f[%a]used to%f[%A]", "slow",
  "%f[%a]no ", "%f[%a]if%f[%A]", "should", "out of memory", "%?$"}

local function has(low, list)
  for _, w in ipairs(list) do
    if low:find(w) then return true end
  end
  return false
end

-- By what a fix is known in prose: its settings, else the call that it is.
local function marks_of(f)
  local list = {}
  for name, value in f.torch:gmatch "([%a_][%w_]*)=(%u[%w_%.]*)" do
    if #name > 4 then list[#list + 1] = name .. "=" .. value end
  end
  if #list == 0 then
    local call = f.torch:match "^w?i?t?h? ?[%w_%.]-([%a_][%w_]+)%("
    if call and #call > 5 then list[1] = call end
  end
  return list
end

local LINES <const> = 400       -- of a report in which fixes are looked for

-- What the report says of the fix: "helped", "tried" or nil.
local function told(r, f)
  local marks = f.torch and marks_of(f) or {}
  if #marks == 0 then return nil end
  for i = 1, math.min(#r.doc.lines, LINES) do
    local line = r.doc.lines[i]
    for sentence in (line:gsub("([%.;!%?]) ", "%1\n") .. "\n"):gmatch "([^\n]+)\n" do
      local near = sentence:gsub(" ?= ?", "=")
      for _, mark in ipairs(marks) do
        if near:find(mark, 1, true) then
          local low = near:lower()
          if has(low, it_did_not) then return "tried" end
          if has(low, it_helped) and not has(low, unclear) then
            return "helped"
          end
        end
      end
    end
  end
end

-- Was the fix done already, as code shows or words tell?
local function done(r, f)
  if type(f.done) == "string" then
    return r.doc.flat:find(f.done) ~= nil
  end
  return f.torch and f.done ~= false and shown(r, f)
end

-- ---- the reporter's words ----------------------------------------------

-- The reporter's own line that reads a number, where one was found.
local function line_read(r)
  for _, name in ipairs {"reads_reduction", "reads_local"} do
    local line = r.said and r.said[name] and r.said[name]:match "^the line: (.+)$"
    if line and select(2, line:gsub("%(", "")) == select(2, line:gsub("%)", ""))
    then
      return line
    end
  end
end

-- The line as the fix wants it: the first of its rewritings that applies.
local function rewritten(f, line)
  for _, pair in ipairs(line and f.rewrite or {}) do
    local at, to = line:find(pair[1], 1, true)
    if at then return line:sub(1, at - 1) .. pair[2] .. line:sub(to + 1) end
  end
end

-- An operator or method that a fix names as an example, `examples` among them,
-- gives way to the report's own.
local function with_operator(text, op, examples)
  local ns = op and op:match "^([%w_]+)%."
  if not text or not ns then return text end
  text = text:gsub("torch%.ops%.ns%.op%.default", "torch.ops." .. op)
  local method = op:match "^aten%.(%a[%w_]-)_?%."
  for _, call in ipairs(method and not method:find "^linalg" and examples or {}) do
    local from, to = text:find(call, 1, true)
    if from and call:match "^[%w_]+" ~= method then
      text = text:sub(1, from - 1) .. method .. "(...)" .. text:sub(to + 1)
    end
  end
  if ns == "aten" or ns == "prims" then return text end
  return (text:gsub("npu%.npu_fusion_attention%.default",
    (op:gsub("%%", "%%%%"))))
end

-- ---- fixes -------------------------------------------------------------

-- Is the fix in the list, in the same words or as the same code?
local function is_among(list, f)
  for _, k in ipairs(list) do
    if k[1] == f[1] or f.torch and k.torch == f.torch then return true end
  end
  return false
end

-- The fixes that can be said: those for the very message, then the class's
-- unless the former stand alone.  `allows(f)`: does a fix's condition hold?
local function candidates(r, allows)
  local list, alone = {}, false
  local function add(fixes)
    for _, f in ipairs(fixes) do
      if not is_among(list, f) and allows(f) and (not f.made or f.made(r) ~= nil) then
        list[#list + 1] = f
      end
    end
  end
  for _, row in ipairs(particular.of(r.class.id)) do
    if allows(row) then
      add(row.fixes)
      alone = alone or row.alone
      r.cause = row.cause or r.cause
    end
  end
  if not alone then add(r.class.fixes) end
  return list
end

-- The upgrade that brings the operator a strategy, as a list of one or none;
-- whether none can.
local function upgrade_of(r, release)
  local since, story, partly = op_story(r)
  local missing = r.class.id == "missing-sharding-strategy"
  if not missing and not (r.class.id == "index-put-and-select"
    and r.doc.flat:find("sharding strategy", 1, true)) then
    return {}, false
  end
  if since and later(release, since) then
    return {{text = "upgrade: " .. story, fixed_in = since}}, false
  elseif story and missing and not partly and later(release, releases.oldest)
    and not (r.torch and r.torch.range) then
    return {{text = ("upgrade: %s has a strategy there"):format(r.op),
      fixed_in = releases.oldest}}, false
  elseif story then
    r.notes[#r.notes + 1] = story
    return {}, partly
  elseif r.op and r.op:find "^aten%." then
    r.notes[#r.notes + 1] = r.op .. " has no strategy in any release to "
      .. releases.newest
    return {}, true
  end
  return {}, false
end

-- A fix in the report's words.  What is made for this very report (`made`) needs no
-- names put in.
local function in_words(r, f, own)
  local made = f.made and f.made(r)
  if made then return {text = f[1], fixed_in = f.fixed_in, torch = made} end
  return {text = f[1], fixed_in = f.fixed_in,
    lua = with_operator(names.put(f.lua, own, f.x), r.op, f.examples),
    torch = rewritten(f, line_read(r)) or f.adds and names.own_call(r, f.adds)
      or with_operator(names.put(f.torch, own, f.x), r.op, f.examples)}
end

-- What the report's release has already goes last.
local function by_release(r, list, release)
  local now, had = {}, {}
  for _, f in ipairs(list) do
    local to = now
    if f.fixed_in and release and not later(release, f.fixed_in) then
      if r.torch.how == "stated" then
        f.text = f.text .. (" (your %s has it)"):format(release)
      end
      to = f.text:find "^upgrade" and had or now
    end
    to[#to + 1] = f
  end
  return table.move(had, 1, #had, #now + 1, now)
end

-- The fixes of `given` that are said to this report, in its words, behind those of
-- `list`.  `is_told(f)`: has it been said already?
local function chosen(r, given, list, is_told)
  local release = sure_release(r)
  local own, left, found = names.of(r), {}, {}
  for _, f in ipairs(given) do
    local old = f[1]:find "^upgrade" and f.fixed_in
      and not later(release, f.fixed_in) and r.torch.how == "stated"
    if not old and not is_told(f) then
      local how, fix = told(r, f), in_words(r, f, own)
      fix.helped = how == "helped" or nil
      local to = fix.helped and found
        or (how == "tried" or done(r, f)) and left or list
      to[#to + 1] = fix
    end
  end
  list = table.move(list, 1, #list, #found + 1, found)
  if #left > 0 and #list > 0 then
    r.notes[#r.notes + 1] = "not repeated, since the report shows it was "
      .. "done: " .. left[1].text
  elseif #list == 0 then
    list = left
  end
  return by_release(r, list, release)
end

-- The fixes of the report's class, likeliest first.  `allows(f)` says whether
-- the fix's own condition holds.
function M.fixes(r, allows)
  local list, absent = upgrade_of(r, sure_release(r))
  local upgrade = #list > 0 or absent
  return chosen(r, candidates(r, allows), list, function (f)
    return upgrade and f == r.class.fixes[1] and f[1]:find "^upgrade"
  end)
end

-- The fixes of the row that knows the message of a report of no class, if any.
function M.of_neighbour(r, allows)
  local given = {}
  for _, f in ipairs(r.neighbour and r.neighbour.fixes or {}) do
    if allows(f) then given[#given + 1] = f end
  end
  return chosen(r, given, {}, function () return false end)
end

-- ---- finding out -------------------------------------------------------

local wrong = {"loss is wrong", "wrong loss", "loss differs", "different loss",
  "loss is different", "results differ", "different results", "wrong result",
  "incorrect result", "not the same as", "does not match", "doesn't match",
  "gibberish", "nonsens", "garbage", "diverge", "nan loss", "loss is nan",
  "grad norm", "mismatch", "incorrect", "different from", "differs from",
  "different than", "drift", "gradients differ", "gradients are different",
  "loss is higher", "loss is lower", "higher loss", "lower loss",
  "higher than on one", "lower than on one", "not converge", "worse than"}
local stuck = {"%f[%a]hang", "deadlock", "%f[%a]stuck%f[%A]", "watchdog",
  "timed out", "timeout"}

local SEEN = 100000             -- letters of a report that are looked at

-- Does the report say that numbers are not right, and print no error?
function M.tells_of_numbers(r)
  return #r.exceptions == 0 and has(r.doc.flat:sub(1, SEEN):lower(), wrong)
    or false
end

-- What decides between the reasons of a wrong loss.
M.of_numbers = {
  "Does step 0's forward differ already, or only what follows the first "
    .. "optimizer step?",
  "Are weights and samples the same (a checksum of each; one batch for the "
    .. "ranks of a tp group, another for each dp rank)?",
  "What is the loss divided by: this rank's tokens, or those of all ranks?",
  "How are gradients reduced and clipped: by the wrapper, or by hand?",
  "By how much does it differ, and does it grow (float32, dropout off)?"}

-- Does the traceback go through torch.distributed?
local function is_of_ranks(frames)
  for _, f in ipairs(frames) do
    if f.path:find("torch/distributed/", 1, true) then return true end
  end
  return false
end

-- Commands that find out what the text does not say.
function M.checks(r)
  local list = {}
  local low = r.doc.flat:sub(1, SEEN):lower()
  local silent = not r.class or r.class.trap or r.confidence < 0.7
  if not silent or r.form then return list end
  if not r.class and not r.neighbour and #r.exceptions > 0
    and is_of_ranks(r.frames) then
    return {"dtrepl -n 4 program.py   (stops where it raises: your line, the "
      .. "tensors, their placements)"}
  end
  if has(low, stuck) then
    list[1] = "dtrepl -n 4 program.py   (names the collective each rank is in "
      .. "and the lines)"
  elseif #r.exceptions == 0 and r.class and r.class.trap
    or M.tells_of_numbers(r) and not r.neighbour then
    list[1] = "dtrepl --verify -n 4 program.py   (compares each operator with "
      .. "one device; the first that differs is named)"
    list[2] = "dtrepl -n 4 -i program.py, then :findings   (silent traps, "
      .. "with their lines)"
  end
  return list
end

return M
