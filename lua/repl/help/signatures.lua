-- SPDX-License-Identifier: MIT
-- repl/help/signatures.lua: what names with a help page take: facts of PyTorch
-- 2.15, made by scripts/capture_signatures.py --pages.

return [[
ASGD(params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0,
  foreach=None, maximize=False, differentiable=False, capturable=False)
Adadelta(params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, foreach=None, *,
  capturable=False, maximize=False, differentiable=False)
Adafactor(params, lr=0.01, beta2_decay=-0.8, eps=(None, 0.001), d=1.0,
  weight_decay=0.0, *, foreach=None, maximize=False)
Adagrad(params, lr=0.01, lr_decay=0, weight_decay=0,
  initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False,
  differentiable=False, fused=None)
Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
  amsgrad=False, *, foreach=None, maximize=False, capturable=False,
  differentiable=False, fused=None, decoupled_weight_decay=False)
AdamW(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01,
  amsgrad=False, *, maximize=False, foreach=None, capturable=False,
  differentiable=False, fused=None)
Adamax(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
  foreach=None, *, maximize=False, differentiable=False, capturable=False)
ColwiseParallel(*, input_layouts=None, output_layouts=None,
  use_local_output=True)
DataParallelMeshDims(shard=None, replicate=None)
DeviceMesh(device_type, mesh=None, *, mesh_dim_names=None,
  backend_override=None, preserve_rank_order=False)
DistributedDataParallel(module, device_ids=None, output_device=None, dim=0,
  broadcast_buffers=None, init_sync=True, process_group=None,
  bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
  gradient_as_bucket_view=False, static_graph=False,
  delay_all_reduce_named_params=None, param_to_hook_all_reduce=None,
  mixed_precision=None, device_mesh=None, skip_all_reduce_unused_params=False,
  bucket_cap_mb_list=None, batched_grad_copy=False, forward_sync_buffers=None,
  lazy_bucket_allocation=False)
F.adaptive_avg_pool2d(input, output_size)
F.adaptive_avg_pool3d(input, output_size)
F.affine_grid(theta, size, align_corners=None)
F.alpha_dropout(input, p=0.5, training=False, inplace=False)
F.batch_norm(input, running_mean, running_var, weight=None, bias=None,
  training=False, momentum=0.1, eps=1e-05)
F.binary_cross_entropy(input, target, weight=None, size_average=None,
  reduce=None, reduction='mean')
F.binary_cross_entropy_with_logits(input, target, weight=None,
  size_average=None, reduce=None, reduction='mean', pos_weight=None)
F.celu(input, alpha=1.0, inplace=False)
F.cosine_embedding_loss(input1, input2, target, margin=0, size_average=None,
  reduce=None, reduction='mean')
F.cross_entropy(input, target, weight=None, size_average=None,
  ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0)
F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0,
  reduction='mean', zero_infinity=False)
F.dropout(input, p=0.5, training=True, inplace=False)
F.dropout1d(input, p=0.5, training=True, inplace=False)
F.dropout2d(input, p=0.5, training=True, inplace=False)
F.dropout3d(input, p=0.5, training=True, inplace=False)
F.elu(input, alpha=1.0, inplace=False)
F.embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0,
  scale_grad_by_freq=False, sparse=False)
F.embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2,
  scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights=None,
  include_last_offset=False, padding_idx=None)
F.feature_alpha_dropout(input, p=0.5, training=False, inplace=False)
F.fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1)
F.fractional_max_pool2d_with_indices(input, kernel_size, output_size=None,
  output_ratio=None, return_indices=False)
F.fractional_max_pool3d_with_indices(input, kernel_size, output_size=None,
  output_ratio=None, return_indices=False)
F.gaussian_nll_loss(input, target, var, full=False, eps=1e-06,
  reduction='mean')
F.glu(input, dim=-1)
F.grid_sample(input, grid, mode='bilinear', padding_mode='zeros',
  align_corners=None)
F.group_norm(input, num_groups, weight=None, bias=None, eps=1e-05)
F.gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1)
F.hardsigmoid(input, inplace=False)
F.hardswish(input, inplace=False)
F.hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False)
F.hinge_embedding_loss(input, target, margin=1.0, size_average=None,
  reduce=None, reduction='mean')
F.huber_loss(input, target, reduction='mean', delta=1.0, weight=None)
F.instance_norm(input, running_mean=None, running_var=None, weight=None,
  bias=None, use_input_stats=True, momentum=0.1, eps=1e-05)
F.interpolate(input, size=None, scale_factor=None, mode='nearest',
  align_corners=None, recompute_scale_factor=None, antialias=False)
F.kl_div(input, target, size_average=None, reduce=None, reduction='mean',
  log_target=False)
F.l1_loss(input, target, size_average=None, reduce=None, reduction='mean',
  weight=None)
