-- SPDX-License-Identifier: MIT
-- dt/diagnose/classify.lua: which class a report belongs to, and how sure.
--
-- Confidence, by the kind of evidence: an exact message 0.93 to 1, a message
-- with the operator or frame that splits its family 0.8 to 0.95, a ratio of
-- shapes about 0.6 to 0.8, words alone below 0.7.  Two exact messages of
-- different classes, or an error nobody here knows, lower it; below MIN the
-- report is not classed, and the nearest classes are named.

local clean = require "dt.diagnose.clean"
local fallback = require "dt.diagnose.fallback"
local frameworks = require "dt.diagnose.frameworks"
local libraries = require "dt.diagnose.libraries"
local match = require "dt.diagnose.match"
local neighbours = require "dt.diagnose.neighbours"
local opposed = require "dt.diagnose.opposed"
local particular = require "dt.diagnose.particular"
local prose = require "dt.diagnose.prose"
local templates = require "dt.diagnose.templates"
local tests = require "dt.diagnose.tests"

local M = {}

local MIN = 0.45
local SURE = 0.85               -- known by an exact message
local WEAK = 0.75               -- known by words that others use too
local LIKELY <const> = 0.8      -- below it the likeness may contradict
local NEXT <const> = 0.1        -- less weight, and a sign is as narrow still

-- ---- signs, prepared once ----------------------------------------------

