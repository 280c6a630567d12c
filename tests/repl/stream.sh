#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick
# What ranks print is shown while they run: each program prints, then waits for a
# file that is made only when its line has been read.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

check () {                      # NAME GOT WANTED
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1)); echo "ok - $1"
  else
    failed=$((failed + 1)); echo "not ok - $1"
    printf '%s\n' "$2" | sed 's/^/    > /'
    echo "    wanted:"; printf '%s\n' "$3" | sed 's/^/    > /'
  fi
}

cat > wait.lua <<'END'
function await(name)
  local f
  repeat f = io.open(name) until f
  f:close()
end
END

# lives NAME FIRST REST COMMAND...: FIRST is read while the program waits.
lives () {
  name=$1 first=$2 rest=$3; shift 3
  rm -f go fifo; mkfifo fifo
  "$@" > fifo 2> err < /dev/null & pid=$!
  exec 3< fifo
  got=$(timeout 60 head -n "$(printf '%s\n' "$first" | wc -l)" <&3)
  touch go
  check "$name: at once" "$got" "$first"
  check "$name: the rest" "$(cat <&3)" "$rest"
  exec 3<&-
  wait $pid
}
# head must not take more than it shows.
if [ "$(printf 'a\nb\n' | (head -n 1 > /dev/null; cat))" != b ]; then
  head () { n=$2; while [ "$n" -gt 0 ] && IFS= read -r l; do
      printf '%s\n' "$l"; n=$((n - 1)); done; }
fi

cat > all.lua <<'END'
require "wait"
print("begin")
await("go")
print("end", dt.rank() % 2)
END
lives "one rank" begin "end	0" "$DTREPL" -n 1 all.lua
lives "threads" begin "[0,2] end	0
[1,3] end	1" "$DTREPL" -n 4 all.lua
# (Sanitizers and libmpi quarrel.)
has_mpi () {
  ! grep -qE '__[at]san_init' "$DTREPL" &&
    [ -e "$(dirname "$DTREPL")/dtrepl-mpi.so" ] && command -v mpirun > /dev/null
}
has_mpi && lives "mpi" begin "[0] end	0
[1] end	1" mpirun -n 2 "$DTREPL" all.lua
lives "a pretend world" begin "end	0" "$DTREPL" --fake 4 all.lua
lives "another than rank 0" "[1] begin" "[1] end	1" \
  "$DTREPL" -n 2 --raw -e 'require "wait"
if dt.rank() == 1 then print("begin") await("go") print("end", 1) end'

cat > first.py <<'END'
import torch, os
import torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(3):
    t = torch.ones(1)
    dist.all_reduce(t)
    if rank == 0:
        print("step", step)
print("ranks", rank)
dist.barrier()
while not os.path.exists("go"):
    pass
print("bye")
END
want="[0] step 0
    step 1
    step 2
    ranks 0
[1] ranks 1
[2] ranks 2"
lives "rank 0 alone, all past it" "$want" bye "$DTREPL" -n 3 first.py
has_mpi && lives "the same with mpi" "$want" bye mpirun -n 3 "$DTREPL" first.py

# Sections between agreements of all ranks, whatever the clock says.
cat > sections.lua <<'END'
local mesh = dt.init_device_mesh("cpu", {dt.world_size()})
print("a", dt.rank())
dt.DTensor.from_local(dt.ones(1), mesh, {dt.Partial()}):full_tensor()
print("b", dt.rank())
print("common")
END
want="[0] a	0
[1] a	1
[0] b	0
[1] b	1
common"
for i in 1 2 3 4 5; do
  check "sections, run $i" "$("$DTREPL" -n 2 sections.lua)" "$want"
done

for i in 1 2 3 4 5; do
  check "rank by rank, run $i" "$("$DTREPL" --raw -n 3 -e 'print("a")
    if dt.rank() == 0 then for i = 1, 300000 do end end print("b")')" "[0] a
[0] b
[1] a
[1] b
[2] a
[2] b"
done

# More than a ring holds; nothing is lost, and its order stays.
cat > much.lua <<'END'
for i = 1, 20000 do print("line", i) end
print("rank", dt.rank())
END
want=$({ awk 'BEGIN { for (i = 1; i <= 20000; i++) print "line\t" i }'
  printf '[0] rank\t0\n[1] rank\t1\n[2] rank\t2\n'; } | cksum)
check "much" "$("$DTREPL" -n 3 much.lua | cksum)" "$want"
check "a line longer than a ring" \
  "$("$DTREPL" -n 2 -e 'print(("x"):rep(100000))' | wc -c)" 100001

# A program that begins again with more ranks says it once.
cat > grows.py <<'END'
import torch.multiprocessing as mp
import torch.distributed as dist
def work(rank, n):
    if rank == n - 1:
        print("last", rank)
if __name__ == "__main__":
    print("running")
    mp.spawn(work, args=(6,), nprocs=6)
END
check "begun again" "$("$DTREPL" grows.py)" "running
[5] last 5"

# An error on one rank: what was printed before is there.
check "an error after it" "$("$DTREPL" -n 2 -e 'print("before")
if dt.rank() == 1 then print("from 1") error("boom") end' 2>/dev/null)" "before
[1] from 1"

# At a terminal: a loop's lines as they come, behind them the next prompt.
if command -v tmux > /dev/null; then
  before=$passed failed_before=$failed
  . "$here/tests/repl/term.inc"
  passed=$before failed=$failed_before
  term_open
  line "cd $tmp; $DTREPL -n 2"
  wait_for "dt>"
  line 'print("seen " .. 6 * 7) repeat f = io.open("go2") until f print("done " .. 7)'
  wait_for "seen 42"
  gone "done 7"
  : > "$tmp/go2"
  wait_for "done 7"
  send_eof
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
