#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick timeout=60
# What make asks of the program that it linked: every operator complete, and a
# definition that no text lists is named.
: "${DTREPL:=$PWD/build/dtrepl}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
"$DTREPL" parity --operators || { echo "an operator lacks a row"; exit 1; }

cat >"$tmp/nm" <<'EOF'
#!/bin/sh
echo "0000000000000000 D dt_op_mm"
echo "0000000000000000 D dt_op__to_copy"
echo "0000000000000000 d dt_op_mine"
EOF
chmod +x "$tmp/nm"
check () {
  NM=$tmp/nm sh scripts/check-operators.sh "$DTREPL" "$tmp/ops.def" any.o 2>&1
}
printf 'X(_to_copy)\nX(mm)\n' >"$tmp/ops.def"
out=$(check) || { echo "refused: $out"; exit 1; }
printf 'X(_to_copy)\n' >"$tmp/ops.def"
out=$(check) && { echo "a definition without a text was taken"; exit 1; }
[ "$out" = 'operator mm: a definition dt_op_mm, and no line "overload" in src/oplib/*.ops' ] ||
  { echo "said: $out"; exit 1; }
