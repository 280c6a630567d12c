-- SPDX-License-Identifier: MIT
-- repl/places.lua: where a function of the program begins: methods, and
-- functions that are not there yet, are found in the text that runs.

local dt = require "dt"
local eval = require "python.eval"
local parser = require "python.parser"
local env_of = require "python.env"
local V = require "python.values"

local M = {}

-- ---- Python ----

-- The functions of a tree as {their name with that of what they stand in, node}.
local function add_functions(tree, path, out)
  for key, n in next, tree do
    if type(n) == "table" and key ~= "value" then
      local inner = path
      if n.kind == "def" or n.kind == "class" then
        inner = path .. (path ~= "" and "." or "") .. n.name
        if n.kind == "def" then out[#out + 1] = {inner, n} end
      end
      add_functions(n, inner, out)
    end
  end
end

-- The first line that runs in a function: not that of its text of help.
local function first_line(n)
  for i = 1, 2 do
    local s = n.body[i]
    local text = s and s.kind == "expr" and s.value.kind == "const"
      and type(s.value.value) == "string"
    if s and (not text or not n.body[i + 1]) then return s.first or s.line end
  end
  return n.line
end

local function ends_in(full, name)
  return full == name or full:sub(-#name - 1) == "." .. name
end

-- The functions that are so called of all texts of Python, and of one that has not
-- run yet: {full name, place}.
local function python_functions(name, main, main_text)
  local found, texts = {}, {}
  for file, text in next, eval.texts do texts[file] = text end
  if main and main:find("%.py$") then texts[main] = main_text end
  for file, text in next, texts do
    local ok, tree = pcall(parser.parse, text)
    local all = {}
    if ok and not file:find("^[=<]") and file ~= "prompt" then
      add_functions(tree, "", all)
    end
    for _, f in ipairs(all) do
      if ends_in(f[1], name) then
        found[#found + 1] = {f[1], ("%s:%d"):format(file, first_line(f[2]))}
      end
    end
  end
  table.sort(found, function (a, b) return a[2] < b[2] end)
  return found
end

-- "net.step" of a variable net: "Net.step".
local function of_class(name)
  local owner, method = name:match("^([%w_]+)%.([%w_]+)$")
  local scope = owner and dt._python_scope()
  local v = scope and env_of.lookup(scope, owner)
  if v == nil and owner then v = rawget(_G, owner) end
  return v ~= nil and V.type_name(v) .. "." .. method or nil
end

-- ---- Lua ----

local function is_code(line)
  return line:find("%S") and not line:find("^%s*%-%-")
end

local function lua_functions(name, file, text)
  local word, found, at, head = name:gsub("%p", "%%%0"), {}, 0, nil
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    at = at + 1
    if head and is_code(line) then
      if not line:find("^%s*end%f[^%w_]") then
        found[#found + 1] = {head, ("%s:%d"):format(file, at)}
      end
      head = nil
    end
    local full = line:match("function%s+([%w_.:]+)%s*%(")
      or line:match("([%w_.]+)%s*=%s*function%s*%(")
    if full and is_code(line) and (full == name or full:find("[.:]" .. word .. "$"))
       and not line:find("%f[%w_]end%s*$") then
      head = full
    end
  end
  return found
end

-- find(name, file, text): "FILE:LINE" where the function begins, or nil and why.
-- `file` and `text` are those of the script that ran last, or will run.
function M.find(name, file, text)
  local found = python_functions(name, file, text)
  if #found == 0 then
    local full = of_class(name)
    if full then found = python_functions(full, file, text) end
  end
  if #found == 0 and file and not file:find("%.py$") then
    found = lua_functions(name, file, text)
  end
  local whole = {}
  for _, f in ipairs(found) do
    if f[1] == name then whole[#whole + 1] = f end
  end
  if #whole > 0 then found = whole end
  if #found <= 1 then return found[1] and found[1][2] end
  local names = {}
  for i = 1, math.min(#found, 6) do
    names[i] = ("%s (%s)"):format(found[i][1], found[i][2])
  end
  return nil, ("%s is in several places: %s%s"):format(name,
    table.concat(names, ", "), #found > 6 and ", …" or "")
end

return M
