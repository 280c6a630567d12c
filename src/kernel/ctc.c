/* SPDX-License-Identifier: MIT
** kernel/ctc.c: the loss of sequences whose labels are not aligned to steps.
**
** Between the L labels of a sequence, before and behind them, stand blanks: the
** 2 L + 1 places a path goes through, one step at a time; it stays, goes on by
** one, or passes a blank between different labels.  alpha[t][s] is what all
** paths have that are at place s at step t, beta[t][s] what they will have
** from there on; both are logarithms.  Sums are made in double in a fixed
** order. */
#include <math.h>
#include <string.h>
#include "kernel/ctc.h"
#include "kernel/kernel_int.h"

typedef struct Ctc {
  const DtCtcCall *k;
  DtTensor *lp, *tg;            /* dense, owned */
  const double *p;              /* (T, N, C) */
  const int64_t *label;
  int64_t t, n, c, wide;        /* wide: places of the longest sequence */
} Ctc;

/* One sequence. */
typedef struct Seq {
  const Ctc *q;
  const int64_t *label;
  int64_t at, steps, places;
} Seq;

static DtStatus open_call (DtCtx *cx, const DtCtcCall *k, const DtMeta *alpha,
                           Ctc *q) {
  memset(q, 0, sizeof *q);
  q->k = k;
  q->t = k->log_probs->m.shape[0];
  q->n = k->log_probs->m.shape[1];
  q->c = k->log_probs->m.shape[2];
  q->wide = alpha->shape[2];
  DT_TRY(cx, dt_ctx_poll(cx));
  DT_TRY(cx, dt_kernel_dense(cx, k->log_probs, DT_F64, &q->lp));
  DT_TRY(cx, dt_kernel_dense(cx, k->targets, DT_I64, &q->tg));
  q->p = dt_tensor_cdata(q->lp);
  q->label = dt_tensor_cdata(q->tg);
  return DT_OK;
}

static void close_call (DtCtx *cx, Ctc *q) {
  dt_tensor_unref(cx, q->lp);
  dt_tensor_unref(cx, q->tg);
}

/* Sequence i, its labels looked at. */
static DtStatus sequence (DtCtx *cx, const Ctc *q, int64_t i, Seq *s) {
  const DtMeta *m = &q->k->targets->m;
  int64_t first = 0;
  if (m->ndim == 2) first = i * m->shape[1];
  else for (int64_t j = 0; j < i; j++) first += q->k->labels[j];
  s->q = q;
  s->at = i;
  s->label = q->label + first;
  s->steps = q->k->steps[i];
  s->places = 2 * q->k->labels[i] + 1;
  for (int64_t j = 0; j < q->k->labels[i]; j++)
    DT_CHECK(cx, s->label[j] >= 0 && s->label[j] < q->c, DT_E_VALUE,
             "ctc_loss: label %lld of sequence %lld is %lld, and there are "
             "%lld labels", (long long)j, (long long)i,
             (long long)s->label[j], (long long)q->c);
  return DT_OK;
}

static int64_t label_at (const Seq *s, int64_t place) {
  return place % 2 == 0 ? s->q->k->blank : s->label[place / 2];
}

static double prob (const Seq *s, int64_t t, int64_t place) {
  const Ctc *q = s->q;
  return q->p[(t * q->n + s->at) * q->c + label_at(s, place)];
}

static double log_sum (double a, double b, double c) {
  double m = fmax(fmax(a, b), c);
  if (m == -INFINITY) m = 0;
  return log(exp(a - m) + exp(b - m) + exp(c - m)) + m;
}

/* What comes to `place` from the row of the step beside it; `way` +1: from the
** places before it, -1: from those behind it. */
static double arrives (const Seq *s, const double *row, int64_t place,
                       int64_t way) {
  int64_t one = place - way, two = place - 2 * way;
  double b = -INFINITY, c = -INFINITY;
  if (one >= 0 && one < s->places) b = row[one];
  if (two >= 0 && two < s->places && label_at(s, two) != label_at(s, place))
    c = row[two];
  return log_sum(row[place], b, c);
}

static double forward (const Seq *s, double *alpha) {
  int64_t w = s->q->wide, last = s->places - 1;
  if (s->steps == 0) return last == 0 ? -0.0 : INFINITY;
  for (int64_t k = 0; k < 2 && k <= last; k++) alpha[k] = prob(s, 0, k);
  for (int64_t t = 1; t < s->steps; t++)
    for (int64_t k = 0; k <= last; k++)
      alpha[t * w + k] = arrives(s, alpha + (t - 1) * w, k, 1) + prob(s, t, k);
  const double *end = alpha + (s->steps - 1) * w;
  return -(last == 0 ? end[0] : log_sum(end[last], end[last - 1], -INFINITY));
}

