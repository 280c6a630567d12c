#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=240
# A killed rank ends the session within two seconds, by name, with a status
# that is not 0 and a sane terminal: rank 2 and rank 0, at an idle prompt and
# while the others wait in a collective.
. tests/repl/term.inc

wait_exit () { term_wait 'EXIT [0-9]+' 2; }

# kill_case RANK LINE: kill RANK after LINE was typed ("" = idle).
kill_case () {
  what="rank $1, ${2:+in a collective}"
  [ -z "$2" ] && what="rank $1, idle prompt"
  term_start "mpirun -n 4 $DTREPL"
  term_prompt 30 || { not_ok "$what: no prompt"; return; }
  [ -n "$2" ] && { term_line "$2"; sleep 1; }
  pid=$(rank_pid "$1")
  [ -n "$pid" ] || { not_ok "$what: no process"; return; }
  kill -KILL "$pid"
  check "$what: over in two seconds" wait_exit
  check "$what: names the rank" term_wait "rank $1" 2
  check "$what: terminal sane" term_sane
  check "$what: status not 0" [ "$(term_exit)" != 0 ]
}

loop='x = dt.ones(4) m = dt.init_device_mesh("cpu", {4})'
loop="$loop while true do DTensor.from_local(x, m, \"P(sum)\"):full_tensor() end"
kill_case 2 ""
kill_case 0 ""
kill_case 2 "$loop"
kill_case 0 "$loop"
term_done
