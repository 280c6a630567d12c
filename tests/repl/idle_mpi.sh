#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# Ranks that wait at the prompt sleep: below one percent of a core each.
. tests/repl/term.inc

# Clock ticks a process has used.
ticks () { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

term_start "mpirun -n 4 $DTREPL"
check "a prompt" term_prompt 30
sleep 1
hz=$(getconf CLK_TCK)
seconds=5
for r in 0 1 2 3; do eval "p$r=\$(rank_pid $r); t$r=\$(ticks \$p$r)"; done
sleep $seconds
for r in 0 1 2 3; do
  eval "pid=\$p$r before=\$t$r"
  used=$(($(ticks "$pid") - before))
  check "rank $r used $used ticks in $seconds s" \
    [ $((used * 100)) -le $((hz * seconds)) ]
done
term_keys C-d
check "sane terminal" term_sane
term_done
