-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=900
-- own.lua: `dtrepl parity` over programs of our own (tests/parity/own), which
-- scripts/capture_trace.py ran under PyTorch 2.13: other meshes, plans and
-- wrappings than the reference traces have.  All checks must pass.

local program = os.getenv("DTREPL") or "build/dtrepl"
local FLOOR = 197

local p = assert(io.popen(program
  .. " parity --show 10 tests/parity/own/*.program.json 2>&1"))
local text = p:read("a")
p:close()
local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
if failed ~= "0" or tonumber(passed) < FLOOR then
  error(("%s of at least %d checks passed\n%s"):format(passed, FLOOR, text), 0)
end
