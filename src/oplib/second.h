/* SPDX-License-Identifier: MIT
** oplib/second.h: gradients of the operators that gradients call, for graphs of
** gradients (create_graph).  Each is the `.grad` of the operator it is called
** like.  All Pure: they emit operators. */
#ifndef DT_OPLIB_SECOND_H
#define DT_OPLIB_SECOND_H

#include "op/opdef.h"

DtStatus op_gg_tanh_backward (DtGradCall *c);
DtStatus op_gg_sigmoid_backward (DtGradCall *c);
DtStatus op_gg_silu_backward (DtGradCall *c);
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
DtStatus op_gg_convolution_backward (DtGradCall *c);

#endif
