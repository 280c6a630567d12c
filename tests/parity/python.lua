-- SPDX-License-Identifier: MIT
-- TEST: ranks=1 world=threads args=--trust timeout=300
-- python.lua: `dtrepl program.py`: the PyTorch programs of tests/parity/
-- bridge run as they stand and end as they do in PyTorch, with the line of
-- the Python file; what is not understood is named with its line.  And the
-- language by itself, against what Python prints (tests/parity/language).

local program = os.getenv("DTREPL") or "build/dtrepl"
local dir = "tests/parity/bridge/"

local function run(cmd)
  local p = assert(io.popen(cmd .. " 2>&1"))
  local text = p:read("a")
  local _, _, code = p:close()
  return text, code
end

-- Name, and for those that die where and of what; or what they print.
local programs = {
  {"attention_custom", 1, "attention_custom.py:%d+",
    "no sharding strategy for npu.npu_fusion_attention.default"},
  {"toy_mlp", 1, "toy_mlp.py:%d+", "mixed torch.Tensor and DTensor in aten.addmm.default"},
  {"submesh", 1, "submesh.py:%d+", "Invalid mesh_dim_names %('abcd',%)"},
  {"no_strategy", 1, "no_strategy.py:11", "aten.bincount.default"},
  {"view_error", 1, "view_error.py:12", "aten.mm.default"},
  {"backward_mixed", 1, "backward_mixed.py:18",
    "mixed torch.Tensor and DTensor in aten.mul.Tensor"},
  {"matmul", 0, "torch.Size([6, 4])"},
  {"uneven", 0, "tensor(126.) torch.Size([7]) (Shard(dim=1),)"},
  {"partial", 0, "torch.Size([4, 8]) (Partial(max), Replicate())"}, {"embedding", 0},
  {"adamw", 0}, {"fsdp", 0}, {"index", 0},
}

local passed, failed = 0, 0
local function check(what, ok, text)
  if ok then
    passed = passed + 1
  else
    failed = failed + 1
    print("not ok - " .. what .. "\n" .. tostring(text))
  end
end

for _, p in ipairs(programs) do
  local text, status = run(program .. " " .. dir .. p[1] .. ".py")
  local ok = status == p[2]
  for i = 3, #p do ok = ok and text:find(p[i], 1, status == 0) ~= nil end
  check(p[1], ok, text)
end

local out, code = run(program .. " -n 4 " .. dir .. "everyday.py")
for _, want in ipairs {"352 ['fc.weight', 'fc.bias']",
  "defaultdict(<class 'int'>, {<OpOverloadPacket(op='c10d.scatter_')>: 2, "
    .. "<OpOverloadPacket(op='c10d_functional.all_gather_into_tensor')>: 2}) 4",
  "torch.Size([3, 4]) tensor(True)",
  "Operator mylib.scale.default does not have a sharding strategy",
  "RuntimeError: aten.masked_fill.Scalar got mixed", "\n(Replicate(),)\n"} do
  check("everyday: " .. want, code == 0 and out:find(want, 1, true), out)
end

out, code = run(program .. " -n 4 " .. dir .. "training_loop.py")
for _, want in ipairs {"step   1 | loss 0.", " | lr 7.50e-03 | ",
  "'ff.w2.weight': (8, 16)"} do
  check("a training loop: " .. want, code == 0 and out:find(want, 1, true), out)
end

out, code = run(program .. " -n 4 " .. dir .. "unit_style.py")
for _, want in ipairs {"test_inplace_op (__main__.DistTensorOpsTest.test_inplace_op) ... ok",
  "test_fails (__main__.DistTensorOpsTest.test_fails) ... FAIL",
  "Ran 3 tests in ", "FAILED (failures=1)", "Tensor-likes are not close!",
  "unit_style.py\", line 36"} do
  check("unit tests: " .. want, code == 1 and out:find(want, 1, true), out)
end

