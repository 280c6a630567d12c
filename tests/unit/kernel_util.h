/* SPDX-License-Identifier: MIT
** tests/unit/kernel_util.h: making and comparing tensors in kernel tests.
** Header only; include cmocka.h before it. */
#ifndef DT_TESTS_KERNEL_UTIL_H
#define DT_TESTS_KERNEL_UTIL_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "fixture.h"
#include "kernel/kernel.h"

#define OK(call) assert_int_equal((call), DT_OK)
#define SHAPE(...) (int64_t[]){__VA_ARGS__}
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))

/* An uninitialised tensor; its dims lie in memory in the order of `perm`
** (outermost first) when given. */
static inline DtTensor *make (DtCtx *cx, DtDtype t, int ndim,
                              const int64_t *shape, const int *perm) {
  DtMeta m;
  DtTensor *r = NULL;
  OK(dt_meta_init(cx, &m, t, ndim, shape));
  int64_t s = 1;
  for (int d = ndim - 1; perm != NULL && d >= 0; d--) {
    m.stride[perm[d]] = s;
    s *= shape[perm[d]];
  }
  OK(dt_tensor_new(cx, &m, false, &r));
  return r;
}

/* Step an index in row-major order; false after the last. */
static inline bool step (const DtMeta *m, int64_t *i) {
  for (int d = m->ndim - 1; d >= 0; d--) {
    if (++i[d] < m->shape[d]) return true;
    i[d] = 0;
  }
  return false;
}

static inline void put (DtCtx *cx, DtTensor *t, const int64_t *i, DtScalar v) {
  void *p;
  int64_t at = 0;
  OK(dt_tensor_data(cx, t, &p));
  for (int d = 0; d < t->m.ndim; d++) at += i[d] * t->m.stride[d];
  DtDtype type = (DtDtype)t->m.dtype;
  dt_dtype_store(type, (char *)p + at * (int64_t)dt_dtype_size(type), v);
}

/* Values in row-major order. */
static inline void set (DtCtx *cx, DtTensor *t, const double *v) {
  int64_t i[DT_MAX_NDIM] = {0}, k = 0;
  if (dt_meta_numel(&t->m) == 0) return;
  do put(cx, t, i, dt_scalar_float(v[k++])); while (step(&t->m, i));
}

/* Reproducible values in [-2, 2], whole numbers in [-3, 3] for integers. */
static inline DtTensor *random_like (DtCtx *cx, DtTensor *t, uint64_t seed) {
  int64_t i[DT_MAX_NDIM] = {0}, k = 0;
  DtRng r = {.seed = seed};
  DtKind kind = dt_dtype_info((DtDtype)t->m.dtype)->kind;
  if (dt_meta_numel(&t->m) == 0) return t;
  do {
    double u = dt_rng_uniform_f64(&r, (uint64_t)k++);
    DtScalar v = dt_scalar_float(u * 4 - 2);
    if (kind == DT_K_INT || kind == DT_K_BOOL)
      v = dt_scalar_int((int64_t)(u * 7) - (t->m.dtype == DT_U8 ? 0 : 3));
    if (kind == DT_K_COMPLEX)
      v = dt_scalar_complex(u * 4 - 2,
                            dt_rng_uniform_f64(&r, (uint64_t)k++) - 0.5);
    put(cx, t, i, v);
  } while (step(&t->m, i));
  return t;
}

static inline DtTensor *rnd (DtCtx *cx, DtDtype t, int ndim,
                             const int64_t *shape, uint64_t seed) {
  return random_like(cx, make(cx, t, ndim, shape, NULL), seed);
}

static inline DtTensor *from (DtCtx *cx, DtDtype t, int ndim,
                              const int64_t *shape, const double *v) {
  DtTensor *r = make(cx, t, ndim, shape, NULL);
  set(cx, r, v);
  return r;
}

static inline double at1 (const DtTensor *t, int64_t i) {
  return dt_tensor_get(t, &i).re;
}

static inline double at2 (const DtTensor *t, int64_t i, int64_t j) {
  return dt_tensor_get(t, SHAPE(i, j)).re;
}

static inline double at3 (const DtTensor *t, int64_t i, int64_t j,
                          int64_t k) {
  return dt_tensor_get(t, SHAPE(i, j, k)).re;
}

/* Tolerance of a comparison in a dtype, as PyTorch's assert_close. */
static inline double rtol_of (DtDtype t) {
  switch (t) {
    case DT_F32: case DT_C64: return 1.3e-6;
    case DT_F64: case DT_C128: return 1e-7;
    case DT_F16: return 1e-3;
    case DT_BF16: return 1.6e-2;
    case DT_F8E4M3: case DT_F8E5M2: return 0.13;
    default: return 0;
  }
}

static inline bool is_close (DtDtype t, double got, double want) {
  double atol = t == DT_F64 || t == DT_C128 ? 1e-7 : 1e-5;
  if (rtol_of(t) == 0) return got == want;
  if (got != got || want != want) return got != got && want != want;
  if (isinf(want)) return got == want;
  return fabs(got - want) <= atol + rtol_of(t) * fabs(want);
}

static inline void expect (DtDtype t, double got, double want) {
  if (!is_close(t, got, want))
    fail_msg("%s: got %.9g, want %.9g", dt_dtype_info(t)->name, got, want);
}

/* Compare with values in row-major order, and let go. */
static inline void expect_all (DtCtx *cx, DtTensor *t, const double *want) {
  int64_t i[DT_MAX_NDIM] = {0}, k = 0;
  if (dt_meta_numel(&t->m) > 0)
    do expect((DtDtype)t->m.dtype, dt_tensor_get(t, i).re, want[k++]);
    while (step(&t->m, i));
  dt_tensor_unref(cx, t);
}

#endif
