#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=data timeout=300 tags=slow
# Twelve everyday tasks at a terminal, ranks as threads.
. "$(dirname "$0")/term.inc"
run="$DTREPL -n 4"
. "$(dirname "$0")/twelve_session.inc"
done_testing
