#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60
# A fix that is a call, with the program's own names: the finding prints it, and
# with it in the program, after the line that makes what it names, nothing is said.
pairs=$(cd "$(dirname "$0")/../findings/pairs" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -12 out; fi
}
# fixed NAME LINE FIX: LINE is the text that makes it
fixed () {
  cp "$pairs/$1.py" "$1.py"
  echo ":findings" | timeout 100 "$DTREPL" -i "$1.py" >out 2>&1
  grep -F "PyTorch  $3 before it is used" out >/dev/null
  ok "$1: $3" $?
  awk -v text="$2" -v fix="$3" '{ print }
    NR > 1 && index($0, text) { match($0, /^ */); print substr($0, 1, RLENGTH) fix }' \
    "$pairs/$1.py" >"$1.py"
  timeout 100 "$DTREPL" "$1.py" >/dev/null 2>out </dev/null
  ok "$1: mended" "$([ ! -s out ]; echo $?)"
}
fixed barlow "c = za.t()" "dist.all_reduce(c, op=dist.ReduceOp.AVG)"
fixed vocab_entropy "weighted = " "dist.all_reduce(weighted)"
fixed moe_load_loss_local "f = " "dist.all_reduce(f, op=dist.ReduceOp.AVG)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
