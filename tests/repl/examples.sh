#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick timeout=120
# The example of each command of the debugger runs: in a script that is
# stopped, run twice, with a breakpoint.  Also as data: --json.
: "${DTREPL:=$PWD/build/dtrepl}"
here=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cp "$here/tests/debug/fixtures/loop.lua" "$tmp/repro.lua"
cd "$tmp" || exit 1
passed=0 failed=0

names=$(printf ':help\n' | "$DTREPL" -n 1 --no-rc |
  awk '/^(debugging|breakpoints|time)$/ {on = 1; next} /^$/ {on = 0}
       on && /^  :/ {print substr($1, 2)}')

# session NAME EXAMPLE: what leads to the example, and out again.
session () {
  case $1 in
    run|source) printf '%s\n:kill\n' "$2" ;;
    down) session up ":up\n$2" ;;
    *) printf ':run repro.lua\n:rerun to #6\n:break op aten.mm*\n%b\n:kill\n' \
         "$2" ;;
  esac
}

for name in $names; do
  example=$(printf ':help %s\n' "$name" | "$DTREPL" -n 1 --no-rc |
    sed -n 's/^Example: //p')
  if [ -z "$example" ]; then
    echo "not ok - :$name has no example"; failed=$((failed + 1)); continue
  fi
  out=$(session "$name" "$example" | "$DTREPL" -n 4 --no-rc 2>&1 |
    grep -v 'nothing is stopped')
  json=$(session "$name" "$example" | "$DTREPL" -n 4 --no-rc --json \
    2>/dev/null | grep "\"cmd\":\"$name\"" | head -n 1)
  if echo "$out" | grep -q '^DT0'; then
    echo "not ok - $example"; echo "$out" | sed 's/^/    | /'
    failed=$((failed + 1))
  elif [ -z "$json" ]; then
    echo "not ok - $example as JSON"; failed=$((failed + 1))
  else
    echo "ok - $example"; passed=$((passed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 25 ]
