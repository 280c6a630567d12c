-- SPDX-License-Identifier: MIT
-- dt/diagnose/explain.lua: one page on an error: what it means, the smallest
-- example that runs, how each PyTorch release words it, fixes, threads.
-- Asked by code (DT0101), class, operator, or words of the message.

local clean = require "dt.diagnose.clean"
local facts = require "dt.diagnose.facts"
local releases = require "dt.diagnose.release"
local render = require "dt.diagnose.render"
local diagnose = require "dt.diagnose"
local scenarios = require "dt.diagnose.scenarios"
local script = require "dt.diagnose.script"
local templates = require "dt.diagnose.templates"
local threads_of = require "dt.diagnose.threads"

local M = {}

-- Which class an error code of dtrepl stands for.
local by_code = {
  DT0101 = "mixed-tensor-dtensor", MIXED = "mixed-tensor-dtensor",
  DT0102 = "out-variant-kwarg-dtensor", NOMESH = "out-variant-kwarg-dtensor",
  DT0103 = "optimizer-cross-mesh", CROSSMESH = "optimizer-cross-mesh",
  DT0201 = "missing-sharding-strategy", MISSING = "missing-sharding-strategy",
  DT0202 = "sharding-propagation-failed", PROP = "sharding-propagation-failed",
  DT0203 = "inplace-placement-change", INPLACE = "inplace-placement-change",
  DT0301 = "redistribute-to-partial", REDIST = "redistribute-to-partial",
  DT0303 = "distribute-misuse", PLACEMENT = "distribute-misuse",
  DT0305 = "implicit-redistribution-forbidden",
  IMPLICIT = "implicit-redistribution-forbidden",
  DT0401 = "mesh-larger-than-world", MESH = "mesh-larger-than-world",
  DT0402 = "submesh-of-submesh", SUBMESH = "submesh-of-submesh",
  DT0502 = "collective-sequence-mismatch",
  DIVERGED = "collective-sequence-mismatch",
}

-- Examples for classes whose scene depends on an operator.
local examples = {
  ["mixed-tensor-dtensor"] = {
    'mesh = dt.init_device_mesh("cpu", {dt.world_size()})',
    'x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)")',
    "x + dt.ones(8, 4)"},
  ["missing-sharding-strategy"] = {
    'mesh = dt.init_device_mesh("cpu", {dt.world_size()})',
    'dt.library.define("my::op(Tensor a) -> Tensor", {impl = function (a) '
      .. "return a * 1 end})",
    'dt.ops.my.op.default(dt.distribute_tensor(dt.ones(8), mesh, "S(0)"))'},
}

