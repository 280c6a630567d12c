#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=120 tags=quick
# The sessions printed in the README come out as printed.  A block with lines
# "dt> ..." becomes a session file: what follows a line is what it must write.
# An ellipsis at a line's end stands for the rest of it.  Each session has a
# program of its own.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# The script of the second session: its lines 3 to 6 are in the README.  Whole
# numbers, since the last bits of a product are the BLAS's and the processor's.
cat >repro.lua <<'L'
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.randint(9, {8, 16}, {dtype = dt.float32}), mesh, "R")
local w = dt.distribute_tensor(dt.randint(9, {32, 16}, {dtype = dt.float32}), mesh, "S(0)")
local h = x:mm(w:t())
local mask = dt.ones(8, 32):tril()
local y = (h * mask):to_local()
L

awk '
  function close_block() { if (open) print ":end" >file; open = 0 }
  /^```/ {
    if (inside) close_block()
    inside = !inside; session = 0
    next
  }
  !inside { next }
  /^dt(#[0-9]+)?> / {
    if (!session) {
      session = 1
      file = "session" ++count ".dt"
      printf ":set notes on\n:testcase session %d\n", count >file
      if (count == 2) print ":run repro.lua\n:expect\n...\n:end" >file
    } else close_block()
    sub(/^dt(#[0-9]+)?> /, "")
    print >file
    print ":expect" >file
    open = 1
    next
  }
  session { sub(/…$/, "..."); print >file }
' "$here/README.md"
failed=0
for i in 1 2; do
  "$DTREPL" -n 4 --no-rc --check session$i.dt || failed=$((failed + 1))
done
[ ! -e session3.dt ] || { echo "a session that is not run"; failed=1; }
echo "$((2 - failed)) passed, $failed failed"
[ $failed = 0 ]
