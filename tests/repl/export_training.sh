#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=240
# Training whose backward is more than autograd's (fully_shard, a Function of
# the script's own), and numbers read as they should not be: the exported script
# runs on four processes under PyTorch and has the same numbers on each.
. "$(dirname "$0")/exported.inc"

cat > fsdp.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"dp"}})
dt.manual_seed(3 + dt.rank())
local model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
dt.fully_shard(model[0], {mesh = mesh})
dt.fully_shard(model, {mesh = mesh})
local opt = dt.optim.SGD(model:parameters(), {lr = 0.1})
local loss
for _ = 1, 2 do
  loss = model(dt.randn(2, 8)):pow(2):mean()
  loss:backward()
  opt:step()
  opt:zero_grad()
end
dt.debug.export("torch", "fsdp.py")
L
"$DTREPL" -n 4 fsdp.lua || failed=$((failed + 1))
ok "two steps of fully_shard, each rank its own batch" same fsdp 8

# A report has only what the last step needs: also what was written through
# other names of its memory.
sed 's/dt.debug.export("torch", "fsdp.py")/dt.debug.report("part.md")/' fsdp.lua >part.lua
"$DTREPL" -n 4 part.lua || failed=$((failed + 1))
repro_of python part.md > part.py
ok "a report of it has its numbers" same part 4

# Memory without values, and sums that are masked when they are summed.
cat > nothing.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local room = dt.empty(4)
local parts = dt.distribute_tensor(dt.arange(8):to(dt.f32), mesh, {Shard(0)})
local like = dt.empty_like(parts)
local table_ = dt.distribute_tensor(dt.arange(16):view(8, 2):to(dt.f32), mesh,
  {Shard(0)})
local rows = F.embedding(dt.distribute_tensor(dt.tensor({1, 5, 7, 2}), mesh, "R"), table_)
local twice = rows * 2
local sum = room + 1
dt.debug.export("torch", "nothing.py")
L
"$DTREPL" -n 4 nothing.lua || failed=$((failed + 1))
ok "memory without values is zero" same nothing 12

# Parameters that do not divide: their parts lie in padded memory, of which the
# part is read before the whole.
cat > uneven.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"r", "s"}})
dt.manual_seed(3)
local model = nn.Sequential(nn.Linear(6, 10), nn.ReLU(), nn.Linear(10, 3))
dt.fully_shard(model, {mesh = mesh})
local opt = dt.optim.SGD(model:parameters(), {lr = 0.1})
dt.manual_seed(dt.rank())
local loss
for _ = 1, 2 do
  loss = model(dt.randn(4, 6)):pow(2):mean()
  loss:backward()
  opt:step()
  opt:zero_grad()
end
print(("loss = %.7f"):format(loss:item()))
dt.debug.export("torch", "uneven.py")
L
"$DTREPL" -n 4 uneven.lua 2>&1 | sed -n 's/.*loss = //p' | sort -n >had
"$PYTHON" uneven.py 2>&1 | sed -n 's/.*loss = //p' | sort -n >there
# Rounding differs by processor: the losses are compared with a tolerance.
cat > near.py <<'P'
import math
import sys
had, there = ([float(x) for x in open(p)] for p in sys.argv[1:])
sys.exit(len(had) != len(there) or not all(
    math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6) for a, b in zip(had, there)))
P
ok "each rank has its loss" [ "$(sort -u had | wc -l)" = 4 ]
ok "fully_shard and replicas of uneven parameters" "$PYTHON" near.py had there

# Parameters whose memory is taken anew keep what was found in it.
cat > emptied.lua <<'L'
local m = nn.Linear(4, 4, {device = "meta"})
m:to_empty {device = "cpu"}
dt.no_grad(function () m.bias:fill_(2) end)
local y = m(dt.arange(8):view(2, 4):to(dt.f32))
dt.debug.export("torch", "emptied.py")
L
"$DTREPL" -n 2 emptied.lua || failed=$((failed + 1))
ok "to_empty gives a parameter other memory" same emptied 2

