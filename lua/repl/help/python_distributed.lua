-- SPDX-License-Identifier: MIT
-- repl/help/python_distributed.lua: names of torch.distributed, of devices and
-- of spmd_types that Python programs import and Lua has no counterpart of; rows
-- as in python.lua.

return {
  -- groups and processes
  {"torch.distributed.init_process_group", "dist.init_process_group(backend=None)",
   "The default group begins; a program's calls before it raise, as in PyTorch.",
   "dist.init_process_group"},
  {"torch.distributed.destroy_process_group", "dist.destroy_process_group(group=None)",
   "Forget a group, or that of all ranks.", "dist.destroy_process_group"},
  {"torch.distributed.new_group", "dist.new_group(ranks=None)",
   "A group of some ranks, for group=. All ranks call it.", "dist.new_group([0])"},
  {"torch.distributed.get_global_rank torch.distributed.get_group_rank "
   .. "torch.distributed.get_process_group_ranks",
   "dist.get_global_rank(group, group_rank), dist.get_process_group_ranks(group)",
   "A rank's number in the world and in a group; the ranks of a group.",
   "dist.get_process_group_ranks(dist.group.WORLD)"},
  {"torch.distributed.get_node_local_rank", "dist.get_node_local_rank()",
   "This rank's number on its host.", "dist.get_node_local_rank(0)"},
  {"torch.distributed.get_backend torch.distributed.get_default_backend_for_device "
   .. "torch.distributed.Backend", "dist.get_backend(group=None)",
   "The name of a group's backend. There is one here, whatever it was asked to be.",
   "dist.get_backend()"},
  {"torch.distributed.is_available torch.distributed.is_gloo_available "
   .. "torch.distributed.is_mpi_available torch.distributed.is_nccl_available "
   .. "torch.distributed.is_ucc_available torch.distributed.is_xccl_available "
   .. "torch.distributed.is_torchelastic_launched",
   "dist.is_available(), dist.is_nccl_available()",
   "What a program may ask before it chooses a backend.", "dist.is_available()"},
  {"torch.distributed.ProcessGroup torch.distributed.group "
   .. "torch.distributed.GroupMember torch.distributed.nn.functional.group "
   .. "torch.distributed.distributed_c10d torch.distributed.c10d "
   .. "torch.distributed.by_name", "dist.group.WORLD, group.size(), group.rank()",
   "Groups of ranks: all of them, those of new_group, those of a mesh's dimension.",
   "dist.group.WORLD.size()"},
  {"torch.distributed.Work", "work = dist.all_reduce(x, async_op=True); work.wait()",
   "What an asynchronous collective gives: wait() until it is done, is_completed().",
   "dist.Work"},
  {"torch.distributed.TCPStore torch.distributed.FileStore "
   .. "torch.distributed.HashStore torch.distributed.PrefixStore "
   .. "torch.distributed.FakeStore", "dist.HashStore(), store.set(key, value), "
   .. "store.get(key)", "Keys and values that ranks write and wait for without meeting.",
   "dist.HashStore"},
  {"torch.distributed.all_gather_object torch.distributed.gather_object "
   .. "torch.distributed.broadcast_object_list torch.distributed.scatter_object_list "
   .. "torch.distributed.send_object_list torch.distributed.recv_object_list",
   "dist.all_gather_object(list, obj), dist.broadcast_object_list(list, src=0)",
   "Objects of Python between ranks.", "dist.all_gather_object([None] * "
   .. "dist.get_world_size(), dist.get_rank())"},
  {"torch.distributed.all_gather_single torch.distributed.reduce_scatter_single",
   "dist.all_gather_single(output, input), dist.reduce_scatter_single(output, input)",
   "all_gather_into_tensor and reduce_scatter_tensor by their newer names.",
   "dist.all_gather_single(torch.ones(dist.get_world_size()), torch.ones(1))"},
  {"torch.distributed.tensor._utils.ExplicitRedistributionContext",
   "with ExplicitRedistributionContext(enable=True, strict=False, mode=\"raise\"): …",
   "Inside, an operator that would move a DTensor by itself raises (mode=\"warn\": warns); "
   .. "strict: also where no data are sent.", "from torch.distributed.tensor._utils "
   .. "import ExplicitRedistributionContext"},
  {"DistributedDataParallel.no_sync", "with model.no_sync(): …",
   "Inside, backward adds gradients up on each rank; the next one outside averages "
   .. "the sums. Of fully_shard: model.set_requires_gradient_sync(False).",
   "torch.nn.parallel.DistributedDataParallel"},
  {"torch.distributed.monitored_barrier", "dist.monitored_barrier()",
   "barrier, that names the ranks which do not come. Here every divergence is named.",
   "dist.monitored_barrier()"},
  {"torch.distributed._functional_collectives.AsyncCollectiveTensor",
   "functional collectives' result",
   "A result that is waited for when it is used; here it is there at once.",
   "from torch.distributed._functional_collectives import AsyncCollectiveTensor"},

  -- DTensor, FSDP, checkpoints
  {"torch.distributed.tensor.DTensorSpec torch.distributed.tensor.TensorMeta",
   "x._spec, DTensorSpec(mesh, placements, tensor_meta)",
   "All of a distributed tensor but its data: mesh, placements; shape, strides and "
   .. "dtype are the TensorMeta.", "from torch.distributed.tensor import DTensorSpec"},
  {"torch.distributed.tensor.Placement torch.distributed.tensor.placement_types",
   "isinstance(p, Placement), p.is_shard(dim), p.is_replicate(), p.is_partial()",
   "The base of Shard, Replicate and Partial.",
   "from torch.distributed.tensor import Placement, Shard; "
   .. "isinstance(Shard(0), Placement)"},
  {"torch.distributed.tensor.debug.CommDebugMode", "with CommDebugMode() as comm: …; "
   .. "comm.get_comm_counts(), comm.get_total_counts()",
   "Counts collectives, by kind and by module; generate_comm_debug_tracing_table() "
   .. "lists them. :ledger shows the same with bytes and lines.",
   "from torch.distributed.tensor.debug import CommDebugMode; "
   .. "CommDebugMode().get_total_counts()"},
  {"torch.distributed.tensor.debug.visualize_sharding", "visualize_sharding(x)",
   "A table of which rank holds what. :show x draws it.",
   "from torch.distributed.tensor.debug import visualize_sharding"},
  {"torch.distributed.fsdp.OffloadPolicy torch.distributed.fsdp.CPUOffloadPolicy",
   "fully_shard(m, offload_policy=CPUOffloadPolicy(pin_memory=True))",
   "Where the parts of parameters lie. Every device is the CPU here.",
   "from torch.distributed.fsdp import CPUOffloadPolicy; CPUOffloadPolicy()"},
  {"torch.distributed.fsdp.UnshardHandle", "module.unshard(async_op=True).wait()",
   "A gather of parameters that was begun.", "from torch.distributed.fsdp import UnshardHandle"},
  {"torch.distributed.checkpoint.FileSystemReader "
   .. "torch.distributed.checkpoint.FileSystemWriter "
   .. "torch.distributed.checkpoint.CheckpointException "
   .. "torch.distributed.checkpoint.save_state_dict",
   "dcp.save(state, checkpoint_id=folder); FileSystemWriter(folder)",
   "Where distributed checkpoints are read and written, and what is raised where they "
   .. "cannot be.",
   "import torch.distributed.checkpoint as dcp; dcp.FileSystemWriter"},
  {"torch.distributed.checkpoint.state_dict.get_model_state_dict "
   .. "torch.distributed.checkpoint.state_dict.get_optimizer_state_dict "
   .. "torch.distributed.checkpoint.state_dict.get_state_dict "
   .. "torch.distributed.checkpoint.state_dict.set_model_state_dict "
   .. "torch.distributed.checkpoint.state_dict.set_optimizer_state_dict "
   .. "torch.distributed.checkpoint.state_dict.set_state_dict",
   "get_model_state_dict(model, options=StateDictOptions(full_state_dict=True)), "
   .. "set_model_state_dict(model, state)",
   "State of models and optimizers by module names, whole or in parts, whatever "
   .. "wraps them.", "from torch.distributed.checkpoint.state_dict import "
   .. "get_model_state_dict; list(get_model_state_dict(nn.Linear(2, 2)))"},
  {"torch.distributed.optim.ZeroRedundancyOptimizer",
   "ZeroRedundancyOptimizer(params, optimizer_class, **defaults)",
   "Each rank keeps the state of some parameters, steps them and broadcasts them.",
   "from torch.distributed.optim import ZeroRedundancyOptimizer"},
  {"torch.distributed.pipelining.PipelineStage",
   "PipelineStage(submodule, stage_index, num_stages, device, group=None)",
   "One part of a model that is cut by hand; a schedule runs it. Cutting a traced "
   .. "model (pipeline, SplitPoint) is not part of dtrepl.",
   "from torch.distributed.pipelining import PipelineStage"},
  {"torch.distributed.pipelining.ScheduleGPipe "
   .. "torch.distributed.pipelining.Schedule1F1B "
   .. "torch.distributed.pipelining.ScheduleInterleaved1F1B "
   .. "torch.distributed.pipelining.ScheduleLoopedBFS",
   "ScheduleGPipe(stage, n_microbatches, loss_fn), .step(x), "
   .. ".step(target=y, losses=[])",
   "Forward and backward of a batch in microbatches over all stages; the last two "
   .. "take a list of stages.",
   "from torch.distributed.pipelining import ScheduleGPipe"},

  -- devices
  {"torch.cuda.is_available torch.cuda.device_count torch.cuda.current_device "
   .. "torch.cuda.set_device torch.cuda.get_device_name torch.accelerator.is_available "
   .. "torch.accelerator.device_count torch.accelerator.current_accelerator "
   .. "torch.accelerator.current_device_index torch.accelerator.current_device_idx "
   .. "torch.accelerator.device_index torch.accelerator.set_device_index "
   .. "torch.accelerator.set_device_idx",
   "torch.cuda.is_available(), torch.accelerator.device_count()",
   "Which devices there are: none but the CPU. A program for another device runs with "
   .. "its name and computes on the CPU.", "torch.cuda.is_available()"},
  {"torch.cuda.memory_allocated torch.cuda.max_memory_allocated "
   .. "torch.cuda.memory_reserved torch.cuda.max_memory_reserved "
   .. "torch.cuda.reset_peak_memory_stats torch.cuda.empty_cache "
   .. "torch.accelerator.memory_allocated torch.accelerator.max_memory_allocated "
   .. "torch.accelerator.memory_reserved torch.accelerator.max_memory_reserved "
   .. "torch.accelerator.memory_stats torch.accelerator.reset_peak_memory_stats "
   .. "torch.accelerator.empty_cache", "torch.cuda.memory_allocated()",
   "Memory of a device: 0, as there is none. :mem counts a rank's tensors by kind.",
   "torch.cuda.memory_allocated()"},
  {"torch.cuda.synchronize torch.cuda.stream torch.cuda.Stream torch.cuda.Event "
   .. "torch.cuda.current_stream torch.cuda.default_stream "
   .. "torch.accelerator.synchronize torch.accelerator.current_stream "
   .. "torch.accelerator.set_stream", "torch.cuda.synchronize(), with "
   .. "torch.cuda.stream(s): …", "Streams and events of a device: everything is done "
   .. "when a call returns, so there is nothing to wait for.", "torch.cuda.synchronize()"},
  {"torch.cuda.manual_seed_all", "torch.cuda.manual_seed_all(n)",
   "Seed the generators of all devices.", "torch.cuda.manual_seed_all(1)"},
  {"torch.compiler.allow_in_graph torch.compiler.disable torch.compiler.reset "
   .. "torch.compiler.is_compiling torch.compiler.is_dynamo_compiling "
   .. "torch.compiler.is_exporting torch.compiler.cudagraph_mark_step_begin",
   "torch.compiler.is_compiling(), @torch.compiler.disable",
   "What programs say to the compiler. torch.compile runs a function as it is.",
   "torch.compiler.is_compiling()"},
  {"torch.profiler.profile torch.profiler.ProfilerActivity "
   .. "torch.profiler.record_function torch.profiler.schedule "
   .. "torch.profiler.tensorboard_trace_handler torch.autograd.profiler",
   "with torch.profiler.profile(activities=[…]) as p: …",
   "A profiler that keeps quiet: :timeline and :export trace show where time goes.",
   "torch.profiler.ProfilerActivity.CPU"},
  {"torch.version.TorchVersion torch.version.debug torch.version.hip "
   .. "torch.version.xpu", "torch.__version__, torch.version.cuda",
   "The release that is followed (--torch), and what it was not built for.",
   "torch.__version__"},

  -- spmd_types
  {"spmd_types.R spmd_types.I spmd_types.V spmd_types.P spmd_types.S "
   .. "spmd_types.Invariant spmd_types.Varying spmd_types.Infer spmd_types.SpmdType "
   .. "spmd_types.LocalSpmdType spmd_types.PerMeshAxisSpmdType "
   .. "spmd_types.PerMeshAxisSpmdTypes spmd_types.PerMeshAxisLocalSpmdType "
   .. "spmd_types.types",
   "R, I, V, P, S(dim)", "Types of a tensor on a mesh dimension: replicated with "
   .. "gradients to be summed (R), invariant (I), different on each rank (V), an addend "
   .. "(P), a shard (S).", "import spmd_types; spmd_types.R"},
  {"spmd_types.PartitionSpec spmd_types.DimSharding spmd_types.TensorSharding "
   .. "spmd_types.MeshAxis spmd_types.Scalar spmd_types.get_partition_spec "
   .. "spmd_types.normalize_partition_spec spmd_types.normalize_axis "
   .. "spmd_types.normalize_mesh spmd_types.current_mesh_names "
   .. "spmd_types.current_mesh_all_names", "PartitionSpec('tp', None)",
   "Which mesh dimensions cut which dimensions of a tensor; names of mesh dimensions.",
   "import spmd_types; spmd_types.PartitionSpec"},
  {"spmd_types.assert_local_type spmd_types.assert_local_type_like "
   .. "spmd_types.assert_type_like spmd_types.get_local_type "
   .. "spmd_types.get_axis_local_type spmd_types.maybe_get_axis_local_type "
   .. "spmd_types.has_local_type spmd_types.mutate_type spmd_types.merge_types "
   .. "spmd_types.SpmdTypeError", "assert_local_type(x, {'tp': R}), get_local_type(x)",
   "What types a tensor has, and a check of it: SpmdTypeError where it has others. "
   .. "See also :types.", "import spmd_types; spmd_types.has_local_type(torch.ones(1))"},
  {"spmd_types.convert spmd_types.reinterpret spmd_types.reinterpret_mesh "
   .. "spmd_types.reinterpret_no_grad spmd_types.invariant_to_replicate "
   .. "spmd_types.shard spmd_types.spmd_redistribute spmd_types.local "
   .. "spmd_types.dtensor_placement_to_spmd_type "
   .. "spmd_types.spmd_type_to_dtensor_placement",
   "convert(x, 'tp', src=R, dst=V), reinterpret(x, 'tp', src=V, dst=P)",
   "From one type to another: with what data and gradients need (convert), or by "
   .. "saying so (reinterpret).", "import spmd_types; spmd_types.convert"},
  {"spmd_types.register_autograd_function "
   .. "spmd_types.register_local_autograd_function "
   .. "spmd_types.register_local_backward_hook spmd_types.register_decomposition "
   .. "spmd_types.register_no_typecheck spmd_types.set_dist spmd_types.checker "
   .. "spmd_types.rules spmd_types.runtime spmd_types.traceback_filtering",
   "register_autograd_function(F, typecheck)",
   "Types of functions of one's own, and what the checker leaves out.",
   "import spmd_types; spmd_types.register_autograd_function"},
  -- groups, more
  {"torch.distributed.DistError torch.distributed.DistBackendError "
   .. "torch.distributed.DistNetworkError torch.distributed.DistStoreError "
   .. "torch.distributed.QueueEmptyError",
   "except dist.DistBackendError",
   "Errors of backends, connections and stores.",
   "issubclass(dist.DistBackendError, dist.DistError)"},
  {"torch.distributed.GradBucket", "def hook(state, bucket: dist.GradBucket): …",
   "What a hook of DistributedDataParallel is given: buffer(), gradients(), parameters(), "
   .. "index(), is_last(), set_buffer(t).", "dist.GradBucket"},
  {"torch.distributed.is_backend_available torch.distributed.supports_complex",
   "dist.is_backend_available(name), dist.supports_complex(op)",
   "Whether there is a backend of that name; whether a reduction takes complex numbers.",
   "dist.is_backend_available('gloo')"},
  {"torch.distributed.DebugLevel torch.distributed.get_debug_level "
   .. "torch.distributed.set_debug_level",
   "dist.get_debug_level()",
   "How much PyTorch checks collectives; here each is checked always.",
   "dist.get_debug_level()"},
  {"torch.distributed.Store",
   "class Mine(dist.Store)",
   "The base of stores: set, get, add, wait, check, delete_key.",
   "issubclass(dist.HashStore, dist.Store)"},
  {"torch.distributed.all_reduce_coalesced",
   "dist.all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None)",
   "Several tensors reduced by one collective.",
   "dist.all_reduce_coalesced([torch.ones(1), torch.ones(2)])"},
  {"torch.distributed.get_backend_config",
   "dist.get_backend_config(group=None)",
   "Which backend each kind of device has.",
   "dist.get_backend_config"},
  {"torch.distributed.new_subgroups "
   .. "torch.distributed.new_subgroups_by_enumeration "
   .. "torch.distributed.split_group",
   "dist.new_subgroups(group_size), dist.new_subgroups_by_enumeration(lists), "
   .. "dist.split_group(parent_pg, split_ranks)",
   "Groups of neighbours or of lists of ranks: this rank's, and all of them.",
   "dist.new_subgroups(1)"},
  {"torch.distributed.default_pg_timeout",
   "dist.default_pg_timeout",
   "How long a collective waits where no timeout is given.",
   "dist.default_pg_timeout"},

  -- checkpoints
  {"torch.distributed.checkpoint.DefaultSavePlanner "
   .. "torch.distributed.checkpoint.DefaultLoadPlanner "
   .. "torch.distributed.checkpoint.SavePlan "
   .. "torch.distributed.checkpoint.LoadPlan "
   .. "torch.distributed.checkpoint.WriteItem "
   .. "torch.distributed.checkpoint.ReadItem",
   "dcp.save(sd, planner=DefaultSavePlanner()), "
   .. "DefaultLoadPlanner(allow_partial_load=True)",
   "What a save writes and a load reads, item by item, and who decides it.",
   "torch.distributed.checkpoint.DefaultLoadPlanner(allow_partial_load=True)"},
  {"torch.distributed.checkpoint.Metadata "
   .. "torch.distributed.checkpoint.TensorStorageMetadata "
   .. "torch.distributed.checkpoint.BytesStorageMetadata "
   .. "torch.distributed.checkpoint.ChunkStorageMetadata",
   "FileSystemReader(path).read_metadata()",
   "What a checkpoint has: tensors with their chunks, and objects as bytes.",
   "torch.distributed.checkpoint.Metadata"},
  {"torch.distributed.checkpoint.async_save "
   .. "torch.distributed.checkpoint.AsyncCheckpointerType",
   "dcp.async_save(state_dict, checkpoint_id=path)",
   "A save that gives a future; here it is done when it is returned.",
   "torch.distributed.checkpoint.async_save"},
  {"torch.distributed.checkpoint.Stateful",
   "class State: def state_dict(self): …; def load_state_dict(self, sd): …",
   "What dcp.save and dcp.load ask for its state: any object with these two "
   .. "methods.",
   "torch.distributed.checkpoint.Stateful"},
  {"torch.distributed.checkpoint.state_dict.StateDictOptions",
   "StateDictOptions(full_state_dict=False, cpu_offload=False, strict=True, …)",
   "How get_state_dict and its like give and take states.",
   "torch.distributed.checkpoint.state_dict.StateDictOptions().strict"},

  -- FSDP1
  {"torch.distributed.fsdp.FullyShardedDataParallel "
   .. "torch.distributed.fsdp.ShardingStrategy "
   .. "torch.distributed.fsdp.BackwardPrefetch "
   .. "torch.distributed.fsdp.CPUOffload "
   .. "torch.distributed.fsdp.MixedPrecision",
   "FullyShardedDataParallel(module, sharding_strategy=None, "
   .. "auto_wrap_policy=None, mixed_precision=None, use_orig_params=False)",
   "A module whose parameters are one flat tensor, cut over the ranks. "
   .. "fully_shard is its successor.",
   "torch.distributed.fsdp.ShardingStrategy.FULL_SHARD"},
  {"torch.distributed.fsdp.StateDictType "
   .. "torch.distributed.fsdp.StateDictConfig "
   .. "torch.distributed.fsdp.FullStateDictConfig "
   .. "torch.distributed.fsdp.LocalStateDictConfig "
   .. "torch.distributed.fsdp.ShardedStateDictConfig "
   .. "torch.distributed.fsdp.OptimStateDictConfig "
   .. "torch.distributed.fsdp.FullOptimStateDictConfig "
   .. "torch.distributed.fsdp.LocalOptimStateDictConfig "
   .. "torch.distributed.fsdp.ShardedOptimStateDictConfig "
   .. "torch.distributed.fsdp.StateDictSettings",
   "with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, "
   .. "FullStateDictConfig(rank0_only=True)): …",
   "Which state dicts an FSDP1 module gives inside.",
   "torch.distributed.fsdp.FullStateDictConfig().rank0_only"},

  -- devices, more
  {"torch.cuda.get_device_capability torch.cuda.get_device_properties "
   .. "torch.cuda.get_arch_list torch.cuda.is_bf16_supported",
   "torch.cuda.get_device_properties(device), torch.cuda.is_bf16_supported()",
   "What a GPU is and can; there is none here.",
   "torch.cuda.is_bf16_supported"},
  {"torch.cuda.mem_get_info torch.cuda.ipc_collect "
   .. "torch.cuda.memory_cached torch.cuda.max_memory_cached",
   "torch.cuda.mem_get_info(device=None)",
   "Memory of a GPU; :mem tells what tensors hold here.",
   "torch.cuda.ipc_collect"},
  {"torch.cuda.seed_all torch.cuda.get_rng_state_all "
   .. "torch.cuda.set_rng_state_all",
   "torch.cuda.get_rng_state_all()",
   "The random numbers of all GPUs.",
   "torch.cuda.get_rng_state_all()"},
}
