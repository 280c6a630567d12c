/* SPDX-License-Identifier: MIT
** kernel/ctc.h: the loss of sequences whose labels are not aligned to steps
** (connectionist temporal classification), and its gradient. */
#ifndef DT_KERNEL_CTC_H
#define DT_KERNEL_CTC_H

#include "tensor/tensor.h"

typedef struct DtCtcCall {
  const DtTensor *log_probs;    /* (T, N, C), f32 or f64 */
  const DtTensor *targets;      /* (N, S), or all of them joined; integers in
                                ** [0, C) */
  const int64_t *steps, *labels;        /* [N] lengths: at most T, at most S */
  int64_t blank;                /* the label that stands for none */
} DtCtcCall;

/* loss (N); alpha (N, T, 2 * longest + 1): logarithms of the probability to
** have reached a place, -inf where none is reached.  Local.  Errors: VALUE (a
** label that is none), META_NO_DATA, NOMEM. */
DtStatus dt_k_ctc (DtCtx *cx, const DtCtcCall *k, DtTensor *loss,
                   DtTensor *alpha);
/* The gradient for log_probs, of its shape: `grad` (N) is that of `loss`.
** zero_inf: impossible sequences have none.  Local.  Errors as above. */
DtStatus dt_k_ctc_backward (DtCtx *cx, const DtCtcCall *k, const DtTensor *grad,
                            const DtTensor *loss, const DtTensor *alpha,
                            bool zero_inf, DtTensor *out);

#endif
