/* SPDX-License-Identifier: MIT
** kernel/batchnorm.c: batch norm (statistics over everything but the channel)
** and group norm (statistics over groups of channels of one sample).
**
** Does not decide what is saved or which statistics are used: callers say.
** The input is seen as [samples, channels, length].  A cell is what shares
** one mean: for batch norm a channel of all samples, for group norm a block of
** one sample.  A cell is a few runs of contiguous elements; runs are loaded as
** double, summed in the kernels' fixed order, and stored once.
**
** Batch norm shows PyTorch's steps: which results are rounded before they are
** used.  There are three ways, by dtype and by whether everything lies dense:
** see Steps. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"

/* The input's geometry and dense operands; small ones are f64. */
typedef struct Cells {
  int64_t n, c, l;              /* samples, channels, length */
  int64_t groups;               /* 0: batch norm */
  DtTensor *a, *grad, *w, *b;
  double *x, *g;                /* two runs */
  DtTensor *out;                /* dense, in the output's dtype */
  void *o;
} Cells;

/* Runs of cell k: `count` runs, the i-th starting at run_at, each of `len`
** elements beginning in channel `chan`. */
static int64_t cell_runs (const Cells *s) { return s->groups ? 1 : s->n; }
static int64_t run_len (const Cells *s) {
  return s->groups ? s->c / s->groups * s->l : s->l;
}
static int64_t run_at (const Cells *s, int64_t k, int64_t i) {
  return s->groups ? k * run_len(s) : (i * s->c + k) * s->l;
}
static int64_t cell_count (const Cells *s) {
  return s->groups ? s->n * s->groups : s->c;
}
static int64_t first_channel (const Cells *s, int64_t k) {
  return s->groups ? k % s->groups * (s->c / s->groups) : k;
}

static const double *values (const DtTensor *t) {
  return t == NULL ? NULL : dt_tensor_cdata(t);
}

static DtStatus optional (DtCtx *cx, const DtTensor *t, DtTensor **out) {
  return t == NULL ? DT_OK : dt_kernel_dense(cx, t, DT_F64, out);
}

/* Dense copies of all that is read, one buffer for a run of x and of grad, and `out`
** itself where it is contiguous: else a tensor that is copied into it at the end. */
static DtStatus cells_init (DtCtx *cx, Cells *s, const DtTensor *a,
                            const DtTensor *grad, const DtTensor *w,
                            const DtTensor *b, DtTensor *out) {
  int64_t n = dt_meta_numel(&a->m);
  DT_TRY(cx, dt_ctx_poll(cx));
  DT_CHECK(cx, n == s->n * s->c * s->l &&
           (grad == NULL || dt_meta_numel(&grad->m) == n) &&
           (w == NULL || dt_meta_numel(&w->m) == s->c) &&
           (b == NULL || dt_meta_numel(&b->m) == s->c) &&
           (out == NULL || dt_meta_numel(&out->m) == n), DT_E_SHAPE,
           "normalisation: a gradient needs an element for each of the "
           "input's, a weight one for each of its %lld channels",
           (long long)s->c);
  DT_TRY(cx, dt_kernel_dense(cx, a, (DtDtype)a->m.dtype, &s->a));
  if (grad != NULL)
    DT_TRY(cx, dt_kernel_dense(cx, grad, (DtDtype)grad->m.dtype, &s->grad));
  DT_TRY(cx, optional(cx, w, &s->w));
  DT_TRY(cx, optional(cx, b, &s->b));
  s->x = dt_alloc(cx, (size_t)run_len(s) * 2 * sizeof(double));
  if (s->x == NULL) return DT_E_NOMEM;
  s->g = s->x + run_len(s);
  if (out == NULL) return DT_OK;
  DtMeta m;
  dt_meta_copy(&m, &out->m);
  dt_meta_set_contiguous(&m);
  m.device = DT_DEV_CPU;
  if (dt_meta_is_contiguous(&out->m)) s->out = dt_tensor_ref(out);
  else DT_TRY(cx, dt_tensor_new(cx, &m, false, &s->out));
  return dt_tensor_data(cx, s->out, &s->o);
}

static void cells_fini (DtCtx *cx, Cells *s) {
  dt_tensor_unref(cx, s->a);
  dt_tensor_unref(cx, s->grad);
  dt_tensor_unref(cx, s->w);
  dt_tensor_unref(cx, s->b);
  dt_tensor_unref(cx, s->out);
  dt_free(cx, s->x);
}

