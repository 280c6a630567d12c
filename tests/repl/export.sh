#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick,one_thread
# :export html and :export trace, in both worlds: well-formed, complete, one
# process for each rank, times within the run; refused in the sandbox.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
LUA=${LUA:-lua5.4}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
check () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "ok - $1"
  else failed=$((failed + 1)); echo "not ok - $1"; fi
}

cat >work.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local a = dt.distribute_tensor(dt.ones(8, 6), mesh, {dt.Shard(1)})
local b = dt.distribute_tensor(dt.ones(6, 5), mesh, {dt.Shard(0)})
local c = a:mm(b)          -- "<&>" must be escaped
local v = c:sum():item()
local w = c:redistribute(mesh, {dt.Replicate()})
local net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 4))
require("dt.parallel").parallelize_module(net[0], mesh, dt.ColwiseParallel())
local last = dt.distribute_tensor(dt.ones(4, 12), mesh, {dt.Shard(1)})
dt.debug.export("html", "page.html")
dt.debug.export("trace", "trace.json")
EOF
cat >look.lua <<'EOF'
-- Tags close in order; names of processes; times.
local f = assert(io.open("page.html")):read("a")
local void = {meta = true, link = true, br = true, input = true}
local stack = {}
for close, name, rest in f:gsub("<!doctype html>", "")
    :gsub("<script>.-</script>", ""):gmatch(
    "<(/?)(%a[%w]*)([^>]*)>") do
  if close == "/" then
    assert(table.remove(stack) == name, "wrong end tag " .. name)
  elseif not void[name] and rest:sub(-1) ~= "/" then
    stack[#stack + 1] = name
  end
end
assert(#stack == 0, "a tag is open: " .. tostring(stack[#stack]))
assert(f:find("&lt;&amp;&gt;", 1, true), "source is escaped")
assert(select(2, f:gsub("<script", "")) == 1, "one script, the search")
assert(not f:find("src=", 1, true), "nothing is fetched")
assert(f:find("DT1001", 1, true), "the finding")
assert(f:find(">rank 3<", 1, true), "a lane for each rank")
assert(f:find(">0 + 1 + 2 + 3<", 1, true), "addends of a partial tensor")
assert(f:find("<td>net[0].weight</td><td>f32[8, 4]| S(0)</td>", 1, true)
  and f:find("<td>net[1].bias</td><td>t: f32[4]</td>", 1, true), "parameters")
assert(f:find("<b>net[0].weight", 1, true), "a parameter has a picture")
assert(f:find("<b>last</b>", 1, true), "so has what no operator has used")
local t = assert(io.open("trace.json")):read("a")
local names, n = {}, 0
for pid in t:gmatch('"process_name","ph":"M","pid":(%d+)') do
  names[tonumber(pid)] = true
end
for r = 0, 3 do assert(names[r], "process of rank " .. r) end
for ts, dur in t:gmatch('"ts":([%d.]+),"dur":([%d.]+)') do
  n = n + 1
  assert(tonumber(ts) >= 0 and tonumber(dur) >= 0, "times")
end
assert(n > 20, "spans")
assert(t:find('"cat":"collective"', 1, true), "collectives")
local depth = 0
for c in t:gsub('\\.', ''):gsub('"[^"]*"', ''):gmatch("[%[%]{}]") do
  depth = depth + ((c == "[" or c == "{") and 1 or -1)
  assert(depth >= 0)
end
assert(depth == 0, "brackets")
EOF
"$DTREPL" -n 4 work.lua >out.txt 2>&1
check "threads: runs" $?
"$LUA" look.lua
check "threads: page and trace" $?
rm -f page.html trace.json
if command -v mpirun >/dev/null 2>&1 &&  # sanitizers and MPI quarrel
    [ -z "$DTREPL_SANITIZER" ]; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --oversubscribe -n 4 "$DTREPL" work.lua >out.txt 2>&1
  check "mpi: runs" $?
  "$LUA" look.lua
  check "mpi: page and trace" $?
fi
ok () { what=$1; shift; "$@"; check "$what" $?; }
# A program that failed: the page is led by the failure and its line.
cat >failed.lua <<'END'
-- dtrepl: ranks=2
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)")
local mask = dt.ones(8, 4)
local y = x * mask
END
cat >raised.py <<'END'
# dtrepl: ranks=2
import torch
x = torch.ones(2)
raise KeyError("a & b")
END
for when in ':export html f.html' ':kill
:export html f.html'; do
  rm -f f.html
  printf '%s\n' "$when" | "$DTREPL" -i failed.lua >out.txt 2>&1
  ok "the failure leads the page" test "$(grep -n 'id="failure"' f.html |
    cut -d: -f1)" -lt "$(grep -n 'id="findings"' f.html | cut -d: -f1)"
  ok "its report" grep -q '^DT0101\|>DT0101 mixed torch.Tensor' f.html
  ok "its fixes" grep -q '1 distribute_tensor(mask, mesh' f.html
  ok "its line" grep -q '<code>local y = x \* mask</code>' f.html
done
printf '%s\n' ':kill' ':export html r.html' | "$DTREPL" -i raised.py \
  >out.txt 2>&1
ok "an error of no operator" grep -q 'a &amp; b' r.html
printf '%s\n' 'x = dt.ones(2) + 1' ':export html n.html' | "$DTREPL" -n 2 >out.txt
ok "none, none" test "$(grep -c 'id="failure"' n.html)" = 0

