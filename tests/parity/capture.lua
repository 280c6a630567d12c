-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust needs=torch timeout=300
-- capture.lua: scripts/capture_pytorch.py answers as the files do, and what
-- it writes is read back by `dtrepl parity`.

local program = os.getenv("DTREPL") or "build/dtrepl"
local python = os.getenv("DTREPL_PYTHON") or "python3"
local dir = "tests/parity/2.13/"
local files = {"prop/matrix", "prop/view", "values/forward/view_move",
  "redist/plans", "errors/mixed"}

local function run(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  p:close()
  return text
end

local out = os.tmpname()
for _, name in ipairs(files) do
  local file = dir .. name .. ".jsonl"
  local text = run(("%s scripts/capture_pytorch.py --check --limit 150 %s")
    :format(python, file))
  assert(text:find("150 captured, 0 left out, 0 differ"), text)
end
local file = dir .. "prop/matrix.jsonl"
run(("(%s scripts/capture_pytorch.py --limit 150 --only aten.mm. %s > %s)")
  :format(python, file, out))
local text = run(("%s parity %s"):format(program, out))
os.remove(out)
assert(text:find("150 passed, 0 failed"), text)
