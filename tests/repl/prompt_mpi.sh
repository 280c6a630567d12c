#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=180
# The prompt over four real ranks: editing, history, several lines, Ctrl-C,
# leaving; and the terminal afterwards.
. tests/repl/term.inc

term_start "mpirun -n 4 $DTREPL"
check "a prompt" term_prompt 30
term_line '1 + 41'
check "an expression prints" term_wait '^42$'
term_line '@all dt.rank()'
check "all ranks answer" term_wait '\[?3\]?'
term_prompt
term_keys -l 'print("helo")'; term_keys Left Left Left; term_keys -l l
term_keys Enter
check "a line can be edited" term_wait '^hello$'
term_prompt
term_line "print(77 * 2)"; term_wait "^154$"; term_prompt
term_keys Up; term_keys BSpace BSpace; term_keys -l "3)"; term_keys Enter
check "history" term_wait "^231$"
term_prompt
term_line 'for i = 1, 2 do'
term_line '  print("again", i)'
term_line 'end'
check "several lines" term_wait '^again	? *2$'
term_prompt
term_keys -l 'x = 12'; term_keys C-c
check "Ctrl-C drops the line" term_prompt
term_line 'print(x)'
check "and nothing ran" term_wait '^nil$'
term_prompt
term_line 'while true do local y = dt.ones(4) + 1 end'
sleep 1
term_keys C-c
check "Ctrl-C stops a running loop" term_wait '[Ii]nterrupt' 10
check "and the session lives" term_prompt
term_line '2 + 2'
check "and answers" term_wait '^4$'
term_prompt
term_keys C-d
check "Ctrl-D leaves, the terminal is sane" term_sane
check "with status 0" [ "$(term_exit)" = 0 ]
term_done
