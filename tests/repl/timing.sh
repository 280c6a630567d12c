#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick timeout=60
# :timing tells how long the program ran from a stop to the next and to its end.
: "${DTREPL:=$PWD/build/dtrepl}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/prog.lua" <<'EOF'
local x = dt.ones(4)
local function turn (seconds)
  local from = os.clock()
  while os.clock() - from < seconds do end
end
turn(0.05)
local y = x * 2
turn(0.1)
EOF
cat >"$tmp/lines" <<'EOF'
:timing on
:break op aten.mul*
:c
x
:c
EOF
"$DTREPL" -n 1 -q -d "$tmp/prog.lua" <"$tmp/lines" 2>&1 |
  sed -n 's/^\([0-9.]*\) ms$/\1/p' >"$tmp/ms"
ran () {                        # LINE OF THE TIMES, AT LEAST SO MANY MS
  sed -n "$1p" "$tmp/ms" | awk -v least="$2" '{ exit !($1 >= least) }'
}
passed=0 failed=0
check () {
  what=$1; shift
  if "$@"; then
    passed=$((passed + 1)); echo "ok - $what"
  else
    failed=$((failed + 1)); echo "not ok - $what"; sed 's/^/    | /' "$tmp/ms"
  fi
}
check "each line has its time" test "$(wc -l <"$tmp/ms")" = 5
check "to the next stop" ran 3 50
check "a line at the stop has its own" eval '! ran 4 100'
check "to the end" ran 5 100
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
