#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick,plain needs=data timeout=60
# Errors that are no operator's: the line after the place says what helps, in
# the names of the program; what it says was run under PyTorch 2.15.
: "${DTREPL:=$PWD/build/dtrepl}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
failed=0 passed=0
# hint LINES WORDS: the program of these lines fails and says the words.
hint () {
  { cat <<'P'
# dtrepl: ranks=2
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import distribute_tensor, Shard
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions, set_model_state_dict)
mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])
P
    printf '%s\n' "$1"; } >program.py
  "$DTREPL" program.py >out 2>&1
  if grep -qF "$2" out; then passed=$((passed + 1)); else
    failed=$((failed + 1)); echo "not ok - $1"; sed 's/^/    | /' out
  fi
}
hint 'a = x.numpy()' "x.full_tensor().numpy() has the whole"
hint 'a = x.tolist()' "x.to_local().tolist() this rank's part"
hint 's = x.sum()
dist.all_reduce(s)' "s.full_tensor() reduces and gathers as the placements say"
hint 's = x.sum()
print("sum", s.full_tensor().item())' "sum 32.0"
net='net = nn.Linear(4, 4)
whole = {k: torch.ones_like(v) for k, v in net.state_dict().items()}
fully_shard(net, mesh=mesh)'
hint "$net
net.load_state_dict(whole)" "set_model_state_dict(net, whole, options="
hint "$net
set_model_state_dict(net, whole, options=StateDictOptions(full_state_dict=True))
print('loaded', net.weight.full_tensor().sum().item())" "loaded 16.0"
hint 'init_device_mesh("cpu", (6,))' "dtrepl -n 6 has so many ranks"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
