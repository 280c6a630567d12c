#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=300 tags=slow
# Twelve everyday tasks at a terminal, under plain mpirun.
case $DTREPL_SANITIZER in
  *thread*) echo "SKIP: TSan is too slow for twelve sessions"; exit 77 ;;
esac
. "$(dirname "$0")/term.inc"
run="mpirun -n 4 $DTREPL"
. "$(dirname "$0")/twelve_session.inc"
done_testing
