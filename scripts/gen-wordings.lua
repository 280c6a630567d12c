-- SPDX-License-Identifier: MIT
-- gen-wordings.lua [--check]: lua/dt/diagnose/wordings.lua, how much each fact
-- of a report speaks for each class, learnt from the texts in tests/diagnose
-- and from what the classes say of themselves.  With --check nothing is
-- learnt or written; it fails when the file was made from other texts.
--
-- Two linear models by gradient descent over the texts, in a fixed order:
-- which class (softmax), and ours or a report of other matters (logistic, the
-- two kinds weighing the same).  What is learnt depends in its last digit on
-- the machine's exp(), so that the file names its texts by a sum.

package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
package.preload.dt = function ()
  return {None = {}, error = function (_, text) return text end}
end

local OUT <const> = "lua/dt/diagnose/wordings.lua"
local FILES <const> = {"claims", "decoys", "dumps", "later", "mesh", "mixed",
  "parallel", "prose", "public", "recent", "shapes", "threads", "train", "fresh",
  "described", "further", "reported"}
local WIDTH <const> = 480

local TEXTS <const> = 2          -- a fact must stand in
local ROUNDS <const>, STEP <const> = 12, 6.0
local OURS_ROUNDS <const>, OURS_STEP <const> = 12, 2.0
local STRIDE <const> = 389       -- from one text to the next, a prime
local SMALL <const> = 1e-3       -- shares that teach nothing
local UNIT <const>, LEAST <const> = 0.1, 0.3 -- of weights that are kept

require "torch.diagnose"
local clean = require "dt.diagnose.clean"
local diagnose = require "dt.diagnose"
local liken = require "dt.diagnose.liken"

-- ---- texts -------------------------------------------------------------

local texts = {}                 -- {id=, text=}

