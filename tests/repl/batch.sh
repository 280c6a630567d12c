#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick,one_thread
# Without a terminal: options, exit codes, pipes, the same in each world.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

# is NAME CODE STDOUT COMMAND...: exit code and standard output.
is () {
  name=$1 code=$2 want=$3; shift 3
  got=$("$@" 2>err </dev/null); rc=$?
  if [ $rc = "$code" ] && [ "$got" = "$want" ]; then
    passed=$((passed + 1)); echo "ok - $name"
  else
    failed=$((failed + 1)); echo "not ok - $name"
    echo "    code $rc, wanted $code; output:"
    echo "$got" | sed 's/^/    > /'; sed 's/^/    2> /' err
  fi
}
says () {                       # what stderr of the last command holds
  if grep -qF -- "$1" err; then
    passed=$((passed + 1)); echo "ok - says: $1"
  else
    failed=$((failed + 1)); echo "not ok - says: $1"; sed 's/^/    2> /' err
  fi
}
piped () { printf '%s\n' "$1" | "$DTREPL" $2; }
piped_mpi () { printf '%s\n' "$1" | mpirun -n 4 "$DTREPL"; }

is "chunk" 0 "42" "$DTREPL" -e 'print(6 * 7)'
is "two chunks" 0 "1
2" "$DTREPL" -e 'x = 1 print(x)' -e 'print(x + 1)'
is "folding" 0 "[0,2] 0
[1,3] 1" "$DTREPL" -e 'print(dt.rank() % 2)'
is "raw" 0 "[0] a
[1] a" "$DTREPL" -n 2 --raw -e 'print("a")'
is "one rank speaks" 0 "[2] here" \
  "$DTREPL" -e 'if dt.rank() == 2 then print("here") end'
is "error" 1 "" "$DTREPL" -e 'error("boom")'
says boom
is "nothing after an error" 1 "" "$DTREPL" -e 'error("boom")' -e 'print(1)'
cat > calls.py <<'END'
class Model:
    def forward(self, x):
        return self.part(x)
    def part(self, x):
        return {}[x]
def step(n):
    return Model().forward(n) if n == 0 else step(n - 1)
step(9)
END
is "an error in a function" 1 "" "$DTREPL" -n 1 calls.py
says "  at calls.py:5"
says "  called from Model.forward (line 3), step (line 7), step (line 7), step (line 7), step (line 7), 5 more, step (line 7), line 8"
cat > scope.py <<'END'
class Scope:
    def __enter__(self): return self
    def __exit__(self, *given): return False
def inner(x):
    raise ValueError(x)
def outer(x):
    inner(x)
with Scope():
    outer(1)
END
is "an error through a scope" 1 "" "$DTREPL" -n 1 scope.py
says "  called from outer (line 7), line 9"
is "error on one rank" 1 "" "$DTREPL" -e 'if dt.rank() == 3 then error("z") end'
says "[3]"
is "syntax error" 1 "" "$DTREPL" -e 'x = = 1'
says "unexpected symbol"
is "os.exit" 7 "" "$DTREPL" -e 'if dt.rank() == 1 then os.exit(7) end'
# TSan holds signals back while code makes no calls.
grep -q __tsan_init "$DTREPL" ||
is "interrupted" 130 "" sh -c "\"$DTREPL\" -e 'while true do end' &
  pid=\$!; sleep 1; kill -INT \$pid; wait \$pid"
is "unknown option" 2 "" "$DTREPL" --nope
says "unknown option --nope"
is "a slip of an option" 2 "" "$DTREPL" --colour never x.lua
says "unknown option --colour; did you mean --color?"
says "usage:"
is "missing value" 2 "" "$DTREPL" -n
is "bad number" 2 "" "$DTREPL" -n four
is "two worlds" 2 "" "$DTREPL" -n 2 --fake 8
is "unreadable script" 1 "" "$DTREPL" no/such/file.lua
says "no/such/file.lua"
is "help" 0 "usage: dtrepl [options] [script.lua [args]]" \
  sh -c "\"$DTREPL\" --help | head -n 1"
is "version" 0 "dtrepl" sh -c "\"$DTREPL\" -v | cut -d' ' -f1"

printf '#!/usr/bin/env dtrepl\n-- dtrepl: ranks=3\n' >s.lua
printf 'print(arg[0], arg[1], ...)\nprint(dt.rank() // 2)\n' >>s.lua
is "script" 0 "s.lua	p	p	q
[0,1] 0
[2]   1" "$DTREPL" s.lua p q
is "head gives way" 0 "s.lua	nil
0" "$DTREPL" -n 1 s.lua
echo '-- dtrepl: rank=3' >bad.lua
is "bad head" 2 "" "$DTREPL" bad.lua
is "after --" 0 "s.lua	-x	-x
0" "$DTREPL" -n 1 -- s.lua -x
is "stdin" 0 "stdin	7" \
  sh -c "echo 'print(arg[0], ...)' | \"$DTREPL\" - 7"
is "fake" 0 "7" "$DTREPL" --fake 16384:7 -e 'print(dt.rank())'
is "fake, piped" 0 "16384
7" sh -c "printf 'dt.world_size()\ndt.rank()\n' | \"$DTREPL\" --fake 16384:7"
is "piped lines" 0 "2
6" piped '1 + 1
local x = 3
x * 2'
is "piped loop" 0 "1
2" piped 'for i = 1, 2 do
  print(i)
end'
is "piped error goes on" 1 "5" piped 'nosuch()
2 + 3'
is "hidden" 0 '1' piped '1;
_'
is "constants" 1 "1" piped 'local c <const> = 1
c = 2
c'
says "const variable 'c'"
is "functions" 0 "120" piped 'local function f(n) if n < 2 then return 1 end
return n * f(n - 1) end
f(5)'
is "locals hide nothing" 0 '"x"' piped 'local table = 5
("x"):rep(1)
' "-q"
# MPI and sanitizers quarrel.
if ! grep -qE '__[at]san_init' "$DTREPL" &&
   [ -e "$(dirname "$DTREPL")/dtrepl-mpi.so" ] && command -v mpirun >/dev/null
then
  is "mpi" 0 "[0,2] 0
[1,3] 1" "$DTREPL" --mpi 4 -e 'print(dt.rank() % 2)'
  is "mpi piped" 0 "2
[0-3] 4" piped_mpi '1 + 1
if dt.rank() >= 0 then print("[0-3] 4") end'
  is "mpi error" 1 "" "$DTREPL" --mpi 2 -e 'error("boom")'
  is "mpi exit code" 7 "" "$DTREPL" --mpi 3 \
    -e 'if dt.rank() == 1 then os.exit(7) end'
fi
is "session file" 0 "1 passed, 0 failed" \
  sh -c "printf ':testcase a\n1 + 1\n:expect\n2\n:end\n' >a.dt;
    \"$DTREPL\" --check a.dt"
is "session file that fails" 3 "a.dt:3: not as expected: a
- 3
+ 2
0 passed, 1 failed" \
  sh -c "printf ':testcase a\n1 + 1\n:expect\n3\n:end\n' >a.dt;
    \"$DTREPL\" --check a.dt"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
