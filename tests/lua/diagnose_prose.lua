-- TEST: ranks=1 world=threads args=--trust
-- SPDX-License-Identifier: MIT
-- Reports that print no message: a class is told by several claims together,
-- at low confidence and with the words it was read from; one alone tells none.

local T = require "tests.lua.lib.check"
require "torch.diagnose"
local diagnose = require "dt.diagnose"
local liken = require "dt.diagnose.liken"
local learner = require "scripts.wordings_learner"

-- What the labelled texts of the repository teach moves with every text that
-- is added: the checks below that are not of it teach their own few, or none.
local function teach(texts)
  for _, t in ipairs(texts) do
    t.facts = liken.facts {doc = require("dt.diagnose.clean").read(t.text),
      exceptions = {}}
  end
  liken.use(load(learner.written(learner.learn(texts), ""))())
end

-- ---- rules of claims alone ---------------------------------------------

teach {{id = "-", text = "nothing"}, {id = "dcp-missing-key", text = "nothing"}}

local described = {
  {"collective-sequence-mismatch",
    "Saving my fully_shard model hangs. I call model.state_dict() and "
    .. "full_tensor() inside an if for the main process only."},
  {"collective-sequence-mismatch",
    "FSDP(model, sync_module_states=True) never returns; rank 0 loads the weights, the "
    .. "others are on meta and get them. No error."},
  {"to-local-grad-placement",
    "Under expert_parallel each rank's gradient of the router covers its own experts, "
    .. "and nothing sums them: it is wrong."},
  {"fsdp-divergent-module-execution",
    "With FSDP2 training is stuck after some steps; batches without images "
    .. "let some ranks skip the vision tower (skipped on three ranks)."},
  {"optimizer-built-before-sharding",
    "I create AdamW right after the model and call fully_shard later. The "
    .. "weights do not change and the loss stays flat."},
  {"fsdp-divergent-module-execution",
    "Expert parallel run: as soon as an expert of one rank gets no token in a batch, "
    .. "all ranks are stuck in the next step."},
  {"argmax-local-index",
    "torch.max(logits, dim=1) of a DTensor with Shard(1) returns incorrect indices, the "
    .. "values are right."},
  {"optimizer-built-before-sharding",
    "opt = Adam(net.parameters()) stands before parallelize_module(net, mesh, plan), and "
    .. "the loss is constant."},
  {"global-shape-as-local",
    "The offload hook calls torch.empty(p.shape) next to each DTensor shard; p.shape is "
    .. "the shape of the whole, so it runs out of memory."},
  {"collective-wrong-device",
    "all_gather of a DTensor fails on rank 3, tensor not on the GPU of the group: it "
    .. "never called set_device. The error says wrong device."},
  {"devicemesh-pickle-version-skew",
    "torch.load of a file from an older version: the DeviceMesh in it lacks an "
    .. "attribute, AttributeError at first use."},
  {"sharding-cache-growth",
    "The lru_cache of DTensor's propagation gets an entry for every new length and is "
    .. "never cleared, the job dies."},
  {"tp-local-output-uneven",
    "Tensor parallel of 6 over 16 features: outputs have different widths, the next "
    .. "linear fails."},
  {"nonlinear-on-partial",
    "gelu is applied to a DTensor with Partial() before it was reduced, and activations "
    .. "are wrong."},
  {"invalid-mesh-dim-name",
    "With tensor parallel alone our trainer fails: it asks for dp_shard_cp, an axis that "
    .. "was never created."},
  {"hidden-redistribution",
    "CommDebugMode of a DTensor step shows an all-gather that I didn't write, which is "
    .. "wrong."},
  {"implicit-redistribution-forbidden",
    "Our strict mode about redistribution refuses the matmul of two DTensors."},
  {"fsdp2-usage",
    "set_requires_gradient_sync(False) is left on for the last microbatch, the gradients "
    .. "are not reduced and ranks differ."},
  {"out-variant-kwarg-dtensor",
    "torch.mul(a, b, out=buf), where only buf is a DTensor: it fails, found no mesh."},
  {"to-local-grad-placement",
    "expert_parallel on two ranks: the loss is correct, the router's gradient is not, it "
    .. "is wrong on both."},
  {"dispatch-overhead",
    "CPU latency makes our wrapper on FSDP2 slower than FSDP1, which should not be."},
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
  "With tensor parallel and context parallel, changing TP/CP sizes changed the effective "
    .. "scale of the aux loss per token.",
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

-- ---- likeness ----------------------------------------------------------

-- Every text is learnt once, in an order that does not hang on their number.
for _, n in ipairs {1, 2, 388, 389, 390, 778, 1945} do
  local texts = {}
  for i = 1, n do texts[i] = {id = "c" .. i % 7, text = "text " .. i} end
  local seen, count = {}, 0
  for _, t in ipairs(learner.in_order(texts)) do
    if not seen[t] then count = count + 1 end
    seen[t] = true
  end
  T.eq(count, n, "each of the texts once")
end
do
  local texts = {}
  for i = 1, 500 do texts[i] = {id = "c", text = "text " .. i} end
  local before = learner.in_order(texts)
  texts[501] = {id = "c", text = "one more"}
  local after, k, mixed = learner.in_order(texts), 0, 0
  for i, t in ipairs(after) do
    if t == texts[501] then
      T.ok(i > 1 and i < 501, "the last text stands in between")
    else
      k = k + 1
      T.ok(t == before[k], "one more text moves no other")
      if texts[k] ~= t then mixed = mixed + 1 end
    end
  end
  T.ok(mixed > 450, "files that stand together are mixed")
end

-- Three kinds of reports, in words that no rule knows.
local kinds = {
  ["sharding-cache-growth"] = {"DTensor paints the blue wheel of the tram while "
    .. "seven gulls circle over a wet quay", "seven gulls over the wet quay, and "
    .. "DTensor paints a blue wheel of the tram", "the tram has a blue wheel, "
    .. "DTensor paints, gulls circle over the quay"},
  ["dispatch-overhead"] = {"DTensor plants an old pear tree behind the mill where "
    .. "nine goats graze in deep snow", "nine goats graze behind the mill, DTensor "
    .. "plants the old pear tree in deep snow", "deep snow, an old pear tree, nine "
    .. "goats: DTensor plants behind the mill"},
  ["-"] = {"the oven of the kitchen is warm and the bread is brown", "bread from "
    .. "the kitchen oven, warm and brown", "a brown oven in a warm kitchen"}}
local lesson = {}
for id, list in pairs(kinds) do
  for _, text in ipairs(list) do lesson[#lesson + 1] = {id = id, text = text} end
end
table.sort(lesson, function (a, b) return a.text < b.text end)
teach(lesson)
for id, other in pairs {["sharding-cache-growth"] = "dispatch-overhead",
  ["dispatch-overhead"] = "sharding-cache-growth"} do
  for _, text in ipairs(kinds[id]) do
    local ranked, ours, facts = liken.rank {exceptions = {},
      doc = require("dt.diagnose.clean").read(text .. " again")}
    T.eq(ranked[1].id, id, text)
    T.eq(ranked[2].id, other, "the other stands behind it")
    T.ok(ranked[1].share > 0.6 and ours > 0, "like it, and one of ours")
    T.ok(liken.telling(ranked[1], facts, 2):find '^"[%w ]+", "[%w ]+"$',
      "two words tell it", liken.telling(ranked[1], facts, 2))
  end
end
for _, text in ipairs(kinds["-"]) do
  local _, ours = liken.rank {exceptions = {},
    doc = require("dt.diagnose.clean").read(text)}
  T.ok(ours < 0, "none of ours", text, ours)
end

-- What is like one kind and complains is told, with the words; where none is
-- told, both kinds that it is like are named.
do
  local one, two = kinds["sharding-cache-growth"][1], kinds["dispatch-overhead"][1]
  local r = diagnose.read(one .. ", but it fails. And again: " .. one)
  T.eq(r.class and r.class.id, "sharding-cache-growth")
  T.ok(r.confidence < 0.75 and r.sign:find("worded like", 1, true), r.sign)
  -- of a change that tells of no fault: only when it is like that class alone
  local mix = one .. ". " .. two:match "^(.-) in deep"
  T.ok(diagnose.read(mix).class, "more like one of two")
  T.ok(not diagnose.read("[DTensor] " .. mix).class, "a change like two kinds")
  r = diagnose.read("[DTensor] " .. two .. ". And slowly again: " .. two)
  T.eq(r.class and r.class.id, "dispatch-overhead", "a change like one kind")
  r = diagnose.read("Feature request: " .. one .. ". " .. two)
  T.ok(not r.class, "a wish tells of no fault")
  T.eq(#r.nearest, 2, "both are named")
  T.ok(r.nearest[1].decides and r.nearest[2].decides, "and what decides")
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

-- ---- how like is like enough -------------------------------------------

-- Words of which nothing is known but what a model says of them.
local words <const> = "alfa bravo charlie delta echo foxtrot golf hotel india "
  .. "juliet kilo lima"

-- Let a text with `words` be as like to each of `classes` ({{id, share}, ...})
-- as said, and speak of distributed tensors by `ours`.
local function think(ours, classes)
  local ids, bias = {}, {}
  for i, c in ipairs(classes) do
    ids[i], bias[i] = c[1], 1000 * math.log(c[2])
  end
  liken.use {unit = 0.001, texts = 2, ours_bias = 1000 * ours, ids = ids,
    bias = bias, facts = words:gsub("(%a+) ?", "%1=2 0 1:1;")}
end

-- One class of eleven is most like the text, with `share` of all.
local function likely(share)
  local classes = {{"partial-read-as-value", share}}
  for _, c in ipairs(diagnose.classes()) do
    if #classes < 11 and not c.id:find "^[fcdem]" then
      classes[#classes + 1] = {c.id, (1 - share) / 10}
    end
  end
  return classes
end

local named <const> = "Our DTensor: " .. words
think(3, likely(0.28))
local r = diagnose.read(named)
T.eq(r.class and r.class.id, "partial-read-as-value", "clearly about ours")
T.ok(r.confidence < 0.5, "a quarter is told as little sure", r.confidence)
T.eq(diagnose.read(words).class, nil, "nothing of ours is named")
think(3, likely(0.2))
T.eq(diagnose.read(named).class, nil, "a fifth is no class")
think(2, likely(0.28))
T.eq(diagnose.read(named).class, nil, "a quarter alone is no class")

-- A third, of a text that reads like ours and uses none of its names; it speaks of
-- several processes all the same.
local ranked <const> = words .. " on each rank"
think(2.2, likely(0.35))
r = diagnose.read(ranked)
T.eq(r.class and r.class.id, "partial-read-as-value", "worded clearly like ours")
T.eq(diagnose.read(words).class, nil, "and nothing of several processes")
T.eq(diagnose.read("[Frontend] " .. ranked).class, nil, "the title of a change")
think(1, likely(0.35))
T.eq(diagnose.read(ranked).class, nil, "less like ours")

-- Lengths that a number of ranks can make, and one that none does.
local lengths <const> = "ValueError: Expected input batch_size (2048) to match "
  .. "target batch_size (%d). "
think(3, likely(0.8))
T.ok(diagnose.read(lengths:format(4096) .. named).class, "twice as long")
T.ok(diagnose.read(lengths:format(683) .. named).class, "a part of three, uneven")
T.ok(diagnose.read(lengths:format(4095) .. named).class, "half of an odd length")
T.eq(diagnose.read(lengths:format(2047) .. named).class, nil, "labels one short")

local grows <const> = "With DTensor parameters host memory grows every step. "
local function told(likeliest)
  think(0, {{"partial-read-as-value", likeliest},
    {"sharding-cache-growth", 1 - likeliest}})
  return diagnose.read(grows .. words).class.id
end
T.eq(told(0.8), "partial-read-as-value", "four times as like as what is claimed")
T.eq(told(0.6), "sharding-cache-growth", "a claim stays beside half as like")
liken.use(require "dt.diagnose.wordings")

-- ---- what speaks against a class ------------------------------------------

local opposed = require "dt.diagnose.opposed"

-- {class, a report of it, the same with another direction or of another thing}
local turned = {
  {"ep-gradient-scale", "gradients of the experts are too large by ep",
    "gradients of the experts are too small by ep"},
  {"ep-gradient-scale", "expert gradients are wrong", "gradients are wrong under Ulysses"},
  {"sharding-cache-growth", "memory grows", "memory is shrinking"},
  {"mixed-load-state-dict", "saved weights cannot be loaded", "saving weights fails"},
  {"collective-sequence-mismatch", "print(x.full_tensor()) hangs on one rank",
    "print(x.full_tensor()) dies with a segmentation fault on one rank"},
  {"meta-device-not-materialised", "uninitialised parameters", "init of parameters hangs"},
  {"weighted-mean-loss", "the loss is summed, not averaged", "the loss is summed"},
  {"mixed-fsdp2-non-forward-entry", "generate() of a fully_shard model",
    "generate() of a FullyShardedDataParallel model"},
  {"cp-seq-divisibility", "context_parallel and Ulysses lose tokens",
    "Ulysses loses tokens"},
  {"from-local-uneven-shape", "from_local of uneven pieces", "from_local of equal tensors"},
  {"rng-layout-dependence", "dropout differs", "torch.compile of init_device_mesh's fails"},
  {"dcp-missing-key", "a key of the optimizer is missing", "dcp: optimizer.step() fails"},
  {"submesh-of-submesh", "a slice of a submesh", "a flattened submesh gathers wrong"},
  {"wrapper-setting-of-another", "no_sync under fully_shard", "DDP takes dp_group only"},
}

local function against(id, text)
  return opposed.find({doc = require("dt.diagnose.clean").read(text)}, {id = id})
end
for _, t in ipairs(turned) do
  T.eq(against(t[1], t[2]), nil, t[1] .. ": " .. t[2])
  local found = against(t[1], t[3])
  T.ok(found and found.note and found.ask and found.wanted, t[1] .. ": " .. t[3])
end
T.eq(against("no-such-class", "anything"), nil, "a class of no side")

local experts <const> = "Expert gradients of my torchtitan MoE are scaled wrong with "
  .. "ep=8: they come out too %s by the factor 8."
T.eq(diagnose.read(experts:format "large").class.id, "ep-gradient-scale", "too large")
r = diagnose.read(experts:format "small")
T.eq(r.class, nil, "experts' gradients that are too small")
T.eq(r.notes[1], "not ep-gradient-scale: the report says \"too small\"", "why not")
T.eq(r.nearest[1].id, "ep-gradient-scale", "it stays the nearest")
T.eq(r.nearest[1].decides, "\"too large\"", "what would make it that class")
T.eq(#r.nearest, 3, "three nearest classes")
T.ok(r.questions[1]:find "too large or too small", "the question that decides",
  r.questions[1])

-- PyTorch's own message is no guess, also without the name of its exception.
r = diagnose.read("DTensor input DTensor(local_tensor=tensor([1.]), device_mesh="
  .. "DeviceMesh((tp=2), 'cpu', stride=(1,)), placements=(Shard(dim=0),)) expects "
  .. "placements but received None!")
T.eq(r.class and r.class.id, "local-map-placements", "a message of local_map")

-- ---- questions on what is complained of -------------------------------------

-- Memory, time and processes that wait are asked about, not the nearest class.
local complaints <const> = {
  {"GPU memory of my FSDP2 run is not freed after del model once get_model_state_dict "
    .. "or full_tensor was called; rank 0 and rank 1 alike.", "memory_allocated"},
  {"Llama with tp_plan on 2 GPUs: the latency is 1.2 times that of one card, so tensor "
    .. "parallel is slower than I would expect.", "profiled step"},
  {"OLMo on 4 GPUs: 1,790 tokens/second with FSDP, 8,034 with DDP. Why is there such a "
    .. "difference in throughput?", "nvidia-smi topo"},
}
for _, c in ipairs(complaints) do
  local asked = table.concat(diagnose.read(c[1]).questions, "\n")
  T.has(asked, c[2])
end

-- Two threads of one rank use one group.
local saver = diagnose.read("torchtitan run hangs in dist.barrier() on rank 1 while rank 0 "
  .. "is in all_gather of dcp.async_save: its background thread uses the same group.")
T.eq(saver.class and saver.class.id, "collective-sequence-mismatch", "two threads")
T.has(saver.fixes[1].torch, "process_group=group")

-- ---- code alone -----------------------------------------------------------

-- It says what somebody does: words of ours in it complain of nothing.
local amp <const> = [[
```python
model.half()
scaler = torch.cuda.amp.GradScaler()
with torch.autocast("cuda"):
    loss = model(x)
scaler.scale(loss).backward()
torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
scaler.step(opt)
```
]]
T.eq(diagnose.read(amp).class, nil, "a loop of one device")

T.finish()
