/* SPDX-License-Identifier: MIT
** kernel/reduce.c: reductions over any set of dims.
**
** Does not do arg reductions (order.c) or scans (blocks of them are in
** order.c too).  The passes over elements and their order of operations are
** in reduce_int.h; here are which passes a reduction needs, and the outputs
** they are made for. */

#include <float.h>
#include <math.h>
#include <string.h>
#include "kernel/loops.h"

static void pass (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                  DtMap m, DtComb c, const void *aux, void *acc) {
  const DtRedPass q = {j, p, step, w, m, c, aux, acc};
  dt_loops()->reduce(&q);
}

/* ---- the reductions ----------------------------------------------------------- */

static void norm_pass (double p, DtMap *m, DtComb *c) {
  *m = p == 0 ? DT_M_NONZERO : p == 2 ? DT_M_SQUARE : DT_M_POW;
  *c = DT_C_ADD;
  if (p == 1 || isinf(p)) *m = DT_M_ABS;
  if (isinf(p)) *c = p > 0 ? DT_C_MAX : DT_C_MIN;
}

static void simple_pass (const DtRedJob *j, DtMap *m, DtComb *c) {
  *m = DT_M_ID;
  *c = DT_C_ADD;
  /* A truth value is made of each element, not of the result. */
  if (j->out_t == DT_BOOL && (j->f == DT_RED_SUM || j->f == DT_RED_PROD))
    *m = DT_M_NONZERO;
  switch (j->f) {
    case DT_RED_PROD: *c = DT_C_MUL; break;
    case DT_RED_MAX: *c = DT_C_MAX; break;
    case DT_RED_MIN: *c = DT_C_MIN; break;
    case DT_RED_ANY: *m = DT_M_NONZERO; *c = DT_C_MAX; break;
    case DT_RED_ALL: *m = DT_M_NONZERO; *c = DT_C_MIN; break;
    case DT_RED_NORM: norm_pass(j->p, m, c); break;
    case DT_RED_NANSUM: *m = DT_M_NAN0; break;
    case DT_RED_COUNT_NONZERO: *m = DT_M_NONZERO; break;
    case DT_RED_SUMSQ: *m = DT_M_SQUARE; break;
    default: break;
  }
}

/* The sum of powers overflows where the operand's accumulation type would. */
static double norm_end (const DtRedJob *j, double s) {
  double p = j->p;
  if (isinf(p)) return j->len == 0 ? 0 : s;
  if (p == 0 || p == 1) return s;
  if (dt_dtype_size(j->out_t) < 8 && s > FLT_MAX) s = INFINITY;
  return p == 2 ? sqrt(s) : pow(s, 1 / p);
}

/* ss / max(0, n - correction) */
static double var_end (const DtRedJob *j, double ss) {
  double n = (double)j->len - j->p, v = ss / (n > 0 ? n : 0);
  return j->f == DT_RED_STD ? sqrt(v) : v;
}

/* acc[w] = sums of squares about the mean, in two passes. */
static void deviations (const DtRedJob *j, const char *p, int64_t step,
                        int64_t w, double *acc) {
  double aux[DT_RED_TILE];
  pass(j, p, step, w, DT_M_ID, DT_C_ADD, NULL, aux);
  for (int64_t k = 0; k < w; k++) aux[k] /= (double)j->len;
  pass(j, p, step, w, DT_M_DEV2, DT_C_ADD, aux, acc);
}

/* Are sums of squares made in one pass (DT_M_SPREAD)?.  Not f64: there is no
** wider type in which the difference of two large sums would still be exact
** enough. */
static bool spreads (const DtRedJob *j) {
  DtDtype t = j->in_t;
  return (t == DT_F32 || t == DT_BF16 || t == DT_F16) && j->len > 0;
}

