-- SPDX-License-Identifier: MIT
-- dt/functional/signatures.lua: what the functions of torch.nn.functional that
-- are written in Python take: facts of PyTorch 2.13, made by
-- scripts/capture_signatures.py --functional.  Of each the name in its errors
-- and its parameters.

return {
  adaptive_avg_pool2d = {"adaptive_avg_pool2d",
    "input, output_size"},
  adaptive_avg_pool3d = {"adaptive_avg_pool3d",
    "input, output_size"},
  adaptive_max_pool1d = {"_adaptive_max_pool1d",
    "input, output_size, return_indices=False"},
  adaptive_max_pool1d_with_indices = {"adaptive_max_pool1d_with_indices",
    "input, output_size, return_indices=False"},
  adaptive_max_pool2d = {"_adaptive_max_pool2d",
    "input, output_size, return_indices=False"},
  adaptive_max_pool2d_with_indices = {"adaptive_max_pool2d_with_indices",
    "input, output_size, return_indices=False"},
  adaptive_max_pool3d = {"_adaptive_max_pool3d",
    "input, output_size, return_indices=False"},
  adaptive_max_pool3d_with_indices = {"adaptive_max_pool3d_with_indices",
    "input, output_size, return_indices=False"},
  affine_grid = {"affine_grid",
    "theta, size, align_corners=None"},
  alpha_dropout = {"alpha_dropout",
    "input, p=0.5, training=False, inplace=False"},
  assert_int_or_pair = {"assert_int_or_pair",
    "arg, arg_name, message"},
  batch_norm = {"batch_norm",
    "input, running_mean, running_var, weight=None, bias=None, "
    .. "training=False, momentum=0.1, eps=1e-05"},
  binary_cross_entropy = {"binary_cross_entropy",
    "input, target, weight=None, size_average=None, reduce=None, "
    .. "reduction='mean'"},
  binary_cross_entropy_with_logits = {"binary_cross_entropy_with_logits",
    "input, target, weight=None, size_average=None, reduce=None, "
    .. "reduction='mean', pos_weight=None"},
  celu = {"celu",
    "input, alpha=1.0, inplace=False"},
  cosine_embedding_loss = {"cosine_embedding_loss",
    "input1, input2, target, margin=0, size_average=None, reduce=None, "
    .. "reduction='mean'"},
  cross_entropy = {"cross_entropy",
    "input, target, weight=None, size_average=None, ignore_index=-100, "
    .. "reduce=None, reduction='mean', label_smoothing=0.0"},
  ctc_loss = {"ctc_loss",
    "log_probs, targets, input_lengths, target_lengths, blank=0, "
    .. "reduction='mean', zero_infinity=False"},
  dropout = {"dropout",
    "input, p=0.5, training=True, inplace=False"},
  dropout1d = {"dropout1d",
    "input, p=0.5, training=True, inplace=False"},
  dropout2d = {"dropout2d",
    "input, p=0.5, training=True, inplace=False"},
  dropout3d = {"dropout3d",
    "input, p=0.5, training=True, inplace=False"},
  elu = {"elu",
    "input, alpha=1.0, inplace=False"},
  embedding = {"embedding",
    "input, weight, padding_idx=None, max_norm=None, norm_type=2.0, "
    .. "scale_grad_by_freq=False, sparse=False"},
  embedding_bag = {"embedding_bag",
    "input, weight, offsets=None, max_norm=None, norm_type=2, "
    .. "scale_grad_by_freq=False, mode='mean', sparse=False, "
    .. "per_sample_weights=None, include_last_offset=False, "
    .. "padding_idx=None"},
  feature_alpha_dropout = {"feature_alpha_dropout",
    "input, p=0.5, training=False, inplace=False"},
  fold = {"fold",
    "input, output_size, kernel_size, dilation=1, padding=0, stride=1"},
  fractional_max_pool2d = {"_fractional_max_pool2d",
    "input, kernel_size, output_size=None, output_ratio=None, "
    .. "return_indices=False, _random_samples=None"},
  fractional_max_pool2d_with_indices = {"fractional_max_pool2d_with_indices",
    "input, kernel_size, output_size=None, output_ratio=None, "
    .. "return_indices=False, _random_samples=None"},
  fractional_max_pool3d = {"_fractional_max_pool3d",
    "input, kernel_size, output_size=None, output_ratio=None, "
    .. "return_indices=False, _random_samples=None"},
  fractional_max_pool3d_with_indices = {"fractional_max_pool3d_with_indices",
    "input, kernel_size, output_size=None, output_ratio=None, "
    .. "return_indices=False, _random_samples=None"},
  gaussian_nll_loss = {"gaussian_nll_loss",
    "input, target, var, full=False, eps=1e-06, reduction='mean'"},
  glu = {"glu",
    "input, dim=-1"},
  grid_sample = {"grid_sample",
    "input, grid, mode='bilinear', padding_mode='zeros', "
    .. "align_corners=None"},
  group_norm = {"group_norm",
    "input, num_groups, weight=None, bias=None, eps=1e-05"},
  grouped_mm = {"grouped_mm",
    "mat_a, mat_b, *, offs=None, bias=None, out_dtype=None"},
  gumbel_softmax = {"gumbel_softmax",
    "logits, tau=1, hard=False, eps=1e-10, dim=-1"},
  hardsigmoid = {"hardsigmoid",
    "input, inplace=False"},
  hardswish = {"hardswish",
    "input, inplace=False"},
  hardtanh = {"hardtanh",
    "input, min_val=-1.0, max_val=1.0, inplace=False"},
  hinge_embedding_loss = {"hinge_embedding_loss",
    "input, target, margin=1.0, size_average=None, reduce=None, "
    .. "reduction='mean'"},
  huber_loss = {"huber_loss",
    "input, target, reduction='mean', delta=1.0, weight=None"},
  instance_norm = {"instance_norm",
    "input, running_mean=None, running_var=None, weight=None, "
    .. "bias=None, use_input_stats=True, momentum=0.1, eps=1e-05"},
  interpolate = {"interpolate",
    "input, size=None, scale_factor=None, mode='nearest', "
    .. "align_corners=None, recompute_scale_factor=None, antialias=False"},
  kl_div = {"kl_div",
    "input, target, size_average=None, reduce=None, reduction='mean', "
    .. "log_target=False"},
  l1_loss = {"l1_loss",
    "input, target, size_average=None, reduce=None, reduction='mean', "
    .. "weight=None"},
  layer_norm = {"layer_norm",
    "input, normalized_shape, weight=None, bias=None, eps=1e-05"},
  leaky_relu = {"leaky_relu",
    "input, negative_slope=0.01, inplace=False"},
  linear_cross_entropy = {"linear_cross_entropy",
    "input, linear_weight, target, *, linear_bias=None, weight=None, "
    .. "reduction='mean', ignore_index=None, label_smoothing=0.0, "
    .. "options=None"},
  local_response_norm = {"local_response_norm",
    "input, size, alpha=0.0001, beta=0.75, k=1.0"},
  log_softmax = {"log_softmax",
    "input, dim=None, _stacklevel=3, dtype=None"},
  lp_pool1d = {"lp_pool1d",
    "input, norm_type, kernel_size, stride=None, ceil_mode=False"},
  lp_pool2d = {"lp_pool2d",
    "input, norm_type, kernel_size, stride=None, ceil_mode=False"},
  lp_pool3d = {"lp_pool3d",
    "input, norm_type, kernel_size, stride=None, ceil_mode=False"},
  margin_ranking_loss = {"margin_ranking_loss",
    "input1, input2, target, margin=0, size_average=None, reduce=None, "
    .. "reduction='mean'"},
  max_pool1d = {"_max_pool1d",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_pool1d_with_indices = {"max_pool1d_with_indices",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_pool2d = {"_max_pool2d",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_pool2d_with_indices = {"max_pool2d_with_indices",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_pool3d = {"_max_pool3d",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_pool3d_with_indices = {"max_pool3d_with_indices",
    "input, kernel_size, stride=None, padding=0, dilation=1, "
    .. "ceil_mode=False, return_indices=False"},
  max_unpool1d = {"max_unpool1d",
    "input, indices, kernel_size, stride=None, padding=0, "
    .. "output_size=None"},
  max_unpool2d = {"max_unpool2d",
    "input, indices, kernel_size, stride=None, padding=0, "
    .. "output_size=None"},
  max_unpool3d = {"max_unpool3d",
    "input, indices, kernel_size, stride=None, padding=0, "
    .. "output_size=None"},
  mish = {"mish",
    "input, inplace=False"},
  mse_loss = {"mse_loss",
    "input, target, size_average=None, reduce=None, reduction='mean', "
    .. "weight=None"},
  multi_head_attention_forward = {"multi_head_attention_forward",
    "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, "
    .. "in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, "
    .. "out_proj_weight, out_proj_bias, training=True, "
    .. "key_padding_mask=None, need_weights=True, attn_mask=None, "
    .. "use_separate_proj_weight=False, q_proj_weight=None, "
    .. "k_proj_weight=None, v_proj_weight=None, static_k=None, "
    .. "static_v=None, average_attn_weights=True, is_causal=False"},
  multi_margin_loss = {"multi_margin_loss",
    "input, target, p=1, margin=1.0, weight=None, size_average=None, "
    .. "reduce=None, reduction='mean'"},
  multilabel_margin_loss = {"multilabel_margin_loss",
    "input, target, size_average=None, reduce=None, reduction='mean'"},
  multilabel_soft_margin_loss = {"multilabel_soft_margin_loss",
    "input, target, weight=None, size_average=None, reduce=None, "
    .. "reduction='mean'"},
  nll_loss = {"nll_loss",
    "input, target, weight=None, size_average=None, ignore_index=-100, "
    .. "reduce=None, reduction='mean'"},
  normalize = {"normalize",
    "input, p=2.0, dim=1, eps=1e-12, out=None"},
  pad = {"pad",
    "input, pad, mode='constant', value=None"},
  poisson_nll_loss = {"poisson_nll_loss",
    "input, target, log_input=True, full=False, size_average=None, "
    .. "eps=1e-08, reduce=None, reduction='mean'"},
  relu = {"relu",
    "input, inplace=False"},
  relu6 = {"relu6",
    "input, inplace=False"},
  rms_norm = {"rms_norm",
    "input, normalized_shape, weight=None, eps=None"},
  rrelu = {"rrelu",
    "input, lower=0.125, upper=0.3333333333333333, training=False, "
    .. "inplace=False"},
  scaled_grouped_mm = {"scaled_grouped_mm",
    "mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, "
    .. "swizzle_a=None, swizzle_b=None, bias=None, offs=None, "
    .. "output_dtype=torch.bfloat16, contraction_dim=(), "
    .. "use_fast_accum=False"},
  scaled_mm = {"scaled_mm",
    "mat_a, mat_b, scale_a, scale_recipe_a, scale_b, scale_recipe_b, "
    .. "swizzle_a=None, swizzle_b=None, bias=None, "
    .. "output_dtype=torch.bfloat16, contraction_dim=(), "
    .. "use_fast_accum=False"},
  selu = {"selu",
    "input, inplace=False"},
  sigmoid = {"sigmoid",
    "input"},
  silu = {"silu",
    "input, inplace=False"},
  smooth_l1_loss = {"smooth_l1_loss",
    "input, target, size_average=None, reduce=None, reduction='mean', "
    .. "beta=1.0"},
  soft_margin_loss = {"soft_margin_loss",
    "input, target, size_average=None, reduce=None, reduction='mean'"},
  softmax = {"softmax",
    "input, dim=None, _stacklevel=3, dtype=None"},
  softmin = {"softmin",
    "input, dim=None, _stacklevel=3, dtype=None"},
  softsign = {"softsign",
    "input"},
  tanh = {"tanh",
    "input"},
  tanhshrink = {"tanhshrink",
    "input"},
  threshold = {"_threshold",
    "input, threshold, value, inplace=False"},
  triplet_margin_loss = {"triplet_margin_loss",
    "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, "
    .. "swap=False, size_average=None, reduce=None, reduction='mean'"},
  triplet_margin_with_distance_loss = {"triplet_margin_with_distance_loss",
    "anchor, positive, negative, *, distance_function=None, "
    .. "margin=1.0, swap=False, reduction='mean'"},
  unfold = {"unfold",
    "input, kernel_size, dilation=1, padding=0, stride=1"},
  upsample = {"upsample",
    "input, size=None, scale_factor=None, mode='nearest', "
    .. "align_corners=None"},
  upsample_bilinear = {"upsample_bilinear",
    "input, size=None, scale_factor=None"},
  upsample_nearest = {"upsample_nearest",
    "input, size=None, scale_factor=None"},
}
