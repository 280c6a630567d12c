#!/bin/sh
# SPDX-License-Identifier: MIT
# cov.sh: lines that the quick tests reach, per file and in all.
cd "$(dirname "$0")/.." || exit 2
build=${B:-build}/cov
vars="B=$build COV=1 TESTMODE=1"
# shellcheck disable=SC2086
make -j2 --no-print-directory $vars test-programs || exit 1
obj=$(make -s $vars print-obj)
find "$obj" -name '*.gcda' -exec rm -f {} +
${LUA:-lua5.4} scripts/run-tests.lua --build "$build" --obj "$obj" \
  --testmode --quick >"$build/tests.log" 2>&1
tail -n 1 "$build/tests.log"
find "$obj" -name '*.gcda' ! -path '*/unit/*' -exec gcov -n {} + 2>/dev/null |
  awk '/^File/ { f = $2; gsub("\047", "", f) }
       /^Lines executed/ && f ~ /^src\/.*\.c$/ {
         split($0, a, /[:% ]+/); n = $NF; p = a[3]
         if (!(f in seen)) { seen[f] = 1; hit += p * n / 100; all += n
           printf "%6.1f%% of %5d  %s\n", p, n, f } f = "" }
       END { if (all) printf "%6.1f%% of %5d  all\n", 100 * hit / all, all
             else exit 1 }' | sort -k4
