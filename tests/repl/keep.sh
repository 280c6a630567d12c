#!/bin/sh
# SPDX-License-Identifier: MIT
# TEST: timeout=60 tags=quick,one_thread
# After a program the prompt has its names and its record, in both languages,
# also when it failed.
. "$(dirname "$0")/term.inc"
cd "$tmp" || exit 1
out=$tmp/out
play () { printf '%s\n' "$2" | "$DTREPL" -q $1 >"$out" 2>&1; code=$?; }
has () { grep -qF -- "$1" "$out"; }

cat >a.lua <<'END'
-- dtrepl: ranks=2
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.ones(8, 16), mesh, "S(0)")
local function twice(a) local inner = a * 2 return inner end
local y = twice(x)
y = y:redistribute(mesh, "R")
local last = 5   -- the end
END
play "-i a.lua" 'tostring(y.placements[1]) .. last .. tostring(inner)
twice(x).shape
:ledger
_DT_KEEP'
check "locals of the chunk" has "R5nil"
check "its functions" has "torch.Size([8, 16])"
check "the record" has "a.lua:6"
check "nothing of ours is left" test "$(tail -1 "$out")" = nil
# What was found in the program is one finding, however often one asks.
play "-i $here/tests/debug/fixtures/one_batch.py" ':findings
:mem
:findings
'
check "no finding comes again" test "$(grep -c DT1057 "$out")" = 2
check "nor is counted again" test "$(grep -c times "$out")" = 0
play "-i $here/tests/debug/fixtures/one_batch.py" ':grads'
check ":grads knows what was found" has "net.module[2].bias: every rank computed the same gradients"
check "and counts it" has "4 leaves, 1 finding"
# What an optimizer of the program's own keeps, and its parameters' names: not
# those of a loop that is over.
cat >own.py <<'END'
import torch
from torch import nn
class Average(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
    @torch.no_grad()
    def step(self):
        for p in self.param_groups[0]["params"]:
            state = self.state[p]
            state["mean"] = 0.5 * (state.get("mean", torch.zeros_like(p)) + p.grad)
            p.sub_(state["mean"], alpha=0.1)
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16, bias=False)
    def forward(self, x):
        return self.a(x)
net = nn.Sequential(Pair(), Pair())
opt = Average(net.parameters())
def train():
    for b in net:
        b.train()
    for step in range(2):
        net(torch.ones(4, 16)).sum().backward()
        opt.step()
        opt.zero_grad()
for b in net:
    b.train()
train()
END
play "-n 1 -i own.py" ':mem
:grads'
mem () { grep -q "^$1  *$2 " "$out"; }
check "parameters by hand" mem parameters "2 kB"
check "the state that is held" mem optimizer "2 kB"
check "no activations" mem activations "0 B"
check "the outermost module names a parameter" has "net[1].a.weight"
check "not the loop" test "$(grep -c "^b" "$out")" = 0
play "-d a.lua" ':c
last + 1
:mem'
check "-d stays" has "the program has ended: its names are here"
check "-d has the names" has "6"
check "and :mem" has "activations"
check "-d ends well" test $code = 0
play "-d a.lua" ':line
:line
:line
:line
:line
last'
check "no line behind the end" test "$(grep -c 'stopped' "$out")" = 5
echo 'error("bad")' >>a.lua
play "-i a.lua" 'last + 2'
check "a program that failed" has "7"
printf 'local k = 4\nreturn k' >b.lua
play "-i b.lua" '"k is " .. tostring(k)'
check "a chunk that returns runs as ever" has "k is "

cat >a.py <<'END'
# dtrepl: ranks=2
import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import distribute_tensor, Shard

class Net(torch.nn.Module):
    pass

mesh = init_device_mesh("cpu", (2,))
w = distribute_tensor(torch.ones(4, 4), mesh, [Shard(0)])
sizes = [1, 2]
END
play "-i a.py" 'w.shape
:python sizes + [len(w.placements)]
:python Net().training
:python sizes = 3
sizes'
check "globals of Python for Lua" has "torch.Size([4, 4])"
check "and for Python" has "[1, 2, 1]"
check "its classes" has "True"
check "and what is set after it" test "$(tail -1 "$out")" = 3

# A parameter of a module that a program left in a local has its name, and keeps
# it when values were shown (_, _1).
cat >kept.lua <<'END'
-- dtrepl: ranks=2
local net = nn.Linear(4, 4)
dt.fully_shard(net, {mesh = dt.init_device_mesh("cpu", {2})})
local h = net(dt.ones(2, 4))
END
play "-i kept.lua" 'net
h.shape
:export html kept.html
:blame net.weight'
check "a parameter of a local" grep -q '^net.weight  ' "$out"
check "in the page, too" grep -q '<td>net.weight</td>' kept.html

# Mended at the stop, gone on with to the end and left: the ranks end together.
cat >mixed.lua <<'END'
-- dtrepl: ranks=2
local mesh = dt.init_device_mesh("cpu", {2})
local x = dt.distribute_tensor(dt.randn(4, 8), mesh, {Shard(1)})
local bias = dt.ones(4, 8)
local y = x + bias
print("went on")
END
printf '%s\n' ':fix 1' ':c' ':q' | "$DTREPL" -i mixed.lua >"$out" 2>&1
code=$?
check "it goes on" has "went on"
check "and ends without a word" test "$code" = 0 -a "$(tail -1 "$out")" = "went on"
# Breakpoints by a function's name and, after the end, by a line of the script;
# a watched name that other functions do not know; names from elsewhere.
cat >steps.py <<'END'
import torch
def inner(t):
    """Twice."""
    return t.mul(2)
def train(n):
    loss = torch.ones(2)
    for step in range(n):
        if step == 1:
            loss = loss + 1
        inner(torch.zeros(2))
    return loss
train(3)
END
play "-n 1 -d steps.py" ':tbreak inner
:c
:up
:watch loss
inner
:comm
:c
:delete
:c
:break 3
:report'
check "a function of Python's" has ">   4      return t.mul(2)"
check "a function is shown as one" has "<function inner at steps.py:2>"
check "what others call it" has "no command :comm; here it is :ledger"
check "a watched name, once" test "$(grep -c 'breakpoint 2' "$out")" = 1
check "where it changed" has "steps.py:10"
check "a line is the script's" has "3   steps.py:3"
check "nothing to report" has "nothing failed, and nothing was found"
# What Python made is shown as Python shows it, at a stop and after the end; Lua's
# way of reading it is not Python's.
cat >made.py <<'END'
import torch
state, losses, none = {"lr": 0.1, "n": [1]}, [3.5, 2], None
opt = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
torch.zeros(2)
END
play "-n 1 -d made.py" ':break 4
:c
state
state["lr"]
:c
losses
losses[0]
none
opt'
check "a dict at a stop" has "{'lr': 0.1, 'n': [1]}"
check "its items" has '  state is a dict of Python: :python state["lr"]'
check "a list after the end" has "[3.5, 2]"
check "its items, too" has "  losses is a list of Python: :python losses[0]"
check "None" has "None"
check "an optimizer" has "Parameter Group 0"
done_testing
