/* SPDX-License-Identifier: MIT
** kernel/norm.c: layer norm and RMS norm over the last dims.
**
** The operand is seen as rows of `len` elements; operands that do not lie so
** are copied.  Rows are computed in double: mean, then the squared
** deviations (two passes), then the scaled values. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* Operands as dense f64 tensors, NULL when absent. */
typedef struct Norm {
  int64_t rows, len;
  DtTensor *a, *weight, *bias, *grad, *mean, *rstd;
  double *row, *tmp;            /* work lines */
} Norm;

static DtStatus dense (DtCtx *cx, const DtTensor *t, DtTensor **out) {
  return t == NULL ? DT_OK : dt_kernel_dense(cx, t, DT_F64, out);
}

static const double *values (const DtTensor *t) {
  return t == NULL ? NULL : dt_tensor_cdata(t);
}

static DtStatus norm_init (DtCtx *cx, Norm *s, const DtTensor *a, int k) {
  s->rows = s->len = 1;
  for (int d = 0; d < a->m.ndim; d++)
    *(d < a->m.ndim - k ? &s->rows : &s->len) *= a->m.shape[d];
  DT_TRY(cx, dense(cx, a, &s->a));
  s->row = dt_alloc(cx, (size_t)s->len * 2 * sizeof(double));
  if (s->row == NULL) return DT_E_NOMEM;
  s->tmp = s->row + s->len;
  return DT_OK;
}

static void norm_fini (DtCtx *cx, Norm *s) {
  dt_tensor_unref(cx, s->a);
  dt_tensor_unref(cx, s->weight);
  dt_tensor_unref(cx, s->bias);
  dt_tensor_unref(cx, s->grad);
  dt_tensor_unref(cx, s->mean);
  dt_tensor_unref(cx, s->rstd);
  dt_free(cx, s->row);
}

/* A contiguous f64 tensor of the shape of `t`, for a result. */
static DtStatus result_new (DtCtx *cx, const DtTensor *t, DtTensor **out,
                            double **v) {
  DtMeta m;
  void *p;
  dt_meta_copy(&m, &t->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  if (p != NULL) memset(p, 0, (size_t)dt_meta_nbytes(&m));
  *v = p;
  return DT_OK;
}

/* Statistics of a row; `dev` receives the deviations from the mean. */
static void row_stats (const double *x, int64_t n, bool rms, double eps,
                       double *dev, double *sq, double *mean, double *rstd) {
  *mean = rms ? 0 : dt_sum_f64(x, n) / (double)n;
  for (int64_t i = 0; i < n; i++) {
    dev[i] = x[i] - *mean;
    sq[i] = dev[i] * dev[i];
  }
  *rstd = 1 / sqrt(dt_sum_f64(sq, n) / (double)n + eps);
}

DtStatus dt_k_layer_norm (DtCtx *cx, bool rms, const DtTensor *a, int k,
                          const DtTensor *weight, const DtTensor *bias,
                          double eps, DtTensor *out, DtTensor *mean,
                          DtTensor *rstd) {
  DtStatus st = DT_OK;
  Norm s = {0};
  DtTensor *ro = NULL, *rm = NULL, *rr = NULL;
  double *o, *m = NULL, *r = NULL;
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, norm_init(cx, &s, a, k));
  DT_TRYG(cx, dense(cx, weight, &s.weight));
  DT_TRYG(cx, dense(cx, bias, &s.bias));
  DT_TRYG(cx, result_new(cx, out, &ro, &o));
  if (mean != NULL) DT_TRYG(cx, result_new(cx, mean, &rm, &m));
  if (rstd != NULL) DT_TRYG(cx, result_new(cx, rstd, &rr, &r));
  const double *x = values(s.a), *w = values(s.weight), *b = values(s.bias);
  for (int64_t i = 0; i < s.rows && x != NULL; i++) {
    double mu, rs;
    row_stats(x + i * s.len, s.len, rms, eps, s.row, s.tmp, &mu, &rs);
    if (m != NULL) m[i] = mu;
    if (r != NULL) r[i] = rs;
    for (int64_t j = 0; j < s.len; j++)
      o[i * s.len + j] = s.row[j] * rs * (w == NULL ? 1 : w[j]) +
                         (b == NULL ? 0 : b[j]);
  }
  for (int64_t i = 0; i < s.rows && x == NULL; i++) {   /* len 0 */
    if (m != NULL) m[i] = 0;
    if (r != NULL) r[i] = NAN;
  }
  DT_TRYG(cx, dt_k_copy(cx, ro, out));
  if (mean != NULL) DT_TRYG(cx, dt_k_copy(cx, rm, mean));
  if (rstd != NULL) DT_TRYG(cx, dt_k_copy(cx, rr, rstd));
done:
  dt_tensor_unref(cx, ro);
  dt_tensor_unref(cx, rm);
  dt_tensor_unref(cx, rr);
  norm_fini(cx, &s);
  return st;
}

