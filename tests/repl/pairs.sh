#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=900
# Programs of tests/findings/pairs: silently wrong ones, where the finding must
# be told unasked at its line with its tensor, and their right twins, of which
# nothing may be said.  The first line of each says what is to be found:
#   # CODE TENSOR at: TEXT OF THE LINE      or      # nothing
here=$(cd "$(dirname "$0")/../findings/pairs" && pwd)
. "$here/../../repl/twins.inc"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -8 err; fi
}
silent () {
  timeout 100 "$DTREPL" "$1" >out 2>err </dev/null
  ok "$2: runs" $?
  ok "$2: nothing is said" "$([ ! -s err ]; echo $?)"
}
for f in "$here"/*.py "$here"/*.lua; do
  kind=${f##*.}
  name=$(basename "$f" ".$kind")
  head=$(head -1 "$f" | sed 's/^--/#/')
  if [ "$head" = "# nothing" ]; then
    silent "$f" "$name"
    continue
  fi
  code=$(echo "$head" | cut -d' ' -f2)
  tensor=$(echo "$head" | sed 's/^# [^ ]* \(.*\) at: .*/\1/')
  text=$(echo "$head" | sed 's/^.* at: //')
  line=$(grep -nF -- "$text" "$f" | sed 1d | head -1 | cut -d: -f1)
  cp "$f" "wrong.$kind"
  timeout 100 "$DTREPL" "wrong.$kind" >out 2>err </dev/null
  ok "$name: runs" $?
  grep -F "$code wrong.$kind:$line $tensor: " err >/dev/null
  ok "$name: $code at line $line, $tensor" $?
  twin_of "$f" >"right.$kind"
  silent "right.$kind" "$name, right"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
