#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=torch timeout=900 tags=slow
# Every script of tests/findings, as :export torch and :report write it where it
# has ended or stopped: PyTorch raises the same error, or shows the numbers that
# dtrepl had.  Every fourth one, as each starts PyTorch twice; EVERY=1 takes all.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
PYTHON=${DTREPL_PYTHON:-python3}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cases="python3 $here/tests/repl/exported_cases.py"
. "$here/tests/repl/warm_python.inc"
cd "$here" || exit 1
files=${*:-failing others uneven byhand traps}
names=$($cases cut "$tmp" $(for f in $files; do echo "tests/findings/$f.lua"; done))
list= count=0
for n in $names; do
  count=$((count + 1))
  [ $((count % ${EVERY:-4})) = 0 ] || continue
  printf '%s\n' ":export torch $tmp/$n.py" ":report $tmp/$n.md" |
    "$DTREPL" -n 4 --trust -i "$tmp/$n.lua" > "$tmp/$n.log" 2>&1
  grep -q '^no case' "$tmp/$n.log" && continue
  [ -s "$tmp/$n.py" ] || continue
  list="$list $tmp/$n.py"
  sed -n '/^```python$/,/^```$/p' "$tmp/$n.md" | sed '/^```/d' > "$tmp/$n-report.py"
  if cmp -s "$tmp/$n.py" "$tmp/$n-report.py"; then rm "$tmp/$n-report.py"
  else
    cp "$tmp/$n.log" "$tmp/$n-report.log"
    list="$list $tmp/$n-report.py"
  fi
done
for script in $list; do
  timeout 120 "$PYTHON" "$script" >"$script.out" 2>"$script.err"
done
$cases compare $list
