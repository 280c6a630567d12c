-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust needs=torch timeout=300 tags=slow
-- torch_files.lua: files of torch.save go both ways between PyTorch and here:
-- one program saves, another loads and prints; all four pairs print the same.

local program = os.getenv("DTREPL") or "build/dtrepl"
local python = os.getenv("DTREPL_PYTHON") or "python3"

local SAVE = [[
import collections
import torch
b = torch.arange(12.0)
torch.save({"base": b, "part": b[3:7], "t": b.view(3, 4).t(),
  "p": torch.nn.Parameter(torch.ones(2, 3)), "none": None, "yes": True,
  "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False),
  "od": collections.OrderedDict(x=torch.ones(2, dtype=torch.bfloat16)),
  "ints": [0, 255, 256, 65536, -1, 1 << 40, -(1 << 40), 1 << 70, -(1 << 65)],
  "f": 1.5, "t4": (1, 2, 3, (4,)), "size": torch.Size([2, 3]), "set": {1},
  "dt": [torch.float32, torch.int64], "dev": torch.device("cpu"),
  "empty": torch.zeros(0, 2), "scalar": torch.tensor(2.5), 3: "three",
  "c": torch.arange(3.0).to(torch.complex64).conj(), "u": "é中",
  "f8": torch.ones(3).to(torch.float8_e4m3fn).float(),
  "raw8": torch.ones(3).to(torch.float8_e5m2),
  "many": [torch.arange(3).to(d) for d in (torch.int8, torch.uint8,
    torch.int16, torch.int32, torch.float16, torch.float64, torch.bool)],
  "long": list(range(1500)), "grad": torch.ones(2, requires_grad=True)}, "FILE")
]]
local LOAD = [[
import torch
v = torch.load("FILE", weights_only=True, map_location="cpu")
for k in v:
    print(k, v[k])
print(v["t"].stride(), v["part"].storage_offset(), v["raw8"].float())
v["base"][3] = 100.0
print(v["part"][0], v["t"][3, 0])
]]

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir -p " .. dir)

local function run(by, name, text, file)
  local path = ("%s/%s.py"):format(dir, name)
  local f = assert(io.open(path, "w"))
  f:write((text:gsub("FILE", file)))
  f:close()
  local p = assert(io.popen(by .. " " .. path .. " 2>&1"))
  local out = p:read("a")
  return p:close() and out or "failed: " .. out
end

local here = program .. " -n 1 --trust"
local ours, theirs = dir .. "/ours.pt", dir .. "/theirs.pt"
local passed, failed = 0, 0
local function check(what, got, wanted)
  if got == wanted then passed = passed + 1 return end
  failed = failed + 1
  print("not ok - " .. what .. "\n" .. got .. "\nwanted\n" .. wanted)
end
check("saved by PyTorch", run(python, "save_theirs", SAVE, theirs), "")
check("saved here", run(here, "save_ours", SAVE, ours), "")
local wanted = run(python, "load_theirs", LOAD, theirs)
check("PyTorch reads ours", run(python, "load", LOAD, ours), wanted)
check("PyTorch's read here", run(here, "load", LOAD, theirs), wanted)
check("ours read here", run(here, "load", LOAD, ours), wanted)
os.execute("rm -r " .. dir)
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and not wanted:find("failed", 1, true))
