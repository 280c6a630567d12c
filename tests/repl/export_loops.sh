#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=240
# Training loops that take gradients away or add to them, write lists of tensors,
# take over operators; and programs that caught an error: the exported script has
# the same numbers under PyTorch, or the same last error.
. "$(dirname "$0")/exported.inc"

# Gradients: kept, added to, taken away, set to zero; a leaf that is written.
cat > added.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"dp"}})
dt.manual_seed(14)
local w = dt.distribute_tensor(dt.randn(4, 3), mesh, {Replicate()})
  :requires_grad_()
local first, last
for i = 1, 4 do
  local x = dt.distribute_tensor(dt.randn(4, 4), mesh, {Shard(0)})
  x:mm(w):pow(2):mean():backward()
  if i == 1 then first = w.grad:clone() end
  if i == 2 then
    dt.no_grad(function () w:sub_(w.grad * 0.1) end)
    w.grad = nil
  end
  if i == 3 then w.grad:zero_() end
end
w.grad:mul_(0.5)
local norm = w.grad:norm()
dt.debug.export("torch", "added.py")
L
"$DTREPL" -n 2 added.lua || failed=$((failed + 1))
ok "gradients are added to and taken away" same added 6
ok "backward is autograd's" grep -q "backward()" added.py

# Clipping writes a list of gradients; each step has gradients of its own.
cat > clip.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt.manual_seed(3)
local w = nn.Parameter(dt.distribute_tensor(dt.randn(8, 4), mesh, "R S(0)"))
local b = nn.Parameter(dt.distribute_tensor(dt.randn(8), mesh, "R S(0)"))
local x = dt.distribute_tensor(dt.randn(6, 4), mesh, "S(0) R")
local opt = dt.optim.SGD({w, b}, {lr = 0.1})
local norm
for _ = 1, 3 do
  F.linear(x, w, b):pow(2):sum():backward()
  norm = dt.nn.utils.clip_grad_norm_({w, b}, 1.0, {foreach = true})
  opt:step()
  opt:zero_grad()
end
dt.debug.export("torch", "clip.py")
L
"$DTREPL" -n 4 clip.lua || failed=$((failed + 1))
ok "three steps with clipped gradients" same clip 4

# loss_parallel runs other operators than those it takes over.
cat > loss.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
dt.manual_seed(11)
local w = dt.distribute_tensor(dt.randn(8, 5), mesh, {Shard(0)})
  :requires_grad_()
local x = dt.distribute_tensor(dt.randn(6, 5), mesh, {Replicate()})
local loss
dt.loss_parallel(function ()
  loss = F.cross_entropy(F.linear(x, w), dt.tensor({1, 2, 3, 0, 1, 7}))
  loss:backward()
end)
local g = w.grad * 1
dt.debug.export("torch", "loss.py")
dt.debug.export("lua", "again.lua")
L
"$DTREPL" -n 4 loss.lua || failed=$((failed + 1))
ok "loss_parallel" same loss 8
ok "and here" "$DTREPL" -n 4 again.lua

# fully_shard over tensor parallel, parameters as bfloat16: what is gathered
# takes the place of parameters, and their gradients are read as parts.
cat > both.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
dt.manual_seed(18)
local m = nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 4))
dt.tensor_parallel.parallelize_module(m, mesh["tp"],
  {["0"] = dt.ColwiseParallel(), ["2"] = dt.RowwiseParallel()})
dt.fully_shard(m, {mesh = mesh["dp"],
  mp_policy = dt.MixedPrecisionPolicy {param_dtype = dt.bfloat16}})
local opt = dt.optim.SGD(m:parameters(), {lr = 0.1})
local loss
for i = 1, 2 do
  loss = m(dt.ones(3, 8) * (i + dt.rank() // 2)):to(dt.float32):pow(2):mean()
  loss:backward()
  opt:step()
  opt:zero_grad()
end
dt.debug.export("torch", "both.py")
L
"$DTREPL" -n 4 both.lua || failed=$((failed + 1))
ok "fully_shard over tensor parallel in bfloat16" same both 4

# The first error was caught; it is the second that counts.
cat > caught.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(4, 4), mesh, {Shard(0)})
pcall(function () return x + dt.ones(4, 4) end)
local y = x * 2
pcall(function () return y:mm(dt.ones(4, 4)) end)
dt.debug.export("torch", "caught.py")
L
"$DTREPL" -n 4 caught.lua || failed=$((failed + 1))
"$PYTHON" caught.py > out 2>&1
ok "the last error, not the first" grep -qF "aten.mm.default got mixed" out

# Where the processes cannot meet, none of them is left, nor their folder.
mkdir meet
cat > early.py <<'P'
import os, time
import torch.distributed as dist
def fail(*a, **k):
    if k["rank"] == 0:
        raise RuntimeError("no such network")
    time.sleep(600)
dist.init_process_group = fail
exec(compile(open("caught.py").read(), "caught.py", "exec"))
P
TMPDIR=$tmp/meet "$PYTHON" early.py > out 2>&1
ok "processes that cannot meet end" [ $? = 1 ]
ok "and say why" grep -q "RuntimeError: no such network" out
ok "their folder is gone" [ -z "$(ls meet)" ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