/* The same in one: about zero, and from there to the mean.  Where that takes
** off more than the precision of the sums allows, or there are more than
** numbers, the two passes decide: in double, where squares of bf16 were too
** large for single precision. */
static void one_pass (const DtRedJob *j, const char *p, int64_t step,
                      int64_t w, double *acc) {
  const double least = j->in_t == DT_F32 ? 0x1p-20 : 0x1p-6;
  double sum[2 * DT_RED_TILE];
  pass(j, p, step, w, DT_M_SPREAD, DT_C_ADD, NULL, sum);
  for (int64_t k = 0; k < w; k++) {
    const double s = sum[k], ss = sum[w + k], v = ss - s * s / (double)j->len;
    DtRedJob two = *j;
    acc[k] = v;
    if (v >= ss * least && v < INFINITY) continue;
    if (!(ss < INFINITY)) two.out_t = DT_F64;
    deviations(&two, p + k * step, step, 1, acc + k);
  }
}

static bool is_test (DtReduce f) {
  return f == DT_RED_ANY || f == DT_RED_ALL;
}

/* One tile of a reduction in f64.  What is not one pass of `simple_pass` returns
** early; the rest is finished below it.  logsumexp subtracts the maximum; where
** that is infinite 0 takes its place, or inf - inf would make the result NaN.
** Source: aten/src/ATen/native/ReduceOps.cpp:logsumexp_out_impl@2.15. */
static void tile_f64 (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                      double *acc) {
  double aux[DT_RED_TILE];
  DtMap m;
  DtComb c;
  simple_pass(j, &m, &c);
  switch (j->f) {
    case DT_RED_VAR: case DT_RED_STD:
      if (spreads(j)) one_pass(j, p, step, w, acc);
      else deviations(j, p, step, w, acc);
      for (int64_t k = 0; k < w; k++) acc[k] = var_end(j, acc[k]);
      return;
    case DT_RED_LOGSUMEXP:
      pass(j, p, step, w, DT_M_ID, DT_C_MAX, NULL, aux);
      for (int64_t k = 0; k < w; k++) if (isinf(aux[k])) aux[k] = 0;
      pass(j, p, step, w, DT_M_EXP, DT_C_ADD, aux, acc);
      for (int64_t k = 0; k < w; k++) acc[k] = log(acc[k]) + aux[k];
      return;
    default: break;
  }
  pass(j, p, step, w, m, c, NULL, acc);
  if (j->f == DT_RED_MEAN)
    for (int64_t k = 0; k < w; k++) acc[k] /= (double)j->len;
  if (j->f == DT_RED_NORM)
    for (int64_t k = 0; k < w; k++) acc[k] = norm_end(j, acc[k]);
  if (is_test(j->f) && j->len == 0)
    for (int64_t k = 0; k < w; k++) acc[k] = j->f == DT_RED_ALL;
}

static void tile_i64 (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                      int64_t *acc) {
  DtMap m;
  DtComb c;
  simple_pass(j, &m, &c);
  pass(j, p, step, w, m, c, NULL, acc);
  if (is_test(j->f) && j->len == 0)
    for (int64_t k = 0; k < w; k++) acc[k] = j->f == DT_RED_ALL;
}

/* acc[w] = log of the sums of exponentials of complex numbers, less the largest
** real part, which comes back at the end. */
static void log_sums (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                      DtC128 *acc) {
  DtC128 aux[DT_RED_TILE_Z];
  double top[DT_RED_TILE_Z];
  DtRedJob re = *j;             /* strides are bytes: those of the real parts */
  re.cl = DT_CL_F64;
  re.in_t = re.out_t = dt_dtype_to_real(j->in_t);
  pass(&re, p, step, w, DT_M_ID, DT_C_MAX, NULL, top);
  for (int64_t k = 0; k < w; k++) aux[k] = isinf(top[k]) ? 0 : top[k];
  pass(j, p, step, w, DT_M_EXP, DT_C_ADD, aux, acc);
  for (int64_t k = 0; k < w; k++) acc[k] = clog(acc[k]) + aux[k];
}

