#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,one_thread timeout=120
# Records in files: of a failed run, opened without the script, compared
# between worlds; cut short, damaged, of another version or no record at all.
: "${DTREPL:=$PWD/build/dtrepl}"
here=$(cd "$(dirname "$0")/../.." && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cp "$here"/tests/debug/fixtures/*.lua "$tmp"
cd "$tmp" || exit 1
passed=0 failed=0
run () { timeout 30 "$DTREPL" --no-rc "$@" 2>&1; }
# is WHAT STATUS TEXT COMMAND...: status and a part of the output
is () {
  what=$1 status=$2 text=$3; shift 3
  out=$(printf '%b' "$input" | run "$@"); st=$?
  if [ $st = "$status" ] && echo "$out" | grep -qF -- "$text"; then
    echo "ok - $what"; passed=$((passed + 1))
  else
    echo "not ok - $what: status $st (wanted $status), output:"
    echo "$out" | sed 's/^/    | /'; failed=$((failed + 1))
  fi
}

input=
is "a failed run is recorded" 1 "DT0101" --record a.dtr mixed.lua
is "a run that ends, too" 0 "total" -e 'dt.ones(1)' --record b.dtr -e \
  'print("total")'
timeout 30 "$DTREPL" --no-rc -n 1 --record same.dtr -e \
  'for i = 1, 8 do x = dt.ones(64, 64):clone() end' >/dev/null 2>&1
size=$(wc -c < same.dtr)              # of 16 tensors of 16 kB, all alike
if [ "$size" -lt 40000 ]; then
  echo "ok - equal values are written once"; passed=$((passed + 1))
else
  echo "not ok - equal values are written once: $size bytes"
  failed=$((failed + 1))
fi
# A buffer that changes in one place, again and again, and ends unevenly.
timeout 30 "$DTREPL" --no-rc -n 1 --record flat.dtr -e 'dt.manual_seed(1)
  flat = dt.randn(100000)
  for i = 0, 31 do flat:narrow(0, 100 * i, 100):copy_(dt.full({100}, i)) end
  b = flat:to(dt.bool):narrow(0, 0, 4001):clone()' >/dev/null 2>&1
size=$(wc -c < flat.dtr)              # 33 times 400 kB that differ by 400 B
if [ "$size" -lt 800000 ]; then
  echo "ok - what changes is written"; passed=$((passed + 1))
else
  echo "not ok - what changes is written: $size bytes"
  failed=$((failed + 1))
fi
input=':goto #20\nflat:narrow(0, 300, 1600):sum():item()\nflat:narrow(0, 3000, 5):mean():item()\n'
is "every value is as it was" 0 "$(timeout 30 "$DTREPL" --no-rc -n 1 -e '
  dt.manual_seed(1)
  flat = dt.randn(100000)
  for i = 0, 5 do flat:narrow(0, 100 * i, 100):copy_(dt.full({100}, i)) end
  print(flat:narrow(0, 300, 1600):sum():item())' | tail -1)" -n 1 --open flat.dtr
# An average of gradients that are views of one buffer: arithmetic says it.
timeout 30 "$DTREPL" --no-rc -n 1 --record views.dtr -e 'dt.manual_seed(1)
  flat, m = dt.randn(100000), dt.zeros(40000)
  for i = 1, 8 do m:lerp_(flat:narrow(0, 50000, 40000), 0.25) end
  z = m:clone()' >/dev/null 2>&1
size=$(wc -c < views.dtr)             # without: nine times 160 kB of noise, 400 kB
if [ "$size" -lt 900000 ]; then
  echo "ok - what views of a buffer say is not written"; passed=$((passed + 1))
else
  echo "not ok - what views of a buffer say is not written: $size bytes"
  failed=$((failed + 1))
fi
input=':goto #7\nm:narrow(0, 77, 1600):sum():item()\n'
is "and read as it was" 0 "$(timeout 30 "$DTREPL" --no-rc -n 1 -e '
  dt.manual_seed(1)
  flat, m = dt.randn(100000), dt.zeros(40000)
  for i = 1, 2 do m:lerp_(flat:narrow(0, 50000, 40000), 0.25) end
  print(m:narrow(0, 77, 1600):sum():item())' | tail -1)" -n 1 --open views.dtr
# What ranks have in common is written once: noise of 400 kB on four ranks.
timeout 60 "$DTREPL" --no-rc -n 4 --record all.dtr -e 'dt.manual_seed(1)
  w = dt.randn(100000)
  x = w + dt.rank()
  x = x:clone()' >/dev/null 2>&1
size=$(wc -c < all.dtr)               # w and rank 0's x, and what is not alike
if [ "$size" -lt 1700000 ]; then
  echo "ok - what ranks share is written once"; passed=$((passed + 1))
else
  echo "not ok - what ranks share is written once: $size bytes"
  failed=$((failed + 1))
fi
input=':goto #3\n@all (x - w):mean():item()\n'
is "each rank has its own" 0 "[3] 3" -n 4 --open all.dtr
# What arithmetic says of the inputs is left out: six operators on noise, NaN in
# it, take the room of one; what is opened has the same bits.
cat > step.lua <<'EOF'
  dt.manual_seed(1)
  local g, m, v, p = dt.randn(50000), dt.zeros(50000), dt.zeros(50000), dt.ones(50000)
  m:lerp_(g, 0.1)
  v:addcmul_(g, g, {value = 0.001})
  local d = (v / 0.001):sqrt():add_(1e-8)
  p:mul_(0.99):addcdiv_(m, d, {value = -0.01})
  local e = (g - 3):sqrt() - m
  local z = dt.ones(1)
  function every_bit()
    local all = dt.cat({m, v, d, p, e}):view(dt.int32)
    return (all:to(dt.int64) * (dt.arange(250000) % 1009)):sum():item()
  end
EOF
bits=$(timeout 30 "$DTREPL" --no-rc -n 1 -e "$(cat step.lua) print(every_bit())")
timeout 30 "$DTREPL" --no-rc -n 1 --record step.dtr step.lua >/dev/null 2>&1
size=$(wc -c < step.dtr)              # nine blocks of 200 kB
if [ "$size" -lt 300000 ]; then
  echo "ok - what can be computed again is not written"; passed=$((passed + 1))
else
  echo "not ok - what can be computed again is not written: $size bytes"
  failed=$((failed + 1))
fi
input=':goto #15\n(dt.cat({m, v, d, p, e}):view(dt.int32):to(dt.int64) * (dt.arange(250000) % 1009)):sum():item()\n'
is "and is there, to the bit" 0 "$bits" -n 1 --open step.dtr
input=':goto #7\n@all x:to_local():sum():item()\n'
is "a record of version 5 is read" 0 "[1] 22.0" --open \
  "$here/tests/debug/fixtures/version5.dtr"
input=':goto #9\nx:sum():item()\n'
is "and read for each" 0 "4096" --open same.dtr
input=
rm mixed.lua
input=':goto #5\nm.shape[1] * m.shape[2]\nmask:sum():item()\n:list\n'
is "opened without the script" 0 "32" --open a.dtr
is "its lines are shown" 0 ">   8    local y = a * m" --open a.dtr
input=':history 1\n'
is "the error is in it" 0 "error DT0101" --open a.dtr
input='dt.debug.complete(":when ma")\n'
is "Tab knows its names" 0 '{"mask", "math"}' --open a.dtr
input=':fix\n'
is "what cannot be repaired is said" 1 "failed, but only its record is here" \
  --open a.dtr
input=':goto #3\nx = 1\n'
is "the past cannot be changed" 1 "the past cannot be changed" --open a.dtr
# The numbers of its tensors are not those of tensors made since.
cat >life.lua <<'END'
local x = dt.randn(8, 8)
local w = dt.ones(8, 8)
local h = x + 1
local y = h:relu()
y:add_(w)
print(y:sum())
END
input=
is "another is recorded" 0 "tensor(" --record life.dtr life.lua
input=':goto #5\nprint(dt.debug.when(x).events[1].op, #dt.debug.when(y).events)\n:when h\n'
is "a tensor of a file knows what made it" 0 "made  #3  aten.add" --open life.dtr
is "and what changed it" 0 "aten.randn.default	3" --open life.dtr
input=":source life.lua\n$input"
is "the same in the program's past" 0 "aten.randn.default	3" -n 4
# Collectives of the script's own, and where its generator was.
cat >raw.lua <<'END'
dt.manual_seed(3)
local x = dt.randn(20)
dt.distributed.all_reduce(x)
local n = dt.distributed.functional.all_gather_tensor(x, 0)
END
input=
is "collectives are recorded" 0 "" --record raw.dtr raw.lua
input=':export torch raw.py\n:record save raw2.dtr\n'
is "and read again" 0 "raw.py" --open raw.dtr
is "which is the same record" 0 "raw.py" --open raw2.dtr
if [ "$(grep -c ' = collective("all_reduce"\| = collective("all_gather"\|^torch.manual_seed(3)$' raw.py)" = 3 ]; then
  echo "ok - an opened record has them"; passed=$((passed + 1))
else
  echo "not ok - an opened record has them"; failed=$((failed + 1))
fi
input=':record open a.dtr\n:record save again.dtr\n'
is "read and written again" 0 "5 operators" -n 4
if cmp -s a.dtr again.dtr; then
  echo "ok - the same bytes"; passed=$((passed + 1))
else
  echo "not ok - the same bytes"; failed=$((failed + 1))
fi
# Wherever the program lies in memory (places of names in tables follow it).
cp "$here"/tests/debug/fixtures/mixed.lua .
for i in 1 2 3 4 5 6; do
  rm -f again.dtr
  run --record again.dtr mixed.lua >/dev/null
  cmp a.dtr again.dtr || break
done >differ.txt 2>&1
rm mixed.lua
if [ -s differ.txt ]; then
  echo "not ok - every run the same bytes: $(cat differ.txt)"
  failed=$((failed + 1))
else
  echo "ok - every run the same bytes"; passed=$((passed + 1))
fi

input=
is "threads" 0 "" --record threads.dtr loop.lua
if [ -e "$(dirname "$DTREPL")/dtrepl-mpi.so" ] && [ -z "$DTREPL_SANITIZER" ]
then
  mpirun -n 4 "$DTREPL" --no-rc --record mpi.dtr loop.lua
  input=':diff threads.dtr mpi.dtr\n'
  is "processes do the same" 0 "no difference in 13 operators"
fi
input=
is "a pretended world" 0 "" --fake 8 --record fake.dtr loop.lua
input=':when\n'
is "opens as one" 0 "of 8 ranks" --open fake.dtr
is "not as another" 1 "--fake 8" -n 2 --open fake.dtr
is "ranks must fit" 1 "is a record of 4 ranks, these are 2" -n 2 --open a.dtr

# What was found is kept, also what only all ranks together know.
cat > found.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {4})
local x = dt.DTensor.from_local(dt.ones(4) + dt.rank(), mesh, "R")
local v = dt.distribute_tensor(dt.ones(8), mesh, "S(0)"):sum():item()
EOF
input=
is "a run with findings" 0 "" --record found.dtr found.lua
rm found.lua
input=':findings\n'
is "they are in the record" 0 "DT1001 T1 wrong" --open found.dtr
is "with their lines" 0 "found.lua:3" --open found.dtr
is "and those of several ranks" 0 "ranks with the same data: [0] [1]" \
  --open found.dtr
input=':record open found.dtr\n:record save found2.dtr\n'
is "written again" 0 "operators" -n 4
input=':findings DT1006\n'
is "and still there" 0 "found.lua:2" --open found2.dtr

input='1\n'
for n in 0 10 30 60 100 600 800; do
  head -c $n a.dtr >cut.dtr
  if [ $n -lt 16 ]; then want="is no record of dtrepl"; else want="is cut short"
  fi
  is "cut to $n bytes" 1 "$want" -n 4 --open cut.dtr
done
cp a.dtr bad.dtr
printf 'XYZ' | dd of=bad.dtr bs=1 seek=400 conv=notrunc 2>/dev/null
is "damaged" 1 "is damaged" --open bad.dtr
cp a.dtr bad.dtr
printf '\011' | dd of=bad.dtr bs=1 seek=16 conv=notrunc 2>/dev/null
is "another version" 1 "is a record of version 9" -n 4 --open bad.dtr
echo "hello, this is a text" >text.dtr
is "no record" 1 "is no record of dtrepl" --open text.dtr
cp text.dtr b.dtr.part
input=':record save b.dtr\n'
is "another's file beside it" 1 "b.dtr.part is there and holds no record" -n 1
is "which stays" 1 "is no record of dtrepl" --open b.dtr.part
rm b.dtr.part
input=
is "no file" 1 "cannot read none.dtr" --open none.dtr
is "no place to write" 1 "cannot write" --record no/such/x.dtr loop.lua
is "no files in the sandbox" 1 "sandbox" --sandbox --open a.dtr
echo "$passed passed, $failed failed"
[ $failed = 0 ]
