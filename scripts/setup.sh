#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh [run|test|full|nightly]: install what dtrepl needs and is missing.
# Debian 12 and Ubuntu 24.04, as root or with sudo; on other systems it says
# exactly what is missing and fails.  Does nothing when all is there.
# `full` and `nightly` include `test`, which includes `run`.  What is marked
# `extra` goes with `full` where the system has it (Ubuntu has no chromium):
# without it the tests that need it are skipped.
set -eu

# package, level, how to see that it is there on a system without dpkg:
# a program, a pkg-config module (p:) or a header (h:).
packages='
gcc                    run      gcc
libc6-dev              run      h:stdio.h
make                   run      make
pkg-config             run      pkg-config
lua5.4                 run      lua5.4
liblua5.4-dev          run      p:lua5.4
libreadline-dev        run      h:readline/readline.h
libopenblas-pthread-dev run     p:openblas
liblapacke-dev         run      h:lapacke.h
libfftw3-dev           run      p:fftw3
libjansson-dev         run      p:jansson
libpcre2-dev           run      p:libpcre2-8
libzstd-dev            run      p:libzstd
libopenmpi-dev         run      p:ompi-c
openmpi-bin            run      mpirun
lua-lpeg               run      l:lpeg
libcmocka-dev          test     p:cmocka
expect                 test     expect
tmux                   test     tmux
procps                 test     ps
python3                full     python3
python3-venv           full     python3
iproute2               full     ip
chromium               extra    chromium
emacs-nox              extra    emacs
elpa-dap-mode          extra    emacs
valgrind               nightly  valgrind
'

want="run test"
case ${1:-test} in
  run) want="run" ;;
  test) ;;
  full) want="run test full" ;;
  nightly) want="run test full nightly" ;;
  *) echo "usage: setup.sh [run|test|full|nightly]" >&2; exit 2 ;;
esac

# names LEVELS: the packages of these levels.
names () {
  echo "$packages" | while read -r name level rest; do
    case " $1 " in *" ${level:-none} "*) echo "$name" ;; esac
  done
}

# On a system without dpkg: look for the things themselves.
there () {
  case $1 in
    p:*) pkg-config --exists "${1#p:}" 2>/dev/null ;;
    h:*) echo "#include <${1#h:}>" | gcc -E -x c - >/dev/null 2>&1 ;;
    l:*) lua5.4 -e "require '${1#l:}'" >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  missing=
  while read -r name level probe; do
    case " $want " in *" ${level:-none} "*) ;; *) continue ;; esac
    there "$probe" || missing="$missing $name"
  done <<EOF
$packages
EOF
  [ -z "$missing" ] && exit 0
  echo "setup: this is not Debian or Ubuntu.  Missing, by their Debian names:" >&2
  for p in $missing; do echo "  $p" >&2; done
  exit 1
fi

# lacking PACKAGE...: those that are not installed, a blank before each.  One
# query for all; a package dpkg has never heard of makes it fail, which only
# means that it is missing.
lacking () {
  have=$(dpkg-query -W -f '${Package} ${Status}\n' "$@" 2>/dev/null |
    sed -n 's/ install ok installed$//p' || true)
  for p in "$@"; do
    case "
$have
" in *"
$p
"*) ;; *) printf ' %s' "$p" ;; esac
  done
}
missing=$(lacking $(names "$want"))
extra=
case " $want " in *" full "*) extra=$(lacking $(names extra)) ;; esac
[ -z "$missing$extra" ] && exit 0

echo "setup: installing$missing$extra"
as_root=
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null 2>&1; then
    as_root=sudo
  else
    echo "setup: run this as root, or install these packages:$missing$extra" >&2
    [ -z "$missing" ]; exit
  fi
fi
install () {
  $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}
# Package lists may be old or absent: fetch them only when that shows.
[ -z "$missing" ] || install $missing >/dev/null 2>&1 ||
  { $as_root apt-get update -q; install $missing; } || {
  echo "setup: could not install:$missing" >&2
  exit 1
}
[ -z "$extra" ] || install $extra >/dev/null 2>&1 || {
  $as_root apt-get update -q >/dev/null 2>&1 || true
  for p in $extra; do
    install "$p" >/dev/null 2>&1 || echo "setup: this system has no $p"
  done
}
