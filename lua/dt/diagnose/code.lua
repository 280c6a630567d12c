-- SPDX-License-Identifier: MIT
-- dt/diagnose/code.lua: the Python code of a report: which lines are code, what
-- they call, in which order, and which operator a line comes to.  Nothing is
-- run.  The reader of Python is set from outside (torch.diagnose).
--
-- A line counts as code when it can be read as Python and does something;
-- a call over several lines is put together.  Reading a line costs as much as
-- a few thousand letters of matching, so their number is limited.

local M = {}

-- read(text) -> the statements of a Python text; raises where it is none.
-- free(statements) -> the names they read and do not bind.
local read, free
function M.set_parser(f, names) read, free = f, names end

-- The statements of a whole text, or nil where it is no Python.
function M.program(text)
  local ok, tree = pcall(read, text .. "\n")
  if ok and type(tree) == "table" and tree[1] then return tree end
end

-- The names that statements read and do not bind, in their order.
function M.free_names(tree) return free(tree) end

local MAX_LINES, MAX_LENGTH, MAX_JOINED = 48, 240, 8

-- ---- lines -------------------------------------------------------------

local function balance(text)
  local _, open = text:gsub("[%(%[{]", "")
  local _, close = text:gsub("[%)%]}]", "")
  return open - close
end

-- What opens a block is read with a body that does nothing.
local function parse(text)
  text = text:gsub("^%s*>>> ?", ""):gsub("^%s+", ""):gsub("%s+$", "")
  text = text:gsub("^[%+%-] +", "")               -- a line of a diff
  if text:find "^el[si][ef]?" then text = text:gsub("^el", "", 1) end
  if text:find ":$" or text:find ":%s*#" then text = text .. "\n    pass" end
  local ok, tree = pcall(read, text .. "\n")
  if ok and type(tree) == "table" and tree[1] then return tree[1] end
end

-- Could `line` be Python at all?  Cheap, before it is read.
local function likely(line)
  if #line < 5 or #line > MAX_LENGTH then return false end
  if line:find('^%s*File "') or line:find "[\128-\255]" then return false end
  if line:find "^%s*[~%^]+%s*$" or line:find "^%s*[%w_%.]+Error" then
    return false
  end
  return line:find "[%w_%]%)]%s*[%+%-%*/@%%]?=[^=]" or line:find "[%w_]%("
    or line:find "[%w_%]%)]%s+[%+%-%*/@]%s+[%w_]"
    or line:find "^%s*if .+:%s*$" or line:find "^%s*with .+:"
end

M.likely, M.balance = likely, balance

local idle = {name = true, const = true, list = true, tuple = true}