-- "aten._foreach_*|aten.add.Tensor" to Lua patterns.
local function globs(text)
  local list = {}
  for g in text:gmatch "[^|]+" do
    g = g:gsub("%.%*$", "*"):gsub("[%^%$%(%)%%%.%[%]%+%-%?]", "%%%0")
      :gsub("%*", ".*")
    list[#list + 1] = "^" .. g .. "$"
  end
  return list
end

-- Lower-case words of the report and the runs of letters in them, for texts
-- too short to be looked for as letters only ("cp" is in "tcp").
local function words_of(r)
  if not r.words then
    local set = {}
    local text = r.doc.text
    if #text > 300000 then text = text:sub(1, 300000) end
    for line in text:lower():gmatch "[^\n]+" do
      -- a frame's function is a name: "_slow_path" says nothing of speed
      local frame = line:find '^%s*file "'
      for w in line:gmatch "[%w_]+" do
        if frame then
          set[w] = set[w] or "frame"
        elseif set[w] ~= true then
          set[w] = true
          for part in w:gmatch "%a+" do set[part] = true end
        end
      end
    end
    r.words = set
  end
  return r.words
end

local SHORT, WHOLE <const> = 5, 300000

-- The class's name as it is written: among letters alone it would also stand
-- in "ShardedTensor" and in "and Tensor".
local function names_dtensor(r)
  if r.dtensor == nil then
    local flat = r.doc.flat
    r.dtensor = flat:find("DTensor", 1, true) or flat:find "%f[%a]dtensor"
      or flat:find "%f[%a]DTENSOR" or flat:find "%f[%a][Dd][ -][Tt]ensor"
      or flat:find "%f[%a]Dtensor" or flat:find "[%l_%d]_dtensor" or false
  end
  return r.dtensor and math.huge or nil
end

local function one(set, text)
  local key = clean.squash(text)
  if key == "dtensor" then return names_dtensor end
  if text:find "^[%%%+%*/<>] ?%w" then
    -- "% cp" is an operator before a name: the name alone says nothing
    local literal = text:lower()
    return function (r)
      return r.doc.flat:sub(1, WHOLE):lower():find(literal, 1, true)
        and math.huge or nil
    end
  end
  if #key < SHORT then
    return function (r)
      local w = words_of(r)
      return (w[key] or w[key .. "s"] or w[key .. "ed"] or w[key .. "er"]
        or w[key .. "ing"]) and math.huge or nil
    end
  end
  set:add(text)
  -- a quoted class name is a whole word: 'Tensor' is no AsyncCollectiveTensor
  local whole = text:match "^'(%a%w*)'"
  if whole then
    return function (r)
      return r.found[key] and r.doc.flat:find("%f[%w]" .. whole .. "%f[%W]")
        and r.found[key]
    end
  end
  return function (r) return r.found[key] end
end

local function any(set, texts)
  local list = {}
  for t in texts:gmatch "[^|]+" do list[#list + 1] = one(set, t) end
  return function (r)
    local best
    for _, f in ipairs(list) do
      local at = f(r)
      if at and (not best or at < best) then best = at end
    end
    return best
  end
end

local function by_op(text)
  local list = globs(text)
  return function (r)
    if not r.op then return nil end
    for _, g in ipairs(list) do
      if r.op:find(g) then return math.huge end
    end
  end
end

local function named(set, name)
  local texts = tests.texts[name]
  if texts then
    local f = any(set, table.concat(texts, "|"))
    return function (r) return f(r) and math.huge end
  end
  local f = assert(tests.functions[name], "no such test: " .. name)
  return function (r)
    local memo = r.memo[name]
    if memo == nil then
      r.asking = name
      memo = f(r) and true or false
      r.memo[name] = memo
    end
    return memo and math.huge or nil
  end
end

local WINDOW, WINDOWS = 600, 200

-- A Lua pattern, where the letters it begins with stand; what it spans is
-- near them, so that the time stays linear whatever it holds.
local function pattern(text)
  local head = text:match "^[%w ]*"
  local magic = text:sub(#head + 1, #head + 1)
  if magic:find "[%?%*%-]" then head = head:sub(1, -2) end
  if #head < 4 then
    return function (r) return r.doc.flat:find(text) end
  end
  return function (r)
    local flat, at = r.doc.flat, 1
    for _ = 1, WINDOWS do
      local a = flat:find(head, at, true)
      if not a then return nil end
      if flat:sub(a, a + WINDOW):find("^" .. text) then return a end
      at = a + 1
    end
  end
end

-- A condition as function(reading) -> position, math.huge, or nil.
local function condition(set, text)
  local mark, rest = text:sub(1, 1), text:sub(2)
  if mark == "!" then
    local f = condition(set, rest)
    return function (r) return not f(r) and math.huge or nil end
  elseif mark == "~" then
    return any(set, rest)
  elseif mark == "@" then
    return by_op(rest)
  elseif mark == "=" then
    return named(set, rest)
  elseif mark == "/" then
    return pattern(rest)
  end
  return one(set, text)
end

-- Sign `s` of the class number `i`, its conditions prepared.
local function add_sign(self, i, s)
  local list, narrow, named_ones = {}, -1, {}
  for k = 2, #s do
    list[#list + 1] = condition(self.set, s[k])
    if s[k]:sub(1, 1) == "=" then
      named_ones[#named_ones + 1] = s[k]:sub(2)
    end
    if s[k]:sub(1, 1) ~= "!" then narrow = narrow + 1 end
  end
  self.signs[#self.signs + 1] = {class = i, score = s[1], when = list,
    weight = s[1] + math.min(0.12, 0.08 * narrow), text = s[2],
    named = named_ones, conditions = s}
end

-- What the classifier works with: made from the classes, used for any number
-- of reports.
function M.new(classes)
  local self = {classes = classes, set = match.new(), signs = {},
    templates = {}, only = {}}
  local number = {}
  for i, c in ipairs(classes) do
    number[c.id] = i
    for _, s in ipairs(c.signs) do add_sign(self, i, s) end
  end
  for _, row in ipairs(libraries) do
    if number[row[1]] then
      add_sign(self, number[row[1]], {table.unpack(row, 2)})
    end
  end
  for _, t in ipairs(templates) do
    local parts, raw, long = {}, {}, 0
    for part in (t[1] .. "{}"):gmatch "(.-){}" do
      local s = clean.squash(part)
      if #s >= 6 then
        parts[#parts + 1] = self.set:add(s)
        raw[#raw + 1] = part:gsub("%s+", " "):match "^ ?(.-) ?$"
        long = math.max(long, #s)
      end
    end
    if long >= 14 then
      self.templates[#self.templates + 1] = {parts = parts, raw = raw,
        key = table.concat(parts, "\0"), text = t[1], class = t[2],
        first = t[3], last = t[4], where = t[5]}
    end
  end
  local function prepare(list)
    for _, f in ipairs(list) do
      for _, text in ipairs(type(f) == "table" and f.only or {}) do
        self.only[text] = condition(self.set, text)
      end
    end
  end
  for _, c in ipairs(classes) do
    prepare(c.fixes)
    prepare(c.causes or {})
    prepare(c.ask or {})
  end
  for _, rows in ipairs {particular.rows, neighbours.rows} do
    prepare(rows)
    for _, row in ipairs(rows) do prepare(row.fixes) end
  end
  self.foreign = {}
  for _, f in ipairs(M.foreign_errors) do
    local when = f[1]:find "^=" and f[1] or "~" .. f[1]
    self.foreign[#self.foreign + 1] = {condition(self.set, when), f[2]}
  end
  return self
end

-- Do the conditions of a fix, a cause or a question hold for the report?
function M.allows(self, r, fix)
  for _, text in ipairs(fix.only or {}) do
    local f = self.only[text]
    if f and not f(r) then return false end
  end
  return true
end

-- ---- errors of others --------------------------------------------------

-- What is no matter of distributed tensors: texts or a named test, and what it is.
M.foreign_errors = {
  {"=labels_shifted", "labels that are shifted against the outputs"},
  {"CUDA out of memory|torch.OutOfMemoryError|cuda.OutOfMemoryError|"
   .. "NPU out of memory|XPU out of memory|HIP out of memory",
   "out of device memory"},
  {"ModuleNotFoundError|ImportError: cannot import|No module named|"
   .. "AttributeError: module|"
   .. "undefined symbol|cannot open shared object", "an import that fails"},
  {"ncclUnhandledCudaError|ncclSystemError|ncclInternalError|"
   .. "unhandled cuda error|unhandled system error|NCCL error in|"
   .. "ncclRemoteError|NCCL communicator was aborted|NCCL error:|"
   .. "Connection reset by peer|Socket Timeout|"
   .. "DistStoreError|connect() timed out|TCPStore|DistNetworkError",
   "a fault of the network or of NCCL"},
  {"Watchdog caught collective operation timeout|NCCL timeout|"
   .. "Timed out waiting", "a collective that timed out"},
  {"device-side assert triggered|CUBLAS_STATUS|cuDNN error|"
   .. "no kernel image is available|CUDA error:|illegal memory access|"
   .. "Invalid device id|invalid device ordinal",
   "a fault of the device or its libraries"},
  {"Recomputed values for the following tensors have different metadata|"
   .. "A different number of tensors was saved during the original forward|"
   .. "recomputed metadata:", "a recomputation that differs from its forward"},
  {"Cannot access data pointer of Tensor that doesn't have storage",
   "a kernel that reads memory, called with a tensor that has none"},
  {"mat1 and mat2 shapes cannot be multiplied|must match the size of tensor b|"
   .. "is invalid for input of size|size mismatch for|"
   .. "Sizes of tensors must match|shapes cannot be broadcast|"
   .. "Expected input batch_size", "shapes that do not fit"},
  {"FileNotFoundError|PermissionError|No space left on device|OSError:|"
   .. "HfHubHTTPError|RepositoryNotFoundError", "a file that is not there"},
  {"SyntaxError|NameError|IndentationError|UnboundLocalError|"
   .. "unexpected keyword argument|missing 1 required positional",
   "a fault in the Python code"},
  {"Signal 9|SIGKILL|SIGSEGV|Segmentation fault|exitcode : -9",
   "a process that was killed"},
}

local function foreign_of(self, r)
  for _, f in ipairs(self.foreign) do
    if f[1](r) then return f[2] end
  end
end

-- ---- scoring -----------------------------------------------------------

-- Length of a template's fixed text if the report has it to the comma.
local function exact(t, flat)
  local n = 0
  for _, part in ipairs(t.raw) do
    if not flat:find(part, 1, true) then return 0 end
    n = n + #part
  end
  return n
end

local function outer(a, b, less)
  local function n(rel)
    local major, minor = rel:match "^(%d+)%.(%d+)"
    return tonumber(major) * 1000 + tonumber(minor)
  end
  if less then return n(a) < n(b) and a or b end
  return n(a) > n(b) and a or b
end

-- Templates that differ in punctuation only: the one that is in the report
-- letter by letter, or else one of no certain release.
local function settle(list, flat)
  local by_key, keys = {}, {}
  for _, t in ipairs(list) do
    local g = by_key[t.key]
    if not g then g = {}; by_key[t.key] = g; keys[#keys + 1] = t.key end
    g[#g + 1] = t
  end
  local out = {}
  for _, key in ipairs(keys) do
    local g = by_key[key]
    local best, most, first, last = g[1], -1, g[1].first, g[1].last
    for _, t in ipairs(g) do
      local n = #g > 1 and exact(t, flat) or 0
      if n > most then
        best, most, first, last = t, n, t.first, t.last
      elseif n == most then
        first = outer(first, t.first, true)
        last = outer(last, t.last, false)
      end
    end
    if first ~= best.first or last ~= best.last then
      best = setmetatable({first = first, last = last}, {__index = best})
    end
    out[#out + 1] = best
  end
  return out
end

-- Is all of t's fixed text, and less, in k's?
local function within(t, k)
  if #t.key >= #k.key then return false end
  for _, part in ipairs(t.parts) do
    if not k.key:find(part, 1, true) then return false end
  end
  return true
end

local function templates_of(self, r)
  local list = {}
  for _, t in ipairs(self.templates) do
    local all = true
    for _, p in ipairs(t.parts) do
      if not r.found[p] then all = false; break end
    end
    if all and #t.parts > 0 then list[#list + 1] = t end
  end
  list = settle(list, r.doc.flat)
  table.sort(list, function (a, b)
    if #a.text ~= #b.text then return #a.text > #b.text end
    return a.text < b.text
  end)
  -- a template whose text is part of a longer one found says nothing more
  local kept = {}
  for _, t in ipairs(list) do
    local own = true
    for _, k in ipairs(kept) do
      if k.text:find(t.text, 1, true) or within(t, k) then
        own = false; break
      end
    end
    if own then kept[#kept + 1] = t end
  end
  return kept
end

local function sign_score(s, r)
  local first = math.huge
  for _, f in ipairs(s.when) do
    local at = f(r)
    if not at then return nil end
    if at < first then first = at end
  end
  return s.score, first
end

-- The signs that hold for `r`, which was read: {sign, ...}.
function M.holding(self, r)
  local list = {}
  for _, s in ipairs(self.signs) do
    if sign_score(s, r) then list[#list + 1] = s end
  end
  return list
end

-- Best sign of each class.  What is chosen is not what is surest: a sign with
-- more conditions is the narrower one and goes before the general one, with
-- its own, lower confidence.
local function scores_of(self, r)
  local best = {}
  for _, s in ipairs(self.signs) do
    local b = best[s.class]
    if not b or s.weight > b.weight then
      local score, at = sign_score(s, r)
      if score then
        best[s.class] = {class = self.classes[s.class], score = score,
          weight = s.weight, at = at, sign = s.text, order = s.class,
          named = s.named, conditions = s.conditions}
      end
    end
  end
  local list = {}
  for i = 1, #self.classes do list[#list + 1] = best[i] end
  return list
end

-- Best first.  Of exact messages that are equally sure the one that stands
-- first in the text is the cause of the others.
local function pick(list)
  table.sort(list, function (a, b)
    if a.weight ~= b.weight then return a.weight > b.weight end
    if a.at ~= b.at then return a.at < b.at end
    return a.order < b.order
  end)
  local top = list[1]
  if not top then return nil end
  for i = 2, #list do
    local o = list[i]
    if top.weight - o.weight > 0.021 then break end
    if o.at < list[1].at and o.score >= 0.9 then
      table.remove(list, i)
      table.insert(list, 1, o)
    end
  end
  return list[1]
end

-- What Python code raises on its own account, whatever words surround it.
local own_fault = {AttributeError = true, ImportError = true, NameError = true,
  ModuleNotFoundError = true, SyntaxError = true, JSONDecodeError = true,
  UnboundLocalError = true, IndentationError = true, UnicodeDecodeError = true,
  ZeroDivisionError = true, FileNotFoundError = true, PermissionError = true}

-- The best sign's confidence, lowered by what speaks against it.
local function settle_score(r, top, second)
  local c = top.score
  local expected = r.foreign and r.foreign == top.class.expects
  -- words of another fault beside a raised error; alone they may be told as
  -- one more consequence
  if c < 0.75 and r.foreign and not expected and not top.class.family
    and (#r.exceptions > 0 or not top.class.trap) then
    c = c - 0.25
  end
  if second and c >= 0.9 and second.score >= 0.93 and top.score - second.score
    < 0.06 then
    c = c - 0.08
  end
  if c < 0.7 and not expected and not top.class.family
    and #r.exceptions > 0 and #r.templates == 0 then
    c = c - (own_fault[r.exceptions[#r.exceptions].class] and 0.25 or 0.08)
  end
  return c
end

-- `top`, or where much speaks against it the next of `list` that is as narrow
-- and against which less speaks.
local function sure_one(r, list, top)
  if not top or settle_score(r, top, list[2]) >= MIN then return top end
  for i = 2, #list do
    local o = list[i]
    if top.weight - o.weight > NEXT then break end
    if settle_score(r, o, nil) >= MIN then return o end
  end
  return top
end

local function settle_class(r, class, c, why)
  r.class, r.confidence = class, math.floor(c * 100 + 0.5) / 100
  r.because, r.sign = {why}, why
  return r
end

-- No sign is sure enough: what file, wording and frames say, and the nearest.
local function fall_back(self, r)
  if r.plain or r.framework then return r end
  local class, c, why = fallback.find(self, r, M.run)
  if class then
    settle_class(r, class, c, why)
  elseif #r.doc.squash > 0 then
    local list = fallback.nearest(self, r)
    if #list > 0 then r.nearest = list end
  end
  return r
end

-- Sets r.found, r.class (or nil), r.confidence, r.nearest, r.templates, r.foreign,
-- r.sign.
local function choose(self, r)
  r.found = self.set:find(r.doc.squash)
  r.memo = {}
  r.templates = templates_of(self, r)
  local list = scores_of(self, r)
  r.foreign = foreign_of(self, r)
  local top = sure_one(r, list, pick(list))
  r.nearest = {}
  for i = 1, math.min(4, #list) do
    r.nearest[i] = {id = list[i].class.id, score = list[i].score}
  end
  local c = top and settle_score(r, top, list[2]) or 0
  -- a framework that knows no DTensor: only an exact message is ours, or
  -- what is the same everywhere
  r.framework = not r.plain and c < SURE and not (top and top.class.anywhere
    and c >= MIN) and frameworks.find(r.doc.flat) or nil
  if r.framework then r.nearest = {} end
  if c < MIN or r.framework or c < WEAK and prose.announces(r) then
    return fall_back(self, r)
  end
  if c < LIKELY and not r.plain then
    local class, likely, why = fallback.contradict(self, r, top.class.id)
    if class then return settle_class(r, class, likely, why) end
  end
  r.class, r.sign, r.conditions = top.class, top.sign, top.conditions
  r.because = {}
  for _, name in ipairs(top.named) do
    r.because[#r.because + 1] = r.said and r.said[name]
  end
  r.confidence = math.floor(c * 100 + 0.5) / 100
  return r
end

-- A class that was guessed from words alone, and that the report contradicts, is
-- taken back: it stays among the nearest, with the question that decides.
local function take_back(self, r)
  if not r.class or r.confidence >= WEAK or r.plain or fallback.raises(r)
     or fallback.is_message_of(r, r.class.id) then
    return
  end
  local against = opposed.find(r, r.class)
  if not against then return end
  local id = r.class.id
  r.class, r.confidence, r.because, r.sign, r.conditions = nil, nil, nil, nil, nil
  r.nearest, r.opposed = fallback.nearest(self, r, 0), against
  for _, n in ipairs(r.nearest) do
    if n.id == id then n.decides = against.wanted end
  end
end

-- Reads `r` = {doc=, op=, exceptions=}; what it sets stands at choose().
function M.run(self, r)
  choose(self, r)
  take_back(self, r)
  return r
end

return M
