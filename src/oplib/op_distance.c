/* SPDX-License-Identifier: MIT
** oplib/op_distance.c: distances of all pairs of rows, and the sum of products
** of three tensors with dims of 1 inserted. */
#include "oplib/define.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#include <math.h>
#include <string.h>


/* ---- distances of rows ---- */

static DtStatus cdist_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  DtMeta x, y, r;
  int n;
  DT_CHECK(c->cx, a->ndim >= 2 && b->ndim >= 2, DT_E_RUNTIME,
           "cdist only supports at least 2D tensors");
  DT_CHECK(c->cx, a->shape[a->ndim - 1] == b->shape[b->ndim - 1],
           DT_E_RUNTIME, "X1 and X2 must have the same number of columns. X1: "
           "%lld X2: %lld", (long long)a->shape[a->ndim - 1],
           (long long)b->shape[b->ndim - 1]);
  dt_meta_copy(&x, a);
  dt_meta_copy(&y, b);
  x.ndim = (uint8_t)(x.ndim - 2);
  y.ndim = (uint8_t)(y.ndim - 2);
  DT_TRY(c->cx, dt_meta_broadcast(c->cx, &x, &y, &r));
  for (int i = 0; i < 2; i++) {
    DtDtype t = (DtDtype)(i ? b : a)->dtype;
    DT_CHECK(c->cx, dt_dtype_is_float(t), DT_E_RUNTIME, "cdist only supports "
             "floating-point dtypes, X%d got: %s", i + 1, op_dtype_word(t));
  }
  DT_CHECK(c->cx, c->fake || dt_dtype_size((DtDtype)a->dtype) > 1,
           DT_E_NOTIMPL, "\"cdist\" not implemented for '%s'",
           op_dtype_word((DtDtype)a->dtype));
  n = r.ndim;
  r.shape[n] = a->shape[a->ndim - 2];
  r.shape[n + 1] = b->shape[b->ndim - 2];
  c->nout = 1;
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, n + 2, r.shape, a);
}

/* A operand of shape (..., rows, width) seen as (..., rows or 1, rows or 1,
** width): pairs of rows by broadcasting. */
static DtTensor pair_view (const DtTensor *t, bool first) {
  DtTensor v = *t;
  int n = t->m.ndim;
  v.m.ndim = (uint8_t)(n + 1);
  v.m.shape[n] = t->m.shape[n - 1];
  v.m.stride[n] = t->m.stride[n - 1];
  v.m.shape[first ? n - 2 : n - 1] = t->m.shape[n - 2];
  v.m.stride[first ? n - 2 : n - 1] = t->m.stride[n - 2];
  v.m.shape[first ? n - 1 : n - 2] = 1;
  v.m.stride[first ? n - 1 : n - 2] = 0;
  return v;
}
static DtStatus cdist_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  DtTensor a = pair_view(c->in[0], true), b = pair_view(c->in[1], false);
  int n = out->m.ndim;
  int64_t shape[DT_MAX_NDIM];
  DtScalar one = dt_scalar_int(1), p = dt_scalar_float(dt_arg_float(c->args,
                                                                    2));
  DtStatus st = DT_OK;
  if (dt_meta_numel(&out->m) == 0) return DT_OK;
  DT_CHECK(c->cx, n < DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  memcpy(shape, out->m.shape, sizeof(int64_t) * (size_t)n);
  shape[n] = a.m.shape[a.m.ndim - 1];
  DT_TRYG(c->cx, op_temp(c->cx, (DtDtype)out->m.dtype, n + 1, shape, &t));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_sub, (DtDtype)out->m.dtype, &one, &a,
                             &b, t));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_NORM, &p, t, 1u << n, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}
static DtStatus cdist_grad (DtGradCall *c) {
  double p = dt_arg_float(c->args, 2);
  DtHandle *g = c->gout[0], *d = c->out[0];
  DtValue f = dt_v_code(DT_V_MEMFMT, 0);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten._cdist_backward.default", "tttft", g, c->in[0],
                        c->in[1], p, d));
  if (op_g_need(c, 1)) {
    DtHandle *h[2] = { g, d };
    for (int i = 0; i < 2; i++) {
      h[i] = EMIT("aten.transpose.int", "tii", h[i], (int64_t)-2, (int64_t)-1);
      h[i] = EMIT("aten.clone.default", "t memory_format=v", h[i], f);
    }
    op_g_set(c, 1, EMIT("aten._cdist_backward.default", "tttft", h[0],
                        c->in[1],
                        c->in[0], p, h[1]));
  }
  return op_g_finish(c);
}