F.layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)
F.leaky_relu(input, negative_slope=0.01, inplace=False)
F.linear_cross_entropy(input, linear_weight, target, *, linear_bias=None,
  weight=None, reduction='mean', ignore_index=None, label_smoothing=0.0,
  options=None)
F.local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0)
F.log_softmax(input, dim=None, dtype=None)
F.lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
F.lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
F.lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
F.margin_ranking_loss(input1, input2, target, margin=0, size_average=None,
  reduce=None, reduction='mean')
F.max_unpool1d(input, indices, kernel_size, stride=None, padding=0,
  output_size=None)
F.max_unpool2d(input, indices, kernel_size, stride=None, padding=0,
  output_size=None)
F.max_unpool3d(input, indices, kernel_size, stride=None, padding=0,
  output_size=None)
F.mish(input, inplace=False)
F.mse_loss(input, target, size_average=None, reduce=None, reduction='mean',
  weight=None)
F.multi_head_attention_forward(query, key, value, embed_dim_to_check,
  num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn,
  dropout_p, out_proj_weight, out_proj_bias, training=True,
  key_padding_mask=None, need_weights=True, attn_mask=None,
  use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None,
  v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True,
  is_causal=False)
F.multi_margin_loss(input, target, p=1, margin=1.0, weight=None,
  size_average=None, reduce=None, reduction='mean')
F.multilabel_margin_loss(input, target, size_average=None, reduce=None,
  reduction='mean')
F.multilabel_soft_margin_loss(input, target, weight=None, size_average=None,
  reduce=None, reduction='mean')
F.nll_loss(input, target, weight=None, size_average=None, ignore_index=-100,
  reduce=None, reduction='mean')
F.normalize(input, p=2.0, dim=1, eps=1e-12, out=None)
F.pad(input, pad, mode='constant', value=None)
F.poisson_nll_loss(input, target, log_input=True, full=False,
  size_average=None, eps=1e-08, reduce=None, reduction='mean')
F.relu(input, inplace=False)
F.relu6(input, inplace=False)
F.rms_norm(input, normalized_shape, weight=None, eps=None)
F.rrelu(input, lower=0.125, upper=0.3333333333333333, training=False,
  inplace=False)
F.selu(input, inplace=False)
F.sigmoid(input)
F.silu(input, inplace=False)
F.smooth_l1_loss(input, target, size_average=None, reduce=None,
  reduction='mean', beta=1.0)
F.soft_margin_loss(input, target, size_average=None, reduce=None,
  reduction='mean')
F.softmax(input, dim=None, dtype=None)
F.softmin(input, dim=None, dtype=None)
F.softsign(input)
F.tanh(input)
F.tanhshrink(input)
F.threshold(input, threshold, value, inplace=False)
F.triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06,
  swap=False, size_average=None, reduce=None, reduction='mean')
F.triplet_margin_with_distance_loss(anchor, positive, negative, *,
  distance_function=None, margin=1.0, swap=False, reduction='mean')
F.unfold(input, kernel_size, dilation=1, padding=0, stride=1)
F.upsample(input, size=None, scale_factor=None, mode='nearest',
  align_corners=None)
F.upsample_bilinear(input, size=None, scale_factor=None)
F.upsample_nearest(input, size=None, scale_factor=None)
LBFGS(params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07,
  tolerance_change=1e-09, history_size=100, line_search_fn=None, *,
  maximize=False)
MixedPrecisionPolicy(param_dtype=None, reduce_dtype=None, output_dtype=None,
  cast_forward_inputs=True, *, param_dtype_override_fn=None)
ModuleDict(modules=None)
ModuleList(modules=None)
Muon(params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True,
  ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-07, ns_steps=5,
  adjust_lr_fn=None)
NAdam(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
  momentum_decay=0.004, decoupled_weight_decay=False, *, foreach=None,
  maximize=False, capturable=False, differentiable=False)
P2POp(op, tensor, peer=None, group=None, tag=0, group_peer=None)
Parameter(data=None, requires_grad=True)
ParameterDict(parameters=None)
ParameterList(values=None)
PrepareModuleInput(*, input_layouts=None, desired_input_layouts=None,
  input_kwarg_layouts=None, desired_input_kwarg_layouts=None,
  use_local_output=False)
PrepareModuleInputOutput(*, input_layouts=None, desired_input_layouts=None,
  input_kwarg_layouts=None, desired_input_kwarg_layouts=None,
  use_local_input=False, output_layouts, desired_output_layouts,
  use_local_output=True)
PrepareModuleOutput(*, output_layouts, desired_output_layouts,
  use_local_output=True)
RAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0,
  decoupled_weight_decay=False, *, foreach=None, maximize=False,
  capturable=False, differentiable=False)
RMSprop(params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0,
  centered=False, capturable=False, foreach=None, maximize=False,
  differentiable=False)
RowwiseParallel(*, input_layouts=None, output_layouts=None,
  use_local_output=True)
