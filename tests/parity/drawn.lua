-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads needs=torch seeds=3 timeout=240 args=--trust
-- drawn.lua: expressions drawn over Python's core are worth here what they are
-- worth in the Python at hand, or are refused by name.  What is raised is of
-- the same class; a few texts may differ.

package.path = "tests/parity/lib/?.lua;" .. package.path
local draw = require "draw_python"
local run = require "run_python"

local COUNT <const> = 1500
local OTHER <const>, TEXTS <const> = 0.004, 0.02    -- shares that may differ

local source, exprs = draw.lines(tonumber(os.getenv("DTREPL_SEED")) or 1, COUNT)
local theirs, ours = run.both(source)

local same, refused, texts, other = 0, 0, {}, {}
for n = 1, COUNT do
  local a, b = assert(theirs[n], "no answer of " .. run.python .. " to "
    .. exprs[n]), ours[n] or {"nothing", ""}
  local said = ("%s\n  %s: %s %s\n  here: %s %s"):format(exprs[n], run.python,
    a[1], a[2], b[1], b[2])
  if a[1] == b[1] and a[2] == b[2] then
    same = same + 1
  elseif b[1] == "NotImplementedError"
     or a[2]:find("set_int_max_str_digits", 1, true) then
    refused = refused + 1
  elseif a[1] == b[1] and a[1]:find("Error$") then
    texts[#texts + 1] = said
  else
    other[#other + 1] = said
  end
end
print(("%d the same, %d refused, %d other texts of errors, %d other outcomes")
  :format(same, refused, #texts, #other))
for _, said in ipairs(other) do print(said) end
if #other > OTHER * COUNT or #texts > TEXTS * COUNT or refused > COUNT // 20 then
  for _, said in ipairs(texts) do print(said) end
  os.exit(1)
end
