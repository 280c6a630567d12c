-- SPDX-License-Identifier: MIT
-- gen-wordings.lua [--check | --folds [N] [--misses]]:
-- lua/dt/diagnose/wordings.lua, how much each fact of a report speaks for each
-- class, learnt from the texts in tests/diagnose and from what the classes say
-- of themselves (wordings_learner.lua).  What is learnt depends in its last
-- digit on the machine's exp(), so that the file names its texts by a sum.
--
-- With --check nothing is learnt or written; it fails when the file was made
-- from other texts.  With --folds nothing is written: the texts are cut in N
-- parts (10), threads undivided, each is read with what the others taught, and
-- it is counted how many get their class; --misses lists those that do not.  A
-- sign counts only where it holds for a text of its class in another part: one
-- that was made from the text it is asked about knows nothing.

package.path = "lua/?.lua;lua/?/init.lua;scripts/?.lua;" .. package.path
package.preload.dt = function ()
  return {None = {}, error = function (_, text) return text end}
end

local OUT <const> = "lua/dt/diagnose/wordings.lua"
local FILES <const> = {"claims", "decoys", "dumps", "later", "mesh", "mixed",
  "parallel", "prose", "public", "recent", "shapes", "threads", "train", "fresh",
  "described", "further", "reported", "phrased", "gathered",
  "collected", "drawn", "walked", "noted"}

require "torch.diagnose"
local clean = require "dt.diagnose.clean"
local diagnose = require "dt.diagnose"
local liken = require "dt.diagnose.liken"
local learner = require "wordings_learner"

-- ---- texts -------------------------------------------------------------

-- {id=, text=, file=, thread=}; without a file of a class
local texts = {}