Rprop(params, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), *,
  capturable=False, foreach=None, maximize=False, differentiable=False)
SGD(params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False,
  *, maximize=False, foreach=None, differentiable=False, fused=None)
SequenceParallel(*, sequence_dim=1, use_local_output=False)
Shard(dim)
SparseAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, maximize=False)
_StridedShard(dim, *, split_factor=1, sf=None)
all_gather(tensor_list, tensor, group=None, async_op=False)
all_gather_into_tensor(output_tensor, input_tensor, group=None,
  async_op=False)
all_reduce(tensor, op=SUM, group=None, async_op=False)
all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False)
all_to_all_single(output, input, output_split_sizes=None,
  input_split_sizes=None, group=None, async_op=False)
autograd.backward(tensors, grad_tensors=None, retain_graph=None,
  create_graph=False, grad_variables=None, inputs=None)
autograd.grad(outputs, inputs, grad_outputs=None, retain_graph=None,
  create_graph=False, only_inputs=True, allow_unused=None,
  is_grads_batched=False, materialize_grads=False)
barrier(group=None, async_op=False, device_ids=None, timeout=None)
batch_isend_irecv(p2p_op_list)
broadcast(tensor, src=None, group=None, async_op=False, group_src=None)
clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False,
  foreach=None)
clip_grad_value_(parameters, clip_value, foreach=None)
clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None)
compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None,
  options=None, name=None, disable=False, recompile_limit=None,
  isolate_recompiles=False, dynamic_shapes=None)
current_mesh()
distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None,
  output_fn=None)
distribute_tensor(tensor, device_mesh=None, placements=None, *,
  src_data_rank=0)
distributed.barrier(group=None, async_op=False, device_ids=None, timeout=None)
distributed.gather(tensor, gather_list=None, dst=None, group=None,
  async_op=False, group_dst=None)
distributed.reduce(tensor, dst=None, op=SUM, group=None, async_op=False,
  group_dst=None)
distributed.scatter(tensor, scatter_list=None, src=None, group=None,
  async_op=False, group_src=None)
empty(*size, dtype=None, layout=torch.strided, requires_grad=False,
  device_mesh=None, placements=None)
from_local(local_tensor, device_mesh=None, placements=None, *,
  run_check=False, shape=None, stride=None, grad_placements=None)
full(size, fill_value, *, dtype=None, layout=torch.strided,
  requires_grad=False, device_mesh=None, placements=None)
fully_shard(module, *, mesh=None, reshard_after_forward=None,
  shard_placement_fn=None, mp_policy=MixedPrecisionPolicy(),
  offload_policy=OffloadPolicy(), ignored_params=None, dp_mesh_dims=None)
get_rank(group=None)
get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None)
get_world_size(group=None)
init.calculate_gain(nonlinearity, param=None)
init.constant_(tensor, val)
init.dirac_(tensor, groups=1)
init.eye_(tensor)
init.kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu',
  generator=None)
init.kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu',
  generator=None)
init.normal_(tensor, mean=0.0, std=1.0, generator=None)
init.ones_(tensor)
init.orthogonal_(tensor, gain=1, generator=None)
init.sparse_(tensor, sparsity, std=0.01, generator=None)
init.trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None)
init.uniform_(tensor, a=0.0, b=1.0, generator=None)
init.xavier_normal_(tensor, gain=1.0, generator=None)
init.xavier_uniform_(tensor, gain=1.0, generator=None)
init.zeros_(tensor)
init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None,
  backend_override=None)
irecv(tensor, src=None, group=None, tag=0, group_src=None)
is_initialized()
is_tensor(obj)
isend(tensor, dst=None, group=None, tag=0, group_dst=None)
library.define(qualname, schema, *, lib=None, tags=())
load(f, map_location=None, pickle_module=None, *, weights_only=None,
  mmap=None, **pickle_load_args)
local_map(func=None, out_placements=None, in_placements=None,
  in_grad_placements=None, device_mesh=None, *, redistribute_inputs=False,
  spmd_types=False)
lr_scheduler.ChainedScheduler(schedulers, optimizer=None)
lr_scheduler.ConstantLR(optimizer, factor=0.3333333333333333, total_iters=5,
  last_epoch=-1)
lr_scheduler.CosineAnnealingLR(optimizer, T_max, eta_min=0.0, last_epoch=-1)
lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0, T_mult=1,
  eta_min=0.0, last_epoch=-1)
lr_scheduler.CyclicLR(optimizer, base_lr, max_lr, step_size_up=2000,
  step_size_down=None, mode='triangular', gamma=1.0, scale_fn=None,
  scale_mode='cycle', cycle_momentum=True, base_momentum=0.8, max_momentum=0.9,
  last_epoch=-1)