static void load (const Cells *s, const DtTensor *t, int64_t at, double *v) {
  DtDtype type = (DtDtype)t->m.dtype;
  int64_t es = (int64_t)dt_dtype_size(type);
  const char *p = dt_tensor_cdata(t);
  if (p != NULL)
    dt_run_load(DT_CL_F64, v, type, p + at * es, es, run_len(s));
}

static void store (const Cells *s, int64_t at, const double *v) {
  DtDtype type = (DtDtype)s->out->m.dtype;
  int64_t es = (int64_t)dt_dtype_size(type);
  if (s->o != NULL)
    dt_run_store(DT_CL_F64, v, type, (char *)s->o + at * es, es, run_len(s));
}

/* Mean and sum of squared deviations of cell k. */
static void cell_stats (Cells *s, int64_t k, double *mean, double *dev) {
  int64_t runs = cell_runs(s), len = run_len(s);
  double sum = 0, sq = 0;
  for (int64_t i = 0; i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    sum += dt_sum_f64(s->x, len);
  }
  *mean = sum / (double)(runs * len);
  for (int64_t i = 0; i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    for (int64_t j = 0; j < len; j++)
      s->x[j] = (s->x[j] - *mean) * (s->x[j] - *mean);
    sq += dt_sum_f64(s->x, len);
  }
  *dev = sq;
}

/* What is rounded on the way: nothing but results; of statistics in bf16 each
** number per channel; of what does not lie dense each number per element. */
typedef enum Steps { ST_WIDE, ST_CHANNEL, ST_ELEMENT } Steps;

static double rounded (DtDtype t, double v) {
  return t == DT_BF16 ? (double)dt_bf16_to_f32(dt_f32_to_bf16((float)v))
         : t == DT_F16 ? (double)dt_f16_to_f32(dt_f32_to_f16((float)v))
         : t == DT_F32 ? (double)(float)v : v;
}

/* Normalised elements of cell k, each step rounded to t. */
static void cell_apply_rounded (Cells *s, int64_t k, double mean, double rstd,
                                DtDtype t) {
  int64_t runs = cell_runs(s), len = run_len(s), ch = first_channel(s, k);
  const double *w = values(s->w), *b = values(s->b);
  for (int64_t i = 0; i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    for (int64_t j = 0; j < len; j++) {
      int64_t c = ch + j / s->l;
      double y = rounded(t, rounded(t, s->x[j] - mean) * rstd);
      if (w != NULL) y = rounded(t, y * w[c]);
      s->x[j] = b != NULL ? y + b[c] : y;
    }
    store(s, run_at(s, k, i), s->x);
  }
}

/* Normalised, scaled and shifted elements of cell k. */
static void cell_apply (Cells *s, int64_t k, double mean, double rstd) {
  int64_t runs = cell_runs(s), len = run_len(s), ch = first_channel(s, k);
  const double *w = values(s->w), *b = values(s->b);
  for (int64_t i = 0; i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    for (int64_t j = 0; j < len; j++) {
      int64_t c = ch + j / s->l;
      double y = (s->x[j] - mean) * rstd;
      if (w != NULL) y *= w[c];
      s->x[j] = b != NULL ? y + b[c] : y;
    }
    store(s, run_at(s, k, i), s->x);
  }
}

/* Gradients of cell k.  gw and gb have one entry per channel (NULL allowed);
** `fixed`: mean and rstd do not depend on the input. */
static void cell_backward (Cells *s, int64_t k, double mean, double rstd,
                           bool fixed, double *gw, double *gb) {
  int64_t runs = cell_runs(s), len = run_len(s), ch = first_channel(s, k);
  const double *w = values(s->w);
  double sum = 0, dot = 0, n = (double)(runs * len);
  for (int64_t i = 0; i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    load(s, s->grad, run_at(s, k, i), s->g);
    for (int64_t j = 0; j < len; j++) {
      int64_t c = ch + j / s->l;
      double xh = (s->x[j] - mean) * rstd, f = w == NULL ? 1 : w[c];
      if (gw != NULL) gw[c] += s->g[j] * xh;
      if (gb != NULL) gb[c] += s->g[j];
      sum += s->g[j] * f;
      dot += s->g[j] * f * xh;
    }
  }
  for (int64_t i = 0; s->out != NULL && i < runs; i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    load(s, s->grad, run_at(s, k, i), s->g);
    for (int64_t j = 0; j < len; j++) {
      double f = w == NULL ? 1 : w[ch + j / s->l], g = s->g[j] * f;
      double xh = (s->x[j] - mean) * rstd;
      s->x[j] = rstd * (fixed ? g : g - sum / n - xh * (dot / n));
    }
    store(s, run_at(s, k, i), s->x);
  }
}

