#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: needs=data timeout=300 tags=slow
# Twelve everyday tasks at a real terminal, in the steps a newcomer takes: the
# program is started as it is, the first guess is typed, the answer is read.
case $DTREPL_SANITIZER in
  *thread*) echo "SKIP: TSan is too slow for twelve sessions"; exit 77 ;;
esac
. "$(dirname "$0")/term.inc"
term_open 110 45
run_shell "cd $tmp"

cat >"$tmp/matmul.lua" <<'P'
-- dtrepl: ranks=4
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.ones(8, 4), mesh, "S(0)")
local w = dt.distribute_tensor(dt.ones(4, 4), mesh, "S(0)")
local y = x:matmul(w)
local s = y:sum(0)
P
cat >"$tmp/rotary.py" <<'P'
# dtrepl: ranks=2
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard

mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
q = distribute_tensor(torch.ones(2, 4, 6, 4), mesh, [Shard(1)])
k = distribute_tensor(torch.ones(2, 4, 6, 4), mesh, [Shard(1)])
cos = torch.ones(6, 4)


def rotate(t):
    return t * cos


print(rotate(q).placements, rotate(k).placements)
P
cat >"$tmp/rule.lua" <<'P'
-- dtrepl: ranks=2
local mesh = dt.init_device_mesh("cpu", {2})
dt.library.define("mine::twice(Tensor x) -> Tensor", {
  impl = function(x) return x * 2 end,
  meta = function(x) return x:new_empty(x.shape) end,
})
local x = dt.distribute_tensor(dt.ones(4, 2), mesh, "S(0)")
local y = dt.ops.mine.twice.default(x)
print("after the rule", y:sum():full_tensor():item())
P
cat >"$tmp/born.lua" <<'P'
-- dtrepl: ranks=4
local mesh = dt.init_device_mesh("cpu", {4}, {mesh_dim_names = {"tp"}})
local x = dt.distribute_tensor(dt.arange(8):to(dt.float32), mesh, "S(0)")
local y = (x - 3):sqrt()
local z = y + 1
print(z:sum():full_tensor():item())
P
cat >"$tmp/apart.py" <<'P'
# dtrepl: ranks=2
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard, Replicate

mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.ones(8, 4), mesh, [Shard(0)])
if dist.get_rank() == 1:
    x = x.redistribute(placements=[Replicate()])
print(x.sum().full_tensor())
P
cat >"$tmp/train.py" <<'P'
# dtrepl: ranks=4
import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import (
    parallelize_module, ColwiseParallel, RowwiseParallel)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16, bias=False)
        self.down = nn.Linear(16, 8, bias=False)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


torch.manual_seed(0)
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
net = Block()
parallelize_module(net, mesh["tp"], {
    "up": ColwiseParallel(), "down": RowwiseParallel()})
fully_shard(net, mesh=mesh["dp"])
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
x = torch.randn(4, 8) + mesh["dp"].get_local_rank()
loss = net(x).pow(2).mean()
loss.backward()
opt.step()
print("loss", round(loss.item(), 4))
P
begin () { run_shell clear; t clear-history; line "$1"; }
leave () { line ':q'; until_true "$PATIENCE" at_shell || not_ok "back at the shell"; }

# 1. Why is there an all-gather?
begin "$DTREPL -i matmul.lua"
wait_for "dt>"
line ':why y'
wait_for "chosen"
wait_for "moved: 1 all_gather_into_tensor on tp, 16 B/rank, implicit"
line ':whatif w = R'
wait_for "16 B -> 0 B"

# 2. Who made it Partial?
clear_screen
leave
begin "$DTREPL -d matmul.lua"
wait_for "stopped before aten.ones.default #1"
line ':b placement P'
line ':c'
wait_for "stopped after aten.sum.dim_IntList"
line ':c'
wait_for "the program has ended"
line ':blame s'
wait_for "S(0) of argument 0 gives P(sum)"
wait_for "set here"

# 3. What sends most bytes?
line ':ledger'
wait_for "by line"
wait_for "matmul.lua:3"
check "sorted: most bytes first" sh -c "screen_rows=\$(tmux -L $sock capture-pane -p -S -200 |
  sed -n '/by operator/,/by module/p' | grep -n 'distribute_tensor\\|aten.mm' | head -1);
  echo \"\$screen_rows\" | grep -q distribute_tensor"

# 4. What does it look like, and 5. what if it were cut otherwise?
clear_screen
line ':show y'
wait_for "(3,)            [2, 4]            [6:8, 0:4]"
line ':show mesh'
wait_for "mesh (tp=4)  cpu  tp to the right"
line ':whatif x = S(1)'
wait_for "x: S(0) -> S(1)"
leave

# 6. A plain tensor in a model: one fix for all its uses.
begin "$DTREPL -i rotary.py"
wait_for "DT0101 mixed torch.Tensor and DTensor"
line ':fix'
wait_for "distribute_tensor(cos, mesh, [Replicate()])"
line ':fix 1 everywhere'
wait_for "everywhere: cos"
line ':c'
wait_for "(Shard(dim=1),) (Shard(dim=1),)"
leave

# 7. A rule is missing.
begin "$DTREPL -i rule.lua"
wait_for "DT0201 no sharding strategy for mine.twice.default"
line ':doctor'
wait_for "placements are valid"
line ':fix 1'
line ':c'
wait_for "after the rule"
leave

# 8. Where was NaN born?  On two ranks of four; all stop there.
begin "$DTREPL -d born.lua"
wait_for "stopped before aten.arange.default #1"
line ':break nan'
line ':c'
wait_for "stopped after aten.sqrt.default"
wait_for "rank 1: NaN at [2], in 1 of 2 elements here; born here"
line ':q'
until_true "$PATIENCE" at_shell

# 9. It hangs.
begin "$DTREPL apart.py"
wait_for "DT0502 RuntimeError: ranks took different paths"
wait_for "[0]   at apart.py:11"
wait_for "[1]   at apart.py:10"

# 10. Stepping through FSDP2 with tensor parallel, memory by hand: 2 x 8 x 16
# floats over 4 ranks are 256 B of parameters a rank, twice that of moments.
begin "$DTREPL -d train.py"
wait_for "stopped before aten.empty.memory_format"
line ':break train.py:29'
line ':c'
wait_for "breakpoint 1"
line ':s'
line ':display x.shape'
line ':c'
wait_for "the program has ended"
clear_screen
line ':mem'
wait_for "parameters   256 B"
wait_for "optimizer    512 B"
line ':grads'
wait_for "net.up.weight"
line 'loss'
wait_for "tensor("

# 11. Tell others: a report, a page, a script for PyTorch.
clear_screen
line ':report report.md'
line ':export html page.html'
wait_for "operators in page.html"
line ':export torch again.py'
wait_for "operators in again.py"
check "the page has the parameters" grep -q '<td>net.up.weight</td>' "$tmp/page.html"
check "the script is PyTorch's" grep -q 'import torch' "$tmp/again.py"
leave

# 12. How large is it on 512 ranks?  A script says so, without any data.
begin "$DTREPL $here/lua/examples/llama_plan.lua --size 8B --mesh 64x8 --layers 2"
wait_for "parameters" 60
until_true 60 at_shell || not_ok "it ends"

done_testing
