-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=120
-- styles.lua: `dtrepl parity` over the table of parallel styles: defaults,
-- texts, plans, what each makes of inputs.  All lines must pass.

local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local FLOOR = 206

local p = assert(io.popen(("%s parity --show 10 %s/trace/styles.jsonl 2>&1")
  :format(program, dir)))
local text = p:read("a")
p:close()
local passed = tonumber(text:match("(%d+) passed, %d+ failed[^\n]*\n$"))
if not passed or passed < FLOOR then
  error(("%s of at least %d lines passed\n%s"):format(passed, FLOOR, text), 0)
end
