-- SPDX-License-Identifier: MIT
-- repl/help/losses.lua: sampling, distances, losses, attention, recurrent layers.
-- A row is {class of nn, function of F, signature of the class, of the
-- function, what it does, shapes, arguments of the class, what its object is
-- called with, arguments of the function}; the last three make the examples.
-- Signatures are facts of PyTorch 2.13.

return {
  {"-", "grid_sample", "",
   "input, grid, mode='bilinear', padding_mode='zeros', align_corners=None",
   "Values of an image at the places of a grid",
   "(N, C, H, W), (N, H', W', 2) -> (N, C, H', W')", "", "",
   "dt.ones(1, 1, 3, 3), dt.zeros(1, 2, 2, 2), {align_corners = false}"},
  {"-", "affine_grid", "", "theta, size, align_corners=None",
   "The grid of an affine map, for grid_sample", "(N, 2, 3) -> (N, H, W, 2)",
   "", "", "dt.ones(1, 2, 3), {1, 1, 2, 2}, {align_corners = false}"},
  {"-", "one_hot", "", "tensor, num_classes=-1", "1 at the index, 0 elsewhere",
   "(…) -> (…, num_classes)", "", "", "dt.tensor({0, 2}), 3"},
  {"CosineSimilarity", "cosine_similarity", "dim=1, eps=1e-08",
   "x1, x2, dim=1, eps=1e-8",
   "Scalar product over the product of the norms along dim",
   "(…, n, …), (…, n, …) -> without dim", "1", "dt.ones(2, 3), dt.ones(2, 3)",
   "dt.ones(2, 3), dt.ones(2, 3)"},
  {"PairwiseDistance", "pairwise_distance", "p=2.0, eps=1e-06, keepdim=False",
   "x1, x2, p=2.0, eps=1e-6, keepdim=False",
   "p-norm of the difference of rows", "(N, D), (N, D) -> (N)", "",
   "dt.ones(2, 3), dt.zeros(2, 3)", "dt.ones(2, 3), dt.zeros(2, 3)"},
  {"-", "pdist", "", "input, p=2", "Distances of all pairs of rows",
   "(N, M) -> (N (N - 1) / 2)", "", "", "dt.randn(3, 2)"},
  {"L1Loss", "l1_loss", "size_average=None, reduce=None, reduction='mean'",
   "input, target, size_average=None, reduce=None, reduction='mean', "
   .. "weight=None", "Mean of |x - y|",
   "(…), (…) -> () (or (…) with reduction = \"none\")", "",
   "dt.ones(3), dt.zeros(3)", "dt.ones(3), dt.zeros(3)"},
  {"MSELoss", "mse_loss", "size_average=None, reduce=None, reduction='mean'",
   "input, target, size_average=None, reduce=None, reduction='mean', "
   .. "weight=None", "Mean of (x - y)²",
   "(…), (…) -> () (or (…) with reduction = \"none\")", "",
   "dt.ones(3), dt.zeros(3)", "dt.ones(3), dt.zeros(3)"},
  {"SmoothL1Loss", "smooth_l1_loss",
   "size_average=None, reduce=None, reduction='mean', beta=1.0",
   "input, target, size_average=None, reduce=None, reduction='mean', beta=1.0",
   "Quadratic below beta, linear above", "(…), (…) -> ()", "",
   "dt.ones(3), dt.zeros(3)", "dt.ones(3), dt.zeros(3)"},
  {"HuberLoss", "huber_loss", "reduction='mean', delta=1.0",
   "input, target, reduction='mean', delta=1.0, weight=None",
   "Quadratic below delta, delta times linear above", "(…), (…) -> ()", "",
   "dt.ones(3), dt.zeros(3)", "dt.ones(3), dt.zeros(3)"},
  {"CrossEntropyLoss", "cross_entropy",
   "weight=None, size_average=None, ignore_index=-100, reduce=None, "
   .. "reduction='mean', label_smoothing=0.0",
   "input, target, weight=None, size_average=None, ignore_index=-100, "
   .. "reduce=None, reduction='mean', label_smoothing=0.0",
   "Negative log-likelihood of the softmax of logits; targets are classes "
   .. "or probabilities", "(N, C, …), (N, …) -> ()", "",
   "dt.randn(2, 3), dt.tensor({0, 2})", "dt.randn(2, 3), dt.tensor({0, 2})"},
  {"NLLLoss", "nll_loss",
   "weight=None, size_average=None, ignore_index=-100, reduce=None, "
   .. "reduction='mean'",
   "input, target, weight=None, size_average=None, ignore_index=-100, "
   .. "reduce=None, reduction='mean'",
   "Minus the log-probability of the target class", "(N, C, …), (N, …) -> ()",
   "", "F.log_softmax(dt.randn(2, 3), 1), dt.tensor({0, 2})",
   "F.log_softmax(dt.randn(2, 3), 1), dt.tensor({0, 2})"},
  {"NLLLoss2d", "-",
   "weight=None, size_average=None, ignore_index=-100, reduce=None, "
   .. "reduction='mean'", "", "NLLLoss by its old name",
   "(N, C, H, W), (N, H, W) -> ()", "",
   "dt.randn(1, 3, 1, 2), dt.tensor({{{0, 2}}})", ""},
  {"BCELoss", "binary_cross_entropy",
   "weight=None, size_average=None, reduce=None, reduction='mean'",
   "input, target, weight=None, size_average=None, reduce=None, "
   .. "reduction='mean'",
   "Cross entropy of probabilities and targets between 0 and 1",
   "(…), (…) -> ()", "", "dt.rand(3), dt.ones(3)", "dt.rand(3), dt.ones(3)"},
  {"BCEWithLogitsLoss", "binary_cross_entropy_with_logits",
   "weight=None, size_average=None, reduce=None, reduction='mean', "
   .. "pos_weight=None",
   "input, target, weight=None, size_average=None, reduce=None, "
   .. "reduction='mean', pos_weight=None",
   "Binary cross entropy of the sigmoid of logits", "(…), (…) -> ()", "",
   "dt.randn(3), dt.ones(3)", "dt.randn(3), dt.ones(3)"},
  {"KLDivLoss", "kl_div",
   "size_average=None, reduce=None, reduction='mean', log_target=False",
   "input, target, size_average=None, reduce=None, reduction='mean', "
   .. "log_target=False", "Target * (log target - input), input in logarithms",
   "(…), (…) -> ()", "{reduction = \"batchmean\"}",
   "F.log_softmax(dt.randn(2, 3), 1), F.softmax(dt.randn(2, 3), 1)",
   "F.log_softmax(dt.randn(2, 3), 1), F.softmax(dt.randn(2, 3), 1), "
   .. "{reduction = \"batchmean\"}"},
  {"PoissonNLLLoss", "poisson_nll_loss",
   "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, "
   .. "reduction='mean'",
   "input, target, log_input=True, full=False, size_average=None, "
   .. "eps=1e-08, reduce=None, reduction='mean'",
   "exp(x) - target * x, x in logarithms", "(…), (…) -> ()", "",
   "dt.randn(3), dt.ones(3)", "dt.randn(3), dt.ones(3)"},
  {"GaussianNLLLoss", "gaussian_nll_loss",
   "*, full=False, eps=1e-06, reduction='mean'",
   "input, target, var, full=False, eps=1e-06, reduction='mean'",
   "Negative log-likelihood of a normal distribution with this mean and "
   .. "variance", "(…), (…), (…) -> ()", "",
   "dt.randn(3), dt.ones(3), dt.ones(3)",
   "dt.randn(3), dt.ones(3), dt.ones(3)"},
  {"CTCLoss", "ctc_loss", "blank=0, reduction='mean', zero_infinity=False",
   "log_probs, targets, input_lengths, target_lengths, blank=0, "
   .. "reduction='mean', zero_infinity=False",
   "Connectionist temporal classification of sequences",
   "(T, N, C), (N, S), (N), (N) -> ()", "",
   "F.log_softmax(dt.randn(4, 1, 3), 2), dt.tensor({{1, 2}}), "
   .. "dt.tensor({4}), dt.tensor({2})",
   "F.log_softmax(dt.randn(4, 1, 3), 2), dt.tensor({{1, 2}}), "
   .. "dt.tensor({4}), dt.tensor({2})"},
  {"LinearCrossEntropyLoss", "linear_cross_entropy",
   "in_features, num_classes, *, out_features=(), bias=False, device=None, "
   .. "dtype=None, reduction='mean', weight=None, ignore_index=None, "
   .. "label_smoothing=0.0, options=None",
   "input, linear_weight, target, *, linear_bias=None, weight=None, "
   .. "reduction='mean', ignore_index=None, label_smoothing=0.0, options=None",
   "The cross entropy of a linear layer's output",
   "(N, in), (N) of classes -> ()", "3, 4",
   "dt.randn(2, 3), dt.tensor({0, 1})",
   "dt.randn(2, 3), dt.randn(4, 3), dt.tensor({0, 1})"},
  {"CosineEmbeddingLoss", "cosine_embedding_loss",
   "margin=0.0, size_average=None, reduce=None, reduction='mean'",
   "input1, input2, target, margin=0, size_average=None, reduce=None, "
   .. "reduction='mean'", "1 - cos for target 1, max(0, cos - margin) for -1",
   "(N, D), (N, D), (N) -> ()", "",
   "dt.randn(2, 3), dt.randn(2, 3), dt.ones(2)",
   "dt.randn(2, 3), dt.randn(2, 3), dt.ones(2)"},
  {"HingeEmbeddingLoss", "hinge_embedding_loss",
   "margin=1.0, size_average=None, reduce=None, reduction='mean'",
   "input, target, margin=1.0, size_average=None, reduce=None, "
   .. "reduction='mean'", "x for target 1, max(0, margin - x) for -1",
   "(…), (…) -> ()", "", "dt.randn(3), dt.ones(3)", "dt.randn(3), dt.ones(3)"},
  {"MarginRankingLoss", "margin_ranking_loss",
   "margin=0.0, size_average=None, reduce=None, reduction='mean'",
   "input1, input2, target, margin=0, size_average=None, reduce=None, "
   .. "reduction='mean'", "max(0, -target (x1 - x2) + margin)",
   "(…), (…), (…) -> ()", "", "dt.randn(3), dt.randn(3), dt.ones(3)",
   "dt.randn(3), dt.randn(3), dt.ones(3)"},
  {"MultiMarginLoss", "multi_margin_loss",
   "p=1, margin=1.0, weight=None, size_average=None, reduce=None, "
   .. "reduction='mean'",
   "input, target, p=1, margin=1.0, weight=None, size_average=None, "
   .. "reduce=None, reduction='mean'",
   "Hinge loss of one class against the others", "(N, C), (N) -> ()", "",
   "dt.randn(2, 3), dt.tensor({0, 2})", "dt.randn(2, 3), dt.tensor({0, 2})"},
  {"MultiLabelMarginLoss", "multilabel_margin_loss",
   "size_average=None, reduce=None, reduction='mean'",
   "input, target, size_average=None, reduce=None, reduction='mean'",
   "Hinge loss of several classes, the targets end at -1",
   "(N, C), (N, C) -> ()", "", "dt.randn(1, 3), dt.tensor({{0, 2, -1}})",
   "dt.randn(1, 3), dt.tensor({{0, 2, -1}})"},
  {"MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss",
   "weight=None, size_average=None, reduce=None, reduction='mean'",
   "input, target, weight=None, size_average=None, reduce=None, "
   .. "reduction='mean'",
   "Mean over classes of the binary cross entropy of logits",
   "(N, C), (N, C) -> ()", "", "dt.randn(2, 3), dt.ones(2, 3)",
   "dt.randn(2, 3), dt.ones(2, 3)"},
  {"SoftMarginLoss", "soft_margin_loss",
   "size_average=None, reduce=None, reduction='mean'",
   "input, target, size_average=None, reduce=None, reduction='mean'",
   "log(1 + exp(-target x))", "(…), (…) -> ()", "", "dt.randn(3), dt.ones(3)",
   "dt.randn(3), dt.ones(3)"},
  {"TripletMarginLoss", "triplet_margin_loss",
   "margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, "
   .. "reduce=None, reduction='mean'",
   "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, "
   .. "size_average=None, reduce=None, reduction='mean'",
   "max(0, distance to the positive - distance to the negative + margin)",
   "(N, D), (N, D), (N, D) -> ()", "",
   "dt.randn(2, 3), dt.randn(2, 3), dt.randn(2, 3)",
   "dt.randn(2, 3), dt.randn(2, 3), dt.randn(2, 3)"},
  {"TripletMarginWithDistanceLoss", "triplet_margin_with_distance_loss",
   "*, distance_function=None, margin=1.0, swap=False, reduction='mean'",
   "anchor, positive, negative, *, distance_function=None, margin=1.0, "
   .. "swap=False, reduction='mean'",
   "The triplet loss with a distance of one's own",
   "(N, D), (N, D), (N, D) -> ()", "",
   "dt.randn(2, 3), dt.randn(2, 3), dt.randn(2, 3)",
   "dt.randn(2, 3), dt.randn(2, 3), dt.randn(2, 3)"},
  {"MultiheadAttention", "multi_head_attention_forward",
   "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, "
   .. "add_zero_attn=False, kdim=None, vdim=None, batch_first=False, "
   .. "device=None, dtype=None",
   "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, "
   .. "in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, "
   .. "out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, "
   .. "need_weights=True, attn_mask=None, use_separate_proj_weight=False, "
   .. "q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, "
   .. "static_k=None, static_v=None, average_attn_weights=True, "
   .. "is_causal=False",
   "Attention of several heads with projections; gives output and weights",
   "(L, N, E), (S, N, E), (S, N, E) -> (L, N, E), (N, L, S)", "4, 2",
   "dt.randn(2, 1, 4), dt.randn(3, 1, 4), dt.randn(3, 1, 4)", ""},
  {"-", "scaled_dot_product_attention", "",
   "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, "
   .. "scale=None, enable_gqa=False", "Softmax(q k^T * scale + mask) v",
   "(…, L, E), (…, S, E), (…, S, V) -> (…, L, V)", "", "",
   "dt.randn(1, 2, 3, 4), dt.randn(1, 2, 3, 4), dt.randn(1, 2, 3, 4)"},
  {"RNN", "-", "*args, **kwargs", "",
   "a recurrent network, tanh or ReLU; gives outputs and the last state",
   "(L, N, in) -> (L, N, hidden), (layers, N, hidden)", "3, 4",
   "dt.randn(2, 1, 3)", ""},
  {"RNNBase", "-",
   "mode, input_size, hidden_size, num_layers=1, bias=True, "
   .. "batch_first=False, dropout=0.0, bidirectional=False, proj_size=0, "
   .. "device=None, dtype=None", "",
   "What RNN, LSTM and GRU have in common; mode is \"RNN_TANH\", "
   .. "\"RNN_RELU\", \"LSTM\" or \"GRU\"", "(L, N, in) -> (L, N, hidden)",
   "\"GRU\", 3, 4", "dt.randn(2, 1, 3)", ""},
  {"LSTM", "-", "*args, **kwargs", "",
   "Long short-term memory; gives outputs and (h, c)",
   "(L, N, in) -> (L, N, hidden), ((layers, N, hidden), (layers, N, hidden))",
   "3, 4", "dt.randn(2, 1, 3)", ""},
  {"GRU", "-", "*args, **kwargs", "",
   "Gated recurrent units; gives outputs and the last state",
   "(L, N, in) -> (L, N, hidden), (layers, N, hidden)", "3, 4",
   "dt.randn(2, 1, 3)", ""},
  {"RNNCell", "-",
   "input_size, hidden_size, bias=True, nonlinearity='tanh', device=None, "
   .. "dtype=None", "", "One step of an RNN",
   "(N, in), (N, hidden) -> (N, hidden)", "3, 4", "dt.randn(1, 3)", ""},
  {"LSTMCell", "-",
   "input_size, hidden_size, bias=True, device=None, dtype=None", "",
   "One step of an LSTM; gives h and c",
   "(N, in), ((N, hidden), (N, hidden)) -> (N, hidden), (N, hidden)", "3, 4",
   "dt.randn(1, 3)", ""},
  {"GRUCell", "-",
   "input_size, hidden_size, bias=True, device=None, dtype=None", "",
   "One step of a GRU", "(N, in), (N, hidden) -> (N, hidden)", "3, 4",
   "dt.randn(1, 3)", ""},
  {"Transformer", "-",
   "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, "
   .. "dim_feedforward=2048, dropout=0.1, activation=relu, "
   .. "custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, "
   .. "batch_first=False, norm_first=False, bias=True, device=None, dtype=None",
   "", "Encoder and decoder with attention",
   "(S, N, E), (T, N, E) -> (T, N, E)", "8, 2, 1, 1, 16",
   "dt.randn(2, 1, 8), dt.randn(3, 1, 8)", ""},
  {"TransformerEncoder", "-",
   "encoder_layer, num_layers, norm=None, enable_nested_tensor=True, "
   .. "mask_check=True", "", "a layer, copied and stacked",
   "(S, N, E) -> the same", "nn.TransformerEncoderLayer(8, 2, 16), 2",
   "dt.randn(2, 1, 8)", ""},
  {"TransformerDecoder", "-", "decoder_layer, num_layers, norm=None", "",
   "a layer, copied and stacked, over the encoder's output",
   "(T, N, E), (S, N, E) -> (T, N, E)",
   "nn.TransformerDecoderLayer(8, 2, 16), 2",
   "dt.randn(2, 1, 8), dt.randn(3, 1, 8)", ""},
  {"TransformerEncoderLayer", "-",
   "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=relu, "
   .. "layer_norm_eps=1e-05, batch_first=False, norm_first=False, bias=True, "
   .. "device=None, dtype=None", "",
   "Self-attention and a feed-forward net, with norms",
   "(S, N, E) -> the same", "8, 2, 16", "dt.randn(2, 1, 8)", ""},
  {"TransformerDecoderLayer", "-",
   "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=relu, "
   .. "layer_norm_eps=1e-05, batch_first=False, norm_first=False, bias=True, "
   .. "device=None, dtype=None", "",
   "Self-attention, attention to the memory, a feed-forward net",
   "(T, N, E), (S, N, E) -> (T, N, E)", "8, 2, 16",
   "dt.randn(2, 1, 8), dt.randn(3, 1, 8)", ""},
}
