#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick,one_thread
# :save, :load and :e: sessions as files.
. "$(dirname "$0")/term.inc"
out=$tmp/out
play () { printf '%b' "$1" | "$DTREPL" -q -n 4 >"$out" 2>&1; code=$?; }
has () { grep -qF -- "$1" "$out"; }

play "x = 3\\nfor i = 1, 2 do\\n  print(i)\\nend\\n:save $tmp/a.dt\\n"
check "says what it saved" has "4 lines in $tmp/a.dt"
cat >"$tmp/want" <<'END'
-- A session of dtrepl; :load runs it again, one line after the other.
x = 3
for i = 1, 2 do
  print(i)
end
END
check "the file holds the lines" cmp -s "$tmp/a.dt" "$tmp/want"

play ":load $tmp/a.dt\\nx + 4\\n:save $tmp/b.dt\\n"
check "loaded lines ran" test "$(head -3 "$out" | tr '\n' ' ')" = "1 2 7 "
printf 'x + 4\n' >>"$tmp/want"
check "loaded lines are saved too" cmp -s "$tmp/b.dt" "$tmp/want"

# A script's files: the working folder may be named whole, what only begins
# like it may not.
mkdir "$tmp/in" "$tmp/into"
(cd "$tmp/in" && play "x = dt.ones(2)\\n:export html $tmp/in/a.html\\n:export html $tmp/into/b.html\\n:export html $tmp/in/../c.html\\n")
check "a page in the working folder, by its whole name" test -s "$tmp/in/a.html"
check "none in a folder beside it" test ! -e "$tmp/into/b.html"
check "none above it" test ! -e "$tmp/c.html"
check "what is refused is told" has "'$tmp/into/b.html' lies outside the working folder"

# Tests' blocks are passed over, errors do not end the file.
cat >"$tmp/c.dt" <<'END'
:testcase one
local n = 5
--[[ a comment
of two lines ]] n = 6
:expect
nothing of this
:end
nosuch.field
@2 n + dt.rank()
:timing off
END
play ":load $tmp/c.dt\\n"
check "the error is told" has "global 'nosuch'"
check "the rest ran" has "[2] 8"
check "the code tells" test "$code" = 1

printf ':load %s\n' "$tmp/d.dt" >"$tmp/d.dt"
play ":load $tmp/d.dt\\n1 + 1\\n:load $tmp/none\\n:save $tmp/no/x\\n:e\\n"
check "a file that loads itself" has "load each other without end"
check "and the session lives" has 2
check "no such file" has "cannot read $tmp/none: No such file"
check "cannot write" has "cannot write $tmp/no/x: No such file"
check "no editor in a pipe" has "an editor needs a terminal"
printf ':save %s/s\n:load %s/a.dt\n' "$tmp" "$tmp" |
  "$DTREPL" -q --sandbox >"$out" 2>&1
check "not in the sandbox" test "$(grep -c 'no files in the sandbox' "$out")" = 2

# A record takes no other file's place: a program given by mistake stays.
printf 'x = 1\n' >"$tmp/program.lua"
play ":record save $tmp/program.lua\n"
check "no record over a program" has "is there and holds no record"
"$DTREPL" -q --record "$tmp/program.lua" "$tmp/a.dt" >"$out" 2>&1
check "nor by --record" has "holds no record: --record writes one"
"$DTREPL" -q --alone "$tmp/program.lua" >"$out" 2>&1
check "nor by --alone" has "holds no record: --alone writes one"
check "the program is as it was" test "$(cat "$tmp/program.lua")" = "x = 1"
# A disk that is full: nothing claims to have written.
if [ -c /dev/full ]; then
  ln -s /dev/full "$tmp/full"
  (cd "$tmp" && printf '%s\n' 'pcall(function() return dt.ones(2) + dt.ones(3) end)' \
    ':save full' ':break mixed' ':break save full' ':export html full' \
    ':report full' ':o full' '20 + 2' ':transcript full' '30 + 3' |
    "$DTREPL" -q -n 4 >"$out" 2>&1)
  check "a full disk, each told" test \
    "$(grep -c 'full: No space left' "$out")" = 4
  check "the file of :o" has "the file of :o cannot be written: No space"
  check "its result is shown" has 22
  check "the transcript" has "the transcript cannot be written: No space"
  check "and the session lives" has 33
  "$DTREPL" -n 2 -e 'print(1)' >/dev/full 2>"$out"
  check "results that are lost: the code" test $? = 1
  check "and the reason" has "results were lost"