static void tile_c128 (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                       DtC128 *acc) {
  DtC128 aux[DT_RED_TILE_Z];
  DtMap m;
  DtComb c;
  simple_pass(j, &m, &c);
  if (j->f == DT_RED_LOGSUMEXP) {
    log_sums(j, p, step, w, acc);
    return;
  }
  if (j->f == DT_RED_VAR || j->f == DT_RED_STD) {
    pass(j, p, step, w, DT_M_ID, DT_C_ADD, NULL, aux);
    for (int64_t k = 0; k < w; k++) aux[k] /= (double)j->len;
    pass(j, p, step, w, DT_M_DEV2, DT_C_ADD, aux, acc);
    for (int64_t k = 0; k < w; k++) acc[k] = var_end(j, creal(acc[k]));
    return;
  }
  pass(j, p, step, w, m, c, memset(aux, 0, sizeof aux), acc);
  for (int64_t k = 0; k < w; k++) {
    if (j->f == DT_RED_MEAN) acc[k] /= (double)j->len;
    if (j->f == DT_RED_NORM)
      acc[k] = norm_end(j, creal(acc[k]));
    if (is_test(j->f) && j->len == 0) acc[k] = j->f == DT_RED_ALL;
  }
}

static void tile (const DtRedJob *j, const char *p, int64_t step, int64_t w,
                  char *out, int64_t ostep) {
  DtC128 acc[DT_RED_TILE / 2];  /* a tile of any class */
  switch (j->cl) {
    case DT_CL_I64: tile_i64(j, p, step, w, (int64_t *)acc); break;
    case DT_CL_C128: tile_c128(j, p, step, w, acc); break;
    default: tile_f64(j, p, step, w, (double *)acc);
  }
  dt_run_store(j->cl, acc, j->out_t, out, ostep, w);
}

/* ---- set-up --------------------------------------------------------------------- */

/* Sums and products accumulate as the output is, tests and extremes as the
** input is.  Never single precision: f32 is summed in double here, and where
** PyTorch's bits are wanted dt_cascades takes the job before. */
static DtClass class_for (DtReduce f, DtDtype in, DtDtype out) {
  DtClass ci = dt_class_of(in), co = dt_class_of(out), c = co;
  switch (f) {
    case DT_RED_MAX: case DT_RED_MIN: case DT_RED_ANY: case DT_RED_ALL:
    case DT_RED_COUNT_NONZERO: c = ci; break;
    case DT_RED_SUM: case DT_RED_PROD: case DT_RED_NANSUM:
    case DT_RED_SUMSQ:
      if (out == DT_BOOL) c = ci;
      break;
    default: if (co == DT_CL_I64) c = DT_CL_F64;
  }
  if (ci == DT_CL_C128) return DT_CL_C128;
  return c == DT_CL_F32 ? DT_CL_F64 : c;
}

static void add_dim (DtRedDim *list, int *n, DtRedDim d) {
  if (d.n == 1) return;
  if (*n > 0) {
    DtRedDim *o = &list[*n - 1];
    if (o->in == d.in * d.n && o->out == d.out * d.n) {
      o->n *= d.n;
      o->in = d.in;
      o->out = d.out;
      return;
    }
  }
  list[(*n)++] = d;
}

/* Kept dims with the smallest input stride last: there lie the tiles. */
static void sort_kept (DtRedJob *j) {
  for (int i = 1; i < j->nkept; i++)
    for (int k = i; k > 0 && j->kept[k].in > j->kept[k - 1].in; k--) {
      DtRedDim t = j->kept[k];
      j->kept[k] = j->kept[k - 1];
      j->kept[k - 1] = t;
    }
}

