-- SPDX-License-Identifier: MIT
-- dt/debug/who.lua: dt.debug.who: which ranks hold an element, where in their
-- part, and with which value of their own.

local dt = require "dt"
local page = require "dt.debug.page"
local util = require "dt.util"

local M = {}

local function text(d)
  local out = {("%s[%s]  %s"):format(d.name or "tensor",
    table.concat(d.index, ", "), d.spec)}
  local rows = {}
  for _, h in ipairs(d.holders) do
    rows[#rows + 1] = {"rank " .. h.rank, "at {" .. table.concat(h.at, ", ")
      .. "}", h.value and ("value %s"):format(tostring(h.value)) or "",
      h.part and "a part of " .. h.part or ""}
  end
  out[#out + 1] = page.columns(rows, "  ")
  if d.partial then
    out[#out + 1] = ("  the element is %s over these parts"):format(d.partial)
  end
  return table.concat(out, "\n")
end

-- Values of the ranks that hold it; each sends its own.
local function values(x, holders)
  local mine = dt.debug.quietly(function ()
    local v = x.is_dtensor and x:detach():to_local() or x:detach()
    for _, h in ipairs(holders) do
      if h.rank == dt.rank() then
        for _, i in ipairs(h.at) do v = v:select(0, i) end
        return tostring(v:item())
      end
    end
    return ""
  end)
  local all = dt.debug.from_all(mine)
  for _, h in ipairs(holders) do
    local s = all[h.rank + 1]
    if s and s ~= "" then h.value = math.tointeger(tonumber(s)) or tonumber(s)
      or s end
  end
end

-- dt.debug.who(x, i, j, ...): {spec, index, holders = {{rank, coord, at,
-- value, part}}, partial}: ranks that hold element (i, j, ...) of x (counted
-- from 0), the index in their part, their value; `part` names the Partial
-- whose addend that value is.
function M.who(x, ...)
  if not util.is_tensor(x) then
    page.fail("TYPE", "wanted a tensor, not %s", type(x))
  end
  local index = {...}
  if type(index[1]) == "table" then index = index[1] end
  local d = {spec = tostring(dt.debug.spec_text(x)), index = index,
    name = page.name_of((dt.debug.id(x)))}
  d.holders, d.partial = dt.debug.holders(x, index)
  for _, h in ipairs(d.holders) do h.part = d.partial end
  if not dt.debug.no_data() then values(x, d.holders) end
  return page.new(d, text)
end

return M
