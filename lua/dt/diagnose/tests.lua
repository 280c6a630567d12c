-- SPDX-License-Identifier: MIT
-- dt/diagnose/tests.lua: named conditions of the classes' signs.  A list of
-- texts holds when one of them is in the report; a function gets the
-- reading: {doc=, op=, has=function(text)}.

local M = {}

M.texts = {
  dt = {"DTensor", "DeviceMesh", "device_mesh", "fully_shard", "FSDP2",
    "parallelize_module", "distribute_tensor", "ColwiseParallel",
    "RowwiseParallel", "'SequenceParallel'", "context_parallel",
    "ContextParallel", "torchtitan", "tensor parallel", "tensor_parallel",
    "context parallel", "distribute_module", "tp_plan", "loss_parallel",
    "FSDP 2", "torch.distributed.tensor", "fsdp_version", "full_tensor()",
    "_local_tensor"},
  dt_words = {"DTensor", "DeviceMesh", "Shard(", "StridedShard", "Replicate()",
    "mesh axes", "sharding propagation"},
  fsdp = {"fsdp", "fully_shard", "FullyShardedDataParallel"},
  mesh = {"DeviceMesh", "device_mesh", "mesh_dim"},
  tp = {"tensor parallel", "tensor_parallel", "tensor-parallel",
    "parallelize_module", "ColwiseParallel", "RowwiseParallel", "tp_plan",
    "tp_size", "tp_degree", "base_model_tp", "tp",
    "tp_mesh", "tensorparallel", "tp degree", "colwise", "rowwise"},
  -- DTensor itself, not only a kind of parallelism
  dtensor = {"DTensor", "DeviceMesh", "device_mesh", "parallelize_module",
    "ColwiseParallel", "RowwiseParallel", "torchtitan", "tp_plan",
    "fully_shard", "distribute_tensor", "DistributedConfig"},
  -- tensor parallelism that is not DTensor's
  other_tp = {"vllm", "deepspeed", "megatron", "sglang", "colossalai",
    "Open-Sora", "ktransformers", "lmdeploy", "TensorRT", "paddle", "collie"},
  tp_hook = {"_prepare_input_fn", "parallel/style.py", "PrepareModuleInput",
    "input_fn", "inputs[0]", "_prepare_input"},
  moe = {"expert", "router", "grouped_mm", "mixtral", "MoE layer",
    "mixture-of-experts", "moe"},
  weight_frame = {"return F.embedding(", "return F.linear(",
    "return F.layer_norm(", "self._conv_forward(", "return torch.embedding("},
  cp = {"context_parallel", "context parallel", "ContextParallel",
    "ring attention", "_context_parallel", "context-parallel", "cp_size",
    "ring_attention", "cp_world_size", "cp_rank", "cp_mesh"},
  cp_loose = {"context_parallel", "context parallel", "ContextParallel",
    "ring attention", "context-parallel", "cp_size", "ulysses",
    "cp size", "cp_mesh", "cp rank", "cp_rank", "sequence parallel size"},
  quant = {"Float8", "float8", "fp8", "torchao", "NF4Tensor", "nf4",
    "AffineQuantizedTensor", "MXTensor", "Int8Tensor", "NVFP4", "quantized "
    .. "tensor", "LinearActivationQuantizedTensor", "bitsandbytes", "MXFP8",
    "mxfp8"},
  later_setting = {"'ignored_params'", "'shard_placement_fn'",
    "'dp_mesh_dims'", "'offload_policy'", "'mp_policy'"},
  entry = {".generate(", "in generate", "encode_image", "get_input_embeddings",
    "unwrap_model", "register_fsdp_forward_method", "get_image_features",
    "get_text_features", "lm_head.weight", "chunked cross", "fused_linear", "use_fused_kernels",
    "vocab_weights",
    "linear_cross_entropy", "in _sample", "encode_text", "encode(", "sample(",
    "lm_head(", ".decode(", "model.model(", "score(", "LigerFused",
    "get_output_embeddings", "no_sync", "loss_fn(weight",
    "loss_fn(model.lm_head", "output.weight,", "prefill", "in evaluate"},
  sdpa_frame = {"scaled_dot_product", "sdpa_attention", "flash_attention",
    "SDPBackend", "causal_mask", "attn_mask", "attention_mask",
    "flash_attn", "eager_attention_forward", "_update_causal_mask"},
  rope = {"apply_rotary", "rotary", "freqs_cis", "cos_cached", "rope_",
    "rotate_half", "position_embeddings", "apply_rope", "RoPE", "rope cache"},
  attention_frame = {"attention", "self_attn", "attn", "num_heads", "q_proj",
    "k_proj", "n_heads"},
  loading = {"load_state_dict", "weight_loader", "load_weights",
    "set_model_state_dict", "load_checkpoint", "set_module_tensor",
    "_load_state_dict", "default_weight_loader", "load_pretrained",
    "sync_weights", "update_weights", "load_adapter", "_load_from_state_dict",
    "state_dict"},
  -- a collective that did not end
  stuck = {"Watchdog caught collective operation timeout", "NCCL timeout",
    "collective timeout", "Timeout at NCCL work", "hangs", "deadlock",
    "is stuck", "gets stuck", "never returns", "freezes", "hanging",
    "waits forever", "hang"},
  names_collective = {"all_reduce", "allreduce", "all-reduce", "all_gather",
    "allgather", "all-gather", "reduce_scatter", "reduce-scatter",
    "all_to_all", "broadcast", "barrier", "collective"},
  -- who takes part in it
  not_all_ranks = {"one rank decides", "some ranks", "not all ranks",
    "other ranks do not", "other ranks don't", "others do not", "others never",
    "only rank 0", "subset of the ranks", "subset of ranks", "ranks skip",
    "rank skips", "skipped on", "conditional collective", "while another",
    "another decides", "ranks disagree", "ranks take different",
    "on one rank but", "every rank has to", "all ranks have to",
    "all ranks must", "every rank must", "all ranks need to"},
  -- one number on each rank
  per_rank_words = {"different numbers", "differs per rank",
    "different on each rank", "differ between ranks", "each rank prints",
    "each rank gets", "each rank returns", "differs across ranks",
    "not the same on all ranks", "different per rank", "different on every",
    "every rank prints", "every rank has a different", "local tensor value",
    "differs on every rank", "different values on", "differ across ranks",
    "only its own part", "only the local part", "rank's own part"},
  -- which add up to the right one
  sum_right = {"their sum is", "sum of them", "sum over the ranks",
    "sum over ranks", "sum across ranks", "summing them", "add up to",
    "adds up to", "when summed", "summed over", "added together",
    "times smaller", "times too small", "divided by the number of ranks",
    "all_reduce gives the right", "all-reduce gives the right"},
  no_effect = {"not updated", "does not change", "do not change",
    "don't change", "doesn't change", "not change", "never changes",
    "no effect", "stays the same", "constant loss", "loss is constant",
    "loss stays", "not decreas", "doesn't decrease", "not improv",
    "does not train", "doesn't train", "not training", "not learning",
    "does not learn", "doesn't learn", "unchanged", "loss is flat",
    "does not go down", "doesn't go down", "same loss"},
  skip_words = {"expert", "vision tower", "vision encoder", "vision model",
    "vision-language", "visual", "no image", "without image", "images",
    "unused", "skip", "branch",
    "conditional", "early exit", "different modules", "some ranks",
    "empty batch", "no tokens", "uneven", "different number of", "one rank",
    "dummy", "NaN loss", "mixed batch", "text-only"},
}

