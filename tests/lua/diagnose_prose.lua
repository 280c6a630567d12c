-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- Reports that print no message: a class is told by several claims together,
-- at low confidence and with the words it was read from; one alone tells none.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"

local described = {
  {"collective-sequence-mismatch",
    "Saving my fully_shard model hangs. I call model.state_dict() and "
    .. "full_tensor() inside an if for the main process only."},
  {"fsdp-divergent-module-execution",
    "With FSDP2 training is stuck after some steps; batches without images "
    .. "let some ranks skip the vision tower (skipped on three ranks)."},
  {"optimizer-built-before-sharding",
    "I create AdamW right after the model and call fully_shard later. The "
    .. "weights do not change and the loss stays flat."},
  {"grad-norm-is-partial-dtensor",
    "With DTensor parameters clip_grad_norm_ returns a norm that gets smaller "
    .. "when I add GPUs."},
  {"sharding-cache-growth",
    "Host memory grows by some MB every step when the sequence length varies; "
    .. "the model is a DTensor with tensor parallel."},
  {"cp-load-balance",
    "context_parallel gives me outputs in another order, as if the sequence "
    .. "was permuted."},
  {"partial-plus-scalar",
    "A DTensor that is Partial, to which I add 1, comes out too big after "
    .. "the reduction."},
  {"argmax-local-index",
    "torch.argmax over vocab parallel logits (ColwiseParallel) gives only "
    .. "indices below vocab/tp."},
  {"to-local-grad-placement",
    "I call to_local() inside forward of a tensor parallel module and the "
    .. "gradient of the norm weight is different on each rank."},
  {"mixed-load-state-dict",
    "Loading a normal torch checkpoint of plain tensors with load_state_dict "
    .. "into a model after parallelize_module does not work."},
}
for _, c in ipairs(described) do
  local r = diagnose.read(c[2])
  if T.ok(r.class, c[1] .. ": a class") then
    T.eq(r.class.id, c[1], c[2])
    T.ok(r.confidence <= 0.75, c[1] .. ": not sure of it")
  end
end

for _, text in ipairs {
  "My DTensor training hangs.",
  "How do I use fully_shard with AdamW?",
  "The oven is stuck and grows hot; memory of its main process leaks.",
} do
  local r = diagnose.read(text)
  T.ok(not r.class or r.confidence < 0.5, "no class for: " .. text .. " "
    .. tostring(r.class and r.class.id))
end

-- What announces a feature tells of no fault; what fails while it is added
-- does.
for _, text in ipairs {
  "[DTensor] Adds a strategy with all-to-all for redistributing a Partial "
    .. "result to Shard(1) on a 2-D mesh, with padding of both dimensions.",
  "feat(fsdp): Support CPU offload in fully_shard with a hybrid backend "
    .. "cpu:gloo,cuda:nccl, so that gradient clipping of CPU DTensors needs no "
    .. "other process group.",
} do
  local r = diagnose.read(text)
  T.ok(not r.class, "announces: " .. tostring(r.class and r.class.id))
end
T.ok(diagnose.read("Support generate() under FSDP2: it fails as its parameters "
  .. "are sharded DTensors, its hooks do not run and nothing is unsharded when "
  .. "a method other than forward is called on the fully_shard root.").class,
  "a fault that is told in a feature's words")

-- Told in words of nobody else: the class, or the nearest.
local told = diagnose.read("Saving under FSDP2 never returns. Process 0 sits in the "
  .. "nested calls that collect the sharded entries of the model, the other "
  .. "three are gone from there already and stand before the next epoch. Only "
  .. "adapters are trained, the base is frozen. torch 2.9")
T.eq(told.class and told.class.id or told.nearest[1].id,
  "collective-sequence-mismatch")

-- Of a report that no class fits, the classes whose reports are most like it.
do
  local r = diagnose.read("The second epoch of the run with expert parallelism "
    .. "on 8 ranks uses more and more time for the optimizer, DTensor "
    .. "parameters, foreach is on, and the GPU waits. The profiler shows Python.")
  local near = {}
  for _, n in ipairs(r.nearest) do near[n.id] = n end
  T.ok(not r.class and #r.nearest == 3, "three are named, none is told")
  T.ok(near["dispatch-overhead"] and near["sharding-cache-growth"]
    and near["sharding-cache-growth"].decides, "the two it may be, and what "
    .. "decides")
end

-- A wish tells of no fault, whatever it mentions; with an error it does.
do
  local wish = "Feature request: merge_adapter on DTensor sharded 4-bit "
    .. "weights can fail under FSDP2, please add an adapter-only sync."
  T.eq(diagnose.read(wish).class, nil)
  local r = diagnose.read(wish .. "\nRuntimeError: aten.mm.default: got mixed "
    .. "torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
    .. "before calling distributed operators!")
  T.ok(r.class and r.class.id:find "^mixed%-", "the error counts")
end

-- The operator by its bare name in the title or in backquotes; words that
-- prose uses as well name none.
for _, c in ipairs {
  {"[DTensor] Fix bucketize with Partial inputs: the result is wrong, it cannot "
    .. "be combined", "aten.bucketize.Tensor"},
  {"A DTensor with Partial inputs: `cumprod` propagated Partial, the result is "
    .. "wrong", "aten.cumprod.default"},
  {"DTensor, wrong: the average of random values of a Partial cannot be "
    .. "combined, repeat to see it", nil}} do
  T.eq(diagnose.read(c[1]).op, c[2], c[1])
end

T.finish()