lr_scheduler.ExponentialLR(optimizer, gamma, last_epoch=-1)
lr_scheduler.LambdaLR(optimizer, lr_lambda, last_epoch=-1)
lr_scheduler.LinearLR(optimizer, start_factor=0.3333333333333333,
  end_factor=1.0, total_iters=5, last_epoch=-1)
lr_scheduler.MultiStepLR(optimizer, milestones, gamma=0.1, last_epoch=-1)
lr_scheduler.MultiplicativeLR(optimizer, lr_lambda, last_epoch=-1)
lr_scheduler.OneCycleLR(optimizer, max_lr, total_steps=None, epochs=None,
  steps_per_epoch=None, pct_start=0.3, anneal_strategy='cos',
  cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0,
  final_div_factor=10000.0, three_phase=False, last_epoch=-1)
lr_scheduler.PolynomialLR(optimizer, total_iters=5, power=1.0, last_epoch=-1)
lr_scheduler.ReduceLROnPlateau(optimizer, mode='min', factor=0.1, patience=10,
  threshold=0.0001, threshold_mode='rel', cooldown=0, min_lr=0, eps=1e-08)
lr_scheduler.SWALR(optimizer, swa_lr, anneal_epochs=10, anneal_strategy='cos',
  last_epoch=-1)
lr_scheduler.SequentialLR(optimizer, schedulers, milestones, last_epoch=-1)
lr_scheduler.StepLR(optimizer, step_size, gamma=0.1, last_epoch=-1)
manual_seed(seed)
mesh:_flatten(mesh_dim_name=None, backend_override=None)
mesh:_get_root_mesh()
mesh:_unflatten(dim, mesh_sizes, mesh_dim_names, backend_override=None)
mesh:get_coordinate()
mesh:get_group(mesh_dim=None)
mesh:get_local_rank(mesh_dim=None)
mesh:get_rank()
mesh:size(mesh_dim=None)
module:add_module(name, module)
module:apply(fn)
module:bfloat16()
module:double()
module:eval()
module:finalize_backward(*, async_op=False)
module:float()
module:get_submodule(target)
module:half()
module:load_state_dict(state_dict, strict=True, assign=False)
module:register_buffer(name, tensor, persistent=True)
module:register_forward_hook(hook, *, prepend=False, with_kwargs=False,
  always_call=False)
module:register_forward_pre_hook(hook, *, prepend=False, with_kwargs=False)
module:register_full_backward_hook(hook, prepend=False)
module:register_full_backward_pre_hook(hook, prepend=False)
module:register_module(name, module)
module:register_parameter(name, param)
module:requires_grad_(requires_grad=True)
module:reset_iter_state()
module:reshard()
module:set_all_reduce_hook(hook, *, stream=None)
module:set_force_sum_reduction_for_comms(enable)
module:set_gradient_divide_factor(factor)
module:set_is_last_backward(is_last_backward)
module:set_keep_unsharded_storage(keep, *, recurse=True)
module:set_manual_backward_finalization(enabled)
module:set_modules_to_backward_prefetch(modules)
module:set_modules_to_forward_prefetch(modules)
module:set_reduce_scatter_max_input_buffers(max_input_buffers, *,
  recurse=True)
module:set_reduce_scatter_unused_params(reduce_scatter_unused_params, *,
  recurse=True)
module:set_requires_all_reduce(requires_all_reduce, *, recurse=True)
module:set_requires_gradient_sync(requires_gradient_sync, *, recurse=True)
module:set_reshard_after_backward(reshard_after_backward, *, recurse=True)
module:set_reshard_after_forward(reshard_after_forward, recurse=True)
module:set_separate_reduce_scatter_group(enable=True, *, recurse=True)
module:set_unshard_in_backward(unshard_in_backward)
module:state_dict(*args, destination=None, prefix='', keep_vars=False)
module:to_empty(*, device, recurse=True)
module:train(mode=True)
module:type(dst_type)
module:unshard(async_op=False)
module:zero_grad(set_to_none=True)
nn.AdaptiveAvgPool1d(output_size)
nn.AdaptiveAvgPool2d(output_size)
nn.AdaptiveAvgPool3d(output_size)
nn.AdaptiveMaxPool1d(output_size, return_indices=False)
nn.AdaptiveMaxPool2d(output_size, return_indices=False)
nn.AdaptiveMaxPool3d(output_size, return_indices=False)
nn.AlphaDropout(p=0.5, inplace=False)
nn.AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False,
  count_include_pad=True)
nn.AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False,
  count_include_pad=True, divisor_override=None)
nn.AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False,
  count_include_pad=True, divisor_override=None)
nn.BCELoss(weight=None, size_average=None, reduce=None, reduction='mean')
nn.BCEWithLogitsLoss(weight=None, size_average=None, reduce=None,
  reduction='mean', pos_weight=None)
