-- SPDX-License-Identifier: MIT
-- dt/diagnose/claims.lua: what reports claim in words: concepts (alternatives
-- that mean one thing) and the classes that several of them suggest together.
-- prose.lua reads them.

local M = {}

-- A concept: alternatives, plain text in lower case; "=w" is a whole word.
M.concepts = {
  dt = "=dtensor|=dtensors|=dtensorspec|fully_shard|fsdp2|=dcp|"
    .. "set_optimizer_state_dict|"
    .. "set_model_state_dict|get_model_state_dict|get_optimizer_state_dict|"
    .. "device mesh|device_mesh|devicemesh|"
    .. "parallelize_module|distribute_tensor|context_parallel|"
    .. "context parallel|torchtitan|sequenceparallel|colwiseparallel|"
    .. "rowwiseparallel|tensor parallel|tensor-parallel|tp_plan|full_tensor|"
    .. "from_local(|from_local with|to_local|dcp.load|dcp.save|"
    .. "loss_parallel|expert parallel|expert-parallel|distribute_module|"
    .. "mark_sharding|get_group()|mesh[|shard(0)|shard(1)|shard(-1)|replicate()|"
    .. "distributed checkpoint|sharded over|sharded on|sharded along|=tp|"
    .. "redistribut|placements|partial(|is partial|as partial|unshard|"
    .. "maskpartial|spmd_types|local_map|register_sharding|"
    .. "preparemoduleinput|2-d mesh|2d mesh|3-d mesh|submesh|sub mesh|ep mesh|"
    .. "fsdp mesh|tp mesh|dp mesh|ep_size|vocabulary that is split|is sharded|"
    .. "sequence sharded|still sharded|sharded model|dp_rank|dp_shard|"
    .. "dp_replicate|stridedshard|dp_size|dp ranks|data-parallel ranks|"
    .. "data parallel ranks|expert_parallel|sequence parallel|"
    .. "sequence_parallel|=ep",
  -- What is said about others' work is not a report of a fault.
  news = "changelog|change log|release notes|tests skipped|test suite|"
    .. "the runner|=ci|=ci's|what's new|roadmap|"
    .. "feature request|plan to support|next release|tensorflow|"
    .. "namedsharding|shard_map|paddle|mindspore|[rfc]",
  -- A report complains; a question or a wish does not.
  complaint = "error|fail|wrong|incorrect|=bug|=bugs|crash|=hang|=hangs|"
    .. "hanging|=hung|stuck|does not|"
    .. "doesn't|cannot|can't|don't work|not work|not updated|unexpected|"
    .. "mismatch|differ|grows|leak|=oom|out of memory|raise|refuse|broken|"
    .. "=lost|loses|silently|instead of|=fix|=fixes|=fixed|unsupported|regression|never|"
    .. "twice|times too|inconsistent|should be|should have|reject|refuse|"
    .. "is not|are not|stops|stopped|=dies|=died|insist|not possible|impossible|"
    .. "forbid|not allowed|not accepted|no longer|complain|breaks|chokes|"
    .. "freez|blocks|blocked|stands still|garbage|nonsense|gibberish|=nan|"
    .. "illegal|too large|too small|too big|too high|too low|too weak|off by|"
    .. "times as|times what|drift|no effect|does nothing|changes nothing|"
    .. "bottleneck|=idle|starves|lacks|out of range|nobody|works on|"
    .. "was fine|without it works|worked until|worked in|worked before|"
    .. "asserts|could not|couldn't|strange|gets smaller|gives only|"
    .. "much larger than|much worse|about half|half of what|half as|"
    .. "do not change|does not change|doesn't change|not learn|not train|"
    .. "loss stays|stays flat|stays constant|is constant|exactly constant|"
    .. "slower than|"
    .. "finds no|not exist",
  -- What no announcement of a feature says.
  fault = "error|fails|failing|failed|failure|crash|=hang|=hangs|"
    .. "hanging|=hung|wrong|incorrect|"
    .. "=bug|bugfix|broken|deadlock|mismatch|stuck|=nan|raises|raised|cannot|"
    .. "does not|doesn't|not work|silently|instead of|=oom|=leak|leaks|=slow|"
    .. "slower|regression|=fix|fixes|fixed|missing|problem|issue",
  question = "naive question|quick question|how to understand|"
    .. "how is this to be|is this correct?|is it correct to|is it right that|"
    .. "how do i|how can i|can someone|could someone|why use|"
    .. "is there a way|is it possible|will fully_shard|ask for it|"
    .. "which version|i'd like to see|question about|"
    .. "the documentation of|does fsdp2 also|any plans|thanks for the great",
  fsdp = "fully_shard|fsdp|cpuoffloadpolicy|mixedprecisionpolicy|"
    .. "set_requires_gradient_sync",
  tp = "tensor parallel|tensor-parallel|=tp|colwise|rowwise|"
    .. "parallelize_module|tp_plan",
  cp = "context_parallel|context parallel|ring attention|cp=|cp_size|"
    .. "under cp|with cp",
  hang = "=hang|=hangs|hanging|=hung|stuck|blocks forever|never finish|"
    .. "never return|never ends|"
    .. "never comes back|deadlock|freez|waits forever|wait forever|"
    .. "does not finish|doesn't finish|timeout|timed out|stalls|"
    .. "never proceed|does not proceed|waits|blocks|stands still|"
    .. "no progress|gets stuck|blocked|for ever|forever|never participates|"
    .. "never joins|never arrives|never gets past|does not get past|"
    .. "doesn't get past|never gets beyond|gets no further|never continues|"
    .. "does not continue|never comes to an end|sits there|just sits|"
    .. "watchdog",
  one_rank = "main process|rank 0 only|only on rank 0|only rank 0|rank == 0|"
    .. "rank zero|get_rank() == 0|get_rank()==0|is_main_process|on one rank only|only on one rank|"
    .. "only in rank 0|on the first rank|"
    .. "rank 0 evaluates|rank 0 calls|rank 0 alone|"
    .. "only the first rank|others have gone on|"
    .. "other ranks have gone on",
  together = "full_tensor|state_dict|redistribute|all_gather|all-gather|"
    .. "barrier|all_reduce|all-reduce|save_pretrained|print|save",
  unlike = "another subgraph|different subgraph|other subgraph|"
    .. "different part of the model|different parts of the model|no picture|no image|without image|without picture|text-only|"
    .. "no tokens|skips|skipped|conditional|unused|some ranks|"
    .. "one of the rank|one of the node|other ranks|three ranks|"
    .. "not all ranks|early return|returns early|early exit|have no image|"
    .. "has no image|not run there|without a picture|another module|"
    .. "different module|not executed|is not run|are not run|some batch|"
    .. "other branch|another branch|different path|only some|=skip|"
    .. "different number of|different numbers of|differing number|"
    .. "number of micro|fewer micro|fewer batch|more batches than|"
    .. "count mismatch|leaves its loop|leaves the loop|leaves early|"
    .. "exits the loop|exits early|exit the loop|finishes early|"
    .. "finishes its loop|leave the loop|empty shard|empty batch|empty data|"
    .. "runs out of|run out of|uneven number|unequal number|one rank more|"
    .. "while the other|while others|other ranks are|another forward|"
    .. "not see any token|n't see any token|see no token|"
    .. "sees no token|sends no token|receives no token|gets no token|"
    .. "get no token|without tokens|used differently|take turns|"
    .. "turns being used|gradients on some ranks",
  no_learning = "not learn|not train|never change|don't change|"
    .. "do not change|does not change|not updated|not being updated|"
    .. "loss stays|loss is flat|not decreas|not go down|weights stay|"
    .. "does not go down|not going down|never goes down|doesn't learn|"
    .. "no progress in|constant loss|same loss|not change|"
    .. "exactly constant|stays constant|is constant|does not move|"
    .. "doesn't move|never move",
  optimizer = "optimizer|=adam|adamw|=sgd",
  optimizer_state = "exp_avg|optimizer state|optim.step|optimizer.step|"
    .. "optimizer_state_dict|optim_state",
  order_of_calls = "before|right after the model|later|earlier|prior|first|"
    .. "afterwards|after that|and then|in setup|then i call",
  grad_norm = "clip_grad|grad norm|grad_norm|gradient norm|total_norm|"
    .. "gradient clipping|norm of the gradient|norm that i log|"
    .. "norm of gradients",
  too_low = "shrink|smaller|lower|too small|depends on the number|"
    .. "changes with the number|differs per rank|different on each|too low|"
    .. "is wrong|when i add gpus|not the same on|different on|each rank|"
    .. "per rank|local|not equal|much smaller|"
    .. "halves|times as many gpus",
  counted_often = "counted|once per|inflated|overcount|over-count|too high|"
    .. "too large|tp_size times|tp times|double-count|duplicated|"
    .. "multiple times|several times|summed over tp",
  copies = "replicated|the same on each|identical on|copies|=norms|"
    .. "layernorm|rmsnorm|duplicated|on every tp|on each tp",
  host_memory = "=rss|host memory|cpu memory|host ram|cpu ram|"
    .. "process memory|ram usage|tracemalloc|gc.get_objects|"
    .. "memory of the process|process's memory|python objects|host side",
  grows = "grow|goes up|increas|leak|climb|rises|accumulat|rising|"
    .. "more and more|every iteration|each iteration|never freed|unbounded|"
    .. "creep|never emptied|never evicted|never cleared|"
    .. "entry for every|entry per",
  slow = "slow|overhead|idles|cpu-bound|cpu bound|latency|spends|"
    .. "takes longer|times longer|longer than|slower|time in|cpu time|"
    .. "bottleneck|launch bound|=idle|times faster|faster than|starved",
  dispatch = "dispatch|optimizer step|per op|profil|__torch_dispatch__|"
    .. "dtensor dispatch|per operator|optimizer.step",
  no_saving = "twice the memory|same memory|not less memory|"
    .. "more memory than|memory is the same|memory than|as much memory|"
    .. "memory that i computed|no memory saving|does not save memory|halved|"
    .. "only half|less than expected|not sharded over all|more memory|"
    .. "still replicat|is replicated|not drop|does not go down|"
    .. "memory is twice|twice what|memory than expected",
  two_dims = "2d mesh|2-d mesh|(replicate(), shard|two dimensions|dp and cp|"
    .. "two-dimensional|hsdp|(2, 4) mesh|(4, 2) mesh|(2, 2) mesh|2d|2-d|"
    .. "mesh_2d|two-d|(dp, cp)|dp_shard, cp|(2, |second dim",
  small = "1e-1|1e-2|1e-3|1e-4|1e-5|1e-6|slightly|tiny|bf16|bfloat16|"
    .. "rounding|precision|tolerance|small difference|exactly in float64|"
    .. "in double|in fp32 they|float64|last digit|1e-",
  one_device = "=tp=1|against tp=1|tp=1 |single gpu|one gpu|single device|one device|without tp|"
    .. "single-gpu|one process|1 gpu|single|unsharded run|no parallelism|"
    .. "baseline",
  differs = "differ|not the same|mismatch|not equal|unequal|discrepan|"
    .. "disagree|not agree|another|wrong|incorrect|garbage|gibberish|"
    .. "nonsense|unlike",
  sp = "sequenceparallel|sequence parallel|sequence_parallel",
  too_long = "* tp|times longer|twice as long|repeated|full sequence|"
    .. "too long|doubled|whole sequence|tiled|tiles|tiling|tp times|"
    .. "world_size times|concatenat|whole input|full input|complete input|"
    .. "times as many",
  plan = "plan|tp_plan|parallelize_module|plan key|names in",
  unmatched = "not recognised|not recognized|unknown style|"
    .. "unsupported style|no parallelstyle|not a parallelstyle|not matched|be matched|matches nothing|plain tensors afterw|"
    .. "silently|not applied|_orig_mod|prefix|nothing in my|no module|"
    .. "not sharded|without a word|no effect|none of|nothing is sharded|"
    .. "nothing happens|stay plain|remain plain|still plain|does nothing|"
    .. "no weight",
  permuted = "permut|another order|wrong order|other order|shuffl|reorder|"
    .. "interleav|scrambl|mixed up|pieces from|front and|different order|"
    .. "in the wrong place|order of rows|order of the rows",
  uneven = "uneven|not divisible|different number of rows|different sizes|"
    .. "unequal|pieces of|another number of rows|different numbers of|"
    .. "other number of rows|not equal in size|different length|"
    .. "unequal length|various lengths",
  from_local = "from_local",
  to_local = "to_local",
  gradient = "gradient|=grad|backward|gradients",
  incomplete = "only a part|different on each|each tp rank|is different|"
    .. "missing|wrong|not reduced|too small|too large|scaled|incorrect|"
    .. "nobody sums|its own gradient|own gradient|not summed|not synchron|"
    .. "not averaged|drift|not the same|diverge|lost|differs|differ",
  partial = "partial|"
    .. "pending sum|pending reduction",
  forward_right = "forward is right|forward is correct|forward is fine|"
    .. "forward pass is right|forward pass is correct|forward matches|"
    .. "correct forward|forward correct|backward is wrong|"
    .. "backward pass is wrong|only the backward|never see|never gets|"
    .. "loss is correct|loss is right|loss matches|loss agrees",
  own_part = "rank-local|local contribution|only its own contribution|"
    .. "instead of the sum|own part of the gradient|partial contribution|"
    .. "contribution of its own shard|not summed across|not summed over",
  nobody_sums = "nothing sums|nobody sums|no one sums|never summed|is not summed|"
    .. "are not summed|not being summed|never reduced|is not reduced|are not reduced|"
    .. "missing all-reduce|missing all reduce|without an all-reduce|no all-reduce|"
    .. "lose their reduction|loses its reduction|skips the all-reduce|"
    .. "missing reduce-scatter",
  of_each_rank = "each rank|every rank|per rank|per-rank|rank's own|own experts|"
    .. "local experts|each tp rank|across ranks|over the ranks|over tp|on each",
  sync_states = "sync_module_states|broadcast_from_rank0|broadcast_module_states|"
    .. "_sync_module_states",
  mesh_call = "_unflatten|_flatten(|mesh[|init_device_mesh|_concatenate",
  dim_name = "dim name|dim_name|dimension name|name of the dim|valid name|"
    .. "=names",
  a_number = "add 1|adding 1|+ 1|constant|scalar|python number|a number|"
    .. "plus 1|plus one|adds 1|add one|bias|epsilon|a float|1.0",
  too_big = "too big|too large|off by|too high|larger by|too much|bigger|"
    .. "larger than|times the",
  nonlinear = "=abs|relu|gelu|square|sqrt|non-linear|nonlinear|clamp|=exp|"
    .. "sum of the abs|sum of norms|abs(|relu(|softmax|sigmoid|tanh|silu|"
    .. "pow(|exp(",
  of_sum = "of the sum|sum of the|before the sum|before reduc|each addend|"
    .. "of their sum|of the addends|sum of absolute|of each part|"
    .. "of the parts|of the local",
  sizes = ".shape|numel|.size()|size() is|its size|=strides|shape of the dtensor|its shape|"
    .. "number of rows|.size(",
  whole = "out of bounds|out-of-bounds|illegal memory|full tensor|"
    .. "global shape|global size|not of my shard|unsharded|whole tensor|"
    .. "shape of the whole|beyond the end|past the end|reads beyond|"
    .. "global number|of the full",
  kernel = "kernel|triton|buffer|=grid|cuda kernel|extension|custom kernel|"
    .. "=op",
  checkpoint = "checkpoint|=dcp|resum",
  other_world = "with 4|with 2|with 16|different number of gpu|"
    .. "different number of rank|world size|fewer gpus|more gpus|"
    .. "other number|loaded on|load on|resume on|resumed on|reloaded on|"
    .. "another number of|number of gpus|number of ranks|gpus and load|"
    .. "ranks and load|other world",
  missing_key = "missing|not found|key|do not exist|does not exist|"
    .. "not exist|unknown|not in the|isn't in the",
  heads = "heads|head_dim|kv head|key/value|kv-head|kv_head|n_kv_heads|=head",
  refuses = "no longer works|fail|error|raise|does not work|doesn't work|cannot|wants|"
    .. "complain|not allowed|not supported|refuse|not accepted|not possible|"
    .. "impossible|forbidden|can not|can't|isn't accepted|no way|rejected|"
    .. "crash|dies|breaks|assert|stops|not implemented|unsupported|invalid|"
    .. "doesn't accept|does not accept|not take",
  distribute = "distribute_tensor",
  of_rank0 = "data of rank 0|rank 0's|from rank 0|overwritten|ignores what|"
    .. "all ranks end with|same as rank 0|other ranks|of rank 0|first rank|"
    .. "broadcast|scatter",
  argmax = "argmax|argmin|topk|"
    .. "max.dim|min.dim|torch.max(|torch.min(|maximization",
  local_index = "below vocab|local ind|within the shard|wrong ind|all below|"
    .. "relative to the shard|vocab/tp|less than vocab|smaller than vocab|"
    .. "/ tp|/tp|local position|vocab_size /|wrong token|per shard|"
    .. "in the shard|"
    .. "incorrect ind|indices are wrong|indices are local|"
    .. "indices, not values|indices this|ids that are always",
  loss = "loss|cross_entropy|nll|=mean|crossentropy",
  weights = "ignore_index|ignored token|different number of ignored|"
    .. "padding token|token count|class weight|valid token|number of token|"
    .. "padding|fewer token|pad token|weigh too|weighs|ignored",
  per_token = "number of tokens|token count|count of tokens|valid token|"
    .. "loss token|label token|response token|unmasked token|global tokens|"
    .. "global number of|global count|count of labels|number of labels|"
    .. "label count|label_tokens|total tokens|per-token|per token",
  own_mean = "local mean|local token|local count|local batch|micro-batch|"
    .. "micro batch|microbatch|per rank|per-rank|each rank|own tokens|"
    .. "own count|denominator|averages|averaged|normalis|normaliz",
  unequal = "different number|different length|different amount|upweight|"
    .. "incorrect weight|incorrect gradient|imbalance|variable-length|"
    .. "variable length|weighted incorrectly|other weights",
  over_ranks = "=ranks|data parallel|data-parallel|=dp|=ddp|dp_size|fsdp|"
    .. "world_size|world size|=gpus|all-reduce|all_reduce",
  plain_values = "plain tensor|normal torch checkpoint|ordinary tensor|"
    .. "regular tensor|normal tensor|full state dict|torch.tensor|"
    .. "unsharded model|plain state|whole tensors|full checkpoint|"
    .. "hf checkpoint|full weights",
  loading = "load_state_dict|loading a|load a|loading|checkpoint has|"
    .. "set_model_state_dict|copy the weights|copy weights",
  to_partial = "to partial|partial()|as the target|into a partial|partial as",
  mixed_dtypes = "one dtype|different dtype|float32 and|bfloat16 and|"
    .. "are float32|mixed dtype|dtypes|two dtypes|fp32 and|bf16 and|"
    .. "float32, base|same dtype|dtype for all",
  adapters = "lora|adapter|peft|adapters|lora_a|norm layers|frozen",
  router = "router|routing|=moe|expert",
  counts = "count|histc|tokens per expert|tokens per|token counts|"
    .. "num_tokens|bincount",
  all_gather = "all-gather|all_gather|allgather|communication|all-to-all",
  unasked = "never call|although i|unexpected|nobody asked|not in my code|"
    .. "i did not|without any redistribute|hidden|never asked|"
    .. "no redistribute|not expect|surprising|extra|where does|"
    .. "didn't write|did not write|who inserts|"
    .. "did not write|didn't write|did not ask|didn't ask|"
    .. "nobody wrote",
  unlike_shards = "shard(0) and|shard(1)|different placement|"
    .. "other placement|each add|each matmul|placements|another placement|"
    .. "sharded differently|shard(0) dtensor and",
  attention = "attention|sdpa|scaled_dot_product|=attn",

  -- by the classes below
  dtensor = "=dtensor|=dtensors|=dtensorspec|shard(0)|shard(1)|replicate()",
  plain = "plain tensor|ordinary tensor|regular tensor|normal tensor|"
    .. "plain torch|non-dtensor|not a dtensor|plain buffer|ordinary buffer|"
    .. "ordinary torch|normal torch|=plain|=ordinary|a torch.tensor",
  mixing = "mixed|mixing|mix of|mixture|one of the two|both kinds|"
    .. "how to convert|convert the|one of each|the other isn't|"
    .. "the other is not|not take both|won't take both",
  foreach = "foreach|fused adam|fused optimizer|multi-tensor",
  outside_forward = "without calling the module|reads the weight|"
    .. "not go through the module|through the module call|"
    .. "take .weight|takes .weight|read .weight|reads .weight|generate|"
    .. "outside forward|outside of forward|"
    .. "other than forward|rather than forward|not through forward|"
    .. "another method|custom method|encode_|get_input_embeddings|"
    .. "lm_head.weight|bypass|through generate|own method|not call forward|"
    .. "instead of forward|.weight itself|sampling loop",
  still_sharded = "still sharded|still a|not unshard|not gathered|"
    .. "sharded weight|not all-gathered|sharded dtensor|remain sharded|"
    .. "is sharded|weight is a dtensor|views of shards|shard views|"
    .. "whatever shard|1-d shard|flat shard",
  no_rule = "no dtensor sharding strateg|no sharding strateg|missing sharding strateg|"
    .. "no sharding rule|no strategy|no sharding strategy|"
    .. "without a strategy|ops with a strategy|not covered|"
    .. "operator coverage|op coverage|unsupported op|"
    .. "not implemented for dtensor|not support the op|no rule|"
    .. "strategy not registered|operator not registered|"
    .. "op not registered|not registered for dtensor|op being missing|"
    .. "op is missing|op is not supported|missing op|missing operator|"
    .. "support for the op|"
    .. "ops are supported|"
    .. "nobody registered|not registered for dtensor|"
    .. "to be sharded. do i",
  mask = "=mask|attn_mask|tril|attention mask|bias mask|=rope|cos and sin|"
    .. "position",
  several_meshes = "inconsistent device mesh|inconsistent mesh|the fsdp mesh|"
    .. "different device mesh|different meshes|other mesh|"
    .. "ep mesh|two meshes|several meshes|different mesh|meshes differ|"
    .. "on another mesh|on a different mesh|the dp mesh|own mesh|"
    .. "several device meshes",
  clipping = "clip_grad|gradient clipping|clipping|clip the grad",
  heads_word = "head",
  reshaping = "reshape|reshaping|view|unflatten|.view(|flatten(",
  splitting = "split|unflatten|divide|evenly|into heads|separate",
  merging = "view(-1|merge|flatten|combin|join|collaps",
  sharded_dim = "sequence sharded|sharded dim|shard(1)|sharded on|sharded over|sharded along|"
    .. "the sharded|shard(2)|sequence dim",
  uneven_layers = "same reduction|reduction dim|last rank|not divisible|"
    .. "does not divide|reduction size|uneven|"
    .. "different widths|differ in width",
  col_row = "colwiseparallel|rowwiseparallel|colwise|rowwise",
  tied = "=tied|share their weight|shares its weight|shared weight|"
    .. "weight tying|same weight|tie_word|share the weight|share a weight|"
    .. "sharing",
  embedding = "embedding|lm_head|=wte",
  meta = "meta device|on meta|from meta|meta tensor|meta param|still meta|"
    .. "(meta)|'meta'|to_empty|init_empty_weights|meta_init",
  uninitialised = "uninitialised|uninitialized|not initialised|"
    .. "not initialized|never initialised|never initialized|empty_like|"
    .. "garbage memory|never set|not materialised|not materialized",
  slice = "slice|slicing|sub-mesh|submesh|sub mesh",
  of_slice = "slice of a slice|slicing a slice|out of the result|"
    .. "of a submesh|from a submesh|nested|already sliced|again|"
    .. "of the slice|sliced mesh|out of it|second slice",
  mesh = "mesh",
  which_dim = "which dim|mesh_dim|say which|specify the dim|which dimension|"
    .. "more than one dim|2d mesh|two dimensions",
  group = "get_group|process group|get_local_rank",
  no_dim_name = "no dimension|no dim|not a dimension|dimension of that name|"
    .. "mesh_dim_names|keyerror|unknown name|does not have a|not among",
  interleaved = "interleav|another order|permut|other order|wrong order|"
    .. "shuffl|not in order|order of rows|mixed up",
  full = "full_tensor|gather|whole weight|full weight",
  redistribute = "redistribut",
  other_mesh = "other mesh|another mesh|different mesh|second mesh|"
    .. "ranks 4-7|different device mesh|new mesh|other device mesh|mesh of",
  noop = "without an error|no error|nothing happens|still where|unchanged|"
    .. "does nothing|stays|no-op|still on",
  nonzero = "nonzero(|.nonzero|nonzero_static|nonzero of|=nonzero on|"
    .. "nonzero op|and nonzero|nonzero and|masked_select|=unique|boolean mask|bool mask|"
    .. "data-dependent|depends on the data|depends on data",
  in_place = "in-place|in place|inplace|add_(|mul_(|copy_(|clamp_|_ on",
  placement = "placement",
  indexing = "index|x[|[:|slice assignment|assign|select",
  lost = "lost|no effect|not written|unchanged|silently|ignored|"
    .. "nothing changes|none of the",
  compile = "torch.compile|dynamo|inductor|compiled|compil",
  dynamic = "dynamic|symint|symbolic s|symbolic e|varying|different shape|second shape|"
    .. "unbacked",
  trace = "graph break|cannot trace|fullgraph|not traceable|traced|"
    .. "graph-break|breaks the graph|proxy",
  objects = "devicemesh|device mesh|placement|redistribute|from_local|"
    .. "to_local|mesh argument",
  tangent = "tangent|grad_output|gradient has|gradient comes|"
    .. "incoming gradient|backward of the compiled|compiled backward",
  length = "sequence of|sequence length|tokens|seq_len|length|multiple of|"
    .. "divisible",
  odd_length = "odd|lost|1001|not divisible|remainder|multiple|pad|asserts|"
    .. "last tokens|must divide|does not divide",
  flex = "flex_attention|flexattention|flex attention|block_mask|blockmask",
  quant = "float8|fp8|torchao|quantiz|quantis|int8|nf4|4-bit|4bit|mxfp",
  no_op = "unimplemented|not implemented|fail|error|unsupported|"
    .. "does not work|not support",
  per_rank_number = "another number on|different number|number on each|"
    .. "another value on|different value|each rank prints|each rank shows|"
    .. "every rank prints|each of the|every rank has|other value on",
  sum_right = "together they|sum to|sum of them|their sum|add up|adds up|"
    .. "summed they|sum is|in total",
  print = "print|.item()|=log|logs|logged|shows",
  random = "random|=init|initiali|nn.init|init_weights|dropout|=seed|"
    .. "manual_seed|sampl|normal_",
  same_seed = "same seed|equal seed|other values|different values|"
    .. "other numbers|not the same values|depends on|with another number|"
    .. "changes with|another token|different token|each rank draws|"
    .. "every rank samples|every rank draws|rank samples",
  garbled = "gibberish|garbage|nonsense|wrong values|loss starts|loss jumps|"
    .. "loss is high|corrupt|scrambled|at 11|bad loss|loss spike",
  row_embedding = "rowwiseparallel|sharded by rows|row-sharded|"
    .. "vocab-parallel|vocab parallel|row-wise",
  embedding_mask = "mask_buffer|maskpartial|masked partial|mask buffer|"
    .. "_maskpartial",
  conv = "conv2d|conv1d|conv3d|convolution|=conv",
  spatial = "width|height|spatial|channel|sharded|tensor parallel|halo",
  other_dim = "shard(1)|dim 1|dimension 1|other dim|shard_placement_fn|"
    .. "another dim|last dim|non-zero dim|nonzero dim|"
    .. "nonzero shard dim",
  placement_fn = "shard_placement_fn",
  expert = "expert",
  scaled = "times larger|too large|larger than|scaled|factor|times too|"
    .. "times bigger|multiplied|too big|=weigh|global mean|not the mean|"
    .. "mean over ranks|divided by",
  pickle = "torch.save|torch.load|pickle|unpickle|deepcopy|serializ|"
    .. "serialis|safetensors|save_pretrained",
  version = "torch 2.|another version|older version|newer version|"
    .. "other release|another release|upgrade|different torch|"
    .. "version of torch|old checkpoint",
  async = "asynccollectivetensor|async_op|all_gather_tensor|asynchron|"
    .. "all_reduce_tensor|funcol",
  not_waited = "wait|garbage|data pointer|uninitial|nan|stale|too early|"
    .. "random values|not ready|"
    .. "before the communication is done|before it is done|"
    .. "before it has finished|has not finished",
  loss_parallel = "loss_parallel|loss parallel",
  symbolic = "symbolic size|symbolic shape|symint|unbacked|symbolic expr",
  shown = "displayed|logged|reported loss|printed loss|shown loss",
  not_reduced = "never reduced|not reduced|without reduc|is not summed|"
    .. "returns early|early return",
  offload = "cpuoffload|cpu offload|offload_policy|offload to cpu|"
    .. "cpu-offload|offload",
  on_cpu = "cpu device|on the cpu|on cpu|cpu tensor|device cpu|host tensor",
  backend = "=nccl|=gloo|no backend|backend for|backend type|cpu backend",
  raw_collective = "dist.all_reduce|all_reduce(|dist.broadcast|broadcast(|"
    .. "dist.all_gather|dist.reduce|torch.distributed.all_reduce|ddp",
  size_one = "size 1|size one|tp=1|tp 1|tp size of 1|degree 1|degree of 1|"
    .. "world size 1|one rank in",
  index_error = "index out of range|indexerror|list index|fails|raises|"
    .. "not work",
  recompute = "recompute|activation checkpoint|gradient checkpoint|"
    .. "checkpointing|checkpointed|runs a second time",
  two_ways = "same root|parent mesh|root mesh|two different meshes|"
    .. "separately made|own init_device_mesh|made separately|"
    .. "second init_device_mesh|different meshes",
  sdpa = "scaled_dot_product|sdpa|flash attention|attention",
  scalar_param = "scalar parameter|0-d parameter|zero-dim|0-dim|"
    .. "no dimension|logit_scale|scalar param|without dimensions",
  float_only = "to be float|only shard float|float dtype for|float data type|"
    .. "only float|storage type of uint8|stored as uint8|"
    .. "floating-point parameters only|floating point parameters only",
  int_param = "integer parameter|uint8|int8 param|int param|integer storage|"
    .. "int32 param|packed weight|"
    .. "non-float|quantised param",
  register = "register_sharding|custom op|custom operator|own operator",
  out_arg = "out=",
  pin = "pin_memory|pinned memory|pinned tensor|pinned buffer|pinned host|"
    .. "pinned dtensor|be pinned|are pinned|pinning",
  squeeze = "squeeze",
  kwargs = "keyword|kwargs|kwarg",
  input_hook = "preparemoduleinput|input_fn|input hook|pre-hook|pre hook|"
    .. "style",
  contraction = "matmul|einsum|contraction|=mm|bmm",
  avg = "partial(avg|avg|average|reduce_op",
  uncoll = "no mesh|mesh was found|found no|asserts|fails|=hang|hanging|"
    .. "wrong",
  inference = "inference_mode|inference mode",
  strided = "_stridedshard|stridedshard|strided shard",
  same_init = "identical|same values|equal on|bit-identical|same on all|"
    .. "hangs",
  convback = "convolution_backward|backward of the convolution|conv backward",
  saved_size = "size|shape",
  saved = "saved|written|checkpoint|current",
  double = "twice|double|both|two times|again",
  loosely = "agree|same to|equal to|match to|differ|close",
  numbers = "1e-|float64|double|bf16|precision|digits",
  xla = "xla|=tpu",
  mask_dropped = "mask is dropped|mask is ignored|ignores the mask|"
    .. "ignore the mask|mask is thrown|mask is discarded|discards the mask|"
    .. "drops the mask|sliding window|sliding-window|chunked attention|"
    .. "full causal|wrong attention|attention pattern",
  mask_unsupported = "mask|is_causal=false|non-causal|document|math backend|"
    .. "packed",
  wrong_numbers = "wrong|incorrect|prints false|not equal|differ|mismatch",
  silent = "nothing is raised|no error|silently|numbers are wrong|"
    .. "without an error|numerics|wrong numbers|wrong result|wrong values",
  said_replicate = "replicate",
  unlike_ranks = "differ from rank|differ per rank|differ between|differ on|"
    .. "not the same on|different on each|not equal on|other values on|"
    .. "each rank has its own|different data|own random|local tensors differ",
  two_dtypes = "not uniform|dtypes are not|kept in float32|float32 on purpose|"
    .. "bf16 and fp32|bfloat16 and float32|fp32 and bf16|"
    .. "float32 and bfloat16|float16 and float32|uniform dtype|"
    .. "uniform gradient dtype",
  rejects = "reject|refuse|assert|mismatch|uniform|does not accept",
  too_few_ranks = "more ranks than|ranks and torchrun started|"
    .. "processes were started|only 4 gpu|only 8 gpu|only 2 gpu|not enough gpu|"
    .. "not enough ranks|fewer processes|fewer gpus than|exceeds the world|"
    .. "larger than the world|bigger than the world|"
    .. "more processes than|than the job has|wants more ranks|"
    .. "needs more ranks",
  sizes_apart = "shapes differ across|sizes differ across|shapes diverge|"
    .. "inconsistent size|requires equal sizes|equal sizes per|differ across "
    .. "ranks|chunk shapes|different shapes on|another shape on|"
    .. "shapes of the ranks|sizes of the ranks",
  cpu_bound = "cpu bottleneck|cpu-bottleneck|cpu-bound|cpu bound|"
    .. "gpu is mostly idle|gpu mostly idle|gpu is idle|gpu idles|gpu starves|"
    .. "cpu overhead|launch-bound|launch bound|host-bound|is cpu time|"
    .. "cpu latency|launch latency",
  no_tokens = "zero tokens|no valid token|no unmasked|all labels|"
    .. "all the labels|completely masked|fully masked|masked out|"
    .. "every label|no label|nothing to average|mean over nothing|"
    .. "labels are ignored|labels are -100",
  nan = "=nan|=nans|division by zero|divide by zero",
  tiny = "e-4 relative|e-5 relative|e-6 relative|e-7 relative|"
    .. "relative difference|relative error|last digit|decimal place|"
    .. "bit-identical|bitwise identical|ulp",
  deviates = "deviat|differs by|differ by|agree to|within|relative",
  other_wrapper = "distributeddataparallel|=ddp|deepspeed|no_sync",
  foreach_off = "foreach = false|foreach=false|foreach must be false|"
    .. "without foreach",
  unreduced = "nobody reduces|without an all-reduce|without all-reduce|"
    .. "not reduced|already summed|never summed|far higher|poison",
  per_rank_size = "on rank |on ranks |rank0:|rank 0:|(rank 0)|rank1:",
  packing = "packing|packed|=thd",
  forbids = "forbid|disallow|illegal",
  subclass = "subclass|weightwithdynamicfloat8|stripped|"
    .. "does not handle dtensor|logic to handle dtensor|logic for those",
  offsets = "global offset|global_offset|global-offset|dedup|offset of",
  other_shard = "rank 1's shard|rank 0's shard|another rank's shard|"
    .. "shard of another rank|shards are swapped|other rank's shard",
  rule_code = "rule code|sharding rule|sharding prop|inside the rule|"
    .. "propagation rule",
  bare_error = "indexerror|keyerror|typeerror|assertionerror|cryptic|"
    .. "unhelpful|nonetype",
  not_member = "not in the sub|not part of|no group|returns -1|not in the mesh|"
    .. "outside the mesh|not a member|isn't in the",
  wrong_gpu = "set_device|current device|another gpu|wrong gpu|same gpu|"
    .. "all on gpu 0|on cuda:0",
  communicates = "broadcast|all_reduce|all-reduce|collective|all_gather|"
    .. "distribute_tensor",
  few_experts = "single expert|one expert|fewer experts|than experts|"
    .. "experts than|experts are not divisible",
  fsdp1 = "fullyshardeddataparallel|=fsdp1|flat_param|flatparameter|"
    .. "summon_full_params",
  from_rank0 = "from rank 0|broadcast_from_rank0|rank 0's full|from rank0",
  key_error = "keyerror|key error",
  one_element = "shape (1,)|one element|single element|numel=1|numel 1|"
    .. "one-element|torch.size([1])",
  same_everywhere = "same everywhere|regarded as|treated as repl|implicitly|"
    .. "replicated|taken as repl",
  sharding_call = "parallelis|parallelize_module|fully_shard|"
    .. "distribute_module|distribute_tensor",
  starved = "not see any token|n't see any token|see no token|"
    .. "sees no token|sends no token|receives no token|"
    .. "receive no token|gets no token|get no token|got no token|"
    .. "no token|zero tokens|without tokens",
  allocates = "torch.empty|torch.zeros|allocat|out of memory|=oom",
  off_device = "not on the device|not on device|wrong device|tensor not on",
  lacks = "attributeerror|lacks an|lacks the|has no attribute",
  prop_cache = "lru_cache|propagation cache|sharding cache|"
    .. "propagate_op_sharding",
  next_layer = "next linear|next layer|following linear|following layer|"
    .. "second linear",
  before_reduced = "before it was reduced|before it is reduced|not reduced yet|"
    .. "not yet reduced|own addend|before the reduction",
  never_made = "never made|was not created|never created|"
    .. "not created because|was never built|not created when",
  mesh_axis = "dp_cp|dp_shard_cp|dp_shard|=axis|mesh dim",
  profile = "profil|commdebugmode|comm debug|comm_debug",
  strict_redist = "explicitredistributioncontext|explicit redistribution|"
    .. "implicit redistribution|about redistribution",
  sync_setter = "set_requires_gradient_sync|set_is_last_backward|"
    .. "set_requires_all_reduce",
  elsewhere = "vllm|sglang|deepspeed|megatron|tensorrt|lmdeploy|exllama|"
    .. "llama.cpp|colossal|ray train|mindspeed|gguf|ctranslate",
  -- What else is sharded and has replicas.
  storage = "mongodb|mongos|elasticsearch|opensearch|=redis|postgres|mysql|"
    .. "cassandra|clickhouse|dynamodb|vitess|=solr|cockroachdb|shardingsphere",
}

