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

local util = require "dt.util"
local advice = require "dt.diagnose.advice"
local classify = require "dt.diagnose.classify"
local clean = require "dt.diagnose.clean"
local dump = require "dt.diagnose.dump"
local evidence = require "dt.diagnose.evidence"
local facts = require "dt.diagnose.facts"
local neighbours = require "dt.diagnose.neighbours"
local opnames = require "dt.diagnose.opnames"
local prose = require "dt.diagnose.prose"
local releases = require "dt.diagnose.release"
local symptoms = require "dt.diagnose.symptoms"
local threads = require "dt.diagnose.threads"

local M = {}

local modules = {"mixed", "mesh", "train", "parallel", "traps", "more"}

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

-- What reads reports; who measures leaves out of its `signs` what is not to be
-- known.
function M.reader()
  engine = engine or classify.new(M.classes())
  return engine
end

-- The class called `id`, or nil.
function M.class(id)
  for _, c in ipairs(M.classes()) do
    if c.id == id then return c end
  end
end

-- ---- what follows from class and facts ---------------------------------

local CERTAIN = 0.9             -- so sure that the mesh need not be asked for

-- Classes that no mesh decides: types, memory, pickles, compiled code.
local mesh_free = {"dtype", "cache", "overhead", "serializ", "pickle", "meta%-",
  "compile", "fp8", "offload", "optimizer%-built", "tied", "scalar", "float",
  "plain%-entry", "state%-dict", "hook", "wrapper", "register", "async"}

local function is_about_mesh(class)
  for _, w in ipairs(mesh_free) do
    if class.id:find(w) then return false end
  end
  return true
end

-- Does a report speak of what stands on a mesh?
local function speaks_of_mesh(r)
  local text = r.doc.flat:sub(1, 1 << 16):lower()
  for _, w in ipairs {"mesh", "dtensor", "shard", "fsdp", "parallelize",
    "tensor parallel", "tensor_parallel", "context parallel", "torchtitan"} do
    if text:find(w, 1, true) then return true end
  end
  return false
end

-- Which release it is, where the report does not state it: a list of one or none.
local function ask_release(torch)
  if not torch then
    return {"Which torch release? (python -m torch.utils.collect_env)"}
  elseif torch.how ~= "inferred" then
    return {}
  end
  local range = torch.range
  return {range and range[1] ~= range[2]
    and ("Which torch release, %s to %s by its wording?"):format(range[1], range[2])
    or ("Is it torch %s? The text does not say."):format(torch.release)}
end

-- Where no class is known: what calls the innermost function of torch that the
-- traceback shows, or the traceback where there is none.
local function ask_call(frames)
  for i = #frames, 1, -1 do
    local path = frames[i].path:match "torch/[%w_/]+%.py$"
    local func = path and frames[i].func:match "^[%a_][%w_]*"
    if func then
      return {("Which line of yours leads to %s (%s), and what does it pass: types, "
        .. "shapes, placements?"):format(func, path)}
    end
  end
  return {"The whole traceback, from the first line to the last?"}
end