nn.BatchNorm1d(num_features, eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.BatchNorm2d(num_features, eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.BatchNorm3d(num_features, eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.Bilinear(in1_features, in2_features, out_features, bias=True, device=None,
  dtype=None)
nn.CELU(alpha=1.0, inplace=False)
nn.CTCLoss(blank=0, reduction='mean', zero_infinity=False)
nn.ChannelShuffle(groups)
nn.CircularPad1d(padding)
nn.CircularPad2d(padding)
nn.CircularPad3d(padding)
nn.ConstantPad1d(padding, value)
nn.ConstantPad2d(padding, value)
nn.ConstantPad3d(padding, value)
nn.Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0,
  dilation=1, groups=1, bias=True, padding_mode='zeros', device=None,
  dtype=None)
nn.Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0,
  dilation=1, groups=1, bias=True, padding_mode='zeros', device=None,
  dtype=None)
nn.Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0,
  dilation=1, groups=1, bias=True, padding_mode='zeros', device=None,
  dtype=None)
nn.ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1,
  padding=0, output_padding=0, groups=1, bias=True, dilation=1,
  padding_mode='zeros', device=None, dtype=None)
nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1,
  padding=0, output_padding=0, groups=1, bias=True, dilation=1,
  padding_mode='zeros', device=None, dtype=None)
nn.ConvTranspose3d(in_channels, out_channels, kernel_size, stride=1,
  padding=0, output_padding=0, groups=1, bias=True, dilation=1,
  padding_mode='zeros', device=None, dtype=None)
nn.CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None,
  reduction='mean')
nn.CosineSimilarity(dim=1, eps=1e-08)
nn.CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100,
  reduce=None, reduction='mean', label_smoothing=0.0)
nn.Dropout(p=0.5, inplace=False)
nn.Dropout1d(p=0.5, inplace=False)
nn.Dropout2d(p=0.5, inplace=False)
nn.Dropout3d(p=0.5, inplace=False)
nn.ELU(alpha=1.0, inplace=False)
nn.Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None,
  norm_type=2.0, scale_grad_by_freq=False, sparse=False, device=None,
  dtype=None)
nn.EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0,
  scale_grad_by_freq=False, mode='mean', sparse=False,
  include_last_offset=False, padding_idx=None, device=None, dtype=None)
nn.FeatureAlphaDropout(p=0.5, inplace=False)
nn.Flatten(start_dim=1, end_dim=-1)
nn.Fold(output_size, kernel_size, dilation=1, padding=0, stride=1)
nn.FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None,
  return_indices=False)
nn.FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None,
  return_indices=False)
nn.GELU(approximate='none')
nn.GLU(dim=-1)
nn.GRUCell(input_size, hidden_size, bias=True, device=None, dtype=None)
nn.GaussianNLLLoss(*, full=False, eps=1e-06, reduction='mean')
nn.GroupNorm(num_groups, num_channels, eps=1e-05, affine=True, device=None,
  dtype=None, *, bias=True)
nn.Hardshrink(lambd=0.5)
nn.Hardsigmoid(inplace=False)
nn.Hardswish(inplace=False)
nn.Hardtanh(min_val=-1.0, max_val=1.0, inplace=False, min_value=None,
  max_value=None)
nn.HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None,
  reduction='mean')
nn.HuberLoss(reduction='mean', delta=1.0)
nn.InstanceNorm1d(num_features, eps=1e-05, momentum=0.1, affine=False,
  track_running_stats=False, device=None, dtype=None, *, bias=True)
nn.InstanceNorm2d(num_features, eps=1e-05, momentum=0.1, affine=False,
  track_running_stats=False, device=None, dtype=None, *, bias=True)
nn.InstanceNorm3d(num_features, eps=1e-05, momentum=0.1, affine=False,
  track_running_stats=False, device=None, dtype=None, *, bias=True)
nn.KLDivLoss(size_average=None, reduce=None, reduction='mean',
  log_target=False)
nn.L1Loss(size_average=None, reduce=None, reduction='mean')
nn.LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False)
nn.LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False)
nn.LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False)
nn.LSTMCell(input_size, hidden_size, bias=True, device=None, dtype=None)
nn.LayerNorm(normalized_shape, eps=1e-05, elementwise_affine=True, bias=True,
  device=None, dtype=None)
nn.LazyBatchNorm1d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyBatchNorm2d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyBatchNorm3d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyConv1d(out_channels, kernel_size, stride=1, padding=0, dilation=1,
  groups=1, bias=True, padding_mode='zeros', device=None, dtype=None)
nn.LazyConv2d(out_channels, kernel_size, stride=1, padding=0, dilation=1,
  groups=1, bias=True, padding_mode='zeros', device=None, dtype=None)
nn.LazyConv3d(out_channels, kernel_size, stride=1, padding=0, dilation=1,
  groups=1, bias=True, padding_mode='zeros', device=None, dtype=None)
nn.LazyConvTranspose1d(out_channels, kernel_size, stride=1, padding=0,
  output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros',
  device=None, dtype=None)
