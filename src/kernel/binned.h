/* SPDX-License-Identifier: MIT
** kernel/binned.h: numbers put on a grid: quantised and back, or counted. */
#ifndef DT_KERNEL_BINNED_H
#define DT_KERNEL_BINNED_H

#include "tensor/tensor.h"

typedef struct DtGrid {
  const double *scale, *zero;   /* [nchan] step, and where 0 lies */
  bool whole;                   /* zero points are integers, added after
                                ** rounding; else before */
  int64_t nchan;                /* 1, or the size of dim `axis` */
  int axis;
  double lo, hi;                /* the first and the last place */
} DtGrid;

/* out = a, each element at the nearest place of the grid; inside (bool): it was
** not beyond an end.  All of one shape, out of a's type (a float).  Local. */
DtStatus dt_k_fake_quantize (DtCtx *cx, const DtGrid *g, const DtTensor *a,
                             DtTensor *out, DtTensor *inside);

/* out (n - 1): sums of `weight` (of a's shape; NULL: 1 each) of the elements
** between neighbours of `edges` (n, rising, f64 numbers of out's type); the
** last bin holds its upper edge.  What lies outside or is no number does not
** count.  density: as shares of the total, per length.  Local. */
DtStatus dt_k_histogram (DtCtx *cx, const DtTensor *a, const DtTensor *weight,
                         const double *edges, int64_t n, bool density,
                         DtTensor *out);

#endif