-- What the class asks for, what decides between reasons of a wrong number, or the
-- call.
local function ask_cause(r, allows)
  if not r.class then
    local asked = symptoms.questions(r)
    if asked then return asked end
    if r.opposed then return {r.opposed.ask} end
    return advice.tells_of_numbers(r) and advice.of_numbers
      or ask_call(r.frames)
  end
  local list = {}
  for _, q in ipairs(r.class.ask or {}) do
    local text = type(q) == "table" and q[1] or q
    if not (text:find "release" and r.torch) and (text == q or allows(q)) then
      list[#list + 1] = text
    end
  end
  return list
end

-- What else has to be known, what decides first.  `allows(q)`: does a question's
-- condition hold?
local function questions_of(r, allows)
  if r.form and not r.class then
    return {"The report as text: the whole traceback or log?"}
  elseif r.neighbour then
    return {r.neighbour.ask}
  end
  local list = {}
  for _, part in ipairs {ask_cause(r, allows), ask_release(r.torch)} do
    table.move(part, 1, #part, #list + 1, list)
  end
  local asked = not r.class and speaks_of_mesh(r)
    or r.class and r.confidence < CERTAIN and is_about_mesh(r.class)
  if asked and #r.meshes == 0 and not r.framework then
    list[#list + 1] = "How is the device mesh made (sizes, names, device)?"
  end
  if #r.frames == 0 and r.class and #r.exceptions > 0 then
    list[#list + 1] = "The traceback: which line of your code raises?"
  end
  return list
end

local function threads_of(id)
  local text = threads[id] or ""
  local list = {}
  for t in text:gmatch "%S+" do list[#list + 1] = t end
  return list
end

-- How all of `ranks` are used where the heads do not divide by them.
local function stages_of(heads, ranks)
  if not ranks or ranks < 2 or ranks > 4096 then return "" end
  local a, b = heads, ranks
  while b > 0 do a, b = b, a % b end            -- the greatest common divisor
  if a == ranks or a == 1 then return "" end
  return ("; %d by tensor parallelism in %d pipeline stages use all %d"):format(
    a, ranks // a, ranks)
end

-- How libraries print a number of heads that the degree does not divide.
local heads_over = {"[Hh]eads? %((%d+)%) must be divisible by %l[%w_ ]- %((%d+)%)",
  "AssertionError: (%d+) is not divisible by (%d+)",
  "(%d+) attention heads.- (%d+)[ -]GPU",
  "(%d+) heads? .- (%d+)[ -]GPU"}

-- Numbers that follow from the sizes in a message.
local function note_sizes(r)
  local flat = r.doc.flat
  local heads, tp
  for _, pattern in ipairs(heads_over) do
    if not heads then heads, tp = flat:match(pattern) end
  end
  heads = math.tointeger(tonumber(heads))
  if heads and heads > 0 and heads <= 4096 then
    r.notes[#r.notes + 1] = ("%d heads over %s ranks is no whole number; the "
      .. "degrees %s divide them"):format(heads, tp, util.divisors(heads, evidence.MOST_DEGREE))
      .. stages_of(heads, math.tointeger(tonumber(tp)))
    return
  end
  local size, n = flat:match("%(size (%d+)%) is not evenly divisible by "
    .. "mesh dimension %d+ %(size (%d+)%)")
  if not size then
    size, n = flat:match("dimension size (%d+) is not divisible by its mesh "
      .. "dimension (%d+)")
  end
  if not size then
    size, n = flat:match "AssertionError: (%d+) is not divisible by (%d+)"
  end
  if not size then return end
  size, n = math.tointeger(tonumber(size)), math.tointeger(tonumber(n))
  if not size or not n or n == 0 or size > 1 << 30 then return end
  r.notes[#r.notes + 1] = ("%d over %d ranks: the degrees %s divide it; "
    .. "padded it would be %d"):format(size, n,
    util.divisors(size, evidence.MOST_DEGREE), (size + n - 1) // n * n)
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
  if f.kind == "in place" then return M.class "inplace-on-partial", 0.7 end
  local text = derived[f.kind]
  if not text then return nil end
  local again = {doc = clean.read(text:format(f.op)), op = f.op,
    exceptions = {}}
  classify.run(engine, again)
  return again.class, f.kind == "mixed" and 0.75 or 0.6
end

local function read_dump(r, text)
  if not has_dump(r.doc.flat) then return end
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

-- Classes whose operator is not printed are asked for it elsewhere.
local about_operator = {"got mixed torch", "sharding strategy",
  "Sharding propagation", "in-place operations", "cross-mesh",
  "implicit redistribution"}

-- Errors about sizes: the line that raises is the operator's.
local about_sizes = {"must match the size of tensor", "same reduction dim",
  "is invalid for input of size", "shapes cannot be multiplied",
  "Sizes of tensors must match", "size mismatch, got"}

-- Is `op` of one of the families "add sub" that a class is about?  Any is, where it
-- names none.
local function is_one_of(op, families)
  if type(families) ~= "string" then return true end
  local base = op:match "^[%w_]+%.(.-)_?%." or op
  return (" " .. families .. " "):find(" " .. base .. " ", 1, true) ~= nil
end

local function name_operator(r)
  if r.op or r.form then return end
  local flat = r.doc.flat
  local asked = flat:find("torch/distributed/tensor/", 1, true) ~= nil
  for _, text in ipairs(about_operator) do
    asked = asked or flat:find(text, 1, true) ~= nil
  end
  for _, text in ipairs(r.class and about_sizes or {}) do
    asked = asked or flat:find(text, 1, true) ~= nil
  end
  asked = asked or r.class and r.class.of_operator
  if not asked and (not r.class or r.class.trap or #r.exceptions > 0) then
    return
  end
  local op, how, from = opnames.find(facts.ops(), r.doc,
    flat:find("mixed torch", 1, true) ~= nil)
  if op and is_one_of(op, r.class and r.class.of_operator) then
    r.op, r.op_how, r.op_from = op, how, from
  end
end

-- What is classified of `doc`, the lines of a report.
local function reading_of(doc, text)
  local r = {doc = doc, notes = {}, text = text}
  r.op, r.op_how = facts.op_of(doc)
  r.exceptions = facts.exceptions_of(doc)
  classify.run(M.reader(), r)
  r.notes[1] = r.opposed and r.opposed.note
  return r
end

-- The signs that hold for `text`, however sure.
function M.holding(text)
  local readable = clean.readable(text)
  return classify.holding(M.reader(), reading_of(clean.read(readable), readable))
end

-- Everything known of `text`:
--   class, name, confidence, cause, fixes, threads, questions, nearest,
--   op, args, meshes, ranks, torch, frames, user_frame, notes, foreign
function M.read(text)
  local form
  text, form = clean.readable(text)
  local doc = clean.read(text)
  local r = reading_of(doc, text)
  r.form = form
  if form == "binary" then
    r.notes[1] = "this is binary data, not text; only the readable pieces "
      .. "in it were read"
  end
  read_dump(r, text)
  if form == "binary" and r.confidence and r.confidence < 0.9 then
    r.class, r.confidence = nil, nil          -- words of a program's strings
  end
  if r.class and r.class.mark then
    r.op = facts.op_at(doc, r.class.mark) or r.op
  end
  name_operator(r)
  r.frames = facts.frames_of(doc)
  r.user_frame = facts.user_frame(r.frames)
  r.meshes = facts.meshes_of(doc)
  r.args = r.dump_args or facts.args_of(doc, r.op)
  r.device = facts.device_of(doc, r.meshes, r.op)
  r.degrees = facts.degrees_of(doc)
  r.ranks, r.all_ranks = facts.ranks_of(doc)
  r.torch = releases.find(doc, r.templates)
  local function allows(f) return classify.allows(engine, r, f) end
  r.neighbour = neighbours.of(r, allows)
  if r.neighbour then
    r.class, r.confidence, r.sign, r.because = nil, nil, nil, nil
    r.notes[#r.notes + 1] = (r.said or {})[r.neighbour.said or ""]
  end
  if r.class then
    r.cause = r.class.cause
    r.fixes = advice.fixes(r, allows)
    for _, c in ipairs(r.class.causes or {}) do
      if allows(c) then
        r.cause = r.cause .. " " .. c[1]
      end
    end
    r.threads = threads_of(r.class.id)
    note_sizes(r)
    r.notes[#r.notes + 1] = r.class.expects == "a collective that timed out"
      and evidence.waiting(r) or nil
  else
    r.fixes, r.threads = advice.of_neighbour(r, allows), {}
    local what = r.framework and "a report of " .. r.framework
      .. "'s own parallelism" or r.neighbour and r.neighbour.about or r.foreign
    r.cause = what and "This reads like " .. what
      .. (r.neighbour and r.foreign and prose.is_ours(r) and "."
        or ", not like a matter of distributed tensors.")
      .. (r.neighbour and " " .. r.neighbour.cause or "") or nil
  end
  r.questions = questions_of(r, allows)
  r.checks = advice.checks(r)
  return r
end

return M
