-- SPDX-License-Identifier: MIT
-- dt/diagnose/names.lua: the reporter's own names for what a fix calls x, mask
-- or norm, and the reporter's own calls, so that a fix says which line of
-- theirs becomes what.

local code = require "dt.diagnose.code"
local opnames = require "dt.diagnose.opnames"

local M = {}

local SEEN <const> = 100000     -- letters of a report that are looked at
local LONGEST <const> = 160     -- letters of a call that is repeated

local constants = {"mask", "bias", "pos", "idx", "index", "cos", "sin",
  "freq", "offset", "scale", "label", "target", "ids", "buffer", "table",
  "const", "cache"}

local function like_constant(name)
  local low = name:lower()
  for _, c in ipairs(constants) do
    if low:find(c, 1, true) then return true end
  end
end

local function valid(name)
  return name and #name <= 40 and name:find "^[%a_][%w_%.]*$" and name ~= "self"
end

-- Modules whose functions take the tensor as an argument.
local modules = {torch = true, F = true, nn = true, np = true, dist = true,
  aten = true, ops = true, math = true}

-- What stands before a dot and is no tensor: classes, and words of prose.
local function like_class(name)
  local last = name:match "[%w_]+$" or ""
  return modules[name:match "^[%w_]+" or ""] or last:find "^%u%l"
    or last:find "Tensor$" or last == "self"
end

-- ---- names in trees ----------------------------------------------------

-- A name of a tree: x, self.mask; the tensor a method is called on, or the
-- first argument of a module's function.
local function name_of(t)
  if not t then return nil end
  if t.kind == "name" or t.kind == "attr" then
    local text = code.dotted(t)
    return not text:find("?", 1, true) and not modules[text:match "^[%w_]+"]
      and text or nil
  elseif t.kind == "call" and t.fn.kind == "attr" then
    local first = t.args and t.args[1]
    return name_of(t.fn.value)
      or first and name_of(first.kind and first or first.value)
  elseif t.kind == "item" then
    return name_of(t.value)
  end
end

-- The value computed in the line that raises.
local function value_of_line(r)
  local statements = code.statements(r.doc)
  local value
  for _, s in ipairs(statements) do
    if s.text == r.op_from then value = s.tree.value or s.tree end
  end
  if value or r.op_how ~= "message" or not r.op then return value end
  local base = r.op:match "^[%w_]+%.([%w_]-)_?%."
  for _, s in ipairs(statements) do
    for _, o in ipairs(code.operators(s.tree)) do
      local last = o[1]:match "[%w_]+$"
      if last == base or opnames.comes_to(last) == r.op then
        value = s.tree.value or s.tree
      end
    end
  end
  return value
end

-- What a fix calls `norm` is what the report calls the result of one of these.
local reductions = {clip_grad_norm_ = true, get_total_norm = true,
  vector_norm = true}

-- The name that the report gives a gradient norm, or nil.
local function norm_in(r)
  for _, s in ipairs(code.statements(r.doc)) do
    local target = s.tree.kind == "assign" and s.tree.targets[1]
    if target then
      for _, call in ipairs(code.calls(s.tree)) do
        if reductions[call.name] then return name_of(target) end
      end
    end
  end
end

-- ---- names in the text -------------------------------------------------

-- What only a DTensor is asked for.
local asked_of_dtensors = {"to_local", "full_tensor", "_local_tensor",
  "redistribute", "placements", "device_mesh"}

