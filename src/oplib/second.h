/* SPDX-License-Identifier: MIT
** oplib/second.h: gradients of the operators that gradients call, for graphs of
** gradients (create_graph).  Each is the `.grad` of the operator it is called
** like.  All Pure: they emit operators. */
#ifndef DT_OPLIB_SECOND_H
#define DT_OPLIB_SECOND_H

#include "op/opdef.h"

DtStatus op_gg_tanh_backward (DtGradCall *c);
DtStatus op_gg_sigmoid_backward (DtGradCall *c);
DtStatus op_gg_gelu_backward (DtGradCall *c);
DtStatus op_gg_softplus_backward (DtGradCall *c);
DtStatus op_gg_leaky_relu_backward (DtGradCall *c);
DtStatus op_gg_hardtanh_backward (DtGradCall *c);
DtStatus op_gg_elu_backward (DtGradCall *c);
DtStatus op_gg_select_backward (DtGradCall *c);
DtStatus op_gg_slice_backward (DtGradCall *c);
DtStatus op_gg_softmax_backward_data (DtGradCall *c);
DtStatus op_gg_log_softmax_backward_data (DtGradCall *c);
DtStatus op_gg_mse_loss_backward (DtGradCall *c);
DtStatus op_gg_nll_loss_backward (DtGradCall *c);
DtStatus op_gg_hardswish_backward (DtGradCall *c);
DtStatus op_gg_log_sigmoid_backward (DtGradCall *c);
DtStatus op_gg_rrelu_with_noise_backward (DtGradCall *c);
DtStatus op_gg_glu_backward (DtGradCall *c);
DtStatus op_gg_prelu_kernel_backward (DtGradCall *c);
DtStatus op_gg_smooth_l1_loss_backward (DtGradCall *c);
DtStatus op_gg_huber_loss_backward (DtGradCall *c);
DtStatus op_gg_soft_margin_loss_backward (DtGradCall *c);
DtStatus op_gg_binary_cross_entropy_backward (DtGradCall *c);
DtStatus op_gg_nll_loss2d_backward (DtGradCall *c);
DtStatus op_gg_embedding_dense_backward (DtGradCall *c);

/* ---- op_second_conv.c ---- */

DtStatus op_gg_convolution_backward (DtGradCall *c);

/* ---- op_second_window.c ---- */

/* Those of max_pool{2,3}d_with_indices_backward, and so on. */
DtStatus op_gg_max_pool_backward (DtGradCall *c);
DtStatus op_gg_avg_pool_backward (DtGradCall *c);
DtStatus op_gg_fractional_max_pool_backward (DtGradCall *c);
DtStatus op_gg_adaptive_max_pool_backward (DtGradCall *c);
DtStatus op_gg_adaptive_avg_pool_backward (DtGradCall *c);
DtStatus op_gg_pad_backward (DtGradCall *c);
DtStatus op_gg_upsample_backward (DtGradCall *c);

/* ---- op_second_norm.c ---- */

/* Those of native_layer_norm_backward and native_batch_norm_backward. */
DtStatus op_gg_layer_norm_backward (DtGradCall *c);
DtStatus op_gg_batch_norm_backward (DtGradCall *c);

/* ---- op_second_distance.c ---- */

DtStatus op_gg_cdist_backward (DtGradCall *c);
DtStatus op_gg_pdist_backward (DtGradCall *c);

#endif
