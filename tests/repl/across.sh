#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=200
# dtrepl --across A,B: a program under two releases, what differs and the exit
# codes: 0 nothing, 3 something, 1 not run, 2 wrong usage.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -40 out err; fi
}
run () { timeout 100 "$DTREPL" "$@" >out 2>err </dev/null; code=$?; }
has () { ok "$1" "$(grep -qF -- "$2" out; echo $?)"; }

cat >any.lua <<'P'
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, {dt.Shard(0)})
for _ = 1, 2 do x:any() end
x[{dt.slice(), 0}] = 1.0
P
cat >loss.py <<'P'
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard
import torch.nn.functional as F
mesh = init_device_mesh("cpu", (4,))
x = distribute_tensor(torch.ones(8, 16), mesh, [Shard(0)])
t = distribute_tensor(torch.zeros(8, dtype=torch.int64), mesh, [Shard(0)])
print(F.cross_entropy(x, t).placements)
P
cat >fsdp.lua <<'P'
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local m = dt.nn.Linear(8, 8)
dt.fully_shard(m, {mesh = mesh,
  mp_policy = dt.MixedPrecisionPolicy {param_dtype = dt.bfloat16}})
m(dt.ones(2, 8)):sum():backward()
P
sed '3,4d' any.lua >same.lua

run --across 2.13,2.15 -n 4 any.lua
ok "something differs" "$([ $code = 3 ]; echo $?)"
has "the first" "2.13 and 2.15: 5 differences, the first at any.lua:3"
has "a decision, counted" "  decision (2 times)"
has "bytes" "    2.15  all_gather_into_tensor of 32 bytes (dim 0, 4 ranks)"
has "an error on one side" \
  "    2.13  NotImplementedError: Operator aten.fill_.Tensor does not have"
has "totals" "collectives       1           3"

run --across 2.13,2.15 -n 4 loss.py
ok "a Python program" "$([ $code = 3 ]; echo $?)"
has "what it printed" "    2.15  (Replicate(),)"

cat >failing.py <<'P'
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard
mesh = init_device_mesh("cpu", (4,))
distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)]).view(3)
P
run --across 2.13,2.15 -n 4 failing.py
ok "the same operator's error" "$([ $code = 0 ]; echo $?)"

cat >caught.lua <<'P'
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, {dt.Shard(0)})
pcall(function () return x:redistribute(mesh, {dt.Partial()}) end)
pcall(function () return x:redistribute(mesh, {dt.Partial "avg"}) end)
P
run --across 2.13,2.15 -n 4 caught.lua
has "a call that one of them refuses" \
  "    2.13  raises Can not redistribute from S(0) to P(sum), redistrib"
has "and the other answers" "    2.15  returns"
has "what both refuse, in other words" \
  "    2.15  raises Can not redistribute from S(0) to P(avg), only Shard to"
has "and nothing else of them" "2.13 and 2.15: 2 differences, the first"

run --across 2.13,2.15 --json -n 4 any.lua
ok "JSON" "$([ $code = 3 ]; echo $?)"
has "as one object" '{"differs":true,"differences":[{"at":"any.lua:3"'

run --across 2.14,2.15 -n 4 fsdp.lua
ok "FSDP2 reduces in another dtype" "$([ $code = 3 ]; echo $?)"
has "half the bytes before" "_reduce_scatter_base_ of 144 bytes"
has "the parameters' own now" "_reduce_scatter_base_ of 288 bytes"

run --across 2.14,2.15 -n 4 same.lua
ok "nothing differs" "$([ $code = 0 ]; echo $?)"
has "told" "2.14 and 2.15: nothing differs"

# a record is run as the calls it holds
run --record any.rec -n 4 any.lua
run --across 2.13,2.15 -n 4 any.rec
ok "a record" "$([ $code = 3 ]; echo $?)"
has "its decisions" "    2.13  P(sum)"
run --across 2.13,2.15 -n 4 any.rec word --json
ok "a record with arguments" "$([ $code = 3 ]; echo $?)"
has "which are the program's" "    2.13  P(sum)"

# the record of a program that failed, as JSON
sed 's/:any()/:nothing()/' any.lua >fails.lua
run --record fails.json -n 4 fails.lua
ok "JSON of a failed run" "$(grep -q '"op":"distribute_tensor"' fails.json; echo $?)"

# at the prompt: the lines typed; nested and unknown ones are refused
cat >typed <<'P'
mesh = dt.init_device_mesh("cpu", {4})
x = dt.distribute_tensor(dt.ones(8, 4), mesh, {dt.Shard(0)})
y = x:any()
y
x[0] = 1.0
:across 2.13
:acr 2.13,2.13
:across 2.99
:across
:across 2.14 same.lua
P
for world in "-n 4" "--mpi 4"; do
  timeout 100 "$DTREPL" $world <typed >out 2>err; code=$?
  cat err >>out
  has "$world: the session" "2.13 and 2.15: 6 differences, the first at prompt:3"
  has "$world: the line that fails" \
    "    2.13  NotImplementedError: Operator aten.fill_.Tensor does not have"
  has "$world: what was shown" "    2.13  dt: b8[]| P(sum)  mesh (4,)"
  has "$world: the same twice" "2.13 and 2.13: nothing differs"
  has "$world: unknown" 'ValueError: unknown release "2.99"; known: 2.4, '
  has "$world: no release" "wanted a release: :across 2.13"
  has "$world: a program" "2.14 and 2.15: nothing differs"
done

run --across 2.13,2.99 any.lua
ok "unknown release" "$([ $code = 2 ]; echo $?)"
ok "it names those that are there" \
  "$(grep -q 'unknown release "2.99"; known: 2.4, .*2.13, 2.14, 2.15$' err
     echo $?)"
run --across 2.13 any.lua
ok "usage" "$([ $code = 2 ]; echo $?)"
run --across 2.13,2.15 none.lua
ok "no program" "$([ $code = 1 ]; echo $?)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
