-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=120
-- suites.lua: `dtrepl parity` over the data of the release.  Every file must
-- pass at least as many cases as the table says, and the files without a
-- number must pass whole.  Operators that are not registered yet are skipped
-- by the command, so the numbers only grow: raise them with the operators.

local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local WHOLE = true
local wanted = {
  ["layout/shards"] = WHOLE, ["layout/shard_order"] = WHOLE,
  ["layout/cost"] = WHOLE,
  ["mesh/programs"] = WHOLE, ["mesh/init"] = WHOLE,
  ["seeds/submesh_by_release"] = WHOLE, ["seeds/seed3"] = WHOLE,
  ["redist/plans"] = WHOLE, ["redist/plans_flat"] = WHOLE,
  ["redist/collectives"] = WHOLE, ["redist/values"] = 1100,
  ["registry/ops"] = 460, ["registry/single_dim_rules"] = 1300,
  ["registry/decomp"] = 30,
  ["prop/pointwise"] = 5200, ["prop/inplace_out"] = 560,
  ["prop/foreach"] = 2900, ["prop/math"] = 3900, ["prop/matrix"] = 1200,
  ["prop/tensor"] = 4300, ["prop/view"] = 3400, ["prop/embedding"] = 370,
  ["prop/loss"] = 280, ["prop/new_factory"] = 650, ["prop/random"] = 240,
  ["prop/decomp"] = 950, ["prop/hangs"] = WHOLE,
  ["prop/prop_candidates"] = 1800,
  ["values/shapes_errors"] = 240,
  ["values/forward/matmul"] = 120,
  ["values/forward/pointwise_binary"] = 800,
  ["values/forward/pointwise_unary"] = 410,
  ["values/forward/reduction"] = 380, ["values/forward/view_move"] = 440,
  ["errors/mixed"] = 1500,
}

local function run(name)
  local p = assert(io.popen(("%s parity --show 5 %s/%s.jsonl 2>&1"):format(
    program, dir, name)))
  local text = p:read("a")
  p:close()
  local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
  return tonumber(passed), tonumber(failed), text
end

local names, bad = {}, {}
for name in pairs(wanted) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local want = wanted[name]
  local passed, failed, text = run(name)
  if not passed then
    bad[#bad + 1] = name .. ": " .. text
  elseif want == WHOLE and (failed > 0 or passed == 0) then
    bad[#bad + 1] = ("%s: %d failed\n%s"):format(name, failed, text)
  elseif want ~= WHOLE and passed < want then
    bad[#bad + 1] = ("%s: %d passed, %d before"):format(name, passed, want)
  end
end
if #bad > 0 then error(table.concat(bad, "\n"), 0) end
