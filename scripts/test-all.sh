#!/bin/sh
# SPDX-License-Identifier: MIT
# test-all.sh [--full|--nightly|--quick|--only asan|ubsan|tsan]: build what
# the suites need, run them, end with one line "N passed, N failed, N
# skipped" over all of them.  A suite that does not build is one failure.
cd "$(dirname "$0")/.." || exit 2
build=${B:-build}
lua=${LUA:-lua5.4}
sums=$build/sums
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
[ "$jobs" -gt 8 ] && jobs=8
mkdir -p "$sums" && rm -f "$sums"/*
extra=
left_out=

began=$(date +%s)
title () { printf '\n# ==== %s (after %d s)\n' "$*" $(($(date +%s) - began)); }

# count SUITE PASSED FAILED SKIPPED
count () { echo "$2 $3 $4" >"$sums/$1"; }

# step SUITE COMMAND...: one pass or one failure.
step () {
  suite=$1; shift
  if "$@" >"$build/$suite.log" 2>&1; then
    echo "ok - $suite"; count "$suite" 1 0 0
  else
    echo "not ok - $suite"; tail -n 25 "$build/$suite.log" | sed 's/^/    /'
    echo "# again: $*"; count "$suite" 0 1 0
    return 1
  fi
}

# suite NAME BUILD-DIR "make variables" runner options...
suite () {
  name=$1 dir=$2 vars=$3; shift 3
  title "$name"
  # shellcheck disable=SC2086
  step "build-$name" make -j"$jobs" --no-print-directory B="$dir" $vars \
    test-programs || return
  rm -f "$sums/build-$name"
  # One more than there are cores: many tests wait for half of their time.
  $lua scripts/run-tests.lua --build "$dir" --jobs $((jobs + 1)) \
    --summary "$sums/$name" $extra "$@"
  [ -s "$sums/$name" ] || count "$name" 0 1 0
}

plain () { suite tests "$build" "" "$@"; }
sanitizer () {                # NAME gcc's-names: the quick set in a test build
  suite "$1" "$build/$1" "SANITIZER=$2 TESTMODE=1" --quick --testmode \
    --sanitizer "$2"
}
faults () {
  title "failing allocations"
  tests/fault/run.sh "$build/$1" "$sums/fault" "${2:-quick}"
}
checks () {
  title "checks"
  for c in layers headers source generated docs; do
    case $c in
      layers) step layers $lua scripts/check-layers.lua ;;
      headers) step headers $lua scripts/check-headers.lua ;;
      source) step source scripts/check-source.sh ;;
      generated) step generated scripts/check-generated.sh ;;
      docs) step docs make -s -j"$jobs" B="$build" docs-check ;;
    esac
  done
}

# Memory checks under MPI, where the sanitizers and libmpi quarrel.
memcheck () {
  title "valgrind under mpirun"
  supp=$(ls /usr/share/openmpi/openmpi-valgrind.supp 2>/dev/null)
  for script in toy_mlp npu_attention; do
    step "valgrind-$script" env OMPI_ALLOW_RUN_AS_ROOT=1 \
      OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 valgrind \
      -q --error-exitcode=99 ${supp:+--suppressions=$supp} \
      "$build/dtrepl" "lua/examples/$script.lua"
  done
}

# PyTorch for the suites that compare with it, in a folder of its own; its
# python, or why there is none, goes to a file each.
fetch_torch () {
  # By its whole path: tests change their folder.
  own=$(cd "$build" && pwd)/venv/bin/python
  for py in python3 "$own"; do
    if "$py" -c 'import torch, sys
sys.exit(not torch.__version__.startswith("2.13.0"))' 2>/dev/null; then
      echo "$py" >"$build/torch.python"; return
    fi
  done
  if python3 -m venv "$build/venv" >"$build/venv.log" 2>&1 &&
     "$build/venv/bin/pip" install -q torch==2.13.0 numpy \
       >>"$build/venv.log" 2>&1; then
    echo "$own" >"$build/torch.python"
  else
    echo "pip could not install torch==2.13.0" >"$build/torch.missing"
  fi
}
# Minutes of downloading and unpacking, beside the checks and the first build.
begin_torch () {
  rm -f "$build/torch.python" "$build/torch.missing"
  if scripts/setup.sh full; then fetch_torch &
  else echo "no python" >"$build/torch.missing"; fi
}
await_torch () {
  wait
  if [ -s "$build/torch.python" ]; then
    DTREPL_PYTHON=$(cat "$build/torch.python"); export DTREPL_PYTHON
    extra="--full"
  else
    left_out="$left_out PyTorch($(cat "$build/torch.missing"))"
  fi
}

case ${1:-} in
  --quick)
    plain --quick ;;
  --only)
    case ${2:-} in
      asan) sanitizer asan address; faults asan ;;
      ubsan) sanitizer ubsan undefined ;;
      tsan) sanitizer tsan thread ;;
      *) echo "test-all: no such suite" >&2; exit 2 ;;
    esac ;;
  ''|--full|--nightly)
    if [ "${1:-}" = --nightly ]; then scripts/setup.sh nightly; fi
    if [ -n "${1:-}" ]; then begin_torch; fi
    checks
    if [ -n "${1:-}" ]; then await_torch; fi
    [ "${1:-}" = --nightly ] && extra="$extra --nightly"
    plain
    # ASan and UBSan live together in one build: half the time.
    sanitizer asan address,undefined
    if [ "${1:-}" = --nightly ]; then faults asan all; else faults asan; fi
    sanitizer tsan thread
    if [ "${1:-}" = --nightly ]; then
      memcheck
      title fuzz; step fuzz scripts/fuzz.sh 300
      title coverage; step cov scripts/cov.sh
      suite nompi "$build/nompi" "MPI=0" --quick
    fi ;;
  *) echo "usage: test-all.sh [--full|--nightly|--quick|--only SUITE]" >&2
    exit 2 ;;
esac

title done
[ -n "$left_out" ] && printf '\n# left out:%s\n' "$left_out"
cat "$sums"/* 2>/dev/null | {
  passed=0 failed=0 skipped=0
  while read -r p f s; do
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  done
  [ $((passed + failed)) = 0 ] && failed=1       # nothing ran at all
  printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
  [ $failed = 0 ]
}
