-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=900 tags=races
-- own.lua: `dtrepl parity` over programs of our own, which
-- scripts/capture_trace.py ran under PyTorch 2.13: other meshes, plans and
-- wrappings than the reference traces have (own), and programs each of which
-- showed a difference once (more).  All checks must pass; in the quick
-- set and under a sanitizer some of the programs run (lib/sample.lua).

local sample = require "tests.parity.lib.sample"
local program = os.getenv("DTREPL") or "build/dtrepl"
local FLOOR = {own = 197, more = 146}

for folder, floor in pairs(FLOOR) do
  local paths = sample.files("tests/parity/" .. folder .. "/*.program.json")
  local p = assert(io.popen(("%s parity --show 10 %s 2>&1"):format(program,
    table.concat(paths, " "))))
  local text = p:read("a")
  p:close()
  local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
  if not sample.all_files then floor = #paths end
  if failed ~= "0" or tonumber(passed) < floor then
    error(("%s: %s of at least %d checks passed\n%s"):format(folder, passed,
      floor, text), 0)
  end
end