nn.LazyConvTranspose2d(out_channels, kernel_size, stride=1, padding=0,
  output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros',
  device=None, dtype=None)
nn.LazyConvTranspose3d(out_channels, kernel_size, stride=1, padding=0,
  output_padding=0, groups=1, bias=True, dilation=1, padding_mode='zeros',
  device=None, dtype=None)
nn.LazyInstanceNorm1d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyInstanceNorm2d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyInstanceNorm3d(eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, device=None, dtype=None, *, bias=True)
nn.LazyLinear(out_features, bias=True, device=None, dtype=None)
nn.LeakyReLU(negative_slope=0.01, inplace=False)
nn.Linear(in_features, out_features, bias=True, device=None, dtype=None)
nn.LinearCrossEntropyLoss(in_features, num_classes, *, out_features=(),
  bias=False, device=None, dtype=None, reduction='mean', weight=None,
  ignore_index=None, label_smoothing=0.0, options=None)
nn.LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0)
nn.LogSoftmax(dim=None)
nn.MSELoss(size_average=None, reduce=None, reduction='mean')
nn.MarginRankingLoss(margin=0.0, size_average=None, reduce=None,
  reduction='mean')
nn.MaxPool1d(kernel_size, stride=None, padding=0, dilation=1,
  return_indices=False, ceil_mode=False)
nn.MaxPool2d(kernel_size, stride=None, padding=0, dilation=1,
  return_indices=False, ceil_mode=False)
nn.MaxPool3d(kernel_size, stride=None, padding=0, dilation=1,
  return_indices=False, ceil_mode=False)
nn.MaxUnpool1d(kernel_size, stride=None, padding=0)
nn.MaxUnpool2d(kernel_size, stride=None, padding=0)
nn.MaxUnpool3d(kernel_size, stride=None, padding=0)
nn.Mish(inplace=False)
nn.MultiLabelMarginLoss(size_average=None, reduce=None, reduction='mean')
nn.MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None,
  reduction='mean')
nn.MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None,
  reduce=None, reduction='mean')
nn.MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True,
  add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
  batch_first=False, device=None, dtype=None)
nn.NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None,
  reduction='mean')
nn.PReLU(num_parameters=1, init=0.25, device=None, dtype=None)
nn.PairwiseDistance(p=2.0, eps=1e-06, keepdim=False)
nn.PixelShuffle(upscale_factor)
nn.PixelUnshuffle(downscale_factor)
nn.PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08,
  reduce=None, reduction='mean')
nn.RMSNorm(normalized_shape, eps=None, elementwise_affine=True, device=None,
  dtype=None)
nn.RNNBase(mode, input_size, hidden_size, num_layers=1, bias=True,
  batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, device=None,
  dtype=None)
nn.RNNCell(input_size, hidden_size, bias=True, nonlinearity='tanh',
  device=None, dtype=None)
nn.RReLU(lower=0.125, upper=0.3333333333333333, inplace=False)
nn.ReLU(inplace=False)
nn.ReLU6(inplace=False)
nn.ReflectionPad1d(padding)
nn.ReflectionPad2d(padding)
nn.ReflectionPad3d(padding)
nn.ReplicationPad1d(padding)
nn.ReplicationPad2d(padding)
nn.ReplicationPad3d(padding)
nn.SELU(inplace=False)
nn.SiLU(inplace=False)
nn.SmoothL1Loss(size_average=None, reduce=None, reduction='mean', beta=1.0)
nn.SoftMarginLoss(size_average=None, reduce=None, reduction='mean')
nn.Softmax(dim=None)
nn.Softmin(dim=None)
nn.Softplus(beta=1.0, threshold=20.0)
nn.Softshrink(lambd=0.5)
nn.Threshold(threshold, value, inplace=False)
nn.Transformer(d_model=512, nhead=8, num_encoder_layers=6,
  num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation=relu,
  custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05,
  batch_first=False, norm_first=False, bias=True, device=None, dtype=None)
nn.TransformerDecoder(decoder_layer, num_layers, norm=None)
nn.TransformerDecoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1,
  activation=relu, layer_norm_eps=1e-05, batch_first=False, norm_first=False,
  bias=True, device=None, dtype=None)
nn.TransformerEncoder(encoder_layer, num_layers, norm=None,
  enable_nested_tensor=True, mask_check=True)
nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1,
  activation=relu, layer_norm_eps=1e-05, batch_first=False, norm_first=False,
  bias=True, device=None, dtype=None)
nn.TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False,
  size_average=None, reduce=None, reduction='mean')
nn.TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0,
  swap=False, reduction='mean')
nn.Unflatten(dim, unflattened_size)
nn.Unfold(kernel_size, dilation=1, padding=0, stride=1)
nn.Upsample(size=None, scale_factor=None, mode='nearest', align_corners=None,
  recompute_scale_factor=None)
