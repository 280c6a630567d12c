-- TEST: ranks=4 world={threads} needs=data
-- SPDX-License-Identifier: MIT
-- Parts of Python's and PyTorch's library that programs lean on: digests,
-- recorded warnings, hooks, slices of containers, the random tracker.  The
-- values are PyTorch 2.13's.

local T = require "tests.lua.lib.check"
local dt = require "dt"
local python = require "torch"

local function value(text, expr)
  local env = python.environment()
  python.run(text, env)
  return tostring(python.value(expr, env))
end

local function is(text, expr, want)
  T.eq(value(text, expr), want)
end

-- FIPS 180-4's own examples, one block and two.
is("import hashlib", "hashlib.sha256(b'abc').hexdigest()",
  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
is("import hashlib", "hashlib.sha256("
  .. "b'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq').hexdigest()",
  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
is("import hashlib", "hashlib.sha256(torch.arange(100.0).numpy().tobytes())"
  .. ".hexdigest()",
  "817cddd35bc80c1cdfbb5337daef946518388485b929bbddc1784b71d41f7aa0")

-- A singular matrix raises torch.linalg.LinAlgError, which torch._C knows too.
is([[
got = []
for kind in (torch.linalg.LinAlgError, torch._C._LinAlgError, RuntimeError):
    try:
        torch.linalg.inv(torch.zeros(2, 2))
    except kind as e:
        got.append(str(type(e)))
]], "got == [\"<class 'torch._C._LinAlgError'>\"] * 3", "true")

-- Warnings are heard inside the block, again and again, and not after it.
local warned = [[
import warnings
from torch.distributed.tensor import _random
m = init_device_mesh("cpu", (4,))
texts = []
for _ in range(2):
    with warnings.catch_warnings(record=True) as ws:
        warnings.simplefilter("always")
        _random.manual_seed(1, m)
        texts.append([str(w.message) for w in ws])
_random.manual_seed(1, m)
]]
is(warned, "len(texts[0])", "2")
is(warned, "texts[0] == texts[1]", "true")
is(warned, "len(ws)", "2")
is(warned, "texts[1][1]",
  "DTensor manual_seed() may not have complete support on cpu device mesh")

-- A hook gets its arguments as a tuple.
local hooked = [[
from torch import nn
m = nn.Linear(2, 3)
seen = []
m.register_forward_pre_hook(lambda mod, a: (a[0] * 2,))
m.register_forward_hook(lambda mod, a, o: seen.append((type(a).__name__, len(a), a[0].sum().item())))
m(torch.ones(1, 2))
]]
is(hooked, "seen[0][0]", "tuple")
is(hooked, "seen[0][1]", "1")
is(hooked, "seen[0][2]", "4.0")

-- Slices: a Sequential's keep their names, a ModuleList's are counted anew.
local parts = [[
from torch import nn
s = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 4))
l = nn.ModuleList([nn.ReLU(), nn.Linear(2, 2)])
]]
is(parts, "','.join(n for n, _ in s[1:].named_parameters())",
  "2.weight,2.bias")
is(parts, "','.join(n for n, _ in l[1:].named_parameters())",
  "0.weight,0.bias")
is(parts, "len(s[::2])", "2")

-- What is not there is known by its reason, from Lua and from files of pylib, and
-- not by its text, which a program may have, too.
local function reason(text)
  local ok, e = pcall(python.run, text, python.environment())
  return not ok and type(e) == "table" and e.reason or "none"
end
T.eq(reason "from nosuch import thing\nthing()", "absent")
T.eq(reason "import weakref\nweakref.ref(print)", "absent")
T.eq(reason "import sys\nsys.getsizeof(1)", "absent")
T.eq(reason "import math\nmath.nosuch", "absent")
for _, f in ipairs {"sqrt(2)", "exp(2)", "ln(2)", "power(2, Decimal('0.3'))"} do
  T.eq(reason("from decimal import *\nContext(prec=10000)." .. f), "absent")
end
T.eq(reason "raise NotImplementedError('mine is not part of dtrepl')", "none")
T.eq(reason "raise NotImplementedError", "none")
if dt.world_size() > 1 then     -- a folder is written and read by all ranks
  T.eq(reason [[
import torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
dist.init_process_group("gloo")
groups = [dist.new_group([r]) for r in range(dist.get_world_size())]
dcp.save({"w": torch.ones(2)}, checkpoint_id="x", process_group=groups[dist.get_rank()])]],
    "absent")
end

-- Where the tracker of an accelerator would let rank 1 of 4 begin and end.
local tracker = [[
from torch.distributed.tensor import _random as R
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
m = init_device_mesh("cpu", (4,))
s = DTensorSpec(m, (Shard(0),), tensor_meta=TensorMeta(torch.Size((7, 5)), (5, 1), torch.float32))
t = object.__new__(R.OffsetBasedRNGTracker)
st = R._PhiloxState(torch.zeros(16, dtype=torch.uint8))
st.offset = torch.tensor([16])
old = st.offset.clone()
t._set_pre_op_offset(st, s)
pre = int(st.offset)
t._set_post_op_offset(st, s, old)
]]
local begins = {[0] = 16, 28, 36, 48}
is(tracker, "pre", tostring(begins[dt.rank()]))
is(tracker, "int(st.offset)", "52")
is(tracker, "R._calc_first_shard_size(s)[0]", "2")

T.finish()