-- {class, confidence, concepts that must all be there}.  More concepts go
-- before fewer.
M.rules = {
  {"collective-sequence-mismatch", 0.6, "hang one_rank together"},
  {"collective-sequence-mismatch", 0.58, "fsdp hang one_rank together"},
  {"collective-sequence-mismatch", 0.62, "hang fsdp sync_states"},
  {"collective-sequence-mismatch", 0.62, "hang fsdp sync_states meta complaint"},
  {"fsdp-divergent-module-execution", 0.6, "hang fsdp unlike"},
  {"optimizer-built-before-sharding", 0.6,
   "optimizer no_learning order_of_calls fsdp"},
  {"grad-norm-is-partial-dtensor", 0.58, "grad_norm too_low"},
  {"grad-norm-is-partial-dtensor", 0.58, "grad_norm counted_often copies"},
  {"to-local-grad-placement", 0.56, "tp gradient forward_right incomplete"},
  {"to-local-grad-placement", 0.57, "gradient said_replicate own_part"},
  {"to-local-grad-placement", 0.56, "gradient nobody_sums of_each_rank router"},
  {"to-local-grad-placement", 0.56, "gradient nobody_sums of_each_rank tp"},
  {"invalid-mesh-dim-name", 0.55, "mesh mesh_call dim_name refuses"},
  {"sharding-cache-growth", 0.6, "host_memory grows"},
  {"dispatch-overhead", 0.56, "slow dispatch"},
  {"fsdp-2d-mesh-is-hsdp", 0.58, "fsdp no_saving two_dims"},
  {"sequence-parallel-input-contract", 0.56, "sp too_long"},
  {"tp-plan-unmatched", 0.56, "plan unmatched tp"},
  {"cp-load-balance", 0.58, "cp permuted"},
  {"strided-shard-order", 0.55, "fsdp tp permuted"},
  {"from-local-uneven-shape", 0.58, "from_local uneven"},
  {"from-local-uneven-shape", 0.55, "from_local sizes differs"},
  {"global-shape-as-local", 0.56, "sizes whole kernel"},
  {"to-local-grad-placement", 0.58, "to_local gradient incomplete"},
  {"partial-plus-scalar", 0.58, "partial a_number too_big"},
  {"nonlinear-on-partial", 0.58, "partial nonlinear of_sum"},
  {"argmax-local-index", 0.58, "argmax local_index"},
  {"weighted-mean-loss", 0.56, "loss weights differs"},
  {"distribute-source-rank-wins", 0.56, "distribute of_rank0"},
  {"dcp-missing-key", 0.55, "checkpoint other_world missing_key refuses"},
  {"tp-heads-not-divisible", 0.55, "tp heads refuses"},
  {"mixed-load-state-dict", 0.58, "loading plain_values refuses"},
  {"redistribute-to-partial", 0.58, "to_partial refuses"},
  {"fsdp2-mixed-dtype-group", 0.58, "fsdp mixed_dtypes adapters"},
  {"fsdp2-mixed-dtype-group", 0.56, "fsdp two_dtypes rejects"},
  {"mixed-optimizer-group", 0.55, "dtensor optimizer foreach_off"},
  {"from-local-lies", 0.57, "from_local said_replicate partial unreduced"},
  {"from-local-uneven-shape", 0.55, "from_local sizes per_rank_size"},
  {"wrapper-setting-of-another", 0.57, "fsdp other_wrapper noop"},
  {"moe-router-full-dtensor", 0.55, "router counts whole"},
  {"hidden-redistribution", 0.58, "all_gather unasked unlike_shards"},
  {"numerics-drift-not-bug", 0.55, "one_device small differs"},
  {"mixed-optimizer-group", 0.58, "dtensor plain foreach"},
  {"mixed-optimizer-group", 0.57, "dtensor plain optimizer_state refuses"},
  {"mixed-tensor-dtensor", 0.55, "dtensor plain mixing"},
  {"mixed-tensor-dtensor", 0.52, "dtensor plain refuses"},
  {"mixed-load-state-dict", 0.58, "loading dtensor plain refuses"},
  {"mixed-fsdp2-non-forward-entry", 0.57, "fsdp outside_forward refuses"},
  {"mixed-fsdp2-non-forward-entry", 0.58,
   "fsdp outside_forward still_sharded"},
  {"mixed-attention-operand", 0.58, "dtensor attention mask plain mixing"},
  {"mixed-activation-checkpoint-recompute", 0.58,
   "recompute dtensor plain mixing"},
  {"missing-sharding-strategy", 0.56, "dtensor no_rule"},
  {"optimizer-cross-mesh", 0.57, "optimizer several_meshes refuses"},
  {"clip-grad-cross-mesh", 0.58, "clipping several_meshes refuses"},
  {"tp-heads-not-divisible", 0.57, "tp heads_word reshaping refuses"},
  {"tp-local-output-uneven", 0.56, "col_row uneven_layers"},
  {"fsdp-tied-params-two-groups", 0.57, "fsdp tied embedding"},
  {"meta-device-not-materialised", 0.57, "fsdp meta complaint"},
  {"meta-device-not-materialised", 0.6, "fsdp uninitialised"},
  {"view-unflatten-uneven", 0.56, "reshaping splitting redistribute forbids"},
  {"fp8-subclass-inside-dtensor", 0.57, "quant fsdp subclass"},
  {"dcp-size-mismatch", 0.57, "checkpoint uneven offsets refuses"},
  {"checkpoint-order", 0.57, "checkpoint other_shard"},
  {"sequence-parallel-input-contract", 0.56, "sp packing refuses"},
  {"sequence-parallel-input-contract", 0.56, "sp packing differs"},
  {"dcp-size-mismatch", 0.56, "checkpoint saved_size saved differs"},
  {"checkpoint-order", 0.57, "checkpoint other_world garbled"},
  {"submesh-of-submesh", 0.58, "mesh slice of_slice"},
  {"mesh-dim-required", 0.56, "group mesh which_dim refuses"},
  {"invalid-mesh-dim-name", 0.54, "mesh slice no_dim_name"},
  {"strided-shard-order", 0.58, "fsdp tp full interleaved"},
  {"strided-shard-op-rules", 0.56, "strided refuses"},
  {"strided-shard-op-rules", 0.56, "strided differs"},
  {"redistribute-cross-mesh", 0.57, "redistribute other_mesh refuses"},
  {"cross-mesh-noop", 0.58, "redistribute other_mesh noop"},
  {"redistribute-to-partial", 0.58, "redistribute to_partial refuses"},
  {"view-flatten-sharded-dim", 0.57, "reshaping merging sharded_dim refuses"},
  {"view-unflatten-uneven", 0.57, "reshaping splitting sharded_dim refuses"},
  {"dynamic-output-shape", 0.57, "dtensor nonzero refuses"},
  {"inplace-placement-change", 0.57, "dtensor in_place placement refuses"},
  {"inplace-on-partial", 0.57, "dtensor in_place partial lost"},
  {"index-put-and-select", 0.57, "dtensor indexing sharded_dim lost"},
  {"compile-symbolic-shape-rule", 0.57, "compile dynamic refuses"},
  {"compile-placement-not-traceable", 0.57, "compile trace objects"},
  {"compile-tangent-placement", 0.57, "compile tangent differs"},
  {"cp-backend-or-mask", 0.57, "cp mask_unsupported refuses"},
  {"cp-backend-or-mask", 0.57, "cp mask_dropped complaint"},
  {"cp-seq-divisibility", 0.57, "cp length odd_length"},
  {"flex-attention-dtensor", 0.57, "flex dtensor"},
  {"fp8-subclass-inside-dtensor", 0.56, "quant dtensor no_op"},
  {"fp8-subclass-inside-dtensor", 0.54, "quant tp no_op"},
  {"partial-read-as-value", 0.58, "partial per_rank_number sum_right"},
  {"partial-read-as-value", 0.56, "to_local sum_right print"},
  {"rng-layout-dependence", 0.56, "random same_seed tp"},
  {"rng-layout-dependence", 0.56, "random same_seed dtensor"},
  {"vocab-parallel-mask", 0.57, "embedding embedding_mask"},
  {"conv-tp-unsupported", 0.55, "conv spatial refuses"},
  {"conv-backward-placement", 0.57, "convback placement"},
  {"fsdp-uneven-nonzero-dim", 0.57, "fsdp placement_fn"},
  {"ep-gradient-scale", 0.57, "expert gradient scaled"},
  {"weighted-mean-loss", 0.57, "loss weights scaled"},
  {"weighted-mean-loss", 0.57, "loss weights too_low"},
  {"dtensor-serialization", 0.57, "dtensor pickle refuses"},
  {"devicemesh-pickle-version-skew", 0.58, "mesh pickle version refuses"},
  {"async-result-not-waited", 0.58, "async not_waited"},
  {"loss-parallel-preconditions", 0.56, "loss_parallel refuses"},
  {"cpu-offload-no-cpu-backend", 0.57, "fsdp offload backend"},
  {"cpu-offload-no-cpu-backend", 0.56, "fsdp offload clipping refuses"},
  {"cpu-offload-no-cpu-backend", 0.57, "fsdp offload clipping on_cpu"},
  {"raw-collective-on-dtensor", 0.56, "raw_collective dtensor uncoll"},
  {"tp-axis-size-one", 0.57, "tp size_one index_error"},
  {"fsdp-tp-mesh-relationship", 0.56, "fsdp tp two_ways"},
  {"fsdp2-scalar-parameter", 0.57, "fsdp scalar_param refuses"},
  {"fsdp2-non-float-parameter", 0.56, "fsdp int_param refuses"},
  {"fsdp2-non-float-parameter", 0.59, "fsdp float_only"},
  {"register-sharding-limits", 0.56, "register dtensor refuses"},
  {"out-variant-kwarg-dtensor", 0.56, "out_arg dtensor uncoll refuses"},
  {"pin-memory-dtensor", 0.57, "pin dtensor refuses"},
  {"squeeze-local-singleton", 0.56, "squeeze dtensor differs"},
  {"tp-hook-kwargs-only", 0.56, "kwargs input_hook refuses"},
  {"matmul-shard-order", 0.55, "contraction interleaved dtensor"},
  {"partial-type-confusion", 0.56, "partial avg scaled"},
  {"inference-mode-composite", 0.56, "inference dtensor refuses"},
  {"rng-offload-hang", 0.57, "offload random same_init"},
  {"xla-sharded-tensor", 0.55, "xla dtensor refuses"},
  {"numerics-drift-not-bug", 0.56, "one_device loosely numbers"},
  {"mesh-larger-than-world", 0.57, "mesh too_few_ranks"},
  {"dispatch-overhead", 0.57, "fsdp cpu_bound"},
  {"dispatch-overhead", 0.57, "dtensor cpu_bound"},
  {"weighted-mean-loss", 0.57, "loss no_tokens nan"},
  {"weighted-mean-loss", 0.57, "loss per_token own_mean over_ranks scaled"},
  {"weighted-mean-loss", 0.57, "loss per_token own_mean over_ranks differs"},
  {"weighted-mean-loss", 0.57, "loss per_token own_mean over_ranks unequal"},
  {"weighted-mean-loss", 0.57, "cp loss no_tokens nan"},
  {"collective-sequence-mismatch", 0.58, "hang sizes_apart"},
  {"collective-sequence-mismatch", 0.58, "fsdp hang sizes_apart uneven"},
  {"numerics-drift-not-bug", 0.55, "fsdp one_device small differs"},
  {"numerics-drift-not-bug", 0.56, "tiny deviates one_device"},
  {"numerics-drift-not-bug", 0.56, "tiny deviates fsdp"},
  {"view-without-redistribute", 0.58, "dtensor reshaping wrong_numbers silent"},
  {"dcp-missing-key", 0.54, "checkpoint missing_key refuses"},
  {"dcp-missing-key", 0.54, "checkpoint other_world missing_key"},
  {"from-local-lies", 0.57, "from_local said_replicate unlike_ranks"},
  {"compile-symbolic-shape-rule", 0.57, "compile symbolic dtensor"},
  {"partial-read-as-value", 0.58, "dtensor shown not_reduced"},
  {"sharding-propagation-failed", 0.53, "dtensor rule_code bare_error"},
  {"mesh-dim-group-missing", 0.56, "mesh group not_member"},
  {"collective-wrong-device", 0.57, "wrong_gpu communicates refuses"},
  {"ep-fsdp-uneven-double-shard", 0.57, "fsdp expert few_experts refuses"},
  {"fsdp1-dtensor-legacy", 0.55, "fsdp1 tp dtensor refuses"},
  {"fsdp2-full-state-dict-key", 0.57, "from_rank0 key_error loading"},
  {"one-element-implicit-replicate", 0.57,
   "dtensor one_element same_everywhere"},
  {"optimizer-built-before-sharding", 0.57, "optimizer no_learning order_of_calls sharding_call"},
  {"fsdp-divergent-module-execution", 0.57, "hang expert starved"},
  {"global-shape-as-local", 0.55, "sizes whole allocates"},
  {"collective-wrong-device", 0.57, "wrong_gpu communicates off_device"},
  {"devicemesh-pickle-version-skew", 0.57, "mesh pickle version lacks"},
  {"sharding-cache-growth", 0.57, "prop_cache grows"},
  {"tp-local-output-uneven", 0.56, "uneven_layers next_layer refuses"},
  {"nonlinear-on-partial", 0.56, "nonlinear before_reduced too_big"},
  {"nonlinear-on-partial", 0.57, "partial nonlinear before_reduced"},
  {"invalid-mesh-dim-name", 0.55, "mesh_axis never_made"},
  {"hidden-redistribution", 0.56, "all_gather unasked profile"},
  {"implicit-redistribution-forbidden", 0.57, "strict_redist refuses"},
  {"fsdp2-usage", 0.57, "fsdp sync_setter nobody_sums"},
  {"fsdp2-usage", 0.57, "sync_setter nobody_sums"},
  {"out-variant-kwarg-dtensor", 0.56, "out_arg dtensor uncoll"},
  {"to-local-grad-placement", 0.56, "expert gradient forward_right incomplete"},
}

return M