fi

# What cannot be written whole leaves what was there, and no piece beside it: a
# limit on files stands for a disk that is full.
mkdir "$tmp/small"
for f in page.html saved breaks out.pt; do
  printf 'old\n' >"$tmp/small/$f"
done
ln -s saved "$tmp/small/link"
chmod 640 "$tmp/small/saved"
(cd "$tmp/small" && trap '' XFSZ && {
  printf '%s\n' 'x = dt.randn(64, 64)' ':export html page.html' \
    ':record save record.dtr' 'dt.save({x}, "out.pt")' ':save saved' \
    ':save link' ':break mixed' ':break save breaks'
  i=0
  while [ $i -lt 400 ]; do echo "y$i = 'a long line that says nothing'"; i=$((i + 1)); done
  echo ':save saved'
} | (ulimit -f 4; "$DTREPL" -q -n 2 2>&1 | cat) >"$out")
check "no page over the old one" test "$(cat "$tmp/small/page.html")" = old
check "no tensors over the old file" test "$(cat "$tmp/small/out.pt")" = old
check "no half of a record" test ! -e "$tmp/small/record.dtr"
check "each was told" test "$(grep -c 'File too large' "$out")" = 5
check "what fits is there, and stays" grep -q randn "$tmp/small/saved"
check "a link stays one" test -L "$tmp/small/link"
check "rights stay" test "$(stat -c %a "$tmp/small/saved")" = 640
check "breakpoints" grep -qx 'break mixed' "$tmp/small/breaks"
check "no pieces" test -z "$(ls "$tmp/small" | grep part)"

# A link to what is not there yet stays one; a name as long as the disk allows; a
# record keeps its rights.
mkdir "$tmp/names"
ln -s later "$tmp/names/link"
long=$(printf 'n%.0s' $(seq 240))
(cd "$tmp/names" && printf '%s\n' 'x = dt.ones(2)' ':save link' ":save $long" \
  ':record save kept.dtr' | "$DTREPL" -q -n 2 && chmod 600 kept.dtr &&
  printf '%s\n' 'x = dt.ones(2)' ':record save kept.dtr' | "$DTREPL" -q -n 2) \
  >"$out" 2>&1
check "a link to nothing stays one" test -L "$tmp/names/link"
check "and leads to what was written" grep -q ones "$tmp/names/later"
check "a long name" grep -q ones "$tmp/names/$long"
check "rights of a record" test "$(stat -c %a "$tmp/names/kept.dtr")" = 600

# A transcript leaves out what steers a terminal, whole, and nothing else.
printf '%s\n' ":transcript $tmp/plain" 'print("\27[?25l1\27[2K2\27[38;5;9m3\27[0m")' \
  'print("4\27[")' 'print("5\27[1")' 'print(6)' | "$DTREPL" -q -n 2 >"$out" 2>&1
check "a plain transcript" test "$(grep -v '^dt>' "$tmp/plain" | tr '\n' ' ')" = \
  "123 4 5 6 "

# An editor that changes 5 into 8.
printf '#!/bin/sh\nsed s/5/8/ "$1" >"$1.new" && mv "$1.new" "$1"\n' \
  >"$tmp/ed"
printf '#!/bin/sh\nexit 3\n' >"$tmp/bad"
chmod +x "$tmp/ed" "$tmp/bad"
term_open
line "EDITOR=$tmp/ed TMPDIR=$tmp $DTREPL -q -n 4"
wait_for "dt>"
line '100 + 5'
wait_for 105
line ':e'
wait_for 108
printf '1000 + 5\n' >"$tmp/f.dt"
line ":e $tmp/f.dt"
wait_for 1008
send_eof
code_is 0
line "VISUAL=$tmp/bad TMPDIR=$tmp $DTREPL -q -n 4"
wait_for "dt>"
line ':e'
wait_for "the editor failed"
send_eof
code_is 0
check "no files left behind" test -z "$(ls "$tmp" | grep dtrepl-)"
same_tty
done_testing
