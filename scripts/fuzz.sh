#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh [SECONDS]: run every fuzz target on its corpus and on mutations of
# it, under ASan and UBSan, for SECONDS each (30).  The corpus of fuzz_x is
# tests/fuzz/corpus/x/.  A crash leaves its input in build/fuzz/x.last; put
# it into the corpus with the fix.  Then every operator gets random arguments,
# on one rank with data and on one of four without: a crash leaves the calls in
# build/fuzz/ops.log, the last one at the end.  Last, files and sessions
# (fuzz-files.lua): what was bad is kept in build/fuzz.
cd "$(dirname "$0")/.." || exit 2
seconds=${1:-30}
build=${B:-build}/asan
out=${B:-build}/fuzz
mkdir -p "$out"
vars="B=$build SANITIZER=address,undefined TESTMODE=1"
# shellcheck disable=SC2086
make -j2 --no-print-directory $vars fuzz-programs || exit 1
obj=$(make -s $vars print-obj)
case $build in
  /*) program=$build/dtrepl ;;
  *) program=$PWD/$build/dtrepl ;;
esac
# Sizes that no memory has are asked for on purpose.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1"
bad=0
for src in tests/fuzz/fuzz_*.c; do
  [ -e "$src" ] || continue
  name=$(basename "$src" .c); name=${name#fuzz_}
  seed=0
  end=$(($(date +%s) + seconds))
  while [ "$(date +%s)" -lt $end ]; do
    seed=$((seed + 1))
    if ! timeout 120 "$obj/fuzz/fuzz_$name" -s $seed -n 20000 \
         -o "$out/$name.last" tests/fuzz/corpus/"$name"/* \
         >"$out/$name.log" 2>&1; then
      echo "not ok - fuzz_$name: input in $out/$name.last"
      tail -n 15 "$out/$name.log" | sed 's/^/    /'
      bad=1
      break
    fi
  done
  [ -e "$out/$name.last" ] && echo "fuzz_$name: $seed rounds of 20000"
done
# shellcheck disable=SC2086
make -j2 --no-print-directory $vars >"$out/make.log" 2>&1 || exit 1
for world in "-n 1" "--fake 4"; do
  seed=$(($(date +%s) % 100000))
  # shellcheck disable=SC2086
  if FUZZ_TRACE=1 "$build/dtrepl" $world --trust tests/ops/fuzz.lua $seed \
       "$seconds" >"$out/ops.log" 2>&1; then
    echo "ops ($world): $(grep '^seed' "$out/ops.log" | tail -n 1)"
  else
    echo "not ok - ops ($world), seed $seed: $out/ops.log"
    tail -n 15 "$out/ops.log" | sed 's/^/    /'
    bad=1
    break
  fi
done
# Sessions, programs, recordings, reports, each in a process of its own.
if ! (cd "$out" && ln -sfn "$OLDPWD/tests" tests &&
      lua5.4 "$OLDPWD/scripts/fuzz-files.lua" "$program" "$seconds"); then
  bad=1
fi
exit $bad