/* ---- vectors of statistics ------------------------------------------------ */

/* n doubles into a tensor of n elements of any dtype and strides. */
static DtStatus put (DtCtx *cx, const double *v, int64_t n, DtTensor *t) {
  DtTensor *d = NULL;
  void *p;
  DtMeta m;
  DtStatus st;
  if (t == NULL || dt_meta_numel(&t->m) != n) return DT_OK;
  dt_meta_copy(&m, &t->m);
  m.dtype = DT_F64;
  m.device = DT_DEV_CPU;
  dt_meta_set_contiguous(&m);
  DT_TRYG(cx, dt_tensor_new(cx, &m, false, &d));
  DT_TRYG(cx, dt_tensor_data(cx, d, &p));
  if (p != NULL) memcpy(p, v, (size_t)n * sizeof *v);
  DT_TRYG(cx, dt_k_copy(cx, d, t));
done:
  dt_tensor_unref(cx, d);
  return st;
}

static DtStatus get (DtCtx *cx, const DtTensor *t, int64_t n, double *v) {
  DtTensor *d = NULL;
  DT_TRY(cx, dt_kernel_dense(cx, t, DT_F64, &d));
  if (dt_tensor_cdata(d) != NULL && dt_meta_numel(&d->m) >= n)
    memcpy(v, dt_tensor_cdata(d), (size_t)n * sizeof *v);
  dt_tensor_unref(cx, d);
  return DT_OK;
}

static void geometry (Cells *s, const DtTensor *a) {
  s->n = a->m.shape[0];
  s->c = a->m.shape[1];
  s->l = 1;
  for (int d = 2; d < a->m.ndim; d++) s->l *= a->m.shape[d];
}

/* ---- batch norm ----------------------------------------------------------- */

/* One batch norm: its steps, and a number per channel of each kind. */
typedef struct Batch {
  const DtBatchNorm *p;
  Cells s;
  Steps steps;                  /* of the statistics */
  bool each;                    /* elements are made step by step */
  DtDtype t;                    /* of the statistics */
  double *mean, *rstd, *var, *tmp;
} Batch;

/* Do the elements lie side by side, in the order of the dims or with the
** channels innermost? */
static bool lies_dense (const DtMeta *m) {
  int64_t n = m->ndim > 1 ? m->shape[1] : 1;
  if (dt_meta_is_contiguous(m)) return true;
  if (m->ndim != 4 && m->ndim != 5) return false;
  if (n != 1 && m->stride[1] != 1) return false;
  for (int k = m->ndim; k > 1; k--) {
    int d = k == 2 ? 0 : k - 1;
    if (m->shape[d] != 1 && m->stride[d] != n) return false;
    n *= m->shape[d];
  }
  return true;
}

static Steps steps_of (const DtBatchNorm *p) {
  DtDtype t = (DtDtype)p->mean->m.dtype;
  if (!lies_dense(&p->a->m)) return ST_ELEMENT;
  return t == DT_BF16 ? ST_CHANNEL : ST_WIDE;
}

/* Elements are made step by step, too, beside parameters that do not lie
** dense. */
static bool by_element (const DtBatchNorm *p) {
  const DtTensor *each[] = { p->weight, p->bias, p->running_mean,
                             p->running_var };
  for (int i = 0; i < (p->train ? 2 : 4); i++)
    if (each[i] != NULL && !dt_meta_is_contiguous(&each[i]->m)) return true;
  return !lies_dense(&p->a->m);
}

/* running = (1 - momentum) running + momentum new.  `sum`: bf16 rounds both
** products, not only the running one. */
static DtStatus track (DtCtx *cx, Batch *b, const DtTensor *from, DtTensor *to,
                       const double *v, bool sum) {
  double m = b->p->momentum, keep = 1 - m;
  int64_t n = b->s.c;
  bool round = b->steps == ST_CHANNEL;
  if (from == NULL || to == NULL) return DT_OK;
  if (round) m = rounded(b->t, m);
  if (round) keep = rounded(b->t, keep);
  DT_TRY(cx, get(cx, from, n, b->tmp));
  for (int64_t i = 0; i < n; i++) {
    double x = m * v[i], y = keep * b->tmp[i];
    if (round && sum) x = rounded(b->t, x);
    if (round) y = rounded(b->t, y);
    b->tmp[i] = x + y;
  }
  return put(cx, b->tmp, n, to);
}