static DtStatus cdist_back_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *a = dt_in(c, 1), *b = dt_in(c, 2);
  const DtMeta *d = dt_in(c, 4);
  int64_t shape[DT_MAX_NDIM];
  int n = d->ndim;
  DT_CHECK(c->cx, n >= 2 && a->ndim >= 2 && b->ndim >= 2 && a->ndim <= n &&
           b->ndim <= n, DT_E_RUNTIME, "%s: x1, x2 and the distances must be "
           "batches of matrices, but have %d, %d and %d dimensions",
           c->op->sig->full, a->ndim, b->ndim, n);
  bool ok = dt_meta_same_shape(g, d) &&
            d->shape[n - 2] == a->shape[a->ndim - 2] &&
            d->shape[n - 1] == b->shape[b->ndim - 2] &&
            a->shape[a->ndim - 1] == b->shape[b->ndim - 1];
  for (int i = 1; i <= n - 2; i++) {
    int64_t want = d->shape[n - 2 - i];
    if (a->ndim - 2 >= i)
      ok &= a->shape[a->ndim - 2 - i] == 1 ||
            a->shape[a->ndim - 2 - i] == want;
    if (b->ndim - 2 >= i)
      ok &= b->shape[b->ndim - 2 - i] == 1 ||
            b->shape[b->ndim - 2 - i] == want;
  }
  DT_CHECK(c->cx, ok, DT_E_RUNTIME, "%s: x1 of shape %s and x2 of shape %s do "
           "not have distances of shape %s", c->op->sig->full,
           op_shape_text(a).s, op_shape_text(b).s, op_shape_text(d).s);
  c->nout = 1;
  /* Nothing to add up: zeros like x1, not like the batch it expands to. */
  if (dt_meta_numel(d) == 0 || a->shape[a->ndim - 1] == 0)
    return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, a->ndim, a->shape,
                       a);
  memcpy(shape, d->shape, sizeof(int64_t) * (size_t)n);
  shape[n - 1] = a->shape[a->ndim - 1];
  return op_new_meta(c->cx, &c->out[0], (DtDtype)a->dtype, n, shape, a);
}

/* d|x|_p / dx for one component `diff` of a distance `d`. */
static double cdist_slope (double p, double diff, double d, double g) {
  double s = diff > 0 ? 1 : diff < 0 ? -1 : 0;
  if (p == 0 || d == 0) return 0;
  if (p == 1) return g * s;
  if (p == 2) return g * diff / d;
  if (isinf(p)) return fabs(diff) == d ? g * s : 0;
  if (p < 2) return s * pow(fabs(diff), p - 1) * g / pow(d, p - 1);
  return diff * pow(fabs(diff), p - 2) * g / pow(d, p - 1);
}

/* x - y in the type of the rows: for p of infinity it is compared with the
** distance, which was rounded to that. */
static double narrow_diff (DtDtype t, double x, double y) {
  return t == DT_F64 ? x - y : (double)((float)x - (float)y);
}

/* Element `index` of an operand that broadcasts to ndim dims, the last two of
** them row and column. */
static double at (const DtTensor *t, int ndim, const int64_t *index,
                  int64_t row, int64_t col) {
  int64_t ix[DT_MAX_NDIM];
  int lack = ndim - t->m.ndim, n = t->m.ndim;
  for (int d = 0; d < n - 2; d++)
    ix[d] = t->m.shape[d] == 1 ? 0 : index[d + lack];
  ix[n - 2] = row;
  ix[n - 1] = col;
  return dt_tensor_get(t, ix).re;
}
static DtStatus cdist_back_kernel (DtKernelCall *c) {
  DtTensor *out = c->out[0], *t = NULL;
  int n = out->m.ndim;
  int64_t total = dt_meta_numel(&out->m), ix[DT_MAX_NDIM] = { 0 };
  int64_t rows = c->in[2]->m.shape[c->in[2]->m.ndim - 2];
  double p = dt_arg_float(c->args, 3), *v;
  DtDtype t_in = (DtDtype)c->in[1]->m.dtype;
  void *data;
  DtStatus st = DT_OK;
  if (total == 0) return DT_OK;
  if (dt_meta_numel(&dt_kin(c, 4)->m) == 0)
    return dt_k_fill(c->cx, out, dt_scalar_int(0));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, n, out->m.shape, &t));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, t, &data));
  v = data;
  for (int64_t i = 0; i < total; i++) {
    int64_t r = ix[n - 2], k = ix[n - 1];
    v[i] = 0;
    for (int64_t j = 0; j < rows; j++)
      v[i] += cdist_slope(p, narrow_diff(t_in, at(c->in[1], n, ix, r, k),
                                         at(c->in[2], n, ix, j, k)),
                          at(dt_kin(c, 4), n, ix, r, j),
                          at(c->in[0], n, ix, r, j));
    for (int d = n - 1; d >= 0; d--) {
      if (++ix[d] < out->m.shape[d]) break;
      ix[d] = 0;
    }
  }
  DT_TRYG(c->cx, dt_k_copy(c->cx, t, out));
done:
  dt_tensor_unref(c->cx, t);
  return st;
}

/* ---- the sum of products of three tensors with dims of 1 inserted ---- */

typedef struct Tri { DtMeta m[3]; uint32_t sum; int n; } Tri;

