/* SPDX-License-Identifier: MIT
** tensor/iter.h: walk one to six operands of one shape with any strides.
** Dims are coalesced and ordered so that the inner loop is long; the caller
** writes one loop over `n` elements with byte strides. */
#ifndef DT_TENSOR_ITER_H
#define DT_TENSOR_ITER_H

#include "tensor/tensor.h"

enum { DT_ITER_MAX = 6 };

typedef struct DtIter {
  int nops, ndim;
  int64_t shape[DT_MAX_NDIM], count[DT_MAX_NDIM];
  int64_t stride[DT_ITER_MAX][DT_MAX_NDIM];     /* bytes, 0 = broadcast */
  char *ptr[DT_ITER_MAX];
  int64_t n;                       /* inner length */
  int64_t inner[DT_ITER_MAX];      /* inner byte strides */
  bool done;
} DtIter;

/* Operand 0 gives the shape; the others broadcast to it.  Pointers must have
** been obtained before (dt_tensor_data / cdata).  `metas[i]` may have fewer
** dims.  Pure.  Use: for (; !it.done; dt_iter_next(&it)) inner loop. */
void dt_iter_init (DtIter *it, int nops, const DtMeta *const *metas,
                   void *const *data);
void dt_iter_next (DtIter *it);

#endif
