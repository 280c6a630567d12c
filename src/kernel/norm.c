/* SPDX-License-Identifier: MIT
** kernel/norm.c: layer norm and RMS norm over the last dims.
**
** The operand is seen as rows of `len` elements; operands that do not lie so
** are copied.  Rows are computed in double, one at a time: mean, then the
** squared deviations (two passes), then the scaled values. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* Operands as dense tensors, NULL when absent: `a` and `grad` in their own
** dtype, the small ones as f64. */
typedef struct Norm {
  int64_t rows, len;
  DtTensor *a, *weight, *bias, *grad, *mean, *rstd;
  double *row, *tmp, *x, *g;    /* work lines */
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
  DT_TRY(cx, dt_kernel_dense(cx, a, (DtDtype)a->m.dtype, &s->a));
  s->row = dt_alloc(cx, (size_t)s->len * 4 * sizeof(double));
  if (s->row == NULL) return DT_E_NOMEM;
  s->tmp = s->row + s->len;
  s->x = s->tmp + s->len;
  s->g = s->x + s->len;
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

/* Row i of a dense tensor, as double. */
static void row_load (const Norm *s, const DtTensor *t, int64_t i, double *v) {
  DtDtype type = (DtDtype)t->m.dtype;
  int64_t es = (int64_t)dt_dtype_size(type);
  dt_run_load(DT_CL_F64, v, type,
              (const char *)dt_tensor_cdata(t) + i * s->len * es, es, s->len);
}

static void row_store (const Norm *s, DtDtype t, void *p, int64_t i,
                       const double *v) {
  int64_t es = (int64_t)dt_dtype_size(t);
  dt_run_store(DT_CL_F64, v, t, (char *)p + i * s->len * es, es, s->len);
}

/* A contiguous tensor of the shape of `t`, for a result: `t` itself when its
** dtype and layout allow. */
static DtStatus result_new (DtCtx *cx, DtTensor *t, DtDtype dtype,
                            DtTensor **out, void **v) {
  DtMeta m;
  void *p;
  if (t->m.dtype == dtype && dt_meta_is_contiguous(&t->m)) {
    *out = dt_tensor_ref(t);
    return dt_tensor_data(cx, t, v);
  }
  dt_meta_copy(&m, &t->m);
  m.dtype = (uint8_t)dtype;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *v = p;
  return DT_OK;
}

/* Statistics of a row; `dev` receives the deviations from the mean. */
static void row_stats (const double *x, int64_t n, bool rms, double eps,
                       double *dev, double *sq, double *mean, double *rstd) {
  *mean = rms ? 0 : dt_sum_f64(x, n) / (double)n;
  if (isinf(*mean)) *mean = NAN;        /* as a running mean has it */
  for (int64_t i = 0; i < n; i++) {
    dev[i] = x[i] - *mean;
    sq[i] = dev[i] * dev[i];
  }
  *rstd = 1 / sqrt(dt_sum_f64(sq, n) / (double)n + eps);
}

/* One row of the result into s->row. */
static void row_forward (Norm *s, bool rms, double eps, double *mean,
                         double *rstd) {
  const double *w = values(s->weight), *b = values(s->bias);
  row_stats(s->x, s->len, rms, eps, s->row, s->tmp, mean, rstd);
  for (int64_t j = 0; j < s->len; j++) s->row[j] *= *rstd;
  for (int64_t j = 0; w != NULL && j < s->len; j++) s->row[j] *= w[j];
  for (int64_t j = 0; b != NULL && j < s->len; j++) s->row[j] += b[j];
}

DtStatus dt_k_layer_norm (DtCtx *cx, bool rms, const DtTensor *a, int k,
                          const DtAffine *scale, const DtNormed *to) {
  DtTensor *out = to->out, *mean = to->mean, *rstd = to->rstd;
  DtStatus st = DT_OK;
  Norm s = {0};
  DtTensor *ro = NULL, *rm = NULL, *rr = NULL;
  void *o, *m = NULL, *r = NULL;
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, norm_init(cx, &s, a, k));
  DT_TRYG(cx, dense(cx, scale->weight, &s.weight));
  DT_TRYG(cx, dense(cx, scale->bias, &s.bias));
  DtDtype t = (DtDtype)out->m.dtype;
  DT_TRYG(cx, result_new(cx, out, t, &ro, &o));
  if (mean != NULL) DT_TRYG(cx, result_new(cx, mean, DT_F64, &rm, &m));
  if (rstd != NULL) DT_TRYG(cx, result_new(cx, rstd, DT_F64, &rr, &r));
  for (int64_t i = 0; i < s.rows; i++) {
    double mu = 0, rs = NAN;            /* of an empty row */
    if (s.len > 0) {
      row_load(&s, s.a, i, s.x);
      row_forward(&s, rms, scale->eps, &mu, &rs);
      row_store(&s, t, o, i, s.row);
    }
    if (m != NULL) ((double *)m)[i] = mu;
    if (r != NULL) ((double *)r)[i] = rs;
  }
  if (ro != out) DT_TRYG(cx, dt_k_copy(cx, ro, out));
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
static void row_backward (const Norm *s, bool rms, double mu, double rs) {
  const double *x = s->x, *g = s->g, *w = values(s->weight);
  double n = (double)s->len, *gin = s->row;
  for (int64_t j = 0; j < s->len; j++) {
    s->row[j] = g[j] * (w == NULL ? 1 : w[j]);
    s->tmp[j] = s->row[j] * (x[j] - mu) * rs;
  }
  double c1 = rms ? 0 : dt_sum_f64(s->row, s->len) / n;
  double c2 = dt_sum_f64(s->tmp, s->len) / n;
  for (int64_t j = 0; j < s->len; j++)
    gin[j] = rs * (gin[j] - c1 - (x[j] - mu) * rs * c2);
}

/* Results of the backward pass, dense; NULL when not wanted.  The gradient
** of the input has its own dtype, the others are summed as f64. */
typedef struct Back { DtTensor *t[3]; void *v[3]; } Back;

static void backward_rows (const Norm *s, bool rms, const Back *r) {
  const double *mean = values(s->mean), *rstd = values(s->rstd);
  double *gw = r->v[1], *gb = r->v[2];
  for (int64_t i = 0; i < s->rows && s->len > 0; i++) {
    double mu = rms ? 0 : mean[i], rs = rstd[i];
    row_load(s, s->a, i, s->x);
    row_load(s, s->grad, i, s->g);
    for (int64_t j = 0; gw != NULL && j < s->len; j++)
      gw[j] += s->g[j] * (s->x[j] - mu) * rs;
    for (int64_t j = 0; gb != NULL && j < s->len; j++) gb[j] += s->g[j];
    if (r->v[0] == NULL) continue;
    row_backward(s, rms, mu, rs);
    row_store(s, (DtDtype)r->t[0]->m.dtype, r->v[0], i, s->row);
  }
}

DtStatus dt_k_layer_norm_backward (DtCtx *cx, bool rms, const DtTensor *grad,
                                   const DtNormSaved *x, int k,
                                   const DtNormGrads *to) {
  DtStatus st = DT_OK;
  Norm s = {0};
  Back r = {0};
  DtTensor *want[3] = {to->in, to->weight, to->bias};
  DT_TRYG(cx, dt_ctx_poll(cx));
  DT_TRYG(cx, norm_init(cx, &s, x->a, k));
  DT_TRYG(cx, dt_kernel_dense(cx, grad, (DtDtype)grad->m.dtype, &s.grad));
  DT_TRYG(cx, dense(cx, x->weight, &s.weight));
  if (!rms) DT_TRYG(cx, dense(cx, x->mean, &s.mean));
  DT_TRYG(cx, dense(cx, x->rstd, &s.rstd));
  for (int i = 0; i < 3; i++) {
    if (want[i] == NULL) continue;
    DtDtype t = i == 0 ? (DtDtype)to->in->m.dtype : DT_F64;
    DT_TRYG(cx, result_new(cx, want[i], t, &r.t[i], &r.v[i]));
    if (i > 0 && r.v[i] != NULL)
      memset(r.v[i], 0, (size_t)dt_meta_nbytes(&r.t[i]->m));
  }
  backward_rows(&s, rms, &r);
  for (int i = 0; i < 3; i++)
    if (want[i] != NULL) DT_TRYG(cx, dt_k_copy(cx, r.t[i], want[i]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(cx, r.t[i]);
  norm_fini(cx, &s);
  return st;
}