static void job_init (DtRedJob *j, DtReduce f, const DtScalar *p,
                      const DtTensor *a, uint32_t dims, const DtTensor *out) {
  j->f = f;
  j->p = p == NULL ? (f == DT_RED_NORM ? 2 : f == DT_RED_VAR ||
                      f == DT_RED_STD ? 1 : 0)
                   : p[0].kind < DT_K_FLOAT ? (double)p[0].i : p[0].re;
  j->in_t = (DtDtype)a->m.dtype;
  j->out_t = (DtDtype)out->m.dtype;
  j->cl = class_for(f, j->in_t, j->out_t);
  j->nkept = j->nred = 0;
  j->len = 1;
  int64_t ies = (int64_t)dt_dtype_size(j->in_t);
  int64_t oes = (int64_t)dt_dtype_size(j->out_t);
  bool keeps = out->m.ndim == a->m.ndim;
  int o = 0;
  for (int d = 0; d < a->m.ndim; d++) {
    DtRedDim x = {a->m.shape[d], a->m.stride[d] * ies, 0};
    if ((dims >> d) & 1) {
      j->len *= x.n;
      add_dim(j->red, &j->nred, x);
      o += keeps;
    } else {
      x.out = out->m.stride[o++] * oes;
      add_dim(j->kept, &j->nkept, x);
    }
  }
  if (j->nred == 0) j->red[j->nred++] = (DtRedDim){1, 0, 0};
  sort_kept(j);
}

/* Outputs made at a time.  Those whose elements lie along memory are made one
** by one, but as many as stay in cache from one pass to the next. */
static int64_t tile_width (DtRedJob *j) {
  enum { NEAR = 1 << 18 };
  const DtRedDim *k = &j->kept[j->nkept - 1];
  int64_t most = j->cl == DT_CL_C128 ? DT_RED_TILE_Z : DT_RED_TILE;
  if (j->f == DT_RED_VAR || j->f == DT_RED_STD) most /= 2;
  int64_t bytes = j->len * (int64_t)dt_dtype_size(j->in_t);
  j->along = !(k->n >= 4 && k->in < j->red[j->nred - 1].in);
  if (j->along && bytes > 0) {
    int64_t w = NEAR / bytes;
    most = w < 1 ? 1 : w < most ? w : most;
  }
  return most;
}

/* All outputs of one run of the innermost kept dim. */
static void job_run (DtRedJob *j, const char *in, char *out) {
  if (j->nkept == 0) {
    tile(j, in, 0, 1, out, 0);
    return;
  }
  const DtRedDim *k = &j->kept[j->nkept - 1];
  int64_t w = tile_width(j);
  for (int64_t i = 0; i < k->n; i += w) {
    int64_t n = k->n - i < w ? k->n - i : w;
    tile(j, in + i * k->in, k->in, n, out + i * k->out, k->out);
  }
}

DtStatus dt_k_reduce (DtCtx *cx, DtReduce f, const DtScalar *p,
                      const DtTensor *a, uint32_t dims, DtTensor *out) {
  void *o;
  const void *in = NULL;
  DtRedJob j;
  int64_t count[DT_MAX_NDIM] = {0};
  if (f == DT_RED_PROD && (out->m.dtype == DT_F16 || out->m.dtype == DT_BF16))
    return dt_k_product_narrow(cx, a, dims, out);
  if (dt_cascades(f, (DtDtype)a->m.dtype, (DtDtype)out->m.dtype))
    return dt_cascade_sum(cx, f, a, dims, out);
  DT_TRY(cx, dt_kernel_data(cx, out, &o, 1, &a, &in));
  if (o == NULL) return DT_OK;
  job_init(&j, f, p, a, dims, out);
  if (in == NULL) {             /* nothing to reduce: walk the outputs only */
    for (int d = 0; d < j.nkept; d++) j.kept[d].in = 0;
    in = &j;
  }
  const char *ip = in;
  char *op = o;
  for (;;) {
    int d = j.nkept - 2;
    job_run(&j, ip, op);
    for (; d >= 0; d--) {
      ip += j.kept[d].in;
      op += j.kept[d].out;
      if (++count[d] < j.kept[d].n) break;
      count[d] = 0;
      ip -= j.kept[d].in * j.kept[d].n;
      op -= j.kept[d].out * j.kept[d].n;
    }
    if (d < 0) return DT_OK;
  }
}

double dt_sum_f64 (const double *v, int64_t n) {
  DtRedJob j = {.f = DT_RED_SUM, .cl = DT_CL_F64, .in_t = DT_F64, .nred = 1,
           .len = n, .red = {{n, 8, 0}}};
  double r;
  pass(&j, (const char *)v, 0, 1, DT_M_ID, DT_C_ADD, NULL, &r);
  return r;
}
