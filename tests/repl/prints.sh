#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,one_thread timeout=600
# Programs that print the same here as under PyTorch 2.15, nearly all as under 2.13: tests/repl/prints
# has each with what PyTorch printed (python3 X.py >X.out writes it again).  The
# quick set runs every third one, a sanitizer every tenth.
here=$(cd "$(dirname "$0")" && pwd)
DTREPL=${DTREPL:-$here/../../build/dtrepl}
every=1
[ -n "$DTREPL_QUICK" ] && every=3
[ -n "$DTREPL_SANITIZER" ] && every=10
passed=0 failed=0 n=0
for f in "$here"/prints/*.py; do
  n=$((n + 1))
  [ $((n % every)) = 0 ] || continue
  name=$(basename "$f" .py)
  if out=$("$DTREPL" -n 1 "$f" 2>&1 | diff "${f%.py}.out" -); then
    echo "ok - $name"; passed=$((passed + 1))
  else
    echo "not ok - $name"; failed=$((failed + 1))
    echo "$out" | sed 's/^/    | /'
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
