#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,plain timeout=240
# Every command that steps or explains has a data form, with ranks as threads
# and as processes: with --json an object whose "data" says what the text says,
# and a function of dt.debug.  The commands are those that :help lists; one
# that the session below does not ask is a failure.
: "${DTREPL:=$PWD/build/dtrepl}"
here=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cp "$here/tests/debug/fixtures/loop.lua" "$tmp/repro.lua"
cd "$tmp" || exit 1
passed=0 failed=0

ok () { passed=$((passed + 1)); }
bad () { echo "not ok - $*"; failed=$((failed + 1)); }

cat > session <<'EOF'
mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
x = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0) S(1)")
y = x:mm(x):relu()
p = dt.ones(3)
:status
:history 5
:why
:show y
:plan y "R R"
:rules aten.mm.default
:ledger
:explain DT0101
:findings
:blame y
:types y
:who y 0 0
:mem
:grads
:verify
:check y
:same p
:whatif x = R R
:sweep function(n, m) return dt.ones(n) end
:doctor aten.relu.default
:export json run.json
y + dt.ones(8, 8)
:bt
:fix
:report
:shrink
:kill
:run repro.lua
:record
:break op aten.mm*
:tbreak op aten.add*
:watch g
:condition 1 true
:ignore 1 0
:disable 1
:enable 1
:commands 1 :print 1
:delete 3
:step
:next
:finish
:line
:list
:info
:print 1 + 1
:display 1 + 1
:undisplay 1
:until #9
:up
:down
:when
:when y
:back 2
:goto #6
:goto now
:delete 1
:continue
:rerun
:diff last now
:kill
:delete
:source repro.lua
:quit
EOF

names=$(printf ':help\n' | "$DTREPL" -n 1 --no-rc |
  awk '/^(debugging|breakpoints|time|explain)$/ {on = 1; next}
       /^$/ {on = 0}
       on && /^  :/ {print substr($1, 2)}')
for name in $names status; do
  if grep -q "^:$name\( \|$\)" session; then ok
  else bad ":$name is not asked in this test"; fi
done

# world OPTIONS...: the session there, one JSON object a line.
world () {
  "$DTREPL" "$@" --no-rc --json < session > out 2> err
  for name in $names status; do
    if grep -q "\"cmd\":\"$name\",\"data\":[^n]" out; then ok
    else
      bad "$*: :$name has no data"
      grep "\"cmd\":\"$name\"" out | head -n 3 | cut -c 1-200
    fi
  done
  if grep -q '"cmd":"diff","data":{"a":{.*"equal":[0-9].*"same":' out; then ok
  else bad "$*: :diff tells no sums"; fi
  if grep -q '^[^{]' out; then
    bad "$*: a line that is no JSON"
    grep '^[^{]' out | head -n 3
  else ok; fi
}

world -n 4
# Sanitizers and MPI quarrel.
if command -v mpirun > /dev/null 2>&1 && [ -z "$DTREPL_SANITIZER" ]; then
  world --mpi 4
fi

# Each is a function too; what it gives prints as the page.
cat > names.lua <<'EOF'
for name in io.lines("names") do
  assert(dt.debug[name] ~= nil, "no dt.debug." .. name)
end
local mesh = dt.init_device_mesh("cpu", {4})
local x = dt.distribute_tensor(dt.ones(8, 8), mesh, "S(0)")
local y = x:mm(x)
local why = dt.debug.why()
assert(why.op == "aten.mm.default" and #why.candidates > 3, "candidates")
assert(why.candidates[why.winner + 1].chosen, "the winner")
assert(tostring(why):find("chosen", 1, true), "prints as a page")
assert(dt.debug.plan(y, "R").greedy.bytes == 64, "bytes of a plan")
assert(dt.debug.show(y).parts[3].offset[1] == 4, "where rank 2's part lies")
assert(#dt.debug.status().ranks == 4, "what ranks do")
assert(dt.debug.rules("aten.mm.default").rows[1], "rows of rules")
EOF
echo "$names" > names
if "$DTREPL" -n 4 --trust names.lua; then ok
else bad "functions of dt.debug"; fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 100 ]
