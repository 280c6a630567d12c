-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=600
-- programs.lua: `dtrepl parity` over the traced training programs: operators,
-- collectives and values of each.  At least as many checks must pass as the
-- floor says: raise it with the programs.

local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local FLOOR = 454

local p = assert(io.popen(("%s parity --show 10 %s/trace/*.program.json 2>&1")
  :format(program, dir)))
local text = p:read("a")
p:close()
local passed = tonumber(text:match("(%d+) passed, %d+ failed[^\n]*\n$"))
if not passed or passed < FLOOR then
  error(("%s of at least %d checks passed\n%s"):format(passed, FLOOR, text), 0)
end
