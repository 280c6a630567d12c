-- SPDX-License-Identifier: MIT
-- dt/diagnose/opposed.lua: what speaks against a class that was guessed from
-- words.  A report that complains of gradients that are too small is near in its
-- words to one of gradients that are too large, and its cause is another.
--
-- An axis has sides, each with the words it is told by (as the concepts of
-- claims.lua), and the question that decides between them.  A class stands on one
-- or several sides of an axis; a report that names only others contradicts it.
-- A class may also be about one thing, which a report of it names.

local prose = require "dt.diagnose.prose"

local M = {}

local HANG <const> = "=hang|=hangs|hanging|=hung|stuck|deadlock|freez|=waits|=wait|=waiting|"
  .. "timeout|time-out|timed out|stall|blocks|=blocked|for ever|forever|"
  .. "never return|never finish|never ends|never arriv|never join|"
  .. "never get|never comes|never continues|stands still|no progress|"
  .. "watchdog|not proceed|no further|does not finish|doesn't finish|=sits|"
  .. "never reach|different collective|out of sync|desync|mismatched collective|"
  .. "never enter|never call|=skips|=skip|never participat|never issue|"
  .. "another collective|other collective|unequal number|times out|"
  .. "time out|never completes|stops|=mismatch|fingerprint"

local WAITS <const> = "Does it hang, and in which call does each rank wait? (py-spy "
  .. "dump, or the flight recorder)"

M.axes = {
  {name = "scale", sides = {"large", "small"},
   ask = "Is the number too large or too small, and by which factor, "
     .. "against one device?",
   large = "too large|too big|too high|times larger|times bigger|times higher|"
     .. "inflated|overcount|over-count|counted twice|double-count|double count|"
     .. "counted once per|=doubled|scaled up|multiplied by|times too|=larger|"
     .. "explod|=jumps|x larger|x bigger|times the|times what|summed instead of|"
     .. "sum instead of|sums instead of|summed rather than|sum rather than",
   small = "too small|too low|too weak|times smaller|times lower|x smaller|"
     .. "=halved|half of what|scaled down|=shrinks|=shrink|divided by|"
     .. "under-count|undercount|divided twice|averaged twice|smaller than|smaller by|"
     .. "much smaller|are smaller|is smaller|vanish|"
     .. "averaged instead of|mean instead of|averages instead of|"
     .. "averaged rather than|mean rather than|under-scaled|underscaled"},
  {name = "course", sides = {"grows", "falls"},
   ask = "Does it grow with every step, or stay high from the "
     .. "first?",
   grows = "grow|=increases|=increasing|=leak|=leaks|=leaking|memory leak|climb|"
     .. "=rises|=rising|accumulat|more and more|every step|every iteration|"
     .. "each iteration|each step|never freed|unbounded|creep|never evicted|"
     .. "never cleared|entry for every|entry per|every shape|each shape|"
     .. "new shape|over time|never emptied",
   falls = "=decreases|=decreasing|=shrinks|=shrinking|goes down|drops to|"
     .. "falls to|=falling|=dropping"},
  {name = "doing", sides = {"save", "load"},
   ask = "Does it happen while saving or while loading?",
   save = "=save|=saves|=saving|=saved|async_save|=export|=exports|=exporting",
   load = "=load|=loads|=loading|=loaded|resum|restor|load_state_dict|from_pretrained|"
     .. "set_model_state_dict|set_optimizer_state_dict|set_state_dict|"
     .. "distribute_tensor|=reload|=reloads|=reshard|=resharding"},
  {name = "ends", sides = {"hang", "crash"},
   ask = "Does it wait for ever, or end with an error (which)?",
   hang = HANG,
   crash = "=crash|=crashes|=crashed|segfault|segmentation fault|core dump|"
     .. "=raises|=raised|=exception|assertion|=oom|out of memory|typeerror|"
     .. "valueerror|attributeerror|illegal memory"},
  {name = "reduces", sides = {"mean", "sum"},
   ask = "Are the parts added where they should be averaged, or "
     .. "averaged with equal weights where the counts differ?",
   mean = "=mean|averag|normaliz|normalis|denominator|divid|token|weigh|=count|"
     .. "counts|ignore_index|pad",
   sum = "=sum|=sums|=summed|summing"},
  {name = "wrapper", sides = {"fsdp2", "fsdp1", "ddp"},
   ask = "Which wrapper is it: fully_shard, "
     .. "FullyShardedDataParallel (FSDP1), or DistributedDataParallel?",
   fsdp2 = "fully_shard|fsdp2|fsdp 2|fsdp_version|mixedprecisionpolicy|dtensor|"
     .. "cpuoffloadpolicy|fsdpmodule|set_requires_gradient_sync|torchtitan|"
     .. "shard_placement_fn|fsdpparam",
   fsdp1 = "fullyshardeddataparallel|fsdp1|fsdp v1|use_orig_params|flat_param|"
     .. "flatparam|shardingstrategy|sharding_strategy|summon_full_params",
   ddp = "distributeddataparallel|=ddp"},
  {name = "sequence", sides = {"ring", "heads"},
   ask = "Is the sequence cut for context_parallel (ring "
     .. "attention), for SequenceParallel in a plan, or by an all-to-all of heads "
     .. "(Ulysses)?",
   ring = "context_parallel|context parallel|context-parallel|=cp|ring|cp_size|"
     .. "zigzag|zig-zag|load balanc",
   heads = "ulysses|alltoall of heads|all-to-all of heads"},
}