nn.UpsamplingBilinear2d(size=None, scale_factor=None)
nn.UpsamplingNearest2d(size=None, scale_factor=None)
nn.ZeroPad1d(padding)
nn.ZeroPad2d(padding)
nn.ZeroPad3d(padding)
norm(input, p='fro', dim=None, keepdim=False, out=None, dtype=None)
ones(*size, dtype=None, layout=torch.strided, requires_grad=False,
  device_mesh=None, placements=None)
optimizer:add_param_group(param_group)
optimizer:step(closure=None)
optimizer:zero_grad(set_to_none=True)
parallelize_module(module, device_mesh=None, parallelize_plan=None, *,
  src_data_rank=0)
rand(*size, requires_grad=False, dtype=None, layout=torch.strided,
  device_mesh=None, placements=None)
randn(*size, requires_grad=False, dtype=None, layout=torch.strided,
  device_mesh=None, placements=None)
recv(tensor, src=None, group=None, tag=0, group_src=None)
reduce_scatter(output, input_list, op=SUM, group=None, async_op=False)
reduce_scatter_tensor(output, input, op=SUM, group=None, async_op=False)
register_fsdp_forward_method(module, method_name)
register_sharding(op)
save(obj, f, pickle_module=..., pickle_protocol=2)
send(tensor, dst=None, group=None, tag=0, group_dst=None)
set_default_dtype(d)
set_grad_enabled(mode)
set_printoptions(precision=None, threshold=None, edgeitems=None,
  linewidth=None, profile=None, sci_mode=None)
share_comm_ctx(modules)
spmd.assert_type(tensor, *types, partition_spec=None)
spmd.is_type_checking()
spmd_types.assert_local_type(tensor, type)
spmd_types.convert(x, axis, *, src, dst, expert_mode=False, op_dtype=None,
  out_dtype=None, async_op=False, backward_options=None)
spmd_types.register_autograd_function(cls)
tensordot(a, b, dims=2, out=None)
testing.assert_close(actual, expected, *, allow_subclasses=True, rtol=None,
  atol=None, equal_nan=False, check_device=True, check_dtype=True,
  check_layout=True, check_stride=False, msg=None)
torch.GradScaler(device='cuda', init_scale=65536.0, growth_factor=2.0,
  backoff_factor=0.5, growth_interval=2000, enabled=True)
torch.Size(iterable=())
torch.accelerator.is_available()
torch.accelerator.memory_allocated(device_index=None)
torch.accelerator.synchronize(device=None)
torch.autograd.functional.jacobian(func, inputs, create_graph=False,
  strict=False, vectorize=False, strategy='reverse-mode')
torch.compiler.is_compiling()
torch.cuda.get_device_properties(device=None)
torch.cuda.get_rng_state_all()
torch.cuda.is_available()
torch.cuda.manual_seed_all(seed)
torch.cuda.mem_get_info(device=None)
torch.cuda.memory_allocated(device=None)
torch.cuda.synchronize(device=None)
torch.distributed.all_gather_object(object_list, obj, group=None,
  weights_only=False)
torch.distributed.all_gather_single(output_tensor, input_tensor, group=None,
  async_op=False)
torch.distributed.all_reduce_coalesced(tensors, op=SUM, group=None,
  async_op=False)
torch.distributed.checkpoint.async_save(state_dict, *, checkpoint_id=None,
  storage_writer=None, planner=None, process_group=None,
  async_checkpointer_type=THREAD, async_stager=None, no_dist=False,
  use_collectives=True)
torch.distributed.checkpoint.state_dict.StateDictOptions(full_state_dict=False,
  cpu_offload=False, ignore_frozen_params=False, keep_submodule_prefixes=True,
  strict=True, broadcast_from_rank0=False, flatten_optimizer_state_dict=False,
  dsd_fqn_modifiers='_fqn_modifiers')
torch.distributed.checkpoint.state_dict.get_model_state_dict(model, *,
  submodules=None, options=None)
torch.distributed.destroy_process_group(group=None)
torch.distributed.fsdp.FullyShardedDataParallel(module, process_group=None,
  sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None,
  backward_prefetch=BACKWARD_PRE, mixed_precision=None, ignored_modules=None,
  param_init_fn=None, device_id=None, sync_module_states=False,
  forward_prefetch=False, limit_all_gathers=True, use_orig_params=False,
  ignored_states=None, device_mesh=None)
torch.distributed.get_backend(group=None)
torch.distributed.get_backend_config(group=None)
torch.distributed.get_global_rank(group, group_rank)
torch.distributed.get_node_local_rank(fallback_rank=None)
torch.distributed.init_process_group(backend=None, init_method=None,
  timeout=None, world_size=-1, rank=-1, store=None, group_name='',
  pg_options=None, device_id=None, enable_reconfigure=False)
torch.distributed.is_available()
torch.distributed.is_backend_available(backend)
torch.distributed.monitored_barrier(group=None, timeout=None,
  wait_all_ranks=False)