local function example_of(class)
  if examples[class.id] then return examples[class.id] end
  local ok, s = pcall(scenarios.find, {class = class,
    doc = {flat = "", text = ""}, meshes = {}, args = {}, templates = {}})
  if not ok or not s then return nil end
  local lines = {}
  if s.torch then lines[1] = ("-- dtrepl --torch %s"):format(s.torch) end
  if s.mesh then lines[#lines + 1] = script.mesh_line(s.mesh):gsub("^local ", "") end
  for _, line in ipairs(s.setup or {}) do lines[#lines + 1] = line end
  lines[#lines + 1] = (s.fail:gsub("^return ", ""))
  return lines
end

-- Templates of the releases that are texts of this class.
local function wordings(class)
  local keys = {}
  for _, s in ipairs(class.signs) do
    if s[1] >= 0.85 then
      for k = 2, #s do
        local mark = s[k]:sub(1, 1)
        if not mark:find "[!@=/]" then
          for t in s[k]:gsub("^~", ""):gmatch "[^|]+" do
            local key = clean.squash(t)
            if #key >= 18 then keys[#keys + 1] = key end
          end
        end
      end
    end
  end
  local list = {}
  for _, t in ipairs(templates) do
    local text = clean.squash(t[1])
    for _, key in ipairs(keys) do
      if text:find(key, 1, true) then
        list[#list + 1] = t
        break
      end
    end
  end
  table.sort(list, function (a, b)
    local x, y = releases.number(a[3]), releases.number(b[3])
    if x ~= y then return x < y end
    return a[1] < b[1]
  end)
  return list
end

-- The releases `first` to `last`, `newest` being the last that was looked at.
local function span_text(first, last, newest)
  if first == releases.oldest and last == newest then return "all releases" end
  if first == releases.oldest then return "to " .. last end
  if last == newest then return "from " .. first end
  if first == last then return first .. " only" end
  return first .. " to " .. last
end

-- Its fixes, a line or more each.
local function add_fixes(class, out)
  for i, f in ipairs(class.fixes) do
    out[#out + 1] = ("  %d  %s%s"):format(i, f[1], f.fixed_in
      and ("  [since %s]"):format(f.fixed_in) or "")
    if f.lua then out[#out + 1] = "     Lua      " .. f.lua end
    if f.torch then
      out[#out + 1] = "     PyTorch  " .. f.torch:gsub("\n", "\n              ")
    end
  end
end

-- The class of a message; one that is only guessed from the way it is worded helps
-- nobody at a prompt.
local function class_of(message)
  local r = diagnose.read(message)
  return (r.confidence or 0) >= render.PROBABLE and r.class or nil
end

-- The fixes of the class that an error's code or words stand for; nil: none.
function M.fixes(code, message)
  local class = by_code[code] and diagnose.class(by_code[code]) or class_of(message)
  if not class or #class.fixes == 0 then return nil end
  local out = {}
  add_fixes(class, out)
  return table.concat(out, "\n")
end

-- The page of a class.
function M.class_page(class)
  local out = {class.id, "  " .. class.name, "", class.cause, ""}
  local example = example_of(class)
  if example then
    out[#out + 1] = "Example"
    for _, line in ipairs(example) do out[#out + 1] = "  " .. line end
    out[#out + 1] = ""
  end
  local texts = wordings(class)
  if #texts > 0 then
    out[#out + 1] = "What PyTorch says"
    for i = 1, math.min(#texts, 14) do
      local t = texts[i]
      out[#out + 1] = ("  %-12s  %s: %s"):format(
        span_text(t[3], t[4], releases.newest), t[2], (t[1]:gsub("\n", " "):gsub("{}", "…")))
    end
    out[#out + 1] = ""
  end
  out[#out + 1] = "Fixes"
  add_fixes(class, out)
  local threads = threads_of[class.id]
  if threads and threads ~= "" then
    out[#out + 1] = ""
    out[#out + 1] = "Threads  " .. threads
  end
  return table.concat(out, "\n")
end

-- Which releases had a strategy for an operator.
local function op_page(word)
  local t = facts.ops()
  local name = facts.canonical(word) or word
  if not t.span[name] then
    local key = clean.squash(word)
    name = t.by_squash[key] or t.by_base[key]
  end
  local span = name and t.span[name]
  if not span then return nil end
  return ("%s\n  has a sharding strategy in PyTorch %s"):format(name,
    span_text(span[1], span[2], releases.newest)):gsub("in PyTorch all releases",
    ("in all releases from %s to %s"):format(releases.oldest,
      releases.newest))
end

-- Classes whose id or name holds all words.
local function by_words(word)
  local list = {}
  for _, c in ipairs(diagnose.classes()) do
    local text, all = (c.id .. " " .. c.name):lower(), true
    for w in word:lower():gmatch "[%w_]+" do
      all = all and text:find(w, 1, true) ~= nil
    end
    if all then list[#list + 1] = c end
  end
  return list
end

-- The page on `word`; nil and a sentence when there is none.
function M.page(word)
  local class = diagnose.class(by_code[word:upper()] or word)
  if class then return M.class_page(class) end
  local op = word:find "%." and op_page(word)
  if op then return (op) end
  local list = by_words(word)
  if #list == 1 then return M.class_page(list[1]) end
  if #list > 1 then
    local out = {"several classes:"}
    for _, c in ipairs(list) do
      out[#out + 1] = ("  %-40s %s"):format(c.id, c.name)
    end
    return table.concat(out, "\n")
  end
  op = op_page(word)
  if op then return (op) end
  local r = diagnose.read(word)
  if r.class then return M.class_page(r.class) end
  return nil, ("no page on \"%s\""):format(word)
end

return M
