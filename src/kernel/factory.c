/* SPDX-License-Identifier: MIT
** kernel/factory.c: values made from nothing: arange, eye, triangles, random
** numbers.
**
** Random element i depends on the stream and on i, its row-major position,
** only: any rank can make any part of a tensor. */

#include <math.h>
#include "base/sat.h"
#include "kernel/loops.h"

/* ---- walking in row-major order ------------------------------------------- */

/* Value of element i as a number of the given class, for each kind of fill. */
typedef struct Fill Fill;
struct Fill {
  void (*make) (const Fill *f, int64_t i, int64_t n, void *out);
  DtClass c;
  const DtRng *rng;
  double a, b;
  int64_t ia, ib;
};

static DtStatus fill_rows (DtCtx *cx, DtTensor *dst, const Fill *f) {
  void *p;
  DtC128 buf[DT_RUN_BYTES / sizeof(DtC128)];
  int64_t block = (int64_t)(DT_RUN_BYTES / dt_class_size(f->c));
  int64_t at = 0, count[DT_MAX_NDIM] = {0};
  const DtMeta *m = &dst->m;
  DtDtype t = (DtDtype)m->dtype;
  int64_t es = (int64_t)dt_dtype_size(t);
  DT_TRY(cx, dt_kernel_data(cx, dst, &p, 0, NULL, NULL));
  if (p == NULL) return DT_OK;
  int last = m->ndim - 1;
  int64_t len = last >= 0 ? m->shape[last] : 1;
  int64_t step = last >= 0 ? m->stride[last] * es : es;
  for (char *d = p;;) {
    for (int64_t i = 0; i < len; i += block) {
      int64_t n = len - i < block ? len - i : block;
      f->make(f, at + i, n, buf);
      dt_run_store(f->c, buf, t, d + i * step, step, n);
    }
    at += len;
    int k = last - 1;
    for (; k >= 0; k--) {
      d += m->stride[k] * es;
      if (++count[k] < m->shape[k]) break;
      count[k] = 0;
      d -= m->stride[k] * es * m->shape[k];
    }
    if (k < 0) return DT_OK;
  }
}

/* ---- arange, eye, triangles ------------------------------------------------ */

static void make_arange_i64 (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  for (int64_t k = 0; k < n; k++)
    o[k] = (int64_t)((uint64_t)f->ia + (uint64_t)f->ib * (uint64_t)(i + k));
}

static void make_arange_f64 (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out;
  for (int64_t k = 0; k < n; k++) o[k] = f->a + f->b * (double)(i + k);
}

static double real_of (DtScalar v) {
  return v.kind < DT_K_FLOAT ? (double)v.i : v.re;
}

static bool is_exact (DtScalar v) { return v.kind < DT_K_FLOAT; }

DtStatus dt_k_arange (DtCtx *cx, DtTensor *dst, DtScalar start,
                      DtScalar step) {
  Fill f = {.make = make_arange_f64, .c = DT_CL_F64, .a = real_of(start),
            .b = real_of(step), .ia = start.i, .ib = step.i};
  if (is_exact(start) && is_exact(step) &&
      dt_class_of((DtDtype)dst->m.dtype) == DT_CL_I64) {
    f.make = make_arange_i64;
    f.c = DT_CL_I64;
  }
  return fill_rows(cx, dst, &f);
}

DtStatus dt_k_eye (DtCtx *cx, DtTensor *dst) {
  DtTensor d = dt_stack_view(dst);
  DT_TRY(cx, dt_k_fill(cx, dst, dt_scalar_int(0)));
  int64_t n = d.m.shape[0] < d.m.shape[1] ? d.m.shape[0] : d.m.shape[1];
  d.m.ndim = 1;
  d.m.stride[0] = dt_sat_add(d.m.stride[0], d.m.stride[1]);
  d.m.shape[0] = n;
  return dt_k_fill(cx, &d, dt_scalar_int(1));
}

/* One matrix: the kept part of each row, zero for the rest. */
static DtStatus tri_matrix (DtCtx *cx, const DtTensor *a, int64_t diag,
                            bool upper, const DtTensor *out) {
  int64_t rows = a->m.shape[0], cols = a->m.shape[1];
  for (int64_t r = 0; r < rows; r++) {
    DtTensor s = dt_stack_view(a), d = dt_stack_view(out), z;
    dt_stack_select(&s, 0, r);
    dt_stack_select(&d, 0, r);
    z = d;
    /* the first column of the right */
    int64_t cut = dt_sat_add(diag, r + (upper ? 0 : 1));
    cut = cut < 0 ? 0 : cut > cols ? cols : cut;
    dt_stack_narrow(&s, 0, upper ? cut : 0, upper ? cols - cut : cut);
    dt_stack_narrow(&d, 0, upper ? cut : 0, upper ? cols - cut : cut);
    dt_stack_narrow(&z, 0, upper ? 0 : cut, upper ? cut : cols - cut);
    DT_TRY(cx, dt_k_copy(cx, &s, &d));
    DT_TRY(cx, dt_k_fill(cx, &z, dt_scalar_int(0)));
  }
  return DT_OK;
}

