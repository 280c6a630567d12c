#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick,plain
# Programs of tests, as a test runner runs them: what each test came to, all
# failures, the closing lines and the exit status; modules beside a program.
here=$(cd "$(dirname "$0")" && pwd)
DTREPL=${DTREPL:-$here/../../build/dtrepl}
case $DTREPL in /*) ;; *) DTREPL=$PWD/$DTREPL ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
check () {
  what=$1
  shift
  if out=$("$@" 2>&1); then
    echo "ok - $what"; passed=$((passed + 1))
  else
    echo "not ok - $what"; failed=$((failed + 1))
    echo "$out" | sed 's/^/    | /'
  fi
}

# ran NAME CODE ARGUMENTS...: prints what NAME.out has and exits with CODE.
ran () {
  name=$1 want=$2
  shift 2
  "$DTREPL" "$@" >"$tmp/out" 2>&1 </dev/null
  code=$?
  sed 's/ in [0-9.]*s$/ in 0.000s/' "$tmp/out" >"$tmp/$name"
  [ -n "$DTREPL_BLESS" ] && cp "$tmp/$name" "$name.out"
  check "$name" diff "$name.out" "$tmp/$name"
  check "$name: exit status" test "$code" = "$want"
}

cd "$here/harness" || exit 1
ran outcomes 1 -n 2 outcomes.py
ran ranks 0 -n 2 ranks.py
ran worlds 1 worlds.py
ran private 0 private.py
ran newer 0 newer.py
ran older 0 -n 2 older.py
ran plans 0 plans.py
ran chosen 1 -n 4 outcomes.py -k test_p_ -k '*A.test_q_o*' A
ran one 1 -n 1 outcomes.py B.test_words
ran none 0 -n 1 outcomes.py -k nothing_of_this_name
ran no_such 1 -n 1 outcomes.py A.test_nothing
ran fast 1 -n 1 outcomes.py -f B
ran absent 0 -n 1 absent.py
ran names 0 -n 4 names.py
ran beside 0 -n 2 beside/main.py
ran lacking 1 -n 1 beside/lacking.py
cd "$tmp" || exit 1
"$DTREPL" -n 1 "$here/harness/beside/main.py" >"$tmp/out" 2>&1
check "from another folder" diff "$here/harness/beside.out" "$tmp/out"
"$DTREPL" --sandbox -n 1 "$here/harness/beside/main.py" >"$tmp/out" 2>&1
check "not in the sandbox" test -z "$(grep '^7 other' "$tmp/out")"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