static DtStatus tri_shapes (DtCtx *cx, const DtArgs *a,
                            const DtMeta *const *in, Tri *t) {
  int64_t list[DT_MAX_NDIM];
  t->n = in[0]->ndim + op_ints(a, 3, list);
  t->sum = 0;
  DT_CHECK(cx, t->n <= DT_MAX_NDIM, DT_E_LIMIT, "at most %d dimensions",
           DT_MAX_NDIM);
  for (int i = 0; i < 3; i++) {
    int k = op_ints(a, 3 + i, list), from = 0;
    uint32_t ones = 0;
    for (int j = 0; j < k; j++) {
      DT_CHECK(cx, list[j] >= 0 && list[j] < t->n, DT_E_RUNTIME,
               "_trilinear: dim %lld is out of range", (long long)list[j]);
      ones |= 1u << list[j];
    }
    DT_CHECK(cx, in[i]->ndim + k == t->n, DT_E_RUNTIME,
             "_trilinear: expanded operands differ in their dims");
    t->m[i] = *in[i];
    t->m[i].ndim = (uint8_t)t->n;
    for (int d = 0; d < t->n; d++) {
      bool one = ones >> d & 1u;
      t->m[i].shape[d] = one ? 1 : in[i]->shape[from];
      t->m[i].stride[d] = one ? 0 : in[i]->stride[from];
      from += !one;
    }
  }
  int k = op_ints(a, 6, list);
  for (int j = 0; j < k; j++)
    if (list[j] >= 0 && list[j] < t->n) t->sum |= 1u << list[j];
  return DT_OK;
}
static DtStatus trilinear_meta (DtMetaCall *c) {
  Tri t;
  DtMeta r;
  DT_TRY(c->cx, tri_shapes(c->cx, c->args, c->in, &t));
  OpOperand o[3] = { { .m = &t.m[0] }, { .m = &t.m[1] }, { .m = &t.m[2] } };
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, (DtDtype)c->in[0]->dtype, &r));
  c->nout = 1;
  return op_reduced(c->cx, &r, t.sum, false, (DtDtype)r.dtype, &c->out[0]);
}
static DtStatus trilinear_kernel (DtKernelCall *c) {
  const DtMeta *in[3];
  DtTensor v[3], *x = NULL;
  DtMeta r;
  DtDtype ty = (DtDtype)c->out[0]->m.dtype;
  Tri t;
  DtStatus st = DT_OK;
  for (int i = 0; i < 3; i++) in[i] = &c->in[i]->m;
  DT_TRY(c->cx, tri_shapes(c->cx, c->args, in, &t));
  for (int i = 0; i < 3; i++) {
    v[i] = *c->in[i];
    v[i].m = t.m[i];
  }
  OpOperand o[3] = { { .m = &t.m[0] }, { .m = &t.m[1] }, { .m = &t.m[2] } };
  DT_TRY(c->cx, op_broadcast(c->cx, 3, o, ty, &r));
  DT_TRYG(c->cx, op_temp(c->cx, ty, r.ndim, r.shape, &x));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, ty, NULL, &v[0], &v[1], x));
  DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_mul, ty, NULL, x, &v[2], x));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_SUM, NULL, x, t.sum, c->out[0]));
done:
  dt_tensor_unref(c->cx, x);
  return st;
}
/* Each gradient is the same sum with the result's gradient in its place. */
static DtStatus trilinear_grad (DtGradCall *c) {
  DtHandle *g = c->gout[0];
  const DtValue *v = c->args->v;
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten._trilinear.default", "tttvvvv", g, c->in[1],
                        c->in[2], v[6], v[4], v[5], v[3]));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten._trilinear.default", "tttvvvv", c->in[0], g,
                        c->in[2], v[3], v[6], v[5], v[4]));
  if (op_g_need(c, 2))
    op_g_set(c, 2, EMIT("aten._trilinear.default", "tttvvvv", c->in[0],
                        c->in[1],
                        g, v[3], v[4], v[6], v[5]));
  return op_g_finish(c);
}

/* ---- definitions ---- */

MD(_cdist_backward, "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float "
   "p, Tensor cdist) -> Tensor", "Gradient of distances by the first rows.",
   DT_OP_NOSTRATEGY,
   "f32[4, 5], f32[4, 3], f32[5, 3], 2.0, f32[4, 5]", .meta = cdist_back_meta,
   .kernel = cdist_back_kernel, .grad = op_gg_cdist_backward);
MD(_cdist_forward, "_cdist_forward(Tensor x1, Tensor x2, float p, int? "
   "compute_mode) -> Tensor", "Distances of all pairs of rows.",
   DT_OP_SAVE_OUT | DT_OP_NOSTRATEGY, "f32[4, 3], f32[5, 3], 2.0, None",
   .meta = cdist_meta, .kernel = cdist_kernel, .grad = cdist_grad);
MD(_trilinear, "_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, "
   "int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
   "Products of three tensors with dims inserted, summed.", DT_OP_NOSTRATEGY,
   "f32[2, 3], f32[5, 3, 4], f32[2, 4], [1, 3], [0], [1, 2], [2, 3]",
   .meta = trilinear_meta, .kernel = trilinear_kernel,
   .grad = trilinear_grad);
