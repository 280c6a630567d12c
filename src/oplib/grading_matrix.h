/* SPDX-License-Identifier: MIT
** oplib/grading_matrix.h: what gradients of matrices share: products, conjugate
** transposes, triangles and pieces.  Matrices are the last two dims, the others
** are batches.  All Local: they emit operators. */
#ifndef DT_OPLIB_GRADING_MATRIX_H
#define DT_OPLIB_GRADING_MATRIX_H

#include "oplib/grading.h"
#include "oplib/oplib_int.h"

static inline DtMeta meta_of (DtGradCall *c, DtHandle *h) {
  DtMeta m;
  dt_meta_copy(&m, dt_emit_meta(c->e, h));
  return m;
}
/* Conjugate transpose. */
static inline DtHandle *mh (DtGradCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  h = EMIT("aten.transpose.int", "tii", h, (int64_t)-2, (int64_t)-1);
  if (dt_dtype_is_complex((DtDtype)m.dtype)) h = EMIT("aten._conj.default",
                                                      "t",
                                                      h);
  return h;
}
static inline DtHandle *conj_of (DtGradCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  return dt_dtype_is_complex((DtDtype)m.dtype)
           ? EMIT("aten._conj.default", "t", h) : h;
}
static inline DtHandle *mm (DtGradCall *c, DtHandle *a, DtHandle *b) {
  DtMeta m = meta_of(c, a);
  return EMIT(m.ndim == 2 ? "aten.mm.default" : "aten.matmul.default", "tt", a,
              b);
}
static inline DtHandle *div_by (DtGradCall *c, DtHandle *a, DtHandle *b) {
  return EMIT("aten.div.Tensor", "tt", a, b);
}
static inline DtHandle *unsq (DtGradCall *c, DtHandle *h, int64_t d) {
  return EMIT("aten.unsqueeze.default", "ti", h, d);
}
static inline DtHandle *diagonal (DtGradCall *c, DtHandle *h) {
  return EMIT("aten.diagonal.default", "tiii", h, (int64_t)0, (int64_t)-2,
              (int64_t)-1);
}
static inline DtHandle *tril (DtGradCall *c, DtHandle *h, int64_t k) {
  return k ? EMIT("aten.tril.default", "ti", h, k)
           : EMIT("aten.tril.default", "t", h);
}
static inline DtHandle *triu (DtGradCall *c, DtHandle *h, int64_t k) {
  return k ? EMIT("aten.triu.default", "ti", h, k)
           : EMIT("aten.triu.default", "t", h);
}
static inline DtHandle *slice (DtGradCall *c, DtHandle *h, int64_t d, int64_t from,
                        int64_t to) {
  return EMIT("aten.slice.Tensor", "tiii", h, d, from, to);
}
static inline DtHandle *cat (DtGradCall *c, DtHandle *a, DtHandle *b, int64_t d) {
  DtHandle *two[2] = { a, b };
  return EMIT("aten.cat.default", "Ti", 2, two, d);
}
static inline int64_t rows (DtGradCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  return m.ndim < 2 ? 0 : m.shape[m.ndim - 2];
}
static inline int64_t cols (DtGradCall *c, DtHandle *h) {
  DtMeta m = meta_of(c, h);
  return m.ndim < 1 ? 0 : m.shape[m.ndim - 1];
}

#endif
