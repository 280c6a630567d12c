#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120
# The founding cases debugged at a terminal, from the stop to the report.
. "$(dirname "$0")/term.inc"
run="$DTREPL -n 4"
. "$(dirname "$0")/seeds_session.inc"
done_testing
