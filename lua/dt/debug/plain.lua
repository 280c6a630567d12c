-- SPDX-License-Identifier: MIT
-- dt/debug/plain.lua: plain data (numbers, texts, tables of them) as text, to
-- be sent to other ranks.  Pure.

local M = {}

-- dump(v): a value of plain data as Lua text.
function M.dump(v)
  local t = type(v)
  if t == "string" then return ("%q"):format(v) end
  if t ~= "table" then return tostring(v) end
  local parts = {}
  for i, x in ipairs(v) do parts[i] = M.dump(x) end
  for k, x in pairs(v) do
    if not (math.type(k) == "integer" and k >= 1 and k <= #v) then
      parts[#parts + 1] = ("[%s]=%s"):format(M.dump(k), M.dump(x))
    end
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

-- undump(text) -> the value; nil when it is none.
function M.undump(text)
  local f = load("return " .. text, "=answer", "t", {})
  return f and f() or nil
end

return M
