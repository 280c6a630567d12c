-- SPDX-License-Identifier: MIT
-- dt/io/json.lua: writes JSON with the keys in a given order.

local M = {}

M.null = setmetatable({}, {__name = "null"})

-- Only valid UTF-8; other bytes become "?".
function M.utf8(text)
  if utf8.len(text) then return text end
  local out, at = {}, 1
  while at <= #text do
    local ok, bad = utf8.len(text, at)
    if ok then out[#out + 1] = text:sub(at); break end
    out[#out + 1] = text:sub(at, bad - 1)
    out[#out + 1] = "?"
    at = bad + 1
  end
  return table.concat(out)
end

local marks = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t"}

local function text(s)
  s = M.utf8(s):gsub('[%c"\\\127]', function (c)
    return marks[c] or ("\\u%04x"):format(c:byte())
  end)
  return '"' .. s .. '"'
end

local function number(v)
  if v ~= v or v == math.huge or v == -math.huge then return "null" end
  if math.type(v) == "integer" then return ("%d"):format(v) end
  return ("%.14g"):format(v)
end

-- A list, or an object {{"key", value}, ...} marked by M.object.
local object = {}

function M.object(pairs_list) return setmetatable(pairs_list, object) end

function M.encode(v)
  local t = type(v)
  if v == nil or v == M.null then return "null" end
  if t == "string" then return text(v) end
  if t == "number" then return number(v) end
  if t == "boolean" then return tostring(v) end
  local out = {}
  if getmetatable(v) == object then
    for i, p in ipairs(v) do out[i] = text(p[1]) .. ":" .. M.encode(p[2]) end
    return "{" .. table.concat(out, ",") .. "}"
  end
  for i, x in ipairs(v) do out[i] = M.encode(x) end
  return "[" .. table.concat(out, ",") .. "]"
end

return M
