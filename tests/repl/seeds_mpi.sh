#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=180
# The founding cases debugged at a terminal, under plain mpirun.
. "$(dirname "$0")/term.inc"
run="mpirun -n 4 $DTREPL"
. "$(dirname "$0")/seeds_session.inc"
done_testing
