#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# A collective that only rank 0 enters: a report, no hang, and the next line
# works.  Local work on one rank is nobody's business.
. tests/repl/term.inc

for start in "mpirun -n 4 $DTREPL" "$DTREPL -n 4"; do
  term_start "$start"
  check "$start: a prompt" term_prompt 30
  term_line 'm = dt.init_device_mesh("cpu", {4})'
  term_prompt
  term_line 'x = dt.distribute_tensor(dt.arange(8), m, "S(0)")'
  term_prompt
  term_line 'if dt.rank() == 0 then x:full_tensor() end'
  check "$start: it is reported" term_wait 'DT0502|different paths' 10
  check "$start: the session lives" term_prompt
  term_line 'x:full_tensor():sum():item()'
  check "$start: the next line works" term_wait '^28(\.0)?$'
  term_prompt
  term_line 'if dt.rank() == 0 then local y = dt.ones(3) + 1 end; 7 * 6'
  check "$start: local work is free" term_prompt
  term_line '6 * 9'
  check "$start: still there" term_wait '^54$'
  term_prompt
  term_keys C-d
  check "$start: sane terminal" term_sane
done
term_done
