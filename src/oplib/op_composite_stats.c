/* SPDX-License-Identifier: MIT
** oplib/op_composite_stats.c: public functions that are many operators: statistics
** of rows, similarity, products of lists, repetition by counts.  Each emits what
** PyTorch's C++ dispatches, in its order; nothing is computed here. */
#include "oplib/oplib_int.h"
#include "oplib/emitting.h"

#include <string.h>

/* ---- similarity ---- */

static DtHandle *spread (DtDecompCall *c, DtHandle *h, const DtMeta *m,
                         const DtMeta *to) {
  bool same = m->ndim == to->ndim &&
              memcmp(m->shape, to->shape,
                     (size_t)m->ndim * sizeof *m->shape) == 0;
  return same ? h : EMIT("aten.expand.default", "tI", h, to->ndim, to->shape);
}

static DtStatus cosine_decomp (DtDecompCall *c) {
  DtHandle *x[2] = { c->in[0], c->in[1] }, *n[2];
  DtMeta m[2] = { meta_of(c, x[0]), meta_of(c, x[1]) }, both;
  OpOperand o[2] = { { .m = &m[0] }, { .m = &m[1] } };
  int64_t dim = dt_arg_int(c->args, 2);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DtDtype t = op_promote(CX, 2, o);
  DT_CHECK(CX, dt_dtype_is_float(t), DT_E_RUNTIME, "expected common dtype to "
           "be floating point, yet common dtype is %s", op_dtype_word(t));
  DT_TRY(CX, op_broadcast(CX, 2, o, t, &both));
  for (int i = 0; i < 2; i++) {
    x[i] = spread(c, x[i], &m[i], &both);
    if (m[i].dtype != t)
      x[i] = EMIT("aten._to_copy.default", "t dtype=d", x[i], (int)t);
  }
  for (int i = 0; i < 2; i++) {
    n[i] = EMIT("aten.linalg_vector_norm.default", "tiIb", x[i], (int64_t)2, 1,
                &dim, 1);
    n[i] = EMIT("aten.clone.default", "t", n[i]);
  }
  DtHandle *eps = EMIT("aten.scalar_tensor.default", "v dtype=d",
                       c->args->v[3],
                       (int)t);
  c->e->quiet = true;           /* the limit is no part of the gradient */
  for (int i = 0; i < 2; i++)
    n[i] = EMIT("aten.clamp_min_.Tensor", "tt", n[i], eps);
  c->e->quiet = false;
  for (int i = 0; i < 2; i++) x[i] = EMIT("aten.div.Tensor", "tt", x[i], n[i]);
  x[0] = EMIT("aten.mul.Tensor", "tt", x[0], x[1]);
  return finish(c, EMIT("aten.sum.dim_IntList", "tI", x[0], 1, &dim));
}

static DtStatus distance_decomp (DtDecompCall *c) {
  const DtValue *v = c->args->v;
  DtHandle *d = EMIT("aten.sub.Tensor", "tt", c->in[0], c->in[1]);
  d = EMIT("aten.add.Scalar", "tv", d, v[3]);
  DtMeta m = meta_of(c, d);
  int64_t last = m.ndim - 1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  return finish(c, EMIT("aten.norm.ScalarOpt_dim", "tvIv", d, v[2], 1, &last,
                        v[4]));
}

/* ---- covariance ---- */

static DtHandle *whole (DtDecompCall *c, int64_t v) {
  return EMIT("aten.scalar_tensor.default", "i dtype=d", v, (int)DT_I64);
}

/* Rows are variables, columns observations. */
static DtHandle *covariance (DtDecompCall *c, int64_t correction) {
  DtHandle *x = c->in[0], *n, *d, *t;
  DtMeta m = meta_of(c, x);
  int64_t row[2] = { 1, -1 }, dim = 1;
  if (m.ndim < 2) x = EMIT("aten.view.default", "tI", x, 2, row);
  int64_t k = m.ndim == 2 ? m.shape[1] : dt_meta_numel(&m);
  n = whole(c, k);
  d = EMIT("aten.sum.dim_IntList", "tI", x, 1, &dim);
  d = EMIT("aten.div.Tensor", "tt", d, n);
  n = whole(c, k - correction);
  t = EMIT("aten.le.Scalar", "ti", n, (int64_t)0);
  (void)EMIT("aten.equal.default", "tt", t,
             EMIT("aten.new_ones.default", "tI dtype=d", t, 0, row,
                  (int)DT_BOOL));
  if (k <= correction) (void)EMIT("aten.zero_.default", "t", n);
  d = EMIT("aten.sub.Tensor", "tt", x, EMIT("aten.unsqueeze.default", "ti", d,
                                            dim));
  t = EMIT("aten.t.default", "t", d);
  if (dt_dtype_is_complex((DtDtype)m.dtype))
    t = EMIT("aten._conj.default", "t", t);
  d = EMIT("aten.div.Tensor", "tt", EMIT("aten.mm.default", "tt", d, t), n);
  return EMIT("aten.squeeze.default", "t", d);
}

