#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick,one_thread
# A Python program among its files: packages, __all__, what goes to stderr.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
check () {
  what=$1; shift
  if "$@"; then echo "ok - $what"; passed=$((passed + 1))
  else echo "not ok - $what"; failed=$((failed + 1)); fi
}
mkdir -p plain/inner whole
printf '__all__ = ["a", "_b"]\na, _b, c = 1, 2, 3\n' >plain/names.py
printf 'value = "a file"\n' >whole.py
printf 'value = "a package"\n' >whole/__init__.py
printf 'def f(): return relu\n' >plain/inner/late.py
cat >program.py <<'E2'
from math import *
from plain.names import *
from plain.inner.late import f
import plain, whole, sys, warnings, traceback
print(sqrt(2) > 1.4, floor(2.5), a, _b)
try:
    print(c)
except NameError as e:
    print(e)
print(plain.__name__, plain.names.c, whole.value)
f()
f()
warnings.warn("careful")
try:
    1 // 0
except ZeroDivisionError:
    traceback.print_exc()
sys.exit("enough")
E2
cat >want <<'E2'
True 2 1 2
name 'c' is not defined
plain 3 a package
E2
"$DTREPL" -n 2 program.py >out 2>err
check "the text is the status's 1" test $? = 1
check "stdout holds what Python prints there" cmp out want
check "once by name: used without an import" test \
  "$(grep -c "note: 'relu' is used without an import" err)" = 1
check "a warning is for stderr" grep -q "UserWarning: careful" err
check "so is a traceback" grep -q "ZeroDivisionError: " err
check "and the text of sys.exit" grep -q "^enough$" err

# The variables of the shell are the program's; a stranger's in the sandbox
# learns none of them; RANK and the like are torchrun's, whatever was set.
cat >variables.py <<'E2'
import os
print(os.environ.get("STEPS", "unset"), os.getenv("RANK"), os.environ["WORLD_SIZE"],
      "PATH" in os.environ)
E2
check "variables of the shell" test \
  "$(STEPS=7 RANK=5 "$DTREPL" -n 1 variables.py 2>&1)" = "7 0 1 True"
check "none of them in the sandbox" test \
  "$(STEPS=7 "$DTREPL" --sandbox -n 1 variables.py 2>&1)" = "unset 0 1 False"

# A file that nobody closes is whole when the program ends, also by an error.
cat >unclosed.py <<'E2'
open("temporary.txt", "w").write("one")
f = open("kept.txt", "w")
f.write("two")
raise ValueError("the end")
E2
"$DTREPL" -n 1 unclosed.py >out 2>err
check "files that nobody closed" test "$(cat temporary.txt kept.txt)" = onetwo

# Writing at the end, over what is there and past the end; as python3 prints it.
cat >writes.py <<'E2'
import io, os
f = open("m.txt", "w+")
f.write("abc"); f.write("def"); f.seek(1); f.write("XY"); print(f.tell()); f.seek(0); print(f.read())
f.seek(10); f.write("z"); f.seek(0); print(repr(f.read())); f.truncate(4); f.seek(0, 2); print(f.tell()); f.write("end"); f.flush()
print(repr(open("m.txt").read())); f.close()
with open("m.txt", "a") as g:
    g.write("1"); g.write("2")
print(repr(open("m.txt").read()), os.path.getsize("m.txt"))
s = io.StringIO("hello"); s.write("J"); print(s.getvalue(), s.tell()); s.seek(0, 2); s.write("!"); s.write("?"); print(s.getvalue()); s.seek(0); print(s.readline(), s.read())
b = io.BytesIO(); b.write(b"12"); b.write(b"34"); print(b.getvalue(), b.tell()); b.seek(1); print(b.read(2)); b.truncate(); print(b.getvalue())
open("m.txt", "w").writelines(f"{i}\n" for i in range(3)); print(list(open("m.txt")))
E2
cat >want <<'E2'
3
aXYdef
'aXYdef\x00\x00\x00\x00z'
4
'aXYdend'
'aXYdend12' 9
Jello 1
Jello!?
Jello!? 
b'1234' 4
b'23'
b'123'
['0\n', '1\n', '2\n']
E2
"$DTREPL" -n 1 writes.py >out 2>err
check "what files and streams hold" cmp out want
# FSDP1's texts take longer to read than a small program to run.
cat >imports.py <<'E2'
import sys
from torch.distributed.fsdp import (
    fully_shard, FSDPModule, OffloadPolicy, CPUOffloadPolicy,
    MixedPrecisionPolicy, UnshardHandle, register_fsdp_forward_method)
print([name for name in sys.modules if "fully_sharded" in name])
from torch.distributed.fsdp import FullyShardedDataParallel
print(FullyShardedDataParallel.__name__)
E2
printf '[]\nFullyShardedDataParallel\n' >want
"$DTREPL" -n 1 imports.py >out 2>err
check "a package's texts are read where one of their names is used" cmp out want
# A file whose name does not say what it is: the first line, or --python.
printf 'import torch\nprint("python", len([1, 2]))\n' >plainly
{ echo '#!/usr/bin/env python3'; cat plainly; } >told
printf 'local t = {1, 2}\nprint("lua", #t)\n' >lines.lua
prints () { what=$1; shift; test "$("$DTREPL" -n 1 "$@" 2>&1)" = "$what"; }
check "--python FILE" prints "python 2" --python plainly
check "its first line" prints "python 2" told
check "a name of Lua's" prints "lua	2" --python lines.lua
check "its names are kept" eval 'printf "y + 1\n" >line; echo "y = 41" >>told
  "$DTREPL" -q -n 1 --python -i told <line 2>&1 | grep -qx 42'
printf 'class E(Exception):\n    def __str__(self): return "own words"\nraise E(1, 2)\n' \
  >own.py
"$DTREPL" -n 2 own.py >out.txt 2>&1
check "an error that nobody caught is told as its class prints it" \
  grep -q 'E: own words$' out.txt
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
