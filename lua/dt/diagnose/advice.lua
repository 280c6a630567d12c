-- SPDX-License-Identifier: MIT
-- dt/diagnose/advice.lua: which fixes of a class are said to this report, in
-- which words: those whose condition holds, without what the report says was
-- done, with the reporter's own names; and the commands that find out when
-- the text alone does not decide.

local code = require "dt.diagnose.code"
local facts = require "dt.diagnose.facts"
local opnames = require "dt.diagnose.opnames"
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

-- When the operator got its strategy.
local function op_story(r)
  local span = r.op and facts.ops().span[r.op]
  if not span then return nil end
  if span[1] == "2.4" then
    if span[2] ~= releases.newest then
      return nil, ("%s had a rule until %s; later it is taken apart")
        :format(r.op, span[2])
    end
    return nil, ("%s has a strategy since 2.4 or before"):format(r.op)
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
local function done(r, f)
  if not f.torch then return false end
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

-- ---- the reporter's names ----------------------------------------------

local constants = {"mask", "bias", "pos", "idx", "index", "cos", "sin",
  "freq", "offset", "scale", "label", "target", "ids", "buffer", "table",
  "const", "cache"}

local function like_constant(name)
  local low = name:lower()
  for _, c in ipairs(constants) do
    if low:find(c, 1, true) then return true end
  end
end

local function valid(name)
  return name and #name <= 40 and name:find "^[%a_][%w_%.]*$" and name ~= "self"
end

-- Modules whose functions take the tensor as an argument.
local modules = {torch = true, F = true, nn = true, np = true, dist = true,
  aten = true, ops = true, math = true}

-- A name of a tree: x, self.mask; the tensor a method is called on, or the
-- first argument of a module's function.
local function name_of(t)
  if not t then return nil end
  if t.kind == "name" or t.kind == "attr" then
    local text = code.dotted(t)
    return not text:find("?", 1, true) and not modules[text:match "^[%w_]+"]
      and text or nil
  elseif t.kind == "call" and t.fn.kind == "attr" then
    local first = t.args and t.args[1]
    return name_of(t.fn.value)
      or first and name_of(first.kind and first or first.value)
  elseif t.kind == "item" then
    return name_of(t.value)
  end
end

-- The operands of the line that raises: {x=, mask=}, in the words of classes.
local function names_in(r)
  local value
  local statements = code.statements(r.doc)
  for _, s in ipairs(statements) do
    if s.text == r.op_from then value = s.tree.value or s.tree end
  end
  if not value and r.op_how == "message" and r.op then
    local base = r.op:match "^[%w_]+%.([%w_]-)_?%."
    for _, s in ipairs(statements) do
      for _, o in ipairs(code.operators(s.tree)) do
        local last = o[1]:match "[%w_]+$"
        if last == base or opnames.comes_to(last) == r.op then
          value = s.tree.value or s.tree
        end
      end
    end
  end
  if not value then return {} end
  if value.kind == "binary" then
    local a, b = name_of(value.a), name_of(value.b)
    if a and b and like_constant(a) and not like_constant(b) then a, b = b, a end
    return {x = a, mask = b}
  end
  return {x = name_of(value)}
end

local function with_names(text, names)
  if not text then return nil end
  for from, to in pairs(names) do
    if valid(to) then
      text = text:gsub("%f[%w_.]" .. from .. "%f[^%w_]", (to:gsub("%%", "%%%%")))
    end
  end
  return text
end

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

-- What a fix calls `norm` is what the report calls the result of one of these.
local reductions = {clip_grad_norm_ = true, get_total_norm = true,
  vector_norm = true}

-- The name that the report gives a gradient norm, or nil.
local function norm_in(r)
  for _, s in ipairs(code.statements(r.doc)) do
    local target = s.tree.kind == "assign" and s.tree.targets[1]
    if target then
      for _, call in ipairs(code.calls(s.tree)) do
        if reductions[call.name] then return name_of(target) end
      end
    end
  end
end

-- Methods beside forward that read weights.
local entries = {"generate", "encode_image", "encode_text", "encode", "decode",
  "get_image_features", "get_text_features", "sample", "score", "prefill",
  "compute_loss", "predict"}

-- entry(report): of those the one that the report calls, else the function of
-- its own that raised; nil where neither is there.
function M.entry(r)
  local flat = r.doc.flat
  for _, name in ipairs(entries) do
    if flat:find("[%.%s_]" .. name .. "%f[^%w_]") then return name end
  end
  local own = r.user_frame and r.user_frame.func:match "^[%a_][%w_]*$"
  return own and own ~= "forward" and own ~= "main" and own or nil
end