local path = os.tmpname()
os.remove(path)
path = path .. ".py"
local function text(source, ranks)
  local f = assert(io.open(path, "w"))
  f:write(source)
  f:close()
  local printed, status = run(("%s -n %d %s"):format(program, ranks or 2,
    path))
  os.remove(path)
  return printed, status
end

out, code = text("import torch\nx = torch.ones(2)\nimport scipy.stats\n"
  .. "scipy.stats.norm(0)\n")
check("a package that is not here", code == 1 and out:find("No module named "
  .. "'scipy'", 1, true) and out:find(":3"), out)
check("the recorder is offered", out:find("dtrepl_record.py", 1, true), out)
out, code = text("x = 1\nx ? 2\n")
check("a construct that is not known", code == 1 and out:find("line 2"), out)
out, code = text([[
import os, sys
import torch.distributed as dist
def main(rank):
    dist.init_process_group("gloo", rank=rank,
                            world_size=int(os.environ["WORLD_SIZE"]))
    print(f"{dist.get_world_size()} ranks", len(sys.argv))
if __name__ == "__main__":
    main(int(os.environ["RANK"]))
]])
check("a main", code == 0 and out:find("2 ranks 1", 1, true), out)
for _, case in ipairs {
  {"def f():\n  rate = 1\n  print(rat)\nf()", "did you mean 'rate'?"},
  {"class C:\n  def __init__(self): self.hidden = 1\nC().hiden",
    "did you mean 'hidden'?"},
  {"class C:\n  n = 1\n  def f(self): n\nC().f()", "did you mean 'self.n'?"},
  {"[].appendd", "did you mean 'append'?"},
  {"class Kind: pass\nKin", "did you mean 'Kind'?"},
  {"length = 1\nxyz", nil}, {"class C: pass\nC().weight", nil},
  {"x = 1\nleng(x)", "did you mean 'len'?"}} do
  out, code = text(case[1] .. "\n", 1)
  local asked = out:find("did you mean", 1, true)
  check("near: " .. case[1], code == 1 and (case[2] and out:find(case[2], 1,
    true) or not case[2] and not asked), out)
end

out, code = text("import inspect\nif not inspect.getclosurevars(int): print('no')\n")
check("a question that nobody answers", code == 1 and out:find(
  "inspect.getclosurevars is not part of dtrepl", 1, true), out)
out, code = text("import torch\nprint(open('x'))\nimport os\nos.system('ls')\n")
check("no files, no processes", code == 1, out)

out, code = text([[
import torch, torch.nn as nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    checkpoint_wrapper)
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d, d)
    def init_weights(self, std=0.5):
        nn.init.constant_(self.w.weight, std)
        return std
    def forward(self, x):
        return self.w(x)
m = checkpoint_wrapper(Block(4))
print(m.init_weights(), m.init_weights(0.25), m.init_weights(std=1.0))
]])
check("defaults through a wrapper", code == 0 and out:find("0.5 0.25 1.0", 1,
  true), out)

-- A call that fails for a decision that is known to be wrong says so.
out, code = text([[
import torch, torch.nn as nn
from torch.distributed.tensor import distribute_tensor, distribute_module, Shard
from torch.distributed.device_mesh import init_device_mesh
mesh = init_device_mesh("cpu", (2,))
model = distribute_module(nn.Conv2d(3, 16, kernel_size=4, stride=3), mesh)
x = distribute_tensor(torch.randn(2, 3, 16, 16), mesh, [Shard(3)])
x.requires_grad_(True)
out = model(x)
out.backward(torch.ones_like(out))
]])
check("a decision known to be wrong", code == 1
  and out:find("aten.convolution_backward.default", 1, true)
  and out:find("known to be wrong in PyTorch: the inputs are used as they are",
    1, true), out)

-- What is imported and not there may be named; what uses it is told.
out, code = text([[
from torch._nosuch import graphs
from torch.distributed.pipelining import pipeline
try:
    import flash_attn
except ImportError:
    flash_attn = None
def f(x: graphs.Kind):
    return x
print(flash_attn, isinstance(3, graphs.Kind), f(3))
graphs.Kind.from_name("x")
]])
check("names of PyTorch that are not here", code == 1
  and out:find("None False 3", 1, true)
  and out:find("torch._nosuch.graphs.Kind.from_name, imported on line 1, "
    .. "is not part of dtrepl", 1, true), out)
