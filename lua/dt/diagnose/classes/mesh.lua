-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/mesh.lua: meshes, redistribution, distributing, views
-- and operators over them.  The form of a class: classes/mixed.lua.

local axes = require "dt.diagnose.axes"

local MISSING = "does not have a sharding strategy registered"
local MIXED = "got mixed torch.Tensor and DTensor"

return {
  {id = "submesh-of-submesh",
   name = "a slice of a mesh that is itself a slice",
   signs = {
     {1.0, "Cannot create a submesh from a submesh"},
     {0.93, "You are attempting to slice a submesh from another submesh"},
     {0.55, "~submesh from submesh|submesh of a submesh|slice a submesh|"
       .. "sub-mesh of a sub-mesh", "=dt"},
   },
   cause = "A mesh got by slicing was sliced again: HSDP code asking for its "
     .. "shard axis, or the float8 all-gather hook doing it inside. Releases "
     .. "2.5 to 2.8 refuse; 2.9 warns, later ones say nothing.",
   fixes = {
     {"upgrade (FSDP2's float8 hook slices the root since 2.7)",
      fixed_in = "2.9"},
     {"slice from the root mesh", lua = 'root["fsdp"]',
      torch = 'root["fsdp"]'},
     {"fewer dimensions: drop the third one, so that no slice is "
       .. "needed"},
     {"switch the float8 all-gather off",
      lua = "float8.Float8LinearConfig{enable_fsdp_float8_all_gather = false}",
      torch = "Float8LinearConfig(enable_fsdp_float8_all_gather=False)"},
   },
   ask = {"Which library slices the second time?"}},

  {id = "invalid-mesh-dim-name",
   name = "a mesh has no dimension of that name",
   signs = {
     {0.98, "Invalid mesh_dim_names", "specified"},
     {0.98, "Invalid mesh_dim_name", "specified"},
     {0.98, "Mesh dimension", "does not exist", "Available mesh dimensions are"},
     {0.97, "Cannot slice a DeviceMesh without mesh_dim_names"},
     {0.97, "Cannot flatten a DeviceMesh without mesh_dim_names"},
     {0.96, "Each mesh_dim_name must be unique"},
     {0.96, "mesh_shape and mesh_dim_names should have same length"},
     {0.96, "already exists for submesh of the"},
     {0.96, "has been created before, Please specify another valid"},
     {0.95, "only allows slicing out a contiguous flattened dim"},
     {0.95, "Slicing overlapping dim_names"},
     {0.95, "No `mesh_dim_names` found"},
     {0.95, "Mesh dim indices should be in ascending order"},
     {0.95, "Mesh dim name", "not found in mesh.mesh_dim_names"},
     {0.93, "is not available. Ensure the corresponding parallelism dimension "
       .. "is enabled"},
     {0.93, "which has no dimension for FSDP to shard across"},
     {0.85, "KeyError", "~mesh_dim_names|get_mesh_dim_by_name|_get_slice_mesh",
      "=mesh"},
     {0.66, "KeyError", "/mesh%[['\"`]", "=mesh"},
     {0.5, "~dp_shard_cp|mesh_dim_names", "~KeyError|no such dim|not a valid"},
   },
   cause = "The framework asks for an axis that was not created, often a "
     .. "flattened one whose size would be 1, or asks a sub-mesh instead of "
     .. "the root.",
   fixes = {
     {"create the flattened axis before use", made = axes.joined,
      lua = 'mesh[{"dp_shard", "cp"}]:_flatten("dp_shard_cp")',
      torch = 'mesh["dp_shard", "cp"]._flatten("dp_shard_cp")'},
     {"make the mesh with that dimension too, of size 1 where nothing is split over "
        .. "it", made = axes.with_dimension},
     {"ask for one of the names the message lists, on the root mesh",
      made = axes.listed},
     {"do not enable FSDP when the whole world is tensor parallel"},
   },
   ask = {"How is the mesh created, with which names and sizes?"}},

  {id = "mesh-dim-required",
   name = "a mesh of several dimensions where one was expected",
   signs = {
     {0.98, "Found the DeviceMesh have", "dimensions"},
     {0.97, "Optional kwarg `mesh_dim` needs to be specified"},
     {0.9, "DeviceMesh process groups not initialized"},
     {0.6, "get_group", "~multi-dim|n-d|2d mesh|2-d|nd mesh", "DeviceMesh"},
   },
   cause = "A function for one mesh dimension got a mesh with several, "
     .. "usually in a library written for a 1-D mesh.",
   fixes = {
     {"pass one axis of the mesh, the one whose group is meant",
       lua = 'mesh["tp"]', torch = 'mesh["tp"]'},
     {"name the dimension whose group is meant", lua = 'mesh:get_group("tp")',
      torch = 'mesh.get_group(mesh_dim="tp")'},
     {"or ask for all of them, one group for each dimension",
       torch = "mesh.get_all_groups()"},
   },
   ask = {}},

  {id = "mesh-larger-than-world",
   name = "the mesh needs more ranks than there are",
   signs = {
     {0.98, "Mesh should not be bigger than default world size"},
     {0.95, "Invalid parallel dims", "WORLD_SIZE"},
     {0.95, "ParallelismConfig total_size", "does not match"},
     {0.95, "Each device mesh dimension should get only one process group"},
     {0.93, "Mesh tensor", "DeviceMesh", "ranks list must not contain duplicate"},
     {0.8, "ranks list must not contain duplicate entries", "=mesh"},
     {0.55, "~larger than world size|bigger than world size|exceeds the world "
       .. "size|exceeds world size", "=mesh"},
   },
   cause = "The product of the axis sizes exceeds the number of processes, "
     .. "or ranks are named twice, or each rank builds another mesh.",
   fixes = {
     {"start as many processes as the mesh has ranks, or shrink an axis"},
     {"build it equally on all ranks",
      lua = 'dt.init_device_mesh("cpu", {2, 2})',
      torch = 'init_device_mesh("cuda", (2, 2))'},
   },
   ask = {"How many processes were started?"}},

  {id = "redistribute-to-partial",
   name = "redistributing to Partial",
   signs = {
     {0.98, "redistributing to Partial is for internal use only"},
     {0.98, "only Shard to Partial(sum) redistribution is supported"},
     {0.95, "to Partial", "conversion is not supported", "=dt"},
     {0.93, "only support replicate to PartialSUM"},
     {0.85, "/redistribute from .- to .-Partial.- not supported yet"},
     {0.85, "/redistribute from .- to P%(%l+%) not supported yet"},
     {0.55, "redistribute", "~to Partial|Partial(avg)|Partial(sum) to",
      "=dt", "~fail|error|wrong|no-op|not supported|unsupported"},
   },
   cause = "Partial is a sum still to be made; a user cannot create the "
     .. "addends. Degenerate sizes lead here: one token cannot be sharded, "
     .. "stays Replicate, and a later contract wants Partial.",
   fixes = {
     {"ask for Replicate or Shard", lua = 'x:redistribute(mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"},
     {"let the producing operator give the Partial (reduce a sharded dim)"},
     {"equal source and target are allowed: leave it Partial where it "
       .. "is one", fixed_in = "2.10"},
   },
   ask = {"From which placement, for which shape?"}},

  {id = "redistribute-cross-mesh",
   name = "moving a tensor to another mesh",
   signs = {
     {0.97, "Cross device mesh comm not supported yet"},
     {0.95, "Cannot distribute a DTensor with device mesh", "to a different "
       .. "device mesh"},
     {0.6, "redistribute", "~another mesh|different mesh|across meshes|"
       .. "cross mesh|other mesh|different device mesh|new mesh", "=dt"},
   },
   cause = "Redistribution changes placements on one mesh. Another mesh, "
     .. "device type or set of ranks needs an explicit way.",
   fixes = {
     {"gather, then distribute on the new mesh",
      lua = 'dt.distribute_tensor(x:full_tensor(), mesh2, "S(0)")',
      torch = "distribute_tensor(x.full_tensor(), mesh2, [Shard(0)])"},
     {"keep one root mesh and slice it"},
   },
   ask = {"Do the meshes have the same ranks and device type?"}},

  {id = "view-flatten-sharded-dim",
   expects = "shapes that do not fit",
   name = "a view flattens a sharded dimension",
   signs = {
     {0.98, "Attempted to flatten sharded dimension"},
     {0.98, "Attempted to flatten multiple dimensions, with dimension"},
     {0.97, "Cannot flatten unevenly sharded tensor"},
     {0.97, "Attempted to flatten unevenly sharded dimension"},
    {0.97, "Attempted to flatten an unevenly sharded dimension"},
     {0.93, "This operation would remove or reshape sharded dimension"},
     {0.9, "only the leftmost dim of a Flatten can be sharded"},
     {0.86, "is invalid for input of size", "=dt", "=view_of_shard",
      "!=attention_frame"},
     {0.6, "~aten.view|aten._unsafe_view|reshape|flatten", "=dt",
      "~requires redistribution|without redistribution|cannot be performed"},
     {0.6, "=flattens", "=dt", "~uneven|unequal|not divisible"},
   },
   cause = "Flattening (B, S, D) to (B*S, D) with S sharded leaves no "
     .. "contiguous block per rank. A linear layer on 3-D input makes this "
     .. "view inside, so it shows without a view in your code.",
   fixes = {
     {"upgrade: an evenly sharded inner dimension works",
      fixed_in = "2.12", only = {"!~uneven|not evenly|unequal"}},
     {"shard the leftmost dimension, or replicate, before the layer",
      lua = 'x:redistribute(mesh, "S(0)")',
      torch = "x.redistribute(placements=[Shard(0)])"},
     {"gather at the module's boundary",
      lua = "tp.PrepareModuleInput{input_layouts = Shard(1), "
        .. "desired_input_layouts = Replicate()}",
      torch = "PrepareModuleInput(input_layouts=Shard(1),\n"
        .. "                   desired_input_layouts=Replicate())"},
     {"reshape instead of view, where moving is fine"},
   },
   ask = {"Which module calls the view, and how is its input sharded?"}},

  {id = "view-unflatten-uneven",
   name = "a view splits a dimension the mesh does not divide",
   signs = {
     {0.98, "Cannot unflatten unevenly sharded tensor"},
     {0.97, "is not divisible by its mesh dimension"},
     {0.97, "Cannot unflatten tensor with _StridedShard placement"},
     {0.96, "Attempted to split the sharded dimension"},
     {0.95, "Cannot shard unevenly distributed tensor: dimension"},
     {0.6, "~unflatten|view", "=dt", "~not divisible|not evenly divisible|"
       .. "uneven", "!=flattens"},
   },
   cause = "Splitting a sharded dimension (heads*head_dim to heads, head_dim) "
     .. "needs the first factor divisible by the number of shards. Fewer kv "
     .. "heads than tp, or a state-dict converter on FSDP shards, lead here.",
   fixes = {
     {"choose a degree that divides the size"},
     {"replicate, reshape, shard again (moves the whole tensor once)",
      lua = 'x:redistribute(mesh, "R"):view{4, 4, 4}',
      torch = "x.redistribute(placements=[Replicate()]).view(...)"},
     {"shard a dimension that the view keeps",
      lua = 'x:redistribute(mesh, "S(0)")',
      torch = "x.redistribute(placements=[Shard(0)])"},
   },
   ask = {"Which size is split, over how many ranks?"}},

  {id = "sharding-propagation-failed",
   name = "a sharding rule failed inside",
   signs = {
     {0.85, "no valid sharding strategy for the input placements"},
     {0.7, "/Sharding propagation failed for [%w_]+[%.%(]"},
     {0.7, "Sharding propagation failed on op"},
     {0.8, "Sharding propagation failed", "~AssertionError|IndexError|"
       .. "TypeError|list index out of range|not enough values",
      "!register_sharding"},
     {0.9, "sharded two different ways"},
     {0.9, "doesn't support bias", "_scaled_mm on DTensors"},
     {0.4, "=dt", "~sharding propagation|sharding prop"},
   },
   cause = "A rule raised while it worked out the result's layout; this line "
     .. "wraps the real reason, which stands before it. Lists or None as "
     .. "shapes, symbolic sizes and optional tensors are common reasons.",
   fixes = {
     {"look at the exception before this one"},
     {"an AssertionError or IndexError inside torch's _ops is a fault of "
        .. "PyTorch: upgrade, or replicate the inputs",
      lua = 'x:redistribute(mesh, "R")',
      torch = "x.redistribute(placements=[Replicate()])"},
   },
   ask = {"The whole chained traceback, please."}},

  {id = "from-local-uneven-shape",
   name = "from_local with pieces of unequal size",
   signs = {
     {0.97, "Please pass both shape and stride at the same time"},
     {0.96, "Inconsistent tensor metadata (including shape and stride)"},
     {0.62, "from_local", "~uneven|not evenly|different sizes|unequal|"
       .. "different shapes|non-uniform", "~shape|size", "=dt"},
     {0.6, "from_local", "~uneven|not evenly|different sizes|unequal|"
       .. "different number of rows|non-uniform", "~full_tensor|run_check|rows"},
     {0.7, "~uneven|unequal|not divisible", "~infer|infers|inferring|"
       .. "inferred|inference of the", "~global size|global shape|logical size|"
       .. "logical shape|shape inference|original size", "DTensor"},
     {0.68, "~uneven|not evenly|unequal", "~wrong size|wrong shape|incorrect size|"
       .. "size mismatch", "~full_tensor|from_local|to_local", "=dt"},
     {0.55, "DTensor.from_local", "~wrong shape|incorrect shape|global shape",
      "!SequenceParallel"},
   },
   cause = "from_local multiplies the local size by the mesh size, so "
     .. "unequal pieces give each rank another global shape.",
   fixes = {
     {"pass shape and stride of the whole tensor: the pieces differ "
       .. "in size",
      lua = "DTensor.from_local(x, mesh, {Shard(0)}, {shape = {10, 4}, "
        .. "stride = {4, 1}})",
      torch = "DTensor.from_local(x, mesh, [Shard(0)], shape=torch.Size("
        .. "[10, 4]), stride=(4, 1))",
      adds = {calls = {"from_local"}, {"shape", "full_shape"},
        {"stride", "full_stride"}}},
     {"make the pieces follow chunk: the larger ones first"},
     {"distribute the full tensor from one rank instead of joining "
       .. "pieces", lua = 'dt.distribute_tensor(x, mesh, '
        .. '"S(0)")', torch = "distribute_tensor(x, mesh, [Shard(0)])"},
   },
   ask = {"What is the local shape on each rank?"}},

  {id = "distribute-misuse",
   name = "a constructor of distributed tensors used in the wrong place",
   signs = {
     {0.98, "should be used to distribute leaf tensors"},
     {0.97, "must have the same length as `device_mesh.ndim`"},
     {0.96, "Cannot distribute a DTensor with placements", "do you want to "
       .. "call `redistribute` instead"},
     {0.95, "placements is needed for redistribute"},
     {0.93, "No device mesh is currently active"},
     {0.93, "the local_tensor argument only accepts torch.Tensor"},
     {0.88, "distribute_module should only be called once on a module"},
     {0.92, "in placements", "must be normalized", "Shard dim"},
     {0.92, "Trying to distribute tensor with unsupported placements"},
     {0.92, "output_fn should take in 3 arguments"},
     {0.9, "Mixed Partial reduce types are not supported"},
     {0.9, "mesh dimension does not match the length of placements"},
     {0.9, "DeviceMesh dimension can", "be mapped to two dimension of the "
       .. "same tensor"},
     {0.86, "To use DTensor API with xla, you must install the torch_xla"},
   },
   cause = "distribute_tensor was called on a tensor inside the graph, on one "
     .. "that is distributed already, with a wrong number of placements, or "
     .. "without a mesh.",
   fixes = {
     {"inside the graph use from_local",
      lua = "DTensor.from_local(x, mesh, {Shard(0)})",
      torch = "DTensor.from_local(x, mesh, [Shard(0)])"},
     {"to change a layout use redistribute",
      lua = 'x:redistribute(mesh, "S(0) R")',
      torch = "x.redistribute(placements=[Shard(0), Replicate()])"},
     {"give one placement for each mesh dimension, Replicate where it "
       .. "is not cut"},
   },
   ask = {}},

  {id = "strided-shard-order",
   name = "two shards of one dimension in the other order",
   signs = {
     {0.62, "StridedShard", "~full_tensor|wrong order|permuted|incorrect|"
       .. "garbage|order of|uneven|reload|resume|wrong result",
      "!does not support _StridedShard"},
     {0.6, "~FSDP2 + TP|fsdp + tp|fsdp and tp|2d parallel|FSDP2+TP|2-D",
      "full_tensor", "~wrong|incorrect|permuted|mismatch|order"},
     {0.55, "~Shard(0), Shard(0)|Shard(dim=0), Shard(dim=0)",
      "~full_tensor|order|permuted", "~wrong|incorrect|permuted|mismatch",
      "!hybrid sharding"},
     {0.55, "full_tensor", "~FSDP-2|FSDP2|FSDP 2|fully_shard",
      "~tensor parallel|TP", "!clip_grad", "!grad_norm", "!hang", "!" .. MIXED,
      "!rank == 0"},
     {0.45, "_StridedShard", "=dt"},
     {0.8, "calculating full tensor", "split_factor"},
   },
   cause = "FSDP shards after tensor parallelism on the same dimension, so "
     .. "the data lie in tp order while (Shard(0), Shard(0)) means dp order. "
     .. "_StridedShard records it; code that drops it permutes rows.",
   fixes = {
     {"upgrade: FSDP2 with TP 2.5, uneven strided shards 2.8 and 2.10",
      fixed_in = "2.10"},
     {"do not rebuild such a tensor with plain Shard"},
     {"choose sizes that divide evenly by both degrees"},
   },
   ask = {"Which placements does the parameter print?"}},

  {id = "strided-shard-op-rules",
   name = "a rule that ignores _StridedShard",
   signs = {
     {0.93, "does not support _StridedShard"},
     {0.8, "~softmax|layer_norm|transpose|.sum|concat|aten.cat|slice|unbind|"
       .. "aten.select", "_StridedShard",
      "~wrong|incorrect|ignore|lose|lost|not support|fail|error",
      "!full_tensor"},
     {0.75, "Attempted to unbind along the sharded dimension", "StridedShard"},
     {0.72, "redistribute from", "StridedShard", "not supported"},
     {0.7, "__name__ ==", "StridedShard", "Shard"},
     {0.75, "Can only convert _StridedShard to ordered Shard"},
   },
   cause = "Rules that test for Shard with an exact dimension lose the split "
     .. "factor, or do not see that the dimension is sharded.",
   fixes = {
     {"upgrade: more rules keep the split factor", fixed_in = "2.12"},
     {"redistribute to plain Shard or Replicate before the operator",
      lua = 'x:redistribute(mesh, "R R")',
      torch = "x.redistribute(placements=[Replicate(), Replicate()])"},
   },
   ask = {}},

  {id = "optional-argument-rule-bug",
   name = "a rule that wants an argument which is None",
   signs = {
     {0.85, "~layer_norm_backward|native_layer_norm_backward",
      "~output_mask|IndexError|AssertionError|[True, False",
      "=dt", "!" .. MIXED, "!" .. MISSING},
     {0.93, "output_mask[1] should not be"},
     {0.93, "output_mask[2] should not be"},
     {0.85, "~_conv_ops.py|convolution_rules", "~bias|None", "=dt",
      "!" .. MIXED},
     {0.75, "~_math_ops.py|math_ops.py", "~IndexError|AssertionError",
      "!" .. MIXED, "!" .. MISSING, "!in-place operations that"},
     {0.6, "~bias=None|bias=False|without bias|no bias", "~conv2d|convolution",
      "=dt", "!" .. MIXED, "!" .. MISSING},
     {0.55, "~layer_norm|layernorm|rms_norm", "~frozen|requires_grad=False|"
       .. "elementwise_affine=False|freeze", "=dt",
      "~IndexError|AssertionError|fail"},
   },
   cause = "The rule was written for the usual signature; a missing bias or "
     .. "a frozen parameter changes which arguments and gradients there are.",
   fixes = {
     {"upgrade: the rule of layer_norm's backward takes a frozen weight",
      fixed_in = "2.5"},
     {"pass a zero bias, or do not freeze the parameter"},
     {"run the layer on local tensors until the rule is mended"},
   },
   ask = {"Which optional argument is None; what requires a gradient?"}},

  {id = "conv-tp-unsupported", of_operator = "convolution convolution_backward",
   name = "a convolution with a shard it cannot handle",
   signs = {
     {0.97, "for tensor parallel convolution"},
     {0.95, "tp_convolution", "requires supported stride"},
     {0.85, "_tp_conv.py"},
     {0.72, "~conv2d|conv3d|convolution", "=dt", "~shard|placement|tp",
      "~stride|padding|patch|wrong grad|gradient placement|backward",
      "!" .. MIXED, "!" .. MISSING, "!_conv_ops.py"},
     {0.7, "~Conv3d|patch_embed", "~tp_plan|tensor parallel|tensor_parallel",
      "~fail|error"},
   },
   cause = "A sharded convolution exchanges its borders, which works for few "
     .. "strides, kernels and paddings, and old releases check them even "
     .. "when only the batch is sharded.",
   fixes = {
     {"shard only the batch, or replicate",
      lua = 'x:redistribute(mesh, "S(0)")',
      torch = "x.redistribute(placements=[Shard(0)])"},
     {"write a patch embedding (kernel = stride) as unfold and linear"},
     {"upgrade: a batch-only shard has a rule there", fixed_in = "2.12"},
     {"leave the vision tower out of the plan"},
   },
   ask = {"Stride, padding, kernel, and which dimension is sharded?"}},

  {id = "vocab-parallel-mask",
   name = "the mask of a row-sharded embedding is lost",
   signs = {
     {0.96, "MaskBuffer has not been materialized"},
     {0.96, "MaskBuffer has been materialized with conflicting data"},
     {0.93, "needs to be set for _MaskPartial"},
     {0.8, "~_MaskPartial|MaskPartial|mask_buffer|MaskBuffer", "=dt"},
    {0.8, "mask_buffer", "embedding", "~TP|tensor parallel|FSDP"},
     {0.7, "~mask not materialized|mask is not materialized", "embedding", "=dt"},
     {0.6, "~two embeddings|vocab parallel|vocab-parallel|RowwiseParallel",
      "embedding", "~mask|AssertionError", "~compile|same size|shared"},
   },
   cause = "A row-sharded embedding masks foreign ids and keeps the mask "
     .. "inside its placement; caching or tracing shares or loses it.",
   fixes = {
     {"upgrade: two embeddings 2.5, under compile 2.13", fixed_in = "2.13"},
     {"shard the feature dimension of the embedding, which needs no "
       .. "mask", lua = "tp.ColwiseParallel()",
      torch = "ColwiseParallel()"},
   },
   ask = {"How many embeddings? Is the model compiled?"}},

  {id = "implicit-redistribution-forbidden",
   name = "communication where it was forbidden",
   signs = {
     {0.98, "ExplicitRedistributionContext", "redistribution",
      "!SpmdTypeError"},
     {0.97, "ImplicitRedistributionError"},
     {0.95, "Implicit redistribution occurred for", "!SpmdTypeError"},
   },
   cause = "You asked to be told of implicit redistribution, and this "
     .. "operator needed one.",
   fixes = {
     {"redistribute explicitly before it, where the code shows the "
       .. "cost",
      lua = 'x = x:redistribute(mesh, "S(0)")',
      torch = "x = x.redistribute(placements=[Shard(0)])"},
     {"or let the producer give the layout that is wanted"},
   },
   ask = {}},

  {id = "tp-axis-size-one",
   name = "a tensor parallel axis of size 1",
   signs = {
     {0.8, "=mesh_of_one", "~index out of range|IndexError|list index|"
       .. "too few strategies", "=dt"},
     {0.78, "=size_one", "~index out of range|IndexError|list index|"
       .. "too few strategies", "=dt"},
     {0.6, "=size_one", "=dt", "~fail|error|not work|cannot work"},
   },
   cause = "Rules skip an axis of size 1 and return too few strategies.",
   fixes = {{"do not parallelize when the axis has size 1: leave it out of the "
     .. "mesh", lua = "if mesh:size(1) > 1 then tp.parallelize_module(...) end",
     torch = "if tp_mesh.size() > 1: parallelize_module(model, tp_mesh, plan)"},
     {"upgrade: size-1 axes were mended one rule at a time, 2.6 on",
      fixed_in = "2.6"}},
   ask = {"Is an axis of the mesh of size 1?"}},

  {id = "mesh-dim-group-missing",
   name = "this rank has no group for a mesh dimension",
   signs = {
     {0.9, "_dim_group_infos", "list index out of range"},
     {0.85, "~create_sub_mesh|_dim_group_infos", "~list index out of range|"
       .. "IndexError"},
     {0.85, "_dim_group_names", "list index out of range"},
   },
   cause = "The mesh's axes multiply to more ranks than were started, so "
     .. "this rank belongs to no group of the axis.",
   fixes = {
     {"start as many processes as the configured axes multiply to"},
     {"set the replicate size to 1, or start as many processes as the "
       .. "sizes need"},
   },
   ask = {"Number of processes and the configured sizes?"}},

  {id = "hybrid-sharding-unsupported",
   name = "random initialisation of a tensor sharded twice",
   signs = {
     {0.97, "does not support things like hybrid sharding strategies"},
     {0.93, "is already sharded on mesh dim"},
   },
   cause = "The random generator's offsets are worked out for one shard per "
     .. "tensor dimension only.",
   fixes = {
     {"initialise before the second sharding, while the dimension is "
       .. "cut once"},
     {"fill the local tensor: each rank draws its own piece",
       lua = "x:to_local():normal_()",
      torch = "x.to_local().normal_()"},
   },
   ask = {}},

  {id = "pin-memory-dtensor",
   name = "pinning the memory of a DTensor",
   signs = {
     {0.95, "NYI: aten._pin_memory"},
     {0.8, "~_pin_memory|pin_memory", "DTensor", "~NYI|not implemented|"
       .. "NotImplemented|strategy"},
   },
   cause = ".cpu() of a DTensor is a DTensor, and pinning has no rule.",
   fixes = {{"pin the local tensor; the DTensor has no storage of its own",
       torch = "x.to_local().pin_memory()"}},
   ask = {}},

  {id = "xla-sharded-tensor",
   name = "XLA's own sharded tensor",
   signs = {
     {0.95, "XLAShardedTensor", "~AttributeError|has no attribute|"
       .. "isFunctionalTensor|not an XLA tensor|INTERNAL ASSERT"},
     {0.93, "isFunctionalTensor", "~xla|XLA"},
     {0.85, "Input tensor is not an XLA tensor", "~DTensor|shard|spmd|mesh"},
     {0.8, "XLAShardedTensor"},
     {0.7, "~torch_xla|PyTorch/XLA|xla_spmd|xla device", "=dt",
      "~DTensor|parallelize_module|distribute_tensor",
      "~fail|error|not support|does not|INTERNAL"},
   },
   cause = "On XLA devices distribute_tensor returns another wrapper, driven "
     .. "by annotations. Code that replaces parameters or expects DTensor's "
     .. "attributes breaks on it.",
   fixes = {
     {"place the parameters by hand instead of parallelize_module",
      lua = 'nn.Parameter(dt.distribute_tensor(w, mesh, "S(0)"))',
      torch = "nn.Parameter(distribute_tensor(w, mesh, [Shard(0)]))"},
     {"use XLA's SPMD interface throughout",
      torch = "xs.mark_sharding(t, mesh, spec)"},
     {"upgrade torch_xla with torch: both have to be of one release"},
   },
   ask = {{"Versions of torch and torch_xla?", only = {"!/torch_xla[^%w]+%d"}}}},

  {id = "collective-wrong-device",
   name = "a collective on a tensor of another device",
   signs = {
     {0.97, "Attempt to perform collective on tensor not on device passed to "
       .. "init_process_group"},
     {0.6, "parallelize_module", "~set_device|device_id",
      "~wrong device|DistBackendError|cuda:0"},
   },
   cause = "A collective made when tensors are distributed used the current "
     .. "device, and set_device was not called, or late. Release 2.6.0 did "
     .. "this in any parallelize_module.",
   fixes = {
     {"set the device first: collectives run on the current one",
      torch = "torch.cuda.set_device(local_rank)  # before anything else"},
     {"upgrade: parallelize_module no longer needs the device set before",
      fixed_in = "2.7"},
     {"no traffic at start: keep each rank's own values",
       torch = "parallelize_module(..., "
        .. "src_data_rank=None)"},
   },
   ask = {"Was device_id passed to init_process_group?"}},
}