-- An operator or method that a fix names as an example gives way to the
-- report's own.
local function with_operator(text, op)
  local ns = op and op:match "^([%w_]+)%."
  if text and ns then
    text = text:gsub("torch%.ops%.ns%.op%.default", "torch.ops." .. op)
  end
  if not text or not ns or ns == "aten" or ns == "prims" then return text end
  return (text:gsub("npu%.npu_fusion_attention%.default",
    (op:gsub("%%", "%%%%"))))
end

-- ---- fixes -------------------------------------------------------------

-- The fixes that can be said: those for the very message, then the class's
-- unless the former stand alone.  `allows(f)`: does a fix's condition hold?
local function candidates(r, allows)
  local list, alone = {}, false
  for _, f in ipairs(particular) do
    if f.class == r.class.id and allows(f) then
      list[#list + 1] = f
      alone = alone or f.alone
      r.cause = f.cause or r.cause
    end
  end
  if alone then return list end
  for _, f in ipairs(r.class.fixes) do
    local again = false
    for _, k in ipairs(list) do again = again or k[1] == f[1] end
    if not again and allows(f) then list[#list + 1] = f end
  end
  return list
end

-- The fixes of the report's class, likeliest first.  `allows(f)` says whether
-- the fix's own condition holds.
function M.fixes(r, allows)
  local list, release, absent = {}, sure_release(r), false
  local since, story = op_story(r)
  if r.class.id == "missing-sharding-strategy"
    or r.class.id == "index-put-and-select"
    and r.doc.flat:find("sharding strategy", 1, true) then
    if since and later(release, since) then
      list[1] = {text = "upgrade: " .. story, fixed_in = since}
    elseif story and r.class.id == "missing-sharding-strategy"
      and later(release, "2.4") and not (r.torch and r.torch.range) then
      list[1] = {text = ("upgrade: %s has a strategy there"):format(r.op),
        fixed_in = "2.4"}
    elseif story then
      r.notes[#r.notes + 1] = story
    elseif r.op and r.op:find "^aten%." then
      absent = true
      r.notes[#r.notes + 1] = r.op .. " has no strategy in any release to "
        .. releases.newest
    end
  end
  local names, left = names_in(r), {}
  names.norm = norm_in(r)
  names.generate = M.entry(r)
  for i, f in ipairs(candidates(r, allows)) do
    local old = f[1]:find "^upgrade" and f.fixed_in
      and not later(release, f.fixed_in) and r.torch.how == "stated"
    local said = i == 1 and (list[1] or absent) and f[1]:find "^upgrade"
    if not said and not old then
      local to = done(r, f) and left or list
      to[#to + 1] = {text = f[1], fixed_in = f.fixed_in,
        lua = with_operator(with_names(f.lua, names), r.op),
        torch = rewritten(f, line_read(r))
          or with_operator(with_names(f.torch, names), r.op)}
    end
  end
  if #left > 0 and #list > 0 then
    r.notes[#r.notes + 1] = "not repeated, since the report shows it was "
      .. "done: " .. left[1].text
  elseif #list == 0 then
    list = left
  end
  -- what the report's release has already goes last
  local now, had = {}, {}
  for _, f in ipairs(list) do
    if f.fixed_in and release and not later(release, f.fixed_in) then
      if r.torch.how == "stated" then
        f.text = f.text .. (" (your %s has it)"):format(release)
      end
      local to = f.text:find "^upgrade" and had or now
      to[#to + 1] = f
    else
      now[#now + 1] = f
    end
  end
  return table.move(had, 1, #had, #now + 1, now)
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

-- Does the text match one of the patterns?
local function says(low, list)
  for _, w in ipairs(list) do
    if low:find(w) then return true end
  end
end

local SEEN = 100000             -- letters of a report that are looked at

-- Does the report say that numbers are not right, and print no error?
function M.tells_of_numbers(r)
  return #r.exceptions == 0 and says(r.doc.flat:sub(1, SEEN):lower(), wrong)
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

-- Commands that find out what the text does not say.
function M.checks(r)
  local list = {}
  local low = r.doc.flat:sub(1, SEEN):lower()
  local silent = not r.class or r.class.trap or r.confidence < 0.7
  if not silent or r.form then return list end
  if says(low, stuck) then
    list[1] = "dtrepl -n 4 program.py   (names the collective each rank is in "
      .. "and the lines)"
  elseif #r.exceptions == 0 and r.class and r.class.trap
    or M.tells_of_numbers(r) then
    list[1] = "dtrepl --verify -n 4 program.py   (compares each operator with "
      .. "one device; the first that differs is named)"
    list[2] = "dtrepl -n 4 -i program.py, then :findings   (silent traps, "
      .. "with their lines)"
  end
  return list
end

return M
