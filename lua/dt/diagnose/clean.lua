-- SPDX-License-Identifier: MIT
-- dt/diagnose/clean.lua: turns what people paste into lines that can be read.
--
-- Colours, Markdown, boxes around tracebacks and the prefixes that launchers
-- put before each line are taken off; the rank in a prefix is kept.  Lines of
-- one rank are brought together, equal lines are kept once.  Beside the lines
-- there is the `squash`: only letters and digits, lower case.  A message is
-- looked for in the squash, so that line breaks, quotes, backticks, colons
-- and lost underscores do not matter.
--
-- Nothing here knows a class.  Every step is linear in the text.

local forms = require "dt.diagnose.forms"
local glossary = require "dt.diagnose.glossary"
local json = require "dt.io.json"
local lpeg = require "lpeg"
local P, R, S = lpeg.P, lpeg.R, lpeg.S
local Cg, Ct = lpeg.Cg, lpeg.Ct

local M = {}

-- ---- prefixes ----------------------------------------------------------

local digit, space = R "09", S " \t"
local num = digit ^ 1
local word = R("az", "AZ", "09") + S "_-."

-- A word in any case.
local function anycase(text)
  local p = P(true)
  for ch in text:gmatch "." do p = p * S(ch:lower() .. ch:upper()) end
  return p
end

local rank = anycase "global_rank" + anycase "local_rank" + anycase "rank"
local function rank_no(p)
  return Cg(p / function (s) return math.tointeger(tonumber(s)) end, "rank")
end
local function host_no(p) return Cg(p, "host") end

local date = digit * digit * digit * digit * S "-/" * digit * digit * S "-/"
  * digit * digit
local time = num * ":" * digit * digit * (":" * digit * digit) ^ -1
  * (S ".," * num) ^ -1 * P "Z" ^ -1
local stamp = P "[" ^ -1 * (date * (S " T" * time) ^ -1 + time) * P "]" ^ -1
local glog = S "IWEF" * num * space ^ 1 * time * space ^ 1 * num * space
  * (1 - S "] \t") ^ 1 * P "]"
local level = P "[" ^ -1 * (P "ERROR" + "WARNING" + "INFO" + "DEBUG"
  + "CRITICAL" + "STDERR" + "STDOUT" + "stderr" + "stdout") * P "]" ^ -1
local pid = anycase "pid" * S "=: " ^ 1

