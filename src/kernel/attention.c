/* SPDX-License-Identifier: MIT
** kernel/attention.c: scaled dot-product attention and its gradient.
**
** Operands are (..., L, E); leading dims are batch and heads.  k and v may
** have fewer heads than q (grouped queries): query head h reads head
** h / (heads of q / heads of k).  Each matrix is computed in double: scores,
** softmax over the row, product with v.  A row with no key left gives 0.
** The backward pass computes the scores again and takes the probabilities
** from lse, as flash attention does. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* Dense f64 operands and their geometry. */
typedef struct Att {
  DtTensor *q, *k, *v, *out, *dout, *lse;
  const DtTensor *bias;
  const void *bias_data;
  bool causal;
  double scale;
  int64_t batch, lq, lk, e, ev;         /* batch: all leading dims of q */
  double *s;                            /* one row of scores */
} Att;

static void att_fini (DtCtx *cx, Att *a) {
  dt_tensor_unref(cx, a->q);
  dt_tensor_unref(cx, a->k);
  dt_tensor_unref(cx, a->v);
  dt_tensor_unref(cx, a->out);
  dt_tensor_unref(cx, a->dout);
  dt_tensor_unref(cx, a->lse);
  dt_free(cx, a->s);
}

static int64_t size_at (const DtTensor *t, int from_end) {
  return t->m.shape[t->m.ndim - from_end];
}

static DtStatus att_init (DtCtx *cx, Att *a, const DtTensor *q,
                          const DtTensor *k, const DtTensor *v) {
  a->lq = size_at(q, 2);
  a->lk = size_at(k, 2);
  a->e = size_at(q, 1);
  a->ev = size_at(v, 1);
  a->batch = 1;
  for (int d = 0; d < q->m.ndim - 2; d++) a->batch *= q->m.shape[d];
  if (a->bias != NULL) a->bias_data = dt_tensor_cdata(a->bias);
  DT_TRY(cx, dt_kernel_dense(cx, q, DT_F64, &a->q));
  DT_TRY(cx, dt_kernel_dense(cx, k, DT_F64, &a->k));
  DT_TRY(cx, dt_kernel_dense(cx, v, DT_F64, &a->v));
  a->s = dt_alloc(cx, (size_t)a->lk * sizeof(double));
  if (a->s == NULL) return DT_E_NOMEM;
  return DT_OK;
}

/* The matrix of k (or v) that query matrix b reads. */
static int64_t kv_matrix (const Att *a, const DtTensor *kv, int64_t b) {
  int nd = a->q->m.ndim;
  if (nd < 3) return 0;
  int64_t hq = a->q->m.shape[nd - 3], hk = kv->m.shape[kv->m.ndim - 3];
  return b / hq * hk + b % hq / (hq / hk);
}

/* Bytes from the bias's first element to the row of (b, i); the bias
** broadcasts to (..., Lq, Lk). */
static const char *bias_row (const Att *a, int64_t b, int64_t i,
                             int64_t *step) {
  const DtMeta *m = &a->bias->m, *qm = &a->q->m;
  int64_t at = 0, es = (int64_t)dt_dtype_size((DtDtype)m->dtype);
  for (int d = 1; d <= m->ndim; d++) {          /* from the last dim */
    int bd = m->ndim - d;
    int64_t x = i;
    if (d == 1) {
      *step = m->shape[bd] == 1 ? 0 : m->stride[bd] * es;
      continue;
    }
    if (d > 2) {
      if (d > qm->ndim) break;
      x = b % qm->shape[qm->ndim - d];
      b /= qm->shape[qm->ndim - d];
    }
    if (m->shape[bd] != 1) at += x * m->stride[bd] * es;
  }
  return (const char *)a->bias_data + at;
}

static void add_bias (const Att *a, int64_t b, int64_t i) {
  int64_t step = 0;
  DtDtype t = (DtDtype)a->bias->m.dtype;
  const char *p = bias_row(a, b, i, &step);
  for (int64_t j = 0; j < a->lk; j++) {
    double v;
    dt_run_load(DT_CL_F64, &v, t, p + j * step, 0, 1);
    if (t == DT_BOOL) a->s[j] = v != 0 ? a->s[j] : -INFINITY;
    else a->s[j] += v;
  }
}

static double dot (const double *x, const double *y, int64_t n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += x[i] * y[i];
    s1 += x[i + 1] * y[i + 1];
    s2 += x[i + 2] * y[i + 2];
    s3 += x[i + 3] * y[i + 3];
  }
  for (; i < n; i++) s0 += x[i] * y[i];
  return (s0 + s1) + (s2 + s3);
}

/* y += f * x */
static void axpy (double f, const double *x, double *y, int64_t n) {
  DT_IVDEP
  for (int64_t i = 0; i < n; i++) y[i] += f * x[i];
}

static const double *values (const DtTensor *t) { return dt_tensor_cdata(t); }

/* Scores of query row i of matrix b into a->s. */
static void scores (const Att *a, int64_t b, int64_t i) {
  const double *q = values(a->q) + (b * a->lq + i) * a->e;
  const double *k = values(a->k) + kv_matrix(a, a->k, b) * a->lk * a->e;
  for (int64_t j = 0; j < a->lk; j++)
    a->s[j] = a->causal && j > i ? -INFINITY
                                 : dot(q, k + j * a->e, a->e) * a->scale;
  if (a->bias_data != NULL) add_bias(a, b, i);
}