/* mean[c], rstd[c], var[c] (unbiased) of the batch. */
static void batch_stats (Batch *b) {
  Cells *s = &b->s;
  double n = (double)(s->n * s->l), eps = b->p->eps;
  bool round = b->steps == ST_CHANNEL;
  DtDtype t = round ? b->t : DT_F64;
  for (int64_t k = 0; k < s->c; k++) {
    double dev;
    cell_stats(s, k, &b->mean[k], &dev);
    if (b->steps != ST_WIDE) b->mean[k] = rounded(b->t, b->mean[k]);
    dev = rounded(t, dev);
    b->rstd[k] = dev == 0 && eps == 0
                 ? 0 : 1 / sqrt(rounded(t, dev / rounded(t, n)) + eps);
    b->var[k] = rounded(t, dev / rounded(t, n - 1));
  }
}

/* Elements of channel k as x alpha + beta: what is dense. */
static void batch_apply (Batch *b, int64_t k) {
  Cells *s = &b->s;
  int64_t len = run_len(s);
  const double *w = values(s->w), *bias = values(s->b);
  DtDtype t = s->out->m.dtype == DT_F64 ? DT_F64 : DT_F32;
  double alpha = rounded(t, b->rstd[k] * (w != NULL ? w[k] : 1));
  double beta = rounded(t, (bias != NULL ? bias[k] : 0) - b->mean[k] * alpha);
  for (int64_t i = 0; i < cell_runs(s); i++) {
    load(s, s->a, run_at(s, k, i), s->x);
    for (int64_t j = 0; j < len; j++) s->x[j] = s->x[j] * alpha + beta;
    store(s, run_at(s, k, i), s->x);
  }
}

/* Give v out; what is used afterwards is what was given out, rounded. */
static DtStatus saved (DtCtx *cx, DtTensor *t, double *v, int64_t n) {
  if (t == NULL || dt_meta_numel(&t->m) != n) return DT_OK;
  DT_TRY(cx, put(cx, v, n, t));
  return get(cx, t, n, v);
}

static DtStatus batch_train (DtCtx *cx, Batch *b) {
  const DtBatchNorm *p = b->p;
  batch_stats(b);
  DT_TRY(cx, track(cx, b, p->running_mean, p->new_mean, b->mean, true));
  DT_TRY(cx, track(cx, b, p->running_var, p->new_var, b->var, false));
  DT_TRY(cx, saved(cx, p->mean, b->mean, b->s.c));
  return saved(cx, p->rstd, b->rstd, b->s.c);
}

static DtStatus batch_given (DtCtx *cx, Batch *b) {
  DtDtype t = b->each ? b->t : DT_F64;
  DT_TRY(cx, get(cx, b->p->running_mean, b->s.c, b->mean));
  DT_TRY(cx, get(cx, b->p->running_var, b->s.c, b->rstd));
  for (int64_t k = 0; k < b->s.c; k++) {
    double var = rounded(t, b->rstd[k] + b->p->eps);
    b->rstd[k] = rounded(t, 1 / rounded(t, sqrt(var)));
  }
  return DT_OK;
}

/* Mean, 1/std, variance and a scratch row share one allocation of four times
** the channels. Low precision rounds by element where PyTorch's kernel does
** (`each`). */
DtStatus dt_k_batch_norm (DtCtx *cx, const DtBatchNorm *p) {
  DtStatus st = DT_OK;
  Batch b = { .p = p, .steps = steps_of(p), .each = by_element(p),
              .t = (DtDtype)p->mean->m.dtype };
  Cells *s = &b.s;
  geometry(s, p->a);
  int64_t c = s->c;
  DT_TRYG(cx, cells_init(cx, s, p->a, NULL, p->weight, p->bias, p->out));
  b.mean = dt_calloc(cx, (size_t)c * 4, sizeof *b.mean);
  if (b.mean == NULL) { st = DT_E_NOMEM; goto done; }
  b.rstd = b.mean + c;
  b.var = b.rstd + c;
  b.tmp = b.var + c;
  DT_TRYG(cx, p->train ? batch_train(cx, &b) : batch_given(cx, &b));
  for (int64_t k = 0; k < c; k++) {
    if (b.each)
      cell_apply_rounded(s, k, b.mean[k], b.rstd[k], b.t);
    else batch_apply(&b, k);
  }
  if (s->out != p->out) DT_TRYG(cx, dt_k_copy(cx, s->out, p->out));
done:
  dt_free(cx, b.mean);
  cells_fini(cx, s);
  return st;
}

