-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=900
-- more.lua: `dtrepl parity` over more programs of our own (tests/parity/more):
-- each of them showed a difference once, or goes where the others do not.

local program = os.getenv("DTREPL") or "build/dtrepl"
local FLOOR = 64

local p = assert(io.popen(program
  .. " parity --show 10 tests/parity/more/*.program.json 2>&1"))
local text = p:read("a")
p:close()
local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
if failed ~= "0" or tonumber(passed) < FLOOR then
  error(("%s of at least %d checks passed\n%s"):format(passed, FLOOR, text), 0)
end
