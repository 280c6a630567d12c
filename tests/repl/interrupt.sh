#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=300
# Ctrl-C of a program without a prompt: each rank's line, who waits for whom,
# status 130, nothing left; Python's handlers run; the same under mpirun.
. "$(dirname "$0")/term.inc"
cat >"$tmp/hang.py" <<'EOF'
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(4)
print("begin")
if dist.get_rank() == 0:
    n = 0
    while n >= 0:
        n += 1
dist.all_reduce(x)
EOF
cat >"$tmp/hang.lua" <<'EOF'
print("begin")
local x = dt.ones(4)
if dt.rank() == 0 then while true do end end
dt.distributed.all_reduce(x)
EOF
cat >"$tmp/loop.py" <<'EOF'
def count(k):
    while True: k += 1
print("begin")
count(1)
EOF
cat >"$tmp/early.py" <<'EOF'
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(4)
class Scope:
    def __enter__(self): return self
    def __exit__(self, *how): print("left scope", torch.ones(2).sum().item())
print("begin")
try:
    with Scope():
        while True:
            dist.all_reduce(x)
            x = x / 4
except KeyboardInterrupt:
    print("left early", torch.ones(3).sum().item())
finally:
    print("cleaned up")
EOF
cat >"$tmp/parts.py" <<'EOF'
import torch
print("begin")
try:
    while True: pass
except* KeyboardInterrupt:
    print("left by part", torch.ones(3).sum().item())
EOF
cat >"$tmp/stubborn.py" <<'EOF'
print("begin")
while True:
    try:
        while True: pass
    except:
        print("no")
EOF
cat >"$tmp/exits.py" <<'EOF'
import atexit, time, torch
atexit.register(lambda: print("at exit", torch.ones(2).sum().item()))
print("begin")
while True: time.sleep(0.1)
EOF
cat >"$tmp/found.py" <<'EOF'
import torch
import torch.distributed as dist
import torch.nn.functional as F
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
x, a = torch.randn(4, 16), torch.randn(8, 16)
y = F.linear(x.chunk(world, 1)[rank], a.chunk(world, 1)[rank]).exp()
dist.all_reduce(y)
print("begin")
try:
    while True: y = y * 0.5
except KeyboardInterrupt:
    print("left early")
EOF
term_open 100 40

# stopped LINE: it runs, and is told to stop.
stopped () {
  run_shell clear
  t clear-history
  line "$1"
  wait_quietly "begin" "$PATIENCE" || not_ok "runs: $1"
  sleep 0.3
  send C-c
}
waits () {
  wait_for "rank 0: running"
  wait_for "ranks 1-3: waiting in allreduce_ at"
}

cd "$tmp" || exit 1
run_shell "cd $tmp"
stopped "$DTREPL -n 4 hang.py"
waits
wait_for "at hang.py:10"
code_is 130
stopped "$DTREPL -n 4 hang.lua"
waits
wait_for "at hang.lua:3"
code_is 130
stopped "$DTREPL -n 4 loop.py"
wait_for "KeyboardInterrupt"
wait_for "at loop.py:2"
wait_for "called from line 4"
code_is 130
stopped "$DTREPL -n 4 early.py"
wait_for "left scope 2.0"
wait_for "left early 3.0"
wait_for "cleaned up"
gone "KeyboardInterrupt"
code_is 0
stopped "$DTREPL -n 2 parts.py"
wait_for "left by part 3.0"
code_is 0

# Functions for the end are called; what was found before is told.
stopped "$DTREPL -n 2 exits.py"
wait_for "at exit 2.0"
gone "ignored"
wait_for "KeyboardInterrupt"
code_is 130
stopped "$DTREPL -n 2 found.py"
wait_for "left early"
wait_for "DT1045"
code_is 0

# What goes on all the same ends with the next one.
stopped "$DTREPL -n 2 stubborn.py"
wait_for "no"
send C-c
wait_for "dtrepl: interrupted, rank 1"
code_is 130

stopped "$DTREPL --mpi 4 hang.py"
waits
code_is 130
check "no rank is left" test -z "$(program_pid)$(rank_pid 0)$(rank_pid 3)"
# Another program sends it, to the one process that it knows.
"$DTREPL" --mpi 2 hang.py >alone 2>&1 &
alone=$!
check "runs beside" until_true "$PATIENCE" grep -q begin alone
kill -INT $alone
wait $alone
check "status of the one told alone" test $? = 130
check "it said where it was" grep -q "waiting in allreduce_ at" alone
# One key press, told by the terminal and by who started the program, is one.
"$DTREPL" -n 2 hang.py >alone 2>&1 &
alone=$!
check "runs alone" until_true "$PATIENCE" grep -q begin alone
sleep 0.3
kill -INT $alone $alone
wait $alone
check "each rank's place, though told twice" grep -q "rank 0: running" alone
same_tty
done_testing
