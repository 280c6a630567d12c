-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads needs=torch seeds=3 timeout=240 args=--trust
-- drawn_statements.lua: functions of drawn statements (loops, exceptions,
-- generators, classes, with, match) pass here what they pass in the Python at
-- hand, and end as there, or are refused by name.

package.path = "tests/parity/lib/?.lua;" .. package.path
local draw = require "draw_statements"
local run = require "run_python"

local COUNT <const> = 300
local OTHER <const> = 0.04          -- the share that may differ

-- Those that the Python at hand can compile: one program holds them all.
local CHECK <const> = [[
import sys
for n, text in enumerate(open(sys.argv[1]).read().split(chr(0)), 1):
    try:
        compile(text, "case", "exec")
        print(n)
    except SyntaxError:
        pass
]]

local function compiled(bodies)
  return run.with_file(CHECK, function (check)
    return run.with_file(table.concat(bodies, "\0"), function (path)
      local kept, p = {}, assert(io.popen(run.python .. " -W ignore " .. check
        .. " " .. path))
      for line in p:lines() do
        kept[tonumber(line)] = bodies[tonumber(line)]
      end
      p:close()
      return kept
    end)
  end)
end

local bodies = compiled(draw.bodies(tonumber(os.getenv("DTREPL_SEED")) or 1,
  COUNT))
local theirs, ours = run.both(draw.program(bodies))
local same, refused, other = 0, 0, {}
for n, body in pairs(bodies) do
  local a, b = assert(theirs[n], body), ours[n] or {"nothing", ""}
  if a[1] == b[1] and a[2] == b[2] then
    same = same + 1
  elseif b[2]:find("NotImplementedError", 1, true) then
    refused = refused + 1
  else
    other[#other + 1] = ("%s  %s: %s %s\n  here: %s %s"):format(body,
      run.python, a[1], a[2], b[1], b[2])
  end
end
local all = same + refused + #other
print(("%d the same, %d refused, %d other outcomes"):format(same, refused,
  #other))
assert(all > COUNT // 2, "most of what is drawn must be Python")
if #other > OTHER * all or refused > all // 20 then
  print(table.concat(other, "\n"))
  os.exit(1)
end
