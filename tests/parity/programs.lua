-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=600 tags=races
-- programs.lua: `dtrepl parity` over the traced training programs: operators,
-- collectives and values of each.  At least as many checks must pass as the
-- floor says: raise it with the programs.  In the quick set and under a
-- sanitizer some of them run (lib/sample.lua), and all checks must pass.

local sample = require "tests.parity.lib.sample"
local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local FLOOR = 454

local paths = sample.files(dir .. "/trace/*.program.json")
local p = assert(io.popen(("%s parity --show 10 %s 2>&1"):format(program,
  table.concat(paths, " "))))
local text = p:read("a")
p:close()
local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
local floor = sample.all_files and FLOOR or #paths
if not passed or tonumber(passed) < floor or not sample.all_files and failed ~= "0" then
  error(("%s of at least %d checks passed\n%s"):format(passed, floor, text), 0)
end
