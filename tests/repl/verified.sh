#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=900 tags=slow
# --verify of programs that are right, a spread of the examples, of
# tests/findings/right and of the twins of tests/findings/pairs: nothing is said
# to be wrong, every rank's path is taken for legal, and what was compared and
# what was not is said.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/repl/twins.inc"
EVERY=9
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; tail -4 out; head -4 err; fi
}
verified () {
  timeout 200 "$DTREPL" --verify "$1" >out 2>err </dev/null
  ok "$2: nothing is wrong" $?
  grep -Eq '^(\[[0-9,-]+\] *)?verify: ([0-9]+ exact,.* 0 wrong|nothing to compare)' out
  ok "$2: says what it compared" $?
  grep -q '^DT05' err
  ok "$2: no rank waits for another" "$([ $? = 1 ]; echo $?)"
}
n=0
for f in "$root"/lua/examples/t*.lua "$root"/tests/findings/right/*.py \
    "$root"/tests/findings/pairs/*; do
  n=$((n + 1))
  case $f in
    # only some ranks are in a group
    */examples/* | */hier_reduce.py) ;;
    # steps of each rank alone; a state that only rank 0 was given
    */diloco_diffusion.py | */hsdp_lora_tokens.py) ;;
    *) [ $((n % EVERY)) = 0 ] || continue ;;
  esac
  twin_of "$f" >"${f##*/}"
  verified "${f##*/}" "${f##*/}"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
