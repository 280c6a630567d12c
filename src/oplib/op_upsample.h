/* SPDX-License-Identifier: MIT
** oplib/op_upsample.h: the sizes a resize is given, for the propagation's
** checks.  Private to op_upsample*.c. */
#ifndef DT_OP_UPSAMPLE_H
#define DT_OP_UPSAMPLE_H

#include "oplib/oplib_int.h"

typedef struct DtUpSizes {
  int nd;                       /* spatial dims */
  const int64_t *in, *out;      /* nd + 2 sizes of the input; nd */
  bool nearest;                 /* takes single elements */
  bool list;                    /* in is a list given (a gradient) */
  bool decomposed;              /* shapes come from a decomposition */
  double factor[3];             /* scales given; 0: none */
} DtUpSizes;

/* Errors of PyTorch's shape inference for these sizes; how many there are has
** been checked.  RUNTIME, TYPE, ZeroDivisionError.  Pure. */
DtStatus op_up_fake (DtCtx *cx, const DtUpSizes *s);

#endif
