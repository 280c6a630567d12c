#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,plain timeout=240
# The example of each command that steps or explains runs, with ranks as threads
# and as processes, as text and as data (--json).  The commands are those that
# :help lists; one without an example is a failure.
: "${DTREPL:=$PWD/build/dtrepl}"
here=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cp "$here/tests/debug/fixtures/loop.lua" "$tmp/repro.lua"
cd "$tmp" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
passed=0 failed=0

names=$(printf ':help\n' | "$DTREPL" -n 1 --no-rc |
  awk '/^(debugging|breakpoints|time|explain)$/ {on = 1; next}
       /^$/ {on = 0}
       on && /^  :/ {print substr($1, 2)}')
names="$names status"
for name in $names; do printf ':help %s\n' "$name"; done |
  "$DTREPL" -n 1 --no-rc | sed -n 's/^Example: //p' >examples
for name in $names; do
  if grep -q "^:$name\( \|$\)" examples; then passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "not ok - :$name has no example"
  fi
done

# Two sessions: a script that is stopped, run twice, with breakpoint 1; and a
# prompt with tensors of the usual names, where a call has failed.
example () { grep "^:$1\( \|$\)" examples; }
explaining="history why fix bt show plan rules ledger explain findings blame types who
 mem grads verify check same report export whatif shrink sweep doctor status"
{
  again=':kill\n:run repro.lua\n:tbreak repro.lua:11\n:continue\n'
  example source
  example run
  printf ":kill\n:break op aten.mm*\n$again"
  for name in $names; do
    case " $(echo $explaining) run kill source delete undisplay " in
      *" $name "*) continue ;;
    esac
    example "$name"
    case $name in                       # the script may have come to its end
      continue|until|finish|line|rerun) printf "$again" ;;
    esac
  done
  example undisplay; example delete; example kill
} >stopped
{
  cat <<'END'
mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
x = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0) R")
w = dt.distribute_tensor(dt.ones(8, 8), mesh, "R S(0)")
mask = dt.ones(8, 8)
y = x:mm(w):relu()
x + mask
END
  for name in $explaining; do example "$name"; done
} >explained

for name in $names; do
  if grep -q "^:$name\( \|$\)" stopped explained; then passed=$((passed + 1))
  else
    failed=$((failed + 1)); echo "not ok - :$name is in no session here"
  fi
done

# runs WORLD SESSION: no example fails, as text and as data.
runs () {
  "$DTREPL" $1 -q --no-rc <"$2" 2>&1 | grep '^\(\[.*\] \)\?DT0' |
    grep -v 'DT0101 mixed\|nothing is stopped' >wrong
  "$DTREPL" $1 -q --no-rc --json <"$2" 2>/dev/null | grep '"cmd":' >json
  grep '"error":{"id"' json | grep -v 'nothing is stopped\|"interrupted"' >>wrong
  if [ -s wrong ]; then
    failed=$((failed + 1)); echo "not ok - dtrepl $1: examples in $2"
    cut -c 1-200 wrong | sed 's/^/    | /'
  else
    passed=$((passed + 1)); echo "ok - dtrepl $1: examples in $2"
  fi
  for name in $names; do
    grep -q "^:$name\( \|$\)" "$2" || continue
    if grep -q "\"cmd\":\"$name\",\"data\":[^n]" json; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1)); echo "not ok - dtrepl $1: :$name gives no data"
    fi
  done
}
for s in stopped explained; do
  runs "-n 4" $s
  # Sanitizers and MPI quarrel.
  if command -v mpirun >/dev/null 2>&1 && [ -z "$DTREPL_SANITIZER" ]; then
    runs "--mpi 4" $s
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 150 ]