local weight_ops = {"aten.embedding.", "aten.mm.", "aten.addmm.",
  "aten.convolution.", "aten.linear.", "aten.native_layer_norm.",
  "aten._fused_rms_norm.", "aten.matmul.", "aten.bmm.", "aten.t.",
  "flash_attn._flash_attn", "aten.mv.", "aten.native_group_norm.",
  "aten.native_batch_norm.", "aten.cudnn_batch_norm.", "aten._embedding_bag"}
local mask_ops = {"aten.add.", "aten.where.", "aten.masked_fill", "aten.mul.",
  "aten.bmm.", "aten.baddbmm.", "aten.logical", "aten.sub.", "aten.index",
  "aten.cat.", "aten.expand.", "aten.bitwise_and", "aten.addcmul"}

local function begins_with(list)
  return function (r)
    if not r.op then return false end
    for _, p in ipairs(list) do
      if r.op:sub(1, #p) == p then return true end
    end
    return false
  end
end

M.functions = {}
M.functions.weight_op = begins_with(weight_ops)
M.functions.mask_op = begins_with(mask_ops)

-- An operator of the reporter's own library.
function M.functions.own_op(r)
  local ns = r.op and r.op:match "^[^.]+"
  return ns ~= nil and not (ns == "aten" or ns == "prims" or ns:find "c10d")
end

-- "mixing Tensor and DTensor", in Chinese, Japanese, Korean or loose English.
local mixing = {"\230\183\183\229\144\136",               -- hun he
  "\229\144\140\230\151\182\229\173\152\229\156\168",     -- tong shi cun zai
  "\230\183\183\231\148\168", "\230\183\183\229\156\168", -- hun yong, konzai
  "\227\129\174\230\183\183", "\237\152\188", "mixed", "mixing", "mixture of",
  "mix of"}

function M.functions.mixed_words(r)
  local flat = r.doc.flat
  if not flat:find("DTensor", 1, true) then return false end
  local low = flat:sub(1, 400000)
  if not low:find "[^D]Tensor" and not low:find "[Pp]lain" then return false end
  for _, w in ipairs(mixing) do
    local at = 1
    for _ = 1, 30 do
      local a = low:find(w, at, true)
      if not a then break end
      if low:sub(math.max(1, a - 120), a + 160):find("DTensor", 1, true) then
        return true
      end
      at = a + #w
    end
  end
  return false
end

-- A mesh axis of size 1: "tp mesh size is 1", tp=1, tp_size: 1.  Each row: a
-- word, and what follows it; looked for at a limited number of places, in the
-- next few letters, so that the time stays linear.
local ones = {{"tp", "^[_ ]?%a*%s?[=:]%s?1%f[^%w]"},
  {"size", "^[_%a ]*%f[%w]is[ `]*1%f[^%w]"}, {"size", "^[ _]?of[ `]*1%f[^%w]"},
  {"parallel", "^[_ ]?%a*%s?[=:]%s?1%f[^%w]"}, {"size", "^[ `]+1%f[^%w]"},
  {"size", "^ to[ `]*1%f[^%w]"}, {"degree", "^[ _]?%a*[ =:]+1%f[^%w]"},
  {"size", "^ one"}}
local PLACES, REACH = 2000, 60

function M.functions.size_one(r)
  local low = r.doc.flat:sub(1, 300000):lower()
  for _, row in ipairs(ones) do
    local word, pattern, at = row[1], row[2], 1
    for _ = 1, PLACES do
      local from, to = low:find(word, at, true)
      if not from then break end
      local _, last = low:sub(to + 1, to + REACH):find(pattern)
      local whole = word ~= "tp" or not low:sub(from - 1, from - 1):find "%w"
      if last and whole and not low:find("^%.%d", to + last + 1) then
        return true
      end
      at = to + 1
    end
  end
  return false
end

-- shape '[2, 5, -1, 128]' is invalid for input of size 1280: a fraction of a
-- head, or a number of heads no mesh would leave.
function M.functions.heads_ratio(r)
  local sizes, n = r.doc.flat:match
    "shape '%[([%d, %-]+)%]' is invalid for input of size (%d+)"
  if not n then return false end
  local known = 1
  for s in sizes:gmatch "%-?%d+" do
    if tonumber(s) > 0 then known = known * tonumber(s) end
  end
  return known > 0 and tonumber(n) % known ~= 0
end

-- The same words out of DTensor's own dispatch: the view's global shape met a
-- shard, and the shape holds more elements than the shard has.
function M.functions.view_of_shard(r)
  local flat = r.doc.flat
  if not flat:find "tensor/_?dispatch%.py" then return false end
  local sizes, n = flat:match
    "shape '%[([%d, ]+)%]' is invalid for input of size (%d+)"
  if not n then return false end
  local known = 1
  for s in sizes:gmatch "%d+" do known = known * tonumber(s) end
  return known > tonumber(n)
end

-- Expected input batch_size (2048) to match target batch_size (2047): more than the
-- larger half, which no number of ranks makes of equal lengths.
function M.functions.labels_shifted(r)
  local a, b = r.doc.flat:match
    "input batch_size %((%d+)%) to match target batch_size %((%d+)%)"
  a, b = tonumber(a), tonumber(b)
  return a ~= nil and a ~= b and 2 * math.min(a, b) > math.max(a, b) + 1
end

-- Frames of the compiler's tracer, and of DTensor's dispatch that it traced.
local tracers = {"torch/_functorch/", "torch/_dynamo/", "torch/fx/interpreter.py"}

function M.functions.traced_dispatch(r)
  local flat = r.doc.flat
  local _, at = flat:find "distributed/_?tensor/[%w_/]+%.py"
  if not at then return false end
  for _, t in ipairs(tracers) do
    local from = flat:find(t, 1, true)
    if from and from < at then return true end
  end
  return false
end

-- The size of tensor a (512) must match the size of tensor b (256)
function M.functions.factor(r)
  local a, b = r.doc.flat:match
    "size of tensor a %((%d+)%) must match the size of tensor b %((%d+)%)"
  a, b = tonumber(a), tonumber(b)
  if not a or a == 0 or b == 0 then return false end
  if a < b then a, b = b, a end
  return a > b and a % b == 0 and a // b <= 64
end

-- Watchdog lines of several ranks: another operator or size at one SeqNum.
function M.functions.seq_differs(r)
  local seen, n = {}, 0
  for seq, op, rest in r.doc.flat:gmatch
    "SeqNum=(%d+), OpType=([%w_]+)([^)]*)" do
    n = n + 1
    if n > 5000 then break end
    local key = op .. "/" .. (rest:sub(1, 80):match "NumelIn=(%d+)" or "")
    if seen[seq] and seen[seq] ~= key then return true end
    seen[seq] = key
  end
  return false
end

-- Watchdog lines of one collective in which ranks have tensors of different sizes.
function M.functions.sizes_differ(r)
  local seen, n = {}, 0
  for seq, op, size in r.doc.flat:gmatch
    "SeqNum=(%d+), OpType=([%w_]+), NumelIn=(%d+)" do
    n = n + 1
    if n > 5000 then break end
    local key = seq .. " " .. op
    if seen[key] and seen[key] ~= size then return true end
    seen[key] = size
  end
  return false
end

-- Flight Recorder: the analyser's words, or entries that differ at one
-- sequence number.
function M.functions.flight_differs(r)
  local flat = r.doc.flat
  if flat:find("Collective sequence number", 1, true)
    and (flat:find("has errors", 1, true) or flat:find("mismatch", 1, true)
         or flat:find("missing ranks", 1, true)) then
    return true
  end
  if not flat:find("collective_seq_id", 1, true) then return false end
  local seen, n = {}, 0
  for seq, name in flat:gmatch
    '"?collective_seq_id"?: (%d+),.-"?profiling_name"?: "?\'?([%w_:]+)' do
    n = n + 1
    if n > 2000 then break end
    if seen[seq] and seen[seq] ~= name then return true end
    seen[seq] = name
  end
  return false
end

local evidence = require "dt.diagnose.evidence"
for _, name in ipairs(evidence.names) do
  M.functions[name] = evidence[name]
end

return M