-- Statements of the report: {tree=, text=, line=, indent=}, in the order of
-- the text.
function M.statements(doc)
  if doc.statements then return doc.statements end
  if not read then error("diagnose needs torch.diagnose, which reads Python", 0) end
  local list, i, lines = {}, 1, doc.lines
  local tried = 0
  while i <= #lines and tried < MAX_LINES do
    local line = lines[i]
    local step = 1
    if likely(line) then
      tried = tried + 1
      local text = line:gsub("%s+#.*$", "")
      while balance(text) > 0 and step < MAX_JOINED and lines[i + step] do
        text = text .. " " .. lines[i + step]:gsub("^%s+", "")
          :gsub("%s+#.*$", "")
        step = step + 1
      end
      local tree = parse(text)
      if not tree then step = 1 end
      if tree and not (tree.kind == "expr" and idle[tree.value.kind]) then
        list[#list + 1] = {tree = tree, text = line:match "^%s*(.-)%s*$",
          line = i, indent = #line:match "^%s*"}
      end
    end
    i = i + step
  end
  doc.statements = list
  return list
end

-- ---- trees -------------------------------------------------------------

-- Visit every node below `t`, operands before what uses them.
local function walk(t, visit, depth)
  if type(t) ~= "table" or depth > 40 then return end
  local keys = {}
  for k, v in pairs(t) do
    if type(v) == "table" then keys[#keys + 1] = k end
  end
  table.sort(keys, function (a, b) return tostring(a) < tostring(b) end)
  for _, k in ipairs(keys) do walk(t[k], visit, depth + 1) end
  if t.kind then visit(t) end
end

-- Visit every node of a program, operands before what uses them.
function M.visit(tree, visit) walk(tree, visit, 0) end

-- "torch.distributed.tensor" of nested attributes; nil when it is no name.
function M.dotted(t)
  if t.kind == "name" then return t.name end
  if t.kind == "attr" then
    local head = M.dotted(t.value)
    return head and head .. "." .. t.name or "?." .. t.name
  end
  return "?"
end

-- All calls of a statement: {name=, path=, args=, node=}; `name` is the last
-- part of `path`.
function M.calls(tree)
  local list = {}
  walk(tree, function (t)
    if t.kind == "call" and t.fn then
      local path = M.dotted(t.fn)
      list[#list + 1] = {path = path, name = path:match "[%w_]+$" or path,
        args = t.args or {}, node = t}
    end
  end, 0)
  return list
end

-- The value a call gives for a keyword, as a node.
function M.keyword(call, name)
  for _, a in ipairs(call.args) do
    if a.name == name or a.key == name then return a.value end
  end
end

-- ---- operators ---------------------------------------------------------

local binary = {["+"] = "add", ["-"] = "sub", ["*"] = "mul", ["/"] = "div",
  ["@"] = "matmul", ["**"] = "pow", ["%"] = "remainder", ["//"] =
  "floor_divide", ["&"] = "bitwise_and", ["|"] = "bitwise_or"}
local compare = {["=="] = "eq", ["!="] = "ne", ["<"] = "lt", [">"] = "gt",
  ["<="] = "le", [">="] = "ge"}

-- A comparison with a text compares no tensors.
local function with_text(t)
  for _, item in ipairs(t.items) do
    if item.kind == "const" and type(item.value) == "string" then return true end
  end
end

-- What a tensor's name is not: constants and Python's own containers.
local function plain(t)
  return t.kind == "const" or t.kind == "list" or t.kind == "tuple"
    or t.kind == "dict" or t.kind == "fstring"
end

-- x.shape[d], local_sizes[i]: numbers, whatever indexes them.
local function is_of_sizes(t)
  local name = (t.kind == "name" or t.kind == "attr") and t.name or ""
  return name:find "shape" or name:find "size" or name:find "stride"
end

-- log(x.item()), max(0, n.item()): a function of Python's, of numbers.
local function takes_number(t)
  if t.fn.kind ~= "name" or not t.args or #t.args == 0 then return false end
  for _, a in ipairs(t.args) do
    local value = a.kind and a or a.value
    local fn = value and value.kind == "call" and value.fn
    if not (value and (value.kind == "const"
      or fn and fn.kind == "attr" and fn.name == "item")) then
      return false
    end
  end
  return true
end

-- The sums and products that say where a slice begins and ends, of
-- x[rank * 2:(rank + 1) * 2]: numbers.  {[node] = true}
local function bounds_of_slices(tree)
  local set = {}
  walk(tree, function (t)
    if t.kind ~= "slice" then return end
    walk(t, function (inner) set[inner] = true end, 0)
  end, 0)
  return set
end

-- The names of the operators in a tree, in the order they are evaluated:
-- {{"sub", 2}, ...}, the second how many operands can be tensors.
function M.operators(tree)
  local list, bounds = {}, bounds_of_slices(tree)
  local function add(name, n) list[#list + 1] = {name, n} end
  walk(tree, function (t)
    if bounds[t] then
      return
    elseif t.kind == "binary" and binary[t.op] then
      if not (plain(t.a) and plain(t.b)) then
        add(binary[t.op], (plain(t.a) or plain(t.b)) and 1 or 2)
      end
    elseif t.kind == "augment" and binary[t.op] then
      add(binary[t.op] .. "_", plain(t.value) and 1 or 2)
    elseif t.kind == "compare" and t.ops and #t.ops == 1
      and compare[t.ops[1]] and not plain(t.items[1]) and not with_text(t) then
      add(compare[t.ops[1]], plain(t.items[2]) and 1 or 2)
    elseif t.kind == "unary" and t.op == "-" and t.a.kind == "binary"
      and t.a.op == "//" then
      -- -(-n // k) rounds up: sizes, not tensors
      list[#list] = nil
      if t.a.a.kind == "unary" then list[#list] = nil end
    elseif t.kind == "unary" and t.op == "-" and not plain(t.a) then
      add("neg", 1)
    elseif t.kind == "item" and t.index and t.index.kind == "name"
      and not is_of_sizes(t.value) then
      add("index", 2)
    elseif t.kind == "call" and t.fn and not takes_number(t) then
      local path = M.dotted(t.fn)
      add(path, 1 + #(t.args or {}))
    end
  end, 0)
  return list
end

-- The operators of a line, or of the part that the carets under it mark.
function M.operators_of_line(line, carets)
  if carets then
    local from, to = carets:find "[~%^]+"
    local one = carets:find "^[^~%^]*~+%^+~+%s*$"
    if one then
      local at = carets:find("^", 1, true)
      local sign = line:sub(at, at + 1)
      sign = binary[sign] and sign or line:sub(at, at)
      if binary[sign] then return {{binary[sign], 2}} end
    end
    if from then
      local part = parse(line:sub(from, to))
      local list = part and M.operators(part)
      if list and #list > 0 then return {list[#list]} end
    end
  end
  local tree = parse(line)
  return tree and M.operators(tree) or {}
end

return M
