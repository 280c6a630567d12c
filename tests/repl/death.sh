#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120 tags=quick
# A rank is killed: at an idle prompt, while the others wait for it, and at a
# stop.  The session ends soon (0.1 to 0.4 s alone, at most 20), says so, and
# the terminal is sane.
. "$(dirname "$0")/term.inc"

session_over () { [ -z "$(rank_pid 0)" ] && at_shell; }

# kill_rank RANK LINE [SHOWN]: after LINE was typed (empty: at the idle
# prompt), once the screen shows SHOWN.
kill_rank () {
  line "clear; mpirun -n 4 $DTREPL -q"
  wait_quietly "dt>" "$PATIENCE" || not_ok "prompt"
  sleep 0.3
  if [ -n "$2" ]; then line "$2"; sleep 0.7; fi
  if [ -n "$3" ]; then
    check "shows $3" wait_quietly "$3" "$PATIENCE"
  fi
  pid=$(rank_pid "$1")
  check "rank $1 runs" test -n "$pid"
  kill -KILL "$pid"
  ms=$(millis_until session_over)
  check "rank $1 killed, ${2:-idle}: over after $ms ms" test "$ms" -le 20000
  check "said which" shows "rank $1"
  code_is_not_0
  same_tty
}

term_open
kill_rank 2 ""
kill_rank 0 ""
busy='if dt.rank() == 3 then while true do end end'
kill_rank 2 "$busy"
kill_rank 0 "$busy"
coll='while true do dt.distributed.barrier() end'
kill_rank 2 "$coll"
kill_rank 0 "$coll"
stop='dt.breakpoint()'
kill_rank 2 "$stop" "stopped at"
kill_rank 0 "$stop" "stopped at"
done_testing
