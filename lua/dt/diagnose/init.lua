-- SPDX-License-Identifier: MIT
-- dt/diagnose/init.lua: a pasted report becomes a class, a cause and fixes.
--
--   local report = require("dt.diagnose").read(text)
--   print(report.class, report.confidence, report.op)
--
-- The steps: clean (lines, ranks), facts (operator, meshes, arguments),
-- classify (which class, how sure), release.  Nothing in a report is ever run
-- as Lua; a repro is written from the facts alone (repro.lua) and runs in the
-- sandbox.

local classify = require "dt.diagnose.classify"
local clean = require "dt.diagnose.clean"
local facts = require "dt.diagnose.facts"
local releases = require "dt.diagnose.release"

local M = {}

local modules = {"mixed", "mesh", "train", "parallel", "traps"}

local catalogue
local added = {}

-- All classes, the user's own first.
function M.classes()
  if catalogue then return catalogue end
  catalogue = {}
  for _, c in ipairs(added) do catalogue[#catalogue + 1] = c end
  for _, name in ipairs(modules) do
    for _, c in ipairs(require("dt.diagnose.classes." .. name)) do
      catalogue[#catalogue + 1] = c
    end
  end
  return catalogue
end

local function check_class(c)
  if type(c) ~= "table" or type(c.id) ~= "string"
    or type(c.signs) ~= "table" then
    error("a class is {id = , name = , signs = {{0.9, \"text\"}}, cause = , "
      .. "fixes = {}}", 3)
  end
  for _, s in ipairs(c.signs) do
    if type(s) ~= "table" or type(s[1]) ~= "number"
      or type(s[2]) ~= "string" then
      error(("class %s: a sign is {confidence, condition...}"):format(c.id), 3)
    end
  end
  c.name, c.cause = c.name or c.id, c.cause or ""
  c.fixes, c.ask = c.fixes or {}, c.ask or {}
end

local engine

-- Add classes of your own, in the form of lua/dt/diagnose/classes/mixed.lua.
function M.extend(list)
  for _, c in ipairs(list) do
    check_class(c)
    added[#added + 1] = c
  end
  catalogue, engine = nil, nil
end

-- The class called `id`, or nil.
function M.class(id)
  for _, c in ipairs(M.classes()) do
    if c.id == id then return c end
  end
end

-- ---- what follows from class and facts ---------------------------------

local function later(release, fixed)
  if not release or not fixed then return true end
  return (releases.number(fixed) or 0) > (releases.number(release) or 0)
end

-- When the operator got its strategy, for fixes.
local function op_story(r)
  local span = r.op and facts.ops().span[r.op]
  if not span then return nil end
  if span[1] == "2.4" then
    if span[2] ~= "2.13" then
      return nil, ("%s had a rule until %s; later it is taken apart")
        :format(r.op, span[2])
    end
    return nil, ("%s has a strategy since 2.4 or before"):format(r.op)
  end
  return span[1], ("%s has a strategy since %s"):format(r.op, span[1])
end

local function fixes_of(r)
  local list = {}
  local release = r.torch and r.torch.release
  local since, story = op_story(r)
  if r.class.id == "missing-sharding-strategy" or
    r.class.id == "index-put-and-select" then
    if since and later(release, since) then
      list[1] = {text = "upgrade: " .. story, fixed_in = since}
    elseif story then
      r.notes[#r.notes + 1] = story
    elseif r.op and r.op:find "^aten%." then
      r.notes[#r.notes + 1] = r.op .. " has no strategy in any release to "
        .. "2.13"
    end
  end
  for i, f in ipairs(r.class.fixes) do
    if not (i == 1 and list[1] and f[1]:find "^upgrade") then
      list[#list + 1] = {text = f[1], fixed_in = f.fixed_in, lua = f.lua,
        torch = f.torch}
    end
  end
  -- what the report's release has already goes last
  local now, had = {}, {}
  for _, f in ipairs(list) do
    if f.fixed_in and release and not later(release, f.fixed_in) then
      f.text = f.text .. (" (your %s has it)"):format(release)
      local to = f.text:find "^upgrade" and had or now
      to[#to + 1] = f
    else
      now[#now + 1] = f
    end
  end
  return table.move(had, 1, #had, #now + 1, now)
end

local function questions_of(r)
  local list = {}
  if r.form and not r.class then
    return {"The report as text: the whole traceback or log?"}
  end
  if not r.torch then
    list[#list + 1] = "Which torch release? (python -m torch.utils.collect_env)"
  elseif r.torch.how == "inferred" then
    list[#list + 1] = ("Is it torch %s? The text does not say."):format(
      r.torch.release)
  end
  if r.class then
    for _, q in ipairs(r.class.ask or {}) do
      if not (q:find "release" and r.torch) then list[#list + 1] = q end
    end
  else
    list[#list + 1] = "The whole traceback, from the first line to the last?"
  end
  if #r.meshes == 0 then
    list[#list + 1] = "How is the device mesh made (sizes, names, device)?"
  end
  if #r.frames == 0 and r.class then
    list[#list + 1] = "The traceback: which line of your code raises?"
  end
  return list
end

local function threads_of(id)
  local text = require("dt.diagnose.threads")[id] or ""
  local list = {}
  for t in text:gmatch "%S+" do list[#list + 1] = t end
  return list
end

-- Sizes the failing one could be divided by.
local function divisors(n, max)
  local list = {}
  for d = 1, math.min(n, max or 64) do
    if n % d == 0 then list[#list + 1] = ("%d"):format(d) end
  end
  return table.concat(list, ", ")
end

-- Numbers that follow from the sizes in a message.
local function note_sizes(r)
  local flat = r.doc.flat
  local size, n = flat:match("%(size (%d+)%) is not evenly divisible by "
    .. "mesh dimension %d+ %(size (%d+)%)")
  if not size then
    size, n = flat:match("dimension size (%d+) is not divisible by its mesh "
      .. "dimension (%d+)")
  end
  if not size then return end
  size, n = math.tointeger(tonumber(size)), math.tointeger(tonumber(n))
  if not size or not n or n == 0 or size > 1 << 30 then return end
  r.notes[#r.notes + 1] = ("%d over %d ranks: the degrees %s divide it; "
    .. "padded it would be %d"):format(size, n, divisors(size),
    (size + n - 1) // n * n)
end

-- ---- dumps -------------------------------------------------------------

-- Does `flat` hold a dump of DebugMode or CommDebugMode?
local function has_dump(flat)
  return flat:find("redistribute_input", 1, true)
    or flat:find("c10d_functional", 1, true) or flat:find("(dt: ", 1, true)
    or flat:find("['dt: ", 1, true) or flat:find("(dt$", 1, true)
end

-- What was found in a dump goes before words, behind a message.
local SURE = 0.8                -- a message is at least as sure

local derived = {
  mixed = "RuntimeError: %s: got mixed torch.Tensor and DTensor, need to "
    .. "convert all torch.Tensor to DTensor",
  missing = "NotImplementedError: Operator %s does not have a sharding "
    .. "strategy registered."}

local function class_of_dump(f)
  if f.kind == "implicit" then return M.class "hidden-redistribution", 0.62 end
  local text = derived[f.kind]
  if not text then return nil end
  local again = {doc = clean.read(text:format(f.op)), op = f.op,
    exceptions = {}}
  classify.run(engine, again)
  return again.class, f.kind == "mixed" and 0.75 or 0.6
end

local function read_dump(r, text)
  if not has_dump(r.doc.flat) then return end
  local dump = require "dt.diagnose.dump"
  local d = dump.read(clean.plain_lines(text))
  if not d then return end
  for _, n in ipairs(dump.notes(d)) do r.notes[#r.notes + 1] = n end
  r.dump = d
  local said = r.op_how == "message"
  if not said then r.op = nil end
  if said or r.confidence and r.confidence >= SURE or not d.finding then
    return
  end
  r.op, r.op_how = d.finding.op, "dump"
  r.dump_args = d.finding.args
  local class, sure = class_of_dump(d.finding)
  if class then r.class, r.confidence, r.sign = class, sure, "a dump" end
end

-- ---- reading -----------------------------------------------------------

-- Everything known of `text`:
--   class, name, confidence, cause, fixes, threads, questions, nearest,
--   op, args, meshes, ranks, torch, frames, user_frame, notes, foreign
function M.read(text)
  engine = engine or classify.new(M.classes())
  local form
  text, form = clean.readable(text)
  local doc = clean.read(text)
  local r = {doc = doc, notes = {}, form = form}
  if form == "binary" then
    r.notes[1] = "this is binary data, not text; only the readable pieces "
      .. "in it were read"
  end
  r.op, r.op_how = facts.op_of(doc)
  r.exceptions = facts.exceptions_of(doc)
  classify.run(engine, r)
  read_dump(r, text)
  if form == "binary" and r.confidence and r.confidence < 0.9 then
    r.class, r.confidence = nil, nil          -- words of a program's strings
  end
  if r.class and r.class.mark then
    r.op = facts.op_at(doc, r.class.mark) or r.op
  end
  r.frames = facts.frames_of(doc)
  r.user_frame = facts.user_frame(r.frames)
  r.meshes = facts.meshes_of(doc)
  r.args = r.dump_args or facts.args_of(doc, r.op)
  r.device = facts.device_of(doc, r.meshes, r.op)
  r.degrees = facts.degrees_of(doc)
  r.ranks, r.all_ranks = facts.ranks_of(doc)
  r.torch = releases.find(doc, r.templates)
  if r.class then
    r.fixes = fixes_of(r)
    r.cause = r.class.cause
    r.threads = threads_of(r.class.id)
    note_sizes(r)
  else
    r.fixes, r.threads = {}, {}
    r.cause = r.foreign and "This reads like " .. r.foreign
      .. ", not like a matter of distributed tensors." or nil
  end
  r.questions = questions_of(r)
  return r
end

return M
