-- BENCH: -n 1 --trust
-- SPDX-License-Identifier: MIT
-- What checking SPMD types costs: steps of a small typed Llama block
-- (spmd_llama.py), checked and unchecked in turns in one run.
-- Prints "name value unit budget".

local program = os.getenv("DTREPL") or "build/dtrepl"
local script = arg[0]:gsub("%.lua$", ".py")
local p = io.popen(("%s -n 4 --fast %s"):format(program, script))
for line in p:lines() do
  print((line:gsub("^%[%d+%]", ""):gsub("^%s+", "")))
end
assert(p:close(), "spmd_llama.py failed")
