#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=240 torch=2.15
# Programs of two ranks that print the same lines here as under PyTorch 2.15:
# tests/repl/ranks has each with what its ranks printed, sorted (in a folder
# with a copy of X.py alone: torchrun --nproc-per-node 2 --redirects 1
# --log-dir logs X.py; sort logs/*/*/*/stdout.log >X.out writes it again).
here=$(cd "$(dirname "$0")" && pwd)
DTREPL=${DTREPL:-$here/../../build/dtrepl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
for f in "$here"/ranks/*.py; do
  name=$(basename "$f" .py)
  cp "$f" .
  if out=$("$DTREPL" -n 2 --raw --quiet "$name.py" 2>errors |
           sed -E 's/^\[[0-9]+\] ?//' | LC_ALL=C sort |
           diff "${f%.py}.out" -); then
    echo "ok - $name"; passed=$((passed + 1))
  else
    echo "not ok - $name"; failed=$((failed + 1))
    { echo "$out"; head -20 errors; } | sed 's/^/    | /'
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