-- "trainer-1  |" of docker compose, "node3: " before another prefix.
local container = lpeg.Cmt(lpeg.C(word ^ 1) * space ^ 0 * (P "|" + ":"
  * space ^ 1 * #(P "[" * rank)), function (_, at, name)
  if name:find "%d$" then return at, name end
end)
container = host_no(container)

-- One prefix; each captures at most `rank` and `host`.
local prefix = space ^ 1
  + P ">" + P "\226\148\130" + P "\226\148\131" + P "\226\149\145"   -- boxes
  + P "[" * rank * S ": _-" ^ 0 * rank_no(num) * P "]" * P ":" ^ -1
  + P "(" * rank * S ": _-" ^ 0 * rank_no(num) * P ")" * P ":" ^ -1
  + P "<" * rank * S ": _-" ^ 0 * rank_no(num) * P ">" * P ":" ^ -1
  + rank * S " :_-" ^ 0 * rank_no(num) * space ^ 0 * (P ":" + "|" + "]")
  + P "[default" * rank_no(num) * "]" * P ":" ^ -1
  + P "[" * num * "," * rank_no(num) * "]<" * (P "stderr" + "stdout")
    * ">" * P ":" ^ -1
  + P "[" * rank_no(num) * "]" * P ":"
  + P "[" * (anycase "gpu" + anycase "npu" + anycase "cuda")
    * S ": " ^ -1 * rank_no(num) * P "]" * P ":" ^ -1
  + P "(" * (1 - pid - S ")\n") ^ 0 * pid * host_no(num)
    * (1 - S ")\n") ^ 0 * P ")"
  + P "[" * (1 - pid - S "]\n") ^ -60 * pid * host_no(num)
    * (1 - S "]\n") ^ 0 * P "]"
  + stamp * space * (P "stderr" + "stdout") * space * S "FP" * #space
  + stamp * (P ":" + #(space + -1 + "[" + "|"))
  + glog + level * (P ":" + #space)
  + rank_no(num) * ":" * #space
  + container
  + P "|" * #space

local head = Ct(prefix ^ 0) * lpeg.Cp()

-- ---- the text ----------------------------------------------------------

local entities = {lt = "<", gt = ">", amp = "&", quot = '"', nbsp = " ",
  apos = "'"}

-- Colour codes, also those whose escape character was lost on the way.
local function strip_codes(text)
  if text:find("\27", 1, true) then
    text = text:gsub("\27%[[%d;?]*%a", ""):gsub("\27%][^\7\n]*\7?", "")
  end
  if text:find("[0m", 1, true) or text:find("[3", 1, true) then
    text = text:gsub("%[[%d;]+m", "")
  end
  if text:find("&", 1, true) then
    text = text:gsub("&#39;", "'"):gsub("&(%a+);", entities)
  end
  return text
end

-- Text in two bytes per character, and other control bytes.
local function strip_binary(text)
  if text:find("%z") then
    local mark = text:sub(1, 2)
    local wide = mark == "\255\254" or mark == "\254\255"
    text = wide and text:sub(3):gsub("%z", "") or text:gsub("%z", " ")
  end
  return (text:gsub("[\1-\8\11\12\14-\31\127]", " "))
end

local SAMPLE = 64 << 10
local RUN = 8                   -- readable bytes that make a piece

-- The text of `raw`, and what it is when it is no plain text: "empty",
-- "binary" (then only its readable pieces are given).  Text of two bytes a
-- character comes back as one byte a character.
function M.readable(raw)
  if not raw:find "%S" then return "", "empty" end
  local sample = raw:sub(1, SAMPLE)
  local mark = raw:sub(1, 2)
  if mark == "\255\254" or mark == "\254\255" then return raw end
  local _, odd = sample:gsub("[%z\1-\8\14-\26\28-\31\127]", "")
  if odd * 25 < #sample then return raw end
  for _, pair in ipairs {"[%g%s]%z", "%z[%g%s]"} do
    local _, wide = sample:gsub(pair, "")
    if wide * 2 > #sample * 0.8 then return (raw:gsub("%z", "")) end
  end
  local out = {}
  for run in raw:gmatch "[%g \t]+" do
    if #run >= RUN then out[#out + 1] = run end
  end
  return table.concat(out, "\n"), "binary"
end

-- Markdown escapes inside names: aten.\_foreach\_mul
local function strip_markdown(text)
  if text:find("\\_", 1, true) then text = text:gsub("\\([_*%[%]])", "%1") end
  return text
end

-- Lower-case letters and digits only.
function M.squash(text)
  return (text:gsub("[^%w]+", ""):lower())
end

-- Only valid UTF-8, for output; other bytes become "?".
M.utf8 = json.utf8

local MAX_LINE = 20000        -- what is longer is cut
local MAX_WORD = 200          -- no name and no number is longer

local function short_word(w)
  if #w > MAX_WORD then return w:sub(1, MAX_WORD) end
end

-- {text=, rank=, host=} of a raw line.
local function read_line(raw)
  if #raw > MAX_LINE then raw = raw:sub(1, MAX_LINE) end
  if #raw > MAX_WORD then raw = raw:gsub("[%w_]+", short_word) end
  local caught, at = head:match(raw)
  local indent = #raw:sub(1, at - 1):match "%s*$"
  return raw:sub(at - indent), caught
end

-- All lines as they are but for prefixes and colours; of many ranks those
-- of the first that speaks.
function M.plain_lines(text)
  text = strip_markdown(strip_codes(strip_binary(text)))
  local lines, first = {}, nil
  for raw in text:gmatch "[^\r\n]+" do
    local line, caught = read_line(raw)
    first = first or caught.rank
    if not caught.rank or caught.rank == first then lines[#lines + 1] = line end
  end
  return lines
end

-- Is this the last line of a traceback?  Returns class and message.
function M.exception_of(line)
  if #line > 2000 then line = line:sub(1, 2000) end
  local class, rest = line:match "^%s*E?%s*([%a_][%w_%.]*):%s*(.*)$"
  if not class then
    class = line:match "^%s*E?%s*([%a_][%w_%.]*)%s*$"
    rest = ""
  end
  if not class then return nil end
  local last = class:match "([%w_]+)$"
  if not last then return nil end
  if last:find("Error$") or last:find("Exception$") or last:find("Warning$")
    or last == "Unsupported" or last:find("Failed$") then
    return last, rest
  end
end

-- In a long log most lines differ in numbers only: of those a few are enough,
-- but for the ones that name an exception, since each rank may raise it.
local LONG, ENOUGH = 150000, 6

local function repeats()
  local count = {}
  return function (raw)
    local key = (#raw > 400 and raw:sub(1, 400) or raw):gsub("%d+", "#")
    local n = (count[key] or 0) + 1
    count[key] = n
    return n > ENOUGH and not raw:find("rror", 1, true)
      and not raw:find("xception", 1, true)
  end
end

-- What launchers print whatever happened.
local boilerplate = {"Setting OMP_NUM_THREADS", "*****"}

local function is_boilerplate(line)
  local at = line:match "^%s*()"
  for _, b in ipairs(boilerplate) do
    if line:sub(at, at + #b - 1) == b then return true end
  end
end

-- The lines that are read, as {text, caught of the prefix}, and what the others say
-- of the machine.
local function lines_of(text)
  local lines, caught = {}, {}
  local again = #text > LONG and repeats()
  for raw in text:gmatch "[^\r\n]+" do
    if not (again and again(raw)) then
      local line, of_prefix = read_line(raw)
      if not is_boilerplate(line) then
        lines[#lines + 1], caught[#caught + 1] = line, of_prefix
      end
    end
  end
  local kept, machine = {}, {}
  local marks = forms.marks(lines)
  for i, line in ipairs(lines) do
    if not marks[i] then
      kept[#kept + 1] = {line, caught[i]}
    elseif marks[i] == "machine" then
      machine[#machine + 1] = line
    end
  end
  return kept, table.concat(machine, "\n")
end

local function buckets_of(read)
  local main, by_key, order, ranks = {}, {}, {}, {}
  local seen, last = {}, nil
  for _, entry in ipairs(read) do
    local line, caught = entry[1], entry[2]
    -- a line without a prefix goes on where the one before it stood
    local key = caught.rank or (caught.host and "h" .. caught.host) or last
    last = key
    if caught.rank then ranks[caught.rank] = true end
    local list = main
    if key and line:find "%S" then
      list = by_key[key]
      if not list then
        list = {seen = {}}
        by_key[key] = list
        order[#order + 1] = key
      end
    end
    if caught.rank and M.exception_of(line) then
      local who = seen[line]
      if not who then who = {}; seen[line] = who end
      who[caught.rank] = true
    end
    list[#list + 1] = line
  end
  return main, by_key, order, ranks, seen
end

local function sorted_keys(set)
  local list = {}
  for k in pairs(set) do list[#list + 1] = k end
  table.sort(list)
  return list
end

-- Order of buckets: that of appearance.  A line that was seen is left out,
-- unless it is so short that it carries no message of its own.
local function gather(main, by_key, order)
  local lines, seen = {}, {}
  local function put(list)
    for _, line in ipairs(list) do
      if #line < 24 or not seen[line] then
        seen[line] = true
        lines[#lines + 1] = line
      end
    end
  end
  put(main)
  for _, key in ipairs(order) do put(by_key[key]) end
  return lines
end

-- The document: lines, text, flat (one line), squash, ranks (all that spoke),
-- raised (line -> set of ranks), machine (what it says of that, in no line else).
function M.read(text)
  text = strip_markdown(strip_codes(strip_binary(text)))
  local read, machine = lines_of(text)
  local main, by_key, order, ranks, raised = buckets_of(read)
  local lines = gather(main, by_key, order)
  local doc = {lines = lines, ranks = sorted_keys(ranks), raised = {},
    machine = machine}
  for line, set in pairs(raised) do doc.raised[line] = sorted_keys(set) end
  doc.text = glossary.gloss(table.concat(lines, "\n"))
  doc.flat = doc.text:gsub("%s+", " ")
  doc.squash = M.squash(doc.text)
  return doc
end

-- ---- large inputs ------------------------------------------------------

-- Words near which something is said.  A large log is read in blocks; only
-- lines around these, the beginning and the end are kept.
local anchors = {"Error", "Exception", "Traceback", "DTensor", "Watchdog",
  "DeviceMesh", "Warning", "collective", "Collective"}

M.LARGE = 3 << 20
local HEAD, TAIL, KEEP = 64 << 10, 256 << 10, 2 << 20

-- Marks [from, to] ranges of `block` worth keeping, joined where they touch.
local function ranges(block)
  local spots = {}
  for _, w in ipairs(anchors) do
    local at, found = 1, 0
    while found < 400 do
      local a = block:find(w, at, true)
      if not a then break end
      spots[#spots + 1] = a
      at, found = a + 2000, found + 1
    end
  end
  table.sort(spots)
  local list = {}
  for _, a in ipairs(spots) do
    local from, to = math.max(1, a - 1500), math.min(#block, a + 2500)
    local last = list[#list]
    if last and from <= last[2] then
      last[2] = to
    else
      list[#list + 1] = {from, to}
    end
  end
  return list
end

-- What of a large file is worth reading; `next_block` gives strings, then
-- nil.  Windows that were seen are not kept again.
function M.sift(next_block)
  local kept, size, seen, tail = {}, 0, {}, ""
  local first = true
  for block in next_block do
    if first then
      kept[1] = block:sub(1, HEAD)
      first = false
    end
    for _, r in ipairs(ranges(block)) do
      if size > KEEP then break end
      local part = block:sub(r[1], r[2])
      local key = part:gsub("[%d%s]+", "")
      if not seen[key] then
        seen[key] = true
        kept[#kept + 1] = part
        size = size + #part
      end
    end
    tail = #block >= TAIL and block:sub(-TAIL) or (tail .. block):sub(-TAIL)
  end
  kept[#kept + 1] = tail
  return table.concat(kept, "\n")
end

return M
