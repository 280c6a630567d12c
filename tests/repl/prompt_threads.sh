#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick
# The prompt without mpirun: the same keys, plus the terminal's own signals.
# TSan delivers a signal at the next call into libc, which a loop of pure Lua
# never makes: Ctrl-C cannot be tried there.
case $DTREPL_SANITIZER in
  *thread*) echo "SKIP: TSan holds signals back in Lua loops"; exit 77 ;;
esac
. "$(dirname "$0")/term.inc"
term_open
line "$DTREPL"
wait_for "4 ranks (threads)"
wait_for "dt>"
line '40 + 2'
wait_for "42"
wait_prompt; send Up; wait_typed '40 + 2'; send BSpace; t send-keys -l 3; send Enter
wait_for "43"
line '@0,2 dt.rank()'
wait_for "[2] 2"
clear_screen
t send-keys -l 'zzz'; wait_typed zzz; send C-c
wait_for "zzz^C"
interrupt 'while true do end'
wait_for "interrupted"
interrupt 'if dt.rank() == 1 then while true do end end'
wait_prompt
line '"still" .. " here"'
wait_for '"still here"'
clear_screen
line 'nosuch.field'
wait_for "attempt to index a nil value"
send C-z
wait_for "shell>"
line "fg"
sleep 0.5
line '"back" .. " again"'
wait_for '"back again"'
t send-keys -l 'dt> 5 * 5'; send Enter
wait_for "25"
send_eof
code_is 0
same_tty

line "TERM=dumb $DTREPL -q"
wait_for "cannot be edited on"
line '6 * 7'
wait_for "42"
wait_prompt; t send-keys -l 'dropped'; wait_typed dropped; send C-c; wait_prompt
line 'dropped == nil'
wait_for "true"
send_eof
code_is 0
same_tty

line "HOME=/nonexistent XDG_STATE_HOME=/proc/nothing $DTREPL -q"
wait_for "history is not kept"
line '6 * 8'
wait_for "48"
send_eof
code_is 0
same_tty

line "$DTREPL -q"
wait_for "dt>"
kill -KILL "$(program_pid)"
wait_for "the terminal is restored"
same_tty
done_testing
