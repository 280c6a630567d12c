#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=mpi timeout=120
# Stops of all ranks for what is true on one of them, in processes of their own.
"$DTREPL" --mpi 4 --check "$(dirname "$0")/stops_ranks.dt"
