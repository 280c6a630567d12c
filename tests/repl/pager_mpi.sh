#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=60
# Under mpirun pages are turned by the prompt itself: forwards by page and
# line, back, out of it; what was printed is not lost, and what is typed then
# is a line again.
. "$(dirname "$0")/term.inc"

# What the screen shows now, without what is above it.
page () { t capture-pane -p | sed -e 's/[[:space:]]*$//' -e '/^$/d'; }
last_row () { page | tail -n 1 | grep -qF -- "$1"; }
page_ends () { check "page ends: $1" until_true "$PATIENCE" last_row "$1"; }
first_row () { test "$(page | head -n 1)" = "$1"; }

term_open 100 20
line "clear; mpirun -n 2 $DTREPL -q"
wait_for "dt>"
line 'for i = 1, 90 do print("row " .. i) end'
page_ends "19 of 90 lines; Space: more"
send Space
page_ends "38 of 90 lines"
check "the next page" until_true "$PATIENCE" first_row "row 20"
send Enter
page_ends "39 of 90 lines"
send x
page_ends "39 of 90 lines"
send b
page_ends "20 of 90 lines"
send NPage
page_ends "39 of 90 lines"
gone "row 90"
send q
check "a prompt" until_true "$PATIENCE" prompted
t send-keys -l 'dropped'; sleep 0.2; send C-c
wait_for "dropped^C"
line 'print("after " .. 6 * 7)'
wait_for "after 42"
line 'for i = 1, 60 do print("all " .. i) end'
page_ends "19 of 60 lines"
send G
wait_for "all 60"
check "a prompt again" until_true "$PATIENCE" prompted
line 'for i = 1, 60 do print("cut " .. i) end'
page_ends "19 of 60 lines"
send C-c
check "Ctrl-C leaves it" until_true "$PATIENCE" prompted
gone "cut 60"
line 'print("still " .. dt.world_size())'
wait_for "still 2"
line ':set pager off'
line 'for i = 1, 60 do print("off " .. i) end'
wait_for "off 60"
send_eof
code_is 0
same_tty
term_open 40 20
line "clear; mpirun -n 2 $DTREPL -q"
wait_for "dt>"
line 'for i = 1, 60 do print("row " .. i) end'
page_ends "19 of 60 lines; Space, b, q"
send q
send_eof
code_is 0
line "clear; PAGER= mpirun -n 2 $DTREPL -q"
wait_for "dt>"
line 'for i = 1, 60 do print("none " .. i) end'
wait_for "none 60"
send_eof
code_is 0
done_testing
