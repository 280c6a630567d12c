-- SPDX-License-Identifier: MIT
-- dt/diagnose/release.lua: which torch release a report comes from: stated,
-- or narrowed down by texts and paths that only some releases print.
--
-- Each fingerprint allows a range; ranges are intersected, the narrowest
-- first, and one that contradicts is left out.  Within the range the newest
-- release that existed at a date in the text is taken, else a middle one.

local M = {}

M.releases = {"2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11",
  "2.12", "2.13", "2.14", "2.15"}
M.oldest, M.newest = M.releases[1], M.releases[#M.releases]

-- When each came out, year * 12 + month; the branch is cut about a month
-- before.
local came = {["2.0"] = {2023, 3}, ["2.1"] = {2023, 10}, ["2.2"] = {2024, 1},
  ["2.3"] = {2024, 4}, ["2.4"] = {2024, 7}, ["2.5"] = {2024, 10},
  ["2.6"] = {2025, 1}, ["2.7"] = {2025, 4}, ["2.8"] = {2025, 8},
  ["2.9"] = {2025, 10}, ["2.10"] = {2026, 1}, ["2.11"] = {2026, 3},
  ["2.12"] = {2026, 5}, ["2.13"] = {2026, 7}, ["2.14"] = {2026, 9},
  ["2.15"] = {2026, 11}}

function M.number(release)
  local major, minor = release:match "^(%d+)%.(%d+)"
  return major and tonumber(major) * 100 + tonumber(minor)
end

function M.name(number)
  return ("%d.%d"):format(number // 100, number % 100)
end

-- ---- stated ------------------------------------------------------------

-- {pattern, weight}: what may follow the word "torch", "pytorch" or
-- "versions", on lower-case text.  The release is captured.
local V = "v?(%d+%.%d+[%.%w+]*)"
local stated = {
  torch = {
    {"^ version:%s*" .. V, 9},
    {"^ version %(gpu%?%):%s*" .. V, 9},
    {"^ version%s*[:=]*%s*" .. V, 8},
    {"^%.__version__[%s:=)'\"`>,]*" .. V, 8},
    {"^%s*==%s*" .. V, 7},
    {"^%s*[:=@|]+%s*['\"`]?" .. V, 7},
    {"^%-" .. V .. "[%-+.]", 6},
    {"^[ /%-]?v?%s*" .. V, 6},
    {"^%s+nightly%s*[:(]?%s*" .. V, 6},
    {"^[%s`*'\"]+version[%s`*'\"]*is[%s`*'\"]*" .. V, 6},
    {"^`?%s*[:(]?%s*`?" .. V, 5},
    {"^ %(?nightly[^%d\n]*" .. V, 5},
    {"^_?version[^%w\n]+" .. V, 6},
    {"^[^%w\n]+version[^%w\n]+" .. V, 5},
    {"^%.__version__[^%w\n]*" .. V, 8},
    {"^[^%w\n<>~]+" .. V, 5},
    {"^[_-]npu[^%w\n]+" .. V, 4},
    {"^%a* version[^%d\n]-" .. V, 4},
  },
  version = {{"^s?[%s`*:]*\n[%s`*]*" .. V, 6}},
}

-- Words before a mention that say it is not the reporter's own.
local foreign = {"works on", "work on", "works with", "works in", "work in",
  "worked in", "worked on", "fixed in", "upgrade to", "upgrading to",
  "since", "until", "not in", "before", "requires", "fine with", "fine on",
  "fine in", "old", "downgrad", "introduced in", "instead of", "update to"}

local function weight_of(low, at, weight)
  local head = low:sub(math.max(1, at - 28), at - 1)
  for _, w in ipairs(foreign) do
    if head:find(w, 1, true) then return weight - 6 end
  end
  return weight
end

local function plausible(version)
  if version:find "^%d+%.%d+[xbmk]" then return false end    -- "2.5x faster"
  local major, minor = version:match "^(%d+)%.(%d+)"
  major, minor = tonumber(major), tonumber(minor)
  return major == 2 and minor <= 20 or major == 1 and minor >= 9 and minor <= 13
end

local function better(best, low, at, text, version, weight)
  if not plausible(version) then return best end
  local w = weight_of(low, at, weight)
  if best and best.weight >= w then return best end
  return {weight = w, version = version, text = text}
end

local MENTIONS = 3000           -- of a word in one report

local function find_stated(low)
  local best
  for _, word in ipairs {"torch", "version"} do
    local rows, at = stated[word], 1
    for _ = 1, MENTIONS do
      local a, b = low:find(word, at, true)
      if not a then break end
      -- "torch" at the end of a word: pytorch counts, the rest of torchvision
      -- does not begin with a version
      local rest = low:sub(b + 1, b + 80)
      local before = low:sub(math.max(1, a - 2), a - 1)
      local whole = word ~= "torch" or not before:find "%w$" or before == "py"
      local heading = word ~= "version"
        or low:sub(math.max(1, a - 6), a - 1):find "#%s*$"
      if whole and heading then
        for _, row in ipairs(rows) do
          local from, to, version = rest:find(row[1])
          if from then
            best = better(best, low, a, low:sub(a, b + to), version, row[2])
            break
          end
        end
      end
      at = b + 1
    end
  end
  return best
end

-- "nightly 20241120", "dev20250301": the release that was being made then.
local function from_nightly(low)
  local y, m = low:match "dev(20%d%d)(%d%d)%d%d"
  if not y then y, m = low:match "nightly[^%w\n]+(20%d%d)%-?(%d%d)%-?%d%d" end
  if not y then return nil end
  local when = tonumber(y) * 12 + tonumber(m)
  local best
  for rel, d in pairs(came) do
    local cut = d[1] * 12 + d[2] - 1
    if cut >= when and (not best or M.number(rel) < M.number(best)) then
      best = rel
    end
  end
  return best, ("nightly of %s-%s"):format(y, m)
end

-- ---- inferred ----------------------------------------------------------

-- Texts beside the message templates: plain text, first, last release, why.
M.marks = {
  {"torch/distributed/_tensor/api.py", "2.0", "2.4", "module path"},
  {"torch/distributed/_tensor/dispatch.py", "2.0", "2.4", "module path"},
  {"torch/distributed/_tensor/ops/", "2.0", "2.4", "module path"},
  {"torch/distributed/_tensor/_dispatch.py", "2.5", "2.5", "module path"},
  {"torch/distributed/_tensor/_api.py", "2.5", "2.5", "module path"},
  {"torch/distributed/tensor/_", "2.5", "2.15", "module path"},
  {"torch/distributed/_composable/fsdp/", "2.4", "2.5", "FSDP2's path"},
  {"torch/distributed/fsdp/_fully_shard/", "2.6", "2.15", "FSDP2's path"},
  {"experimental/_attention.py", "2.5", "2.9", "module path"},
  {"_context_parallel/_attention.py", "2.10", "2.15", "module path"},
  {"_propagate_op_sharding_dispatch_slow_path", "2.10", "2.15",
   "frame of the C++ dispatch"},
  {"_dispatch_get_local_results_slow_path", "2.10", "2.15",
   "frame of the C++ dispatch"},
  {"_dispatch_fast_path_python_tail", "2.10", "2.15",
   "frame of the C++ dispatch"},
  {"enviroment", "2.4", "2.8", "the misspelt warning"},
  {"mixed-tensor-and-dtensor-operations", "2.10", "2.15", "the link"},
  {"Sharding propagation failed on op", "2.4", "2.8", "wording"},
  {"_Partial(reduce_op", "2.0", "2.3", "how Partial prints"},
  {"DTensor does not support cross-mesh operation yet!", "2.4", "2.6",
   "wording"},
  {"must have the same mesh, but got", "2.7", "2.15", "wording"},
  {"default world size, but found", "2.4", "2.4", "wording"},
  {"Cannot create a submesh from a submesh", "2.5", "2.8", "wording"},
}

-- Printed forms, {anchor, pattern behind it, first, last, what}; on the flat
-- text, since letters alone would not separate them.
local printed = {
  {"DeviceMesh(", "^'%a+', %[", "2.5", "2.8", "how a mesh prints"},
  {"DeviceMesh(", "^%([%w_=, ]+%), device: ", "2.9", "2.9",
   "how a mesh prints"},
  {"DeviceMesh(", "^%([%w_=, ]+%), '%a+', stride", "2.10", "2.15",
   "how a mesh prints"},
  {"Spec(", "^%a+%d*[%w_]*%[", "2.10", "2.15", "how specs print"},
  {"Spec(", "^%(%u[^)]-%).-on %(", "2.4", "2.9", "how specs print"},
  {"Spec(", "^[SRP]%S* on %(", "2.9", "2.9", "how specs print"},
  {" got mixed torch.Tensor and DTensor", "", "2.10", "2.15",
   "the mixed error without a colon", "[%w_]%.[%w_]+$"},
  {": got mixed torch.Tensor and DTensor", "^[^!]+!%s*Please see", "2.10",
   "2.15", "the mixed error with a link", "[%w_]%.[%w_]+$"},
  {": got mixed torch.Tensor and DTensor", "^[^!]+!['\"]?,?%)?%s*$", "2.4",
   "2.9", "the mixed error with a colon and no link", "[%w_]%.[%w_]+$"},
  {": got mixed torch.Tensor and DTensor", "^[^!]+![^P]*$", "2.4", "2.9",
   "the mixed error with a colon and no link", "[%w_]%.[%w_]+$"},
}

local PRINTED = 50              -- places of an anchor that are looked at

local function add_printed(list, flat)
  for _, m in ipairs(printed) do
    local at = 1
    for _ = 1, PRINTED do
      local a, b = flat:find(m[1], at, true)
      if not a then break end
      local rest = flat:sub(b + 1, b + 160)
      if rest:find(m[2]) and (not m[6]
        or flat:sub(math.max(1, a - 60), a - 1):find(m[6])) then
        list[#list + 1] = {M.number(m[3]), M.number(m[4]),
          m[5] .. ": " .. flat:sub(a, b + 20)}
        break
      end
      at = b + 1
    end
  end
end

local function ranges_of(doc, found_templates)
  local list = {}
  local flat = doc.flat
  for _, m in ipairs(M.marks) do
    if flat:find(m[1], 1, true) then
      list[#list + 1] = {M.number(m[2]), M.number(m[3]), m[4] .. ": " .. m[1]}
    end
  end
  add_printed(list, flat)
  for _, t in ipairs(found_templates or {}) do
    if not (t.first == M.releases[1] and t.last == M.newest) then
      list[#list + 1] = {M.number(t.first), M.number(t.last),
        "message: " .. t.text:sub(1, 60)}
    end
  end
  table.sort(list, function (a, b)
    local wa, wb = a[2] - a[1], b[2] - b[1]
    if wa ~= wb then return wa < wb end
    return a[3] < b[3]
  end)
  return list
end

-- 2025-06-19, and with the characters for year, month and day.
local dates = {"%f[%d](20[2-3]%d)[-/](%d%d?)[-/]%d%d?%f[%D]",
  "%f[%d](20[2-3]%d)\229\185\180(%d%d?)\230\156\136"}

-- Earliest date of the text, year * 12 + month: the report's own, since what
-- is written about it comes later.
local function date_of(low)
  local best
  for _, pattern in ipairs(dates) do
    for y, m in low:gmatch(pattern) do
      y, m = tonumber(y), tonumber(m)
      if y >= 2022 and y <= 2030 and m >= 1 and m <= 12 then
        local d = y * 12 + m
        if not best or d < best then best = d end
      end
    end
  end
  return best
end

-- When a report was written, "2025-06", as far as its text says.
function M.seen(doc)
  local date = date_of(doc.text:sub(1, 200000):lower())
  return date and ("%d-%02d"):format((date - 1) // 12, (date - 1) % 12 + 1)
end

local function newest_at(date, low, high)
  local best
  for rel, d in pairs(came) do
    local n = M.number(rel)
    if n >= low and n <= high and d[1] * 12 + d[2] <= date
      and (not best or n > best) then
      best = n
    end
  end
  return best
end

local function infer(doc, low_text, templates)
  local newest = M.number(M.newest)
  local low, high, why = 200, newest, {}
  for _, r in ipairs(ranges_of(doc, templates)) do
    local a, b = math.max(low, r[1]), math.min(high, r[2])
    if a <= b and (a > low or b < high) then
      low, high = a, b
      why[#why + 1] = r[3]
    end
  end
  local date = date_of(low_text)
  local best
  if date then
    best = newest_at(date, low, high)
    if best then
      why[#why + 1] = ("a date in the text, %d-%02d"):format((date - 1) // 12,
        (date - 1) % 12 + 1)
    end
  end
  if #why == 0 then return nil end
  -- most reports are of releases that have been out for a while
  if not best then
    best = (low + math.max(low, math.min(high, newest - 2)) + 1) // 2
  end
  return {release = M.name(best), how = "inferred",
    evidence = table.concat(why, "; "),
    range = {M.name(math.max(low, 200)), M.name(high)}}
end

-- {release=, how="stated"|"inferred", evidence=, range=} or nil.
function M.find(doc, templates)
  local low = doc.text:sub(1, 400000):lower()
  if #doc.text > 400000 then low = low .. doc.text:sub(-100000):lower() end
  low = low .. "\n" .. doc.machine:sub(1, 100000):lower()
  local s = find_stated(low)
  if s and s.weight > 0 then
    local major, minor = s.version:match "^(%d+)%.(%d+)"
    return {release = major .. "." .. minor, how = "stated",
      evidence = (s.text:gsub("%s+", " ")), full = s.version}
  end
  local rel, why = from_nightly(low)
  if rel then return {release = rel, how = "stated", evidence = why} end
  local guess = infer(doc, low, templates)
  if s and not guess then
    local major, minor = s.version:match "^(%d+)%.(%d+)"
    return {release = major .. "." .. minor, how = "inferred",
      evidence = "mentioned: " .. s.text:gsub("%s+", " ")}
  end
  return guess
end

return M