/* Softmax of a->s in place; the log of its sum (0 for a row left empty). */
static double normalise (const Att *a) {
  double max = -INFINITY;
  for (int64_t j = 0; j < a->lk; j++)
    max = a->s[j] != a->s[j] || a->s[j] > max ? a->s[j] : max;
  if (max == -INFINITY) {
    for (int64_t j = 0; j < a->lk; j++) a->s[j] = 0;
    return 0;
  }
  for (int64_t j = 0; j < a->lk; j++) a->s[j] = exp(a->s[j] - max);
  double sum = dt_sum_f64(a->s, a->lk);
  for (int64_t j = 0; j < a->lk; j++) a->s[j] /= sum;
  return max + log(sum);
}

DtStatus dt_f64_like (DtCtx *cx, const DtTensor *t, DtTensor **out,
                      double **v) {
  DtMeta m;
  void *p;
  dt_meta_copy(&m, &t->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRY(cx, dt_tensor_new(cx, &m, false, out));
  DT_TRY(cx, dt_tensor_data(cx, *out, &p));
  *v = p;
  return DT_OK;
}

/* The same, zeroed. */
static DtStatus result_new (DtCtx *cx, const DtTensor *t, DtTensor **out,
                            double **v) {
  DT_TRY(cx, dt_f64_like(cx, t, out, v));
  if (*v != NULL) memset(*v, 0, (size_t)dt_meta_nbytes(&(*out)->m));
  return DT_OK;
}

static DtStatus forward (DtCtx *cx, const Att *a, double *o, double *lse) {
  for (int64_t b = 0; b < a->batch; b++) {
    const double *v = values(a->v) + kv_matrix(a, a->v, b) * a->lk * a->ev;
    DT_TRY(cx, dt_ctx_poll(cx));
    for (int64_t i = 0; i < a->lq; i++) {
      scores(a, b, i);
      double l = normalise(a);
      if (lse != NULL) lse[b * a->lq + i] = l;
      for (int64_t j = 0; j < a->lk; j++)
        if (a->s[j] != 0)
          axpy(a->s[j], v + j * a->ev, o + (b * a->lq + i) * a->ev, a->ev);
    }
  }
  return DT_OK;
}

DtStatus dt_k_attention (DtCtx *cx, const DtAttention *p, DtTensor *out,
                         DtTensor *lse) {
  DtStatus st = DT_OK;
  Att a = {.bias = p->bias, .causal = p->causal, .scale = p->scale};
  DtTensor *ro = NULL, *rl = NULL;
  double *o, *l = NULL;
  DT_TRYG(cx, att_init(cx, &a, p->q, p->k, p->v));
  DT_TRYG(cx, result_new(cx, out, &ro, &o));
  if (lse != NULL) DT_TRYG(cx, result_new(cx, lse, &rl, &l));
  if (o != NULL && a.lk > 0) DT_TRYG(cx, forward(cx, &a, o, l));
  DT_TRYG(cx, dt_k_copy(cx, ro, out));
  if (lse != NULL) DT_TRYG(cx, dt_k_copy(cx, rl, lse));
done:
  dt_tensor_unref(cx, ro);
  dt_tensor_unref(cx, rl);
  att_fini(cx, &a);
  return st;
}

/* With p the probabilities and g the gradient of the output row:
** dv += p g;  ds = p (g v - g out);  dq += ds k scale;  dk += ds q scale. */
static DtStatus backward (DtCtx *cx, const Att *a, double *dq, double *dk,
                          double *dv) {
  for (int64_t b = 0; b < a->batch; b++) {
    int64_t ka = kv_matrix(a, a->k, b) * a->lk * a->e;
    int64_t va = kv_matrix(a, a->v, b) * a->lk * a->ev;
    DT_TRY(cx, dt_ctx_poll(cx));
    for (int64_t i = 0; i < a->lq; i++) {
      int64_t row = b * a->lq + i;
      const double *g = values(a->dout) + row * a->ev;
      double delta = dot(g, values(a->out) + row * a->ev, a->ev);
      double lse = values(a->lse)[row];
      scores(a, b, i);
      for (int64_t j = 0; j < a->lk; j++) {
        double p = exp(a->s[j] - lse);
        if (p == 0) continue;
        double dp = dot(g, values(a->v) + va + j * a->ev, a->ev);
        double ds = p * (dp - delta) * a->scale;
        axpy(p, g, dv + va + j * a->ev, a->ev);
        axpy(ds, values(a->k) + ka + j * a->e, dq + row * a->e, a->e);
        axpy(ds, values(a->q) + row * a->e, dk + ka + j * a->e, a->e);
      }
    }
  }
  return DT_OK;
}

DtStatus dt_k_attention_backward (DtCtx *cx, const DtAttention *p,
                                  const DtTensor *dout, const DtTensor *out,
                                  const DtTensor *lse, DtTensor *const *dqkv) {
  DtStatus st = DT_OK;
  Att a = {.bias = p->bias, .causal = p->causal, .scale = p->scale};
  DtTensor *r[3] = {NULL};
  double *g[3];
  DT_TRYG(cx, att_init(cx, &a, p->q, p->k, p->v));
  DT_TRYG(cx, dt_kernel_dense(cx, dout, DT_F64, &a.dout));
  DT_TRYG(cx, dt_kernel_dense(cx, out, DT_F64, &a.out));
  DT_TRYG(cx, dt_kernel_dense(cx, lse, DT_F64, &a.lse));
  for (int i = 0; i < 3; i++)
    DT_TRYG(cx, result_new(cx, dqkv[i], &r[i], &g[i]));
  if (g[0] != NULL && g[1] != NULL && g[2] != NULL)
    DT_TRYG(cx, backward(cx, &a, g[0], g[1], g[2]));
  for (int i = 0; i < 3; i++) DT_TRYG(cx, dt_k_copy(cx, r[i], dqkv[i]));
done:
  for (int i = 0; i < 3; i++) dt_tensor_unref(cx, r[i]);
  att_fini(cx, &a);
  return st;
}
