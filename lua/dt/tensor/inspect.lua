-- SPDX-License-Identifier: MIT
-- dt/tensor/inspect.lua: text of any value for a person, as the prompt shows
-- it: tables by content with a limit on depth, size and width.

local M = {depth = 4, items = 50, width = 79}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local
    nil not or repeat return then true until while]]):gmatch("%a+") do
  keywords[word] = true
end

local function quote(s)
  return '"' .. s:gsub('[%c"\\]', function (c)
    if c == "\n" then return "\\n" end
    if c == "\t" then return "\\t" end
    if c == '"' or c == "\\" then return "\\" .. c end
    return ("\\%d"):format(c:byte())
  end) .. '"'
end

local function key_text(k, seen, depth)
  if type(k) == "string" then
    if k:match("^[%a_][%w_]*$") and not keywords[k] then return k end
    return "[" .. quote(k) .. "]"
  end
  return "[" .. M.text(k, seen, depth) .. "]"
end

-- The parts of a table: the list first, then the keys in pairs' order.
local function parts_of(t, seen, depth)
  local parts, n = {}, #t
  for i = 1, math.min(n, M.items) do
    parts[#parts + 1] = M.text(t[i], seen, depth + 1)
  end
  for k, v in pairs(t) do
    local in_list = math.type(k) == "integer" and k >= 1 and k <= n
    if not in_list then
      if #parts >= M.items then parts[#parts + 1] = "..." break end
      parts[#parts + 1] = key_text(k, seen, depth + 1) .. " = "
        .. M.text(v, seen, depth + 1)
    end
  end
  if n > M.items then parts[#parts + 1] = ("... (%d)"):format(n) end
  return parts
end

local function table_text(t, seen, depth)
  if seen[t] then return "{...cycle}" end
  if depth >= M.depth then return next(t) == nil and "{}" or "{...}" end
  seen[t] = true
  local parts = parts_of(t, seen, depth)
  seen[t] = nil
  local line = "{" .. table.concat(parts, ", ") .. "}"
  local indent = ("  "):rep(depth)
  if #line + #indent <= M.width and not line:find("\n", 1, true) then
    return line
  end
  return "{\n" .. indent .. "  "
    .. table.concat(parts, ",\n" .. indent .. "  ") .. "\n" .. indent .. "}"
end

-- The value as text.  Strings inside tables are quoted.
function M.text(v, seen, depth)
  if type(v) == "string" then return quote(v) end
  if type(v) ~= "table" then return tostring(v) end
  local mt = getmetatable(v)
  if type(mt) == "table" and mt.__tostring then return tostring(v) end
  return table_text(v, seen or {}, depth or 0)
end

-- require "dt.tensor.inspect"(value): the same.
return setmetatable(M, {__call = function (_, v) return M.text(v) end})
