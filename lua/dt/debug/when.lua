-- SPDX-License-Identifier: MIT
-- dt/debug/when.lua: dt.debug.when: which operator made a tensor, which changed
-- and used it since, those typed at a stop among them.

local dt = require "dt"
local page = require "dt.debug.page"
local util = require "dt.util"

local M = {}

-- "#7", or "#7+2" for the second that was typed after #7; :goto takes both.
local function label(e)
  return "#" .. e.seq .. (e.typed and "+" .. e.typed or "")
end

local SHOWN = 6

local function text(d)
  local rows = {}
  for i, e in ipairs(d.events) do
    if i == 1 or i > #d.events - SHOWN then
      rows[#rows + 1] = {e.what, label(e), e.typed and "typed " .. e.op or e.op,
        page.place(e)}
    elseif i == 2 then
      rows[#rows + 1] = {"...", ("%d more"):format(#d.events - SHOWN - 1), "",
        ""}
    end
  end
  local head = ("%s  %s"):format(d.name or "tensor", d.spec)
  if #rows == 0 then return head .. "\n  no operator of the record knows it" end
  return head .. "\n" .. page.columns(rows, "  ")
end

-- dt.debug.when(x[, name]): {name, spec, events = {{what = "made" | "changed" | "used",
-- seq, typed, op, file, line}}}, in the order in which they ran.  `typed`: it
-- was typed at a stop, the so-manieth after operator `seq`.  Local.
function M.when(x, name)
  if not util.is_tensor(x) then
    page.fail("TYPE", "wanted a tensor, not %s", type(x))
  end
  local events = dt.debug.life(x)
  for i, e in ipairs(events) do e.at = i end
  table.sort(events, function (a, b)
    if a.seq ~= b.seq then return a.seq < b.seq end
    if (a.typed or 0) ~= (b.typed or 0) then
      return (a.typed or 0) < (b.typed or 0)
    end
    return a.at < b.at
  end)
  for _, e in ipairs(events) do e.at = nil end
  return page.new({name = name or page.name_of((dt.debug.id(x))), events = events,
    spec = tostring(dt.debug.spec_text(x))}, text)
end

return M
