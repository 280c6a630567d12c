#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# Debugging at a terminal, under plain mpirun; a rank that dies while all are
# stopped ends the session.
. "$(dirname "$0")/term.inc"
run="mpirun -n 4 $DTREPL"
. "$(dirname "$0")/debug_session.inc"

line "$run -q -d tests/debug/fixtures/mixed.lua"
wait_for "dt#1>"
kill -KILL "$(rank_pid 2)"
wait_for "rank 2"
code_is_not_0                   # the launcher has let go of the terminal
same_tty
done_testing
