#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,one_thread timeout=120
# The run on one rank after a program: when it is made, what it may do, and that
# it leaves nothing behind.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/temp"
export TMPDIR="$tmp/temp"
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -5 out err; fi
}
ran () { "$DTREPL" "$@" >out 2>err </dev/null; code=$?; }
told () { grep -q "^DT1150 $1:$2 " err; }

# A function that is not linear of addends, which is told where they are made;
# the mesh says 4, the run has one rank.
cat >wrong.py <<'EOF'
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
dist.init_process_group("gloo")
group = init_device_mesh("cpu", (dist.get_world_size(),)).get_group()
torch.manual_seed(0)
x = torch.randn(8, 3).chunk(dist.get_world_size())[dist.get_rank()]
load = x.sum(0)
score = (load - load.mean()).sign()
total = (score * load).sum()
dist.all_reduce(total, group=group)
print("result %.4f" % total.item())
EOF
ran -n 4 wrong.py
told wrong.py 7; ok "told" $?
sed 's/^load = x.sum(0)/&\ndist.all_reduce(load)/; s/^dist.all_reduce(total.*/#/' \
  wrong.py >right.py
ran -n 4 right.py
ok "right: nothing is said" "$([ "$code" = 0 ] && [ ! -s err ]; echo $?)"
sed 's/(dist.get_world_size(),)/(4,)/' wrong.py >four.py
ran -n 4 four.py
told four.py 7; ok "a mesh of 4 is cut down" $?

# What is compared is a claim as well as a number that is read.
sed 's/^print.*/torch.equal(total, total)/' wrong.py >compared.py
ran -n 4 compared.py
told compared.py 7; ok "a compared tensor" $?
sed 's/^print.*/torch.equal(total, total)/' right.py >compared_right.py
ran -n 4 compared_right.py
ok "a compared tensor, right: nothing is said" \
  "$([ "$code" = 0 ] && [ ! -s err ]; echo $?)"

# A message to the neighbour in a ring of one rank arrives.
cat >ring.py <<'EOF'
import torch, torch.distributed as dist
dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
x = torch.arange(8.0).chunk(n)[r]
got = torch.empty_like(x)
for w in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, (r + 1) % n),
                                 dist.P2POp(dist.irecv, got, (r - 1) % n)]):
    w.wait()
print(got.sum().item())
EOF
ran --alone one.rec ring.py
ok "a ring of one rank" "$([ "$code" = 0 ] && [ "$(cat out)" = 28.0 ]; echo $?)"
ran -n 1 ring.py
ok "only with --alone" "$(grep -q "Invalid destination rank" err; echo $?)"

# Not where it is not wanted, nor where something was found or failed.
ran -q -n 4 wrong.py
ok "--quiet" "$([ ! -s err ]; echo $?)"
ran --fast -n 4 wrong.py
ok "--fast" "$([ ! -s err ]; echo $?)"
ran -n 1 wrong.py
ok "one rank" "$([ ! -s err ]; echo $?)"
DTREPL_ALONE=no "$DTREPL" -n 4 wrong.py >out 2>err </dev/null
ok "DTREPL_ALONE=no" "$([ ! -s err ]; echo $?)"
ran --strict -n 4 wrong.py
ok "--strict" "$([ "$code" = 3 ]; echo $?)"

# It has no files: what the program wrote stays what all ranks wrote.
cat >writes.py <<'EOF'
import torch, torch.distributed as dist
dist.init_process_group("gloo")
if dist.get_rank() == 0:
    with open("said.txt", "w") as f:
        f.write(str(dist.get_world_size()))
EOF
sed 1,3d wrong.py >>writes.py
sed -i 's/^group = .*/group = None/' writes.py
ran -n 4 writes.py
ok "files" "$([ "$(cat said.txt)" = 4 ] && [ ! -s err ]; echo $?)"

# One that never ends on one rank is ended, and leaves no process.
cat >endless.py <<'EOF'
import torch, torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(2)
dist.all_reduce(x)
print(x.sum().item())
while dist.get_world_size() == 1: pass
EOF
ran -n 2 endless.py
ok "endless" "$([ "$code" = 0 ] && [ "$(cat out)" = 4.0 ] && [ ! -s err ]; echo $?)"
left=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -cx 'endless[.]py')
ok "no process is left" "$([ "$left" = 0 ]; echo $?)"
ok "no file is left" "$([ -z "$(ls "$TMPDIR")" ]; echo $?)"

# The option by itself.
ran --alone one.rec wrong.py
ok "--alone writes the record" "$([ "$code" = 0 ] && [ -s one.rec ]; echo $?)"
ran --alone one.rec -n 4 wrong.py
ok "--alone is one rank" "$([ "$code" = 2 ] && grep -q "excludes -n" err; echo $?)"
ran --alone no/such/folder.rec wrong.py
ok "--alone, no folder" "$([ "$code" = 1 ] && grep -q "cannot write" err; echo $?)"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
