-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=300
-- suites.lua: `dtrepl parity` over the data of the release.  Every file must
-- pass at least as many cases as the table says, and the files without a
-- number must pass whole: the numbers only grow.  What the command skips is
-- counted, too: `skipped` says how many of a file and why.  Under a sanitizer
-- a sample of the large files runs, in one process, and must pass whole.

local sample = require "tests.parity.lib.sample"
local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = os.getenv("DT_PARITY_DIR") or "tests/parity/2.13"

local WHOLE = true
local wanted = {
  ["layout/shards"] = WHOLE, ["layout/shard_order"] = WHOLE,
  ["layout/cost"] = WHOLE,
  ["mesh/programs"] = WHOLE, ["mesh/init"] = WHOLE, ["mesh/fsdp"] = WHOLE,
  ["seeds/submesh_by_release"] = WHOLE, ["seeds/seed3"] = WHOLE,
  ["redist/plans"] = WHOLE, ["redist/plans_flat"] = WHOLE,
  ["redist/collectives"] = WHOLE, ["redist/values"] = WHOLE,
  ["registry/ops"] = WHOLE, ["registry/single_dim_rules"] = WHOLE,
  ["registry/decomp"] = WHOLE, ["registry/decomp_refused"] = WHOLE,
  ["registry/decomp_not_sampled"] = WHOLE,
  ["prop/other"] = WHOLE, ["values/decompose"] = WHOLE,
  ["prop/attention"] = WHOLE,
  ["prop/conv"] = WHOLE,
  ["prop/pointwise"] = WHOLE, ["prop/inplace_out"] = WHOLE,
  ["prop/foreach"] = WHOLE, ["prop/math"] = WHOLE, ["prop/matrix"] = WHOLE,
  ["prop/tensor"] = WHOLE, ["prop/view"] = WHOLE, ["prop/embedding"] = WHOLE,
  ["prop/loss"] = WHOLE, ["prop/new_factory"] = WHOLE, ["prop/random"] = WHOLE,
  ["prop/decomp"] = WHOLE, ["prop/hangs"] = WHOLE,
  ["prop/prop_candidates"] = WHOLE,
  ["values/shapes_errors"] = WHOLE,
  ["values/forward/matmul"] = WHOLE, ["values/grad/matmul"] = WHOLE,
  ["values/forward/linalg"] = WHOLE, ["values/grad/linalg"] = WHOLE,
  ["values/forward/pointwise_binary"] = WHOLE,
  ["values/forward/pointwise_unary"] = WHOLE,
  ["values/forward/bitwise_logical"] = WHOLE,
  ["values/forward/comparison"] = WHOLE, ["values/forward/activation"] = WHOLE,
  ["values/forward/attention"] = WHOLE, ["values/grad/attention"] = WHOLE,
  ["values/forward/factory"] = WHOLE, ["values/forward/random_shapes"] = WHOLE,
  ["values/forward/special"] = WHOLE, ["values/forward/foreach_fused"] = WHOLE,
  ["values/forward/loss"] = WHOLE, ["values/grad/special"] = WHOLE,
  ["values/grad/comparison"] = WHOLE, ["values/grad/activation"] = WHOLE,
  ["values/grad/loss"] = WHOLE, ["values/promotion"] = WHOLE,
  ["values/forward/conv_pool_pad"] = WHOLE,
  ["values/forward/upsample_grid"] = WHOLE,
  ["values/grad/conv_pool_pad"] = WHOLE, ["values/grad/upsample_grid"] = WHOLE,
  ["values/forward/reduction"] = WHOLE, ["values/forward/view_move"] = WHOLE,
  ["values/forward/norm"] = WHOLE, ["values/forward/scan_sort"] = WHOLE,
  ["values/forward/index_scatter"] = WHOLE, ["values/grad/norm"] = WHOLE,
  ["values/grad/reduction"] = WHOLE, ["values/grad/scan_sort"] = WHOLE,
  ["values/grad/index_scatter"] = WHOLE, ["values/grad/view_move"] = WHOLE,
  ["registry/ops_context_parallel"] = WHOLE,
  ["registry/ops_loss_parallel"] = WHOLE,
  ["values/grad/factory"] = WHOLE,
  ["values/grad/foreach_fused"] = WHOLE,
  ["values/grad/pointwise_binary"] = WHOLE,
  ["values/grad/pointwise_unary"] = WHOLE,
  ["errors/mixed"] = WHOLE, ["errors/errors"] = 337,
  ["errors/accepted"] = 84, ["errors/warnings"] = 17, ["errors/multi"] = WHOLE,
}

