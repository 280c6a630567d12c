-- SPDX-License-Identifier: MIT
-- dt/diagnose/fallback.lua: what is said of a report that no sign of a class
-- fits: a known message by the file that raises it, a message that is worded
-- nearly like a known one (the distance is said), the file and function of
-- the innermost frame; and the classes that lie nearest, with what would
-- decide between them.  Nothing here is surer than 0.75.

local clean = require "dt.diagnose.clean"
local evidence = require "dt.diagnose.evidence"
local liken = require "dt.diagnose.liken"
local prose = require "dt.diagnose.prose"

local M = {}

-- ---- places ------------------------------------------------------------

-- Where a message is raised -> class and confidence.  The first row that fits
-- counts; the pattern is looked for in "file.py:Class.function".
local places = {
  {"local_map", "local-map-placements", 0.7},
  {"_func_map", "local-map-placements", 0.7},
  {"parallel/style", "tp-plan-unmatched", 0.65},
  {"parallel/api", "tp-plan-unmatched", 0.65},
  {"parallel/loss", "loss-parallel-preconditions", 0.65},
  {"_load_balanc", "cp-load-balance", 0.65},
  {"_create_cp_block_mask", "cp-seq-divisibility", 0.7},
  {"experimental/_attention", "cp-backend-or-mask", 0.65},
  {"_context_parallel", "cp-backend-or-mask", 0.65},
  {"_register_sharding", "register-sharding-limits", 0.65},
  {"device_mesh", "mesh-arguments", 0.65},
  {"_mesh_layout", "mesh-arguments", 0.6},
  {"_fully_shard", "fsdp2-usage", 0.65},
  {"_composable/", "fsdp2-usage", 0.65},
  {"tensor/parallel/fsdp", "fsdp1-dtensor-legacy", 0.6},
  {"_redistribute", "sharding-propagation-failed", 0.5},
  {"_view_ops", "view-flatten-sharded-dim", 0.5},
  {"view_ops", "view-flatten-sharded-dim", 0.5},
  {"_conv_ops", "conv-tp-unsupported", 0.6},
  {"_tp_conv", "conv-tp-unsupported", 0.65},
  {"_embedding_ops", "vocab-parallel-mask", 0.55},
  {"embedding_ops", "vocab-parallel-mask", 0.55},
  {"_random", "rng-layout-dependence", 0.5},
  {"tensor/_api", "distribute-misuse", 0.55},
  {"_tensor/api", "distribute-misuse", 0.55},
  {"distribute_tensor", "distribute-misuse", 0.55},
  {"tensor/_ops", "sharding-propagation-failed", 0.55},
  {"_tensor/ops", "sharding-propagation-failed", 0.55},
  {"_sharding_prop", "sharding-propagation-failed", 0.55},
  {"sharding_prop", "sharding-propagation-failed", 0.55},
}

-- Messages whose place says less than their words.
local worded = {
  {"_StridedShard", "strided-shard-op-rules", 0.65},
  {"single root module", "fsdp2-usage", 0.7},
  {"checkpoint", "dtensor-serialization", 0.45},
}

local function place_of(where, text)
  for _, w in ipairs(worded) do
    if text and text:find(w[1], 1, true) then return w[2], w[3] end
  end
  for _, p in ipairs(places) do
    if where:find(p[1], 1, true) then return p[2], p[3] end
  end
end

local function by_template(r)
  for _, t in ipairs(r.templates) do
    local id, c = place_of(t.where, t.text)
    if id and not t.class:find "Warning$" then
      return id, c, ("a message of %s"):format(t.where)
    end
  end
end

-- Does the report hold a message that is one of the class `id`?
function M.is_message_of(r, id) return (by_template(r)) == id end

-- ---- words -------------------------------------------------------------

local common = {}
for w in ([[the a is to of and but got in for be not with on it this that are
  an as by at or if was were error runtimeerror valueerror expected tensor must
  should has have found can cannot only please from]]):gmatch "%S+" do
  common[w] = true
end

local index