/* With xh = (x - mean) rstd and gw = g w:
** gin = rstd (gw - mean(gw) - xh mean(gw xh)); RMS has no mean(gw). */
static void row_backward (const Norm *s, bool rms, const double *x,
                          const double *g, const double *w, double mu,
                          double rs, double *gin) {
  double n = (double)s->len;
  for (int64_t j = 0; j < s->len; j++) {
    s->row[j] = g[j] * (w == NULL ? 1 : w[j]);
    s->tmp[j] = s->row[j] * (x[j] - mu) * rs;
  }
  double c1 = rms ? 0 : dt_sum_f64(s->row, s->len) / n;
  double c2 = dt_sum_f64(s->tmp, s->len) / n;
  for (int64_t j = 0; j < s->len; j++)
    gin[j] = rs * (s->row[j] - c1 - (x[j] - mu) * rs * c2);
}

/* Results of the backward pass, dense; NULL when not wanted. */
typedef struct Back { DtTensor *t[3]; double *v[3]; } Back;

static void backward_rows (const Norm *s, bool rms, const Back *r) {
  const double *x = values(s->a), *g = values(s->grad), *w = values(s->weight);
  const double *mean = values(s->mean), *rstd = values(s->rstd);
  for (int64_t i = 0; i < s->rows && x != NULL; i++) {
    int64_t at = i * s->len;
    double mu = rms ? 0 : mean[i], rs = rstd[i];
    if (r->v[0] != NULL)
      row_backward(s, rms, x + at, g + at, w, mu, rs, r->v[0] + at);
    for (int64_t j = 0; j < s->len; j++) {
      if (r->v[1] != NULL)
        r->v[1][j] += g[at + j] * (x[at + j] - mu) * rs;
      if (r->v[2] != NULL) r->v[2][j] += g[at + j];
    }
  }
}

DtStatus dt_k_layer_norm_backward (DtCtx *cx, bool rms, const DtTensor *grad,
                                   const DtTensor *a, int k,
                                   const DtTensor *mean, const DtTensor *rstd,
                                   const DtTensor *weight, DtTensor *gin,
                                   DtTensor *gweight, DtTensor *gbias) {
  DtStatus st = DT_OK;
  Norm s = {0};
  Back r = {0};
  DtTensor *want[3] = {gin, gweight, gbias};
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, norm_init(cx, &s, a, k));
  DT_TRYG(cx, dense(cx, grad, &s.grad));
  DT_TRYG(cx, dense(cx, weight, &s.weight));
  if (!rms) DT_TRYG(cx, dense(cx, mean, &s.mean));
  DT_TRYG(cx, dense(cx, rstd, &s.rstd));
  for (int i = 0; i < 3; i++)
    if (want[i] != NULL)
      DT_TRYG(cx, result_new(cx, want[i], &r.t[i], &r.v[i]));
  backward_rows(&s, rms, &r);
  for (int i = 0; i < 3; i++)
    if (want[i] != NULL) DT_TRYG(cx, dt_k_copy(cx, r.t[i], want[i]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(cx, r.t[i]);
  norm_fini(cx, &s);
  return st;
}
