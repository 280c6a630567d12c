#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60
# `make run` builds with all cores, unless it is told how many.
. "$(dirname "$0")/term.inc"
cd "$here" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
plan () { make -n run CORES=7 "$@" 2>/dev/null | grep -c -- '-j7'; }
check "seven cores build" test "$(plan)" -ge 1
check "-j says otherwise" test "$(plan -j3)" = 0
done_testing