# A parameter that autograd refuses to have written, after training whose
# backward is not autograd's.
sed -e 's/^dt.debug.export.*/model[2].weight:add_(dt.ones(4, 16))/' fsdp.lua > written.lua
printf '%s\n' ':export torch written.py' | "$DTREPL" -n 4 -i written.lua > out 2>&1
"$PYTHON" written.py > out 2>&1
ok "autograd refuses it there, too" grep -qF \
  "a leaf Variable that requires grad is being used in an in-place operation" out

cat > tp.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt.manual_seed(0)
local model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Dropout(0.5),
  nn.Linear(32, 8))
dt.tensor_parallel.parallelize_module(model, mesh["tp"],
  {["0"] = dt.ColwiseParallel(), ["3"] = dt.RowwiseParallel()})
local opt = dt.optim.AdamW(model:parameters(), {lr = 0.1})
local loss = F.cross_entropy(model(dt.randn(6, 16)),
  dt.tensor({1, 2, 3, 0, 1, 7}))
loss:backward()
opt:step()
dt.debug.export("torch", "tp.py")
L
"$DTREPL" -n 4 tp.lua || failed=$((failed + 1))
ok "weights and masks that were drawn here" same tp 8
ok "backward is autograd's" grep -q "^loss.backward()" tp.py

cat > read.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(32):view(8, 4) / 4, mesh, {Shard(0)})
local loss = x:sum()
if dt.rank() >= 0 then local _ = loss:item() end
dt.debug.report("read.md")
L
"$DTREPL" -n 4 read.lua
repro_of python read.md > read.py
"$PYTHON" read.py > out 2> err
ok "a partial read as a number: rank 0 reads 7" grep -qF "[0] loss.item() = 7" out
ok "and rank 3 reads 55" grep -qF "[3] loss.item() = 55" out

"$DTREPL" -n 4 -i "$here/tests/parity/bridge/backward_mixed.py" > out 2>&1 <<'S'
:export torch back.py
S
"$PYTHON" back.py > out 2>&1
ok "a Function's backward raises the same" \
  grep -qF "aten.mul.Tensor got mixed torch.Tensor and DTensor" out

# The same call, of whose results each rank has its own by the name.
cat > pick.lua <<'L'
local mine = dt.split(dt.arange(8) * 2, 2)[dt.rank() + 1]
local y = mine + 1
dt.debug.export("torch", "pick.py")
L
"$DTREPL" -n 4 pick.lua || failed=$((failed + 1))
"$PYTHON" pick.py > out 2> err || cat err
ok "each rank names its own result of a list" grep -q "^\[3\] mine = tensor(\[12, 14\])" out

# Numbers that are too many to be written out, on one rank that is not the first:
# what reads them is defined for all.
cat > many.lua <<'L'
local list = {}
for i = 1, dt.rank() == 1 and 70 or 3 do list[i] = i * 0.37 end
local y = dt.tensor(list) * 2
dt.debug.export("torch", "many.py")
L
"$DTREPL" -n 4 many.lua || failed=$((failed + 1))
ok "only rank 1 has many numbers" same many 4

# Ranks that did different things: each shows what it has, by its own names.
cat > apart.lua <<'L'
local x = dt.ones(2) * (dt.rank() + 1)
if dt.rank() == 0 then x = x + 1 + 1 end
local y = x * 2
dt.debug.export("torch", "apart.py")
L
"$DTREPL" -n 4 apart.lua || failed=$((failed + 1))
"$PYTHON" apart.py > out 2> err || cat err
ok "rank 0 went another way" grep -q "^\[0\] x = tensor(\[3., 3.\])" out
ok "and rank 3 its own" grep -q "^\[3\] x = tensor(\[4., 4.\])" out

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
