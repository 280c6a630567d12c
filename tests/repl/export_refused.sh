#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=240
# Calls that are refused before any operator is recorded: what :export torch
# and :report write ends with the call as it was given, and raises the same
# under PyTorch.
. "$(dirname "$0")/exported.inc"

cat > calls.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local grid = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local D, S, R, P = dt.distribute_tensor, dt.Shard, dt.Replicate(), dt.Partial
local function count(...)
  local n = 1
  for _, s in ipairs {...} do n = n * s end
  return dt.arange(n, {dtype = dt.float32}):view(...)
end
local calls = {
  function() D(count(4), mesh, {R}):redistribute(mesh, {P()}) end,
  function() D(count(4), mesh, {R}):redistribute(grid, "R R") end,
  function() return grid["pp"] end,
  function() local x = D(count(4, 4), grid, {R, S(2)}) return x end,
  function()
    local x = D(dt.zeros(8, 4), mesh, {S(0)})
    x[{dt.slice(0, 3)}] = 1
  end,
  function() return D(count(4, 4), mesh, "S(0) R") end,
  function() return dt.init_device_mesh("cpu", {3, 2}) end,
  function() return D(D(count(4, 4), mesh, {R}), grid, {S(0), R}) end,
  function() return count(4, 4):to_local() end,
}
for i, f in ipairs(calls) do
  local done, e = pcall(f)
  assert(not done)
  dt.debug.export("torch", ("call%d.py"):format(i))
  dt.debug.export("lua", ("call%d.lua"):format(i))
  if dt.rank() == 0 then print(i, e.message) end
end
dt.debug.report("report.md")
L
"$DTREPL" -n 4 calls.lua | sed 's/^\[0\] //; s/^ *//; s/"//g' > want
ok "nine calls are refused" [ "$(wc -l < want)" -eq 9 ]
repro_of python report.md > call10.py
cp call9.lua call10.lua
sed -n 's/^9/10/p' want >> want

# One process for all: the group only pretends.
cat > each.py <<'P'
import os
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
os.environ["WORLD_SIZE"] = "4"
init = dist.init_process_group
dist.init_process_group = lambda *a, **k: init(
    "fake", store=FakeStore(), rank=0, world_size=4)
for i in range(1, 11):
    try:
        exec(compile(open(f"call{i}.py").read(), f"call{i}", "exec"), {})
        print(i, "does not raise")
    except Exception as e:
        print(f"{i}\t{e.args[0]}")
    if dist.is_initialized():
        dist.destroy_process_group()
P
"$PYTHON" each.py > got 2> err
if cmp -s want got; then same=0; else same=1; diff want got; cat err; fi
ok "PyTorch refuses them in the same words" [ $same = 0 ]
for i in 1 2 3 4 5 6 7 8 9; do
  "$DTREPL" -n 4 "call$i.lua" > out 2>&1
  text=$(sed -n "s/^$i	//p" want | cut -c 1-60)
  ok "and so does the Lua of call $i" grep -qF "$text" out
done

# The same where the program is stopped inside the call, not yet raised.
cat > inside.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(8), mesh, {Shard(0)})
local y = x:redistribute(mesh, {dt.Partial()})
L
printf ':export torch %s.py\n:report %s.md\n' inside inside |
  "$DTREPL" -n 4 -i inside.lua > out 2>&1
repro_of python inside.md > out.py
ok "inside the call: the report's script is the export's" cmp -s out.py inside.py
"$PYTHON" inside.py > out 2>&1
ok "inside the call: it raises there" grep -q "redistributing to Partial is for" out
cat > inside.py <<'P'
from torch.distributed.tensor import init_device_mesh, distribute_tensor, Shard
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel
import torch
parallelize_module(torch.nn.Linear(4, 4), mesh, ColwiseParallel())
P
cp inside.py program.py
printf ':export torch again.py\n' | "$DTREPL" -n 4 -i program.py > out 2>&1
ok "a program in Python is its own script" [ "$(tail -n 5 again.py)" = "$(cat inside.py)" ]
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
