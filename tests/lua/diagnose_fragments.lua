-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- The code of a report as a program: where it stands in the text, which names
-- it takes for granted, and what is put in their place.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local export = require "dt.diagnose.export"
local fragments = require "dt.diagnose.fragments"
local own = require "dt.diagnose.own"
local free = require "python.free"
local keywords = require "dt.diagnose.keywords"
local launch = require "dt.diagnose.launch"
local parser = require "python.parser"

-- ---- names that a text does not bind ---------------------------------------

local function names(text)
  local list = free.names(parser.parse(text))
  table.sort(list)
  return table.concat(list, " ")
end

T.eq(names "y = model(x)\nx = 3\nz = [a for a in q if a > w]\n", "model q w x")
T.eq(names "x = x.view(-1)\n", "x", "read before it is bound")
T.eq(names "total += 1\n", "total")
T.eq(names "def f(a, b=c):\n    d = a\n    return d + e + later\nlater = 1\n",
  "c e", "a body runs later")
T.eq(names "@deco\nclass A(Base):\n    def g(self): return other\n",
  "Base deco other")
T.eq(names "with f() as m:\n    u = m\nfor p in model.parts():\n    p(g)\n",
  "f g model")
T.eq(names "h = lambda k: k + n\n", "n")
T.eq(names "", "")

-- ---- where it stands, and what is added --------------------------------------

-- ---- tensors as DebugMode prints them ----------------------------------------