-- {[word] = {template numbers}}, and the weight of each template's words.
local function words_index(templates)
  if index then return index end
  index = {by_word = {}, count = {}, weight = {}}
  for i, t in ipairs(templates) do
    local seen = {}
    for w in t.text:lower():gmatch "%a[%a_]+" do
      if not common[w] and not seen[w] then
        seen[w] = true
        local list = index.by_word[w] or {}
        list[#list + 1] = i
        index.by_word[w] = list
      end
    end
    index.count[i] = seen
  end
  local function weigh(w)
    local list = index.by_word[w]
    return list and 1 / (1 + math.log(#list)) or 1
  end
  index.weigh = weigh
  for i, seen in ipairs(index.count) do
    local sum = 0
    for w in pairs(seen) do sum = sum + weigh(w) end
    index.weight[i] = sum
  end
  return index
end

local NEAR <const>, MIN_WORDS <const> = 0.7, 4

-- The template that shares most with `message`, and how much, 0 to 1.
local function nearest_template(templates, message)
  local ix = words_index(templates)
  local seen, total, n, shared = {}, 0, 0, {}
  for w in message:sub(1, 600):lower():gmatch "%a[%a_]+" do
    if not common[w] and not seen[w] then
      seen[w] = true
      n = n + 1
      total = total + ix.weigh(w)
      for _, i in ipairs(ix.by_word[w] or {}) do
        shared[i] = (shared[i] or 0) + ix.weigh(w)
      end
    end
  end
  if n < MIN_WORDS then return nil end
  local best, most
  for i, s in pairs(shared) do
    local like = 2 * s / (total + ix.weight[i])
    if not most or like > most or like == most and i < best then
      best, most = i, like
    end
  end
  return best and templates[best], most
end

local function by_words(self, r, classify)
  for i = #r.exceptions, math.max(1, #r.exceptions - 3), -1 do
    local e = r.exceptions[i]
    local t, like = nearest_template(self.templates, e.message)
    if t and like >= NEAR then
      local text = t.class .. ": " .. t.text:gsub("{}", "")
      local again = {doc = clean.read(text), exceptions = {}, plain = true}
      classify(self, again)
      local id = again.class and again.class.id or place_of(t.where, t.text)
      if id then
        return id, 0.5 + 0.25 * (like - NEAR) / (1 - NEAR),
          ("worded nearly as \"%s\" (distance %.2f)"):format(
            t.text:sub(1, 70):gsub("\n", " "), 1 - like)
      end
    end
  end
end

-- ---- frames ------------------------------------------------------------

local ours = {"torch/distributed/tensor/", "torch/distributed/_tensor/",
  "torch/distributed/device_mesh", "torch/distributed/fsdp/_fully_shard",
  "torch/distributed/_composable", "torch/distributed/_functional"}

-- What DTensor's dispatch calls to work out shapes.
local below = {"torch/_subclasses", "torch/_ops.py", "torch/utils/", "_prims",
  "torch/_refs", "torch/_meta_registrations", "torch/_compile",
  "torch/_dynamo/eval_frame"}

local function is_below(path)
  for _, b in ipairs(below) do
    if path:find(b, 1, true) then return true end
  end
end

-- The innermost frame of the text, when it is in one of torch's own folders.
local function by_frame(r)
  local lines = r.doc.lines
  for i = #lines, 1, -1 do
    local path, fn = lines[i]:match '^%s*File "([^"]+)", line %d+,? ?i?n? ?(.*)$'
    if path and not is_below(path) then
      for _, o in ipairs(ours) do
        if path:find(o, 1, true) then
          local id, c = place_of(path .. ":" .. fn)
          if id then
            return id, math.min(c, 0.5), ("raised in %s of %s"):format(fn,
              path:match "torch/.*$")
          end
        end
      end
      return nil
    end
  end
end

-- Does the report print an exception?  Then its words are about that.
function M.raises(r)
  for _, e in ipairs(r.exceptions) do
    -- the bare name of a class says nothing the words could contradict
    if not e.class:find "Warning$" and e.message:find "%w%w%w" then
      return true
    end
  end
end

-- ---- errors of others ---------------------------------------------------

local function class_of(self, id)
  for _, class in ipairs(self.classes) do
    if class.id == id then return class end
  end
end

-- May a report with an error of others be of the class `id`?  When the class
-- brings such errors with it.
local function is_expected(self, r, id)
  local class = class_of(self, id)
  return not r.foreign or r.foreign == "shapes that do not fit"
    or class and class.expects == r.foreign
end

-- ---- likeness ----------------------------------------------------------

-- Read in ten parts, each by what the others teach (gen-wordings.lua --folds), 439
-- texts were told a class by likeness.  Where its share was below FIRST that was
-- right in 11, wrong in 19, and 5 were of other matters.  Of those left untold
-- whose words are clearly about ours (SPOKEN) and that complain in no word known
-- here, a share of 0.3 was right in 17, wrong in 6, and 2 were of other matters;
-- ALONE is a little more.
local SHARE <const>, OURS <const>, SURE <const> = 1.5, 0.55, 0.58
local CLAIMED <const> = 0.6      -- what rules of claims say is no surer
-- Between 0.3 and 0.5, 5 of 1,437 reports lose their class, and 11 of 534 of other
-- matters are no longer told one (gen-wordings.lua --folds).
local COMPLAINT <const>, NAMED <const> = 0.5, 0.4
local FIRST <const>, ALONE <const>, CHANGE <const> = 0.25, 0.35, 0.6 -- least shares
local UNSAID <const> = 0.7       -- the share of a class whose subject is not named
local TELLING = 4               -- words that are shown
local FEW = 10                  -- facts below which nothing is said
-- Times as like as what a weak rule says.  Of 643 such reports the likeness
-- contradicted one as clearly in 18: the rule was right in 2, it in 13.
local CLEARLY <const> = 3
-- How clearly the words are ours, and how much of the likeness a class then has to
-- have.  Of the texts that stayed untold in those ten parts: a complaint that is as
-- clearly ours as PLAINLY was right from a share of HINT on in 20, wrong in 8 (2 of
-- other matters); MAINLY with a share of HALF in 7 and 1; a share of MOST, where ours
-- is named and no error of others printed, in 3 and none.
local SPOKEN <const>, NAMING <const> = 2, 2.5 -- ours, and where it is named
local PLAINLY <const>, HINT <const> = 3, 0.2
local MAINLY <const>, HALF <const> = 1.5, 0.5
local HARDLY <const>, MOST <const> = 0, 0.8

-- How sure it is that the report is of the class most like it, 0 to 1.
local function certainty(first, ours)
  return 1 / (1 + math.exp(-SHARE * math.log(first.share) - OURS * ours))
end

-- The ranking of a reading, made once.
local function ranking(r)
  if not r.ranked then
    local ranked, ours, facts = liken.rank(r)
    r.ranked = {list = ranked, ours = ours, facts = facts}
  end
  return r.ranked
end

-- How like the report is to the class `id`.
local function share_of(list, id)
  for _, c in ipairs(list) do
    if c.id == id then return c.share end
  end
  return 0
end

-- What a class is about, by the beginning of its name: a report that does not
-- say so is not known for one of these by its likeness, below a share of UNSAID.
local subjects = {fsdp = "fsdp", fsdp2 = "fsdp", cp = "cp",
  compile = "compile", dcp = "checkpoint", flex = "flex", ep = "expert",
  moe = "expert", devicemesh = "checkpoint"}

-- Of the ranked classes the first whose subject the report names, or that has so
-- much of the likeness that the subject need not be said.
local function likeliest(r, list)
  local said = prose.concepts(r)
  for _, c in ipairs(list) do
    local subject = subjects[c.id:match "^%w+"]
    if not subject or said[subject] or c.share >= UNSAID then return c end
  end
  return list[1]
end

-- How sure the likeness has to be: less where a report complains of ours.
local function enough(r)
  if not prose.complains(r) then return SURE end
  return r.doc.flat:find("DTensor", 1, true) and NAMED or COMPLAINT
end

-- How much of the likeness a class has to have, however sure it is that the
-- report is one of ours: more where nothing is complained of.
local function least_share(r)
  if prose.is_change(r) then return CHANGE end
  return prose.complains(r) and FIRST or ALONE
end

-- Does it name what is ours?
local function names_ours(r)
  local said = prose.concepts(r)
  return said.dt or said.fsdp
end

-- Is it one block of code?  That says what somebody does, not what went wrong.
local function is_code_alone(r)
  local inside = r.doc.flat:match "^%s*```(.*)```%s*$"
  return inside and not inside:find("```", 1, true)
end

-- Is it one of ours so clearly that a class with this share may be told?
local function is_clear(r, ours, share)
  if prose.is_change(r) then return false end
  return ours >= NAMING and share >= FIRST and names_ours(r)
    or ours >= SPOKEN and share >= ALONE
    or ours >= MAINLY and share >= HALF
    or ours >= PLAINLY and share >= HINT and prose.complains(r)
    or ours >= HARDLY and share >= MOST and not r.foreign and prose.is_ours(r)
end

-- Is the likeness to `first` of the ranking enough to tell that class?
-- `claimed` is what a weak rule said, which stays unless the words clearly
-- speak for another; that nothing is wrong is said of small differences only.
local function is_enough(r, ranked, first, sure, claimed)
  local drift = first.id == "numerics-drift-not-bug"
  if drift and not prose.concepts(r).small
    or first.share < HALF and is_code_alone(r) then
    return false
  end
  if claimed then
    return first.share >= FIRST
      and first.share >= CLEARLY * share_of(ranked.list, claimed)
  elseif not drift and is_clear(r, ranked.ours, first.share) then
    return true
  end
  return sure >= (drift and SURE or enough(r)) and first.share >= least_share(r)
end

-- The class whose reports are most like this one, where that is enough.
local function by_likeness(self, r, claimed)
  if evidence.raises(r) and not prose.is_ours(r) or prose.announces(r)
    or not prose.is_of_several(r) then
    return nil
  end
  local ranked = ranking(r)
  local first = likeliest(r, ranked.list)
  if not is_expected(self, r, first.id) then return nil end
  local sure = certainty(first, ranked.ours)
  if #ranked.facts.list < FEW
    or not is_enough(r, ranked, first, sure, claimed) then
    return nil
  end
  return first.id, 0.25 + 0.35 * sure, "worded like reports of this "
    .. "class: " .. liken.telling(first, ranked.facts, TELLING)
end

-- The class, its confidence and why, that a report's words speak for although
-- a weak sign says it is of the class `id`.
function M.contradict(self, r, id)
  local other, c, why = by_likeness(self, r, id)
  if other and other ~= id then return class_of(self, other), c, why end
end

-- A class, its confidence and why, for a report that no sign fits.
function M.find(self, r, classify)
  local id, c, why = by_template(r)
  if not id and not r.foreign and #r.exceptions > 0 then
    id, c, why = by_words(self, r, classify)
  end
  if not id and #r.exceptions > 0 and (not r.foreign
    or r.foreign == "shapes that do not fit") then
    id, c, why = by_frame(r)
  end
  if not id and not r.plain and not M.raises(r) and not prose.announces(r) then
    id, c, why = prose.find(r)
    if id and not is_expected(self, r, id) then id = nil end
  end
  if (not id or c <= CLAIMED) and not r.plain then
    local other, likely, reason = by_likeness(self, r, id)
    if other and other ~= id then id, c, why = other, likely, reason end
  end
  if not id then return nil end
  local class = class_of(self, id)
  if class then return class, c, why end
end

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

-- Of each class, or of those in `wanted`, the sign that holds most: {[id] = {id=,
-- score=, held=, decides=, order=}}.
local function best_signs(self, r, wanted)
  local best = {}
  for _, s in ipairs(self.signs) do
    local id = self.classes[s.class].id
    if not wanted or wanted[id] then
      local score, held, open = partly(s, r)
      local b = best[id]
      if not b or score > b.score then
        best[id] = {id = id, score = score, held = held, decides = open,
          order = s.class}
      end
    end
  end
  return best
end

-- The classes some of whose conditions hold, best first.
local function by_conditions(best)
  local list = {}
  for _, b in pairs(best) do
    if b.held >= 0.9 and b.score > 0.2 then list[#list + 1] = b end
  end
  table.sort(list, function (a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.order < b.order
  end)
  return list
end

local LISTED <const>, SOME <const> = 3, 0.02 -- classes, and their least share

-- The classes whose reports are most like this one, with what would decide; `least`
-- is the share below which none is named.
local function by_ranking(self, r, ranked, least)
  local wanted, list = {}, {}
  for i = 1, math.min(LISTED, #ranked.list) do
    wanted[ranked.list[i].id] = ranked.list[i].share >= least or nil
  end
  local best = best_signs(self, r, wanted)
  for i = 1, math.min(LISTED, #ranked.list) do
    local c = ranked.list[i]
    if wanted[c.id] then
      list[#list + 1] = {id = c.id, score = c.share,
        decides = (best[c.id] or {}).decides}
    end
  end
  return list
end

-- Up to three classes: {id=, score=, decides=}.  Those whose reports are most
-- like this one, if it reads like one of ours or names what is ours, else
-- those some of whose conditions hold.
function M.nearest(self, r, least)
  local ranked, out = ranking(r), {}
  local like = (ranked.ours > 0 or prose.is_ours(r)) and #ranked.facts.list >= FEW
  local list = like and by_ranking(self, r, ranked, least or SOME)
    or by_conditions(best_signs(self, r))
  for i = 1, math.min(LISTED, #list) do
    local n = list[i]
    out[i] = {id = n.id, score = math.floor(n.score * 100 + 0.5) / 100,
      decides = n.decides}
  end
  return out
end

return M
