#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=data timeout=300 tags=slow
# Twelve everyday tasks at a terminal, ranks as threads.
case $DTREPL_SANITIZER in
  *thread*) echo "SKIP: TSan is too slow for twelve sessions"; exit 77 ;;
esac
. "$(dirname "$0")/term.inc"
run="$DTREPL -n 4"
. "$(dirname "$0")/twelve_session.inc"
done_testing