local grammar = require "dt.diagnose.grammar"
local function tensor(text)
  local t = grammar.debug_tensor:match(text)
  return t and ("%s %s %s %s"):format(t.kind, t.dtype,
    table.concat(t.shape, ","), t.placements and #t.placements or "none")
end
T.eq(tensor "dt: f32[8, 32]| S(0)R", "dtensor f32 8,32 2")
T.eq(tensor "dt: f32[8, 32][S(0)R]", "dtensor f32 8,32 2", "another release's")
T.eq(tensor "dt$3: f32[8][R]", "dtensor f32 8 1")
T.eq(tensor "t: f32[8]", "tensor f32 8 none")
T.eq(tensor "dt: f32[8]S(0)", nil, "placements stand behind a bar or in brackets")
T.eq(tensor "dt: f32[8][R", nil)

local function programs(text) return fragments.programs(diagnose.read(text)) end
local function has(text, what)
  T.ok(text and text:find(what, 1, true), "no " .. what .. " in:\n"
    .. tostring(text))
end

-- A whole program is left alone.
local list = programs [[
It fails:
```python
import torch
from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
mesh = init_device_mesh("cuda", (2,))
x = distribute_tensor(torch.ones(4), mesh, [Shard(0)])
x + torch.ones(4)
```
]]
T.eq(#list, 1)
T.eq(list[1].added, 0)
T.eq(list[1].invented, false)

-- Lines between prose, of a session, without imports and mesh.
list = programs [[
I slice the mesh like this,
>>> dp_tp = mesh_2d["dp", "tp"]
>>> mesh_2d["ep"]
and get a KeyError. Why does it not say which names there are?
]]
T.eq(#list, 1)
has(list[1].text, "from torch.distributed.device_mesh import init_device_mesh\n")
has(list[1].text, 'mesh_2d = init_device_mesh("cpu", (2, 2, 2,), '
  .. 'mesh_dim_names=("dp", "tp", "ep",))')
has(list[1].text, 'mesh_2d["ep"]')
T.eq(list[1].ranks, 8)
T.eq(list[1].invented, false)

-- A model, a tensor: made up, and said to be.
list = programs [[
```
for layer in model.model.layers:
    fully_shard(layer)
fully_shard(model)
model(input_ids)
```
]]
T.eq(list[1].invented, true)
has(list[1].text, "class InnerNet(nn.Module):")
has(list[1].text, "self.layers = nn.ModuleList(")
has(list[1].text, "input_ids = torch.zeros(2, 8, dtype=torch.long)")

-- A function that nobody calls is the program; a class is made, not shown.
list = programs [[
```python
def main():
    m = Block().cuda()
    fully_shard(m.fc1)
    fully_shard(m)
```
]]
has(list[1].text, "class Block(nn.Module):")
has(list[1].text, "self.fc1 = nn.Linear(16, 16)")
T.ok(list[1].text:find "\nmain%(%)$")

-- Its parts are run in an order that can be; tied where the text says so; a
-- model that no line calls is called; generate goes around its hooks.
list = programs [[
tie_word_embeddings is set.
```
fully_shard(model.lm_head)
fully_shard(model.embed_tokens)
fully_shard(model)
```
]]
has(list[1].text, "x = self.embed_tokens(x)\n        x = self.lm_head(x)\n")
has(list[1].text, "self.lm_head.weight = self.embed_tokens.weight\n")
T.ok(list[1].text:find "\nmodel%(torch%.zeros%(2, 8, dtype=torch%.long%)%)$")
list = programs [[
```
fully_shard(model)
out = model.generate(**batch)
```
]]
has(list[1].text, "    def generate(self, *args, **kwargs):\n")
has(list[1].text, "batch = {}\n")

-- What transformers would load; settings of which nothing is known.
list = programs [[
```
with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(args.config)
for layer in model.model.layers:
    fully_shard(layer)
```
]]
has(list[1].text, "    def from_config(cls, *args, **kwargs):\n")
has(list[1].text, "self.layers = nn.ModuleList(")
has(list[1].text, "args = Settings()")

-- A module by a name of the reporter's own.
list = programs [[
```
fully_shard(model)
sd = state.get_model_state_dict(model)
```
]]
has(list[1].text, "import torch.distributed.checkpoint.state_dict as state\n")

-- Tracebacks, their source lines and prose are no code.
T.eq(#programs [[
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    loss = model(x, mesh)
RuntimeError: mesh(4) does not fit
The mesh (of two dimensions) is used by fully_shard (see the docs).
]], 0)
-- Nothing of several ranks.
T.eq(#programs "```\nx = torch.ones(4)\ny = x.view(3)\n```\n", 0)

-- ---- imports ------------------------------------------------------------------

for module, list in pairs(require("dt.diagnose.stand_ins").modules) do
  for name in list:gmatch "%S+" do
    local said = dt.debug.command("python", ("hasattr(__import__('%s', "
      .. "fromlist=['x']), '%s')"):format(module, name)).text
    T.eq(said:match "%a+", "True", name)
  end
end

-- ---- what a script for the CPU leaves out ---------------------------------------

for _, devices in ipairs {"[args.rank], output_device=args.rank",
  "[ids[0]], output_device=ids[0]", "[0], output_device=int(os.environ['RANK'])",
  '[rank], output_device=torch.device("cuda", rank)', "[rank], output_device=rank"} do
  local text = export.python {reproduced = true, own = true, added = 0, ranks = 2,
    script = "model = DDP(net, device_ids=" .. devices .. ", static_graph=True)"}
  T.has(text, "\nmodel = DDP(net, static_graph=True)\n")
end

-- What has to be first stays first; programs that start processes are left to it.
do
  local text = export.python {reproduced = true, own = true, added = 0, ranks = 2,
    script = "from __future__ import annotations\nimport torch",
    command = {args = {"cummax"}, local_rank = true}}
  T.ok(text:find "^#[^\n]*\nfrom __future__ import annotations\n", text)
  T.has(text, 'sys.argv[1:] = ["--local_rank=" + os.environ["LOCAL_RANK"], "cummax"]')
  text = export.python {reproduced = true, own = true, added = 0, ranks = 2,
    script = "mp.spawn(run, nprocs=2)"}
  T.eq(text:find("os.fork", 1, true), nil, "it makes its own processes")
end

-- ---- what the program was started with -----------------------------------------

local function given(text)
  local c = launch.read(text)
  return table.concat(c.args, " ") .. (c.local_rank and " local_rank" or "")
end
T.eq(given "`torchrun --nproc-per-node 2 repro.py cummax` fails with", "cummax")
T.eq(given "$ torchrun --nproc_per_node=2 \\\n  a/train.py --dim 8 'x' | tee log",
  "--dim 8 x")
T.eq(given "python -m torch.distributed.launch --nproc_per_node=2 debug.py",
  " local_rank")
T.eq(given "python a.py $HOME; rm b", "")
T.eq(given "python repro.py hangs on 2 GPUs", "", "a sentence goes on")
T.eq(given 'File "a.py", line 3\nno command', "")
T.eq(given "Running python repro.py fails with a hang", "", "a sentence")
T.eq(given "I use python 3.10, my train.py hangs", "")
T.eq(given "python setup.py install\ntorchrun repro.py --dim 8", "--dim 8")
T.eq(given "A=1 B_2=x,y uv run torchrun repro.py --lr $LR", "",
  "no option without its value")
T.eq(given "Run it with: mpirun -np 2 /opt/bin/python3.11 -u x.py --a 'b c' -d # two",
  "--a b c -d")
T.eq(given "pip install y && /usr/bin/python -m torch.distributed.launch x.py a >log",
  "a local_rank")
T.has(own.scripts(diagnose.read("torchrun x.py max\n```\nimport sys\nfully_shard(model)"
  .. "\n```\n"), "")[1].script, '"report.py", "max")')

-- What the report says of a tensor that its code does not make.
local told = programs [[
On two ranks x is a DTensor of shape [8, 64], Shard(0); w: [Replicate()], (64, 4).
```
y = x.unfold(1, 16, 16)
```
]]
T.has(told[1].text, "x = distribute_tensor(torch.ones(8, 64), mesh, [Shard(0)])")
T.eq(told[1].invented, false, "nothing is made up")
T.eq(told[1].ranks, 2)
T.has(programs [[
x has placements (Partial(sum), Replicate())
```
x.clamp_(0, 10)
```
]][1].text, 'DTensor.from_local(torch.ones(8, 8), mesh, [Partial(), Replicate()])')
T.eq(#programs "x is large\n```\nx.clamp_(0, 10)\n```\n", 0, "of no placements")

-- A line that sets `rank` is no rank's prefix.
T.eq(#programs [[
```
import torch.distributed as dist
rank = dist.get_rank()
dist.broadcast(torch.ones(2), src=rank)
```
]], 1)

T.eq(#programs "```\nrank0 = dist.get_rank() == 0\nfully_shard(model)\n```\n", 1)

-- A fix that is one keyword, in the report's own call.
T.eq(keywords.apply("m = DistributedDataParallel(net,\n  device_ids=[0],\n)",
  "DDP(model, static_graph=True)"),
  "m = DistributedDataParallel(net,\n  device_ids=[0], static_graph=True)")
T.eq(keywords.apply("FSDP(m, use_orig_params=False)",
  "FSDP(model, use_orig_params=True)"), "FSDP(m, use_orig_params=True)")
T.eq(keywords.apply("Colwise()", "Colwise(use_local_output=False)"),
  "Colwise(use_local_output=False)")
T.eq(keywords.apply("f(x)", "FSDP(model, use_orig_params=True)"), nil)
T.eq(keywords.apply("f(x)", "f(x, g=h(1))"), nil, "no constant")
T.eq(keywords.apply("f(x)", "x = f(y, a=True)\nz = 3"), nil, "more than a call")
for _, left in ipairs {"class f(g):", "def f(x):", "f(x,\n  # y\n)", "f(x, a=h(1))",
  "f(x, a=not b)", "f(x, a=True)"} do
  T.eq(keywords.apply(left, "f(y, a=True)"), nil, left)
end

-- ---- ranks -------------------------------------------------------------------

local function ranks(text)
  return own.scripts(diagnose.read(text), "")[1].ranks
end
T.eq(ranks "```\nmesh = init_device_mesh('cuda', [4], mesh_dim_names=['tp'])\n```\n",
  4)
T.eq(ranks "```\nmesh = DeviceMesh('cuda', [[0, 1, 2], [3, 4, 5]])\n```\n", 6)
T.eq(ranks "```\nmesh = DeviceMesh('cpu', torch.arange(8).view(2, 4))\n```\n", 8)
T.eq(ranks("```\ndist.init_process_group('fake', rank=0, world_size=3)\n"
  .. "mesh = init_device_mesh('cpu', (n,))\n```\n"), 3)
T.eq(ranks "torchrun --nproc_per_node=4 a.py\n```\nfully_shard(model)\n```\n", 4)

T.finish()
