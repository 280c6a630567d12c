-- SPDX-License-Identifier: MIT
-- python/abandoned.lua: generators that wait inside a try or a with when nothing
-- refers to them any more: their finally is run, by GeneratorExit.  Nothing counts
-- references here, so this happens where a program can ask for it: behind del of
-- a generator, in gc.collect(), and when the program ends.

local M = {}

local live = setmetatable({}, {__mode = "k"})   -- close, by what tells of the end
local lost = {}                                 -- what is to be closed, in order
local made = 0
local others, call_others           -- also(): is something else watched?

-- also(some, call): some() tells whether weak references wait for an end, and
-- call() is made behind a collection.
function M.also(some, call) others, call_others = some, call end

-- waits(): may a name that is deleted have been the last of something watched?
function M.waits() return others ~= nil and others() end

-- watch(g, close): close() ends the generator g when it is lost.  The table that
-- the collector tells of is kept by g alone.
function M.watch(g, close)
  made = made + 1
  local row = {at = made, close = close}
  g.told = setmetatable({}, {__gc = function ()
    if row.close then lost[#lost + 1] = row end
  end})
  live[g.told] = row
end

-- forget(g): it has ended by itself.
function M.forget(g)
  local row = g.told and live[g.told]
  if row then
    row.close, live[g.told], g.told = nil, nil, nil
  end
end

local function close_all(rows)
  table.sort(rows, function (a, b) return a.at < b.at end)
  for _, row in ipairs(rows) do
    local close = row.close
    row.close = nil
    if close then close() end
  end
end

-- settle(): close what nothing refers to.
function M.settle()
  if next(live) == nil and #lost == 0 and not M.waits() then return end
  collectgarbage()
  local rows = lost
  lost = {}
  close_all(rows)
  if call_others then call_others() end
end

-- finish(): the program ends: close them all.
function M.finish()
  local rows = lost
  lost = {}
  for _, row in pairs(live) do rows[#rows + 1] = row end
  live = setmetatable({}, {__mode = "k"})
  close_all(rows)
end

-- begin(): a new program; those of an earlier one stay where they are.
function M.begin()
  live, lost = setmetatable({}, {__mode = "k"}), {}
end

return M