out, code = text("import sqlite3\nprint('here')\n"
  .. "from transformers.models import Trainer\n")
check("a package that is not here, as Python says it", code == 1
  and out:find("here", 1, true) and out:find(
    "ModuleNotFoundError: No module named 'transformers'", 1, true), out)
out, code = text([[
import torch
import torch._foo as foo
print(f"{foo}", {foo: 1}, foo == foo, callable(foo))
for use in (lambda: foo + 1, lambda: torch.ones(2) * foo, lambda: foo[0],
            lambda: [x for x in foo], lambda: len(foo), lambda: foo < 2,
            lambda: -foo, lambda: 1 in foo, lambda: int(foo),
            lambda: bool(foo)):
    try:
        print("used", use())
    except NotImplementedError as e:
        print(e)
]])
local _, refused = out:gsub("torch._foo, imported on line 2, is not part of dtrepl", "")
check("an import used in many ways", code == 0 and refused == 10
  and not out:find("used", 1, true), out)
out, code = text("from torch._nosuch import Trainer\nclass T(Trainer):\n"
  .. "    pass\n")
check("a class over one", code == 1 and out:find("Trainer, imported on line 1",
  1, true), out)
out, code = text([[
import torch
from loguru import logger
import os
from tqdm import tqdm
from torch.profiler import profile, record_function
from torch.utils._pytree import tree_map, tree_flatten, tree_unflatten
from torch.distributed.checkpoint.stateful import Stateful
from torch.distributed.tensor import init_device_mesh, distribute_tensor, Shard
from torch.utils._debug_mode import DebugMode
from torch.testing._internal.distributed.fake_pg import FakeStore
import torch.distributed as dist
dist.init_process_group("fake", store=FakeStore(), rank=0,
                        world_size=int(os.environ["WORLD_SIZE"]))
tree = {"a": [1, 2], "b": (3, None)}
leaves, spec = tree_flatten(tree)
with profile() as p, record_function("x"):
    for i in tqdm(range(3)):
        p.step()
logger.info("{} of {n}", i, n=3)
class App(Stateful):
    def state_dict(self):
        return {}
print(tree_unflatten([x and x * 2 for x in leaves], spec), len(leaves),
      isinstance(App(), Stateful), isinstance(3, Stateful))
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
x = distribute_tensor(torch.ones(8, 8), mesh, [Shard(0)])
with DebugMode() as mode:
    x.sum()
print(mode.debug_string())
]])
check("modules around a model", code == 0
  and out:find("{'a': [2, 4], 'b': (6, None)} 4 True False", 1, true)
  and out:find("2 of 3", 1, true)
  and out:find("aten::sum(dt: f32[8, 8]| S(0))", 1, true), out)

