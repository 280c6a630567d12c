-- SPDX-License-Identifier: MIT
-- dt/diagnose/combine.lua: which class all that a report says speaks for, when
-- no exact message settles it.
--
-- Each class is weighed by three kinds of evidence at once: how like the words
-- are to its reports (liken.lua), its signs, as far as they hold, and what
-- hints at it (fallback.lua).  None of them decides alone: of 67 threads that
-- neither the signs nor the texts were made from, the signs alone gave the
-- right class in 31, likeness put it first in 49, both together in 55.  Whether
-- a class is told at all is weighed as well: is it a matter of distributed
-- tensors, and does the first class stand clearly before the others?

local liken = require "dt.diagnose.liken"
local prose = require "dt.diagnose.prose"

local M = {}

-- ---- the nearest classes -----------------------------------------------

-- A condition in words: what the report would have to say.
local function told(text)
  local mark, rest = text:sub(1, 1), text:sub(2)
  if mark == "~" then return "\"" .. rest:match "^[^|]+" .. "\"" end
  if mark == "@" then return "the operator " .. rest:match "^[^|]+" end
  if mark == "!" or mark == "=" or mark == "/" then return nil end
  return "\"" .. text .. "\""
end

-- Words that are in every other report decide nothing.
local vague = {"fail", "error", "wrong", "DTensor", "support", "incorrect",
  "mismatch", "different", "slow", "memory", "value", "torch.compile"}

-- The weight of a condition alone.
local function tells(text)
  local mark = text:sub(1, 1)
  if mark == "=" then return 0.3 end
  if mark == "~" or mark == "/" then
    for _, w in ipairs(vague) do
      if text:find(w, 1, true) then return 0.1 end
    end
    return 0.6
  end
  for _, w in ipairs(vague) do
    if text == w then return 0.1 end
  end
  return 1
end

-- How far the conditions of a sign hold: a score, the weight of those that
-- do, and the first that does not, in words.
local function partly(s, r)
  local held, asked, open = 0, 0, nil
  for k, f in ipairs(s.when) do
    local text = s.conditions[k + 1]
    if text:sub(1, 1) ~= "!" then
      local counts = tells(text)
      asked = asked + counts
      if f(r) then held = held + counts else open = open or told(text) end
    elseif not f(r) then
      asked = asked + 10
    end
  end
  return asked > 0 and held / asked * s.score or 0, held, open
end

-- Of each class the sign that holds most: {[id] = {id=, score=, held=,
-- decides=, order=}}.
local function best_signs(self, r)
  local best = {}
  for _, s in ipairs(self.signs) do
    local score, held, open = partly(s, r)
    local class = self.classes[s.class]
    local b = best[class.id]
    if not b or score > b.score then
      best[class.id] = {id = class.id, score = score, held = held,
        decides = open, order = s.class}
    end
  end
  return best
end

-- ---- the classes together ----------------------------------------------

-- Weights beside the logarithm of the likeness; the least likeness that counts.
local PARTLY <const>, FULLY <const>, HINTED <const> = 4, 4, 0.5
local LEAST <const> = 1e-5

-- May the class be told by likeness?  That nothing is wrong is said of small
-- differences only.
local function is_open(r, id)
  return id ~= "numerics-drift-not-bug" or prose.concepts(r).small
end

