/* SPDX-License-Identifier: MIT
** oplib/grading.h: what gradients written in C share: products and sums, where
** NULL is a gradient that is missing, which counts as 0.  All Local: they emit
** operators; the handles are the emitter's. */
#ifndef DT_OPLIB_GRADING_H
#define DT_OPLIB_GRADING_H

#include "op/opdef.h"

static inline DtHandle *mul (DtGradCall *c, DtHandle *a, DtHandle *b) {
  if (a == NULL || b == NULL) return NULL;
  return dt_emit(c->e, "aten.mul.Tensor", "tt", a, b);
}

static inline DtHandle *scale (DtGradCall *c, DtHandle *a, double by) {
  return dt_emit(c->e, "aten.mul.Scalar", "tf", a, by);
}

static inline DtHandle *neg (DtGradCall *c, DtHandle *a) {
  return dt_emit(c->e, "aten.neg.default", "t", a);
}

static inline DtHandle *add (DtGradCall *c, DtHandle *a, DtHandle *b) {
  if (a == NULL || b == NULL) return a ? a : b;
  return dt_emit(c->e, "aten.add.Tensor", "tt", a, b);
}

static inline DtHandle *sub (DtGradCall *c, DtHandle *a, DtHandle *b) {
  if (b == NULL) return a;
  if (a == NULL) return neg(c, b);
  return dt_emit(c->e, "aten.sub.Tensor", "tt", a, b);
}

#endif