-- The sides of a class, what it is about, and what to ask where that is not said.
M.classes = {
  ["ep-gradient-scale"] = {scale = "large",
    about = "expert|=moe|=ep|mixture|router",
    ask = "Are there experts, spread over a mesh of their own?"},
  ["sharding-cache-growth"] = {course = "grows"},
  ["collective-sequence-mismatch"] = {about = HANG .. "|rank 0|rank == 0|main process",
    ask = WAITS},
  ["fsdp-divergent-module-execution"] = {about = HANG, ask = WAITS},
  ["rng-offload-hang"] = {about = "random|generator|seed|=rng|init|dropout|"
    .. "sampl|hang|identical|same value", ask = WAITS},
  ["partial-plus-scalar"] = {about = "=add|=adds|=added|adding|addition|plus|+|bias|"
    .. "constant|scalar|epsilon|subtract|minus|=div|multipl|mul|times|number",
    ask = "Is something added to the tensor before it is reduced?"},
  ["grad-norm-is-partial-dtensor"] = {about = "norm|clip",
    ask = "Which call gives the norm, and is it a DTensor?"},
  ["submesh-of-submesh"] = {about = "slic|submesh of|of a submesh|from a submesh|mesh[|"
    .. "root mesh|parent mesh|[\"",
    ask = "Which meshes are cut out of which?"},
  ["dcp-missing-key"] = {about = "missing|=key|=keys|keyerror|not found|unexpected|"
    .. "absent|not contain|not in the|not exist|no longer|=lacks|=lack|fqn|_orig_mod|"
    .. "prefix|unknown|=name|=names|dropped|not saved|rename|isn't in|entry|entries|"
    .. "metadata",
    ask = "Which key is asked for, and which does the file have?"},
  ["wrapper-setting-of-another"] = {about = "setting|method|attribute|option|argument|"
    .. "keyword|policy|config|flag|parameter of|no_sync|fsdp1|fsdp2|fsdp v|equivalent|"
    .. "=context",
    ask = "Which setting or method, of which wrapper?"},
  ["dcp-size-mismatch"] = {about = "size|shape|length|mismatch|chunk|offset|narrow|"
    .. "bound|larger|smaller|fill|uneven|=rows|padded|],",
    ask = "Which sizes were saved, and which are asked for?"},
  ["meta-device-not-materialised"] = {about = "meta|materiali|uninitial|to_empty|"
    .. "empty_like|not initiali|never initiali|garbage|nan|init", ends = "crash",
    ask = "Are parameters on the meta device when the model is used?"},
  ["clip-grad-cross-mesh"] = {about = "mesh|expert|=ep|=tp|tensor parallel",
    ask = "Do the parameters lie on several meshes?"},
  ["optimizer-cross-mesh"] = {about = "optim|adam|=step|foreach|=sgd|clip",
    ask = "Which parameters does the optimizer get, on which meshes?"},
  ["tp-heads-not-divisible"] = {about = "=head|=heads|num_heads|n_heads|head_dim|"
    .. "kv_head|n_kv|num_attention|gqa|num_key_value|assertionerror",
    ask = "How many attention and key/value heads, over how many ranks?"},
  ["redistribute-to-partial"] = {about = "partial",
    ask = "From which placement to which is it redistributed?"},
  ["local-map-placements"] = {about = "local_map|local map",
    ask = "Is there a local_map, and what are its placements?"},
  ["strided-shard-op-rules"] = {about = "strided|interleav",
    ask = "Which placements has the operand (x.placements)?"},
  ["rng-layout-dependence"] = {about = "random|seed|=rng|initiali|weight init|"
    .. "init_weight|nn.init|same init|dropout|generator|noise|sampl|=draw|=draws|same value|"
    .. "different value|other value|other number|normal_|uniform_",
    ask = "Which call draws random numbers?"},
  ["hidden-redistribution"] = {about = "redistribut|gather|collective|communicat|"
    .. "reduce|all-to-all|all_to_all|broadcast|replicat",
    ask = "Which collectives does CommDebugMode count?"},
  ["tp-plan-unmatched"] = {about = "plan|style|parallelize|colwise|rowwise|pattern|"
    .. "fqn|wildcard|name",
    ask = "Which names has the plan, and which has the model?"},
  ["weighted-mean-loss"] = {reduces = "mean"},
  ["mixed-load-state-dict"] = {doing = "load"},
  ["fsdp2-full-state-dict-key"] = {doing = "load", wrapper = "fsdp2"},
  ["fsdp2-plain-entry-in-sharded-state-dict"] = {wrapper = "fsdp2"},
  ["fsdp2-scalar-parameter"] = {wrapper = "fsdp2"},
  ["fsdp2-usage"] = {wrapper = "fsdp2"},
  ["mixed-fsdp2-non-forward-entry"] = {wrapper = "fsdp2"},
  ["fsdp-tied-params-two-groups"] = {wrapper = "fsdp2"},
  ["cp-load-balance"] = {sequence = "ring"},
  ["cp-backend-or-mask"] = {sequence = "ring"},
  ["cp-seq-divisibility"] = {sequence = "ring"},
  ["from-local-uneven-shape"] = {about = "uneven|unequal|divisib|divide|"
    .. "different size|different shape|different length|different number|"
    .. "ragged|remainder|global shape|global size|rows|pad|smaller|last rank|"
    .. "=odd|explicit shape|shape and stride|shape=|fewer|chunk|local shape|"
    .. "local size|run_check|mismatch",
    ask = "Do the ranks' pieces differ in size?"},
  ["argmax-local-index"] = {about = "argmax|argmin|topk|top-k|=max|=min|index|indices",
    ask = "Which call gives the positions?"},
  ["sdpa-cache-key"] = {about = "cache",
    ask = "Is the first call right, and a later one with other arguments wrong?"},
  ["devicemesh-pickle-version-skew"] = {about = "version|release|older|newer|"
    .. "upgrad|downgrad|another torch|torch 2|pytorch 2|nightly|2.|attribute",
    ask = "Which torch release wrote the file, and which reads it?"},
  ["numerics-drift-not-bug"] = {about = "small|slight|tiny|tolerance|precision|"
    .. "rounding|bit for bit|bitwise|bit-wise|drift|digit|close|decimal|e-2|e-3|e-4|"
    .. "e-5|e-6|e-7|numerical|fp16|fp64|float64|bf16|last bit|seed",
    ask = "How large is the difference, and does it remain in float64?"},
  ["conv-backward-placement"] = {about = "conv",
    ask = "Is there a convolution in the model?"},
  ["squeeze-local-singleton"] = {about = "squeeze",
    ask = "Is a dimension of local size 1 squeezed?"},
  ["cpu-offload-no-cpu-backend"] = {about = "offload|=cpu|gloo",
    ask = "Are parameters or the optimizer's states on the CPU?"},
  ["optimizer-built-before-sharding"] = {about = "optim|=adam|adamw|=sgd",
    ask = "Is the optimizer made before or after the model is sharded?"},
  ["dispatch-overhead"] = {about = "slow|overhead|latency|time|fast|cpu-bound|idle|"
    .. "bottleneck|cpu bound|=ms|=us|starv|speed|perf|throughput|each tensor|each step|"
    .. "cache miss|per op",
    ask = "What is slower, the CPU's part of a step or the GPU's?"},
}

-- The words of side `side` in the report, or nil.
local function said(r, axis, side)
  return prose.says(r, axis[side]) or nil
end

-- The words by which the report stands on other sides of the axis only.
local function against(r, axis, side)
  if said(r, axis, side) then return nil end
  for _, name in ipairs(axis.sides) do
    local found = said(r, axis, name)
    if found then return found end
  end
end

-- The first of some words, as it is shown.
local function first_of(words) return "\"" .. words:match "^=?([^|]+)" .. "\"" end

-- What speaks against the class: {note=, ask= the question that decides, wanted= what
-- a report of it says}, or nil.
function M.find(r, class)
  local own = M.classes[class.id]
  if not own then return nil end
  for _, axis in ipairs(M.axes) do
    local side = own[axis.name]
    local found = side and against(r, axis, side)
    if found then
      return {note = ("not %s: the report says \"%s\""):format(class.id, found),
        ask = axis.ask, wanted = first_of(axis[side])}
    end
  end
  if own.about and not prose.says(r, own.about) then
    local wanted = first_of(own.about)
    return {note = ("not %s: the report says nothing like %s"):format(class.id, wanted),
      ask = own.ask, wanted = wanted}
  end
end

return M
