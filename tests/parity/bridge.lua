-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust needs=torch timeout=600 tags=slow
-- bridge.lua: scripts/dtrepl_record.py around the programs of tests/parity/
-- bridge: the log replays without a difference, the repro ends as the program
-- did.  One program also on four processes, where numbers are compared.

local program = os.getenv("DTREPL") or "build/dtrepl"
local python = os.getenv("DTREPL_PYTHON") or "python3"
local record = "scripts/dtrepl_record.py"
local source = "tests/parity/bridge/"

-- Programs, and the text each dies with (false: it does not).
local programs = {
  {"attention_custom", 4, "npu.npu_fusion_attention.default"},
  {"toy_mlp", 4, "aten.addmm.default got mixed"},
  {"submesh", 8, "Invalid mesh_dim_names ('abcd',)"},
  {"matmul", 4, false}, {"uneven", 4, false}, {"embedding", 4, false},
  {"adamw", 4, false}, {"fsdp", 4, false}, {"partial", 4, false},
  {"index", 4, false}, {"no_strategy", 4, "aten.bincount.default"},
  {"view_error", 2, "a and b must have same reduction dim"},
  {"backward_mixed", 4, "aten.mul.Tensor got mixed"},
  {"slices", 4, false}, {"comm_mode", 4, false}, {"factories", 4, false},
  {"named", 4, "aten.mul.Tensor got mixed"}, {"renamed", 4, false},
  {"own_parts", 2, false},
}

-- What the repro of a program says, in the program's own names.
local words = {
  comm_mode = {"embedding.default(", "= dt.ops.aten.mul.Tensor(tokens, 2"},
  factories = {"dt.full({4, 6}, 3.5, ", "run_check = true",
    "add.Tensor(filled, ones)"},
  named = {"dt.ops.aten.mul.Tensor(h, self_scale)"},
  own_parts = {"{src_data_rank = dt.None}"},
  renamed = {"local a_2_2 = ", "add.Tensor(a_2_2, 1)"},
}

local function run(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  local _, _, code = p:close()
  return text, code
end

local dir = os.tmpname()
os.remove(dir)
run("mkdir -p " .. dir)

-- PyTorch is imported once for all programs (tests/repl/warm_python.py).
local warm, door = "tests/repl/warm_python.py", dir .. "/python.socket"
os.execute(("%s %s serve %s </dev/null >%s/python.log 2>&1 &"):format(python, warm,
  door, dir))
run(("for i in $(seq 600); do [ -S %s ] && break; sleep 0.1; done"):format(door))
python = ("%s -S %s run %s"):format(python, warm, door)
local passed, failed = 0, 0

local function check(what, ok, text)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print("not ok - " .. what .. "\n" .. tostring(text))
  end
end

for _, p in ipairs(programs) do
  local name, ranks, dies = table.unpack(p)
  local base = dir .. "/" .. name
  local text = run(("%s %s --fake %d --out %s %s%s.py"):format(python, record,
    ranks, base, source, name))
  check(name .. ": recorded", text:find("calls", 1, true) and (not dies
    or text:find(dies, 1, true)), text)
  local out, code = run(("%s replay %s.json"):format(program, base))
  check(name .. ": replay", code == 0 and out:find("no difference"), out)
  out, code = run(("%s --trust %s.lua"):format(program, base))
  check(name .. ": repro", code == (dies and 1 or 0) and (not dies
    or out:find(dies, 1, true)), out)
  for _, word in ipairs(words[name] or {}) do
    local f <close> = assert(io.open(base .. ".lua"))
    local repro = f:read("a")
    check(name .. ": the repro has " .. word, repro:find(word, 1, true), repro)
  end
  out, code = run(("%s %s%s.py"):format(program, source, name))
  check(name .. ": as it stands", code == (dies and 1 or 0) and (not dies
    or out:find(dies, 1, true)), out)
end

-- Four processes: every rank's own numbers.
local base = dir .. "/real"
local text = run(("for r in 0 1 2 3; do MASTER_ADDR=localhost "
  .. "MASTER_PORT=29731 WORLD_SIZE=4 RANK=$r %s %s --out %s %sadamw.py & "
  .. "done; wait"):format(python, record, base, source))
local out, code = run(("%s replay %s.json"):format(program, base))
local compared = tonumber(out:match("(%d+) results compared"))
check("four processes: replay", code == 0 and compared and compared > 5,
  text .. out)
out, code = run(("%s --trust %s.lua"):format(program, base))
check("four processes: repro", code == 0, out)

run("rm -r " .. dir)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