-- Objects between ranks, groups named by ranks of the world, folders that are
-- made to save in.
out, code = text([[
import tempfile
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
def told(*a):
    if r == 0:
        print(*a)
all = [None] * n
dist.all_gather_object(all, {"rank": r, "t": (1, 2.5, None), "x": torch.ones(2) * r})
told(all[3]["rank"], all[1]["t"], all[2]["x"])
pair = [dist.new_group([0, 1]), dist.new_group([2, 3])][r // 2]
one = [r] if r in (1, 3) else [None]
dist.broadcast_object_list(one, src=1 if r < 2 else 3, group=pair)
x = torch.tensor([float(r)])
dist.broadcast(x, src=1 if r < 2 else 3, group=pair)
dist.all_gather_object(all, (one, x.item()))
told(all)
got = [None]
dist.scatter_object_list(got, ["a", "b", {"c": 1}, r] if r == 0 else None, src=0)
dist.gather_object(got, all if r == 0 else None)
told(all)
folder = tempfile.TemporaryDirectory() if r == 0 else None
d = [folder.name if r == 0 else None]
dist.broadcast_object_list(d, 0)
w = distribute_tensor(torch.arange(8.0), init_device_mesh("cpu", (n,)), [Shard(0)])
import os
dcp.save({"w": w}, checkpoint_id=d[0])
told(os.path.exists(d[0]), os.path.exists("absent"))
whole = torch.zeros(8)
dcp.load({"w": whole}, checkpoint_id=d[0])
told(whole)
try:
    dcp.load({"w": torch.zeros(9)}, checkpoint_id=d[0])
except Exception:
    told("not an Exception")
except BaseException as e:
    told(type(e).__name__, str(e).splitlines()[-1])
dist.barrier()
if r == 0:
    folder.cleanup()
]], 4)
for _, want in ipairs {"3 (1, 2.5, None) tensor([2., 2.])",
  "[([1], 1.0), ([1], 1.0), ([3], 3.0), ([3], 3.0)]",
  "[['a'], ['b'], [{'c': 1}], [0]]", "True False",
  "tensor([0., 1., 2., 3., 4., 5., 6., 7.])",
  "CheckpointException ValueError: Size mismatch between saved "
    .. "torch.Size([8]) and current: torch.Size([9]) for w"} do
  check("objects: " .. want, code == 0 and out:find(want, 1, true), out)
end

-- Processes that a program starts are the ranks; what only measures on a GPU
-- is nothing; fake tensors have no data.
out, code = text([[
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import profile, record_function

def run(rank, size, fn):
    os.environ["MASTER_PORT"] = "29500"
    dist.init_process_group("gloo", rank=rank, world_size=size)
    fn(rank)

def work(rank):
    t = torch.ones(1) * rank
    with profile() as p, record_function("x"):
        dist.all_reduce(t)
    assert isinstance(p.key_averages().table(), str)
    print(f"rank {rank} has {t.item()}")

if __name__ == "__main__":
    ps = [mp.Process(target=run, args=(r, 2, work)) for r in range(2)]
    [p.start() for p in ps]
    [p.join() for p in ps]
    start, s = torch.cuda.Event(enable_timing=True), torch.cuda.Stream()
    with torch.cuda.stream(s):
        start.record()
    with FakeTensorMode():
        print("fake", torch.empty(4, 2).shape)
]], 2)
for _, want in ipairs {"[0] rank 0 has 1.0", "[1] rank 1 has 1.0",
  "fake torch.Size([4, 2])"} do
  check("processes: " .. want, code == 0 and out:find(want, 1, true), out)
end

-- An object with a state of its own is saved and loaded by it, an optimizer
-- that made no step among it.
out, code = text([[
import tempfile
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.stateful import Stateful

class App(Stateful):
    def __init__(self, model, opt):
        self.model, self.opt = model, opt
    def state_dict(self):
        m, o = get_state_dict(self.model, self.opt)
        return {"model": m, "optim": o}
    def load_state_dict(self, sd):
        set_state_dict(self.model, self.opt, model_state_dict=sd["model"],
                       optim_state_dict=sd["optim"])

def build(value):
    m = torch.nn.Linear(2, 2)
    torch.nn.init.constant_(m.weight, value)
    torch.nn.init.zeros_(m.bias)
    return m, torch.optim.Adam(m.parameters(), lr=0.5)

def step(m, o):
    m(torch.ones(1, 2)).pow(2).sum().backward()
    o.step()
    o.zero_grad()

m, o = build(1.0)
step(m, o)
dist.init_process_group("gloo")
box = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
dist.broadcast_object_list(box, src=0)
dcp.save({"app": App(m, o), "epoch": 3}, checkpoint_id=box[0])
n, p = build(0.0)
state = {"app": App(n, p), "epoch": 0}
dcp.load(state, checkpoint_id=box[0])
same = torch.equal(m.weight, n.weight)
step(m, o)
step(n, p)
print("loaded", same, torch.equal(m.weight, n.weight), state["epoch"], p.param_groups[0]["lr"])
]], 2)
check("a Stateful", code == 0 and out:find("loaded True True 3 0.5", 1, true),
  out)

-- What is no Python, in CPython's words and with its line; what a program is
-- not let do; texts that would fill the memory.
for _, case in ipairs {
  {"x = 1\nif x == 1\n  pass\n", "SyntaxError: line 2", "expected ':'"},
  {"x = 1\ny = (x,\nz = 2\n", "line 2", "'(' was never closed"},
  {"def f():\nprint(1)\n", "IndentationError: line 2",
    "expected an indented block after function definition on line 1"},
  {"\n  x = 1\n  print(x)\n", "IndentationError: line 2",
    "unexpected indent"},
  {"if 1:\n    x = 1\n\ty = 2\n", "TabError: line 3", "inconsistent use"},
  {"x = 'abc\n", "line 1", "unterminated string literal"},
  {"x = '\xff'\n", "line 1", "can't decode byte 0xff"},
  {"x = 1\0\n", "null bytes", "ValueError"},
  {("x = " .. ("("):rep(5000)), "line 1", "too many nested parentheses"},
  {"import os\nos.system('true')\n", "os.system is not part", ":2"},
  {"open('/etc/x')\n", "lies outside the working folder", ":1"},
  {"x = 'a' * 10**12\n", "MemoryError", ":1"},
  {"def f():\n    return f()\nf()\n", "RecursionError",
    "maximum recursion depth exceeded"},
  {"import torch.distributed as dist\ndist.init_process_group('gloo', rank=0, "
    .. "world_size=7)\n", "wants 7 ranks (world_size), there are 2: run "
    .. "`dtrepl -n 7 program.py`", ":2"},
  {"import torch.multiprocessing as mp\nmp.spawn(print, nprocs=3)\n",
    "wants 3 ranks (nprocs)", ":2"},
  {"import torch.multiprocessing as mp\nq = mp.Queue()\n",
    "multiprocessing.Queue is not part of dtrepl", ":2"},
  {"import threading\nthreading.Event().wait()\n",
    "an event that nobody set waits for ever", ":2"},
  {"class Meta:\n    pass\nclass M(metaclass=Meta):\n    pass\n",
    "class M: the metaclass Meta is not part of dtrepl", ":3"},
  {"from torch._foo import flag\nif not flag:\n    pass\n", "torch._foo.flag, imported on "
    .. "line 1, is not part of dtrepl", ":2"},
} do
  out, code = text(case[1])
  check("refused: " .. case[1]:sub(1, 40), code == 1
    and out:find(case[2], 1, true) and out:find(case[3], 1, true), out)
end

-- What runs, but not as in CPython, is told once.
out, code = text("class D:\n    def __del__(self):\n        pass\nclass E(D):\n"
  .. "    pass\nall = [D(), E(), E()]\nprint(len(all))\n", 1)
check("a __del__ is told", code == 0 and out:find("dtrepl: D.__del__ is not "
  .. "called", 1, true) and select(2, out:gsub("E.__del__", "")) == 1, out)

-- The language: what Python 3.11 printed for the same text is in .out; for those
-- that import torch it had PyTorch.  Under a sanitizer every twentieth: it is Lua;
-- in the quick set every fifth.
local every = os.getenv "DTREPL_SANITIZER" and 20
  or os.getenv "DTREPL_QUICK" and 5 or 1
local texts = {}
for _, file in ipairs(dt._list_dir("tests/parity/language")) do
  texts[#texts + 1] = file:match("^(.*)%.py$")
end
table.sort(texts)
assert(#texts > 30, "no texts in tests/parity/language")
for i = 1, #texts, every do
  local name = texts[i]
  local base = "tests/parity/language/" .. name
  local ranks = name == "local_tensor" and 4 or 1
  local f = assert(io.open(base .. ".out"))
  local want = f:read("a")
  f:close()
  local got = run(("%s -n %d %s.py"):format(program, ranks, base))
  check("the language: " .. name, got == want, got)
end

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0)
