/* SPDX-License-Identifier: MIT
** kernel/conv.c: convolution as matrix products.
**
** For one sample and one group, columns hold what each output position reads:
** cols[c * k, position].  Then y = w cols; the gradients are cols = w^T y,
** summed back into x, and w = y cols^T; a transposed convolution makes x from
** y.  Columns are made for a block of positions at a time, so that memory
** stays bounded whatever the sizes are, and work can be broken off between
** blocks.  Samples never share a product: a part of a batch gives the bits the
** whole gives. */
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/spatial.h"

enum { BLOCK = 1 << 20 };       /* elements of columns at a time */

typedef struct Work {
  const DtConv *v;
  DtConvMake make;
  DtTensor *x, *w, *y;          /* dense, of the computing type */
  DtTensor *cols;
  DtDtype t;
  int64_t kk;                   /* rows of the columns */
  int64_t block;                /* positions of a block */
} Work;

static int64_t volume (const int64_t *s) { return s[0] * s[1] * s[2]; }

/* ---- columns ---- */

/* Positions within one row of y, for one window offset: where the first reads
** in x, and which of them read inside it. */
typedef struct Run { int64_t x0, from, to; } Run;

/* Where the row's reads begin; false: outside x. */
static bool row_start (const DtConv *v, int64_t row, const int64_t *k,
                       int64_t *at) {
  int64_t p0 = row / v->y[1] * v->stride[0] + k[0] * v->dil[0] - v->pad[0];
  int64_t p1 = row % v->y[1] * v->stride[1] + k[1] * v->dil[1] - v->pad[1];
  *at = (p0 * v->x[1] + p1) * v->x[2];
  return p0 >= 0 && p0 < v->x[0] && p1 >= 0 && p1 < v->x[1];
}

/* The same for positions [i, i + n) of a row that reads from `at` on. */
static Run run_of (const DtConv *v, int64_t at, int64_t i, int64_t n,
                   int64_t k) {
  int64_t s = v->stride[2], first = k * v->dil[2] - v->pad[2];
  int64_t lo = first < 0 ? (-first + s - 1) / s : 0;
  int64_t hi = v->x[2] > first ? (v->x[2] - first + s - 1) / s : 0;
  Run r = { at + first + i * s, lo - i, hi - i };
  r.from = r.from < 0 ? 0 : r.from > n ? n : r.from;
  r.to = r.to > n ? n : r.to < r.from ? r.from : r.to;
  return r;
}

#define COLUMN_LOOPS(NAME, T) \
  static void NAME##_unfold (const DtConv *v, const T *x, T *col, int64_t q, \
                             int64_t n, const int64_t *k) { \
    while (n > 0) { \
      int64_t i = q % v->y[2], w = v->y[2] - i < n ? v->y[2] - i : n, at; \
      Run r = { 0, 0, 0 }; \
      if (row_start(v, q / v->y[2], k, &at)) r = run_of(v, at, i, w, k[2]); \
      for (int64_t j = 0; j < r.from; j++) col[j] = 0; \
      for (int64_t j = r.from; j < r.to; j++) \
        col[j] = x[r.x0 + j * v->stride[2]]; \
      for (int64_t j = r.to; j < w; j++) col[j] = 0; \
      col += w; \
      q += w; \
      n -= w; \
    } \
  } \
  static void NAME##_fold (const DtConv *v, T *x, const T *col, int64_t q, \
                           int64_t n, const int64_t *k) { \
    while (n > 0) { \
      int64_t i = q % v->y[2], w = v->y[2] - i < n ? v->y[2] - i : n, at; \
      if (row_start(v, q / v->y[2], k, &at)) { \
        Run r = run_of(v, at, i, w, k[2]); \
        for (int64_t j = r.from; j < r.to; j++) \
          x[r.x0 + j * v->stride[2]] += col[j]; \
      } \
      col += w; \
      q += w; \
      n -= w; \
    } \
  }
COLUMN_LOOPS(f32, float)
COLUMN_LOOPS(f64, double)

/* The columns of positions [q, q + n) from x, or summed into it. */
static void columns (const Work *s, bool back, void *x, void *cols, int64_t q,
                     int64_t n) {
  const DtConv *v = s->v;
  int64_t vx = volume(v->x), row = 0, k[3];
  for (int64_t c = 0; c < v->c / v->groups; c++)
    for (k[0] = 0; k[0] < v->k[0]; k[0]++)
      for (k[1] = 0; k[1] < v->k[1]; k[1]++)
        for (k[2] = 0; k[2] < v->k[2]; k[2]++, row++)
          if (s->t == DT_F32) {
            float *px = (float *)x + c * vx, *pc = (float *)cols + row * n;
            if (back) f32_fold(v, px, pc, q, n, k);
            else f32_unfold(v, px, pc, q, n, k);
          } else {
            double *px = (double *)x + c * vx, *pc = (double *)cols + row * n;
            if (back) f64_fold(v, px, pc, q, n, k);
            else f64_unfold(v, px, pc, q, n, k);
          }
}

/* ---- products ---- */

/* A matrix within t: rows x cols from element `at`, rows `step` apart; `flip`
** transposes it. */
static DtTensor matrix (const DtTensor *t, int64_t at, int64_t rows,
                        int64_t cols, int64_t step, bool flip) {
  DtTensor m = dt_stack_view(t);
  m.offset += at;
  m.m.ndim = 2;
  m.m.shape[flip] = rows;
  m.m.stride[flip] = step;
  m.m.shape[!flip] = cols;
  m.m.stride[!flip] = 1;
  return m;
}

