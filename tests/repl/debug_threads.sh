#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick
# Debugging at a terminal: four ranks, threads of one process.
case $DTREPL_SANITIZER in
  *thread*) echo "SKIP: TSan holds signals back in Lua loops"; exit 77 ;;
esac
. "$(dirname "$0")/term.inc"
run=$DTREPL
. "$(dirname "$0")/debug_session.inc"
done_testing