static DtStatus tri_batch (DtCtx *cx, const DtTensor *a, int64_t diag,
                           bool upper, const DtTensor *out) {
  if (a->m.ndim == 2) return tri_matrix(cx, a, diag, upper, out);
  for (int64_t i = 0; i < a->m.shape[0]; i++) {
    DtTensor s = dt_stack_view(a), d = dt_stack_view(out);
    dt_stack_select(&s, 0, i);
    dt_stack_select(&d, 0, i);
    DT_TRY(cx, tri_batch(cx, &s, diag, upper, &d));
  }
  return DT_OK;
}

DtStatus dt_k_tri (DtCtx *cx, const DtTensor *a, int64_t diag, bool upper,
                   DtTensor *out) {
  if (dt_meta_numel(&a->m) == 0) return DT_OK;
  return tri_batch(cx, a, diag, upper, out);
}

/* ---- random ------------------------------------------------------------------ */

static void make_uniform_f32 (const Fill *f, int64_t i, int64_t n, void *out) {
  dt_loops()->uniform_f32(f->rng, i, n, (float)f->a, (float)(f->b - f->a),
                          out);
}

static void make_uniform_f64 (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out;
  for (int64_t k = 0; k < n; k++)
    o[k] = dt_rng_uniform_f64(f->rng, (uint64_t)(i + k)) * (f->b - f->a) +
           f->a;
}

/* dt_rng_normal(), block by block. */
static void make_normal (const Fill *f, int64_t i, int64_t n, void *out) {
  dt_loops()->normal(f->rng, i, n, f->a, f->b, out);
}

static void make_bernoulli (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  for (int64_t k = 0; k < n; k++)
    o[k] = dt_rng_uniform_f64(f->rng, (uint64_t)(i + k)) < f->a;
}

/* The bias of the remainder is below 2^-32 for ranges below 2^32. */
static void make_randint (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  uint64_t width = (uint64_t)f->ib - (uint64_t)f->ia;
  for (int64_t k = 0; k < n; k++) {
    uint64_t r = dt_rng_u64(f->rng, (uint64_t)(i + k));
    o[k] = (int64_t)((uint64_t)f->ia + (width ? r % width : r));
  }
}

DtStatus dt_k_uniform (DtCtx *cx, DtTensor *dst, const DtRng *r, double lo,
                       double hi) {
  bool wide = dt_class_of((DtDtype)dst->m.dtype) != DT_CL_F32;
  Fill f = {.make = wide ? make_uniform_f64 : make_uniform_f32,
            .c = wide ? DT_CL_F64 : DT_CL_F32, .rng = r, .a = lo, .b = hi};
  return fill_rows(cx, dst, &f);
}

DtStatus dt_k_normal (DtCtx *cx, DtTensor *dst, const DtRng *r, double mean,
                      double std) {
  Fill f = {.make = make_normal, .c = DT_CL_F64, .rng = r, .a = mean,
            .b = std};
  return fill_rows(cx, dst, &f);
}

static void make_exponential (const Fill *f, int64_t i, int64_t n,
                              void *out) {
  double *o = out;
  for (int64_t k = 0; k < n; k++)
    o[k] = -log1p(-dt_rng_uniform_f64(f->rng, (uint64_t)(i + k))) / f->a;
}

static void make_geometric (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out, scale = log1p(-f->a);
  for (int64_t k = 0; k < n; k++) {
    double u = dt_rng_uniform_f64(f->rng, (uint64_t)(i + k));
    double v = ceil(log1p(-u) / scale);
    o[k] = v < 1 ? 1 : v;
  }
}

static void make_log_normal (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out;
  make_normal(f, i, n, out);
  for (int64_t k = 0; k < n; k++) o[k] = exp(o[k]);
}

static void make_cauchy (const Fill *f, int64_t i, int64_t n, void *out) {
  const double pi = 3.141592653589793;
  double *o = out;
  for (int64_t k = 0; k < n; k++) {
    double u = dt_rng_uniform_f64(f->rng, (uint64_t)(i + k));
    o[k] = f->a + f->b * tan(pi * (u - 0.5));
  }
}

DtStatus dt_k_random (DtCtx *cx, DtRandom kind, DtTensor *dst, const DtRng *r,
                      double a, double b) {
  Fill f = {.make = make_cauchy, .c = DT_CL_F64, .rng = r, .a = a, .b = b};
  switch (kind) {
    case DT_RND_EXPONENTIAL: f.make = make_exponential; break;
    case DT_RND_GEOMETRIC: f.make = make_geometric; break;
    case DT_RND_LOG_NORMAL: f.make = make_log_normal; break;
    case DT_RND_CAUCHY: break;
  }
  return fill_rows(cx, dst, &f);
}

DtStatus dt_k_bernoulli (DtCtx *cx, DtTensor *dst, const DtRng *r, double p) {
  Fill f = {.make = make_bernoulli, .c = DT_CL_I64, .rng = r, .a = p};
  return fill_rows(cx, dst, &f);
}

DtStatus dt_k_randint (DtCtx *cx, DtTensor *dst, const DtRng *r, int64_t lo,
                       int64_t hi) {
  Fill f = {.make = make_randint, .c = DT_CL_I64, .rng = r, .ia = lo,
            .ib = hi};
  return fill_rows(cx, dst, &f);
}
