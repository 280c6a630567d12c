-- SPDX-License-Identifier: MIT
-- dt/diagnose/json.lua: writes JSON with the keys in a given order.

local clean = require "dt.diagnose.clean"

local M = {}

M.null = setmetatable({}, {__name = "null"})

local marks = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n", ["\r"] = "\\r",
  ["\t"] = "\\t"}

local function text(s)
  s = clean.utf8(s):gsub('[%c"\\\127]', function (c)
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
