-- SPDX-License-Identifier: MIT
-- repl/dap/wire.lua: messages of the Debug Adapter Protocol: a head that says
-- how long the body is, and JSON.

local M = {}

-- A head longer than this, or a body, is no message.
local HEAD, BODY = 4096, 16 * 1024 * 1024

-- A list, also an empty one; other tables are objects.
local list = {}
function M.list(t) return setmetatable(t or {}, list) end

local marks = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n",
  ["\r"] = "\\r", ["\t"] = "\\t"}

local function valid(s)
  if utf8.len(s) then return s end
  return (s:gsub("[\128-\255]", "?"))
end

function M.encode(v)
  local t = type(v)
  if t == "string" then
    return '"' .. valid(v):gsub('[%c"\\\127]', function (c)
      return marks[c] or ("\\u%04x"):format(c:byte())
    end) .. '"'
  elseif math.type(v) == "integer" then
    return ("%d"):format(v)
  elseif t == "number" then
    if v ~= v or v == math.huge or v == -math.huge then return "null" end
    return ("%.14g"):format(v)
  elseif t ~= "table" then
    return t == "boolean" and tostring(v) or "null"
  end
  local out = {}
  if getmetatable(v) == list then
    for i, x in ipairs(v) do out[i] = M.encode(x) end
    return "[" .. table.concat(out, ",") .. "]"
  end
  local keys = {}
  for k in pairs(v) do keys[#keys + 1] = k end
  table.sort(keys)
  for i, k in ipairs(keys) do
    out[i] = M.encode(tostring(k)) .. ":" .. M.encode(v[k])
  end
  return "{" .. table.concat(out, ",") .. "}"
end

function M.frame(message)
  local body = M.encode(message)
  return ("Content-Length: %d\r\n\r\n%s"):format(#body, body)
end

-- take(buffer) -> body, rest | nil, rest: not whole yet | nil, nil, why: this
-- is no message, and what follows cannot be found.
function M.take(buffer)
  local from, to = buffer:find("\r\n\r\n", 1, true)
  if not from then
    if #buffer > HEAD then
      return nil, nil, "a head of more than 4096 bytes"
    end
    return nil, buffer
  end
  local head = buffer:sub(1, from + 1)
  local size = head:lower():match("content%-length:%s*(%d+)%s*\r\n")
  if from > HEAD or not size then
    return nil, nil, "no Content-Length in the head of a message"
  end
  size = #size < 12 and tonumber(size) or BODY + 1
  if size > BODY then return nil, nil, "a message of more than 16 MB" end
  if #buffer < to + size then return nil, buffer end
  return buffer:sub(to + 1, to + size), buffer:sub(to + size + 1)
end

return M