/* One block of positions of sample i, group g. */
static DtStatus block (DtCtx *cx, const Work *s, int64_t i, int64_t g,
                       int64_t q, int64_t n) {
  const DtConv *v = s->v;
  int64_t o = v->o / v->groups, vy = volume(v->y);
  int64_t at = (i * v->c + g * (v->c / v->groups)) * volume(v->x);
  void *x, *c;
  bool flip = s->make == DT_CONV_W;
  DtTensor y = matrix(s->y, (i * v->o + g * o) * vy + q, o, n, vy, false);
  DtTensor w = matrix(s->w, g * o * s->kk, o, s->kk, s->kk,
                      s->make == DT_CONV_X);
  DtTensor cols = matrix(s->cols, 0, s->kk, n, n, flip);
  DT_TRY(cx, dt_ctx_poll(cx));
  DT_TRY(cx, dt_tensor_data(cx, s->x, &x));
  DT_TRY(cx, dt_tensor_data(cx, s->cols, &c));
  x = (char *)x + (size_t)at * dt_dtype_size(s->t);
  if (s->make == DT_CONV_X) {
    DT_TRY(cx, dt_k_gemm(cx, 1, &w, &y, 0, &cols));
    columns(s, true, x, c, q, n);
    return DT_OK;
  }
  columns(s, false, x, c, q, n);
  return flip ? dt_k_gemm(cx, 1, &y, &cols, 1, &w)
              : dt_k_gemm(cx, 1, &w, &cols, 0, &y);
}

static DtStatus blocks (DtCtx *cx, const Work *s) {
  const DtConv *v = s->v;
  int64_t vy = volume(v->y);
  for (int64_t i = 0; i < v->n; i++)
    for (int64_t g = 0; g < v->groups; g++)
      for (int64_t q = 0; q < vy; q += s->block)
        DT_TRY(cx, block(cx, s, i, g, q, vy - q < s->block ? vy - q
                                                           : s->block));
  return DT_OK;
}

/* ---- set-up ---- */

static DtStatus new_tensor (DtCtx *cx, DtDtype t, int nd, const int64_t *shape,
                            DtTensor **out) {
  DtMeta m;
  DT_TRY(cx, dt_meta_init(cx, &m, t, nd, shape));
  return dt_tensor_new(cx, &m, false, out);
}

static DtStatus new_columns (DtCtx *cx, Work *s) {
  const DtConv *v = s->v;
  int64_t vy = volume(v->y), n;
  s->kk = v->c / v->groups * volume(v->k);
  n = BLOCK / (s->kk > 0 ? s->kk : 1);
  n = n < 64 ? 64 : n;
  s->block = n < vy ? n : vy > 0 ? vy : 1;
  int64_t len = s->kk * s->block;
  return new_tensor(cx, s->t, 1, &len, &s->cols);
}

/* The tensor to make: itself when it is dense and of the computing type. */
static DtStatus new_made (DtCtx *cx, const Work *s, DtTensor *t,
                          DtTensor **out) {
  if (t->m.dtype == s->t && dt_meta_is_contiguous(&t->m)) {
    *out = dt_tensor_ref(t);
  } else {
    DT_TRY(cx, new_tensor(cx, s->t, t->m.ndim, t->m.shape, out));
  }
  return dt_k_fill(cx, *out, dt_scalar_int(0));
}

/* made[n, c, ...] += bias[c] */
static DtStatus add_bias (DtCtx *cx, const Work *s, const DtTensor *bias,
                          DtTensor *made) {
  DtTensor b = dt_stack_view(bias);
  b.m.ndim = (uint8_t)(made->m.ndim - 1);
  for (int d = 1; d < b.m.ndim; d++) {
    b.m.shape[d] = 1;
    b.m.stride[d] = 0;
  }
  return dt_k_binary(cx, DT_B_add, s->t, NULL, made, &b, made);
}

DtStatus dt_k_conv (DtCtx *cx, DtConvMake make, const DtConv *v, DtTensor *x,
                    DtTensor *w, DtTensor *y, const DtTensor *bias) {
  DtTensor *t[3] = { x, w, y }, *own[3] = { NULL, NULL, NULL };
  DtStatus st = DT_OK;
  Work s = { .v = v, .make = make, .t = DT_F64 };
  if (dt_class_of((DtDtype)t[make]->m.dtype) == DT_CL_F32) s.t = DT_F32;
  for (int i = 0; i < 3; i++)
    DT_TRYG(cx, i == (int)make ? new_made(cx, &s, t[i], &own[i])
                               : dt_kernel_dense(cx, t[i], s.t, &own[i]));
  s.x = own[0];
  s.w = own[1];
  s.y = own[2];
  DT_TRYG(cx, new_columns(cx, &s));
  if (s.kk > 0) DT_TRYG(cx, blocks(cx, &s));
  if (bias != NULL) DT_TRYG(cx, add_bias(cx, &s, bias, own[make]));
  if (own[make] != t[make]) st = dt_k_copy(cx, own[make], t[make]);
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(cx, own[i]);
  dt_tensor_unref(cx, s.cols);
  return st;
}
