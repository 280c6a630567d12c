-- SPDX-License-Identifier: MIT
-- repl/help/python.lua: names that Python programs import and Lua has no
-- counterpart of. A row is {names, how they are called, what they do, an
-- example}: the names of one row share a page; the example is an expression of
-- Python, with the modules that its program would have imported.

return {
  -- torch: what tensors are made of, and the state of the process
  {"torch.Generator", "torch.Generator(device='cpu')",
   "A stream of random numbers of its own, for generator=: manual_seed(n), seed(), "
   .. "get_state(), set_state(s).",
   "torch.rand(2, generator=torch.Generator().manual_seed(1))"},
  {"torch.default_generator torch.random.default_generator", "torch.default_generator",
   "The generator that is drawn from when none is given.",
   "torch.default_generator.initial_seed()"},
  {"torch.Size", "torch.Size([2, 3])",
   "A shape: a tuple of ints, with numel().", "torch.Size([2, 3]).numel()"},
  {"torch.FloatTensor torch.DoubleTensor torch.HalfTensor torch.BFloat16Tensor "
   .. "torch.ByteTensor torch.CharTensor torch.ShortTensor torch.IntTensor "
   .. "torch.LongTensor torch.BoolTensor", "torch.FloatTensor(data) and its like",
   "Tensors by the old names of their dtypes; torch.tensor(data, dtype=…) says the "
   .. "same.", "torch.LongTensor([1, 2]).dtype"},
  {"torch.asarray torch.from_numpy", "torch.asarray(obj, dtype=None), torch.from_numpy(a)",
   "A tensor of numbers, lists or arrays.", "torch.asarray([1.0, 2.0])"},
  {"torch.unique", "torch.unique(input, sorted=True, return_inverse=False, "
   .. "return_counts=False, dim=None)",
   "The values that occur, each once; with where they were and how often.",
   "torch.unique(torch.tensor([3, 1, 3]), return_counts=True)"},
  {"torch.vmap torch.func.vmap", "torch.vmap(func, in_dims=0, out_dims=0)",
   "func for each element along a dimension, in one call.",
   "torch.vmap(torch.sum)(torch.ones(3, 2))"},
  {"torch.channels_last torch.channels_last_3d torch.contiguous_format "
   .. "torch.preserve_format torch.memory_format", "x.to(memory_format=torch.channels_last)",
   "Memory formats: in which order strides go.", "torch.contiguous_format"},
  {"torch.strided torch.sparse_coo torch.sparse_csr torch.layout", "x.layout",
   "Layouts of memory. Tensors here are strided; sparse ones are refused.",
   "torch.ones(2).layout == torch.strided"},
  {"torch.pi torch.e torch.newaxis", "torch.pi, torch.e, x[:, torch.newaxis]",
   "Two numbers, and None as an index that adds a dimension.", "torch.pi"},
  {"torch.typename", "torch.typename(obj)", "The name of an object's type.",
   "torch.typename(torch.ones(1))"},
  {"torch.as_strided_ torch.is_set_to torch.resize_ torch.binomial "
   .. "torch.hash_tensor torch.spmm torch.to_sparse torch.to_sparse_coo torch.dequantize "
   .. "torch.quantize_per_tensor torch.quantize_per_channel torch.qint8 torch.quint8 "
   .. "torch.qint32", "torch.to_sparse(x), torch.quantize_per_tensor(x, …)",
   "By name only: sparse and quantized tensors and these operators are not built in, "
   .. "and calls are refused.", "torch.qint8"},
  {"torch.random torch.func torch.accelerator torch.amp torch.cuda.amp "
   .. "torch.cuda.nvtx torch.multiprocessing torch.distributed.c10d_functional",
   "dir(torch.func)", "Modules: dir() lists their names, :help torch.func.vjp "
   .. "explains one.", "dir(torch.func)"},
  {"torch.return_types", "torch.return_types.max",
   "The named tuples that operators with several results give.",
   "torch.max(torch.ones(2, 2), 0).values"},
  {"torch.get_num_threads torch.set_num_threads torch.get_num_interop_threads "
   .. "torch.set_num_interop_threads", "torch.get_num_threads(), torch.set_num_threads(n)",
   "How many threads a rank's kernels may use: one here, whatever is set.",
   "torch.get_num_threads()"},
  {"torch.get_float32_matmul_precision torch.set_float32_matmul_precision",
   "torch.set_float32_matmul_precision('high')",
   "Kept and given back; products of f32 are computed in f32.",
   "torch.get_float32_matmul_precision()"},
  {"torch.get_default_device torch.set_default_device", "torch.set_default_device('cpu')",
   "Where tensors are made when nothing else is said.", "torch.get_default_device()"},
  {"torch.seed torch.initial_seed torch.random.seed torch.random.initial_seed",
   "torch.seed(), torch.initial_seed()",
   "Seed by chance, and the seed in use. torch.manual_seed(n) seeds as one wishes.",
   "torch.initial_seed() >= 0"},
  {"torch.get_rng_state torch.set_rng_state torch.random.get_rng_state "
   .. "torch.random.set_rng_state", "torch.get_rng_state(), torch.set_rng_state(state)",
   "Where the generator of this rank is, as a tensor, and back there.",
   "torch.set_rng_state(torch.get_rng_state())"},
  {"torch.random.fork_rng", "with torch.random.fork_rng(): …",
   "Numbers drawn inside do not move the generator outside.",
   "torch.random.fork_rng"},
  {"torch.use_deterministic_algorithms torch.are_deterministic_algorithms_enabled "
   .. "torch.is_deterministic_algorithms_warn_only_enabled",
   "torch.use_deterministic_algorithms(True)",
   "Kept and given back: every kernel here gives the same bits each time.",
   "torch.are_deterministic_algorithms_enabled()"},
  {"torch.is_inference_mode_enabled", "torch.is_inference_mode_enabled()",
   "Is the program inside torch.inference_mode()?  Tensors made there know it "
   .. "(x.is_inference()).", "torch.is_inference_mode_enabled()"},
  {"torch.set_warn_always torch.is_warn_always_enabled", "torch.set_warn_always(True)",
   "Warnings each time, not once.", "torch.is_warn_always_enabled()"},

  -- torch.nn
  {"torch.nn.Buffer", "nn.Buffer(tensor, persistent=True)",
   "A tensor that becomes a module's buffer when it is assigned to a field.",
   "nn.Buffer(torch.ones(2)).shape"},
  {"torch.nn.utils.weight_norm torch.nn.utils.spectral_norm "
   .. "torch.nn.utils.remove_weight_norm torch.nn.utils.remove_spectral_norm "
   .. "torch.nn.utils.clip_grad_norm",
   "weight_norm(module), remove_weight_norm(module)",
   "The older ways: a weight that is made before each forward of parameters "
   .. "beside it.", "nn.utils.spectral_norm(nn.Linear(2, 2))"},
  {"torch.nn.utils.parameters_to_vector torch.nn.utils.vector_to_parameters",
   "parameters_to_vector(parameters), vector_to_parameters(vec, parameters)",
   "All parameters in one vector, and back.",
   "nn.utils.parameters_to_vector(nn.Linear(2, 2).parameters()).shape"},
  {"torch.nn.utils.parametrize.register_parametrization",
   "parametrize.register_parametrization(module, tensor_name, parametrization)",
   "The field is computed by the parametrization, a module, each time it is read.",
   "nn.utils.parametrize.register_parametrization(nn.Linear(2, 2), 'weight', "
   .. "nn.Identity())"},
  {"torch.nn.utils.parametrize.is_parametrized "
   .. "torch.nn.utils.parametrize.remove_parametrizations "
   .. "torch.nn.utils.parametrize.ParametrizationList "
   .. "torch.nn.utils.parametrize.type_before_parametrizations "
   .. "torch.nn.utils.parametrize.transfer_parametrizations_and_params",
   "parametrize.is_parametrized(module, tensor_name=None), "
   .. "remove_parametrizations(module, tensor_name)",
   "Whether a field is computed, and an end to it. module.parametrizations.weight "
   .. "lists what computes it.", "nn.utils.parametrize.is_parametrized(nn.Linear(2, 2))"},
  {"torch.nn.utils.parametrize.cached", "with parametrize.cached(): …",
   "Inside, computed fields are computed once.", "nn.utils.parametrize.cached"},
  {"torch.nn.utils.rnn.PackedSequence torch.nn.utils.rnn.pack_padded_sequence "
   .. "torch.nn.utils.rnn.pack_sequence torch.nn.utils.rnn.pad_packed_sequence "
   .. "torch.nn.utils.rnn.unpack_sequence torch.nn.utils.rnn.unpad_sequence "
   .. "torch.nn.utils.rnn.invert_permutation",
   "pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True), "
   .. "pad_packed_sequence(packed)",
   "Sequences of several lengths for nn.LSTM and its like: packed without padding, "
   .. "and padded again.",
   "nn.utils.rnn.pack_sequence([torch.ones(3), torch.ones(2)]).batch_sizes"},

  -- torch.optim
  {"torch.optim.Optimizer", "class Mine(torch.optim.Optimizer): …",
   "The base of optimizers: param_groups, state, step(), zero_grad(), "
   .. "state_dict(), hooks.",
   "isinstance(torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1), "
   .. "torch.optim.Optimizer)"},
  {"torch.optim.lr_scheduler.LRScheduler", "class Mine(LRScheduler): …",
   "The base of schedulers: get_lr() gives the next rates, step() sets them.",
   "torch.optim.lr_scheduler.LRScheduler"},
  {"torch.optim.swa_utils.AveragedModel torch.optim.swa_utils.update_bn "
   .. "torch.optim.swa_utils.get_ema_avg_fn torch.optim.swa_utils.get_ema_multi_avg_fn "
   .. "torch.optim.swa_utils.get_swa_avg_fn torch.optim.swa_utils.get_swa_multi_avg_fn",
   "AveragedModel(model, avg_fn=None, multi_avg_fn=None), update_bn(loader, model)",
   "A copy of a model that holds the average of its parameters, plain (SWA) or "
   .. "exponential (EMA);\nupdate_bn gives it statistics of batch norms.",
   "torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2)).n_averaged"},

  -- torch.utils
  {"torch.utils.data.DataLoader", "DataLoader(dataset, batch_size=1, shuffle=None, "
   .. "sampler=None, num_workers=0, collate_fn=None, drop_last=False)",
   "Batches of a data set, in this process. Ranks read the same batches unless a "
   .. "DistributedSampler parts them.",
   "[b.tolist() for b in torch.utils.data.DataLoader([1, 2, 3], batch_size=2)]"},
  {"torch.utils.data.Dataset torch.utils.data.IterableDataset "
   .. "torch.utils.data.TensorDataset",
   "class Mine(Dataset): __len__, __getitem__; TensorDataset(x, y)",
   "What a DataLoader reads: by index, one after the other, or rows of tensors.",
   "torch.utils.data.TensorDataset(torch.ones(3, 2))[0]"},
  {"torch.utils.data.DistributedSampler", "DistributedSampler(dataset, "
   .. "num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False)",
   "Which elements this rank reads; set_epoch(e) shuffles anew.",
   "list(torch.utils.data.DistributedSampler(range(4), num_replicas=2, rank=0, "
   .. "shuffle=False))"},
  {"torch.utils.data.default_collate", "default_collate(list of samples)",
   "Samples as one batch: tensors are stacked, tuples and dicts part by part.",
   "torch.utils.data.default_collate([1, 2])"},
  {"torch.utils.data.default_convert", "default_convert(sample)",
   "A sample as it is, numbers of numpy as tensors: for batch_size=None.",
   "torch.utils.data.default_convert([1, 2])"},
  {"torch.utils.checkpoint.checkpoint torch.utils.checkpoint.CheckpointPolicy "
   .. "torch.utils.checkpoint.create_selective_checkpoint_contexts "
   .. "torch.utils.checkpoint.set_checkpoint_early_stop",
   "checkpoint(function, *args, use_reentrant=False, context_fn=…)",
   "Nothing of function is kept for backward, which runs it again; context_fn with a "
   .. "CheckpointPolicy keeps some operators' results.",
   "torch.utils.checkpoint.checkpoint(torch.sin, torch.ones(2), use_reentrant=False)"},

  -- torch.autograd, torch.func
  {"torch.autograd.Variable", "torch.autograd.Variable(t, requires_grad=False)",
   "What tensors with gradients once were: the tensor.",
   "torch.autograd.Variable(torch.ones(2))"},
  {"torch.autograd.functional.jacobian torch.autograd.functional.hessian "
   .. "torch.autograd.functional.jvp torch.autograd.functional.vjp "
   .. "torch.autograd.functional.hvp torch.autograd.functional.vhp",
   "jacobian(func, inputs), hessian(func, inputs), vjp(func, inputs, v)",
   "Derivatives of a function at some inputs, as tensors, or times a vector.",
   "torch.autograd.functional.jacobian(torch.sin, torch.zeros(2))"},
  {"torch.func.functional_call", "functional_call(module, params_and_buffers, args)",
   "A module's forward with other parameters.",
   "torch.func.functional_call(nn.ReLU(), {}, (torch.ones(2),))"},
  {"torch.func.stack_module_state", "stack_module_state(models)",
   "The parameters and the buffers of equal models, stacked by name, for vmap.",
   "torch.func.stack_module_state([nn.Linear(2, 2), nn.Linear(2, 2)])[0].keys()"},
  {"torch.func.linearize torch.func.functionalize",
   "linearize(f, x), functionalize(f)",
   "f(x) with the function of tangents that is f's change there; f itself.",
   "torch.func.linearize(torch.sin, torch.ones(2))[0]"},
  {"torch.func.grad_and_value torch.func.jacfwd torch.func.jacrev torch.func.jvp "
   .. "torch.func.vjp", "torch.func.jacrev(f)(x), grad_and_value(f)(x), vjp(f, x)",
   "Derivatives of functions, as functions.",
   "torch.func.grad_and_value(torch.sum)(torch.ones(2))"},

  -- torch.distributions
  {"torch.distributions.Distribution torch.distributions.Independent "
   .. "torch.distributions.constraints",
   "class Mine(Distribution): …; Independent(base, reinterpreted_batch_ndims)",
   "The base of distributions: sample(), rsample(), log_prob(x), entropy(), mean, "
   .. "variance; dimensions of a batch as part of an event.",
   "torch.distributions.Distribution"},
  {"torch.distributions.Normal torch.distributions.LogNormal "
   .. "torch.distributions.Laplace torch.distributions.Uniform "
   .. "torch.distributions.Exponential torch.distributions.MultivariateNormal",
   "Normal(loc, scale), Uniform(low, high), Exponential(rate)",
   "Distributions of real numbers: sample((n,)), log_prob(x), entropy().",
   "torch.distributions.Normal(0.0, 1.0).log_prob(torch.zeros(1))"},
  {"torch.distributions.Categorical torch.distributions.Bernoulli "
   .. "torch.distributions.Geometric torch.distributions.Poisson "
   .. "torch.distributions.OneHotCategorical "
   .. "torch.distributions.OneHotCategoricalStraightThrough",
   "Categorical(probs=None, logits=None), Bernoulli(probs), Poisson(rate)",
   "Distributions of whole numbers and choices.",
   "torch.distributions.Categorical(torch.tensor([0.5, 0.5])).entropy()"},
  {"torch.distributions.kl_divergence torch.distributions.register_kl",
   "kl_divergence(p, q)", "How far q is from p; register_kl(P, Q) adds a pair of kinds.",
   "torch.distributions.kl_divergence(torch.distributions.Bernoulli(0.5), "
   .. "torch.distributions.Bernoulli(0.5))"},

  -- numbers, libraries
  {"torch.linalg.LinAlgError", "except torch.linalg.LinAlgError: …",
   "Raised where a matrix has no inverse, no factors.", "torch.linalg.LinAlgError"},
  {"torch.fft.fftfreq torch.fft.rfftfreq", "torch.fft.fftfreq(n, d=1.0)",
   "The frequencies of fft's elements.", "torch.fft.fftfreq(4)"},
  {"torch.library.Library torch.library.custom_op torch.library.register_fake "
   .. "torch.library.register_autograd torch.library.register_kernel "
   .. "torch.library.impl_abstract",
   "@torch.library.custom_op('ns::name', mutates_args=()), "
   .. "@name.register_fake, Library('ns', 'DEF')",
   "Operators of one's own: a kernel, shapes, a gradient. A sharding rule comes from "
   .. "register_sharding.", "torch.library.custom_op"},
  {"einops.rearrange", "rearrange(x, 'b (h d) -> b h d', h=4)",
   "Dimensions split, merged and moved, by their names.",
   "import einops; einops.rearrange(torch.ones(2, 6), 'b (h d) -> b h d', h=3).shape"},
  {"einops.pack einops.unpack einops.parse_shape einops.asnumpy einops.EinopsError",
   "pack(list, 'b *'), unpack(x, shapes, 'b *'), parse_shape(x, 'b c')",
   "Tensors joined along one dimension and parted again; sizes by name.",
   "import einops; einops.parse_shape(torch.ones(2, 3), 'b c')"},
  -- torch: errors, numbers of compilers, settings
  {"torch.OutOfMemoryError torch.AcceleratorError "
   .. "torch.cuda.OutOfMemoryError torch.cuda.AcceleratorError",
   "except torch.OutOfMemoryError",
   "Errors of devices, for programs that catch them; nothing here raises them.",
   "issubclass(torch.OutOfMemoryError, RuntimeError)"},
  {"torch.range", "torch.range(start, end, step=1)",
   "Numbers from start to end, which is one of them; torch.arange leaves it out.",
   "torch.range(1, 4)"},
  {"torch.SymInt torch.SymFloat torch.SymBool torch.sym_int "
   .. "torch.sym_float torch.sym_not torch.sym_max torch.sym_min "
   .. "torch.sym_sum torch.sym_ite",
   "torch.sym_max(a, b), torch.sym_int(a), torch.sym_ite(b, t, f)",
   "Numbers that a compiler may not know yet. Here each is known: these are "
   .. "Python's operations on them.",
   "torch.sym_max(2, 3.0)"},
  {"torch.cfloat torch.cdouble",
   "torch.cfloat, torch.cdouble",
   "complex64 and complex128 by their other names.",
   "torch.cfloat"},
  {"torch.set_flush_denormal",
   "torch.set_flush_denormal(mode)",
   "Whether the smallest numbers become 0. They are kept here: False for True.",
   "torch.set_flush_denormal(False)"},
  {"torch.set_deterministic_debug_mode torch.get_deterministic_debug_mode",
   "torch.set_deterministic_debug_mode('default' | 'warn' | 'error')",
   "use_deterministic_algorithms by one word, or 0, 1, 2. Kernels here are "
   .. "deterministic.",
   "torch.get_deterministic_debug_mode()"},
  {"torch.get_autocast_cpu_dtype torch.get_autocast_gpu_dtype",
   "torch.get_autocast_cpu_dtype()",
   "The dtype of autocast where none is given.",
   "torch.get_autocast_cpu_dtype()"},
  {"torch.GradScaler torch.amp.custom_fwd torch.amp.custom_bwd",
   "torch.amp.GradScaler(device='cuda'), @custom_fwd(device_type='cuda')",
   "A factor that keeps small gradients of float16; autocast in the methods of "
   .. "an autograd.Function.",
   "torch.amp.GradScaler"},
  {"torch.autograd.detect_anomaly torch.autograd.set_detect_anomaly "
   .. "torch.is_anomaly_enabled torch.is_anomaly_check_nan_enabled",
   "with torch.autograd.detect_anomaly(check_nan=True): …",
   "Inside, backward raises at the operator whose gradient is NaN. :break nan "
   .. "stops at where it is born.",
   "torch.is_anomaly_enabled()"},
  {"torch.autograd.gradcheck torch.autograd.gradgradcheck",
   "gradcheck(func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3)",
   "Gradients, and theirs, against differences of the function.",
   "torch.autograd.gradcheck(torch.sin, torch.ones(2, dtype=torch.float64, "
   .. "requires_grad=True))"},
  {"torch.testing.make_tensor",
   "make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, "
   .. "noncontiguous=False, exclude_zero=False, memory_format=None)",
   "A tensor of drawn values between two bounds, the same as PyTorch's for the "
   .. "same seed.",
   "torch.testing.make_tensor(2, 3, dtype=torch.float32, device='cpu').shape"},

  -- torch.nn, torch.utils
  {"torch.nn.utils.fuse_conv_bn_eval torch.nn.utils.fuse_conv_bn_weights "
   .. "torch.nn.utils.fuse_linear_bn_eval "
   .. "torch.nn.utils.fuse_linear_bn_weights",
   "fuse_conv_bn_eval(conv, bn, transpose=False), fuse_linear_bn_eval(linear, "
   .. "bn)",
   "One layer that does what it and a batch norm after it do in evaluation.",
   "nn.utils.fuse_linear_bn_eval(nn.Linear(2, 2).eval(), "
   .. "nn.BatchNorm1d(2).eval())"},
  {"torch.nn.utils.skip_init",
   "skip_init(module_cls, *args, **kwargs)",
   "A module whose parameters nobody has filled, as made on meta and then moved.",
   "nn.utils.skip_init(nn.Linear, 2, 3)"},
  {"torch.nn.RNNCellBase",
   "class Mine(nn.RNNCellBase): …",
   "The base of nn.RNNCell, nn.LSTMCell and nn.GRUCell.",
   "issubclass(nn.LSTMCell, nn.RNNCellBase)"},
  {"torch.nn.SyncBatchNorm",
   "nn.SyncBatchNorm(num_features, …), "
   .. "nn.SyncBatchNorm.convert_sync_batchnorm(module)",
   "Batch norm whose statistics are those of all ranks' batches.",
   "nn.SyncBatchNorm"},
  {"torch.nn.DataParallel",
   "nn.DataParallel(module)",
   "One process, many devices: here the module itself. "
   .. "nn.parallel.DistributedDataParallel is what ranks use.",
   "nn.DataParallel"},
  {"torch.utils.data.SequentialSampler torch.utils.data.RandomSampler "
   .. "torch.utils.data.SubsetRandomSampler torch.utils.data.BatchSampler",
   "RandomSampler(data_source, replacement=False, num_samples=None, "
   .. "generator=None), BatchSampler(sampler, batch_size, drop_last)",
   "Indices in order, drawn, drawn of a list; and lists of indices.",
   "list(torch.utils.data.BatchSampler(range(3), 2, False))"},
  {"torch.utils.data.ConcatDataset torch.utils.data.Subset "
   .. "torch.utils.data.random_split",
   "ConcatDataset([a, b]), Subset(dataset, indices), random_split(dataset, "
   .. "lengths, generator=None)",
   "Data sets joined; the items of some indices; parts drawn without overlap, the "
   .. "same on all ranks where the generator is.",
   "len(torch.utils.data.Subset([5, 6, 7], [0, 2]))"},
  {"torch.utils.data.Sampler torch.utils.data.WeightedRandomSampler",
   "class Mine(Sampler): …; WeightedRandomSampler(weights, num_samples, "
   .. "replacement=True, generator=None)",
   "The base of samplers, whose iteration gives indices; indices drawn by "
   .. "weight.",
   "len(torch.utils.data.WeightedRandomSampler([0.5, 0.5], 3))"},
  {"torch.utils.data.ChainDataset torch.utils.data.StackDataset",
   "ChainDataset([a, b]), StackDataset(a, b)",
   "Data sets one after another; data sets side by side, an item of each.",
   "len(torch.utils.data.StackDataset([1, 2], [3, 4]))"},
  {"torch.utils.data.get_worker_info",
   "get_worker_info()",
   "Which worker loads: None, as data is loaded in the program itself.",
   "torch.utils.data.get_worker_info()"},
  {"torch.utils.checkpoint.CheckpointError torch.utils.checkpoint."
   .. "SelectiveCheckpointContext", "except CheckpointError; policy(ctx, op, *args)",
   "Raised where recomputing saves other tensors than the first forward did; and what "
   .. "a policy is given first, with is_recompute.",
   "issubclass(torch.utils.checkpoint.CheckpointError, RuntimeError)"},
  {"torch.utils.checkpoint.checkpoint_sequential "
   .. "torch.utils.checkpoint.noop_context_fn",
   "checkpoint_sequential(functions, segments, input)",
   "A sequence of layers, recomputed in backward a segment at a time; the "
   .. "contexts of a checkpoint that wants none.",
   "torch.utils.checkpoint.noop_context_fn()"},
}
