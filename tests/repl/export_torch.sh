#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=240
# What :report and :export torch write runs under PyTorch: the same error, the
# same numbers.
. "$(dirname "$0")/exported.inc"

# A training step with tensor parallelism: forward, backward, optimizer.
cat > step.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt.manual_seed(0)
local model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
dt.tensor_parallel.parallelize_module(model, mesh["tp"],
  {["0"] = dt.ColwiseParallel(), ["2"] = dt.RowwiseParallel()})
local opt = dt.optim.Adam(model:parameters(), {lr = 0.1})
local loss = F.cross_entropy(model(dt.randn(6, 16)),
  dt.tensor({1, 2, 3, 0, 1, 7}))
loss:backward()
opt:step()
dt.debug.export("torch", "step.py")
dt.debug.export("lua", "again.lua")
L
"$DTREPL" -n 4 step.lua || failed=$((failed + 1))
"$PYTHON" step.py > out 2> err
ok "a training step runs in PyTorch" [ $? = 0 ]
ok "and here" "$DTREPL" again.lua

# An operator by @custom_op without a fake: PyTorch asks for one in both.
cat > own.py <<'P'
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
mesh = init_device_mesh("cpu", (2,))
@torch.library.custom_op("own::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    return x / 2
halve(distribute_tensor(torch.ones(4), mesh, [Shard(0)]))
P
printf '%s\n' ':c' ':export torch own_out.py' ':q' | "$DTREPL" -n 2 -d own.py > out 2>&1
"$PYTHON" own_out.py > out 2> err
ok "its fake is asked for" \
  grep -q 'no fake impl registered for <CustomOpDef(own::halve)>' err

# Numbers that need no communication (a pretend group moves nothing).
cat > count.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(12):reshape({6, 2}):to(dt.float32),
  mesh, "R")
local y = (x * 2 + 1):pow(2)
if dt.rank() == 0 then print(y:to_local():tolist()[2][1] // 1 | 0) end
local z = y:relu()
dt.debug.export("torch", "count.py")
L
want=$("$DTREPL" -n 4 count.lua | sed 's/^\[0\] //')
"$PYTHON" count.py > out 2> err
ok "the same numbers ($want)" grep -q "\[ *$want\." out

# Each pair of ranks has a mesh of its own, which all make there.
cat > pairs.lua <<'L'
local first = dt.rank() // 2 * 2
local mesh = dt.DeviceMesh("cpu", {first, first + 1}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(8) + first, mesh, "S(0)")
local total = x:sum():full_tensor()
dt.debug.export("torch", "pairs.py")
L
"$DTREPL" -n 4 pairs.lua
timeout 60 "$PYTHON" pairs.py > out 2> err
ok "meshes of some ranks" grep -q "^\[3\] .* = 44$" out

# A report of an error: its PyTorch script raises the same.
cat > report.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local w = dt.distribute_tensor(dt.ones(8, 16), mesh, "R S(0)"):requires_grad_()
local y = F.linear(dt.distribute_tensor(dt.ones(4, 16), mesh, "S(0) R"), w)
local mask = dt.ones(4, 8):tril() * dt.rank()
pcall(function() return y + mask end)
dt.debug.report("report.md")
L
"$DTREPL" -n 4 report.lua
repro_of python report.md > report.py
repro_of lua report.md > repro.lua
text="aten.add.Tensor got mixed torch.Tensor and DTensor"
"$PYTHON" report.py > out 2>&1
ok "PyTorch raises what the report says" grep -q "$text" out
"$DTREPL" -n 4 repro.lua > out 2>&1
ok "and so does the Lua repro" grep -q "$text" out

# What came out wrong without a word: the finding, and the numbers that
# PyTorch's rank 0 has too.
cat > silent.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(28):view(4, 7) / 4, mesh, {Shard(1)})
local y = x:cumsum(-1)
if dt.rank() == 0 then
  local t = y:to_local():tolist()
  print(("%.2f"):format(t[4][2]))
end
dt.debug.report("silent.md")
L
want=$("$DTREPL" -n 4 silent.lua | sed 's/^\[0\] //')
repro_of python silent.md > silent.py
"$PYTHON" silent.py > out 2> err
ok "a finding is what is reported" grep -q "^# DT1037: .*aten.cumsum" silent.md
ok "its numbers are PyTorch's ($want)" grep -q "$want" out

# The founding cases: what is written where they stop raises the same there.
cp "$here"/tests/debug/fixtures/seed?.lua .
mixed="got mixed torch.Tensor and DTensor, need to convert all torch.Tensor"
missing="does not have a sharding strategy registered"
printf '%s\n' ':c' ':report a.md' ':export torch a.py' ':fix 1' ':c' \
  ':report b.md' ':export torch b.py' | "$DTREPL" -n 4 -d seed1.lua >out 2>&1
printf '%s\n' ':c' ':report c.md' ':export torch c.py' |
  "$DTREPL" -n 4 -d seed2.lua >out 2>&1
printf '%s\n' ':c' ':report d.md' | "$DTREPL" -n 4 -d seed3.lua >out 2>&1
# raises FILE TEXT
raises () { "$PYTHON" "$1" >out 2>&1; grep -qF "$2" out; }
for f in a b c; do
  repro_of python $f.md >${f}_report.py
  case $f in
    a) text="npu.npu_fusion_attention.default $mixed" ;;
    b) text="npu.npu_fusion_attention.default $missing" ;;
    c) text="aten.addmm.default $mixed" ;;
  esac
  ok "$f: PyTorch raises what :report says" raises ${f}_report.py "$text"
  ok "$f: and what :export torch wrote" raises $f.py "$text"
done
ok "d: no operator raises, the script is the repro" \
  grep -q "Cannot create a submesh from a submesh" d.md
repro_of lua d.md > d.lua
"$DTREPL" -n 4 d.lua > out 2>&1
ok "d: which raises it again" grep -q "Cannot create a submesh" out

# A Python program that fails where no operator does is its own repro, made to
# run on as many processes.
for f in submesh unit_style; do
  "$DTREPL" -i "$here/tests/parity/bridge/$f.py" > out 2>&1 <<S
:export torch $f.py
:report $f.md
S
  repro_of python $f.md > out.py
  ok "$f: the report's script is the export's" cmp -s out.py $f.py
done
ok "a mesh that cannot be cut raises there" raises submesh.py \
  "KeyError: \"Invalid mesh_dim_names ('abcd',) specified."
ok "tests make their processes themselves" \
  [ "$(grep -c 'os.fork\|^    run_tests()' unit_style.py)" = 1 ]

cat > odd.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {'a"b'}})
local with = dt.distribute_tensor(dt.arange(4) + 0.5, mesh, {Shard(0)})
local os = with + 1
local leave = os * 2
local show = leave + 1
dt.debug.export("torch", "odd.py")
L
"$DTREPL" -n 2 odd.lua || failed=$((failed + 1))
"$PYTHON" odd.py > out 2> err
ok "names that mean something in the script, quotes in a mesh's" \
  grep -qF "local_tensor=tensor([4., 6.])" out

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
