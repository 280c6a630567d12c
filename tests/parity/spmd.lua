-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=300
-- spmd.lua: `dtrepl parity` over cases taken from the package spmd_types: every
-- file of tests/parity/spmd must pass whole (in the quick set and under a
-- sanitizer a sample of the long ones, lib/sample.lua).  And a Megatron MLP with types,
-- right and with planted mistakes: numbers, words and lines are those that the
-- package gave under PyTorch 2.15 with two ranks (mistake 1 is one that types
-- do not see); the quick set plants every fifth.  llama.jsonl plants ten mistakes
-- in the block of llama.py.  Under a sanitizer only the right one runs, and the
-- cases that are whole programs are left out.

local sample = require "tests.parity.lib.sample"
local program = os.getenv("DTREPL") or "build/dtrepl"
local FLOOR = {collectives = 202, api = 150, api_more = 165, inits = 97,
  edges = 40, llama = 11, ops = 275, programs = 30}

local function output(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  p:close()
  return text
end

local sanitizer = os.getenv "DTREPL_SANITIZER"
if sanitizer then FLOOR.llama, FLOOR.programs = nil, nil end
for file, floor in pairs(FLOOR) do
  local text = sample.with_part("tests/parity/spmd/" .. file .. ".jsonl",
    function (path)
      return output(("%s parity --show 10 %s"):format(program, path))
    end)
  if not sample.all then floor = math.min(floor, 5) end
  local passed, failed = text:match("(%d+) passed, (%d+) failed[^\n]*\n$")
  if failed ~= "0" or tonumber(passed) < floor then
    error(("%s: %s of at least %d cases passed\n%s"):format(file,
      tostring(passed), floor, text), 0)
  end
end

local mixes = "Invariant type on axis default_pg cannot mix with other types. "
  .. "Found types: "
local mistakes = {
  [0] = {"loss 6.288023\n", "up 4.825143 PerMeshAxisLocalSpmdType.V\n",
    "down 4.228848 PerMeshAxisLocalSpmdType.V\n",
    "bias 8.021890 PerMeshAxisLocalSpmdType.I\n",
    "x 4.640246 PerMeshAxisLocalSpmdType.I\n"},
  {"loss 6.288023\n"},
  {mixes .. "[I, V]\n", "megatron_mlp.py:59\n"},
  {mixes .. "[I, V]\n", "megatron_mlp.py:48\n",
    "args[0]: f64[4, 6] {default_pg: I}\n",
    "I on default_pg: asserted at tests/parity/spmd/megatron_mlp.py:64",
    "equal bit for bit on ranks 0, 1"},
  {"Partial type on axis default_pg cannot propagate through non-linear ops",
    "megatron_mlp.py:52\n", "P on default_pg: inferred from reinterpret at "
    .. "tests/parity/spmd/megatron_mlp.py:50"},
  {mixes .. "[P, I]\n", "megatron_mlp.py:54\n"},
  {mixes .. "[P, I]\n", "megatron_mlp.py:59\n"},
  {mixes .. "[R, I]\n", "megatron_mlp.py:59\n"},
  {"all_reduce: expected input type PerMeshAxisLocalSpmdType.P on axis "
    .. "default_pg, got PerMeshAxisLocalSpmdType.I", "megatron_mlp.py:58\n"},
  {"backward() on a Varying loss on axis default_pg would produce incorrect "
    .. "gradients.", "megatron_mlp.py:73\n"},
  {"SPMD type mismatch on axis default_pg: tensor has "
    .. "PerMeshAxisLocalSpmdType.I, expected PerMeshAxisLocalSpmdType.P",
    "megatron_mlp.py:72\n"},
}
for number = 0, #mistakes, sanitizer and #mistakes + 1
    or os.getenv "DTREPL_QUICK" and 5 or 1 do
  local text = output(("%s tests/parity/spmd/megatron_mlp.py %d"):format(program,
    number))
  for _, part in ipairs(mistakes[number]) do
    if not text:find(part, 1, true) then
      error(("mistake %d: without\n  %s\nin\n%s"):format(number, part, text), 0)
    end
  end
end

-- A Llama block on a mesh of two dimensions: what the package printed on four
-- ranks of gloo.
local kind = "PerMeshAxisLocalSpmdType."
local facts = {("embedded %sV %sV"):format(kind, kind),
  ("attended %sV %sV"):format(kind, kind), ("logits %sV %sV"):format(kind, kind),
  ("loss %sV %sI"):format(kind, kind), ("sum %sP %sI"):format(kind, kind),
  "loss 4.938897", "table 1.226606", "norm 1.831234", "norm1 1.049465",
  "norm2 0.234361", "wq 0.087149", "wk 0.050806", "wv 0.854643",
  "wo 0.478904", "w1 0.363697", "w3 0.336323", "w2 0.231114"}
local text = output(("%s tests/parity/spmd/llama.py"):format(program))
local lines = {}
for line in text:gmatch("[^\n]+") do
  lines[#lines + 1] = line:gsub("^%[0%] ", ""):gsub("^%s+", "")
end
if table.concat(lines, "\n") ~= table.concat(facts, "\n") then
  error("llama.py: want\n" .. table.concat(facts, "\n") .. "\ngot\n" .. text, 0)
end
