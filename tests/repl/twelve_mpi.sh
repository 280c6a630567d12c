#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=300 tags=slow
# Twelve everyday tasks at a terminal, under plain mpirun.
. "$(dirname "$0")/term.inc"
run="mpirun -n 4 $DTREPL"
. "$(dirname "$0")/twelve_session.inc"
done_testing