static DtStatus check_rows (DtDecompCall *c, const char *fn) {
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim <= 2, DT_E_RUNTIME, "%s(): expected input to have two or "
           "fewer dimensions but got an input with %d dimensions", fn, m.ndim);
  DT_CHECK(CX, m.dtype != DT_BOOL, DT_E_RUNTIME,
           "%s(): bool dtype is not supported for input", fn);
  return DT_OK;
}

/* One weight, not negative, for each of `n` observations; dtype, "integral" or
** "floating point", is checked by the caller. */
static DtStatus check_weights (DtDecompCall *c, const char *name, DtHandle *w,
                               int64_t n, bool fits, const char *dtype) {
  DtMeta m = meta_of(c, w);
  int64_t fine = 1;
  if (!dt_emit_ok(c->e)) return c->e->st;
  DT_CHECK(CX, m.ndim <= 1, DT_E_RUNTIME, "cov(): expected %s to have one or "
           "fewer dimensions but got %s with %d dimensions", name, name, m.ndim);
  DT_CHECK(CX, fits, DT_E_RUNTIME, "cov(): expected %s to have %s dtype but got "
           "%s with %s dtype", name, dtype, name,
           op_dtype_word((DtDtype)m.dtype));
  DT_CHECK(CX, dt_meta_numel(&m) == n, DT_E_RUNTIME, "cov(): expected %s to "
           "have the same numel as there are observations in the input but got "
           "%lld != %lld", name, (long long)dt_meta_numel(&m), (long long)n);
  if (n == 0 || !dt_emit_has_data(c->e, w)) return DT_OK;
  DtHandle *least = EMIT("aten.ge.Scalar", "ti", w, (int64_t)0);
  DT_TRY(CX, dt_emit_item(c->e, EMIT("aten.all.default", "t", least), &fine));
  DT_CHECK(CX, fine != 0, DT_E_RUNTIME, "cov(): %s cannot be negative", name);
  return DT_OK;
}

/* The weights of observations: fweights count them, aweights tell how much each
** is worth; NULL: all weigh 1. */
static DtStatus find_weights (DtDecompCall *c, int64_t n, DtHandle **w) {
  DtHandle *f = dt_hin(c, 2), *a = dt_hin(c, 3);
  DtMeta m;
  if (f != NULL) {
    m = meta_of(c, f);
    DT_TRY(CX, check_weights(c, "fweights", f, n,
                             dt_dtype_is_integral((DtDtype)m.dtype, false),
                             "integral"));
  }
  if (a != NULL) {
    m = meta_of(c, a);
    DT_TRY(CX, check_weights(c, "aweights", a, n,
                             dt_dtype_is_float((DtDtype)m.dtype),
                             "floating point"));
  }
  *w = f == NULL ? a : a == NULL ? f : EMIT("aten.mul.Tensor", "tt", f, a);
  return c->e->st;
}

/* What the weighted squares are divided by: not below zero. */
static DtHandle *weighted_count (DtDecompCall *c, DtHandle *w, DtHandle *sum,
                                 int64_t correction) {
  DtHandle *a = dt_hin(c, 3), *n;
  if (a == NULL || correction == 0) {
    n = EMIT("aten.sub.Scalar", "ti", sum, correction);
  } else {
    n = EMIT("aten.mul.Tensor", "tt", w, a);
    n = EMIT("aten.sum.default", "t", n);
    n = EMIT("aten.div.Tensor", "tt", n, sum);
    n = EMIT("aten.mul.Scalar", "ti", n, correction);
    n = EMIT("aten.sub.Tensor", "tt", sum, n);
  }
  return EMIT("aten.clamp_min.default", "ti", n, (int64_t)0);
}