-- The text without the lines of PyTorch's own files in tracebacks, which
-- speak of PyTorch's variables.
local function own_text(doc)
  if doc.own_text then return doc.own_text end
  local list, of_torch = {}, false
  for _, line in ipairs(doc.lines) do
    local path = line:match '^%s*File "([^"]+)"'
    if path then
      of_torch = path:find("torch/", 1, true)
        and path:find("-packages/", 1, true) ~= nil
    elseif not of_torch then
      list[#list + 1] = line
    else
      of_torch = line:find "^%s*[~%^%w]" ~= nil and line:find "^%s" ~= nil
    end
  end
  doc.own_text = table.concat(list, " "):gsub("%s+", " "):sub(1, SEEN)
  return doc.own_text
end

-- The one tensor of the report that is used as a DTensor; nil where it is none
-- or several: then a name would be a guess.
local function only_dtensor(r)
  local found
  local text = own_text(r.doc)
  for _, word in ipairs(asked_of_dtensors) do
    for name in text:gmatch("%f[%w_%.]([%a_][%w_%.]*)%." .. word
      .. "%f[^%w_]") do
      if valid(name) and not like_class(name) then
        if found and found ~= name then return nil end
        found = name
      end
    end
  end
  return found
end

-- ---- names -------------------------------------------------------------

-- Methods beside forward that read weights.
local entries = {"generate", "encode_image", "encode_text", "encode", "decode",
  "get_image_features", "get_text_features", "sample", "score", "prefill",
  "compute_loss", "predict"}

-- entry(report): of those the one that the report calls, else the function of
-- its own that raised; nil where neither is there.
function M.entry(r)
  local flat = r.doc.flat
  for _, name in ipairs(entries) do
    if flat:find("[%.%s_]" .. name .. "%f[^%w_]") then return name end
  end
  local own = r.user_frame and r.user_frame.func:match "^[%a_][%w_]*$"
  return own and own ~= "forward" and own ~= "main" and own or nil
end

-- The report's names by those of the catalogue: {x=, mask=, norm=, generate=}.
function M.of(r)
  local names = {norm = norm_in(r), generate = M.entry(r) or "the_method"}
  local value = value_of_line(r)
  if value and value.kind == "binary" then
    local a, b = name_of(value.a), name_of(value.b)
    if a and b and like_constant(a) and not like_constant(b) then a, b = b, a end
    names.x, names.mask = a, b
  elseif value then
    names.x = name_of(value)
  end
  if not names.x then
    names.x = only_dtensor(r)
  end
  return names
end

-- `text` with the report's names; `as` is what the text calls x.
function M.put(text, names, as)
  if not text then return nil end
  local own = {}
  for from, to in pairs(names) do
    own[from == "x" and as or from] = valid(to) and to or nil
  end
  return (text:gsub("%f[%w_.]([%a_][%w_]*)(=?)", function (name, is)
    return is == "" and own[name] or nil           -- a keyword keeps its name
  end))
end

-- ---- calls -------------------------------------------------------------

-- Where the expression begins whose last name ends at `at`: names, dots and
-- closed brackets before it.
local function start_of(text, at)
  local i = at
  while i > 0 do
    local ch = text:sub(i, i)
    if ch:find "[%w_%.]" then
      i = i - 1
    elseif ch:find "[%)%]]" then
      local depth, k = 0, i
      repeat
        local c = text:sub(k, k)
        depth = depth + (c:find "[%)%]]" and 1 or c:find "[%(%[]" and -1 or 0)
        k = k - 1
      until depth == 0 or k < 1 or i - k > LONGEST
      if depth ~= 0 then break end
      i = k
    else
      break
    end
  end
  return i + 1
end

-- The report's first call of the method or function `name`, as it is written:
-- its text without the closing bracket, and whether it has arguments.
local function call_of(text, name)
  local at = 1
  while true do
    local from, open = text:find("%." .. name .. "%(", at)
    if not from then return nil end
    local first = start_of(text, from - 1)
    local inside = text:sub(open, open + LONGEST):match "^%b()"
    if inside and first < from and open + #inside - first <= LONGEST
      and not inside:find("...", 1, true) then
      return text:sub(first, open + #inside - 2), inside:find "[^%(%s%)]" ~= nil
    end
    at = open
  end
end

-- The value that the report gives `key` somewhere, or nil.
local function value_in(text, key)
  for value, rest in text:gmatch("%f[%w_]" .. key .. " ?= ?([%a_][%w_%.]*)(.?.?)")
  do
    local call = rest == "()" and value .. rest
    if call or not rest:find "^[%(%[]" then
      value = call or value:gsub("%.$", "")
      if value ~= "None" and value ~= "False" then return value end
    end
  end
end

-- The report's own call with what the fix adds: `adds` is {calls={names},
-- {keyword, value}, ...}.  nil where there is no such call, or it has all.
function M.own_call(r, adds)
  local text = own_text(r.doc)
  for _, name in ipairs(adds.calls) do
    local call, filled = call_of(text, name)
    if call and (filled or not like_class(call:match "^(.*)%." or "")) then
      local more = {}
      for _, kv in ipairs(adds) do
        if not call:find(kv[1] .. " ?=") then
          more[#more + 1] = kv[1] .. "=" .. (value_in(text, kv[1]) or kv[2])
        end
      end
      if #more == 0 then return nil end
      return call .. (filled and ", " or "") .. table.concat(more, ", ") .. ")"
    end
  end
end

return M
