-- SPDX-License-Identifier: MIT
-- dt/diagnose/classes/more.lua: further silent traps, classes of messages of
-- 2.14 and later, and families that are known by the names of exceptions and
-- classes alone (`family`: nothing surer is claimed).  The form of a class:
-- classes/mixed.lua.

local MIXED = "got mixed torch.Tensor and DTensor"
local MISSING = "does not have a sharding strategy"

-- No error text besides.
local function quiet(score, ...)
  local s = {score, ...}
  for _, no in ipairs {"!" .. MIXED, "!" .. MISSING, "!=raises"} do
    s[#s + 1] = no
  end
  return s
end

return {
  {id = "partial-read-as-value", trap = 1,
   name = "the local part of a Partial tensor read as its value",
   signs = {
     quiet(0.68, "Partial", "=reads_local", "=per_rank", "!grad_placements"),
     quiet(0.68, "Partial", "=reads_local", "=per_rank_words",
       "!grad_placements"),
     quiet(0.68, "Partial", "=reads_local", "=sum_right", "!grad_placements"),
     quiet(0.64, "=reads_reduction", "~Shard(|Partial", "~only the local|"
       .. "local tensor only|the local tensor|local part|local value|own "
       .. "part|one half|norm of half|not the whole"),
     quiet(0.6, "Partial", "to_local", "=sum_right", "!gradient",
       "!backward"),
     quiet(0.58, "Partial", "to_local", "=per_rank_words", "!gradient",
       "!backward"),
   },
   cause = "A Partial tensor is a sum that is still to be made: each rank "
     .. "holds one addend. to_local() and what reads it give that addend, so "
     .. "every rank shows another number and only their sum is the value.",
   fixes = {
     {"reduce, then read: every rank gets the value",
      lua = "out:full_tensor():mean()", torch = "out.full_tensor().mean()",
      rewrite = {{".to_local()", ".full_tensor()"},
        {".item()", ".full_tensor().item()"}}},
     {"or reduce once and keep the DTensor, when it is used again",
      lua = 'out = out:redistribute(mesh, "R")',
      torch = "out = out.redistribute(placements=[Replicate()])"},
   },
   ask = {"What does print(x.placements) show for the tensor you read?"}},

  {id = "inplace-on-partial", of_operator = true, trap = 4,
   name = "an in-place operator on a Partial tensor kept old values",
   signs = {quiet(0.6, "Partial", "~in-place|inplace|clamp_|mul_|in place",
     "~stale|old value|not updated|no effect|unchanged|wrong|relabel")},
   cause = "The operator worked on a reduced copy; the tensor got the new "
     .. "placement and kept its old local values.",
   fixes = {{"the out-of-place form, on the reduced tensor",
     lua = 'x = x:redistribute(mesh, "R"):clamp(0)',
     torch = "x = x.redistribute(placements=[Replicate()]).clamp(min=0)"},
     {"upgrade: the operator raises there instead of keeping old "
       .. "values", fixed_in = "2.10"}},
   ask = {"Which operator, and what are x.placements before and after it?"}},

  {id = "partial-type-confusion", trap = 5,
   name = "a sum and an average of Partial were mixed up",
   signs = {
     quiet(0.62, "Partial", "~Partial(avg)|avg partial|Partial(\"avg\")|"
       .. "Partial('avg')|reduce_op=avg", "~no-op|no op|ignored|wrong|"
       .. "too large|too small|scaled|instead of", "!from_local"),
     quiet(0.6, "NormPartial", "~torch.sum|.sum(|torch.mean|.mean(|addition",
       "~wrong|incorrect|correctness", "!clip_grad", "!grad_norm"),
   },
   cause = "Partial carries how its addends are combined. A change from sum "
     .. "to avg (or max) without reducing first alters the value.",
   fixes = {{"reduce first, then build the other one",
     lua = 'x = x:redistribute(mesh, "R")',
     torch = "x = x.redistribute(placements=[Replicate()])"}},
   ask = {"Which reduction does x.placements print, and which was meant?"}},

  {id = "loss-parallel-handler-scope", trap = 16,
   name = "loss_parallel changes log_softmax outside the loss too",
   signs = {
     quiet(0.66, "loss_parallel", "log_softmax", "~gradient|backward",
       "~outside|wrong|other log_softmax|after an exception"),
     quiet(0.78, "loss_parallel", "log_softmax", "~gradient|backward",
       "~identity|not consumed|no Jacobian|returned unchanged"),
   },
   cause = "Inside the context every log_softmax over a sharded class "
     .. "dimension gets the loss's own backward, also one that is no loss.",
   fixes = {{"keep the context around the loss and its backward only",
     torch = "with loss_parallel():\n    F.cross_entropy(logits, y).backward()"}},
   ask = {"Which log_softmax calls run inside the context?"}},

  {id = "rng-layout-dependence", trap = 18,
   name = "random numbers depend on the layout",
   signs = {
     quiet(0.64, "=dt", "~random|dropout|init|seed", "~same values on|"
       .. "identical values on|identical on all|same mask|depends on the "
       .. "number of|depends on the shard|depends on world|identical draws|"
       .. "same random|equal shards|layout", "!CPUOffload", "!cpu_offload",
       "!single gpu", "!from_local"),
   },
   cause = "Draws are offset by the shard, so values change with the sharded "
     .. "dimension and the number of ranks; ranks that are no part of the "
     .. "mesh's axes draw from their own seeds.",
   fixes = {{"the same seed on all ranks of one model",
     lua = "dt.manual_seed(0)", torch = "torch.manual_seed(0)"},
     {"initialise one full tensor and distribute it",
      lua = 'dt.distribute_tensor(w, mesh, "S(0)")',
      torch = "distribute_tensor(w, mesh, [Shard(0)])"}},
   ask = {"Which values, on which ranks, and where is the seed set?"}},

  {id = "checkpoint-order", trap = 26,
   name = "shards of a checkpoint joined in another order",
   signs = {
     quiet(0.6, "~checkpoint|resume|reload", "~world size|number of gpus|"
       .. "number of ranks|different number|other number",
       "~gibberish|wrong order|concatenated|permuted|loss jumps|"
       .. "loss goes up|loss is high|wrongly loaded|loaded incorrectly",
       "~fsdp|DTensor|shard|tp"),
   },
   cause = "The shards were saved without saying where they belong, or with "
     .. "another order of axes; at the same number of ranks it goes unnoticed.",
   fixes = {{"save DTensors with their placements, or full tensors",
     lua = "x:full_tensor()", torch = "get_model_state_dict(model)"},
     {"compare one full tensor before saving and after loading",
      torch = "torch.equal(w.full_tensor(), w_before)"}},
   ask = {"Does loading at the old number of ranks give the right loss?"}},

  {id = "cross-mesh-noop", trap = 29,
   name = "moving to another mesh left the data where they were",
   signs = {quiet(0.62, "redistribute", "~another mesh|different mesh|"
     .. "other mesh|second mesh", "~no-op|does nothing|stays on|unchanged|"
     .. "same device|silently")},
   cause = "redistribute compares placements; with equal ones on another mesh "
     .. "nothing is moved.",
   fixes = {{"gather, then distribute on the other mesh",
     lua = 'dt.distribute_tensor(x:full_tensor(), mesh2, "S(0)")',
     torch = "distribute_tensor(x.full_tensor(), mesh2, [Shard(0)])"}},
   ask = {"The ranks and devices of both meshes?"}},

  {id = "one-element-implicit-replicate", trap = 30,
   name = "a plain tensor of one element was taken as replicated",
   signs = {
     {0.62, "implicitly creating a replicated DTensor", "!" .. MIXED,
      "!" .. MISSING},
   },
   cause = "A plain tensor with one element is taken as the same on every "
     .. "rank; if the ranks disagree, each goes on with its own value.",
   fixes = {{"distribute it with the placement it has",
     lua = 'dt.distribute_tensor(s, mesh, "R")',
     torch = "distribute_tensor(s, mesh, [Replicate()])"},
     {"a 0-dimensional tensor or a Python number says what is meant",
      torch = "s = s.reshape(())"}},
   ask = {"Is the one-element tensor the same on all ranks?"}},

  {id = "conv-backward-placement", of_operator = true, trap = 32,
   name = "convolution's input gradient carries another shard",
   signs = {
     {0.76, "convolution_backward", "~placement|Shard(", "~grad_input|"
       .. "input gradient|grad of the input|gradient",
      "~wrong|instead of|incorrect|mismatch", "!for tensor parallel conv"},
   },
   cause = "The backward of convolution labels the input's gradient with the "
     .. "batch dimension whatever dimension the input is sharded on.",
   fixes = {{"shard the batch, or replicate the input of the convolution",
     lua = 'x:redistribute(mesh, "S(0)")',
     torch = "x.redistribute(placements=[Shard(0)])"},
     {"relabel the gradient in a hook: redistribute to x.placements after "
       .. "checking the local shape", torch = "x.register_hook(lambda g: "
       .. "g.redistribute(placements=x.placements))"}},
   ask = {"The placements of the input and of its gradient?"}},

  {id = "spmd-type-error",
   name = "a program's SPMD types do not fit together",
   signs = {
     {0.95, "SpmdTypeError", "~on axis|missing axis|No valid sharding strategy|"
       .. "PartitionSpec|not innermost|innermost axis|stack semantics|"
       .. "typechecking policies|autograd Function is not registered|"
       .. "auto-reinterpreted|backward() called|ordering constraint|"
       .. "not orthogonal|No mesh axis named|Cannot resolve axis name|"
       .. "mutate_type|is not yet implemented|is ambiguous|"
       .. "smaller dimensions is not supported|StridedShard placement"},
     {0.8, "SpmdTypeError"},
     {0.66, "~spmd_typecheck|spmd typecheck|spmd_types|spmd type check",
      "~typecheck|type check|mutate_type|assert_type|local_map",
      "~fail|error|reject|wrong|complain|refuse"},
     {0.85, "RuleCheckError"},
     {0.85, "rulecheck: "},
     {0.85, "src must be P, got"},
     {0.85, "dst must be R or I, got"},
     {0.85, "~src must be V or S(i), got|dst must be V or S(i), got"},
     {0.85, "~src must be S(i), got|dst must be S(i), got"},
     {0.85, "/reinterpret%([RIVPS][^,%s]*, [RIVPS][^,%s]*%) is not supported"},
     {0.85, "/convert%([RIVPS][^,%s]*, [RIVPS][^,%s]*%) is not supported"},
     {0.85, "/redistribute%([RIVPS][^,%s]*, [RIVPS][^,%s]*%) is not supported"},
     {0.85, "~Cannot compare SPMD layout with shard dim|PartitionSpec list "
       .. "length"},
     {0.85, "requires an ambient DeviceMesh"},
     {0.85, "mesh_dim_names set to be used with set_current_mesh"},
     {0.85, "set_current_mesh() without axes requires a current mesh"},
     {0.8, "rules.einsum:"},
     {0.8, "~spmd_typecheck|typecheck_forward", "~must be callable|must define|"
       .. "cannot define|is not a parameter of"},
     {0.85, "assert_type() ", "~requires at least one type|does not support "
       .. "DTensor"},
     {0.78, "site-packages/spmd_types/", "/%u%l+Error: "},
     {0.93, "Invariant type on axis", "cannot mix with other types"},
     {0.93, "Partial type on axis", "~cannot combine with Varying|"
       .. "cannot propagate through non-linear|in a linear op requires|"
       .. "in nonlinear argument"},
     {0.93, "Partial in multiple factors of multilinear op"},
     {0.93, "All operands must be annotated on the same set of mesh axes"},
     {0.93, "backward() called on a loss tensor with no SPMD type"},
     {0.93, "local_map(spmd_types=True)", "~cannot represent|does not support"},
     {0.93, "spmd_types inferred spmd"},
     {0.93, "Output tensor has no spmd_types annotation"},
     {0.9, "FSDP found spmd_types annotations on parameter"},
     {0.9, "spmd_types annotations", "~for FSDP storage|FSDP storage mesh"},
     {0.9, "uses spmd_types annotations on a typechecking mesh"},
     {0.9, "spmd_types parameters require fully_shard"},
     {0.9, "Expected spmd.R on FSDP DP axis"},
     {0.85, "requires the spmd_types package to be installed"},
     {0.85, "spmd_types: type checking for raw torch.distributed"},
     {0.85, "~mutate_type: expected current type|mutate_type: axis"},
     {0.85, "SPMD type mismatch on axis"},
     {0.85, "PartitionSpec conflict"},
     {0.96, "DTensorPropagationError"},
     {0.96, "RedistributeError", "innermost axis"},
     {0.9, "PerMeshAxisLocalSpmdType"},
     {0.9, "requires expert_mode=True"},
     {0.9, "must be R or I, got S("},
     {0.9, "must be P, got S("},
     {0.9, "backward_options", "~Unknown keys in|reduced precision"},
     {0.9, "these conflict. Either use", "~gather_dim|scatter_dim|split_dim|"
       .. "concat_dim"},
     {0.9, "~split_dim|concat_dim", "~(src dim)|(dst dim)"},
     {0.9, "output_split_sizes/input_split_sizes only supported with src=S"},
     {0.9, "all_to_all: tensor dimension", "evenly divisible by world_size"},
     {0.9, "local_axes", "~not present in this mesh|before all global axes"},
     {0.9, "not found in tensor's SPMD type"},
     {0.9, "Only sum-Partial is supported"},
     {0.9, "PartitionSpec entry at dim", "empty tuple"},
     {0.9, "reinterpret does not support S(i)"},
     {0.9, "cannot change the shard dimension without communication"},
   },
   cause = "A checker follows for every mesh axis whether a tensor is "
     .. "replicated (R), invariant (I), varying (V) or partial (P). The named "
     .. "operator got types it cannot combine; the program computes something "
     .. "else than one device would, or its gradients would be wrong.",
   fixes = {
     {"reduce a Partial operand before the operator the message names",
      torch = "x = spmd.all_reduce(x, axis, src=spmd.P, dst=spmd.R)"},
     {"annotate the operand the message lists without the axis",
      torch = "spmd.assert_type(x, {axis: spmd.R})"},
     {"wrap an operator without a rule in a local region and state its types",
      torch = "spmd.local_map(out_types={axis: spmd.V})(f)(x)"},
   },
   ask = {"Which operand has which type on the axis (the operand table)?"}},

  {id = "mesh-arguments", family = true,
   name = "arguments of a mesh that do not fit together",
   signs = {
     {0.9, "~Device type with index is not supported|Device type with GPU "
       .. "index is not supported"},
     {0.9, "Expects mesh with ndim equal to number of ProcessGroups"},
     {0.88, "~Must pass mesh if passing multiple ProcessGroups|Must pass "
       .. "mesh_dim_names if passing multiple"},
     {0.88, "DeviceMesh only support homogeneous hardware"},
     {0.85, "~invalid keys in backend_override|index and name",
      "backend_override"},
     {0.85, "was not included in process group", "~mesh|rank"},
   },
   cause = "A mesh wants one size and one name for each dimension, a device "
     .. "type without an index, and ranks that exist and are in it once.",
   fixes = {
     {"the type alone, and the same mesh on all ranks",
      lua = 'dt.init_device_mesh("cpu", {2, 2}, {mesh_dim_names = {"dp", '
        .. '"tp"}})', torch = 'init_device_mesh("cuda", (2, 2), '
        .. 'mesh_dim_names=("dp", "tp"))'},
     {"print the sizes and names beside the number of processes that run; "
        .. "their product has to be that number"},
   },
   ask = {"The call that makes the mesh, and the number of processes?"}},

  {id = "fsdp2-usage", family = true,
   name = "fully_shard or one of its methods used in a way it does not take",
   signs = {
     {0.85, "FSDP requires a single root module"},
     {0.85, "FSDP state has already been lazily initialized"},
     {0.85, "does not support containers that do not implement forward"},
     {0.85, "FSDP does not support non-contiguous parameters"},
     {0.82, "should be a factor of", "reshard_after_forward"},
     {0.8, "Each distinct composable distributed API can only be applied to a "
       .. "module once"},
     {0.8, "~manual backward finalization|set_manual_backward_finalization|"
       .. "finalize_backward must be|finalize_backward requires"},
     {0.8, "param_dtype_override_fn must return"},
     {0.72, "/fully_shard%(%) got an unexpected keyword argument",
      "=later_setting"},
   },
   cause = "fully_shard is applied from the inside to the outside, once to "
     .. "each module that has a forward, and the first forward runs through "
     .. "the root; its methods belong to the wrapped module.",
   fixes = {
     {"blocks first, then the root, then a forward through the root",
      lua = "for _, b in ipairs(model.layers) do dt.fully_shard(b) end\n"
        .. "dt.fully_shard(model)",
      torch = "for b in model.layers: fully_shard(b)\nfully_shard(model)"},
     {"upgrade to a release whose fully_shard has that setting, or leave it "
       .. "out", only = {"=later_setting"}},
     {"wrap the items of a ModuleList, not the list"},
     {"make a transposed or expanded parameter contiguous before wrapping",
      torch = "p.data = p.data.contiguous()"},
   },
   ask = {"The order of the fully_shard calls, and which module's forward "
     .. "runs first?"}},

  {id = "local-map-placements", family = true,
   name = "local_map's placements do not fit the function's tensors",
   signs = {
     {0.85, "expects None placements but received"},
     {0.8, "local_map", "~in_placements|out_placements", "~mismatch|should "
       .. "have|doesn't match|does not match|must", "!spmd_types"},
   },
   cause = "local_map wants one entry for each argument and each output: "
     .. "placements for tensors, None for everything else.",
   fixes = {
     {"one entry each, None where it is no tensor",
      lua = "tp.local_map(f, out_placements, in_placements)",
      torch = "local_map(f, out_placements=[Shard(0)], in_placements=("
        .. "[Shard(0)], None))"},
   },
   ask = {"The function's signature and both placement lists?"}},

  {id = "placement-kind-assumed", family = true,
   name = "a placement is asked for what only another kind has",
   signs = {
     {0.5, "/'Replicate' object has no attribute '[%w_]+'"},
     {0.5, "/'_?%a*Shard' object has no attribute '[%w_]+'"},
     {0.5, "/'_?%a*Partial' object has no attribute '[%w_]+'"},
   },
   cause = "Told by the names of the exception and of the class alone: only "
     .. "Shard has .dim, only Partial has .reduce_op. Code that goes through "
     .. "placements took one kind for granted.",
   fixes = {
     {"ask for the kind before its attribute",
      lua = "if p:is_shard() then print(p.dim) end",
      torch = "if p.is_shard(): p.dim"},
     {"print the placements on the line before the error; if the kind is not "
        .. "the one meant, redistribute there",
      lua = 'x:redistribute(mesh, "S(0)")',
      torch = "x.redistribute(placements=[Shard(0)])"},
   },
   ask = {"Is the line that raises yours, torch's or a library's?"}},

  {id = "wrapper-setting-of-another", family = true,
   name = "a setting or method of FSDP1 asked of FSDP2, or the reverse",
   signs = {
     {0.62, "/fully_shard%(%) got an unexpected keyword argument",
      "!=later_setting"},
     {0.62, "/FullyShardedDataParallel%.?_?_?[%w_]*%(?%)? got an unexpected",
      "!/TorchFullyShardedDataParallel"},
     {0.6, "/'FSDP%u%w*' object has no attribute '[%w_]+'",
      "~no_sync|clip_grad_norm_|summon_full_params|state_dict_type|"
       .. "_fsdp_wrapped_module|_flat_param|optim_state_dict"},
     {0.6, "'FullyShardedDataParallel' object has no attribute",
      "~unshard|reshard|set_requires|set_modules_to|unwrap"},
   },
   cause = "The two wrappers have other settings and methods: FSDP1 wraps and "
     .. "flattens, fully_shard changes the module's class in place.",
   fixes = {
     {"FSDP2's words: mp_policy, offload_policy, reshard_after_forward; wrap "
        .. "submodules yourself instead of auto_wrap_policy",
      torch = "for b in model.layers: fully_shard(b, mp_policy=mp)\n"
        .. "fully_shard(model, mp_policy=mp)"},
     {"gradients are clipped by the common function, not by a method",
      only = {"~clip_grad|clipp"},
      torch = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
     {"accumulate gradients without no_sync: switch the reduction "
       .. "itself", only = {"~no_sync|accumulat"},
      torch = "model.set_requires_gradient_sync(False)"},
   },
   ask = {{"Which of the two wrappers is applied: FullyShardedDataParallel or "
     .. "fully_shard?", only = {"!/fully_shard%("}}}},
}
