-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust needs=torch,release timeout=300
-- capture.lua: scripts/capture_pytorch.py answers as the files do, and what
-- it writes is read back by `dtrepl parity`.

local program = os.getenv("DTREPL") or "build/dtrepl"
local python = os.getenv("DTREPL_PYTHON") or "python3"
local dir = "tests/parity/2.13/"
local files = {"prop/matrix", "prop/view", "values/forward/view_move",
  "redist/plans", "errors/mixed", "prop/prop_candidates", "layout/shards",
  "layout/shard_order", "layout/cost", "mesh/programs"}

local function run(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  p:close()
  return text
end

-- Some that exchange data, on two real ranks.
local values = run(("%s scripts/capture_pytorch.py --check --limit 8 --only "
  .. "redist/value.distribute/000 %sredist/values.jsonl"):format(python, dir))
assert(values:find("%f[%d]7 captured, 0 left out, 0 differ"), values)
-- Gradients, too.
local gradients = run(("%s scripts/capture_pytorch.py --check --only "
  .. "redist/value.grad_global/000 %sredist/values.jsonl"):format(python, dir))
assert(gradients:find("%f[%d][1-9] captured, 0 left out, 0 differ"), gradients)

local out = os.tmpname()
local paths = {}
for i, name in ipairs(files) do paths[i] = dir .. name .. ".jsonl" end
local all = run(("PYTHONHASHSEED=0 %s scripts/capture_pytorch.py --check "
  .. "--limit 150 %s"):format(python, table.concat(paths, " ")))
assert(all:find(("%%f[%%d]%d captured, 0 left out, 0 differ"):format(
  150 * #files)), all)

-- Kinds whose cases take longer, or a pretend world for each rank.
local slower = {"values/grad/reduction", "values/grad/matmul",
  "values/shapes_errors", "registry/single_dim_rules", "registry/ops",
  "registry/decomp", "redist/plans_flat", "redist/collectives", "mesh/init",
  "mesh/fsdp", "values/promotion"}
for i, name in ipairs(slower) do slower[i] = dir .. name .. ".jsonl" end
local more = run(("%s scripts/capture_pytorch.py --check --limit 20 %s")
  :format(python, table.concat(slower, " ")))
assert(more:find(("%%f[%%d]%d captured, 0 left out, 0 differ"):format(
  20 * #slower)), more)

-- A number that is off by a thousandth differs.
local bent
for line in io.lines(dir .. "values/grad/matmul.jsonl") do
  bent = line:gsub('("out":%[{.-"data":%[)(%-?[%d.]+)', function (before, number)
    return before .. tonumber(number) * 1.001
  end, 1)
  if line:find('"t":"f32"', 1, true) and bent ~= line then break end
end
local f = assert(io.open(out, "w"))
f:write(bent, "\n")
f:close()
local off = run(("%s scripts/capture_pytorch.py --check %s"):format(python, out))
assert(off:find("1 captured, 0 left out, 1 differ"), off)

local file = dir .. "prop/matrix.jsonl"
run(("(%s scripts/capture_pytorch.py --limit 60 --only aten.mm. %s > %s)")
  :format(python, file, out))
local text = run(("%s parity %s"):format(program, out))
os.remove(out)
assert(text:find("60 passed, 0 failed"), text)
