#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=90 tags=quick
# The pager: for a person, for results longer than the screen, and nowhere
# else.
. "$(dirname "$0")/term.inc"
printf '#!/bin/sh\necho paged: $(wc -l) lines\n' >"$tmp/pg"
chmod +x "$tmp/pg"

DTREPL_PAGER=$tmp/pg "$DTREPL" -q -n 4 >"$tmp/out" 2>&1 <<'END'
for i = 1, 90 do print(i) end
END
check "not in a pipe" test "$(wc -l <"$tmp/out")" = 90

term_open 100 30
line "DTREPL_PAGER=$tmp/pg $DTREPL -q -n 4"
wait_for "dt>"
line 'for i = 1, 90 do print("row", i) end'
wait_for "paged: 90 lines"
gone "row	90"
line 'for i = 1, 5 do print("few", i) end'
wait_for "few     5"
line ':set pager off'
line 'for i = 1, 90 do print("all", i) end'
wait_for "all     90"
send_eof
code_is 0
line "DTREPL_PAGER=/nonexistent/pager $DTREPL -q"
wait_for "dt>"
line 'for i = 1, 60 do print("own", i) end'
wait_for "own     60"
send_eof
code_is 0
line "PAGER= $DTREPL -q"
wait_for "dt>"
line 'for i = 1, 60 do print("none", i) end'
wait_for "none    60"

send_eof
code_is 0
same_tty
done_testing
