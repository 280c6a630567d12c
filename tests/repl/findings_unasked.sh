#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,one_thread timeout=120
# What was found in a script is told when it ends: once for all ranks, on the
# error output; exit codes of --strict; --quiet and --fast.
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -20 out err; fi
}
run () { timeout 60 "$DTREPL" "$@" >out 2>err </dev/null; code=$?; }

cat >uneven.py <<'P'
# dtrepl: ranks=4
import torch, torch.distributed as dist
dist.init_process_group("gloo")
torch.manual_seed(0)
part = torch.randn(13, 5).chunk(4)[dist.get_rank()]
mean = part.mean()
dist.all_reduce(mean)
print("done")
P
{ cat uneven.py; echo 'raise ValueError("half way")'; } >dies.py
sed 's/13, 5/12, 5/' uneven.py >even.py
cat >part.lua <<'P'
local x = dt.distribute_tensor(dt.arange(13), dt.init_device_mesh("cpu",
  {dt.world_size()}), {dt.Shard(0)})
if dt.rank() == 0 then print(x:to_local():sum():item()) end
local y = dt.nn.Linear(2, 2)
y:load_state_dict({a = dt.ones({2})}, {strict = false})
P

run uneven.py
ok "exit status stays" "$([ $code = 0 ]; echo $?)"
ok "standard output is the program's" "$([ "$(cat out)" = done ]; echo $?)"
ok "one line with code, file, line" \
  "$([ "$(grep -c '^DT1015 uneven.py:7 ' err)" = 1 ]; echo $?)"
ok "how many" "$(grep -q '^dtrepl: 1 finding$' err; echo $?)"
ok "how to see more" "$(grep -q ':findings.*--strict' err; echo $?)"
run --strict uneven.py
ok "--strict: 3" "$([ $code = 3 ] && grep -q DT1015 err; echo $?)"
run --quiet uneven.py
ok "--quiet: nothing" "$([ $code = 0 ] && [ ! -s err ]; echo $?)"
run --quiet --strict uneven.py
ok "--quiet --strict: 3, nothing said" "$([ $code = 3 ] && [ ! -s err ]; echo $?)"
run --fast --strict uneven.py
ok "--fast: nothing is looked for" "$([ $code = 0 ] && [ ! -s err ]; echo $?)"
run --strict even.py
ok "a right program: nothing" "$([ $code = 0 ] && [ ! -s err ]; echo $?)"
run dies.py
ok "after an error too" \
  "$([ $code = 1 ] && grep -q '^DT1015 dies.py:7 ' err; echo $?)"
run --strict dies.py
ok "an error stays one" "$([ $code = 1 ]; echo $?)"
run -n 4 part.lua
ok "a checkpoint that loads nothing" \
  "$(grep -q '^DT1051 part.lua:5 ' err; echo $?)"
if command -v mpirun >/dev/null 2>&1 && [ -z "$DTREPL_SANITIZER" ]; then
  run --mpi 4 --strict uneven.py
  ok "under mpirun once for all" \
    "$([ $code = 3 ] && [ "$(grep -c '^DT1015' err)" = 1 ]; echo $?)"
fi

# a test that passes has compared its numbers itself; one that fails has findings
cat >tests.py <<'Q'
import unittest
import torch, torch.distributed as dist
dist.init_process_group("gloo")
class Means(unittest.TestCase):
    def test_mean(self):
        torch.manual_seed(0)
        part = torch.randn(13, 5).chunk(4)[dist.get_rank()]
        mean = part.mean()
        dist.all_reduce(mean)
        self.assertEqual(mean.shape, ())
if __name__ == "__main__":
    unittest.main()
Q
sed 's/mean.shape, ()/mean.shape, (2,)/' tests.py >fails.py
run -n 4 tests.py
ok "a test that passes: nothing" \
  "$([ $code = 0 ] && ! grep -q DT1015 err; echo $?)"
run -n 4 fails.py
ok "a test that fails" "$([ $code = 1 ] && grep -q '^DT1015 fails.py:9 ' err; echo $?)"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
