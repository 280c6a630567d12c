#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# Ranks that wait at the prompt sleep: below one percent of a core each.
. "$(dirname "$0")/term.inc"

left () {                     # the program ended, the shell is back
  for i in $(seq 100); do at_shell && return 0; sleep 0.1; done
  return 1
}

# Clock ticks a process has used.
ticks () { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

term_open
line "clear; mpirun -n 4 $DTREPL -q"
wait_quietly "dt>" "$PATIENCE" || not_ok "prompt"
sleep 1
hz=$(getconf CLK_TCK)
seconds=5
for r in 0 1 2 3; do
  pid=$(rank_pid $r)
  check "rank $r runs" test -n "$pid"
  eval "p$r=\$pid t$r=$(ticks "$pid")"
done
sleep $seconds
for r in 0 1 2 3; do
  eval "pid=\$p$r before=\$t$r"
  used=$(($(ticks "$pid") - before))
  check "rank $r used $used ticks in $seconds s" \
    test $((used * 100)) -le $((hz * seconds))
done
send_eof
check "leaves" left
same_tty
done_testing