local function add_text(id, text, file, thread)
  texts[#texts + 1] = {id = id, text = text, file = file, thread = thread}
end

local function add_file(name)
  local id, lines, thread
  local function close()
    if id then add_text(id, table.concat(lines, "\n"), name, thread) end
  end
  for line in io.lines("tests/diagnose/" .. name .. ".txt") do
    local head = line:match "^=== (%S+)"
    if head then
      close()
      id, lines, thread = head, {}, line:match "thread=(%S+)"
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
  for _, q in ipairs(c.ask or {}) do
    said[#said + 1] = type(q) == "table" and q[1] or q
  end
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

-- A number for all texts and facts and for how they are learnt; the models are
-- made from nothing else.
local function sum_of_texts()
  local sum = 0
  local function add(text)
    for i = 1, #text do sum = (sum * 31 + text:byte(i)) & 0xffffffff end
  end
  local learned = assert(io.open("scripts/wordings_learner.lua", "rb"))
  add(learned:read "a")
  learned:close()
  for _, t in ipairs(texts) do
    add(t.id)
    local list = {}
    for fact in pairs(t.facts) do list[#list + 1] = fact end
    table.sort(list)
    add(table.concat(list, ";"))
  end
  return ("%08x"):format(sum)
end

-- ---- folds -------------------------------------------------------------

-- How one text is read: "right", "wrong", "none"; of other matters "silent" or
-- "alarm"; with the class told, how, and how sure.
local function judge(t)
  local r = diagnose.read(t.text)
  local got = r.class and r.class.id
  local how = (r.sign or ""):find("^worded like") and "likeness" or "rules"
  local kind
  if t.id == "-" then
    kind = got and "alarm" or "silent"
  else
    kind = not got and "none" or got == t.id and "right" or "wrong"
  end
  return kind, got, how, r.confidence, r.nearest and r.nearest[1]
end

local SURE_OF <const> = 0.75     -- confidence that a reader takes for certain

local function count_text(counts, t, misses)
  local kind, got, how, sure, near = judge(t)
  local key = (kind == "none" or kind == "silent") and kind or kind .. " by " .. how
  counts[kind] = (counts[kind] or 0) + 1
  counts[key] = kind ~= key and (counts[key] or 0) + 1 or counts[key]
  if kind == "none" and near and near.id == t.id then
    counts.nearest = (counts.nearest or 0) + 1
  end
  if (kind == "wrong" or kind == "alarm") and sure >= SURE_OF then
    counts.certain = (counts.certain or 0) + 1
  end
  if misses and kind ~= "right" and kind ~= "silent" then
    print(("%s %s: wanted %s, got %s %s (nearest %s): %s"):format(kind, t.file,
      t.id, got or "none", sure or "", near and near.id or "none",
      t.text:gsub("%s+", " "):sub(1, 150)))
  end
end

-- The texts of files with their parts, texts of one thread in one, and those
-- of classes: {{text=, part=}, ...}, {text, ...}.
local function in_parts(parts)
  local cut, of_classes, of_thread = {}, {}, {}
  for _, t in ipairs(learner.in_order(texts)) do
    if t.file then
      local part = of_thread[t.thread or t] or #cut % parts
      of_thread[t.thread or t] = part
      cut[#cut + 1] = {text = t, part = part}
    else
      of_classes[#of_classes + 1] = t
    end
  end
  return cut, of_classes
end

-- In which part each of the reader's signs holds for a text of its class:
-- {[sign] = part, or "several"}.
local function supports(reader, cut)
  local part_of = {}
  for _, c in ipairs(cut) do
    for _, s in ipairs(diagnose.holding(c.text.text)) do
      if reader.classes[s.class].id == c.text.id then
        local known = part_of[s]
        part_of[s] = (known or c.part) == c.part and c.part or "several"
      end
    end
  end
  return part_of
end

-- The signs that hold in another part than `part`.
local function known_outside(signs, part_of, part)
  local kept = {}
  for _, s in ipairs(signs) do
    if part_of[s] and part_of[s] ~= part then kept[#kept + 1] = s end
  end
  return kept
end

-- Reads each of `parts` parts of the texts with what the others teach.
local function measure(parts, misses)
  local counts, reader = {}, diagnose.reader()
  local cut, of_classes = in_parts(parts)
  local signs, part_of = reader.signs, supports(reader, cut)
  for part = 0, parts - 1 do
    local taught = {table.unpack(of_classes)}
    for _, c in ipairs(cut) do
      if c.part ~= part then taught[#taught + 1] = c.text end
    end
    liken.use(load(learner.written(learner.learn(taught), ""))())
    reader.signs = known_outside(signs, part_of, part)
    for _, c in ipairs(cut) do
      if c.part == part then count_text(counts, c.text, misses) end
    end
  end
  local function n(key) return counts[key] or 0 end
  local ours = n "right" + n "wrong" + n "none"
  print(("%d reports in %d parts: %d right (%d by rules, %d by likeness), "
    .. "%d wrong (%d by rules, %d by likeness), %d none, in %d of them the "
    .. "nearest is right"):format(ours, parts, n "right", n "right by rules",
    n "right by likeness", n "wrong", n "wrong by rules",
    n "wrong by likeness", n "none", n "nearest"))
  print(("%d of other matters: %d silent, %d told a class (%d by rules, %d by "
    .. "likeness)"):format(n "silent" + n "alarm", n "silent", n "alarm",
    n "alarm by rules", n "alarm by likeness"))
  print(("%d wrong or false at a confidence of %g and more"):format(n "certain",
    SURE_OF))
end

if arg[1] == "--folds" then
  measure(math.tointeger(tonumber(arg[2])) or 10,
    arg[#arg] == "--misses")
  os.exit(0)
end

-- ---- the file ----------------------------------------------------------

local sum = sum_of_texts()
local f = io.open(OUT, "rb")
local old = f and f:read "a" or ""
if f then f:close() end
if old:find('sum = "' .. sum .. '"', 1, true) then os.exit(0) end
if arg[1] == "--check" then
  print(OUT .. " is out of date: run lua5.4 scripts/gen-wordings.lua")
  os.exit(1)
end
f = assert(io.open(OUT, "wb"))
f:write(learner.written(learner.learn(texts), sum))
f:close()