static void all (double *v, int64_t n, double x) {
  for (int64_t i = 0; i < n; i++) v[i] = x;
}

DtStatus dt_k_ctc (DtCtx *cx, const DtCtcCall *k, DtTensor *loss,
                   DtTensor *alpha) {
  Ctc q;
  Seq s;
  DtTensor *a = NULL, *l = NULL;
  double *av, *lv;
  DtStatus st;
  DT_TRYG(cx, open_call(cx, k, &alpha->m, &q));
  DT_TRYG(cx, dt_f64_like(cx, alpha, &a, &av));
  DT_TRYG(cx, dt_f64_like(cx, loss, &l, &lv));
  all(av, q.n * q.t * q.wide, -INFINITY);
  for (int64_t i = 0; i < q.n; i++) {
    DT_TRYG(cx, sequence(cx, &q, i, &s));
    lv[i] = forward(&s, av + i * q.t * q.wide);
  }
  DT_TRYG(cx, dt_k_copy(cx, a, alpha));
  DT_TRYG(cx, dt_k_copy(cx, l, loss));
done:
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, l);
  close_call(cx, &q);
  return st;
}

/* beta, step by step from the end, and out[t][label] = log sum over the
** label's places of exp(alpha + beta). */
static void gather (const Seq *s, const double *alpha, double *row,
                    double *before, double *out) {
  const Ctc *q = s->q;
  for (int64_t t = s->steps - 1; t >= 0; t--) {
    for (int64_t k = s->places - 1; k >= 0; k--) {
      double b = k >= s->places - 2 ? 0 : -INFINITY;
      if (t < s->steps - 1) b = arrives(s, before, k, -1);
      row[k] = b + prob(s, t, k);
      double *o = out + (t * q->n + s->at) * q->c + label_at(s, k);
      *o = log_sum(*o, alpha[t * q->wide + k] + row[k], -INFINITY);
    }
    memcpy(before, row, sizeof *row * (size_t)s->places);
  }
}

static void finish_grad (const Seq *s, double grad, double loss, double *out) {
  const Ctc *q = s->q;
  for (int64_t t = 0; t < q->t; t++)
    for (int64_t c = 0; c < q->c; c++) {
      int64_t i = (t * q->n + s->at) * q->c + c;
      if (t >= s->steps) out[i] = 0;
      else out[i] = (exp(q->p[i]) - exp(out[i] + loss - q->p[i])) * grad;
    }
}

DtStatus dt_k_ctc_backward (DtCtx *cx, const DtCtcCall *k, const DtTensor *grad,
                            const DtTensor *loss, const DtTensor *alpha,
                            bool zero_inf, DtTensor *out) {
  Ctc q;
  Seq s;
  DtTensor *a = NULL, *l = NULL, *g = NULL, *o = NULL;
  double *ov, *row = NULL;
  DtStatus st;
  DT_TRYG(cx, open_call(cx, k, &alpha->m, &q));
  DT_TRYG(cx, dt_f64_like(cx, out, &o, &ov));
  DT_TRYG(cx, dt_kernel_dense(cx, alpha, DT_F64, &a));
  DT_TRYG(cx, dt_kernel_dense(cx, loss, DT_F64, &l));
  DT_TRYG(cx, dt_kernel_dense(cx, grad, DT_F64, &g));
  row = dt_calloc(cx, 2 * (size_t)q.wide + 1, sizeof *row);
  if (row == NULL) { st = DT_E_NOMEM; goto done; }
  const double *lv = dt_tensor_cdata(l), *gv = dt_tensor_cdata(g);
  const double *av = dt_tensor_cdata(a);
  all(ov, q.t * q.n * q.c, -INFINITY);
  for (int64_t i = 0; i < q.n; i++) {
    DT_TRYG(cx, sequence(cx, &q, i, &s));
    if (zero_inf && lv[i] == INFINITY) s.steps = 0;
    gather(&s, av + i * q.t * q.wide, row, row + q.wide, ov);
    finish_grad(&s, gv[i], lv[i], ov);
  }
  DT_TRYG(cx, dt_k_copy(cx, o, out));
done:
  dt_free(cx, row);
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, l);
  dt_tensor_unref(cx, g);
  dt_tensor_unref(cx, o);
  close_call(cx, &q);
  return st;
}
