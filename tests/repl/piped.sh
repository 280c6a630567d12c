#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,one_thread
# Piped text runs line by line, without prompts, in every world; exit codes.
: "${DTREPL:=$PWD/build/dtrepl}"
passed=0 failed=0
# is WHAT EXPECTED-STATUS EXPECTED-OUTPUT COMMAND; stdin from $input
is () {
  out=$(printf '%b' "$input" | sh -c "$4" 2>/dev/null); st=$?
  if [ "$st" = "$2" ] && { [ "$3" = - ] || [ "$out" = "$3" ]; }; then
    echo "ok - $1"; passed=$((passed + 1))
  else
    echo "not ok - $1: status $st (wanted $2), output: $out"
    failed=$((failed + 1))
  fi
}
input='1 + 1\nlocal a = 20\na + 1\n'
is "threads" 0 "2
21" "$DTREPL -n 4"
is "one rank" 0 "2
21" "$DTREPL -n 1"
is "fake" 0 "2
21" "$DTREPL --fake 64"
# (Sanitizers and libmpi quarrel.)
if [ -e "$(dirname "$DTREPL")/dtrepl-mpi.so" ] &&
   [ -z "$DTREPL_SANITIZER" ]; then
  is "mpirun" 0 "2
21" "mpirun -n 4 $DTREPL"
fi
input='print("in")\n'
is "- is stdin" 0 "in" "$DTREPL -n 2 -"
# A pipe by its name can be read once: as a script, as a report, as one of two.
is "a pipe is a script" 0 "in" "cat | $DTREPL -n 2 /dev/stdin"
input='RuntimeError: aten.mul.Tensor got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before calling distributed operators!\n'
is "a pipe is a report" 0 "/dev/stdin: mixed-tensor-dtensor" \
  "cat | $DTREPL diagnose /dev/stdin | sed -n '1s/  .*//p'"
# A session that was saved with its prompts and its output is run again.
input='dtrepl 0.1.0  4 ranks (threads)  :help for help\ndt> a = 20\ndt> a + 1\n21\ndt> for i = 1, 2 do\n..>   print(i)\n..> end\n1\n2\ndt#12> 5\n'
is "a transcript" 0 "21
1
2
5" "$DTREPL -n 4"
input='"out"\n"dt> in a text"\n'
is "no transcript" 0 '"out"
"dt> in a text"' "$DTREPL -n 2"
input='m = dt.init_device_mesh("cpu", {2, 2})
z = dt.distribute_tensor(dt.ones(4, 4), m, {Shard(0), Shard(1)})
z:redistribute(m, "R")\n'
is "hint at an operator's error" 1 'DT0013 IndexError: list index out of range
  a placement is wanted for each dimension of the mesh: {Shard(0), Replicate()} or "S(0) R"' \
  "$DTREPL -n 4 2>&1"
input='zeros(2, 2)
Linear(2, 3)
nosuch(1)\n'
is "names without dt" 1 "DT0007 RuntimeError: prompt:1: attempt to call a nil value (global 'zeros')
  at prompt:1
  did you mean dt.zeros?
DT0007 RuntimeError: prompt:2: attempt to call a nil value (global 'Linear')
  at prompt:2
  did you mean dt.nn.Linear?
DT0007 RuntimeError: prompt:3: attempt to call a nil value (global 'nosuch')
  at prompt:3" "$DTREPL -n 2 2>&1"
input=''
is "-e" 0 "5" "$DTREPL -n 4 -e 'print(5)'"
is "ranks name keywords in one order" 0 "1" "$DTREPL -n 4 -e '
dt.addmm(dt.ones(2, 2), dt.ones(2, 2), dt.ones(2, 2), {beta = {}, alpha = {}})' 2>&1 |
  grep -c 'addmm.*alpha=tuple, beta=tuple'"
is "error in -e" 1 - "$DTREPL -n 4 -e 'error(\"x\")'"
is "bad option" 2 - "$DTREPL --no-such-option"
is "script that is not there" 1 - "$DTREPL -n 2 no/such/script.lua"
is "bad Lua" 1 - "$DTREPL -n 2 -e 'x ='"
is "version" 0 - "$DTREPL -v"
is "help" 0 - "$DTREPL --help"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
