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

/* A tensor like `a` filled with `n`: what PyTorch's C++ makes of a number to the
** left of a tensor (n - a, n / a), to be changed in place. */
static inline DtHandle *number_like (DtGradCall *c, DtHandle *a, int64_t n) {
  DtValue same = dt_v_code(DT_V_MEMFMT, (int64_t)dt_memfmt_find("preserve"));
  DtHandle *h = dt_emit(c->e, "aten.empty_like.default", "t memory_format=v", a,
                        same);
  return dt_emit(c->e, "aten.fill_.Scalar", "ti", h, n);
}

static inline DtHandle *one_minus (DtGradCall *c, DtHandle *a) {
  return dt_emit(c->e, "aten.sub_.Tensor", "tt", number_like(c, a, 1), a);
}

/* Zeros of the shape and type of `h`, which is not read: "zeros_like(self)" of
** derivatives.yaml@2.15 becomes zeros of what is known of self. */
static inline DtHandle *zeros_of (DtGradCall *c, DtHandle *h) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  if (!dt_emit_ok(c->e)) return NULL;
  return dt_emit(c->e, "aten.zeros.default", "I dtype=d", (int)m.ndim, m.shape,
                 (int)m.dtype);
}

#endif