# Long runs: every operator is there, folded by hundreds, and it stays small.
cat >long.lua <<'END'
local x = dt.ones(2)
for _ = 1, 1250 do x = x * 1 + 0 end
dt.debug.export("html", "long.html")
END
"$DTREPL" -n 1 long.lua >out.txt 2>&1
ok "every operator" test "$(grep -c 'class="row"' long.html)" = 2501
ok "by hundreds" test "$(grep -c '<summary>#' long.html)" = 26
ok "a page of 2,500 operators is small" test "$(wc -c <long.html)" -lt 2500000
printf '%s\n' 'x = dt.ones(2) + 1' ':export html p.html' ':export trace t.json' \
  | "$DTREPL" -n 2 >out.txt 2>&1
[ -s p.html ] && [ -s t.json ]
check "as commands" $?

# A script of this run raises what this run raised: lists of results, and
# gradients that were written out.
cat >lists.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(4, 4), mesh, {dt.Shard(0)})
local a, b = table.unpack(dt.ops.aten.split.Tensor(x, 2, 1))
local l = dt.ops.aten.unbind.int(a:narrow(1, 0, 1), 1)
local v, i = dt.ops.aten.max.dim(x, 1)
local y = (a + b):sum(1) * l[1] * v
local z = y + dt.ones(4)
EOF
cat >step.py <<'EOF'
import torch, torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
mesh = init_device_mesh("cpu", (2,))
w = nn.Parameter(distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)]))
b = nn.Parameter(torch.zeros(4))
opt = torch.optim.Adam([w, b], lr=0.1, foreach=True)
((w * 2).full_tensor() + b).sum().backward()
opt.step()
EOF
printf '%s\n' ':set stop off' ':run lists.lua' :continue ':export lua again.lua' \
  | "$DTREPL" -n 2 >out.txt 2>&1
"$DTREPL" -n 2 again.lua 2>&1 | grep -q "mixed torch.Tensor and DTensor in aten.add"
check "lists of results" $?
printf '%s\n' ':set stop off' ':run step.py' :continue ':report r.md' \
  | "$DTREPL" -n 2 >out.txt 2>&1
awk '/^```lua/ {on = 1; next} /^```/ {if (on) exit} on' r.md >repro.lua
"$DTREPL" -n 2 repro.lua 2>&1 | grep -q "mixed .* in aten._foreach_lerp_.Scalar"
check "a step's report" $?

# What failed and was caught does not end the script, which goes on.
cat >caught.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"dp"}})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S0")
pcall(function () return x + dt.ones(8, 4) end)
print((x * 2):full_tensor():sum())
EOF
printf '%s\n' ':run caught.lua' :continue ':export lua went_on.lua' \
  | "$DTREPL" -n 2 >out.txt 2>&1
grep -q 'the script caught it: aten.add.Tensor' went_on.lua \
  && grep -q 'aten.mul.Tensor' went_on.lua && "$DTREPL" -n 2 went_on.lua
check "a caught failure" $?

# Numbers that were drawn are drawn again, and none are made up: not where the
# record no longer has them, nor in memory that is written before it is read.
cat >drawn.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
dt.manual_seed(5)
local model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 4))
dt.fully_shard(model, {mesh = mesh})
local opt = dt.optim.AdamW(model:parameters(), {lr = 0.1})
for _ = 1, 4 do
  model(dt.randn(4, 256) * 0.5):pow(2):mean():backward()
  opt:step()
  opt:zero_grad()
end
local own = dt.distribute_tensor(dt.randn(4) + dt.rank(), mesh, "S(0)",
  {src_data_rank = dt.None})
local loss = model(dt.ones(2, 256)):sum()
print(("%.6f"):format(loss:item()), own:full_tensor():sum():item())
EOF
printf '%s\n' ':record limit 1M' ':source drawn.lua' ':export torch drawn.py' \
  | "$DTREPL" -n 2 >out.txt 2>&1
grep -q '^torch.manual_seed(5)$' drawn.py && ! grep -q 'made up' drawn.py \
  && grep -q 'src_data_rank=None' drawn.py
check "drawn again, none made up" $?

# A sharding rule of the program's own goes along as the answer it gave; one that
# gave several cannot, and the program itself is written.
cat >rule.py <<'EOF'
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import register_sharding


@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x):
    return torch.empty_like(x)


@register_sharding(torch.ops.mine.twice.default)
def rule(x):
    if x.shape[0] > 4:
        return [([Shard(0)], [Shard(0)])]
    return [([Replicate()], [Replicate()])]


mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.ones(8, 2), mesh, [Shard(0)])
print(twice(x).placements)
EOF
printf '%s\n' 'y = distribute_tensor(torch.ones(2, 2), mesh, [Replicate()])' \
  'print(twice(y).placements)' | cat rule.py - >rules.py
sed 's/x \* 2/x.sum(1) * 2/; s/torch.empty_like(x)/x.new_empty(x.shape[:1])/' \
  rule.py >cut.py
for p in rule cut rules; do
  printf '%s\n' ":export torch out_$p.py" ":export lua out_$p.lua" |
    "$DTREPL" -n 2 -i $p.py >out.txt 2>&1
done
grep -q 'no script of Lua would decide the same' out.txt && [ ! -e out_rules.lua ]
check "no script of Lua for a rule with several answers" $?
grep -q "own sharding rule of mine.twice.default cuts its result anew" out_cut.py
check "a stand-in of another size is no stand-in" $?
grep -q '^register_sharding(torch.ops.mine.twice.default)(.*Shard(0)' out_rule.py
check "the answer of a sharding rule goes along" $?
grep -q "own sharding rule of mine.twice.default gave several" out_rules.py \
  && grep -q '^def rule(x):$' out_rules.py
check "of a rule with several answers, the program itself" $?
printf '%s\n' ':export html q.html' | "$DTREPL" --sandbox -n 2 >out.txt 2>&1
[ ! -e q.html ]
check "not in the sandbox" $?
echo "$passed passed, $failed failed"
[ $failed = 0 ]
