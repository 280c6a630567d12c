#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,plain timeout=60
# The command line of the planning example: its help, what it refuses and in
# which words, and its forms of a mesh.
: "${DTREPL:=$PWD/build/dtrepl}"
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here" || exit 1
passed=0 failed=0

# says TEXT OPTION...: TEXT in what the planner says.
says () {
  text=$1; shift
  got=$("$DTREPL" lua/examples/llama_plan.lua "$@" 2>&1)
  if printf '%s' "$got" | grep -qF -- "$text"; then
    passed=$((passed + 1)); echo "ok - $*"
  else
    failed=$((failed + 1)); echo "not ok - $*: $text"
    printf '%s\n' "$got" | head -n 5 | sed 's/^/    > /'
  fi
}

says "--mesh DPxTP      or REPLICATExDPxTP for HSDP; 2048x8" --help
says "'--model' is no option" --model 70B
says "'--mesh' wants a value" --mesh
says "--layers wants a positive integer, not '2.5'" --layers 2.5
says "--flops wants a positive number, not 'nan'" --flops nan
says "--mesh wants a positive integer, not '0'" --mesh 0x8
says "--mesh wants DPxTP or REPLICATExDPxTP, not '4'" --mesh 4
says "no size called '9B'; there are tiny, 8B, 70B, 405B" --size 9B
says "cannot be cut over 5 ranks; legal tensor parallel degrees: 1, 2, 4, 8" \
  --mesh 3x5 --layers 1 --seq 8190
says "100 tokens cannot be cut over 8 ranks; the nearest that can: 96, 104" \
  --seq 100 --layers 1
says "1 layers, width 8192, 8192 tokens a rank; 2048 ranks" \
  --size 70B --layers 1 --mesh 4x64x8
says "2048 tokens a rank; 16 ranks" --seq 2048 --mesh 2,8 --layers 1

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
