#!/bin/sh
# SPDX-License-Identifier: MIT
# check-generated.sh: lists that must agree with each other.
#  - the texts of operators (src/oplib/*.ops) are complete and list every
#    definition of the family files;
#  - error ids are unique and sorted;
#  - what was made from the reference data is up to date.
cd "$(dirname "$0")/.." || exit 2
bad=0
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

say () { echo "$*"; bad=1; }

mkdir -p "$tmp/op" "$tmp/oplib" "$tmp/engine" "$tmp/shard" "$tmp/compat"
if ${LUA:-lua5.4} scripts/gen-operators.lua "$tmp" src/oplib/*.ops; then
  sed -n 's/^X(\(.*\))/\1/p' "$tmp/oplib/ops.def" | LC_ALL=C sort >"$tmp/listed"
  # Rows of tables define operators too: look at what the compiler sees.
  for f in src/oplib/op_*.c; do
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Isrc -I"$tmp" -E -P "$f" 2>/dev/null
  done | grep -oE 'const DtOpDef dt_op_[A-Za-z0-9_]+ =' |
    sed 's/.*dt_op_//; s/ =//' | LC_ALL=C sort >"$tmp/defined"
  if ! diff "$tmp/listed" "$tmp/defined" >"$tmp/d"; then
    say "overloads of src/oplib/*.ops (<) and definitions (>) differ:"
    cat "$tmp/d"
  fi
else
  bad=1
fi

for f in errors errors_shard errors_comm errors_tool; do
  sed -n 's/^X([^"]*"\(DT[0-9]*\)".*/\1/p' src/base/$f.def
done >"$tmp/ids"
LC_ALL=C sort -uc "$tmp/ids" || say "src/base/errors*.def: ids not sorted, or twice"

for gen in gen-diagnose gen-wordings; do
  out=$(${LUA:-lua5.4} scripts/$gen.lua --check) || say "$out"
done

[ $bad = 0 ] && echo "generated lists agree"
exit $bad
