-- SPDX-License-Identifier: MIT
-- dt/debug/verify.lua: dt.debug.verify, check, same: comparison with one
-- device.  The comparison itself is debug/verify.c's.

local dt = require "dt"
local page = require "dt.debug.page"
local util = require "dt.util"

local M = {}

local function summary(d)
  if not d.on then return "verify is off (:verify on)" end
  local out = {d.summary}
  for _, v in ipairs(d.list) do out[#out + 1] = "  " .. v.text end
  return table.concat(out, "\n")
end

-- dt.debug.verify("on" | "off" | n | nothing): shadow mode on or off; the
-- verdict on recorded operator #n; what was found so far: {on, exact,
-- rounding, wrong, skipped, list}.  Collective.
function M.verify(what)
  if what == "on" or what == true then
    dt.debug.verify_set(true)
    return nil
  elseif what == "off" or what == false then
    dt.debug.verify_set(false)
    return nil
  elseif what ~= nil then
    local n = math.tointeger(tonumber((tostring(what):gsub("^#", ""))))
    if not n then
      page.fail("COMMAND", "wanted on, off, or an operator as #7, not %s",
        tostring(what))
    end
    return page.new(dt.debug.verify_op(n), function (v) return v.text end)
  end
  local d = dt.debug.verified() or {exact = 0, rounding = 0, wrong = 0,
    skipped = 0, list = {}}
  d.on = dt.debug.verified() ~= nil
  return page.new(d, summary)
end

-- Recorded operators behind tensor `id`, oldest first.
local function behind(id)
  local entries = dt.debug.entries()
  local want, list = {[id] = true}, {}
  for i = #entries, 1, -1 do
    local e = entries[i]
    local made = false
    for _, v in ipairs(e.outputs) do made = made or want[v.id or 0] end
    if made then
      for _, v in ipairs(e.inputs) do if v.id then want[v.id] = true end end
      table.insert(list, 1, e)
    end
  end
  return list
end

local function check_text(d)
  local out = {("%s  %s: %d operators behind it"):format(d.name or "#" .. d.id,
    d.verdict, d.operators)}
  out[1] = out[1] .. (" (%d exact, %d rounding, %d wrong, %d skipped)"):format(
    d.exact, d.rounding, d.wrong, d.skipped)
  if d.first then out[#out + 1] = "  first: " .. d.first.text end
  for i, v in ipairs(d.list) do
    if i > 1 and i <= 6 then out[#out + 1] = "         " .. v.text end
  end
  return table.concat(out, "\n")
end

-- dt.debug.check(x): compare every recorded operator behind x with one device:
-- {verdict, operators, exact, rounding, wrong, skipped, first, list}; `first`
-- is the first that is wrong.  Collective.
function M.check(x)
  local id = page.id(x)
  local d = {id = id, name = page.name_of(id), exact = 0, rounding = 0,
    wrong = 0, skipped = 0, list = {}}
  local list = behind(id)
  d.operators = #list
  for _, e in ipairs(list) do
    local v = dt.debug.verify_op(e.seq)
    d[v.verdict] = d[v.verdict] + 1
    if v.verdict == "wrong" then d.list[#d.list + 1] = v end
  end
  d.first = d.list[1]
  d.verdict = d.wrong > 0 and "wrong" or d.rounding > 0 and "rounding"
    or d.exact > 0 and "exact" or "not comparable"
  return page.new(d, check_text)
end

-- dt.debug.same(x): {same, groups, name}: are the local values of x the same
-- bits on all ranks?  Collective over the world.
function M.same(x)
  if not util.is_tensor(x) then
    page.fail("TYPE", "wanted a tensor, not %s", type(x))
  end
  local same, groups = dt.debug.same_bits(x)
  local d = {same = same, groups = groups, name =
    page.name_of((dt.debug.id(x))), plain = not x.is_dtensor}
  return page.new(d, function ()
    local what = (d.name or "it") .. (d.plain and "" or " (its local parts)")
    if same then return what .. ": the same bits on all ranks" end
    return what .. " differs between ranks: " .. groups
  end)
end

return M