local function add_text(id, text)
  texts[#texts + 1] = {id = id, text = text}
end

local function add_file(name)
  local id, lines
  local function close()
    if id then add_text(id, table.concat(lines, "\n")) end
  end
  for line in io.lines("tests/diagnose/" .. name .. ".txt") do
    local head = line:match "^=== (%S+)"
    if head then
      close()
      id, lines = head, {}
    elseif lines then
      lines[#lines + 1] = line
    end
  end
  close()
end

-- What a class says of itself: one text of prose, one of its signs.
local function add_class(c)
  local said, signs = {c.name, c.cause}, {}
  for _, f in ipairs(c.fixes) do
    said[#said + 1] = f[1]
    said[#said + 1] = f.torch
  end
  for _, q in ipairs(c.ask or {}) do said[#said + 1] = q end
  for _, s in ipairs(c.signs) do
    for k = 2, #s do
      if not s[k]:find "^[!=@/]" then
        signs[#signs + 1] = s[k]:gsub("[|~]", " . ")
      end
    end
  end
  add_text(c.id, table.concat(said, " "))
  add_text(c.id, table.concat(signs, " . "))
end

for _, c in ipairs(diagnose.classes()) do add_class(c) end
for _, name in ipairs(FILES) do add_file(name) end
for _, t in ipairs(texts) do
  t.facts = liken.facts {doc = clean.read(t.text), exceptions = {}}
end

-- A number for all texts and facts; the models are made from nothing else.
local function sum_of_texts()
  local sum = 0
  local function add(text)
    for i = 1, #text do sum = (sum * 31 + text:byte(i)) & 0xffffffff end
  end
  for _, t in ipairs(texts) do
    add(t.id)
    local list = {}
    for fact in pairs(t.facts) do list[#list + 1] = fact end
    table.sort(list)
    add(table.concat(list, ";"))
  end
  return ("%08x"):format(sum)
end

local sum = sum_of_texts()
local f = io.open(OUT, "rb")
local old = f and f:read "a" or ""
if f then f:close() end
if old:find('sum = "' .. sum .. '"', 1, true) then os.exit(0) end
if arg[1] == "--check" then
  print(OUT .. " is out of date: run lua5.4 scripts/gen-wordings.lua")
  os.exit(1)
end

-- ---- facts and classes -------------------------------------------------

local held, facts, rarity = {}, {}, {}
for _, t in ipairs(texts) do
  for fact in pairs(t.facts) do held[fact] = (held[fact] or 0) + 1 end
end
for fact, n in pairs(held) do
  if n >= TEXTS then
    facts[#facts + 1] = fact
    rarity[fact] = math.log(1 + #texts / n)
  end
end
table.sort(facts)

local ids, number, of_class = {}, {}, {}
for _, t in ipairs(texts) do
  if not number[t.id] then
    ids[#ids + 1] = t.id
    number[t.id] = #ids
  end
  of_class[t.id] = (of_class[t.id] or 0) + 1
  t.list, t.weights = liken.weigh(t.facts, rarity)
end

-- The texts in an order that mixes the files; all of them, as the stride is no
-- divisor of their number.
assert(#texts % STRIDE ~= 0, "as many texts as strides: take another prime")
local function each_text(learn)
  for k = 1, #texts do learn(texts[k * STRIDE % #texts + 1]) end
end

-- ---- learning ----------------------------------------------------------

local W, bias = {}, {}
for _, fact in ipairs(facts) do
  W[fact] = {}
  for i = 1, #ids do W[fact][i] = 0.0 end
end
for i = 1, #ids do bias[i] = 0.0 end

local function shares_of(t)
  local s, top, total = {table.unpack(bias)}, -math.huge, 0
  for k, fact in ipairs(t.list) do
    local row, x = W[fact], t.weights[k]
    for i = 1, #ids do s[i] = s[i] + x * row[i] end
  end
  for i = 1, #ids do top = math.max(top, s[i]) end
  for i = 1, #ids do
    s[i] = math.exp(s[i] - top)
    total = total + s[i]
  end
  for i = 1, #ids do s[i] = s[i] / total end
  return s
end

local function learn_class(t, step)
  local error_of = shares_of(t)
  local right = number[t.id]
  error_of[right] = error_of[right] - 1
  for i = 1, #ids do
    local e = error_of[i]
    if e > SMALL or e < -SMALL then
      bias[i] = bias[i] - step * 0.02 * e
      for k, fact in ipairs(t.list) do
        local row = W[fact]
        row[i] = row[i] - step * t.weights[k] * e
      end
    end
  end
end

local ours, ours_bias = {}, 0.0
for _, fact in ipairs(facts) do ours[fact] = 0.0 end
local others = of_class["-"]

local function learn_ours(t, step)
  local s = ours_bias
  for k, fact in ipairs(t.list) do s = s + t.weights[k] * ours[fact] end
  local is_ours = t.id ~= "-"
  local e = (is_ours and 1 or 0) - 1 / (1 + math.exp(-s))
  if not is_ours then e = e * (#texts - others) / others end
  ours_bias = ours_bias + step * 0.025 * e
  for k, fact in ipairs(t.list) do
    ours[fact] = ours[fact] + step * t.weights[k] * e
  end
end

for round = 1, ROUNDS do
  each_text(function (t) learn_class(t, STEP / round) end)
end
for round = 1, OURS_ROUNDS do
  each_text(function (t) learn_ours(t, OURS_STEP / round) end)
end

-- ---- the file ----------------------------------------------------------

local function units(x)
  return math.floor(x / UNIT + 0.5)
end

local function line_of(fact)
  local out = {("%s=%d %d"):format(fact, held[fact], units(ours[fact]))}
  for i = 1, #ids do
    local x = W[fact][i]
    if math.abs(x) >= LEAST then out[#out + 1] = ("%d:%d"):format(i, units(x)) end
  end
  return table.concat(out, " ")
end

local lines = {}
local function add_list(list, mark)
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

lines[1] = "-- SPDX-License-Identifier: MIT"
lines[2] = "-- Generated by scripts/gen-wordings.lua; do not edit."
lines[3] = "-- What liken.lua weighs a report's facts with: \"fact=texts ours "
  .. "class:weight\","
lines[4] = "-- weights in units."
lines[5] = ""
lines[6] = ("return {sum = %q, texts = %d, unit = %g, ours_bias = %d, ids = {")
  :format(sum, #texts, UNIT, units(ours_bias))
add_list(map(ids, function (id) return ("%q,"):format(id) end), " ")
lines[#lines + 1] = "}, bias = {"
add_list(map(bias, function (b) return ("%d,"):format(units(b)) end), " ")
lines[#lines + 1] = "}, facts = [["
add_list(map(facts, line_of), ";")
lines[#lines + 1] = "]]}"

f = assert(io.open(OUT, "wb"))
f:write(table.concat(lines, "\n"), "\n")
f:close()
