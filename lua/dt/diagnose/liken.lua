-- SPDX-License-Identifier: MIT
-- dt/diagnose/liken.lua: to the reports of which class a report is most like.
-- Asked when no message, place or claim says more.
--
-- The evidence is many small facts: the report's words, pairs of words, and
-- the concepts of claims.lua that occur in it ("#hang").  Two linear models
-- weigh them (wordings.lua, learnt by scripts/gen-wordings.lua from the
-- labelled texts): which class, and whether it is a fault of distributed
-- tensors at all.  A fact counts the more the fewer texts hold it.

local prose = require "dt.diagnose.prose"

local M = {}

local LIMIT = 20000             -- letters read from either end of a text

-- ---- words -------------------------------------------------------------

local idle = {}
for w in ([[the a is to of and but in for be not with on it this that are an as
  by at or if was were have has from i we my when which then than only can all
  its there one no do does so what you file line usr lib local python packages
  dist site home]]):gmatch "%S+" do
  idle[w] = true
end

-- "placements" and "placement", "sharded" and "shard" count as one.
local function stem(w)
  w = w:gsub("ies$", "y"):gsub("sses$", "ss"):gsub("([^s])s$", "%1")
  return (w:gsub("ing$", ""):gsub("ed$", ""):gsub("e$", ""))
end

local LONG = 40                 -- letters; longer ones are no words

-- Lines of code that every program begins and ends with: they say nothing of
-- what is wrong with this one.
local set_up = {"^%s*import [%w_%.]+", "^%s*from [%w_%.]+ import ",
  "^%s*[%w_%.]*init_process_group%(", "^%s*[%w_%.]*destroy_process_group%(",
  "^%s*torch%.cuda%.set_device%(", "^%s*[%w_]+ = int%(os%.environ"}