static DtHandle *weighted_covariance (DtDecompCall *c, DtHandle *w,
                                      int64_t correction) {
  DtHandle *x = c->in[0], *sum, *mean, *t;
  DtMeta m = meta_of(c, x);
  int64_t row[2] = { 1, -1 }, dim = 1;
  if (m.ndim < 2) x = EMIT("aten.view.default", "tI", x, 2, row);
  sum = EMIT("aten.sum.default", "t", w);
  mean = EMIT("aten.mul.Tensor", "tt", x, w);
  mean = EMIT("aten.sum.dim_IntList", "tI", mean, 1, &dim);
  mean = EMIT("aten.div.Tensor", "tt", mean, sum);
  x = EMIT("aten.sub.Tensor", "tt", x,
           EMIT("aten.unsqueeze.default", "ti", mean, dim));
  t = EMIT("aten.t.default", "t", EMIT("aten.mul.Tensor", "tt", x, w));
  if (dt_dtype_is_complex((DtDtype)m.dtype))
    t = EMIT("aten._conj.default", "t", t);
  x = EMIT("aten.div.Tensor", "tt", EMIT("aten.mm.default", "tt", x, t),
           weighted_count(c, w, sum, correction));
  return EMIT("aten.squeeze.default", "t", x);
}

static DtStatus cov_decomp (DtDecompCall *c) {
  DtHandle *w = NULL;
  DtMeta m = meta_of(c, c->in[0]);
  int64_t zero = 0, correction = dt_arg_int(c->args, 1);
  DT_TRY(CX, check_rows(c, "cov"));
  DT_TRY(CX, find_weights(c, m.ndim == 2 ? m.shape[1] : dt_meta_numel(&m),
                          &w));
  if (w == NULL) return finish(c, covariance(c, correction));
  if (dt_emit_has_data(c->e, w)) {
    DtHandle *sum = EMIT("aten.sum.default", "t", w);
    DT_TRY(CX, dt_emit_item(c->e, EMIT("aten.eq.Scalar", "ti", sum, (int64_t)0),
                            &zero));
    DT_CHECK(CX, zero == 0, DT_E_RUNTIME,
             "cov(): weights sum to zero, can't be normalized");
  }
  return finish(c, weighted_covariance(c, w, correction));
}

static DtStatus corrcoef_decomp (DtDecompCall *c) {
  int64_t down[2] = { -1, 1 }, across[2] = { 1, -1 };
  DT_TRY(CX, check_rows(c, "corrcoef"));
  DtHandle *v = covariance(c, 1), *s;
  DtMeta m = meta_of(c, v);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (m.ndim == 0) return finish(c, EMIT("aten.div.Tensor", "tt", v, v));
  s = EMIT("aten.sqrt.default", "t", EMIT("aten.diagonal.default", "t", v));
  v = EMIT("aten.div.Tensor", "tt", v, EMIT("aten.view.default", "tI", s, 2,
                                            down));
  v = EMIT("aten.div.Tensor", "tt", v,
           EMIT("aten.view.default", "tI", s, 2, across));
  if (dt_dtype_is_complex((DtDtype)m.dtype)) return finish(c, v);
  return finish(c, EMIT("aten.clamp.default", "tii", v, (int64_t)-1,
                        (int64_t)1));
}

/* ---- products of lists, repetition ---- */

static DtStatus cartesian_decomp (DtDecompCall *c) {
  int n = c->nin;
  int64_t shape[DT_MAX_NDIM], own[DT_MAX_NDIM], total = 1;
  DtHandle *col[DT_MAX_NDIM];
  DT_CHECK(CX, n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d tensors", DT_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    DtMeta m = meta_of(c, c->in[i]);
    if (!dt_emit_ok(c->e)) return c->e->st;
    DT_CHECK(CX, m.ndim == 1, DT_E_RUNTIME, "Expect a 1D vector, but got shape "
             "%s", op_shape_text(&m).s);
    shape[i] = m.shape[0];
    total *= shape[i];
  }
  if (n == 1) return finish(c, c->in[0]);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) own[k] = k == i ? -1 : 1;
    col[i] = EMIT("aten.view.default", "tI", c->in[i], n, own);
    col[i] = EMIT("aten.expand.default", "tI", col[i], n, shape);
  }
  for (int i = 0; i < n; i++)
    col[i] = EMIT("aten.reshape.default", "tI", col[i], 1, &total);
  return finish(c, EMIT("aten.stack.default", "Ti", n, col, (int64_t)1));
}

