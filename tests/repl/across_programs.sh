#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=200
# Programs of tests/repl/across, each with something that changed between two
# releases: what --across says they print otherwise is what both PyTorches
# printed, which stands at their ends.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
for file in tests/repl/across/*.py; do
  sed -n 's/^# \(output line\)/\1/p; s/^#   \(2\.[0-9]*  \)/    \1/p' "$file" \
    >"$tmp/want"
  timeout 60 "$DTREPL" --across 2.13,2.15 -n 4 "$file" >"$tmp/out" 2>&1 \
    </dev/null
  code=$?
  awk '/^output line/ {on = 1; print; next} /^$/ {on = 0}
       on && /^    2/ {print}' "$tmp/out" >"$tmp/got"
  if [ $code = 3 ] && [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "not ok - $file (exit $code)"
    diff "$tmp/want" "$tmp/got"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
