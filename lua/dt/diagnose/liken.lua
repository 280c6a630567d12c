-- SPDX-License-Identifier: MIT
-- dt/diagnose/liken.lua: to the reports of which class a report's words are
-- most like.  Asked when no message, place or claim says more.
--
-- Every class has a list of words and pairs of words, with the number of its
-- texts that hold them (wordings.lua).  A word weighs the more the fewer texts
-- hold it; the likeness is the cosine of the two lists, 0 to 1.

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

-- The stems of `text` and the adjacent pairs, with the words as
-- they were written: {[stem] = words}.
function M.words(text)
  local set, before, written = {}, nil, nil
  for w in without_set_up(text):lower():gmatch "%f[%w_][%a_][%w_]+" do
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

-- ---- the lists of the classes ------------------------------------------

local model

-- {weight = {[word] = its weight}, classes = {{id=, [word] = weight}}}
local function build()
  local data = require "dt.diagnose.wordings"
  local total, held, by_class = 0, {}, {}
  for i, c in ipairs(data.classes) do
    total = total + c[2]
    by_class[i] = {id = c[1], texts = c[2], words = {}}
  end
  for word, list in data.words:gmatch "([^=;\n]+)=([^;\n]+)" do
    local n = 0
    for i, count in list:gmatch "(%d+):(%d+)" do
      i, count = math.tointeger(i), math.tointeger(count)
      by_class[i].words[word] = count
      n = n + count
    end
    held[word] = n
  end
  local weight = {}
  for word, n in pairs(held) do weight[word] = math.log(1 + total / n) end
  for _, c in ipairs(by_class) do
    local square = 0
    for word, count in pairs(c.words) do
      local x = math.sqrt(count / c.texts) * weight[word]
      c.words[word] = x
      square = square + x * x
    end
    c.length = math.sqrt(square)
  end
  return {weight = weight, classes = by_class}
end

-- ---- likeness ----------------------------------------------------------

local function excerpt(text)
  if #text <= 2 * LIMIT then return text end
  return text:sub(1, LIMIT) .. "\n" .. text:sub(-LIMIT)
end

-- The classes by likeness to `text`, best first: {{id=, like=, class=}, ...};
-- the id "-" stands for reports of other matters.  And the stems of the text
-- that have a weight, `written` as they were.
function M.rank(text)
  model = model or build()
  local words, square = {written = M.words(excerpt(text))}, 0
  for w in pairs(words.written) do
    local x = model.weight[w]
    if x then
      words[#words + 1] = w
      square = square + x * x
    end
  end
  table.sort(words)                     -- sums in one order, whatever the run
  local list = {}
  for i, c in ipairs(model.classes) do
    local sum = 0
    for _, w in ipairs(words) do
      local y = c.words[w]
      if y then sum = sum + model.weight[w] * y end
    end
    local length = math.sqrt(square) * c.length
    list[i] = {id = c.id, like = length > 0 and sum / length or 0, class = c,
      order = i}
  end
  table.sort(list, function (a, b)
    if a.like ~= b.like then return a.like > b.like end
    return a.order < b.order
  end)
  return list, words
end

-- Is the word one of a pair that is shown already?
local function is_shown(shown, word)
  for _, text in ipairs(shown) do
    if (" " .. text .. " "):find(" " .. word .. " ", 1, true) then return true end
  end
end

-- The words of the text that weigh most for `entry` of a ranking.
function M.telling(entry, words, n)
  local list = {}
  for _, w in ipairs(words) do
    local y = entry.class.words[w]
    if y then list[#list + 1] = {w, y * model.weight[w]} end
  end
  table.sort(list, function (a, b)
    if a[2] ~= b[2] then return a[2] > b[2] end
    return a[1] < b[1]
  end)
  local out = {}
  local shown = {}
  for _, row in ipairs(list) do
    local text = words.written[row[1]]
    if #out < n and not is_shown(shown, text) then
      shown[#shown + 1] = text
      out[#out + 1] = "\"" .. text .. "\""
    end
  end
  return table.concat(out, ", ")
end

return M
