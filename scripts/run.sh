#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh [BUILD]: founding case a on four real ranks; on a terminal the
# person stays at the prompt afterwards.  Plain mpirun refuses root and more
# ranks than cores; both are settled here.
set -eu
build=${1:-build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
stay=
[ -t 0 ] && [ -t 1 ] && stay=-i
echo "mpirun -n 4 $build/dtrepl $stay lua/examples/npu_attention.lua"
exec "${MPIRUN:-mpirun}" --oversubscribe -n 4 "$build/dtrepl" $stay \
  lua/examples/npu_attention.lua
