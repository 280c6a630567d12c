#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: tags=quick timeout=240 torch=2.13
# PyTorch programs as people paste them, run with --verify: each silent trap is
# named at its line, with its operator; the clean twin of each has no finding.
: "${DTREPL:=$PWD/build/dtrepl}"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0

cat > head.py <<'EOF'
import torch, torch.distributed as dist
import torch.nn as nn, torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import (DTensor, Shard, Replicate, Partial,
    distribute_tensor, distribute_module)
from torch.distributed.tensor.parallel import (parallelize_module,
    ColwiseParallel, RowwiseParallel, loss_parallel)
from torch.distributed.fsdp import fully_shard
mesh = init_device_mesh("cpu", (4,), mesh_dim_names=("tp",))
r = dist.get_rank()
EOF

# has NAME CODE OPERATOR [WORDS OF VERIFY]: the program on stdin falls into the
# trap; what stands after a line "# clean" does not.  Under a sanitizer every
# twelfth runs: what they reach in C is much the same.
number=0
has () {
  cat > both.py
  number=$((number + 1))
  [ -n "$DTREPL_SANITIZER" ] && [ $((number % 12)) != 1 ] && return
  { cat head.py; sed '/^# clean$/,$d' both.py; } > trap.py
  { cat head.py; sed '1,/^# clean$/d' both.py; } > clean.py
  out=$(timeout 60 "$DTREPL" -n 4 --verify trap.py 2>&1)
  if echo "$out" | grep "^$2 T[0-9]* \|^\[.*$2 T[0-9]* \| $2 T[0-9]* " |
       grep -q "trap.py:1[1-9].*$3\|trap.py:2[0-9].*$3" &&
     echo "$out" | grep -q "${4:-.}"; then
    echo "ok - $1"; passed=$((passed + 1))
  else
    echo "not ok - $1"; failed=$((failed + 1))
    echo "$out" | sed 's/^/    | /'
  fi
  out=$(timeout 60 "$DTREPL" -n 4 --verify clean.py 2>&1); st=$?
  if [ $st = 0 ] && ! echo "$out" | grep -q "DT1[0-9][0-9][0-9]"; then
    passed=$((passed + 1))
  else
    echo "not ok - $1, clean: status $st"; failed=$((failed + 1))
    echo "$out" | sed 's/^/    | /'
  fi
}

has "clipping by one rank's norm" DT1001 _local_scalar_dense "partial tensor" <<'EOF'
g = distribute_tensor(torch.arange(60.).view(6, 10), mesh, [Shard(1)])
norm = torch.linalg.vector_norm(g)
g.mul_(min(1.0, 1.0 / (norm.item() + 1e-6)))
# clean
g = distribute_tensor(torch.arange(60.).view(6, 10), mesh, [Shard(1)])
norm = torch.linalg.vector_norm(g)
g.mul_(min(1.0, 1.0 / (norm.full_tensor().item() + 1e-6)))
EOF
has "heads of its own on every rank" DT1005 to_local_backward <<'EOF'
q = distribute_tensor(torch.ones(2, 6), mesh, [Replicate()]).requires_grad_()
w = torch.arange(96.).view(6, 16)[:, r * 4:(r + 1) * 4]
(q.to_local() @ w).pow(2).sum().backward()
# clean
q = distribute_tensor(torch.ones(2, 6), mesh, [Replicate()]).requires_grad_()
w = torch.arange(96.).view(6, 16)[:, r * 4:(r + 1) * 4]
(q.to_local(grad_placements=[Partial()]) @ w).pow(2).sum().backward()
EOF
has "token ids that differ" DT1006 from_local "hold different" <<'EOF'
ids = torch.arange(12).view(3, 4) + r
t = DTensor.from_local(ids, mesh, [Replicate()])
# clean
ids = torch.arange(12).view(3, 4)
t = DTensor.from_local(ids, mesh, [Replicate()])
EOF
has "a row of a shard is changed" DT1013 add_ <<'EOF'
x = distribute_tensor(torch.zeros(8, 3), mesh, [Shard(0)])
x[1].add_(5)
# clean
x = distribute_tensor(torch.zeros(8, 3), mesh, [Shard(0)])
x[:, 1].add_(5)
EOF
has "weighted classes" DT1015 nll_loss "mean of means" <<'EOF'
torch.manual_seed(0)
lg = distribute_tensor(torch.randn(8, 6), mesh, [Shard(0)])
tg = distribute_tensor(torch.tensor([0, 1, 2, 3, 4, 5, 0, 1]), mesh, [Shard(0)])
w = distribute_tensor(torch.tensor([1., 2., 3., 1., 1., 9.]), mesh, [Replicate()])
loss = F.cross_entropy(lg, tg, weight=w)
# clean
torch.manual_seed(0)
lg = distribute_tensor(torch.randn(8, 6), mesh, [Shard(0)])
tg = distribute_tensor(torch.tensor([0, 1, 2, 3, 4, 5, 0, 1]), mesh, [Shard(0)])
loss = F.cross_entropy(lg, tg)
EOF
has "entropy inside loss_parallel" DT1016 _log_softmax_backward "never met" <<'EOF'
x = distribute_tensor(torch.randn(4, 16), mesh, [Shard(1)]).requires_grad_()
with loss_parallel():
    p = F.log_softmax(x, dim=-1)
    (-(p.exp() * p).sum()).backward()
