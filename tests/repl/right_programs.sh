#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=300
# Programs of tests/findings/right do what looks like one of the faults that are
# told unasked, and are right: a learning rate divided instead of the gradients,
# scores merged by their log-sum-exp, parts in the order of a load balancer.
# Nothing may be said of them.
here=$(cd "$(dirname "$0")/../findings/right" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
for f in "$here"/*.py "$here"/*.lua; do
  name=$(basename "$f")
  if timeout 100 "$DTREPL" "$f" >out 2>err </dev/null && [ ! -s err ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "not ok - $name"; head -8 err
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