local function without_set_up(text)
  if not text:find("import ", 1, true) and not text:find("_process_group(", 1,
    true) then
    return text
  end
  local out = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local same = false
    for _, pattern in ipairs(set_up) do same = same or line:find(pattern) end
    if not same then out[#out + 1] = line end
  end
  return table.concat(out, "\n")
end

-- Where a mesh is made or printed its sizes and names are this program's: the
-- call says no more than that there is one.
local function without_meshes(text)
  return (text:gsub("(init_device_mesh)%b()", "%1 ")
    :gsub("(DeviceMesh)%b()", "%1 "))
end

-- The stems of `text` and the adjacent pairs, with the words as
-- they were written: {[stem] = words}.
local function words_of(text)
  local set, before, written = {}, nil, nil
  local told = without_meshes(without_set_up(text))
  for w in told:lower():gmatch "%f[%w_][%a_][%w_]+" do
    if not idle[w] and #w < LONG then
      local s = stem(w)
      set[s] = set[s] or w
      if w:find("_", 1, true) then
        for part in w:gmatch "[^_]+" do
          if #part > 2 then
            local part_stem = stem(part)
            set[part_stem] = set[part_stem] or part
          end
        end
      end
      if before then
        local pair = before .. " " .. s
        set[pair] = set[pair] or written .. " " .. w
      end
      before, written = s, w
    end
  end
  return set
end

-- ---- facts -------------------------------------------------------------

local function excerpt(text)
  if #text <= 2 * LIMIT then return text end
  return text:sub(1, LIMIT) .. "\n" .. text:sub(-LIMIT)
end

-- What a reading's text holds: {[fact] = as it was written}.
function M.facts(r)
  local set = words_of(excerpt(r.doc.text))
  for concept, written in pairs(prose.concepts(r)) do
    set["#" .. concept] = written
  end
  return set
end

-- How much each fact of a text weighs, so that long and short texts compare:
-- the facts in order, and their weights.  `rarity` gives a fact's weight.
function M.weigh(set, rarity)
  local list, weights, square = {}, {}, 0
  for fact in pairs(set) do
    if rarity[fact] then list[#list + 1] = fact end
  end
  table.sort(list)                      -- sums in one order, whatever the run
  for i, fact in ipairs(list) do
    weights[i] = rarity[fact]
    square = square + rarity[fact] ^ 2
  end
  local length = square > 0 and math.sqrt(square) or 1
  for i = 1, #list do weights[i] = weights[i] / length end
  return list, weights
end

-- ---- the model ---------------------------------------------------------

local model

-- {rarity = {[fact] = weight}, ours = {[fact] = weight}, classes = {[fact] =
-- {number, weight, ...}}, ids = {...}}
local function model_of(data)
  local unit = data.unit
  local m = {rarity = {}, ours = {}, classes = {}, ids = data.ids,
    bias = {}, ours_bias = data.ours_bias * unit}
  for i, b in ipairs(data.bias) do m.bias[i] = b * unit end
  for fact, n, ours, list in data.facts:gmatch "([^=;\n]+)=(%d+) (%-?%d+)([^;\n]*)"
  do
    m.rarity[fact] = math.log(1 + data.texts / math.tointeger(n))
    m.ours[fact] = math.tointeger(ours) * unit
    local row = {}
    for number, weight in list:gmatch "(%d+):(%-?%d+)" do
      row[#row + 1] = math.tointeger(number)
      row[#row + 1] = math.tointeger(weight) * unit
    end
    m.classes[fact] = row
  end
  return m
end

-- Rank by what `data` says, of the form of wordings.lua, from now on.
function M.use(data)
  model = model_of(data)
end

-- ---- likeness ----------------------------------------------------------

-- What each class and the question whether it is ours get from the facts.
local function score(list, weights)
  local sums, ours = {table.unpack(model.bias)}, model.ours_bias
  for i, fact in ipairs(list) do
    local x, row = weights[i], model.classes[fact]
    ours = ours + x * model.ours[fact]
    for k = 1, #row, 2 do
      local number = row[k]
      sums[number] = sums[number] + x * row[k + 1]
    end
  end
  return sums, ours
end

-- The classes by likeness to the reading, best first: {{id=, share=, number=},
-- ...}, where the shares of all classes sum to 1; `ours`, above 0 when it is
-- more like a report of distributed tensors than like one of other matters;
-- and the facts it was read from, for M.telling.
function M.rank(r)
  model = model or model_of(require "dt.diagnose.wordings")
  local set = M.facts(r)
  local list, weights = M.weigh(set, model.rarity)
  local sums, ours = score(list, weights)
  local ranked, top = {}, -math.huge
  for i, id in ipairs(model.ids) do
    if id ~= "-" then
      ranked[#ranked + 1] = {id = id, number = i}
      top = math.max(top, sums[i])
    end
  end
  local total = 0
  for _, c in ipairs(ranked) do
    c.share = math.exp(sums[c.number] - top)
    total = total + c.share
  end
  for _, c in ipairs(ranked) do c.share = c.share / total end
  table.sort(ranked, function (a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.number < b.number
  end)
  return ranked, ours, {written = set, list = list, weights = weights}
end

-- Is the word one of a pair that is shown already?
local function is_shown(shown, word)
  for _, text in ipairs(shown) do
    if (" " .. text .. " "):find(" " .. word .. " ", 1, true) then return true end
  end
end

-- What fact number `i` adds to the class `number`.
local function added(facts, i, number)
  local row = model.classes[facts.list[i]]
  for k = 1, #row, 2 do
    if row[k] == number then return facts.weights[i] * row[k + 1] end
  end
  return 0
end

-- The words of the text that speak most for `entry` of a ranking.
function M.telling(entry, facts, n)
  local rows = {}
  for i, fact in ipairs(facts.list) do
    local x = added(facts, i, entry.number)
    if x > 0 then rows[#rows + 1] = {fact, x} end
  end
  table.sort(rows, function (a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local out, shown = {}, {}
  for _, row in ipairs(rows) do
    local text = facts.written[row[1]]
    if #out < n and type(text) == "string" and not is_shown(shown, text) then
      shown[#shown + 1] = text
      out[#out + 1] = "\"" .. text .. "\""
    end
  end
  return table.concat(out, ", ")
end

return M
