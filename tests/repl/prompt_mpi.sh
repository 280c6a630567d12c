#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120 tags=quick
# The prompt under plain mpirun: editing, history, completion, Ctrl-C, paste,
# resizing, leaving.
. "$(dirname "$0")/term.inc"
term_open
line "mpirun -n 4 $DTREPL"
wait_for "4 ranks (processes)"
wait_for "dt>"

line '40 + 2'
wait_for "42"
wait_prompt; send Up; wait_typed '40 + 2'; send BSpace; t send-keys -l 3; send Enter
wait_for "43"
line 'dt.rank() % 2'
wait_for "[0,2] 0"
wait_for "[1,3] 1"

clear_screen
t send-keys -l 'xyz = 7'; wait_typed 'xyz = 7'; send C-c
wait_for "xyz = 7^C"
line 'xyz == nil'
wait_for "true"

clear_screen
line 'local alpha_beta = 12'
t send-keys -l 'alpha_'; send Tab; wait_typed alpha_beta; t send-keys -l ' + 1'; send Enter
wait_for "13"
t send-keys -l ':tim'; send Tab Tab
wait_for ":timeit"
send C-u

clear_screen
interrupt 'while true do end'
wait_for "interrupted"
line '"still" .. " here"'
wait_for '"still here"'
interrupt 'if dt.rank() == 2 then while true do end end'
wait_for "interrupted"
line '"and" .. " here"'
wait_for '"and here"'
interrupt 'coroutine.wrap(function() while true do end end)()'
wait_prompt
line '"back from" .. " it"'
wait_for '"back from it"'
interrupt 'while true do coroutine.resume(coroutine.create(function() while true do end end)) end'
wait_prompt
line '"and from" .. " these"'
wait_for '"and from these"'
# In a finalizer Lua turns hooks off.
interrupt 'setmetatable({}, {__gc = function() while true do end end}) collectgarbage()'
wait_prompt
line '"and from" .. " its end"'
wait_for '"and from its end"'

clear_screen
line 'for i = 1, 2 do'
wait_for "..>"
line 'print("loop" .. i)'
line 'end'
wait_for "loop2"
t set-buffer "local pasted = 5
print(pasted * 100 + 1)"
t paste-buffer -p; sleep 0.5; send Enter
wait_for "501"

t resize-window -x 50 -y 20; sleep 0.6
line 'string.rep("ab", 30)'
wait_for "ababababab"
line '1111 * 2'
wait_for "2222"

send_eof
wait_for "shell>"
code_is 0
same_tty

line "mpirun -n 2 $DTREPL -q"
wait_for "dt>"
send Up; send Enter
wait_for "2222"
line ':quit 3'
code_is 3
same_tty
# Ctrl-C before the first prompt stops the program, not mpirun.
printf 'print("go" .. "es")\nlocal x = dt.ones(2)\nwhile true do x = x + 1 end\n' >"$tmp/loop.lua"
line "mpirun -n 2 $DTREPL -q -i $tmp/loop.lua"
wait_for "goes"
send C-c
wait_for "Ctrl-C"
line '"after" .. " it"'
wait_for '"after it"'
line ':quit 4'
code_is 4
same_tty
check "history is private" test "$(stat -c %a "$tmp/state/dtrepl/history")" \
  = 600
done_testing
