-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- A fix speaks of the report: with its names and its own call, without what is
-- not said; what the report found to help comes first, what it tried does not.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local render = require "dt.diagnose.render"

local function code_of(text, n)
  local r = diagnose.read(text)
  return r.fixes[n or 1] and r.fixes[n or 1].torch or "", r
end

-- ---- names and calls ---------------------------------------------------

local UNEVEN = "DTensor.from_local gives another global shape on each rank, "
  .. "the pieces are unequal (uneven sharding).\n"
local code = code_of(UNEVEN
  .. "    state[key] = DTensor.from_local(val, mesh, placements)\n")
T.has(code, "DTensor.from_local(val, mesh, placements, shape=full_shape, "
  .. "stride=full_stride)")
code = code_of(UNEVEN .. "w = DTensor.from_local(self.old[k], p.device_mesh, "
  .. "p.placements). With shape=p.shape, stride=p.stride() it is right.")
T.has(code, "DTensor.from_local(self.old[k], p.device_mesh, p.placements, "
  .. "shape=p.shape, stride=p.stride())")

code = code_of("Gradients are wrong under expert parallelism: "
  .. "x = DTensor.from_local(x, mesh, [Shard(0)]).full_tensor()\nits backward "
  .. "takes grad_placements=None as Replicate, DTensor")
T.has(code, ".full_tensor(grad_placements=[Partial()])")

local function local_shape(more)
  return code_of("The buffer is allocated with the global shape of the DTensor, "
    .. "not the local one, the kernel writes out of bounds.\n" .. more)
end
T.has(local_shape "t = weight.to_local()\n", "weight.to_local().shape")
-- Two tensors: a name would be a guess.
T.has(local_shape "t = weight.to_local()\nu = other.to_local()\n",
  "x.to_local().shape")
-- PyTorch's own variables are not the report's.
T.has(local_shape('  File "/a/site-packages/torch/distributed/tensor/_api.py", '
  .. "line 9, in f\n    s = inner.to_local()\n"), "x.to_local().shape")

-- ---- what is not said, what was done ---------------------------------------

local _, r = code_of "device_mesh = init_device_mesh('cpu', (n,)): a DTensor "
T.eq(r.device, "cpu")
_, r = code_of "DTensor\nIs CUDA available: False\nCUDA runtime version: No CUDA"
T.eq(r.device, nil)

-- Settings that are compared and results that are printed are no operators.
_, r = code_of("fully_shard with CPUOffloadPolicy, clip_grad_norm_ on cpu device "
  .. "fails\n-    init_process_group(backend=\"gloo\" if cfg.device == \"cpu\" "
  .. "else \"nccl\")")
T.eq(r.op, nil)
_, r = code_of("fully_shard with CPUOffloadPolicy, clip_grad_norm_ on cpu device "
  .. "fails\nprint(\"Max diff\", (a - b).abs().max())\n")
T.eq(r.op, nil)
for _, q in ipairs(r.questions) do T.ok(not q:find "SeqNum", q) end

-- Where a slice begins and ends is a number, and only a view prints of flattening.
_, r = code_of("got mixed torch.Tensor and DTensor\n"
  .. "d = DTensor.from_local(full[rank*2:(rank+1)*2], mesh, [Shard(0)])\n")
T.eq(r.op, nil)
_, r = code_of("F.linear of a DTensor with Shard(1)\n  File \"torch/distributed/tensor/_ops/"
  .. "_view_ops.py\", line 548, in get_in_dim_to_shard\nRuntimeError: ('Attempted to "
  .. "flatten multiple dimensions, with dimension 1 being sharded. ', 'It cannot be "
  .. "performed without redistribution')")
T.eq(r.op, "aten.view.default")

local MIXED = "A block's outputs are AsyncCollectiveTensor and the addition "
  .. "raises\nRuntimeError: got mixed torch.Tensor and DTensor, need to convert "
  .. "all torch.Tensor to DTensor before calling distributed operators!\n"
code, r = code_of(MIXED .. "use_local_output=False makes it run.")
T.has(code, "use_local_output=False")
T.has(render.text(r), "as the report found:")
code, r = code_of(MIXED .. "use_local_output=False does not help.")
T.ok(not code:find("use_local_output", 1, true), code)
T.has(table.concat(r.notes, "\n"), "not repeated")

-- ---- one fix once, and for the operator --------------------------------------

_, r = code_of("Must flatten tensors with uniform dtype but got torch.float16 "
  .. "and torch.int8, FSDP, bitsandbytes load_in_8bit")
local seen = {}
for _, f in ipairs(r.fixes) do
  T.ok(not f.torch or not seen[f.torch], "twice: " .. (f.torch or ""))
  if f.torch then seen[f.torch] = true end
end

local INPLACE = "RuntimeError: aten.%s.%s: in-place operations that require "
  .. "placement changes are not supported. The input has placement "
  .. "(Partial(sum),), but no valid strategy preserves this placement."
T.has(code_of(INPLACE:format("add_", "Tensor")), "x = x.add(...)")
T.has(code_of(INPLACE:format("clamp_", "default")), "clamp(")
code = code_of(INPLACE:format("normal_", "default"))
T.has(code, "redistribute")

_, r = code_of("FSDP: ValueError: `FlatParameter` requires uniform "
  .. "`requires_grad`, with LoRA")
T.has(r.fixes[1].torch, "use_orig_params=True")
T.has(r.cause, "gradient")

-- ---- one cause among those of a class ----------------------------------------

code = code_of("DTensor.from_local() returns a wrong global size for uneven "
  .. "pieces of a DTensor; shape and stride should be keyword arguments.")
T.ok(not code:find("from_local(shape=", 1, true), "no call to repeat: " .. code)

