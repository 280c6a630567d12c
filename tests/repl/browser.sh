#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=180
# The page of :export html in a real browser, light and dark, narrow and printed:
# it draws, every section is there, nothing is fetched, the console stays silent,
# its search finds.
here=$(cd "$(dirname "$0")/../.." && pwd)
DTREPL=${DTREPL:-$here/build/dtrepl}
browser=
for b in chromium chromium-browser google-chrome; do
  command -v $b >/dev/null 2>&1 && browser=$b && break
done
if [ -z "$browser" ]; then
  echo "no browser here (Debian: apt-get install chromium)"
  exit 77
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
check () {
  if [ "$2" = 0 ]; then passed=$((passed + 1)); echo "ok - $1"
  else failed=$((failed + 1)); echo "not ok - $1"; fi
}

cat >work.lua <<'EOF'
local mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", "tp"}})
local F = require "dt.functional"
local R, S = dt.Replicate(), dt.Shard
local weight = dt.distribute_tensor(dt.ones(8, 6), mesh, {R, S(1)})
weight.requires_grad = true
local input = dt.distribute_tensor(dt.ones(10, 8), mesh, {S(0), R})
for _ = 1, 3 do
  local y = input:mm(weight)
  local loss = F.mse_loss(y, dt.zeros_like(y))
  loss:backward()
end
local cube = dt.distribute_tensor(dt.ones(7, 3, 4), mesh, {S(0), S(0)})
local value = cube:sum():item()
dt.debug.export("html", "page.html")
EOF
"$DTREPL" -n 4 work.lua >out.txt 2>&1
check "the page is written" $?

run () {
  HOME=$tmp timeout 60 "$browser" --headless --no-sandbox --disable-gpu \
    --disable-dev-shm-usage --user-data-dir="$tmp/profile" \
    --host-resolver-rules="MAP * ~NOTFOUND" --hide-scrollbars \
    --enable-logging=stderr --window-size=1200,2600 "$@" 2>>log.txt
}
echo '<!doctype html><link rel="icon" href="data:,">' >blank.html
run --screenshot="$tmp/blank.png" "file://$tmp/blank.html" >/dev/null
if [ ! -s blank.png ]; then
  echo "the browser does not run here:"; tail -n 3 log.txt
  exit 77
fi
: >log.txt
run --screenshot="$tmp/light.png" --blink-settings=preferredColorScheme=1 \
  "file://$tmp/page.html" >/dev/null
run --screenshot="$tmp/dark.png" --blink-settings=preferredColorScheme=0 \
  "file://$tmp/page.html" >/dev/null
run --dump-dom "file://$tmp/page.html" >dom.html

size () { wc -c <"$1" 2>/dev/null || echo 0; }
[ "$(size light.png)" -gt $((4 * $(size blank.png))) ]
check "light: not blank" $?
[ "$(size dark.png)" -gt $((4 * $(size blank.png))) ]
check "dark: not blank" $?
! cmp -s light.png dark.png
check "dark looks otherwise than light" $?
! grep -q 'CONSOLE' log.txt
check "the console is silent" $?
! grep -Eq '(src|href)="?https?:|@import|url\(' page.html
check "nothing from outside" $?
for part in findings meshes layouts parameters timeline ledger operators source; do
  grep -q "id=\"$part\"" dom.html
  check "section $part" $?
done
[ "$(grep -c '<svg' dom.html)" -ge 5 ]
check "pictures" $?
grep -q 'DT1001' dom.html && grep -q 'class="hit"' dom.html
check "the finding and its line" $?
grep -q 'aria-label="timeline"' dom.html && grep -q 'class="coll' dom.html
check "collectives on the timeline" $?
# The search, as if typed: what does not fit is hidden, folds with hits open.
sed 's|</body>|<script>var q=document.getElementById("q");q.value="aten.mm tensor";\
q.dispatchEvent(new Event("input"));q.value="aten.mm.default";\
q.dispatchEvent(new Event("input"));\
var w=document.documentElement.scrollWidth;\
document.title="wide "+w;</script></body>|' page.html >search.html
run --dump-dom "file://$tmp/search.html" >found.html
shown=$(grep -c 'class="row">' found.html)
hidden=$(grep -c 'class="row" hidden' found.html)
check "the search shows what fits ($shown) and hides the rest ($hidden)" \
  "$([ "$shown" -gt 0 ] && [ "$hidden" -gt "$shown" ]; echo $?)"
grep -q ">$shown found<" found.html
check "it counts" $?
run --window-size=420,1200 --screenshot="$tmp/narrow.png" \
  "file://$tmp/page.html" >/dev/null
[ "$(size narrow.png)" -gt 20000 ]
check "narrow: it draws" $?
run --window-size=500,1200 --dump-dom "file://$tmp/search.html" >narrow.html
wide=$(sed -n 's/.*<title>wide \([0-9]*\).*/\1/p' narrow.html)
check "narrow: nothing hangs over (${wide:-?})" "$([ "${wide:-9999}" -le 500 ]; echo $?)"
run --print-to-pdf="$tmp/page.pdf" "file://$tmp/page.html" >/dev/null
head -c 5 page.pdf 2>/dev/null | grep -q '%PDF' && [ "$(size page.pdf)" -gt 20000 ]
check "it prints" $?
if [ -n "$KEEP_SHOTS" ]; then cp light.png dark.png "$KEEP_SHOTS"; fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