torch.distributed.new_group(ranks=None, timeout=None, backend=None,
  pg_options=None, use_local_synchronization=False, group_desc=None,
  device_id=None, sort_ranks=True)
torch.distributed.new_subgroups(group_size=None, group=None, timeout=None,
  backend=None, pg_options=None, group_desc=None)
torch.distributed.optim.ZeroRedundancyOptimizer(params, optimizer_class,
  process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False,
  **defaults)
torch.distributed.pipelining.PipelineStage(submodule, stage_index, num_stages,
  device, input_args=None, output_args=None, output_grads=None,
  input_grads=None, group=None, dw_builder=None, get_mesh=None)
torch.distributed.pipelining.ScheduleGPipe(stage, n_microbatches,
  loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
  output_merge_spec=None, scale_grads=True)
torch.distributed.tensor.debug.visualize_sharding(dtensor, header='',
  use_rich=False)
torch.distributions.Categorical(probs=None, logits=None, validate_args=None)
torch.distributions.Normal(loc, scale, validate_args=None)
torch.distributions.kl_divergence(p, q)
torch.func.functional_call(module, parameter_and_buffer_dicts, args=None,
  kwargs=None, *, tie_weights=True, strict=False)
torch.func.jacrev(func, argnums=0, *, has_aux=False, chunk_size=None)
torch.func.linearize(func, *primals)
torch.func.stack_module_state(models)
torch.func.vmap(func, in_dims=0, out_dims=0, randomness='error', *,
  chunk_size=None)
torch.get_rng_state()
torch.nn.Buffer(data=None, *, persistent=True)
torch.nn.DataParallel(module, device_ids=None, output_device=None, dim=0)
torch.nn.SyncBatchNorm(num_features, eps=1e-05, momentum=0.1, affine=True,
  track_running_stats=True, process_group=None, device=None, dtype=None, *,
  bias=True)
torch.nn.utils.fuse_conv_bn_eval(conv, bn, transpose=False)
torch.nn.utils.parameters_to_vector(parameters)
torch.nn.utils.parametrize.is_parametrized(module, tensor_name=None)
torch.nn.utils.parametrize.register_parametrization(module, tensor_name,
  parametrization, *, unsafe=False)
torch.nn.utils.rnn.pack_padded_sequence(input, lengths, batch_first=False,
  enforce_sorted=True)
torch.nn.utils.skip_init(module_cls, *args, **kwargs)
torch.optim.swa_utils.AveragedModel(model, device=None, avg_fn=None,
  multi_avg_fn=None, use_buffers=False)
torch.random.get_rng_state()
torch.random.seed()
torch.seed()
torch.set_default_device(device)
torch.set_deterministic_debug_mode(debug_mode)
torch.set_float32_matmul_precision(precision)
torch.set_warn_always(b)
torch.sym_max(a, b)
torch.testing.make_tensor(*shape, dtype, device, low=None, high=None,
  requires_grad=False, noncontiguous=False, exclude_zero=False,
  memory_format=None)
torch.typename(obj)
torch.use_deterministic_algorithms(mode, *, warn_only=False)
torch.utils.checkpoint.checkpoint(function=None, *args, use_reentrant=None,
  preserve_rng_state=True, context_fn=noop_context_fn,
  determinism_check='default', debug=False, early_stop=True,
  respect_saved_tensors_hooks=None, **kwargs)
torch.utils.checkpoint.checkpoint_sequential(functions, segments, input,
  use_reentrant=None, **kwargs)
torch.utils.data.ChainDataset(datasets)
torch.utils.data.ConcatDataset(datasets)
torch.utils.data.DataLoader(dataset, batch_size=1, shuffle=None, sampler=None,
  batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
  drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None,
  generator=None, *, prefetch_factor=None, persistent_workers=False,
  pin_memory_device='', in_order=True)
torch.utils.data.DistributedSampler(dataset, num_replicas=None, rank=None,
  shuffle=True, seed=0, drop_last=False)
torch.utils.data.RandomSampler(data_source, replacement=False,
  num_samples=None, generator=None)
torch.utils.data.default_collate(batch)
torch.utils.data.default_convert(data)
torch.utils.data.get_worker_info()
torch.vmap(func, in_dims=0, out_dims=0, randomness='error', *,
  chunk_size=None)
unravel_index(indices, shape)
x:full_tensor(*, grad_placements=None)
x:norm(p='fro', dim=None, keepdim=False, dtype=None)
x:redistribute(device_mesh=None, placements=None, *, async_op=False,
  forward_dtype=None, backward_dtype=None)
x:register_hook(hook)
x:register_post_accumulate_grad_hook(hook)
x:split(split_size, dim=0)
x:to_local(*, grad_placements=None)
zeros(*size, requires_grad=False, dtype=None, layout=torch.strided,
  device_mesh=None, placements=None)
]]
