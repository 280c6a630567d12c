/* SPDX-License-Identifier: MIT
** kernel/factory.c: values made from nothing: arange, eye, triangles, random
** numbers.
**
** Element i of a counter-based generator depends on the stream and on i, its
** row-major position, only: any rank can make any part of a tensor.  The CPU's
** generator is drawn from in the order of memory, as PyTorch does. */

#include <math.h>
#include "base/sat.h"
#include "kernel/loops.h"
#include "kernel/random_cpu.h"

/* ---- walking in row-major order ------------------------------------------- */

/* Value of element i as a number of the given class, for each kind of fill. */
typedef struct Fill Fill;
struct Fill {
  void (*make) (const Fill *f, int64_t i, int64_t n, void *out);
  DtClass c;
  DtDtype t;                    /* random: the type that is filled */
  DtRng *rng;
  double a, b;
  int64_t ia, ib;
};

/* Values by their index in the tensor, made in blocks and stored row by row;
** `count` is an odometer over the outer dimensions. */
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
  if (dt_class_of((DtDtype)dst->m.dtype) == DT_CL_I64) {
    f.make = make_arange_i64;        /* start and step without their fractions */
    f.c = DT_CL_I64;
    if (!is_exact(start)) f.ia = (int64_t)start.re;
    if (!is_exact(step)) f.ib = (int64_t)step.re;
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

/* Elements of a random fill: from the counter-based generator the numbers
** i.., from the CPU's the next. */

static void make_uniform (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out;
  if (f->rng->twister) {
    dt_cpu_uniform(f->rng, f->t, f->a, f->b, n, out);
  } else if (f->c == DT_CL_F32) {
    dt_loops()->uniform_f32(f->rng, i, n, (float)f->a, (float)(f->b - f->a),
                            out);
  } else {
    for (int64_t k = 0; k < n; k++)
      o[k] = dt_rng_uniform_f64(f->rng, (uint64_t)(i + k)) * (f->b - f->a) +
             f->a;
  }
}

/* dt_rng_normal(), block by block. */
static void make_normal (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out;
  if (f->rng->twister == NULL)
    dt_loops()->normal(f->rng, i, n, f->a, f->b, out);
  else
    for (int64_t k = 0; k < n; k++) o[k] = dt_cpu_normal(f->rng) * f->b + f->a;
}

/* A number in [0, 1), 53 bits. */
static double unit (const Fill *f, int64_t i) {
  return f->rng->twister ? dt_twist_f64(f->rng)
                         : dt_rng_uniform_f64(f->rng, (uint64_t)i);
}

static void make_bernoulli (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  for (int64_t k = 0; k < n; k++) o[k] = unit(f, i + k) < f->a;
}

/* The bias of the remainder is below 2^-32 for ranges below 2^32. */
static void make_randint (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  uint64_t width = (uint64_t)f->ib - (uint64_t)f->ia;
  if (f->rng->twister) {
    dt_cpu_randint(f->rng, f->ia, f->ib, n, out);
    return;
  }
  for (int64_t k = 0; k < n; k++) {
    uint64_t r = dt_rng_u64(f->rng, (uint64_t)(i + k));
    o[k] = (int64_t)((uint64_t)f->ia + (width ? r % width : r));
  }
}

/* A stack view whose dimensions go from the longest stride to the shortest. */
static DtTensor in_memory_order (const DtTensor *t) {
  DtTensor v = dt_stack_view(t);
  DtMeta *m = &v.m;
  for (int i = 1; i < m->ndim; i++)
    for (int k = i; k > 0 && m->stride[k] > m->stride[k - 1]; k--) {
      int64_t shape = m->shape[k], stride = m->stride[k];
      m->shape[k] = m->shape[k - 1];
      m->stride[k] = m->stride[k - 1];
      m->shape[k - 1] = shape;
      m->stride[k - 1] = stride;
    }
  return v;
}

/* Fill, and leave the generator where the next fill begins. */
static DtStatus fill_random (DtCtx *cx, DtTensor *dst, const Fill *f) {
  DtTensor v = in_memory_order(dst);
  if (dt_meta_numel(&dst->m) == 0) return DT_OK;
  if (f->rng->twister) return fill_rows(cx, &v, f);
  DT_TRY(cx, fill_rows(cx, dst, f));
  dt_rng_spend(f->rng, dt_meta_numel(&dst->m));
  return DT_OK;
}

/* A complex tensor as its real and imaginary parts, one more dimension. */
static bool as_parts (const DtTensor *t, DtTensor *parts) {
  DtMeta *m = &parts->m;
  bool wide = t->m.dtype == DT_C128;
  if (!dt_dtype_is_complex((DtDtype)t->m.dtype) || t->m.ndim == DT_MAX_NDIM)
    return false;
  *parts = dt_stack_view(t);
  m->dtype = wide ? DT_F64 : DT_F32;
  for (int d = 0; d < m->ndim; d++) m->stride[d] *= 2;
  parts->offset *= 2;
  m->shape[m->ndim] = 2;
  m->stride[m->ndim++] = 1;
  return true;
}

DtStatus dt_k_uniform (DtCtx *cx, DtTensor *dst, DtRng *r, double lo,
                       double hi) {
  DtTensor parts;
  if (as_parts(dst, &parts)) return dt_k_uniform(cx, &parts, r, lo, hi);
  DtDtype t = (DtDtype)dst->m.dtype;
  bool wide = dt_class_of(t) != DT_CL_F32;
  Fill f = {.make = make_uniform, .c = wide ? DT_CL_F64 : DT_CL_F32, .t = t,
            .rng = r, .a = lo, .b = hi};
  return fill_random(cx, dst, &f);
}

DtStatus dt_k_normal (DtCtx *cx, DtTensor *dst, DtRng *r, double mean,
                      double std) {
  DtTensor parts;
  if (as_parts(dst, &parts))
    return dt_k_normal(cx, &parts, r, mean, std / sqrt(2));
  Fill f = {.make = make_normal, .c = DT_CL_F64, .rng = r, .a = mean,
            .b = std};
  bool real = dt_class_of((DtDtype)dst->m.dtype) == DT_CL_F32 ||
              dt_class_of((DtDtype)dst->m.dtype) == DT_CL_F64;
  if (r->twister && real && dt_meta_numel(&dst->m) >= 16 &&
      dt_meta_is_contiguous(&dst->m))
    return dt_cpu_normal_fill(cx, dst, r, mean, std);
  return fill_random(cx, dst, &f);
}

static void make_exponential (const Fill *f, int64_t i, int64_t n,
                              void *out) {
  double *o = out;
  for (int64_t k = 0; k < n; k++) o[k] = -log1p(-unit(f, i + k)) / f->a;
}

/* ORDER aten/src/ATen/core/DistributionsHelper.h: the CPU's is ceil of
** log(u) over log(1 - p). */
static void make_geometric (const Fill *f, int64_t i, int64_t n, void *out) {
  double *o = out, scale = log1p(-f->a);
  for (int64_t k = 0; k < n; k++) {
    double u = unit(f, i + k);
    double v = ceil((f->rng->twister ? log(u) : log1p(-u)) / scale);
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
  for (int64_t k = 0; k < n; k++)
    o[k] = f->a + f->b * tan(pi * (unit(f, i + k) - 0.5));
}

static void make_word (const Fill *f, int64_t i, int64_t n, void *out) {
  int64_t *o = out;
  for (int64_t k = 0; k < n; k++) {
    uint64_t w = f->rng->twister ? dt_twist32(f->rng)
                                 : dt_rng_u64(f->rng, (uint64_t)(i + k));
    o[k] = (int64_t)(w % (uint64_t)f->a);
  }
}

DtStatus dt_k_random (DtCtx *cx, DtRandom kind, DtTensor *dst, DtRng *r,
                      double a, double b) {
  Fill f = {.make = make_cauchy, .c = DT_CL_F64, .rng = r, .a = a, .b = b};
  switch (kind) {
    case DT_RND_EXPONENTIAL: f.make = make_exponential; break;
    case DT_RND_GEOMETRIC: f.make = make_geometric; break;
    case DT_RND_LOG_NORMAL: f.make = make_log_normal; break;
    case DT_RND_WORD: f.make = make_word; f.c = DT_CL_I64; break;
    case DT_RND_CAUCHY: break;
  }
  return fill_random(cx, dst, &f);
}

DtStatus dt_k_bernoulli (DtCtx *cx, DtTensor *dst, DtRng *r, double p) {
  Fill f = {.make = make_bernoulli, .c = DT_CL_I64, .rng = r, .a = p};
  return fill_random(cx, dst, &f);
}

DtStatus dt_k_randint (DtCtx *cx, DtTensor *dst, DtRng *r, int64_t lo,
                       int64_t hi) {
  Fill f = {.make = make_randint, .c = DT_CL_I64, .rng = r, .ia = lo,
            .ib = hi};
  return fill_random(cx, dst, &f);
}
