-- SPDX-License-Identifier: MIT
-- wordings_learner.lua: what the labelled texts of reports teach, for
-- gen-wordings.lua.
--
-- Two linear models by gradient descent over the texts: which class
-- (softmax), and ours or a report of other matters (logistic, the two kinds
-- weighing the same).  The order of the texts mixes the files, does not hang
-- on how many there are, and a text that is added moves no other.

local liken = require "dt.diagnose.liken"

local M = {}

local WIDTH <const> = 480

local TEXTS <const> = 2          -- a fact must stand in
local ROUNDS <const>, STEP <const> = 12, 6.0
local OURS_ROUNDS <const>, OURS_STEP <const> = 12, 2.0
local SMALL <const> = 1e-3       -- shares that teach nothing
local UNIT <const>, LEAST <const> = 0.1, 0.3 -- of weights that are kept

-- ---- order -------------------------------------------------------------

-- A number that the bytes of `text` make, each bit of which hangs on all.
local function mixed(text)
  local h = 0x811c9dc5
  for i = 1, #text do h = (h ~ text:byte(i)) * 0x01000193 & 0xffffffff end
  h = (h ~ h >> 16) * 0x7feb352d & 0xffffffff
  h = (h ~ h >> 15) * 0x846ca68b & 0xffffffff
  return h ~ h >> 16
end

-- `texts` ({id=, text=}) in the order they are learnt in: each once.
function M.in_order(texts)
  local list = {}
  for i, t in ipairs(texts) do list[i] = {t, mixed(t.id .. "\n" .. t.text)} end
  table.sort(list, function (a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    if a[1].id ~= b[1].id then return a[1].id < b[1].id end
    return a[1].text < b[1].text
  end)
  for i, pair in ipairs(list) do list[i] = pair[1] end
  return list
end

-- ---- facts and classes -------------------------------------------------

-- What is learnt with: the facts that several texts hold, the classes, and
-- each text's facts by weight.
local function prepare(texts)
  local held, rarity = {}, {}
  local s = {texts = texts, held = held, facts = {}, ids = {}, number = {},
    of_class = {}, lists = {}, W = {}, bias = {}, ours = {}, ours_bias = 0.0}
  for _, t in ipairs(texts) do
    for fact in pairs(t.facts) do held[fact] = (held[fact] or 0) + 1 end
  end
  for fact, n in pairs(held) do
    if n >= TEXTS then
      s.facts[#s.facts + 1] = fact
      rarity[fact] = math.log(1 + #texts / n)
    end
  end
  table.sort(s.facts)
  for _, t in ipairs(texts) do
    if not s.number[t.id] then
      s.ids[#s.ids + 1] = t.id
      s.number[t.id] = #s.ids
    end
    s.of_class[t.id] = (s.of_class[t.id] or 0) + 1
    s.lists[t] = table.pack(liken.weigh(t.facts, rarity))
  end
  for _, fact in ipairs(s.facts) do
    s.W[fact], s.ours[fact] = {}, 0.0
    for i = 1, #s.ids do s.W[fact][i] = 0.0 end
  end
  for i = 1, #s.ids do s.bias[i] = 0.0 end
  return s
end

-- ---- learning ----------------------------------------------------------

local function shares_of(s, t)
  local sums, top, total = {table.unpack(s.bias)}, -math.huge, 0
  local list, weights = s.lists[t][1], s.lists[t][2]
  for k, fact in ipairs(list) do
    local row, x = s.W[fact], weights[k]
    for i = 1, #s.ids do sums[i] = sums[i] + x * row[i] end
  end
  for i = 1, #s.ids do top = math.max(top, sums[i]) end
  for i = 1, #s.ids do
    sums[i] = math.exp(sums[i] - top)
    total = total + sums[i]
  end
  for i = 1, #s.ids do sums[i] = sums[i] / total end
  return sums
end

local function learn_class(s, t, step)
  local error_of = shares_of(s, t)
  local list, weights = s.lists[t][1], s.lists[t][2]
  local right = s.number[t.id]
  error_of[right] = error_of[right] - 1
  for i = 1, #s.ids do
    local e = error_of[i]
    if e > SMALL or e < -SMALL then
      s.bias[i] = s.bias[i] - step * 0.02 * e
      for k, fact in ipairs(list) do
        local row = s.W[fact]
        row[i] = row[i] - step * weights[k] * e
      end
    end
  end
end

local function learn_ours(s, t, step)
  local list, weights = s.lists[t][1], s.lists[t][2]
  local sum, others = s.ours_bias, s.of_class["-"]
  for k, fact in ipairs(list) do sum = sum + weights[k] * s.ours[fact] end
  local is_ours = t.id ~= "-"
  local e = (is_ours and 1 or 0) - 1 / (1 + math.exp(-sum))
  if not is_ours then e = e * (#s.texts - others) / others end
  s.ours_bias = s.ours_bias + step * 0.025 * e
  for k, fact in ipairs(list) do
    s.ours[fact] = s.ours[fact] + step * weights[k] * e
  end
end

-- What `texts` ({id=, text=, facts=}) teach.
function M.learn(texts)
  local s = prepare(M.in_order(texts))
  for round = 1, ROUNDS do
    for _, t in ipairs(s.texts) do learn_class(s, t, STEP / round) end
  end
  for round = 1, OURS_ROUNDS do
    for _, t in ipairs(s.texts) do learn_ours(s, t, OURS_STEP / round) end
  end
  return s
end

-- ---- the file ----------------------------------------------------------

local function units(x)
  return math.floor(x / UNIT + 0.5)
end

local function line_of(s, fact)
  local out = {("%s=%d %d"):format(fact, s.held[fact], units(s.ours[fact]))}
  for i = 1, #s.ids do
    local x = s.W[fact][i]
    if math.abs(x) >= LEAST then out[#out + 1] = ("%d:%d"):format(i, units(x)) end
  end
  return table.concat(out, " ")
end

local function add_list(lines, list, mark)
  local line = ""
  for _, item in ipairs(list) do
    if line ~= "" and #line + #item > WIDTH then
      lines[#lines + 1] = line
      line = ""
    end
    line = line == "" and item or line .. mark .. item
  end
  lines[#lines + 1] = line
end

local function map(list, of)
  local out = {}
  for i, x in ipairs(list) do out[i] = of(x) end
  return out
end

-- What was learnt as Lua, of texts whose sum is `sum`.
function M.written(s, sum)
  local lines = {"-- SPDX-License-Identifier: MIT",
    "-- Generated by scripts/gen-wordings.lua; do not edit.",
    "-- What liken.lua weighs a report's facts with: \"fact=texts ours "
      .. "class:weight\",",
    "-- weights in units.",
    "",
    ("return {sum = %q, texts = %d, unit = %g, ours_bias = %d, ids = {")
      :format(sum, #s.texts, UNIT, units(s.ours_bias))}
  add_list(lines, map(s.ids, function (id) return ("%q,"):format(id) end), " ")
  lines[#lines + 1] = "}, bias = {"
  add_list(lines, map(s.bias, function (b)
    return ("%d,"):format(units(b))
  end), " ")
  lines[#lines + 1] = "}, facts = [["
  add_list(lines, map(s.facts, function (fact) return line_of(s, fact) end), ";")
  lines[#lines + 1] = "]]}"
  return table.concat(lines, "\n") .. "\n"
end

return M