# clean
x = distribute_tensor(torch.randn(4, 16), mesh, [Shard(1)]).requires_grad_()
with loss_parallel():
    F.cross_entropy(x, torch.tensor([0, 1, 2, 3])).backward()
EOF
has "an optimizer made too early" DT1025 optimizer.step <<'EOF'
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
parallelize_module(model, mesh, plan)
model(torch.ones(3, 8)).sum().backward()
opt.step()
# clean
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
parallelize_module(model, mesh, plan)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
model(torch.ones(3, 8)).sum().backward()
opt.step()
EOF
has "meta memory that nobody wrote" DT1027 addmm <<'EOF'
m = nn.Linear(4, 4, device="meta")
m.to_empty(device="cpu")
y = m(torch.ones(2, 4))
# clean
m = nn.Linear(4, 4, device="meta")
m.to_empty(device="cpu")
m.reset_parameters()
y = m(torch.ones(2, 4))
EOF
has "read before wait" DT1028 mul <<'EOF'
t = torch.ones(4) * r
work = dist.all_reduce(t, async_op=True)
y = t * 2
work.wait()
# clean
t = torch.ones(4) * r
work = dist.all_reduce(t, async_op=True)
work.wait()
y = t * 2
EOF
has "scale of its own on every rank" DT1030 mul "counts as replicated" <<'EOF'
x = distribute_tensor(torch.ones(8, 2), mesh, [Shard(0)])
y = x * torch.tensor([1.0 + r])
# clean
x = distribute_tensor(torch.ones(8, 2), mesh, [Shard(0)])
y = x * torch.tensor([2.0])
EOF
has "local token counts" DT1039 div "differs between ranks" <<'EOF'
x = distribute_tensor(torch.ones(16, 2), mesh, [Shard(0)])
loss = x.sum() / [3, 5, 2, 6][r]
# clean
x = distribute_tensor(torch.ones(16, 2), mesh, [Shard(0)])
loss = x.sum() / sum([3, 5, 2, 6])
EOF
has "whole gradients called addends" DT1008 from_local <<'EOF'
g = DTensor.from_local(torch.ones(5) * 3, mesh, [Partial("sum")])
# clean
g = DTensor.from_local(torch.ones(5) * 3, mesh, [Partial("avg")])
EOF
has "a running sum along the shard" DT1037 cumsum "called with 1" <<'EOF'
x = distribute_tensor(torch.ones(3, 12), mesh, [Shard(1)])
y = torch.cumsum(x, dim=-1)
# clean
x = distribute_tensor(torch.ones(3, 12), mesh, [Shard(1)])
y = torch.cumsum(x, dim=1)
EOF
has "data of its own on every rank" DT1035 distribute_tensor "rank 0's" <<'EOF'
x = distribute_tensor(torch.full((8, 2), float(r)), mesh, [Shard(0)])
# clean
x = DTensor.from_local(torch.full((2, 2), float(r)), mesh, [Shard(0)])
EOF
has "a gradient nobody reduces" DT1046 add_ <<'EOF'
w = nn.Parameter(torch.ones(6))
dist.broadcast(w.data, src=0)
opt = torch.optim.SGD([w], lr=0.1)
(w * (torch.arange(6.) + r)).sum().backward()
opt.step()
# clean
w = nn.Parameter(torch.ones(6))
dist.broadcast(w.data, src=0)
opt = torch.optim.SGD([w], lr=0.1)
(w * (torch.arange(6.) + r)).sum().backward()
dist.all_reduce(w.grad)
opt.step()
EOF
has "columns joined as rows" DT1026 cat <<'EOF'
w = distribute_tensor(torch.arange(64.).view(8, 8), mesh, [Shard(1)])
parts = [torch.empty(8, 2) for _ in range(4)]
dist.all_gather(parts, w.to_local().contiguous())
full = torch.cat(parts, dim=0)
# clean
w = distribute_tensor(torch.arange(64.).view(8, 8), mesh, [Shard(1)])
parts = [torch.empty(8, 2) for _ in range(4)]
dist.all_gather(parts, w.to_local().contiguous())
full = torch.cat(parts, dim=1)
EOF
has "ids of the whole table" DT1043 embedding <<'EOF'
table = distribute_tensor(torch.arange(48.).view(16, 3), mesh, [Shard(0)])
y = F.embedding(torch.tensor([0, 5, 9, 14]) % 4, table.to_local())
dist.all_reduce(y)
# clean
table = distribute_tensor(torch.arange(48.).view(16, 3), mesh, [Shard(0)])
ids = torch.tensor([0, 5, 9, 14]) - 4 * r
out = (ids < 0) | (ids >= 4)
y = F.embedding(ids.masked_fill(out, 0), table.to_local())
y = y.masked_fill(out.unsqueeze(-1), 0)
dist.all_reduce(y)
EOF
echo "$passed passed, $failed failed"
want=34
[ -n "$DTREPL_SANITIZER" ] && want=4
[ "$failed" = 0 ] && [ "$passed" = $want ]
