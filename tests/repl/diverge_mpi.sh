#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# A collective that only rank 0 enters: a report, no hang, and the next line
# works.  Local work on one rank is nobody's business.
. "$(dirname "$0")/term.inc"

left () {                     # the program ended, the shell is back
  for i in $(seq 100); do at_shell && return 0; sleep 0.1; done
  return 1
}

term_open
for start in "mpirun -n 4 $DTREPL -q" "$DTREPL -n 4 -q"; do
  line "clear; $start"
  wait_quietly "dt>" "$PATIENCE" || not_ok "$start: prompt"
  line 'm = dt.init_device_mesh("cpu", {4})'
  line 'x = dt.distribute_tensor(dt.arange(8), m, "S(0)")'
  line 'if dt.rank() == 0 then x:full_tensor() end'
  check "$start: it is reported" wait_quietly "DT0502" "$PATIENCE"
  line 'x:full_tensor():sum():item()'
  check "$start: the next line works" wait_quietly "28" "$PATIENCE"
  line 'if dt.rank() == 0 then local y = dt.ones(3) + 1 end'
  line '6 * 9'
  check "$start: local work is free" wait_quietly "54" "$PATIENCE"
  send_eof
  check "$start: leaves" left
  same_tty
done
done_testing
