#!/bin/sh
# SPDX-License-Identifier: MIT
# check-source.sh: titled searches for what must not be in the sources.
cd "$(dirname "$0")/.." || exit 2
all=$(mktemp) || exit 2
trap 'rm -f "$all"' EXIT

# title "WHAT" and the offending lines on stdin; none is fine.  It stands at
# the end of pipes, where a variable set would be lost: a file remembers.
none () {
  found=$(cat)
  [ -z "$found" ] && return
  { echo "== $1"; echo "$found" | head -n 20; } | tee -a "$all"
}

below_repl=$(ls src/*/*.c src/*/*.h 2>/dev/null | grep -v '^src/repl/')
ours=$(find src lua scripts tests .ci Makefile README.md .luacheckrc \
  -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.ops' -o -name '*.lua' -o -name '*.sh' \
  -o -name '*.py' -o -name '*.exp' -o -name '*.dt' -o -name Makefile \
  -o -name '*.md' -o -path '.ci/*' -o -name .luacheckrc \) 2>/dev/null |
  grep -v '^tests/parity/.*/')

git ls-files 2>/dev/null | cut -d/ -f1 | sort -u |
  grep -vE '^(src|lua|scripts|tests|Makefile|README\.md|\..*)$' |
  none "at the top level is src, lua, scripts, tests, Makefile, README.md"

# Strings and comments are not calls: drop them, keep the line numbers.
calls () {
  awk '
      FNR == 1 { inside = 0 }
      { line = $0
        if (inside) { if (!sub(/^.*\*\//, "", line)) next; inside = 0 }
        gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
        gsub(/\/\*.*\*\//, "", line)
        if (sub(/\/\*.*$/, "", line)) inside = 1
        if (line ~ re) print FILENAME ":" FNR ": " $0 }' re="$1" $below_repl
}

calls '(^|[^A-Za-z0-9_.>])(printf|fprintf|puts|putchar|perror|vprintf|vfprintf) *\(' |
  none "the engine never prints"
calls '(^|[^A-Za-z0-9_.>])(exit|_exit|abort|assert|longjmp|setjmp) *\(' |
  none "the engine never exits, aborts, asserts or jumps"
calls '(^|[^A-Za-z0-9_.>])(malloc|calloc|realloc|free|strdup|strndup) *\(' |
  grep -v '^src/base/' | grep -v '^src/comm/threads' |
  none "allocation goes through base/mem.h"
calls '(^|[^A-Za-z0-9_.>])(rand|srand|random|drand48) *\(' |
  none "random numbers come from base/rng.h"
grep -nE '(^|[^A-Za-z0-9_])(sprintf|strcpy|strcat|gets) *\(' $(ls src/*/*.[ch]) \
  2>/dev/null | none "unbounded string functions"

# Written in two halves, so that this file does not find itself.
t1=TO; t2=FIX; t3=XX; t4=HA
grep -nwE "${t1}DO|${t2}ME|${t3}X|${t4}CK" $ours 2>/dev/null |
  none "unfinished places"
grep -nE "/(ro""ot|wo""rk|ho""me)/[a-z]" $ours $(find tests -name '*.txt') 2>/dev/null |
  none "paths of one machine"
grep -l 'tests\.lua\.lib\.check' $(echo "$ours" | grep '^tests/.*\.lua$') |
  xargs grep -L 'finish *(' | none "tests that count checks and never tell"
grep -nP '\t' $(ls src/*/*.[ch] src/*/*.def src/*/*.ops 2>/dev/null) \
  $(find lua scripts -name '*.lua' 2>/dev/null) 2>/dev/null | none "tabs"
grep -nE '[[:space:]]+$' $(ls src/*/*.[ch] src/*/*.def src/*/*.ops 2>/dev/null) \
  $(find lua scripts -name '*.lua' -o -name '*.sh' 2>/dev/null) 2>/dev/null |
  none "spaces at the end of a line"

awk 'FNR == 1 { if (file != "" && !has) print file; file = FILENAME; has = 0 }
  /SPDX-License-Identifier: MIT/ { has = 1 }
  FNR == 3 { nextfile }
  END { if (!has) print file }' $(echo "$ours" | grep -vE '\.(md|dt)$') |
  none "no SPDX line in the first three"

wc -l $(ls src/*/*.[ch] 2>/dev/null) $(find lua -name '*.lua' 2>/dev/null) |
  awk '$1 > 1200 && $2 != "total" { print $2 ": " $1 " lines" }' |
  none "files longer than 1200 lines"

# A function body begins with a line ending in "{" in column 0's definition
# and ends with "}" in column 0.  Tables (= {) are exempt.
awk '
    FNR == 1 { start = head = 0 }
    /^[A-Za-z_].*\) *\{ *$/ || (/^ .*\) *\{ *$/ && head) { start = FNR }
    { head = ($0 ~ /^[A-Za-z_].*\([^;]*$/) ||
             (head && $0 ~ /^ / && $0 !~ /[;{}]/) }
    /^\}/ { if (start && FNR - start > 120)
              print FILENAME ":" start ": " FNR - start " lines"
            start = 0 }' $(ls src/*/*.c 2>/dev/null) |
  none "functions longer than 120 lines"

# A document that is cited can be read: its path is that of the tree, or it
# stands beside.
grep -rnoE '[A-Za-z][A-Za-z_/0-9.]*[A-Za-z0-9]\.md\b' src lua |
  while IFS=: read -r file n name; do
    [ -e "$name" ] || [ -e "${file%/*}/$name" ] || echo "$file:$n: $name"
  done | none "documents cited that are not in the tree"

[ -s "$all" ] && exit 1
echo "no violations"