-- Cases that say nothing to check here: types that are not built in
-- (promotion), lines of a mesh's groups and of the stack of meshes, which are
-- the session's (seeds, mesh), from_local with a shape or with ranks that
-- differ (redist/values), plans without a forward half (collectives), ranks
-- that give tensors of unlike shapes, which is refused here (multi), a call
-- for a GPU (fresh/errors).
local skipped = {
  ["values/promotion"] = 9, ["seeds/submesh_by_release"] = 10,
  ["seeds/seed3"] = 19, ["mesh/init"] = 1, ["errors/multi"] = 1, ["redist/values"] = 16,
  ["redist/collectives"] = 3, ["fresh/errors"] = 1,
}

-- Cases of our own, on other meshes and with other placements, which
-- scripts/capture_pytorch.py took from PyTorch 2.13.
for _, name in ipairs {"prop", "decomp", "mixed", "layout", "mesh", "redist",
    "errors", "values", "grad"} do
  wanted["fresh/" .. name] = WHOLE
end

local function path_of(name)
  return ("%s/%s.jsonl"):format(name:find("^fresh/") and "tests/parity" or dir,
    name)
end

-- How many cases of files passed, failed and were skipped, and what was said.
local function run(paths)
  local p = assert(io.popen(("%s parity --show 5 %s 2>&1"):format(program,
    paths)))
  local text = p:read("a")
  p:close()
  local passed, failed, rest = text:match("(%d+) passed, (%d+) failed([^\n]*)\n$")
  local left = tonumber((rest or ""):match("(%d+) skipped") or 0)
  return tonumber(passed), tonumber(failed), left, text
end

local bad = {}

local function check_file(name)
  local want = wanted[name]
  local passed, failed, left, text = run(path_of(name))
  if not passed then
    bad[#bad + 1] = name .. ": " .. text
  elseif left ~= (skipped[name] or 0) then
    bad[#bad + 1] = ("%s: %d skipped, expected %d"):format(name, left,
      skipped[name] or 0)
  elseif want == WHOLE and (failed > 0 or passed == 0) then
    bad[#bad + 1] = ("%s: %d failed\n%s"):format(name, failed, text)
  elseif want ~= WHOLE and passed < want then
    bad[#bad + 1] = ("%s: %d passed, %d before"):format(name, passed, want)
  end
end

-- Files that are run in part: none whose cases depend on earlier ones (a
-- warning that is given once) or may fail.
local function cut(name)
  if name:find("errors$") or wanted[name] ~= WHOLE then return nil end
  return sample.lines(path_of(name))
end

local function check_samples(texts)
  if next(texts) == nil then return end
  local room, paths = os.tmpname(), {}
  os.remove(room)
  assert(os.execute("mkdir " .. room))
  for name, text in pairs(texts) do
    local path = ("%s/%s.jsonl"):format(room, name:gsub("/", "_"))
    local f = assert(io.open(path, "w"))
    f:write(text)
    f:close()
    paths[#paths + 1] = path
  end
  table.sort(paths)
  local passed, failed, _, text = run(table.concat(paths, " "))
  os.execute("rm -r " .. room)
  if failed ~= 0 or passed < 10 * #paths then bad[#bad + 1] = text end
end

local names, texts = {}, {}
for name in pairs(wanted) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  texts[name] = cut(name)
  if not texts[name] then check_file(name) end
end
check_samples(texts)
if #bad > 0 then error(table.concat(bad, "\n"), 0) end
