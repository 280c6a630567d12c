/* SPDX-License-Identifier: MIT
** kernel/unique.h: rows that are the same. */
#ifndef DT_KERNEL_UNIQUE_H
#define DT_KERNEL_UNIQUE_H

#include "tensor/tensor.h"

typedef struct DtUnique {
  int64_t n;                    /* rows */
  int64_t k;                    /* different ones */
  int64_t *first;               /* [k] a row of each kind, in order */
  int64_t *group;               /* [n] the kind of each row */
  int64_t *count;               /* [k] */
} DtUnique;

/* Kinds of rows of `t` (n, len), contiguous: equal ones anywhere, kinds in the
** order of their elements, or with `consecutive` those that follow each other,
** in that order.  Numbers that are none differ from each other.  Local; free
** with dt_unique_free().  Errors: NOMEM. */
DtStatus dt_k_unique_rows (DtCtx *cx, const DtTensor *t, bool consecutive,
                           DtUnique *out);
void dt_unique_free (DtCtx *cx, DtUnique *u);

#endif
