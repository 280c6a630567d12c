#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,plain timeout=60
# `dtrepl parity` with files that are none: what is wrong is said with the line,
# and nothing that was not compared counts as passed.
: "${DTREPL:=$PWD/build/dtrepl}"
spmd=$PWD/tests/parity/spmd/programs.jsonl
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

# says CODE TEXT FILE: TEXT in what parity says of FILE, and its exit code.
says () {
  got=$("$DTREPL" parity "$3" 2>&1); code=$?
  if [ $code = "$1" ] && printf '%s' "$got" | grep -qF -- "$2"; then
    passed=$((passed + 1)); echo "ok - $3"
  else
    failed=$((failed + 1)); echo "not ok - $3: exit $1 and $2, not $code"
    printf '%s\n' "$got" | head -n 5 | sed 's/^/    > /'
  fi
}

printf '{"suite":"prop"\n' >cut.jsonl
printf '[1]\n{"a":1}\nnull\n' >lists.jsonl
printf '\377\376\n' >bytes.jsonl
cat >alone.program.json <<'EOP'
{"program":"alone","world":4,"mesh":{"shape":[4],"names":["tp"]},"params":[],
"code":"def alone(S):\n    S.mesh((4,), (\"tp\",))\n"}
EOP
cp alone.program.json parted.program.json
echo '{"died":"the ranks part ways","raised_on":{}}' >parted.values.json
echo '{"program":' >broken.program.json

says 3 "cut.jsonl: line 1 is no JSON" cut.jsonl
says 3 "lists.jsonl: line 3 is no JSON: not an object" lists.jsonl
says 3 "bytes.jsonl: line 1 is no JSON" bytes.jsonl
says 3 "0 passed, 1 failed" alone.program.json
says 3 "nothing to compare with: no alone.values.json" alone.program.json
says 0 "0 passed, 0 failed, 1 skipped" parted.program.json
says 1 "broken.program.json: unexpected token near end" broken.program.json
says 1 "missing.jsonl: No such file" missing.jsonl
mkdir suites none
cp cut.jsonl suites/b.jsonl
cp lists.jsonl suites/a.jsonl
says 3 "suites/a.jsonl: line 3 is no JSON" suites
says 3 "suites/b.jsonl: line 1 is no JSON" suites/
mkdir -p above/below && cp cut.jsonl above/below/c.jsonl && ln -s .. above/below/up
says 3 "above/below/c.jsonl: line 1 is no JSON" above
says 1 "none: no .jsonl and no .program.json file in this folder" none

# Files within a folder of a release are of this release, from wherever they
# are named; a failure says with which release it was compared.
mkdir -p 2.15/prop
cp cut.jsonl 2.15/prop/cut.jsonl
says 3 "compared with PyTorch 2.13 by the names" cut.jsonl
says 3 "compared with PyTorch 2.15 by the names" 2.15/prop/cut.jsonl
cd 2.15/prop || exit 1
says 3 "compared with PyTorch 2.15 by the names" cut.jsonl
cd "$tmp" || exit 1
last=$("$DTREPL" parity cut.jsonl 2>&1 | tail -n 1)
case $last in
  "0 passed, "*" failed") passed=$((passed + 1)); echo "ok - counts come last" ;;
  *) failed=$((failed + 1)); echo "not ok - counts come last: $last" ;;
esac

# What a captured program does wrong is no finding of the user's.
got=$("$DTREPL" parity --only dptp/wrong_group "$spmd" 2>&1)
if [ "$got" = "1 passed, 0 failed" ]; then
  passed=$((passed + 1)); echo "ok - quiet"
else
  failed=$((failed + 1)); echo "not ok - quiet"; printf '%s\n' "$got"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
