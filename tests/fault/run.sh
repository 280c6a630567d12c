#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh BUILD [SUMMARY] [quick|all]: let every allocation fail in turn, some
# scripts at once.
#
# BUILD holds a test build, best with ASan.  Each tests/fault/*.lua is run
# with DTREPL_FAIL_ALLOC=n: allocation n of each rank and all later ones
# fail.  n grows until the script runs to its end; `quick` takes all n up to
# 24 and then steps of a fifth, `all` every n up to 400 and then steps of a
# fiftieth.  A run must end by itself with status 0 or 1; with 1, saying that
# memory ran out.  Anything else (signal, sanitizer report, hang) is a
# failure.
# With DTREPL_FAIL_RANK=r only rank r fails: the others must not hang.
cd "$(dirname "$0")/../.." || exit 2
build=${1:?build directory}
summary=${2:-/dev/null}
mode=${3:-quick}
out=$build/fault
mkdir -p "$out"
case $build in /*) ;; *) build=$PWD/$build ;; esac
export ASAN_OPTIONS=exitcode=99:detect_leaks=1:allocator_may_return_null=1
export LSAN_OPTIONS=exitcode=99
export UBSAN_OPTIONS=exitcode=99:halt_on_error=1
export XDG_STATE_HOME=$out/state XDG_CONFIG_HOME=$out/config

if [ "$mode" = all ]; then dense=400 part=50; else dense=24 part=5; fi

# try SCRIPT RANK N: 0 = ran to its end, 1 = failed as it should, 2 = bad
try () {
  log=$out/$(basename "$1" .lua)-$2.txt
  DTREPL_FAIL_ALLOC=$3 DTREPL_FAIL_RANK=$2 \
    timeout -k 5 120 "$build/dtrepl" -n 2 "$1" </dev/null >"$log" 2>&1
  status=$?
  case $status in
    0) return 0 ;;
    1) grep -qi 'memory' "$log" && return 1
       why="exit 1 without saying that memory ran out" ;;
    99) why="sanitizer report" ;;
    124) why="hangs" ;;
    *) why="exit $status" ;;
  esac
  echo "not ok - $1 rank ${2:-all} allocation $3: $why"
  tail -n 12 "$log" | sed 's/^/    /'
  echo "# again: DTREPL_FAIL_ALLOC=$3 ${2:+DTREPL_FAIL_RANK=$2 }$build/dtrepl -n 2 $1"
  return 2
}

# every_allocation SCRIPT RANK: one line for each failure, and the counts.
every_allocation () {
  script=$1 rank=$2 passed=0 failed=0 n=1 tried=0 bad=0
  while [ $bad -lt 5 ]; do
    try "$script" "$rank" $n
    case $? in
      0) break ;;
      1) passed=$((passed + 1)) ;;
      2) failed=$((failed + 1)) bad=$((bad + 1)) ;;
    esac
    tried=$((tried + 1))
    if [ $n -lt $dense ]; then n=$((n + 1)); else n=$((n + n / part)); fi
  done
  if [ $tried = 0 ]; then       # nothing failed: the switch is dead
    echo "not ok - $script: no allocation failed; not a test build?"
    failed=$((failed + 1))
  else
    echo "ok - $script rank ${rank:-all}: $tried runs, up to allocation $n"
  fi
  echo "$passed $failed" >"$out/counts-$(basename "$script" .lua)-$rank"
}

if [ -n "$DTREPL_FAULT_SCRIPT" ]; then        # one of those that xargs starts
  every_allocation "$DTREPL_FAULT_SCRIPT" "$4"
  exit 0
fi
rm -f "$out"/counts-*
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
wanted=0
for script in tests/fault/*.lua; do
  for rank in all 1; do
    wanted=$((wanted + 1))
    echo "$script $rank"
  done
done >"$out/list"
xargs -P "$jobs" -L 1 sh -c '
  [ "$5" = all ] && set -- "$1" "$2" "$3" "$4" ""
  DTREPL_FAULT_SCRIPT=$4 tests/fault/run.sh "$1" "$2" "$3" "$5"
' run "$build" "$summary" "$mode" <"$out/list"
set -- $(cat "$out"/counts-* | awk '{p += $1; f += $2} END {print p + 0, f + 0, NR}')
passed=$1 failed=$2
if [ "$3" != $wanted ]; then
  echo "not ok - $3 of $wanted scripts came to an end"
  failed=$((failed + 1))
fi
echo "$passed $failed 0" >"$summary"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