static DtStatus repeat_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[0], *r = c->in[1];
  DtMeta m = meta_of(c, x), k = meta_of(c, r);
  int64_t one = 1, all = -1;
  int d = 0;
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (!dt_arg_is_none(c->args, 2)) {
    DT_TRY(CX, op_dim(CX, c->args, 2, m.ndim, &d));
  } else if (m.ndim != 1) {                     /* flat already: as it is */
    x = EMIT("aten.reshape.default", "tI", x, 1, &all);
    m = meta_of(c, x);
  }
  if (!dt_emit_ok(c->e)) return c->e->st;
  int64_t n = m.ndim > 0 ? m.shape[d] : 1;
  DT_CHECK(CX, k.ndim <= 1, DT_E_RUNTIME,
           "repeats must be 0-dim or 1-dim tensor");
  if (k.ndim == 0 || k.shape[0] == 1) {
    r = EMIT("aten.reshape.default", "tI", r, 1, &one);
    r = EMIT("aten.expand.default", "tI", r, 1, &n);
  } else {
    DT_CHECK(CX, k.shape[0] == n, DT_E_RUNTIME, "repeats must have the same "
             "size as input along dim, but got repeats.size(0) = %lld and "
             "input.size(%d) = %lld", (long long)k.shape[0], d, (long long)n);
  }
  r = EMIT("aten.repeat_interleave.Tensor", "t", r);
  return finish(c, EMIT("aten.index_select.default", "tit", x, (int64_t)d, r));
}

/* Positions of what is not zero, a tensor for each dim. */
static DtStatus where_decomp (DtDecompCall *c) {
  DtMeta m = meta_of(c, c->in[0]);
  if (!dt_emit_ok(c->e)) return c->e->st;
  c->nout = m.ndim > 0 ? m.ndim : 1;
  DtHandle *h = EMIT("aten.nonzero.default", "t", c->in[0]);
  dt_emit_n(c->e, "aten.unbind.int", c->out, c->nout, "ti", h, (int64_t)1);
  return c->e->st;
}

/* ---- definitions ---- */

#define C(id, schema_, brief_, decomp_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = decomp_, .samples = id##_samples }
#define D(id, schema_, brief_, program_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = op_d_program, .program = program_, .samples = id##_samples }

C(cosine_similarity, "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float "
  "eps=1e-08) -> Tensor", "Cosine of the angle between rows.", cosine_decomp,
  "f32[8, 6], f32[8, 6]");
C(pairwise_distance, "pairwise_distance(Tensor x1, Tensor x2, float p=2., float"
  " eps=1e-06, bool keepdim=False) -> Tensor",
  "Norm of the difference, by rows.", distance_decomp, "f32[8, 6], f32[8, 6]");
C(cov, "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? "
  "aweights=None) -> Tensor", "Covariance of rows.", cov_decomp, "f32[4, 6]");
C(corrcoef, "corrcoef(Tensor self) -> Tensor", "Correlation of rows.",
  corrcoef_decomp, "f32[4, 6]");
C(cartesian_prod, "cartesian_prod(Tensor[] tensors) -> Tensor",
  "Every choice of one element from each.", cartesian_decomp,
  "[f32[4], f32[3]]");
C(repeat_interleave_self_Tensor, "repeat_interleave.self_Tensor(Tensor self, "
  "Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
  "Each element as often as told.", repeat_decomp, "f32[4], i64[4]");
C(where, "where(Tensor condition) -> Tensor[]",
  "Positions of what is not zero, by dim.", where_decomp, "bool[4, 6]");
D(argwhere, "argwhere(Tensor self) -> Tensor",
  "Positions of what is not zero, by row.", "nonzero(self)", "f32[4, 6]");
D(normal_float_float, "normal.float_float(float mean, float std, SymInt[] size,"
  " *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, "
  "Device? device=None, bool? pin_memory=None) -> Tensor",
  "Normally distributed numbers.", "e = empty.memory_format(size, dtype=dtype,"
  " device=device); normal_(e, mean, std)", "0.0, 1.0, [4]");
D(hinge_embedding_loss, "hinge_embedding_loss(Tensor self, Tensor target, "
  "float margin=1., int reduction=1) -> Tensor",
  "self where target is 1, max(0, margin - self) where it is -1.",
  "z = zeros_like(self, memory_format=!contiguous_format); e = "
  "empty_like(self, memory_format=!preserve_format); f = fill_.Scalar(e, "
  "margin); d = sub_.Tensor(f, self); m = clamp_min_(d, 0); n = "
  "ne.Scalar(target, 1); a = where.self(n, m, z); k = ne.Scalar(target, -1); "
  "b = where.self(k, self, z); s = add.Tensor(a, b); reduced(s)",
  "f32[8], f32[8]");
