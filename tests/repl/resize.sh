#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick
# The window shrinks and grows while a line is typed: the line stays whole.
. "$(dirname "$0")/term.inc"
term_open 100 30
line "$DTREPL -q"
wait_for "dt>"
t send-keys -l '"a line longer than" .. " forty columns" .. " is kept" .. " whole"'
t resize-window -x 40 -y 20
sleep 0.6
t send-keys -l ' .. "!"'
t resize-window -x 100 -y 30
sleep 0.6
send Enter
wait_for '"a line longer than forty columns is kept whole!"'
send_eof
code_is 0
same_tty
done_testing