-- All classes by all evidence, best first: {id=, score=, share=, full=,
-- part=, decides=}; `full` are the signs that hold ({class=, score=}), `hint`
-- the class hinted at; and what liken.rank says.
local function ranking(self, r, full, hint)
  local ranked, ours, facts = liken.rank(r)
  local best, held, list = best_signs(self, r), {}, {}
  local like = {}
  for _, s in ipairs(full) do held[s.class.id] = s.score end
  for _, c in ipairs(ranked) do like[c.id] = c end
  for i, class in ipairs(self.classes) do
    local id, b = class.id, best[class.id] or {held = 0}
    if held[id] or id == hint or is_open(r, id) then
      local share = like[id] and like[id].share or 0
      local part = b.held > 0 and b.score or 0
      list[#list + 1] = {id = id, class = class, share = share, part = part,
        full = held[id] or 0, decides = b.decides, order = i,
        number = like[id] and like[id].number,
        score = math.log(math.max(share, LEAST)) + PARTLY * part
          + FULLY * (held[id] or 0) + (id == hint and HINTED or 0)}
    end
  end
  table.sort(list, function (a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.order < b.order
  end)
  return list, ours, facts
end

-- ---- is it told --------------------------------------------------------

local function flag(x)
  return x and 1 or 0
end

-- Is the report's error one that the class does not bring with it?
local function is_strange(r, class)
  return r.foreign and r.foreign ~= "shapes that do not fit"
    and r.foreign ~= class.expects
end

-- What speaks for and against telling the first class of `list`.
local function marks(r, list, apart, ours, hint, sure)
  local first, most = list[1], 0
  for _, c in ipairs(list) do most = math.max(most, c.full) end
  return {
    ours = ours, apart = apart, most = most, full = first.full,
    share = math.log(math.max(first.share, LEAST)),
    is_ours = flag(prose.is_ours(r)), announces = flag(prose.announces(r)),
    change = flag(prose.is_change(r)), foreign = flag(r.foreign),
    dtensor = flag(r.doc.flat:find("DTensor", 1, true)),
    raised = math.min(#r.exceptions, 2),
    strange = flag(is_strange(r, first.class)),
    hinted = flag(hint), agrees = flag(hint == first.id), sure = sure or 0}
end

-- How much each mark speaks for telling the class (a logistic model).
local SPEAKS <const> = {bias = -0.85, agrees = 0.9, announces = -2.2,
  apart = 0.5, change = -2.2, dtensor = 0.49, foreign = -0.75, full = 0.84,
  hinted = 1.17, is_ours = 1.4, most = 0.88, ours = 0.33, raised = -0.63,
  share = 0.46, strange = -0.91, sure = 1.68}

local function sum_of(marked)
  local sum = SPEAKS.bias
  for name, weight in pairs(SPEAKS) do
    if name ~= "bias" then sum = sum + weight * marked[name] end
  end
  return sum
end

-- ---- the answer --------------------------------------------------------

local LISTED <const> = 3        -- nearest classes
local FEW <const> = 12          -- facts below which words alone say nothing
local APART <const>, CHANGE <const> = 0.36, 0.6 -- least shares of the first class
local SOME <const> = 0.02       -- least share of one that is listed
local TELLING <const> = 4       -- words that are shown
local WORST <const>, SPAN <const> = 0.3, 0.3 -- confidence, and what is added

local function nearest_of(list)
  local out, total = {}, 0
  for _, c in ipairs(list) do total = total + math.exp(c.score - list[1].score) end
  for i = 1, math.min(LISTED, #list) do
    local share = math.exp(list[i].score - list[1].score) / total
    if share < SOME then break end
    out[i] = {id = list[i].id, decides = list[i].decides,
      score = math.floor(100 * share + 0.5) / 100}
  end
  return out
end

local function why_of(first, facts)
  return "worded like reports of this class: "
    .. liken.telling(first, facts, TELLING)
end

-- Weighs a reading: {id=, confidence=, why=} of the class that is told, or nil;
-- and the nearest classes.  `full` are the signs that hold, `hint` {id=,
-- confidence=, why=, sign=} what one kind of evidence alone would say.
function M.weigh(self, r, full, hint)
  hint = hint or {}
  local list, ours, facts = ranking(self, r, full, hint.id)
  local first = list[1]
  if not first then return nil, {} end
  local near = nearest_of(list)
  if #facts.list == 0 then return hint.id and hint or nil, near end
  local marked = marks(r, list, near[1].score, ours, hint.id, hint.confidence)
  local sum = sum_of(marked)
  local enough = sum > 0 and marked.announces == 0 and (hint.id or #facts.list >= FEW
    and near[1].score >= (marked.change > 0 and CHANGE or APART))
  if not enough and (not hint.sign or marked.announces > 0) then
    return nil, near
  end
  if first.id == hint.id then return hint, near end
  return {id = first.id, why = why_of(first, facts),
    confidence = WORST + SPAN / (1 + math.exp(-sum))}, near
end

return M
