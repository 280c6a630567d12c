#!/bin/sh
# SPDX-License-Identifier: MIT
# lint.sh: every check that needs no run of the program.  luacheck and
# clang-format only where they are installed.
cd "$(dirname "$0")/.." || exit 2
lua=${LUA:-lua5.4}
bad=0
check () {
  name=$1; shift
  if out=$("$@" 2>&1); then
    echo "ok - $name"
  else
    echo "not ok - $name"; echo "$out" | sed 's/^/    /'; bad=1
  fi
}
check layers $lua scripts/check-layers.lua
check headers $lua scripts/check-headers.lua
check source scripts/check-source.sh
check generated scripts/check-generated.sh
if command -v luacheck >/dev/null 2>&1; then
  check luacheck luacheck -q --no-color --std lua54 --no-max-line-length \
    --config .luacheckrc lua scripts tests
else
  echo "ok - luacheck # SKIP not installed"
fi
if command -v clang-format >/dev/null 2>&1 && [ -n "${FORMAT:-}" ]; then
  check format clang-format --dry-run --Werror src/*/*.[ch]
fi
exit $bad
