#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=200
# Models with annotations of spmd_types, a Megatron MLP and a small Llama: both check,
# and print what they print under spmd_types 0.3.1 and PyTorch 2.15.  Each row of
# planted.txt is a mistake, and what the package raises: program, mistake, line, first
# line of the message.  Mistake K has the lines that begin with "#K:" and lacks those
# that end with "# not ... K ...".
here=$(cd "$(dirname "$0")/../findings/spmd" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
ok () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; head -8 err; fi
}
plant () {              # program, mistake: as planted.py
  sed -e "s/^#$2://" -e '/^#[0-9][0-9]*:/d' -e "/# not\( [0-9]*\)* $2\( [0-9]*\)*\$/d" \
    -e 's/  # not [0-9 ]*$//' "$here/$1.py" >planted.py
}
for f in "mlp 1.32810" "llama 5.04247"; do
  name=${f% *}
  plant "$name" 0
  timeout 100 "$DTREPL" planted.py >out 2>err </dev/null
  ok "$name: checks" $?
  grep -qxF "result ${f#* }" out
  ok "$name: its result" $?
  ok "$name: nothing is said" "$([ ! -s err ]; echo $?)"
done
while read -r name nr line text; do
  plant "$name" "$nr"
  timeout 100 "$DTREPL" planted.py >out 2>err </dev/null
  ok "$name, mistake $nr: raises" "$([ $? = 1 ]; echo $?)"
  grep -qF "SpmdTypeError: $text" err
  ok "$name, mistake $nr: $text" $?
  sed -n 's/^ *at planted.py:\([0-9]*\).*/\1/p' err | grep -qx "$line"
  ok "$name, mistake $nr: line $line" $?
done <"$here/planted.txt"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
