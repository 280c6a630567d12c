-- SPDX-License-Identifier: MIT
-- dt/diagnose/libraries.lua: signs of the classes in the words of libraries
-- that build on meshes and DTensors (accelerate, transformers, torchtitan,
-- diffusers, torch_xla, FSDP1) and in torch's own words outside
-- torch.distributed.tensor.  A row is {class, confidence, condition...}; the
-- conditions are those of lua/dt/diagnose/classes/mixed.lua.

return {
  -- pickling, in any wrapper
  {"dtensor-serialization", 0.62, "/pickle '?torch%.[%w_%.]*ProcessGroup"},

  -- operators
  {"loss-parallel-handler-scope", 0.66, "loss_parallel", "log_softmax",
   "~gradient|backward", "~kl_div|entropy|distill|DPO|ORPO|GRPO|logprob|z-loss|"
   .. "consumer|no nll_loss|without nll_loss|into nll_loss|identity"},
  {"matmul-shard-order", 0.66, "~matmul|mm(|bmm|einsum|contraction|contracting",
   "StridedShard", "~wrong|incorrect|garbage|does not equal",
   "~interleav|another order|other order|opposite|shard order|like a regular|"
   .. "mismatched|aligned"},

  -- FSDP, both kinds
  {"cpu-offload-no-cpu-backend", 0.93,
   "parameters should be materialized on CPU when enabling CPU offloading"},
  {"cpu-offload-no-cpu-backend", 0.66,
   "Attempted to set the storage of a tensor on device",
   "~CPUOffloadPolicy|cpu_offload|offload_policy|offload"},
  {"cpu-offload-no-cpu-backend", 0.6,
   "No backend type associated with device type cpu"},
  {"meta-device-not-materialised", 0.8, "Cannot copy out of meta tensor",
   "~FSDP2|fully_shard|DTensor|tp_plan|tp_device|tensor_parallel|fsdp"},
  {"fsdp2-non-float-parameter", 0.9, "Integer parameters are unsupported"},
  {"fsdp2-non-float-parameter", 0.88, "Cannot flatten integer dtype tensors"},
  {"optimizer-built-before-sharding", 0.64, "optimizer", "=fsdp",
   "~not receiving|does not receive|doesn't receive|does not hold|not see the "
   .. "wrapped|holds no|holds nothing|no parameters of|does not reference|"
   .. "doesn't reference|won't be updated|will not be updated|old parameters"},
  {"optimizer-built-before-sharding", 0.93,
   "The optimizer does not seem to reference any FSDP parameters"},
  {"fsdp2-mixed-dtype-group", 0.92,
   "FSDP reduce-scatter expects uniform gradient dtype"},
  {"fsdp2-mixed-dtype-group", 0.9, "FlatParameter", "requires uniform dtype"},
  {"fsdp2-mixed-dtype-group", 0.72,
   "attempting to assign a gradient with dtype", "to a tensor with dtype",
   "=fsdp"},
  {"fsdp2-usage", 0.75, "/Shard dim %-?%d+ is invalid for %d+D tensor"},
  {"invalid-mesh-dim-name", 0.87, "/[Ii]nvalid mesh dim: '"},
  {"index-put-and-select", 0.66, "~slice of the DTensor|slice of a DTensor|"
   .. "DTensor slice|slicing a DTensor|slices of a DTensor",
   "~no view|not a view|instead of a view|new DTensor", "!=raises"},
  {"mesh-arguments", 0.62, "HYBRID_SHARD",
   "/init_device_mesh%([^%)]-%(%d+, ?1%)", "~not all-reduced|not reduced|"
   .. "not synchron|drift|diverge|never averaged|not averaged"},
  {"mesh-arguments", 0.66, "HYBRID_SHARD", "=mesh_of_one", "~gradient",
   "~reduced|synchron|drift|diverge|averaged|each rank|NO_SHARD"},
  {"fsdp2-usage", 0.78, "setStorage: sizes",
   "are out of bounds for storage of size 0", "~fully_shard|FSDP2|fsdp_version"},
  {"numerics-drift-not-bug", 0.55, "~numerical difference|numeric difference|"
   .. "numerical discrepan|numeric discrepan", "DTensor",
   "~fp16|bf16|float16|half precision", "!=raises"},
  {"cp-seq-divisibility", 0.66, "sequence parallel", "~divisible|divides",
   "~frames|tokens|sequence length|seq_len", "~gpus|ranks|world size|world_size",
   "!~heads|num_head"},
  {"inference-mode-composite", 0.85,
   "Inference tensors do not track version counter", "=fsdp"},
  {"fsdp1-dtensor-legacy", 0.72,
   "Attempted to call resize_() on an invalid python storage", "=fsdp"},
  {"fsdp2-full-state-dict-key", 0.82, "FSDP assumes",
   "is in the state_dict but the state_dict only has"},
  {"fsdp2-usage", 0.55, "~fully_shard|FSDP2|fsdp2", "reshard",
   "~memory|unsharded|resharded", "~stays|stay unsharded|still|remain|"
   .. "not freed|not released|does not reshard|not resharded|doesn't reshard", "!=raises"},
  {"mesh-arguments", 0.88, "Cannot pass both process_group and device_mesh"},
  {"dtensor-serialization", 0.84,
   "Attempted to access the data pointer on an invalid python storage",
   "~DTensor|FSDP2|fully_shard|tensor parallel"},
  {"dtensor-serialization", 0.7,
   "Attempted to access the data pointer on an invalid python storage",
   "~safetensors|save_pretrained|storage_ptr|id_tensor_storage",
   "!~TPU|torch_xla|xla_model"},

  -- code that recomputes, and the mixed kinds in its backward
  {"mixed-activation-checkpoint-recompute", 0.88,
   "got mixed torch.Tensor and DTensor", "/[^_%w%.]checkpoint%([^_]", "backward",
   "!load_state_dict"},
  {"mixed-attention-operand", 0.78, "mixed torch.Tensor and DTensor",
   "=sdpa_frame", "!got mixed torch.Tensor and DTensor", "!flex_attention"},
  {"compile-symbolic-shape-rule", 0.6, "treespec.unflatten(leaves)", "=dt",
   "~torch.compile|compiled"},
  {"compile-tangent-placement", 0.82, "/Node [%w_]+ was invalid, but is output",
   "~DTensor|to_local|tangents|tensor parallel|tp|fsdp"},
  {"distribute-misuse", 0.8, "spec.tensor_meta.shape", "must be a tuple"},
  {"dcp-size-mismatch", 0.7, "Invalid checkpoint metadata for", "but found"},
  {"mesh-larger-than-world", 0.66, "=mesh_exceeds"},
  {"rng-layout-dependence", 0.66, "=dt", "seed",
   "~initialis|initializ|init_weights|nn.init",
   "~other values|different values|other numbers|not the same values|differ",
   "~number of GPUs|number of ranks|world size|number of devices",
   "!=raises"},

  {"collective-wrong-device", 0.82, "communicator is created to work on",
   "but the input tensor is on"},

  -- checkpoints of several ranks
  {"dcp-missing-key", 0.92, "Missing optimizer state for parameter",
   "in checkpoint"},
  {"dcp-missing-key", 0.7, "~set_optimizer_state_dict|set_state_dict|"
   .. "optimizer state dict", "~no saved state|has no state|entry is missing|"
   .. "state is missing|lacks state"},
  {"dcp-missing-key", 0.85, "Checkpoint at", "is missing keys"},
  {"dcp-missing-key", 0.72, "An unexpected key,", "exists. FQN is"},
  {"dcp-missing-key", 0.6, "Key(s) present in other ranks but not this one"},
  {"dcp-size-mismatch", 0.9, "/req .- mismatch sizes,? "},
  {"dcp-size-mismatch", 0.62, "~Could not find shard at '|Could not find "
   .. "checkpointable tensor shard at '", "for FQN"},
  {"dcp-size-mismatch", 0.7, "/[gl]%l+l shard .- dimension .- is outside "},
  {"fsdp2-full-state-dict-key", 0.66,
   "full_state_dict must be True when broadcast_from_rank0 is True"},
  {"fsdp1-dtensor-legacy", 0.6, "~Cannot handle nested DTensor|Cannot handle "
   .. "DTensor nested inside ShardedTensor"},
  {"dcp-missing-key", 0.8, "The option indicates that model state_dict is "
   .. "required to", "~model state_dict is empty|optim state_dict is empty"},
  {"dcp-missing-key", 0.8, "Could not find FQN: '"},
  {"dcp-size-mismatch", 0.92, "invalid fill tensor-volume", "chunks-volume"},
  {"dcp-size-mismatch", 0.8, "Failed to validate global plan"},
  {"dcp-size-mismatch", 0.9, "Target tensor size=",
   "does not match source tensor size="},
  {"cpu-offload-no-cpu-backend", 0.92,
   "A CPU backend must be enabled for async save"},
  {"from-local-uneven-shape", 0.9, "requires evenly-sharded parameters",
   "is unevenly sharded on dim"},
  {"fsdp2-plain-entry-in-sharded-state-dict", 0.88,
   "'Tensor' object has no attribute '_local_tensor'"},

  -- specs and placements that cannot be
  {"missing-sharding-strategy", 0.88, "as_strided not supported with DTensor"},
  {"distribute-misuse", 0.92, "Expected one placement per mesh dim, but found"},
  {"distribute-misuse", 0.88, "Sharding dim", "greater than tensor ndim"},
  {"distribute-misuse", 0.85, "cannot be both shard and partial"},
  {"from-local-uneven-shape", 0.92,
   "Non-sharded dimensions should have identical size across ranks"},
  {"placement-kind-assumed", 0.66, "/[Pp]lacement type .- not supported"},
  {"placement-kind-assumed", 0.66, "Unsupported placement type",
   "encountered in"},
  {"distribute-misuse", 0.62, "~doesn't have a matching shard in shard_order|"
   .. "should be sorted in shard_order"},
  {"mesh-dim-required", 0.9,
   "Only 1D mesh is supported, pass in (DeviceMesh, int) together"},
  {"mesh-arguments", 0.75, "Invalid tuple for group must be (DeviceMesh, int)"},
  {"sharding-propagation-failed", 0.66, "/return type .- in DTensor op is not "
   .. "supported"},
  {"out-variant-kwarg-dtensor", 0.85,
   "out variant should have at least one out arg"},
  {"sharding-propagation-failed", 0.66, "Sharding propagation should have "
   .. "produced at least Replicate() strategy"},
  {"missing-sharding-strategy", 0.66, "/Decomposition requires redistribution "
   .. "for [%w_]+%."},
  {"missing-sharding-strategy", 0.6, "/No decomposition found for [%w_]+%.",
   "~DTensor|tensor/_decompositions"},
  {"async-result-not-waited", 0.75, "Cannot wrap an AsyncCollectiveTensor "
   .. "inside another AsyncCollectiveTensor"},
  {"compile-symbolic-shape-rule", 0.7, "/Cannot specialize symbolic .- without "
   .. "a hint"},
  {"compile-symbolic-shape-rule", 0.66, "narrow unexpectedly changed concrete "
   .. "size on dim"},
  {"tp-local-output-uneven", 0.6, "/input dimension .- must be a multiple of "
   .. "group_size"},
  {"redistribute-to-partial", 0.9, "Replicate to Partial(",
   "conversion is not supported"},
  {"sharding-propagation-failed", 0.8,
   "output spec does not match with output! Expected"},

  -- attention under context parallelism
  {"cp-backend-or-mask", 0.72, "~attn_bias is not supported yet|"
   .. "return_debug_mask is not supported yet"},
  {"cp-backend-or-mask", 0.93, "got mixed torch.Tensor and DTensor", "=cp",
   "=mask_op", "~scaled_dot_product|ScaledDotProduct|sdpa"},
  {"cp-backend-or-mask", 0.93, "got mixed torch.Tensor and DTensor", "=cp",
   "@aten._scaled_dot_product*"},
  {"cp-seq-divisibility", 0.93,
   "Tensor size along dimension to be sharded must be divisible by mesh size"},
  {"cp-seq-divisibility", 0.85, "Cannot shard tensor of size", "along dim",
   "across mesh of size"},

  -- transformers, accelerate, torchtitan, vLLM: plans and sizes
  {"tp-heads-not-divisible", 0.66, "not aligned with the quantized weight "
   .. "shape", "tensor parallel size"},
  {"fp8-subclass-inside-dtensor", 0.76,
   "/'DTensor' object has no attribute '[%w_]+'",
   "~bitsandbytes|load_in_4bit|load_in_8bit|bnb|torchao|quantiz|quantis|"
   .. "Linear4bit|Params4bit|gptq|awq|fp8|float8"},
  {"global-shape-as-local", 0.66, "=shape_ratio", "=tp",
   "~mismatch|fails|failed|error|must match", "!Watchdog", "!heads"},
  {"global-shape-as-local", 0.6, "=prose_ratio", "=tp", "!=other_tp",
   "~unsharded|not sharded|not split|stays whole|remains|whole size|full size",
   "~fails|failed|error|mismatch|does not fit", "!=raises"},
  {"tp-heads-not-divisible", 0.7, "/heads%l* %(%d+%) must be divisible by "
   .. "%l*p_size %(%d+%)"},
  {"tp-heads-not-divisible", 0.6, "/AssertionError: %d+ is not divisible by "
   .. "%d+", "~tensor_parallel|tensor parallel|tp_size|tensor_model_parallel|"
   .. "tensor-parallel|ensure_divisibility|--tp |tp-size"},
  {"tp-plan-unmatched", 0.85, "`tp_plan` and `device_map` are mutually"},
  {"tp-plan-unmatched", 0.8, "tp_plan has to be set when tp_size is passed"},
  {"tp-plan-unmatched", 0.8, "tp_plan supports 'auto' only for now"},
  {"tp-plan-unmatched", 0.75, "Fix it's TP plan"},
  {"mesh-larger-than-world", 0.9, "fsdp_size", "is not equal to world_size"},
  {"mesh-larger-than-world", 0.85, "is out of bounds for mesh size"},
  {"fsdp-tp-mesh-relationship", 0.8, "Tensor/Context parallelism",
   "cannot be used with pure data parallelism"},
  {"mesh-arguments", 0.8, "The device_mesh is already created with device "
   .. "type"},
  {"mesh-arguments", 0.75, "Parallelism degree should be >= 1"},
  {"mesh-arguments", 0.75, "Currently we only support ETP=TP or ETP=1"},

  -- messages of accelerate 1.15, composer 0.32, diffusers 0.42, lightning 2.6,
  -- megatron-core 0.16, nemo-automodel 0.7, torchtitan 0.3, torchtune 0.6,
  -- transformers 5.24, verl 0.9 and xfuser 0.7
  {"optimizer-built-before-sharding", 0.93,
   "couldn't be switched to its sharded version"},
  {"optimizer-built-before-sharding", 0.9,
   "Passing `optimizers` is not allowed if PyTorch FSDP is enabled"},
  {"optimizer-built-before-sharding", 0.9,
   "The optimizer does not seem to reference any XLAFSDP parameters"},
  {"fsdp2-full-state-dict-key", 0.95, "found in sharded model state dict but "
   .. "missing from full state dict"},
  {"dcp-missing-key", 0.86, "/Model param .- not in model_sharded_state_dict"},
  {"fsdp-divergent-module-execution", 0.88,
   "Detected mismatch between collectives on ranks", "=fsdp",
   "~used differently|conditional comput|conditionally|experts run|unused "
   .. "expert|not all ranks|on some ranks|control flow"},
  {"wrapper-setting-of-another", 0.88, "~is only available with FSDP1|"
   .. "not yet implemented in FSDP2|requires `fsdp_version=2`|"
   .. "in FSDP1, got|in FSDP2, got|This is not supported with FSDP1|"
   .. "only supports the new FSDP2 APIs|"
   .. "the provided `fsdp_plugin` is using FSDP1|"
   .. "DeepSpeed and FSDP do not support `clip_grad_value_`"},
  {"wrapper-setting-of-another", 0.88, "only possible if the module passed to",
   "is wrapped in `FullyShardedDataParallel`"},
  {"raw-collective-on-dtensor", 0.88,
   "contains `DTensor` parameters, which is incompatible with DDP"},
  {"mixed-tensor-dtensor", 0.88,
   "Got a plain Tensor under the full_dtensor mode"},
  {"mixed-optimizer-group", 0.86,
   "Tensor parallelism is currently incompatible with fused optimizer"},
  {"meta-device-not-materialised", 0.86,
   "~Set the `sync_module_states` flag to `True`|"
   .. "set `--fsdp_sync_module_states` to `True`"},
  {"meta-device-not-materialised", 0.86, "Only DTensor can be meta initialized "
   .. "safely"},
  {"fsdp-tied-params-two-groups", 0.88,
   "Parameter tying relationship changed during the context"},
  {"fp8-subclass-inside-dtensor", 0.86, "/MXFP%d ", "~before fully_shard|after "
   .. "FSDP wrapping|cannot replace an FSDP-managed"},
  {"mesh-dim-required", 0.86, "We only support 1D mesh for MoE"},
  {"from-local-uneven-shape", 0.86, "~local shape mismatch: DTensor metadata "
   .. "says|DTensor checkpoint metadata reports local shape"},
  {"fsdp2-usage", 0.88, "~Only one model is supported when using FSDP2|"
   .. "No layer modules were sharded"},
  {"fsdp-tied-params-two-groups", 0.88, "is already a DTensor with placements",
   "but its sharding_config expects"},
  {"spmd-type-error", 0.87, "output DTensor has placements",
   "but out_src_shardings expects"},
  {"spmd-type-error", 0.87, "~requires explicit in_src_shardings|requires "
   .. "explicit out_src_shardings|SpmdLayout has multiple mesh axes sharding|"
   .. "Inconsistent mesh axes within a boundary|local_map is set but"},
  {"fp8-subclass-inside-dtensor", 0.86, "~which cannot be combined with tensor "
   .. "parallelism|cannot be combined with a tensor-parallel",
   "~is quantized|quantization_config|FlashPack"},
  {"fp8-subclass-inside-dtensor", 0.88, "enable_fsdp_float8_all_gather only "
   .. "supports tensorwise scaling"},
  {"fp8-subclass-inside-dtensor", 0.74, "/numel%(%) ?[%w ]- divisible by",
   "~nf4_tensor|NF4Tensor"},
  {"global-shape-as-local", 0.87, "Mismatch between param shape",
   "and local tensor shape"},
  {"tp-local-output-uneven", 0.86, "Cannot shard", "tensor-parallel ranks: a "
   .. "block of size", "is not divisible by"},
  {"tp-local-output-uneven", 0.86,
   "/put_size %(%d+%) must be divisible by tp_size"},
  {"tp-heads-not-divisible", 0.86, "/n[gh][re][oa][ud][ps]s? must be evenly "
   .. "divisi?ble by tp_size"},
  {"tp-heads-not-divisible", 0.86, "Number of query groups of the models is"},
  {"tp-plan-unmatched", 0.87, "~`_tp_plan` must be set on the model class|"
   .. "Tensor Parallel plan needs to be provided|"
   .. "Unknown tensor parallel plan|"
   .. "its `_tp_plan` covers parameters that the checkpoint does not|"
   .. "can only be used once in a `_tp_plan`|"
   .. "Can only set a dictionary as `tp_plan`|"
   .. "Model should undergo tensor parallel before passing it to accelerate"},
  {"tp-plan-unmatched", 0.87, "~has no placement declared in sharding_config|"
   .. "ShardingConfig does not declare a placement for mesh axis|"
   .. "Unsharded modules with no _sharding_config"},
  {"invalid-mesh-dim-name", 0.93,
   "When using `tp_plan` and n-d `device_mesh`, it must contain a 'tp'"},
  {"invalid-mesh-dim-name", 0.9, "/Mesh '.-' is not available%. Ensure the "
   .. "corresponding parallelism dimension"},
  {"invalid-mesh-dim-name", 0.9, "Invalid mesh dim:", "Valid dimensions are"},
  {"invalid-mesh-dim-name", 0.88, "~Expected mesh dimension names to contain "
   .. "only|No parent flattened mesh found for dims"},
  {"invalid-mesh-dim-name", 0.87, "~Invalid mesh name combinations|"
   .. "DeviceMesh must have named axes|Unsupported mesh_dim_names"},
  {"mesh-larger-than-world", 0.9, "multiplied should equal the world size"},
  {"mesh-larger-than-world", 0.9, "/parallel mesh requires .- processes, but "
   .. "world_size is"},
  {"mesh-larger-than-world", 0.88, "~cannot exceed the world size|must not "
   .. "exceed the world size|is over sized with world size"},
  {"mesh-larger-than-world", 0.86, "/world_size %(%d+%) is not divisible by"},
  {"mesh-larger-than-world", 0.86, "~world_size must be divisible by "
   .. "parallel_size|must sum to world size"},
  {"mesh-arguments", 0.86, "/[dcteps]p_?[%a]*_?size must be at least 1"},
  {"mesh-arguments", 0.86, "~dp_shard must -1 or >=1|`ep_size` must be a "
   .. "multiple of `tp_size`|Combining context parallelism and tensor "
   .. "parallelism in a single|device_mesh=...)` are mutually exclusive|"
   .. "specified in the `parallelism_config`, but no `fsdp_plugin`|"
   .. "should be same as model's tp size|Accessing the device mesh before "
   .. "processes have initialized"},
  {"mesh-arguments", 0.86, "/Mesh '.-' has unexpected size: expected"},
  {"mesh-arguments", 0.86, "/ranks in the mesh .- do not match the ranks in "
   .. "the"},
  {"mesh-arguments", 0.86,
   "/Data parallel size %(%d+%) must be divisible by fsdp_size"},
  {"fsdp-2d-mesh-is-hsdp", 0.87, "~hybrid sharded data parallel requires 2D "
   .. "DeviceMesh|only support 1D FSDP but got mesh.ndim|hybrid sharding "
   .. "strategy requires you to pass at least one of"},
  {"cp-backend-or-mask", 0.86, "~context parallelism is not supported by|"
   .. "context parallelism is currently not supported|"
   .. "does not support context parallel|"
   .. "context parallelism is supported only with|"
   .. "context parallelism is only supported|"
   .. "context parallel not supported for|context parallel is not supported|"
   .. "context parallel is not yet supported|"
   .. "do not support context parallel|not support context parallel for now|"
   .. "context parallel forward wrapping is not supported", "=raises",
   "!supported in your"},
  {"cp-backend-or-mask", 0.86, "/ontext parallel[%w%(%)_=> ]- supported",
   "~not|only", "=raises", "!supported in your"},
  {"cp-seq-divisibility", 0.86, "/sequence %d+ is not divisible by "
   .. "sequence.parallel size"},
  {"cp-seq-divisibility", 0.86, "/[Ss]equence length [%w%s%(%)]-be divisible by",
   "~context parallel|sequence parallel|Sequence/Context|CP |cp_size"},

  -- torch_xla
  {"xla-sharded-tensor", 0.85, "is not mappable over", "devices"},
  {"xla-sharded-tensor", 0.85, "Partition spec length",
   "~equal to the input rank|to the input rank"},
  {"xla-sharded-tensor", 0.8, "Axis name", "is not defined in the given mesh"},
  {"xla-sharded-tensor", 0.8, "partition_spec",
   "~contains out of bound index into mesh_shape|should appear at most once "
   .. "in partition_spec"},
  {"xla-sharded-tensor", 0.82, "Input tensor is not an XLA tensor"},
  {"xla-sharded-tensor", 0.6, "mark_sharding", "~incorrect|wrong|not respected"
   .. "|differ"},

  -- what a rank without a batch leaves the others in
  {"collective-sequence-mismatch", 0.62, "~hangs|hang |stuck|deadlock|never "
   .. "returns|never comes back|without a hang", "~batches|one step|fewer steps|"
   .. "number of steps|iteration|number of samples", "~uneven|unequal|one less|"
   .. "one more|fewer|not the same number|different number|another number of",
   "~each process|every process|on each rank|of each rank|rank 0 has|rank 1 has|"
   .. "per rank|that GPU|one GPU|one rank|some ranks|some processes",
   -- processes that only prepare data wait for each other, too
   "~torchrun|DDP|FSDP|distributed|all_reduce|allreduce|all-reduce|nccl|gloo|GPUs|"
   .. "accelerate|ranks|rank 0|rank 1", "!num_workers", "!num_proc", "!=raises"},

  {"fp8-subclass-inside-dtensor", 0.76, "/%w+Tensor dispatch: attempting to run",
   "~torchao|nf4|mx_tensor|mxtensor|float8", "~DistributedDataParallel|FSDP|"
   .. "fully_shard|_broadcast_coalesced|_chunk_with_empty|shard"},
  {"xla-sharded-tensor", 0.85, "XlaShardingSpec", "~Check failed|Minibatch sharding"},
  {"dcp-missing-key", 0.88, "~create_default_local_load_plan|create_local_plan",
   "/KeyError: ['\"][%w_%.]+['\"]"},
  {"wrapper-setting-of-another", 0.7, "no_sync", "~FSDPModule|FSDP2|fully_shard",
   "~does not have|has no|have no|null context|nullcontext"},

  -- two sizes in the ratio of the ranks, where a library names its way of
  -- parallelism and no DTensor
  {"global-shape-as-local", 0.6, "=rank_ratio", "!=dt", "=cp_loose",
   "!=other_tp", "!size mismatch for", "!Watchdog"},

  -- described rather than printed
  {"view-flatten-sharded-dim", 0.62, "~aten.view|aten._unsafe_view|"
   .. "aten.reshape", "~sharding propagation|sharding prop", "=dt",
   "~fail|error|raises", "!unflatten", "!uneven", "!=raises"},
  {"view-without-redistribute", 0.66, "~view|reshape|Split(Flatten",
   "~silent wrong|silently wrong|wrong silently", "=dt_words"},
  {"partial-read-as-value", 0.66, "~.item()|calling item|local_scalar_dense",
   "~partial placement|Partial()|is Partial|of a Partial", "=dt",
   "!~clip_grad|grad norm|gradient norm"},
  {"partial-plus-scalar", 0.7, "=dt", "~each rank adds|every rank adds|"
   .. "added on each rank|added on every rank|adds it on every|"
   .. "instead of adding once", "!~clip_grad|grad norm"},
  {"nonlinear-on-partial", 0.62, "~partial placement|Partial(|Partial DTensor",
   "~reduction_linear|reduction linear|linearity|max, min|min, max",
   "~incorrect|wrong|inflated"},
  {"dtensor-serialization", 0.6, "save_pretrained", "~fsdp2|fully_shard|"
   .. "DTensor", "~DTensor|sharded state|sharded one", "~state_dict|"
   .. "state dict|safetensors", "!=raises", "!=stuck"},
  {"collective-wrong-device", 0.6, "~distribute_tensor|parallelize_module",
   "~cuda device|set_device|current device", "~RNG|random number|seed",
   "~init|sync|broadcast", "!=raises"},
  {"clip-grad-cross-mesh", 0.66, "~clipping|clip_grad|gradient norm|"
   .. "gradient statistics", "~share a device mesh|share one mesh|"
   .. "single mesh|one mesh|same mesh|across meshes|expert meshes|"
   .. "different device mesh|different mesh|by device mesh",
   "~DTensor|fsdp", "!got mixed torch.Tensor and DTensor", "!=raises"},
  {"tp-plan-unmatched", 0.66, "~_tp_plan|default base plan|default TP plan",
   "~has no|no entry|falls through|not registered|default base plan",
   "~AssertionError|assert|fails|stops|crash", "!npu"},
  {"dispatch-overhead", 0.6, "DTensor", "~optimizer step|optimizer.step",
   "/%d ?us%f[%W]", "/%d ?ms%f[%W]", "!=raises"},
  {"wrapper-setting-of-another", 0.8, "~'MixedPrecisionPolicy' object has no "
   .. "attribute|'MixedPrecision' object has no attribute|'CPUOffloadPolicy' "
   .. "object has no attribute|'CPUOffload' object has no attribute|"
   .. "'OffloadPolicy' object has no attribute"},
  {"wrapper-setting-of-another", 0.62, "~summon_full_params|sharding_strategy|"
   .. "auto_wrap_policy|use_orig_params|state_dict_type",
   "~fully_shard|FSDP2", "~equivalent|replacement|counterpart|instead of",
   "!=raises"},
  {"cp-seq-divisibility", 0.66, "=cp_loose", "=fraction_shown",
   "~sequence|token|seq_len"},
  {"from-local-uneven-shape", 0.64, "from_local", "~torch.chunk|chunk sizes|"
   .. "uneven", "~full_tensor|full tensor|global shape", "~wrong|incorrect|"
   .. "silently|accepts", "!=raises"},
  {"hidden-redistribution", 0.62, "DTensor", "~all-gathers the|gathers where|"
   .. "unnecessary gather|unneeded gather|gathers the whole|needless "
   .. "all-gather|unnecessary all-gather|unnecessary communication|"
   .. "gathers the input", "!=raises"},
  {"fsdp2-usage", 0.6, "fully_shard", "~attributes|attribute", "~Parameter|"
   .. "parameter", "~drops|lost|not copied|without them|not kept|disappear",
   "!=raises"},
  {"missing-sharding-strategy", 0.6, "=dt", "@aten.*|prims.*",
   "~not registered in|is not registered|are not registered|isn't registered|"
   .. "no registration", "!got mixed torch.Tensor and DTensor"},
  {"rng-layout-dependence", 0.66, "=dt", "~random number|dropout|initialis|"
   .. "initializ|seed", "~depend on the shard|depends on the shard|depend on "
   .. "the layout|depends on the layout|depend on the number of|depends on the "
   .. "number of", "!=raises"},
  {"conv-backward-placement", 0.76, "~conv2d|conv3d|conv1d|convolution", "=dt",
   "~input gradient|gradient of the input|grad_input|input's gradient",
   "~placement|other shard|another shard", "!=raises"},
  {"squeeze-local-singleton", 0.66, "squeeze", "=dt", "~local size|one row|"
   .. "size 1|size one|singleton|length 1", "~removes|drops|removed|dropped|"
   .. "missing|one dimension less", "!=raises"},
  {"loss-parallel-handler-scope", 0.8, "loss_parallel", "log_softmax",
   "~gradient|backward", "~own loss|another loss|other loss|second loss|"
   .. "distill|outside", "!=raises"},
  {"fsdp2-full-state-dict-key", 0.76, "fsdp2_load_full_state_dict",
   "~looks for|not listed|missing|is not in|KeyError", "!managed by another"},
  {"strided-shard-op-rules", 0.6, "_StridedShard", "~some ops|operators|torch.|"
   .. "an op|calling ops", "~gives errors|errors or|is refused|not supported|"
   .. "fails", "!full_tensor", "!=raises"},
  {"mixed-attention-operand", 0.62, "~scaled_dot_product|sdpa",
   "~attn_mask|mask built|causal mask|mask is", "DTensor",
   "~is not one|is not|ordinary|regular|plain", "~refuse|reject|fail|complain",
   "!=raises", "!=cp", "!flex_attention"},
  {"placement-kind-assumed", 0.6, "placements", "Replicate", "~p.dim|.dim ",
   "~breaks|fails|no attribute|AttributeError", "!=raises"},
  {"spmd-type-error", 0.62, "~spmd_types|spmd types",
   "~Varying|Invariant|Replicate|Partial", "~required|expected|mismatch|"
   .. "conflict|instead of", "!=raises"},
  {"fsdp2-usage", 0.56, "~fully_shard|FSDP2", "unshard", "~shard them again|"
   .. "remain unsharded|stay unsharded|shard it again", "!=raises"},
  {"global-shape-as-local", 0.76, "=dt", "~.shape|numel|size()",
   "~kernel|triton|cuda extension", "~runs over|run over|beyond|past the end|"
   .. "out of bounds|illegal memory", "!=raises"},
  {"sharding-cache-growth", 0.68, "=dt", "~DTensorSpec|OpSchema|OpInfo",
   "~more for every|more per|one for each|every optimizer step|each optimizer "
   .. "step|per optimizer step|every step|per step|each step",
   "!got mixed torch.Tensor and DTensor"},

  -- checks of degrees and settings: accelerate 1.15, transformers 5.24,
  -- torchtitan 0.3, trl 1.16, axolotl 0.19, peft 0.21, torchao 0.18
  {"invalid-mesh-dim-name", 0.93, "has no dimension for FSDP to shard across"},
  {"invalid-mesh-dim-name", 0.95, "not found in device_mesh. Available dimensions"},
  {"mesh-arguments", 0.9, "Context Parallelism (CP) and Sequence Parallelism (SP) are "
   .. "mutually exclusive"},
  {"mesh-arguments", 0.88, "`ep_size` must divide `fsdp_size * tp_size`"},
  {"mesh-arguments", 0.88, "needs every rank of the expert group to hold the same batch"},
  {"mesh-larger-than-world", 0.9, "`ep_size` must be a multiple of `tp_size`"},
  {"mesh-larger-than-world", 0.9, "must be divisible by dp_replicate_size * fsdp_size",
   "to derive tp_size"},
  {"mesh-larger-than-world", 0.88, "/_size %(%d+%) must divide world[_ ]size"},
  {"mesh-larger-than-world", 0.93,
   "The configured parallelisms are incompatible with the current world size"},
  {"mesh-larger-than-world", 0.86, "=degrees_times"},
  {"wrapper-setting-of-another", 0.88,
   "ParallelismConfig is only compatible DistributedType.FSDP"},
  {"wrapper-setting-of-another", 0.88, "You cannot use `--use_parallelism_config` without "
   .. "`--use_fsdp`"},
  {"wrapper-setting-of-another", 0.88, "lora_o_kernel are not compatible with FSDP1"},
  {"cp-backend-or-mask", 0.9,
   "Context parallelism does not support attention layers of type"},
  {"cp-backend-or-mask", 0.88,
   "Sequence parallelism does not support attention layers of type"},
  {"cp-backend-or-mask", 0.9, "CP is not supported with ScaledDotProductAttention"},
  {"cp-backend-or-mask", 0.9, "Variable-length attention CP is not yet supported"},
  {"cp-backend-or-mask", 0.88,
   "Ring attention only supports the flash attention 2 backend"},
  {"cp-load-balance", 0.93, "~PTRRLoadBalancer requires|PTRRLoadBalancer received|"
   .. "is not a key in attention_masks"},
  {"cp-load-balance", 0.9, "Invalid load_balancer_type"},
  {"spmd-type-error", 0.88, "~is missing SPMD layout metadata|"
   .. "SpmdLayout-based redistribution|SpmdLayout with PartitionSpec"},
  {"ep-fsdp-uneven-double-shard", 0.88, "Cannot evenly shard", "experts across"},
  {"ep-fsdp-uneven-double-shard", 0.86, "not divisible by ep_size"},
  {"tp-plan-unmatched", 0.9, "~colwise shards linear layers|rowwise shards linear layers"},
  {"tp-plan-unmatched", 0.88, "Tensor parallelism and `device_map` are mutually exclusive"},
  {"tp-plan-unmatched", 0.86, "~Unsupported tensor parallel plan|Unsupported TP plan"},
  {"tp-plan-unmatched", 0.84, "does not support tensor parallelism yet because its scale "
   .. "metadata does not have a sharding plan"},
  {"fp8-subclass-inside-dtensor", 0.88, "~FSDP split only on dim 0, got|"
   .. "Expected Float8 scale to be a DTensor"},
  {"placement-kind-assumed", 0.86,
   "_dist_reduce received a DTensor with unsupported placements"},

  -- what descriptions and code say
  {"fsdp1-dtensor-legacy", 0.86, "The device mesh of a tensor should be a root mesh"},
  {"devicemesh-pickle-version-skew", 0.86, "The device mesh of a tensor should be a root "
   .. "mesh", "~upgrad|went from|changed my environment|another release|older|old checkpoint|"
   .. "saved with|saved by"},
  {"cpu-offload-no-cpu-backend", 0.86, "Expects tensor to be on the compute device",
   "~offload|was on cpu"},
  {"distribute-misuse", 0.62, "~one placement|number of placements|a single placement",
   "~two dimensions|2-D|2D|ndim|three dimensions|dimensionality", "=dt", "!local_map",
   "!=raises"},
  {"mixed-attention-operand", 0.66, "~flash-attn|flash_attn|flash attention|attention "
   .. "kernel", "~cu_seqlens|rope|mask", "DTensor", "~normal|plain|ordinary|regular",
   "~refuse|reject|fail|complain", "!=raises", "!=cp"},
  {"mixed-optimizer-group", 0.64, "DTensor", "~opt.step|optimizer.step|optim.step|"
   .. "_fused_adam|_foreach", "~not wrapped|not sharded|no DTensor|left out|"
   .. "ignored_params", "~raise|fail|stops|refuse", "!=raises", "!mesh"},
  {"fsdp-tied-params-two-groups", 0.66, "/%.weight ?= ?[%w_%.]+%.weight", "fully_shard",
   "~no longer|not the same|untied|tied|shared", "!=raises"},
  {"fsdp2-full-state-dict-key", 0.72, "KeyError", "~broadcast_from_rank0|"
   .. "full_state_dict=True", "=fsdp"},
}