/* Both backward passes: statistics per cell in mean and rstd. */
static DtStatus backward (DtCtx *cx, Cells *s, const double *mean,
                          const double *rstd, bool fixed,
                          const DtNormGrads *to) {
  DtStatus st = DT_OK;
  double *gw = dt_calloc(cx, (size_t)s->c * 2, sizeof *gw);
  if (gw == NULL) return DT_E_NOMEM;
  for (int64_t k = 0; k < cell_count(s); k++)
    cell_backward(s, k, mean[k], rstd[k], fixed, gw, gw + s->c);
  if (to->in != NULL && s->out != to->in)
    DT_TRYG(cx, dt_k_copy(cx, s->out, to->in));
  DT_TRYG(cx, put(cx, gw, s->c, to->weight));
  DT_TRYG(cx, put(cx, gw + s->c, s->c, to->bias));
done:
  dt_free(cx, gw);
  return st;
}

DtStatus dt_k_batch_norm_backward (DtCtx *cx, const DtTensor *grad,
                                   const DtNormSaved *x, bool train, double eps,
                                   const DtNormGrads *to) {
  DtStatus st = DT_OK;
  Cells s = {0};
  double *v = NULL;
  geometry(&s, x->a);
  DT_TRYG(cx, cells_init(cx, &s, x->a, grad, x->weight, NULL, to->in));
  v = dt_calloc(cx, (size_t)s.c * 2, sizeof *v);
  if (v == NULL) { st = DT_E_NOMEM; goto done; }
  if (x->mean != NULL) DT_TRYG(cx, get(cx, x->mean, s.c, v));
  if (x->rstd != NULL) DT_TRYG(cx, get(cx, x->rstd, s.c, v + s.c));
  for (int64_t k = 0; !train && k < s.c; k++)
    v[s.c + k] = 1 / sqrt(v[s.c + k] + eps);
  DT_TRYG(cx, backward(cx, &s, v, v + s.c, !train, to));
done:
  dt_free(cx, v);
  cells_fini(cx, &s);
  return st;
}

/* ---- group norm ----------------------------------------------------------- */

DtStatus dt_k_group_norm (DtCtx *cx, const DtTensor *a, const DtGroups *g,
                          const DtAffine *scale, const DtNormed *to) {
  DtStatus st = DT_OK;
  Cells s = {.n = g->n, .c = g->c, .l = g->l, .groups = g->groups};
  double *v = NULL;
  int64_t n = cell_count(&s);
  DT_TRYG(cx, cells_init(cx, &s, a, NULL, scale->weight, scale->bias,
                         to->out));
  v = dt_calloc(cx, (size_t)n * 2, sizeof *v);
  if (v == NULL) { st = DT_E_NOMEM; goto done; }
  for (int64_t k = 0; k < n; k++) {
    cell_stats(&s, k, &v[k], &v[n + k]);
    if (isinf(v[k])) v[k] = NAN;        /* as a running mean has it */
    v[n + k] = 1 / sqrt(v[n + k] / (double)run_len(&s) + scale->eps);
    cell_apply(&s, k, v[k], v[n + k]);
  }
  if (s.out != to->out) DT_TRYG(cx, dt_k_copy(cx, s.out, to->out));
  DT_TRYG(cx, put(cx, v, n, to->mean));
  DT_TRYG(cx, put(cx, v + n, n, to->rstd));
done:
  dt_free(cx, v);
  cells_fini(cx, &s);
  return st;
}

DtStatus dt_k_group_norm_backward (DtCtx *cx, const DtTensor *grad,
                                   const DtNormSaved *x, const DtGroups *g,
                                   const DtNormGrads *to) {
  DtStatus st = DT_OK;
  Cells s = {.n = g->n, .c = g->c, .l = g->l, .groups = g->groups};
  double *v = NULL;
  int64_t n = cell_count(&s);
  DT_TRYG(cx, cells_init(cx, &s, x->a, grad, x->weight, NULL, to->in));
  v = dt_calloc(cx, (size_t)n * 2, sizeof *v);
  if (v == NULL) { st = DT_E_NOMEM; goto done; }
  DT_TRYG(cx, get(cx, x->mean, n, v));
  DT_TRYG(cx, get(cx, x->rstd, n, v + n));
  DT_TRYG(cx, backward(cx, &s, v, v + n, false, to));
done:
  dt_free(cx, v);
  cells_fini(cx, &s);
  return st;
}