_, r = code_of("save_pretrained of an FSDP2 model\nRuntimeError: Attempted to "
  .. "access the data pointer on an invalid python storage. DTensor weights")
T.has(r.fixes[1].torch, "full_state_dict=True")
for _, f in ipairs(r.fixes) do
  T.ok(not f.text:find("before loading", 1, true), "nothing is loaded: " .. f.text)
end

_, r = code_of("torch.inference_mode(), tensor parallel: aten.mm.default: got "
  .. "mixed torch.Tensor and DTensor, need to convert all torch.Tensor to "
  .. "DTensor before calling distributed operators! torch.no_grad() works.")
T.eq(r.fixes[1].helped, true)

for _, call in ipairs {"accelerator.prepare(model, optimizer)",
  "acc.prepare(self.net, self.opt, loader)"} do
  _, r = code_of("Adagrad and FSDP2 with accelerate, " .. call .. ", then "
    .. "optimizer.state_dict() raises\nKeyError: 139872211463072")
  T.eq(r.class and r.class.id, "optimizer-built-before-sharding", call)
  T.ok(not r.fixes[1].text:find("one prepare", 1, true), r.fixes[1].text)
end

code = code_of("bucketize of a Partial DTensor is applied to each addend, the "
  .. "result is wrong: DTensor inputs with a pending reduction should be "
  .. "replicated first.  Operator aten.bucketize.Tensor")
T.ok(not code:find(".abs()", 1, true), "the report's operator: " .. code)
T.has(code, ".bucketize(...)")

-- What nothing else of the class has: which parts are written, what is summed.
code = code_of("FSDP1 with ShardingStrategy.HYBRID_SHARD on "
  .. "init_device_mesh(\"cuda\", (4, 1), mesh_dim_names=(\"replicate\", "
  .. "\"shard\")): gradients are not all-reduced over the replicate dimension, "
  .. "the ranks' weights drift apart.")
T.has(code, "fully_shard(model, mesh=mesh)")
code = code_of("LoRA with FSDP2: the adapter is saved by rank 0 only, `if rank == "
  .. "0: get_peft_model_state_dict(model)`. The file holds rank 0's shard of "
  .. "lora_A, half of the rows.")
T.has(code, "p.full_tensor()")

code, r = code_of("A tensor parallel script stops with\nRuntimeError: "
  .. "aten.addmm.default: got mixed torch.Tensor and DTensor, need to convert all "
  .. "torch.Tensor to DTensor before calling distributed operators!")
for _, f in ipairs(r.fixes) do
  T.ok(not (f.torch or ""):find("mask", 1, true), "no mask here: " .. (f.torch or ""))
end
_, r = code_of("sglang with --tp 24, vocab_parallel_embedding.py:\n"
  .. "AssertionError: 129280 is not divisible by 24")
T.has(r.cause, "vocabulary")
T.has(table.concat(r.notes, " "), "129288")

-- Clipping in any words, and not the step that follows it.
for _, said in ipairs {"clip_grad_norm_ cannot take a mix of DTensors and Tensors",
  "FSDP2: gradient clipping crashes with a mix of DTensor and plain Tensor gradients, "
  .. "clip_grad_norm_ stacks their norms"} do
  _, r = code_of(said .. "; only some layers are parallelised.")
  T.eq(r.class and r.class.id, "mixed-optimizer-group", said)
  T.has(r.cause, "Clipping", said)
end
_, r = code_of("clip_grad_norm_ is fine, then optimizer.step() in its foreach form "
  .. "fails with a mix of DTensors and Tensors in one parameter group.")
T.ok(not r.cause:find "^Clipping", r.cause)

-- ---- what is asked, and how long it takes --------------------------------------

local function asks(text, what)
  for _, q in ipairs(diagnose.read(text).questions) do
    if q:find(what, 1, true) then return true end
  end
  return false
end
local FLAT <const> = "FSDP: ValueError: Must flatten tensors with uniform dtype"
T.eq(asks(FLAT, "Which parameters have which dtype"), true)
T.eq(asks(FLAT .. " but got torch.bfloat16 and torch.float32",
  "Which parameters have which dtype"), false)

-- Brackets that nobody closes are looked at once.
local began = os.clock()
_, r = code_of("x[:, [-1]] of a DTensor\nNotImplementedError: Operator "
  .. "aten.index_put_.default does not have a sharding strategy registered.\n"
  .. ("["):rep(40000))
T.eq(r.class and r.class.id, "index-put-and-select")
T.has(table.concat({r.fixes[1].text, (r.fixes[2] or r.fixes[1]).text}, " "), "squeeze")
_, r = code_of("x[:, 1:] of a DTensor\nNotImplementedError: Operator "
  .. "aten.index_put_.default does not have a sharding strategy registered.\n"
  .. ("["):rep(40000))
T.ok(os.clock() - began < 8, "time")

-- ---- many reports ------------------------------------------------------------

-- One class with two causes is two rows; a release is one that was said.
local UNIFORM <const> = "FSDP: ValueError: `FlatParameter` requires uniform %s, LoRA"
local entries = {}
for i, what in ipairs {"`requires_grad`", "`requires_grad`",
  "dtype but got torch.float16 and torch.float32",
  "dtype but got torch.bfloat16 and torch.float32"} do
  r = diagnose.read(UNIFORM:format(what))
  entries[i] = {class = r.class.id, op = r.op, cause = r.cause, file = "f" .. i}
end
local table_text = render.summary({}, 4, entries)
T.has(table_text, "f1 f2\n")
T.has(table_text, "f3 f4\n")
r = diagnose.read "KeyError: \"Invalid mesh_dim_names ('a',) specified. Valid \z
  mesh_dim_names are ['tp'].\""
T.has(render.row(r, "f"), "2.5+")

T.finish()
