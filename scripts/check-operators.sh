#!/bin/sh
# SPDX-License-Identifier: MIT
# check-operators.sh PROGRAM OPS_DEF OBJECT...: is every operator complete?  make
# runs it when the program is linked.
#  - A definition (dt_op_X of the objects) that no .ops text lists would be left
#    out without a word: nothing else asks for it.
#  - The program looks over its own definitions (src/op/selfcheck.c).
program=$1 listed=$2
shift 2
# Names are data: those of a section D or R (or S, of Mach-O, with a "_").
unlisted=$({ sed -n 's/^X(\(.*\))$/- \1/p' "$listed"
             ${NM:-nm} "$@" | sed -n 's/.* [DRS] _\{0,1\}dt_op_/+ /p'; } |
  awk '$1 == "-" { said[$2] = 1 } $1 == "+" { n++; if (!said[$2]) print $2 }
       END { if (!n) print "(none at all)" }')
for name in $unlisted; do
  echo "operator $name: a definition dt_op_$name, and no line \"overload\" in" \
    "src/oplib/*.ops" >&2
done
[ -z "$unlisted" ] || exit 1
exec "$program" parity --operators >&2
