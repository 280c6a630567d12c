-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/parallel.lua: tensor, sequence and context parallel,
-- compile, float8, performance, numbers.  The form: classes/mixed.lua.

local MIXED = "got mixed torch.Tensor and DTensor"
local MISSING = "does not have a sharding strategy registered"

return {
  {id = "tp-heads-not-divisible", anywhere = true,
   expects = "shapes that do not fit",
   name = "tensor parallel splits an attention head",
   signs = {
     {0.93, "Total number of attention heads", "must be divisible by"},
     {0.93, "~num_attention_heads|num_key_value_heads|n_kv_heads|num_heads|"
       .. "num_query_groups|n_heads|number of heads|attention heads|kv heads",
      "~must be divisible by|not divisible by|divisible by", "=tp"},
     {0.8, "~ulysses|sequence parallel|context parallel",
      "~attn_heads|attention_heads|num_heads|attention heads|kv heads|"
      .. "kv_heads|num_attention_head", "~divisible|divides|must divide|"
      .. "multiple of", "!~sequence length|seq_len|seqlen"},
     {0.66, "=tp", "~num_key_value_heads|n_kv_heads|num_kv_heads|num_heads",
      "~validat|% tp|divisib|fraction|replicat"},
     {0.86, "is invalid for input of size", "=heads_fraction", "=tp",
      "!=other_tp"},
     {0.72, "=heads_fraction", "=tp", "!=other_tp", "!" .. MIXED,
      "!" .. MISSING, "!=stuck"},
     {0.82, "is invalid for input of size", "=heads_ratio", "=tp",
      "!=other_tp"},
     {0.82, "is invalid for input of size", "=tp", "=dtensor",
      "=attention_frame"},
     {0.74, "is invalid for input of size", "=tp", "=attention_frame",
      "!=other_tp"},
     {0.62, "is invalid for input of size", "=tp", "!=other_tp"},
     {0.66, "The size of tensor a", "must match the size of tensor b", "=tp",
      "=attention_frame", "!SequenceParallel", "!=moe", "!=other_tp"},
     {0.5, "=tp", "!=other_tp", "~kv heads|kv_heads|num_key_value_heads|head_dim|n_kv_heads",
      "~fail|error|invalid|wrong"},
   },
   cause = "Column-wise sharding gives each rank a fraction of a head when "
     .. "there are fewer (kv) heads than ranks, or the model code has the "
     .. "global number of heads written into its reshape.",
   fixes = {
     {"choose a tp degree that divides num_key_value_heads"},
     {"replicate the kv projections, or repeat kv heads",
      only = {"!=other_tp"}},
     {"-1 for the local number of heads", lua = "k:view{b, s, -1, head_dim}",
      torch = "k.view(b, s, -1, head_dim)", only = {"!=other_tp"}},
   },
   ask = {"Heads, kv heads, head_dim and tp?"}},

  {id = "tp-local-output-uneven",
   expects = "shapes that do not fit",
   name = "an uneven size between two parallel layers",
   signs = {
     {0.88, "a and b must have same reduction dim, but got", "=tp"},
     {0.66, "a and b must have same reduction dim, but got", "=dt"},
     {0.72, "~use_local_output", "~uneven|not divisible|odd", "=tp"},
     {0.55, "~sequence length|seq_len|seqlen", "~divisible|multiple of",
      "~tensor parallel degree|tensor_parallel_degree|tp_degree|"
        .. "parallel_dims.tp|% tp", "!heads"},
     {0.7, "~mat1 and mat2 shapes cannot be multiplied", "=tp", "!=other_tp",
      "~colwise|"
       .. "rowwise|ColwiseParallel|RowwiseParallel"},
   },
   cause = "The styles hand plain local tensors to the next layer, which "
     .. "builds a DTensor assuming even shards; an uneven size is inflated "
     .. "to local size times ranks.",
   fixes = {
     {"keep DTensors along the chain",
      lua = "tp.ColwiseParallel{use_local_output = false}",
      torch = "ColwiseParallel(use_local_output=False)"},
     {"choose sizes divisible by tp, or pad to the next multiple"},
   },
   ask = {"Which size does tp not divide?"}},

  {id = "sequence-parallel-input-contract",
   expects = "shapes that do not fit",
   name = "SequenceParallel took a full input for a shard",
   signs = {
     {0.78, "SequenceParallel", "The size of tensor a",
      "must match the size of tensor b"},
     {0.72, "~SequenceParallel|sequence parallel", "The size of tensor a",
      "=factor"},
     {0.62, "~SequenceParallel|sequence_parallel|sequence parallel", "=dt",
      "~times longer|tiled|tiles|tiling|repeated|duplicated|already sharded|"
       .. "input_layouts|doubled|wrong shape|twice as long|plain input",
      "!" .. MIXED, "!" .. MISSING, "!Attempted to flatten",
      "!Cannot flatten"},
   },
   cause = "A plain input is taken as already sharded along the sequence; a "
     .. "full one makes the DTensor tp times too long, and masks or rotary "
     .. "tables then do not fit.",
   fixes = {
     {"say how the input is laid out",
      lua = "tp.PrepareModuleInput{input_layouts = Replicate(), "
        .. "desired_input_layouts = Shard(1)}",
      torch = "PrepareModuleInput(input_layouts=Replicate(), "
        .. "desired_input_layouts=Shard(1))"},
     {"feed DTensors, whose placement says what they are",
      lua = 'dt.distribute_tensor(x, mesh, "S(1)")',
      torch = "distribute_tensor(x, mesh, [Shard(1)])"},
     {"slice masks and positions as the input is sliced"},
   },
   ask = {"Is the input of the first SequenceParallel module whole?"}},

  {id = "tp-plan-unmatched",
   name = "the plan names a module that is not there or not fit",
   signs = {
     {0.97, "Parallelize plan key"},
     {0.93, "Unsupported tensor parallel style"},
     {0.9, "TP rules were not applied on any of the layers"},
     {0.8, "The following layers were not sharded"},
     {0.96, "currently only support nn.Linear and nn.Embedding"},
     {0.96, "currently only supports nn.Linear and nn.Embedding"},
     {0.95, "currently only support nn.Linear"},
     {0.96, "Tensor Parallel only accepts a 1D DeviceMesh"},
     {0.93, "distribute_module should only be called once", "=tp"},
     {0.9, "Expect module path to be non-empty"},
     {0.9, "for parallelize_plan", "Expect Union"},
     {0.7, "~tp_plan|parallelize_plan|tensor parallel plan|tp plan|plan key",
      "~not matched|did not match|no match|not found|not applied|ignored|"
       .. "wrong path|unmatched|skipped|missing|not sharded", "!" .. MIXED,
      "!" .. MISSING},
   },
   cause = "Plan keys are matched by module path; a typo, a wrapper's prefix "
     .. "or a replaced layer (LoRA, quantised) leaves it unsharded or is "
     .. "refused, and the mesh has to be one-dimensional.",
   fixes = {
     {"correct the path; apply the plan before wrapping",
      torch = "print([n for n, _ in model.named_modules()])  # as the plan spells them"},
     {"pass the tp slice of the mesh, one dimension",
       lua = 'tp.parallelize_module(m, mesh["tp"], plan)',
      torch = 'parallelize_module(m, mesh["tp"], plan)'},
     {"check that every key matched: print which weights are DTensors"},
   },
   ask = {"The names of the model's modules near the key?"}},

  {id = "tp-hook-kwargs-only",
   name = "an input hook got keyword arguments only",
   signs = {
     {0.86, "tuple index out of range", "=tp_hook"},
     {0.8, "tuple index out of range", "=tp", "!=other_tp"},
     {0.6, "PrepareModuleInput", "~kwargs|keyword argument",
      "~IndexError|index out of range|not applied|ignored"},
   },
   cause = "The module is called with keyword arguments only, and the hook "
     .. "looks at positional inputs.",
   fixes = {
     {"pass the tensor positionally: the hook reads inputs[0]",
       lua = "layer(x)", torch = "layer(x)"},
     {"or describe the keywords to the hook",
      torch = "PrepareModuleInput(input_kwarg_layouts={...})"},
   },
   ask = {}},

  {id = "loss-parallel-preconditions",
   name = "loss_parallel's conditions do not hold",
   signs = {
     {0.97, "loss_parallel() only supports input on one-dimensional"},
     {0.97, "loss_parallel() should be enabled only when"},
     {0.96, "loss_parallel() requires"},
     {0.96, "loss_parallel() expects"},
     {0.96, "loss_parallel() with reduction"},
     {0.82, "loss_parallel", "~Unsupported type|Expected (Shard|Expected "
       .. "(Replicate|but got"},
     {0.62, "loss_parallel", "~_nll_loss|nll_loss|log_softmax|cross_entropy",
      "~error|fail|Error|wrong"},
     {0.6, "/[Ee]xpected %(Replicate%(%),%) but got"},
     {0.6, "/[Ee]xpected %(Shard%(dim=%d%),%) but got"},
     {0.5, "loss_parallel", "=dt"},
   },
   cause = "The context swaps handlers that assume logits sharded over the "
     .. "classes on exactly one axis; smoothing and probability targets are "
     .. "not supported, and backward has to run inside.",
   fixes = {
     {"shard the head's output over classes and keep it distributed",
      lua = "tp.ColwiseParallel{output_layouts = Shard(-1), "
        .. "use_local_output = false}",
      torch = "ColwiseParallel(output_layouts=Shard(-1), "
        .. "use_local_output=False)"},
     {"make the logits a DTensor on the 1-D tp mesh, cut at the class "
       .. "dimension", torch = "logits = logits.redistribute(placements=[Shard(-1)])"},
     {"replicate the logits and leave the context"},
     {"sum or none as reduction, divided by the global count"},
   },
   ask = {"Placements of logits and target, dimensions of the mesh?"}},

  {id = "compile-tangent-placement",
   name = "a compiled backward got another layout than it was traced with",
   signs = {
     {0.8, "~_backward_prologue_functional|Expected grad_output types|"
       .. "grad_output types|unexpected tangent|tangent", "=dt"},
     {0.78, "~runtime_wrappers.py|aot_autograd", "~DTensor",
      "~assert_size_stride|expected size|tangent|grad_output|type mismatch|"
       .. "subclass|AssertionError", "~backward", "!" .. MIXED},
     {0.68, "~torch.compile|inductor|aot", "DTensor", "Partial",
      "~output|tangent", "backward", "!" .. MIXED, "!" .. MISSING,
      "!dynamo.exc.Unsupported", "!SymInt", "!MaskPartial"},
     {0.62, "torch.compile", "DTensor", "backward", "~placement|layout",
      "~mismatch|expected|differs|different|wrong", "!" .. MIXED,
      "!" .. MISSING, "!dynamo.exc.Unsupported", "!SymInt", "!_MaskPartial"},
   },
   cause = "The traced backward assumes gradients with the class and "
     .. "placement of the forward's output; a Partial, plain or other layout "
     .. "arrives when it runs.",
   fixes = {
     {"no Partial at the graph's border",
      torch = "y.redistribute(placements=[Replicate()])"},
     {"state the gradient's placement, so that backward gets what was "
       .. "traced",
      torch = "y.to_local(grad_placements=y.placements)"},
     {"use every output of the compiled part, or detach it"},
   },
   ask = {"Which outputs leave the compiled region, with which placements?"}},

  {id = "compile-symbolic-shape-rule",
   name = "a rule meets a symbolic size",
   signs = {
     {0.93, "unhashable type: non-nested SymInt", "=dt"},
     {0.5, "unhashable type: non-nested SymInt",
      "~distributed|fsdp|_dtensor|sharding"},
     {0.6, "=dt", "symint", "~dynamic shapes|hash|unbacked|symbolic",
      "!got mixed torch.Tensor and DTensor"},
     {0.88, "~GuardOnDataDependentSymNode|data-dependent", "=dt",
      "~_sharding_prop|tensor/_ops|sharding|view_ops|placement"},
     {0.8, "~SymInt|symbolic shape|dynamic=True|mark_dynamic|dynamic shapes",
      "=dt", "~torch.compile|compile|Dynamo|dynamo|inductor", "!" .. MIXED},
     {0.6, "torch.compile", "=dt", "~recompile|dynamic shape|varying length|"
       .. "different sequence length"},
   },
   cause = "Caches and divisibility checks of propagation were written for "
     .. "numbers.",
   fixes = {
     {"upgrade: sharding propagation takes symbolic sizes there",
       fixed_in = "2.10"},
     {"static sizes for sharded dimensions",
      torch = "torch.compile(m, dynamic=False)"},
     {"pad to a few lengths, so that few graphs are compiled"},
   },
   ask = {"Which dimension is dynamic?"}},

  {id = "compile-placement-not-traceable",
   name = "the tracer does not know meshes or placements",
   signs = {
     {0.93, "~DeviceMeshVariable|PlacementVariable|PlacementClassVariable",
      "~Unsupported|unsupported|call_method|call_function"},
     {0.82, "dynamo.exc.Unsupported", "~DeviceMesh|Placement|DTensor|"
       .. "from_local|redistribute|to_local|local_map"},
     {0.7, "~graph break|fullgraph|Dynamo|dynamo", "~DeviceMesh|placement|"
       .. "from_local|to_local|redistribute|local_map|DTensor", "!SymInt",
      "!" .. MIXED, "!" .. MISSING, "!tangent"},
     {0.56, "~dynamo internal error|InternalTorchDynamoError|Dynamo internal "
       .. "error", "~fully_shard|FSDP2"},
     {0.55, "=traced_dispatch", "torch.compile", "!=raises", "!SymInt",
      "!tangent"},
   },
   cause = "Placements and meshes are opaque Python objects that the tracer "
     .. "knows only in given places.",
   fixes = {
     {"pass placements as the tracer expects them (positional, literal)"},
     {"convert outside the compiled region: local tensors go in and come out",
      torch = "y = compiled(x.to_local())\n"
        .. "y = DTensor.from_local(y, x.device_mesh, x.placements)"},
   },
   ask = {}},

  {id = "cp-backend-or-mask",
   name = "context parallel with a backend or mask it does not have",
   signs = {
     {0.95, "is_causal requires the same query and context sequence lengths"},
     {0.95, "CP only supports flash attention and memory efficient attention"},
     {0.93, "attn_mask` is not supported for", "attention", "=cp"},
     {0.93, "inputs need to be redistribute"},
     {0.9, "`seq_dims` must have the same number of elements as `buffers`"},
     {0.9, "Context Parallel does not support"},
     {0.8, "No available kernel. Aborting execution", "=cp"},
     {0.9, "is not supported by", "yet.", "context_parallel"},
     {0.9, MIXED, "=cp", "~SDPBackend.MATH|math backend|math kernel|"
       .. "_scaled_dot_product_attention_math|sdpa_math",
      "!@npu.*|flash_attn.*"},
     {0.84, MIXED, "=cp", "=mask_op", "!npu"},
     {0.72, "=cp", "~attn_mask|attention mask|is_causal=False|MATH|math "
       .. "backend|document mask|padding mask|SDPBackend",
      "~not support|error|fail|unsupported|NotImplemented", "!" .. MIXED,
      "!" .. MISSING, "!Load balancing requires"},
   },
   cause = "Ring attention takes over only the flash, efficient and cudnn "
     .. "backends; dense masks cannot be expressed in the ring, and it wants "
     .. "plain q, k, v.",
   fixes = {
     {"force a backend that is supported",
      torch = "with sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n"
        .. "    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)"},
     {"drop the mask (causal only), or use flex attention"},
     {"local q, k, v when TP is on", lua = "q:to_local()",
      torch = "q.to_local()"},
   },
   ask = {"Backend, is_causal, and lengths of q and kv?"}},

  {id = "cp-load-balance",
   name = "context parallel's load balancing",
   expects = "a fault of the device or its libraries",
   signs = {
     {0.97, "Load balancing requires `is_causal=True`"},
     {0.9, "load_balance_indices has shape"},
     {0.88, "load balance", "index expects shape (1, seq_len)"},
     {0.7, "=cp", "~load balanc|load_balance|load-balanc|enable_load_balance|"
       .. "head-tail|round robin|zigzag|LoadBalancer"},
     {0.6, "=cp", "~illegal memory access|short sequence", "~backward|causal|"
       .. "seq"},
     {0.62, "=cp", "~permuted|order of|does not match|different output|"
       .. "different from", "~unshard|output"},
   },
   cause = "The default balancer cuts the sequence into 2 * cp pieces in "
     .. "head-tail order and assumes a causal mask; outputs are permuted "
     .. "until they are unsharded.",
   fixes = {
     {"switch it off for short or non-causal sequences",
      torch = "_cp_options.enable_load_balance = False"},
     {"pad to a multiple of 2 * cp",
      torch = "x = F.pad(x, (0, -x.size(1) % (2 * cp)))"},
     {"compare after unsharding, which puts the sequence back in "
       .. "order", lua = "dt.context_parallel_unshard(...)",
      torch = "context_parallel_unshard(mesh, [out], [2])"},
   },
   ask = {"is_causal, sequence length and cp?"}},

  {id = "cp-seq-divisibility",
   name = "the sequence does not divide by the context parallel size",
   signs = {
     {0.93, "tensor.size()[dim] % mesh.size() == 0"},
     {0.8, "=cp_loose", "~must be divisible by|not divisible by|divisible by|"
       .. "divides evenly|not evenly divisible|multiple of",
      "~seq|length|token"},
     {0.74, "=cp_loose", "~Size mismatch|size mismatch|sizes differ",
      "~chunk()|imbalanc|remainder|one row less|one token less",
      "~seq|length|token"},
     {0.72, "=cp_loose", "~% cp|% world_size|% cp_size|not a multiple|uneven|"
       .. "odd length|padding|dropped tokens|last token", "~seq|length|token",
      "!load balanc", "!attn_mask"},
   },
   cause = "Tokens, labels, positions and masks must all be cut by the same "
     .. "factor, and one of their lengths does not divide.",
   fixes = {
     {"pad the sequence to a multiple of 2 * cp (each rank gets two pieces where "
       .. "work is balanced, else of cp), and give the padding the label -100",
      torch = "x = F.pad(x, (0, -x.size(1) % (2 * cp)))\n"
        .. "labels = F.pad(labels, (0, -labels.size(1) % (2 * cp)), value=-100)"},
     {"name every buffer with a sequence dimension",
      lua = "dt.context_parallel(mesh, {buffers = {x, pos, labels}})",
      torch = "context_parallel(mesh, buffers=[x, pos, labels], ...)"},
   },
   ask = {"Length, cp size, and which buffer?"}},

  {id = "flex-attention-dtensor",
   name = "flex attention with distributed tensors",
   signs = {
     {0.93, MIXED, "~flex_attention|BlockMask|block_mask"},
     {0.88, MISSING, "@*flex_attention*"},
     {0.74, "~flex_attention|FlexAttention|BlockMask|flex attention", "DTensor",
      "~mixed|plain|convert|unclear|to_local|mask function|DTensorize"},
     {0.7, "~flex_attention|FlexAttention|BlockMask", "=dt",
      "~error|fail|not support|unsupported|Error"},
   },
   cause = "Block masks and score functions capture plain tensors and "
     .. "cannot be DTensors.",
   fixes = {
     {"local q, k, v around it (heads are independent)",
      torch = "flex_attention(q.to_local(), k.to_local(), v.to_local(), ...)"},
     {"build the block mask for local lengths"},
     {"context parallel with flex wants a block size of 128"},
   },
   ask = {}},

  {id = "fp8-subclass-inside-dtensor",
   name = "a float8 or quantised tensor inside a DTensor",
   signs = {
     {0.9, "=quant", "~attempting to run unimplemented operator|not "
       .. "implemented for|unimplemented operator|NotImplementedError",
      "!" .. MISSING, "!" .. MIXED, "=dt"},
     {0.84, MISSING, "=quant", "@aten.amax*|aten._scaled_mm*|torchao.*|"
       .. "aten.chunk*|aten.contiguous*|aten.abs*"},
     {0.8, MIXED, "=quant", "!aten.copy_", "~TransformerEngine|transformer_engine|"
       .. "Float8|float8"},
     {0.85, "=quant", "_dtensor.shard_dim_alltoall"},
     {0.85, "=quant", "/Tensor%.__new__%(%) missing %d+ required", "=dt"},
     {0.6, "=quant", "DTensor", "~unexpected|problem|expect",
      "~all-gather|amax|chunk|cast", "!" .. MIXED, "!" .. MISSING, "!submesh"},
     {0.62, "=quant", "=dt", "~error|fail|Error|not support|wrong|incorrect",
      "!Cannot create a submesh", "!" .. MIXED, "!" .. MISSING,
      "!submesh"},
   },
   cause = "DTensor wraps another tensor class, and every operator DTensor "
     .. "uses inside must exist on it; the cast has to be on the right side "
     .. "of the all-gather.",
   fixes = {
     {"convert to float8 first, then TP, then FSDP"},
     {"use the library's float8 styles", torch = "Float8ColwiseParallel()"},
     {"compile: eager mode calls operators the subclass lacks",
      torch = "model = torch.compile(model)"},
     {"upgrade torchao: it adds operators with each release"},
   },
   ask = {"Which recipe, eager or compiled, which torchao?"}},

  {id = "global-shape-as-local", expects = "shapes that do not fit",
   name = "the global shape taken for the local one",
   signs = {
     {0.66, "~.shape|.numel()|.size()|numel", "DTensor", "~global shape|"
       .. "global size|logical shape|full size|global numel|unsharded size|"
       .. "global number of", "~local", "!from_local", "!full_tensor()",
      "!" .. MIXED, "!" .. MISSING},
     {0.64, "/global [%a%-]+ shape", "DTensor", "~local", "!from_local",
      "!" .. MIXED, "!" .. MISSING},
     {0.7, "~global shape of the DTensor|global shape of a DTensor|global "
       .. "shape instead of|global shape rather than|global size instead of",
      "DTensor", "!from_local"},
     {0.55, "~empty(x.shape|empty(p.shape|zeros(p.shape|torch.empty(param.shape",
      "DTensor"},
     {0.6, "~to_local().shape|_local_tensor.shape|to_local().size(|"
       .. "to_local().numel()", "=dt", "~wrong|incorrect|mismatch|too small|"
       .. "too large", "!from_local", "!" .. MIXED, "!" .. MISSING},
     {0.62, "=rank_ratio", "=dt", "!=other_tp", "!size mismatch for",
      "!Watchdog", "!" .. MIXED, "!" .. MISSING},
     {0.6, "~.shape|size()|numel", "DTensor", "~original non-sharded|"
       .. "non-sharded tensor|unsharded shape|global shape|original shape|"
       .. "sharded shape", "!from_local", "!" .. MIXED, "!" .. MISSING,
      "!Error:"},
   },
   cause = "shape, numel and stride of a DTensor are global; buffers and "
     .. "kernels that use them are too large, or index out of range.",
   fixes = {
     {"take the local shape wherever a buffer or a grid is sized",
       lua = "x:to_local().shape",
      torch = "x.to_local().shape"},
     {"or allocate like the tensor, so that shape and placement agree",
       lua = "dt.zeros_like(x)",
      torch = "torch.zeros_like(x)"},
     {"when two operands do not fit: bring both to one side, both whole or "
        .. "both local", lua = "x:full_tensor()", torch = "x.full_tensor()"},
   },
   ask = {"Which buffer is allocated from which shape?"}},

  {id = "async-result-not-waited",
   name = "the result of a collective was not waited for",
   signs = {
     {0.9, "'Tensor' object has no attribute 'wait'"},
     {0.88, "AsyncCollectiveTensor", "object has no attribute"},
     {0.6, "AsyncCollectiveTensor", "~NotImplementedError|TypeError|"
       .. "RuntimeError|AssertionError", "!" .. MIXED, "!" .. MISSING},
     {0.82, "AsyncCollectiveTensor", "~wait|random|garbage|uninitialized|nan|"
       .. "wrong|stale|not synchron"},
     {0.6, "~async_op=True|async_op", "~redistribute|DTensor|full_tensor",
      "~wait|race|wrong|random|nan"},
   },
   cause = "Functional collectives return a lazy tensor; code that reaches "
     .. "into _local_tensor, casts, or hands it to a kernel may not wait.",
   fixes = {
     {"wait before custom kernels or data pointers read it",
       torch = "x = x.wait()"},
     {"or ask for the synchronous form", lua = "x:redistribute(mesh, pl)",
      torch = "x.redistribute(placements=pl, async_op=False)"},
     {"upgrade: a cast waits since 2.8, redistribute since 2.10",
       fixed_in = "2.10"},
   },
   ask = {}},

  {id = "dispatch-overhead",
   name = "the cost of dispatch",
   signs = {
     {0.66, "=dt", "~overhead|slower|slow|cpu bound|CPU-bound|cpu-bound",
      "~dispatch|__torch_dispatch__|unwrap_to_op_info|per-op|optimizer step|"
       .. "profil|AdamW|microsecond", "!memory leak", "!Error:",
      "!MemoryError", "!cache", "!~offloaded|CPU offload|CPUOffload"},
     {0.5, "DTensor", "~performance|slow|overhead|latency", "!Error:",
      "!memory leak"},
     {0.56, "DTensor", "~optimizer step|per step|each step|forward",
      "~times slower|x slower|slower than|takes longer|too slow|overhead",
      "!Error:", "!memory leak"},
   },
   cause = "Each operator goes through Python, hashing of specs and "
     .. "wrapping; lists hash every entry.",
   fixes = {
     {"upgrade: dispatch is written in C++ there", fixed_in = "2.10"},
     {"local tensors in hot loops", lua = "x:to_local()",
      torch = "x.to_local()"},
     {"take a fused optimizer: one dispatch instead of one for each "
       .. "parameter", lua = "dt.optim.AdamW(params, {fused = true})",
      torch = "AdamW(params, fused=True)"},
     {"compile, which removes dispatch at run time",
      torch = "model = torch.compile(model)"},
   },
   ask = {"A profile: how many operators, how much time in dispatch?"}},

  {id = "sharding-cache-growth",
   name = "the propagation cache grows",
   signs = {
     {0.75, "=dt", "~memory leak|memory growth|leaking|memory grows|"
       .. "memory keeps|memory increases|throughput degrad|gets slower|"
       .. "progressively slow|slows down|decays",
      "~cache|sharding|step|scalar|foreach|gc|dispatch"},
     {0.7, "=dt", "~DTensorSpec|OpSchema|gc.collect|tracked objects|host ram|"
       .. "host memory|cpu memory|CPU RAM|rss|ram usage", "~leak|accumulat|"
       .. "grow|increas|never freed|unbounded|eventually|rising|climb|"
       .. "steadily|rises", "!" .. MIXED,
      "!" .. MISSING},
     {0.7, "=dt", "~lru_cache|propagation cache|sharding cache|native cache|"
       .. "cache miss|cache key|uncached", "!" .. MIXED, "!" .. MISSING,
      "!Error:", "!symint"},
   },
   cause = "Scalars that change with every step, or freshly built specs, "
     .. "become keys of the cache.",
   fixes = {
     {"a fused optimizer, or none of the foreach kind: no new scalar "
       .. "at each step", lua = "dt.optim.AdamW(params, {fused = true})",
      torch = "AdamW(params, fused=True)"},
     {"upgrade past 2.11: scalars are no longer keys of the cache",
      fixed_in = "2.12"},
     {"clear the propagation caches from time to time, as a stopgap"},
   },
   ask = {"How does memory grow per step; which optimizer flags?"}},

  {id = "numerics-drift-not-bug", anywhere = true,
   name = "small differences that are not a fault",
   signs = {
     {0.58, "=dt", "~Tensor-likes are not close|assert_close|allclose|"
       .. "Mismatched elements|Greatest absolute difference",
      "!Partial", "!StridedShard", "!full_tensor", "!context_parallel",
      "!from_local", "!to_local", "!grad_norm", "!RuntimeError",
      "!ValueError"},
     {0.62, "=dt", "~numerical|numerics|allclose|output differs|outputs "
       .. "differ|results differ|differs from|difference|not equal|different results|different loss|discrepanc|"
       .. "mismatched elements|tolerance|bitwise|reproduc|different random|"
       .. "random values|seed", "~single gpu|single device|single-gpu|one gpu|"
       .. "number of gpus|world size|gpu counts|precision|bf16|tf32|dropout|"
       .. "drift|rounding|without tp|non-parallel|unsharded|tiny|small "
       .. "difference|1e-", "!Error:", "!clip_grad", "!grad_norm",
      "!Partial", "!StridedShard", "!full_tensor", "!permut",
      "!context_parallel"},
   },
   cause = "Reductions in another order, reduced precision, and random "
     .. "numbers that depend on the layout give small differences that grow "
     .. "with depth.",
   fixes = {
     {"compare in float64, dropout off, with copied weights",
      lua = "dt.allclose(a, b)", torch = "torch.testing.assert_close(a, b)"},
     {"seeds per group of ranks", lua = "dt.manual_seed(0)",
      torch = "torch.manual_seed(0)"},
     {"accept a tolerance that fits the dtype: 1e-2 relative in bfloat16, "
        .. "1e-5 in float32"},
   },
   ask = {"Relative error by layer, dtype, dropout?"}},
}
