-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/train.lua: FSDP, optimizers, clipping, checkpoints,
-- hangs.  The form of a class: classes/mixed.lua.

local MIXED = "got mixed torch.Tensor and DTensor"
local FLAT_NOW <const> = "/saved torch%.Size%(%[%d+, [%d, ]+%]%) and current: "
  .. "torch%.Size%(%[%d+%]%)"
local OF_OPTIMIZER <const> = "~optim|exp_avg|momentum|moments"
local TWO_THREADS <const> = "~async_save|AsyncCheckpoint|background thread|"
  .. "two threads|another thread"
local CROSS = "~DTensor does not support cross-mesh operation|"
  .. "Could not run pointwise computation across different mesh|"
  .. "on inputs with different meshes: got|must have the same mesh, but got"

return {
  {id = "optimizer-cross-mesh",
   name = "the optimizer's parameters lie on several meshes",
   signs = {
     {0.97, CROSS, "@aten._foreach*|aten._fused*"},
     {0.95, "Could not run pointwise computation across different mesh"},
     {0.93, CROSS, "~torch/optim/|optimizer.step|in step",
      "!in clip_grad_norm_", "!clip_grad.py"},
     {0.85, CROSS, "!clip_grad"},
     {0.8, CROSS},
     {0.6, "~cross-mesh|cross mesh|different mesh|different device mesh|"
       .. "multiple meshes|inconsistent compute mesh|same mesh|"
       .. "different submesh", "~optimizer|Adam|foreach", "=dt",
      "!clip_grad"},
     {0.55, "~fused optimizer|fused adam|foreach", "~mesh", "=dt",
      "~exact the same|same mesh|2D mesh"},
   },
   cause = "The optimizer puts all parameters of a group into one foreach or "
     .. "fused call. Parameters under TP and FSDP lie on a 2-D mesh, others "
     .. "on its dp slice, and one call needs one mesh.",
   fixes = {
     {"upgrade: zipped foreach 2.7, fused Adam 2.9", fixed_in = "2.9"},
     {"put every parameter on the same mesh (replicate the others over tp)",
      lua = 'dt.distribute_tensor(p, mesh, "R")',
      torch = "distribute_tensor(p, tp_mesh, [Replicate()])"},
     {"one group of parameters for each mesh"},
     {"one parameter at a time",
      lua = "dt.optim.AdamW(params, {foreach = false})",
      torch = "AdamW(params, foreach=False, fused=False)"},
   },
   ask = {"Which parameters are not in the tensor parallel plan?"}},

  {id = "clip-grad-cross-mesh",
   name = "gradient clipping over several meshes",
   signs = {
     {0.98, CROSS, "@aten.stack*"},
     {0.85, "cat op doesn't support cross mesh concatenation"},
     {0.95, CROSS, "~in clip_grad_norm_|clip_grad.py|_get_total_norm|"
       .. "clip_grad_norm_", "!torch/optim/"},
     {0.88, CROSS, "clip_grad", "@aten.*norm*|aten.stack*|aten.cat*"},
     {0.8, "~clip_grad|_get_total_norm|gradient clipping", "~torch.stack|stack",
      "~different DeviceMesh|different mesh|different device mesh|"
       .. "several meshes|multiple meshes|more than one mesh|mixed meshes",
      "=dt"},
    {0.55, "~clip_grad_norm|gradient clipping", "~different mesh|cross mesh|"
       .. "cross-mesh|multiple meshes|several meshes|different DeviceMesh|"
       .. "different device mesh|mixed DeviceMesh", "=dt"},
   },
   cause = "The norms of the gradients keep their meshes, and stacking them "
     .. "needs one. Expert parallel, partly tensor parallel and pipeline "
     .. "models have several.",
   fixes = {
     {"a norm for each mesh, then combine",
      lua = "total = (n1:full_tensor() ^ 2 + n2:full_tensor() ^ 2):sqrt()",
      torch = "total = (n1.full_tensor()**2 + n2.full_tensor()**2).sqrt()"},
     {"put all parameters on one mesh, replicated where they are not "
       .. "cut"},
     {"do not call item() on a norm that is not reduced"},
   },
   ask = {"Which meshes do the parameters use?"}},

  {id = "grad-norm-is-partial-dtensor",
   name = "the norm of the gradients is still partial",
   signs = {
     {0.8, "~clip_grad|grad_norm|total_norm|gradient norm|grad norm",
      "NormPartial", "=dt", "!cpu offload", "!Could not run pointwise",
      "!must have the same mesh", "!" .. MIXED,
      "!in-place operations that require"},
     {0.78, "~clip_grad|returned norm|gradient clipping", "Partial", "=dt",
      "!MaskPartial", "!cpu offload",
      "!Could not run pointwise", "!must have the same mesh", "!" .. MIXED,
      "!in-place operations that require"},
     {0.72, "~clip_grad_norm|grad_norm|grad norm|total_norm",
      "~full_tensor()|to_local()|.item()", "=fsdp",
      "~wrong|incorrect|different|mismatch|local|does not match|lower|smaller|"
       .. "doesn't match|not the same", "!must have the same mesh",
      "!" .. MIXED, "!No backend type", "!Error:"},
     {0.6, "clip_grad_norm_ doesn't work", "=dt"},
     {0.7, "~.item()|float(|print", "Partial", "=dt", "~local value|"
       .. "not reduced|unreduced|wrong value|incorrect value|wrong loss|"
       .. "local tensor value|each rank returns|global tensor value",
      "!Error:"},
     {0.45, "~clip_grad_norm|grad_norm", "~DTensor", "~wrong|incorrect|"
       .. "different", "!Error:"},
   },
   cause = "The returned norm is a reduction still to be made. item(), "
     .. "to_local() or plain logging takes this rank's part, too low by about "
     .. "the root of the number of shards.",
   fixes = {
     {"reduce before reading, on all ranks", lua = "norm:full_tensor():item()",
      torch = "norm.full_tensor().item()"},
     {"upgrade: item() reduces the Partial first there", fixed_in = "2.10"},
   },
   ask = {{"What does repr(norm) print?", only = {"!/Partial%(.-norm"}}}},

  {id = "cpu-offload-no-cpu-backend",
   name = "no backend for CPU tensors",
   signs = {
     {0.95, "No backend type associated with device type cpu", "=dt"},
     {0.95, "FSDP CPU offloading requires backend"},
     {0.85, "No backend type associated with device type cpu",
      "~clip_grad|fsdp|offload|full_tensor|state_dict"},
     {0.6, "~CPU offload|CPU-offload|offloaded to the CPU|offload_to_cpu|"
       .. "CPUOffloadPolicy", "NCCL", "~broadcast|all_reduce|all_gather|"
       .. "full_tensor|collective", "~on the CPU|CPU tensor|device(\"cpu\")|"
       .. "device(type='cpu')|device=\"cpu\"", "=fsdp", "!=raises"},
     {0.62, "cpu offload", "gloo", "=dt",
      "~clip_grad|gradient clipping|grad norm|full_tensor|all_reduce",
      "~need|requires|fails|error|cannot|has no"},
   },
   cause = "With CPU offload shards and norms are CPU tensors, but the "
     .. "process group was made with the accelerator's backend only.",
   fixes = {
     {"give the process group both backends",
       torch = 'init_process_group("cpu:gloo,cuda:nccl")'},
     {"move the scalar to the mesh's device before the collective"},
     {"switch CPU offload off when memory allows",
      torch = "fully_shard(model)  # without offload_policy"},
   },
   ask = {{"How is the process group initialised?",
     only = {"!/init_process_group%([^%)]"}}}},

  {id = "fsdp2-mixed-dtype-group",
   name = "one FSDP group with several dtypes",
   signs = {
     {0.98, "FSDP expects uniform original parameter dtype but got"},
     {0.96, "Must flatten tensors with uniform dtype but got"},
     {0.96, "FlatParameter requires uniform dtype but got"},
     {0.95, "FlatParameter requires uniform `requires_grad`"},
     {0.93, "Must flatten tensors with uniform `requires_grad`"},
     {0.9, "FSDP expects uniform reduce dtype"},
     {0.6, "~fsdp", "~uniform dtype|mixed dtype|different dtypes|multiple "
       .. "dtypes", "~LoRA|peft|adapter|parameter"},
   },
   cause = "One communication group packs its parameters into one buffer, so "
     .. "they need one dtype. Adapters in float32 on a bfloat16 base are the "
     .. "usual reason; it shows at the first forward.",
   fixes = {
     {"one dtype before sharding, and a mixed precision policy",
      only = {"!~Must flatten tensors|FlatParameter|flat_param"},
      torch = "model = model.to(torch.bfloat16)\n"
        .. "fully_shard(model, mp_policy=MixedPrecisionPolicy(\n"
        .. "    param_dtype=torch.bfloat16, reduce_dtype=torch.float32))"},
     {"wrap the adapters in groups of their own",
      only = {"!~Must flatten tensors|FlatParameter|flat_param"},
      lua = "dt.fully_shard(adapter, {mesh = mesh})",
      torch = "fully_shard(adapter)"},
     {"keep PEFT from casting adapters",
      torch = "get_peft_model(model, cfg, autocast_adapter_dtype=False)"},
   },
   ask = {{"Which parameters have which dtype?",
     only = {"!/but got torch%.%w+ and torch%.%w+"}}}},

  {id = "fsdp-tied-params-two-groups",
   name = "a shared parameter in two FSDP groups",
   signs = {
     {0.98, "is shared with a parameter already managed by another FSDP group"},
     {0.97, "is already managed by another FSDP group"},
     {0.65, "~tied weight|weight tying|tie_word_embeddings|tied embedding|"
       .. "tied parameter|tied params|shared parameter|weight sharing",
      "=fsdp", "~fully_shard|fsdp2|fsdp", "!~untied|untie "},
   },
   cause = "Embedding and output head share one parameter but are wrapped by "
     .. "different fully_shard calls.",
   fixes = {
     {"put the modules that share it into one group",
       lua = "dt.fully_shard({emb, norm, head}, {mesh = mesh})",
      torch = "fully_shard([tok_embeddings, norm, lm_head])"},
     {"leave both to the root's own group: wrap only the blocks between"},
     {"untie them: two parameters, copied once at the start"},
   },
   ask = {"Which modules are wrapped by which call?"}},

  {id = "fsdp-tp-mesh-relationship",
   name = "FSDP's and TP's meshes do not fit together",
   signs = {
     {0.98, "FSDP requires the DP and TP mesh to have the same parent mesh"},
     {0.97, "FSDP requires the DP and model parallel TP/EP mesh"},
     {0.96, "FSDP requires named DeviceMesh dims for ND parallelism"},
     {0.96, "FSDP only supports 1D TP"},
     {0.96, "_spmd_mesh.ndim can only be"},
     {0.93, "Cannot distribute tensor across two meshes without the same root"},
     {0.93, "Cannot concatenate DeviceMeshes derived from different"},
     {0.9, "Cannot concatenate overlapping meshes"},
     {0.9, "Found TP device_mesh on the"},
     {0.85, "Expected param's DTensor mesh to be the same mesh passed"},
     {0.85, "Found parent device_mesh of ndim"},
   },
   cause = "The dp and tp slices must come from one named root mesh, so that "
     .. "FSDP can express both placements; tensor parallel comes first.",
   fixes = {
     {"slice both from one mesh",
      lua = 'mesh = dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = '
        .. '{"dp", "tp"}})',
      torch = 'mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names='
        .. '("dp", "tp"))'},
     {"call parallelize_module first and fully_shard on its result",
      torch = "parallelize_module(model, mesh[\"tp\"], plan)\n"
        .. "fully_shard(model, mesh=mesh[\"dp\"])"},
     {"upgrade: EP together with TP is accepted there", fixed_in = "2.9"},
   },
   ask = {"How are the two meshes made?"}},

  {id = "fsdp-2d-mesh-is-hsdp",
   name = "a 2-D mesh given to fully_shard means HSDP",
   signs = {
     {0.66, "=fsdp", "~(Replicate(), Shard|Replicate(),Shard|(Replicate, Shard",
      "~memory|expected|hsdp|flatten|instead"},
     {0.62, "~fully_shard|fsdp2", "~hsdp|HSDP|hybrid shard",
      "~2d mesh|2-d mesh|two-dimensional mesh|2D mesh|dp_shard_cp|mesh[",
      "~memory|flatten|replicated|replicates|not sharded",
      "!Cannot create a submesh", "!Error:"},
     {0.7, "=fsdp_gets_2d", "~memory|OOM|out of memory|replicat|not sharded|"
       .. "full size|expected", "!Error:"},
     {0.5, "~dp_shard", "cp", "flatten", "~memory|replicated"},
   },
   cause = "fully_shard reads a 2-D mesh as (replicate, shard): over the "
     .. "first axis parameters are copied, not sharded.",
   fixes = {
     {"flatten both axes and pass the 1-D mesh",
      lua = 'mesh[{"dp_shard", "cp"}]:_flatten("dp_shard_cp")',
      torch = 'mesh["dp_shard", "cp"]._flatten("dp_shard_cp")'},
   },
   ask = {"What placements do the parameters print?"}},

  {id = "fsdp-uneven-nonzero-dim",
   name = "FSDP shards another dimension than 0 unevenly",
   signs = {
     {0.98, "FSDP does not support uneven sharding on dim"},
     {0.95, "/[Ss]hard dim %-?%d+ is invalid for %d+D tensor"},
     {0.9, "Invalid shard_placement_fn result"},
     {0.6, "shard_placement_fn", "~uneven|divisible|divide"},
     {0.58, "~nonzero shard dim|non-zero shard dim|nonzero dim|dim 1",
      "~fully_shard|FSDP2", "~uneven|divide evenly|divisible|divide"},
   },
   cause = "Dimension 0 may be sharded unevenly (it is padded); any other "
     .. "has to divide.",
   fixes = {
     {"change the FSDP degree to a divisor of that dimension"},
     {"shard dimension 0, which may be uneven",
      torch = "fully_shard(m, shard_placement_fn=lambda p: Shard(0))"},
     {"pad the dimension to a multiple of the degree"},
   },
   ask = {"Shape, dimension and world size?"}},

  {id = "ep-fsdp-uneven-double-shard",
   expects = "shapes that do not fit",
   name = "experts sharded twice, unevenly",
   signs = {
     {0.75, "The size of tensor a", "must match the size of tensor b",
      "=moe", "~optimizer.step|torch/optim|exp_avg|lerp_|in step", "=fsdp"},
     {0.7, "stack expects a non-empty TensorList", "~fsdp|ep|expert"},
     {0.62, "=moe", "=fsdp", "~num_experts|experts per", "~not divisible|"
       .. "divisible by|uneven|does not divide|empty shard", "!Error: shape",
      "!does not support uneven sharding"},
   },
   cause = "The expert dimension is sharded by ep and again by fsdp, and the "
     .. "second does not divide: padded parameters and unpadded gradients "
     .. "differ by a row, and the last rank may own nothing.",
   fixes = {
     {"let the fsdp degree divide num_experts / ep"},
     {"shard the experts on dimension 1",
      torch = "fully_shard(experts, shard_placement_fn=lambda p: Shard(1))"},
   },
   ask = {"Number of experts, ep and fsdp degrees?"}},

  {id = "meta-device-not-materialised",
   name = "parameters still on the meta device",
   signs = {
     {0.98, "FSDP parameters should be materialized from meta device"},
     {0.75, "were still on meta device"},
     {0.55, "=fsdp", "~meta device|device=meta|meta tensor",
      "~to_empty|reset_parameters|materializ|materialis"},
   },
   cause = "Some parameters were created or replaced outside the hooks, or "
     .. "their module has no reset_parameters.",
   fixes = {
     {"materialise, then initialise every module",
      torch = 'model.to_empty(device="cuda"); init_weights(model)'},
     {"load a full state dict, which makes the parameters real",
      torch = "set_model_state_dict(model, full,\n"
        .. "    options=StateDictOptions(full_state_dict=True))"},
     {"define reset_parameters on modules that own parameters"},
   },
   ask = {{"Which names does the message list?", only = {"!/on meta device: %["}}}},

  {id = "optimizer-built-before-sharding",
   name = "the optimizer holds the parameters from before sharding",
   signs = {
     {0.96, "With FSDP2, you need to pass model and optimizer to a single"},
     {0.7, "optimizer", "~before fully_shard|before sharding|before parallel|"
       .. "before FSDP|before wrapping|before distribute|created before|"
       .. "prior to fully_shard|then fully_shard", "=dt"},
     {0.62, "optimizer", "=dt", "~not updated|not being updated|does not "
       .. "change|not change|loss does not move|stale param|old parameters|"
       .. "unsharded param|doesn't decrease|does not decrease|not learning",
      "!Error:"},
     {0.76, "=optimizer_first", "=no_effect", "!Error:"},
     {0.6, "KeyError", "Adagrad", "=dt"},
   },
   cause = "Sharding replaces the Parameter objects and the optimizer keeps "
     .. "the old ones. A forward between fully_shard and the optimizer, "
     .. "without a backward, has the same effect.",
   fixes = {
     {"make the optimizer after all parallelisation, before any forward",
      lua = "dt.fully_shard(model); opt = dt.optim.AdamW(model:parameters())",
      torch = "fully_shard(model); opt = AdamW(model.parameters())"},
     {"or reshard first: the optimizer then sees the sharded "
       .. "parameters", torch = "model.reshard()"},
   },
   ask = {"In which order are model, sharding and optimizer made?"}},

  {id = "dcp-size-mismatch",
   expects = "shapes that do not fit",
   name = "saved and current sizes differ",
   signs = {
     {0.96, "Size mismatch between saved", "and current"},
     {0.9, "size mismatch for", "copying a param with shape torch.Size([0",
      "=dt", "!deepspeed"},
     {0.72, "size mismatch for", "/torch%.Size%(%[0, ", "!deepspeed", "!zero3"},
     {0.7, "size mismatch for", "copying a param with shape", "=dt",
      "~fsdp2|fully_shard|DTensor|distributed.checkpoint|distributed_checkpoint"},
     {0.85, "~CheckpointableTensor must also|checkpointable tensor shard|"
       .. "multiple checkpointable shards"},
     {0.8, "~global_offsets|local_offsets|local_sizes", "~must have the same "
       .. "length|dimensions"},
     {0.8, "shard", "~is outside global_shape|is outside tensor shape"},
     {0.62, "~distributed checkpoint|dcp.load|distributed.checkpoint", "~verify shape|"
       .. "check shape|check the shape|different size|different shape|another size|"
       .. "other size", "~silently|no error|not raise|n't raise|n't verify|uninitiali",
      "!=raises"},
     {0.5, "~distributed checkpoint|dcp.load|DCP", "~size mismatch|shape "
       .. "mismatch"},
   },
   cause = "The layouts at saving and at loading disagree: a local tensor "
     .. "saved as if it were global, another world size, an empty shard, or "
     .. "another padding.",
   causes = {{"Here what is asked for has one dimension: the piece of a flat vector "
     .. "that FSDP1 keeps on this rank.", only = {FLAT_NOW}}},
   fixes = {
     {"load through the helper of the wrapped model, which asks for whole weights",
      only = {FLAT_NOW}, torch = "state = get_model_state_dict(model)\n"
        .. "dcp.load(state, checkpoint_id=path)\nset_model_state_dict(model, state)"},
     {"keep optimizer states as DTensors with the parameter's layout",
      only = {OF_OPTIMIZER}},
     {"save and load with the state-dict helpers", only = {"!" .. FLAT_NOW},
      torch = "sd = dict(zip((\"model\", \"optim\"), get_state_dict(model, optimizer)))\n"
        .. "dcp.load(sd, checkpoint_id=path)  # saved from such a dict\n"
        .. "set_state_dict(model, optimizer, model_state_dict=sd[\"model\"],\n"
        .. "    optim_state_dict=sd[\"optim\"])"},
     {"pad to a multiple of dp * tp, or upgrade for empty shards",
      only = {"!" .. FLAT_NOW}, fixed_in = "2.8"},
   },
   ask = {"World sizes and degrees at saving and at loading?"}},

  {id = "dcp-missing-key",
   name = "a key is missing in the checkpoint",
   signs = {
     {0.96, "Missing key in checkpoint state_dict"},
     {0.6, "~distributed checkpoint|dcp.load|distributed.checkpoint|"
       .. "set_optimizer_state_dict|set_model_state_dict|StateDictOptions",
      "~Missing key|KeyError|missing keys"},
   },
   cause = "Flattened names differ between saving and loading: integer ids "
     .. "of parameters against names, a planner used once only, prefixes of "
     .. "wrappers, entries bound to the number of ranks.",
   fixes = {
     {"save and load through the same state-dict helper and planner",
      torch = "state = {\"model\": get_model_state_dict(model)}  # to save and to load\n"
        .. "dcp.load(state, checkpoint_id=path)\n"
        .. "set_model_state_dict(model, state[\"model\"])"},
     {"strip wrapper prefixes (_checkpoint_wrapped_module, _orig_mod) "
       .. "from the keys before saving and loading"},
     {"allow a partial load: keys that are not saved keep their "
       .. "values",
      torch = "DefaultLoadPlanner(allow_partial_load=True)"},
   },
   ask = {{"Which key, and how was the checkpoint saved?",
     only = {"!/KeyError: '[^']", "!Missing key in checkpoint"}}}},

  {id = "fsdp-divergent-module-execution",
   expects = "a collective that timed out",
   name = "ranks run different FSDP modules",
   signs = {
     {0.93, "/rank %d+ is all%-gathering .- while rank %d+ is all%-gathering"},
     {0.72, "Watchdog caught collective operation timeout",
      "~ALLGATHER_BASE|REDUCE_SCATTER_BASE|_ALLGATHER|REDUCE_SCATTER",
      "=skip_words", "=fsdp"},
     {0.62, "Watchdog caught collective operation timeout",
      "~ALLGATHER_BASE|REDUCE_SCATTER_BASE", "~text-only|text only|pure text|"
       .. "only text|without image|no image|without picture|empty batch"},
     {0.6, "=stuck", "=fsdp", "=skip_words"},
     {0.6, "~some ranks|one rank|other ranks|not all ranks", "=fsdp",
      "~hang|deadlock|timeout|stuck", "~expert|skip|unused|branch|different "
       .. "modules|no image|conditional"},
   },
   cause = "FSDP units communicate when they run. If one rank skips a unit "
     .. "(an expert without tokens, no image in its batch, a skipped step), "
     .. "the ranks disagree on the order of collectives.",
   fixes = {
     {"run every unit on every rank (dummy input times zero)",
      torch = "seen = vision(images if used else dummy)\n"
        .. "h = h + (seen if used else 0 * seen)"},
     {"wrap at a level that always runs"},
     {"stack experts into one parameter, so that each rank runs the "
       .. "same modules"},
     {"decide to skip on a flag that all ranks share",
      torch = "dist.all_reduce(flag)"},
   },
   ask = {{"SeqNum, OpType and NumelIn of each rank's watchdog line?",
     only = {"!/SeqNum ?=[^)]*NumelIn ?="}}}},

  {id = "collective-sequence-mismatch",
   expects = "a collective that timed out",
   name = "ranks are in different collectives",
   signs = {
     {0.96, "Detected mismatch between collectives on ranks"},
     {0.85, "op.preamble.length <= op.nbytes"},
     {0.9, "~Watchdog caught collective operation timeout|timed out in "
       .. "blocking wait", "=seq_differs"},
     {0.9, "=flight_differs"},
     {0.72, "Watchdog caught collective operation timeout", "=seq_apart"},
     {0.9, "~SIZE_OR_SYNTAX_MISMATCH|COLLECTIVE_TYPE_MISMATCH|"
       .. "COLLECTIVE_STATE_MISMATCH|COLLECTIVE_DTYPE_MISMATCH"},
     {0.5, "order of collectives is not same for all ranks", "=dt"},
     {0.72, "~if rank == 0|only on rank 0|rank 0 only|is_main_process|"
       .. "rank zero only|get_rank() == 0|if local_rank == 0|"
       .. "is_rank_zero|not dist.get_rank()", "~full_tensor|redistribute|all_gather|"
       .. "barrier|get_model_state_dict|state_dict",
      "~hang|deadlock|timeout|stuck|Watchdog", "=dt"},
     {0.78, "=collective_of_one_rank", "=stuck", "=dt"},
     {0.7, "=collective_of_one_rank", "=stuck"},
     {0.68, "=stuck", TWO_THREADS, "~same process group|default process group|same group|"
       .. "one process group|same communicator"},
     {0.62, "=stuck", "=names_collective", "=not_all_ranks",
      "!FSDP", "!fully_shard"},
     {0.55, "=stuck", "=dt", "=skip_words", "!=fsdp"},
     {0.56, "~get_model_state_dict|get_state_dict|get_optimizer_state_dict|"
       .. "full_state_dict|_state_dict_utils|rank0_only|save_pretrained|"
       .. "save_model|model saving|saving the model",
      "~hangs|deadlock|stuck|blocks forever|freezes", "=dt"},
     {0.6, "~full_tensor()|aten.equal|torch.equal|redistribute", "~hang|deadlock|stuck|"
       .. "freezes|timeout", "=dt"},
     {0.5, "~hangs|deadlock|Watchdog caught", "=dt",
      "~CollectiveFingerPrint|fr_trace|flight recorder shows|missing ranks"},
   },
   cause = "A collective was called by some ranks only: inside `if rank == "
     .. "0`, when saving on one rank, by equal() on a DTensor. The others "
     .. "wait in another one.",
   causes = {{"Here two threads issue collectives on one group, in no order that all "
     .. "ranks share: the saver's and the program's own.", only = {TWO_THREADS}}},
   fixes = {
     {"give the saver a group of its own", only = {TWO_THREADS},
      torch = "group = dist.new_group(backend=\"gloo\")  # once\n"
        .. "dcp.async_save(state, checkpoint_id=path, process_group=group)"},
     {"wait for the saver before the next collective", only = {TWO_THREADS},
      torch = "saved.result()  # the future of async_save\ndist.barrier()"},
     {"take the collective out of the condition, use its result on one rank",
      lua = "local full = x:full_tensor(); if dt.rank() == 0 then "
        .. "print(full) end",
      torch = "full = x.full_tensor()\nif rank == 0: print(full)"},
     {"let all ranks take the decision together: reduce the flag, then test "
       .. "what came back",
      torch = "skip = torch.tensor(float(skip), device=device)\n"
        .. "dist.all_reduce(skip, op=dist.ReduceOp.MAX)"},
     {"turn the flight recorder on and compare",
      torch = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000"},
   },
   ask = {"The last user frame of each rank?"}},

  {id = "rng-offload-hang",
   name = "the CPU generator does not advance under offload",
   signs = {
     {0.8, "trunc_normal_", "~hang|stuck|never returns|infinite|forever|"
       .. "deadlock|identical|loop"},
     {0.68, "CPUOffloadPolicy", "~init_weights|init.|initializ|initialis",
      "~identical|same values|equal on"},
     {0.66, "~CPUOffloadPolicy|cpu offload|cpu_offload|offload",
      "~init_weights|init.|trunc_normal|initializ|initialis", "~identical|"
       .. "same values|hang|stuck|bit-identical|equal on", "~DTensor|fsdp2|"
       .. "fully_shard"},
   },
   cause = "With offload the random operator runs on the CPU but inside an "
     .. "accelerator's generator region that restores the CPU's state, so "
     .. "the stream never advances; rejection sampling loops for ever.",
   fixes = {
     {"initialise on the accelerator, then offload: its generator "
       .. "advances"},
     {"initialise local tensors with a generator of their own"},
     {"load weights instead of drawing them: set_model_state_dict"},
   },
   ask = {"Which init function, and is offload on?"}},

  {id = "fsdp1-dtensor-legacy",
   name = "FSDP1 together with DTensor",
   signs = {
     {0.85, "'weight' must be 2-D", "=fsdp", "~TP|tensor parallel|DTensor|"
       .. "parallelize_module|tensor_parallel"},
     {0.6, "'weight' must be 2-D", "=fsdp", "!deepspeed", "!zero3"},
     {0.72, "~fully_sharded_data_parallel.py|_flat_param.py|flat_param.py",
      "~DTensor|parallelize_module|tensor parallel|device_mesh",
      "!Must flatten tensors", "!uniform dtype", "!" .. MIXED,
      "!sync_module_states"},
     {0.6, "call resize_() on an invalid python storage", "=fsdp"},
     {0.62, "SHARD_GRAD_OP", "~DTensor|tensor parallel|parallelize_module"},
     {0.5, "~FullyShardedDataParallel|FSDP1", "~parallelize_module|DTensor",
      "~fail|error|SHARD_GRAD_OP", "!fully_shard", "!FSDP2"},
   },
   cause = "Views of FSDP1's flat parameter do not survive re-wrapping as "
     .. "DTensors, or the unwrapped model object is called.",
   fixes = {
     {"migrate to fully_shard, which keeps each parameter a DTensor",
      only = {"!SHARD_GRAD_OP"},
       lua = "dt.fully_shard(model)",
      torch = "fully_shard(model)"},
     {"call the object that FullyShardedDataParallel returned, everywhere"},
     {"or take another strategy, without views that outlive the "
       .. "forward", only = {"!FULL_SHARD"}, torch = "FSDP(model, sharding_strategy="
       .. "ShardingStrategy.FULL_SHARD)"},
   },
   ask = {}},

  {id = "dtensor-serialization",
   name = "pickling a DTensor or a mesh",
   signs = {
     {0.96, "Unsupported global: GLOBAL torch.distributed.tensor"},
     {0.95, "Unsupported global: GLOBAL torch.distributed", "~DTensor|"
       .. "DeviceMesh|placement"},
     {0.93, "pickling/unpickling of the DeviceMesh occurred before"},
     {0.9, "cannot pickle", "_distributed_c10d"},
     {0.9, "Any checkpointing related operations are not supported for "
       .. "DTensor with partial placements"},
     {0.62, "support the deepcopy protocol", "=dt"},
     {0.62, "~torch.save|torch.load|pickle|deepcopy", "DTensor",
      "~fail|error|cannot|unable"},
   },
   cause = "A pickled DTensor holds its mesh and this rank's shard only, and "
     .. "the safe loader has to know its class.",
   fixes = {
     {"import torch.distributed.tensor before loading, which "
       .. "registers the class", fixed_in = "2.6",
      torch = "import torch.distributed.tensor"},
     {"save full tensors or use distributed checkpoints",
      lua = "x:full_tensor()", torch = "torch.save(x.full_tensor(), f)"},
     {"never send a DTensor to a process without its group"},
   },
   ask = {}},

  {id = "devicemesh-pickle-version-skew",
   name = "a mesh pickled by another release",
   signs = {
     {0.95, "/'DeviceMesh' object has no attribute '_", "!/attribute '_flatten'"},
     {0.75, "'DeviceMesh' object has no attribute", "!/attribute '_flatten'",
      "~pickle|torch.load|checkpoint|saved with|resum|another release"},
   },
   cause = "A checkpoint holds a mesh pickled under another release, whose "
     .. "attributes had other names.",
   fixes = {
     {"load with the release that saved, then convert"},
     {"save distributed checkpoints or full tensors instead"},
   },
   ask = {"Which releases saved and loaded?"}},

  {id = "fsdp2-plain-entry-in-sharded-state-dict",
   name = "a plain entry in a sharded state dict",
   signs = {
     {0.93, "'Tensor' object has no attribute 'device_mesh'"},
     {0.9, "'Tensor' object has no attribute 'to_local'"},
     {0.9, "'Tensor' object has no attribute 'placements'"},
     {0.88, "'Parameter' object has no attribute 'device_mesh'"},
     {0.8, "'Tensor' object has no attribute '_local_tensor'"},
     {0.85, "'Tensor' object has no attribute 'full_tensor'"},
     {0.8, "object has no attribute 'device_mesh'", "=loading"},
     {0.75, "object has no attribute 'full_tensor'"},
   },
   cause = "The loader walks a state dict as if every value were a DTensor; "
     .. "buffers and plain optimizer states are not.",
   fixes = {
     {"branch: a state dict may hold plain entries beside DTensors",
       lua = "if v.is_dtensor then v = v:full_tensor() end", x = "v",
      torch = "v.full_tensor() if isinstance(v, DTensor) else v"},
     {"keep optimizer states as DTensors: make them with zeros_like "
       .. "of the parameter"},
   },
   ask = {"Which entry is it?"}},

  {id = "fsdp2-full-state-dict-key",
   name = "a key of the full state dict is missing under FSDP2",
   signs = {
     {0.82, "/KeyError: ['\"][%w_%.]*lm_head", "~fsdp2|fully_shard|"
       .. "fsdp2_load_full_state_dict|fsdp_version"},
     {0.82, "KeyError", "~fsdp2_load_full_state_dict|fsdp2_prepare_model"},
   },
   cause = "The key sets of full and sharded state dict differ, mostly "
     .. "around tied weights.",
   fixes = {
     {"untie the weights, or drop the tied key before loading"},
     {"upgrade the library that prepares the model"},
   },
   ask = {"Are word embeddings tied?"}},

  {id = "fsdp2-scalar-parameter",
   name = "a parameter without dimensions",
   signs = {
     {0.97, "doesn't support salar parameters"},
     {0.97, "doesn't support scalar parameters"},
   },
   cause = "A 0-dimensional parameter has no dimension to shard.",
   fixes = {{"give it the shape (1,): FSDP cuts dimension 0",
       lua = "nn.Parameter(dt.ones(1))",
     torch = "nn.Parameter(torch.ones(1))"}},
   ask = {}},

  {id = "fsdp2-non-float-parameter",
   name = "an integer parameter",
   signs = {
     {0.93, "only Tensors of floating point dtype can require gradients",
      "~_init_sharded_param|fully_shard|fsdp"},
     {0.7, "only Tensors of floating point", "can require gradients",
      "~fully_shard|_fsdp_param", "!bitsandbytes"},
   },
   cause = "Integer storage of a quantised parameter is wrapped again "
     .. "without its requires_grad flag.",
   fixes = {
     {"store as floating point, or keep the flag",
      torch = "nn.Parameter(q, requires_grad=False)",
      only = {"!Cannot flatten integer dtype"}},
     {"fully_shard, which shards each parameter by itself and flattens none",
      torch = "fully_shard(block); fully_shard(model)",
      only = {"Cannot flatten integer dtype"}},
     {"keep the integers in floating-point storage of the same number of bits",
      torch = "BitsAndBytesConfig(load_in_4bit=True,\n"
        .. "    bnb_4bit_quant_storage=torch.bfloat16)",
      only = {"~bitsandbytes|4bit|4-bit|qlora|nf4|bnb"}},
     {"or leave them out: each rank keeps them whole",
      torch = "FSDP(model, ignored_states=[p for p in model.parameters()\n"
        .. "    if not p.is_floating_point()])",
      only = {"Cannot flatten integer dtype"}},
     {"or ignore those parameters: each rank keeps them whole",
      torch = "fully_shard(m, ignored_params={p for p in m.parameters()\n"
        .. "    if not p.is_floating_point()})",
      only = {"!Cannot flatten integer dtype"}},
   },
   ask = {}},
}
