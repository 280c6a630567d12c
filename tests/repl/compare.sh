#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=200
# dtrepl --compare WORLD,WORLD[,WORLD]: one program in several worlds, what
# differs, and the exit codes: 0 nothing, 3 something, 2 wrong usage, 1 not run.
: "${DTREPL:=$PWD/build/dtrepl}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -40 out err; fi
}
run () { timeout 100 "$DTREPL" "$@" >out 2>err </dev/null; code=$?; }
has () { ok "$1" "$(grep -qF -- "$2" out; echo $?)"; }
ends () { ok "$1" "$([ $code = "$2" ]; echo $?)"; }

cat >alike.lua <<'P'
-- dtrepl: ranks=2
local mesh = dt.init_device_mesh("cpu", {2}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.randn(8, 4), mesh, "S(0)")
local y = x:matmul(dt.distribute_tensor(dt.randn(4, 8), mesh, "R"))
print(y:redistribute(mesh, "R"):sum())
P
cat >values.lua <<'P'
local x = dt.distribute_tensor(dt.ones(4, 4), dt.init_device_mesh("cpu", {2}), "S(0)")
local y = x * (os.getenv "OMPI_COMM_WORLD_SIZE" and 3 or 2)
P
cat >moves.lua <<'P'
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)")
if os.getenv "OMPI_COMM_WORLD_SIZE" then x = x:redistribute(mesh, "R") end
P
printf 'local x = dt.ones(2)\nif x:sum():item() > 1 then x = x * 2 end\n' >asks.lua

run --compare threads,fake alike.lua
ends "threads and the pretended world: alike" 0
has "said so" "threads and fake: nothing differs"
has "with its bytes" "bytes             "
run --compare threads,fake -n 2 asks.lua
ends "the pretended world has no numbers" 3
has "where it went another way" "asks.lua:2  aten._local_scalar_dense.default"
run --compare threads,moon alike.lua
ends "no such world" 2
ok "by name" "$(grep -q 'no world moon' err; echo $?)"
run --compare threads alike.lua
ends "one world" 2
run --compare threads,fake nowhere.lua
ends "a program that is not there" 1
run --across 2.13 alike.lua
ends "one release" 2
if command -v mpirun >/dev/null 2>&1 && [ -z "$DTREPL_SANITIZER" ]; then
  run --compare threads,mpi,fake alike.lua
  ends "three worlds: alike" 0
  has "the second" "threads and mpi: nothing differs"
  has "the third" "threads and fake: nothing differs"
  run --compare threads,mpi -n 2 values.lua
  ends "numbers" 3
  has "the first of them" "1 difference, the first at values.lua:2"
  has "what" "others: arguments differ; result 0 holds other values"
  run --compare threads,mpi -n 2 moves.lua
  ends "collectives" 3
  has "what is sent" "moves.lua:3  dtensor.redistribute"
  run --compare mpi,threads --json -n 2 moves.lua
  has "as JSON" '"mpi":"called","threads":"not called"'
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
