/* SPDX-License-Identifier: MIT
** kernel/accumulate.c: combining buffers of several ranks, element by
** element, in the order the caller chooses.
**
** f16 and bf16 are rounded after every step, as a reduction over the wire in
** that type is. */

#include <math.h>
#include "kernel/kernel_int.h"

#define COMBINE(T, SUM, PROD, MIN, MAX) do { \
  T *a = acc; \
  const T *b = x; \
  switch (op) { \
    case DT_OP_SUM: case DT_OP_AVG: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) a[i] = SUM; break; \
    case DT_OP_PRODUCT: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) a[i] = PROD; break; \
    case DT_OP_MIN: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) a[i] = MIN; break; \
    case DT_OP_MAX: \
      DT_IVDEP for (int64_t i = 0; i < n; i++) a[i] = MAX; break; \
    default: break; \
  } } while (0)

/* A NaN on either side wins. */
#define FLOATS(T) COMBINE(T, a[i] + b[i], a[i] * b[i], \
  (a[i] != a[i] || a[i] < b[i] ? a[i] : b[i]), \
  (a[i] != a[i] || a[i] > b[i] ? a[i] : b[i]))

static void combine_f32 (DtRedOp op, float *acc, const float *x, int64_t n) {
  FLOATS(float);
}

static void combine_f64 (DtRedOp op, double *acc, const double *x,
                         int64_t n) {
  FLOATS(double);
}

static void combine_c128 (DtRedOp op, DtC128 *acc, const DtC128 *x,
                          int64_t n) {
  COMBINE(DtC128, a[i] + b[i], a[i] * b[i], a[i], a[i]);
}

static void combine_i64 (DtRedOp op, int64_t *acc, const int64_t *x,
                         int64_t n) {
  COMBINE(int64_t, (int64_t)((uint64_t)a[i] + (uint64_t)b[i]),
          (int64_t)((uint64_t)a[i] * (uint64_t)b[i]),
          (b[i] < a[i] ? b[i] : a[i]), (b[i] > a[i] ? b[i] : a[i]));
  for (int64_t i = 0; i < n; i++) {
    if (op == DT_OP_BAND) acc[i] &= x[i];
    if (op == DT_OP_BOR) acc[i] |= x[i];
    if (op == DT_OP_BXOR) acc[i] ^= x[i];
  }
}

/* The caller's order is the whole point: (a + b) + c and a + (b + c) differ,
** and ranks have to come to the same bits (comm/order.c). */
static void combine (DtClass c, DtRedOp op, void *acc, const void *x,
                     int64_t n) {
  switch (c) {
    case DT_CL_F32: combine_f32(op, acc, x, n); break;
    case DT_CL_F64: combine_f64(op, acc, x, n); break;
    case DT_CL_I64: combine_i64(op, acc, x, n); break;
    case DT_CL_C128: combine_c128(op, acc, x, n); break;
  }
}

void dt_k_accumulate (DtRedOp op, DtDtype t, void *acc, const void *x,
                      int64_t n) {
  DtC128 a[DT_RUN_BYTES / sizeof(DtC128)], b[DT_RUN_BYTES / sizeof(DtC128)];
  DtClass c = dt_class_of(t);
  int64_t es = (int64_t)dt_dtype_size(t);
  int64_t block = (int64_t)(DT_RUN_BYTES / dt_class_size(c));
  if (dt_class_is_native(c, t)) {
    combine(c, op, acc, x, n);
    return;
  }
  for (int64_t i = 0; i < n; i += block) {
    int64_t k = n - i < block ? n - i : block;
    char *d = (char *)acc + i * es;
    dt_run_load(c, a, t, d, es, k);
    dt_run_load(c, b, t, (const char *)x + i * es, es, k);
    combine(c, op, a, b, k);
    dt_run_store(c, a, t, d, es, k);
  }
}

/* Integers divide towards zero. */
static void scale (DtClass c, void *v, int64_t count, int64_t n) {
  float *f = v;
  double *d = v;
  int64_t *i64 = v;
  DtC128 *z = v;
  for (int64_t i = 0; i < count; i++)
    switch (c) {
      case DT_CL_F32: f[i] /= (float)n; break;
      case DT_CL_F64: d[i] /= (double)n; break;
      case DT_CL_I64: i64[i] /= n; break;
      case DT_CL_C128: z[i] /= (double)n; break;
    }
}

void dt_k_scale_avg (DtDtype t, void *acc, int64_t count, int64_t n) {
  DtC128 a[DT_RUN_BYTES / sizeof(DtC128)];
  DtClass c = dt_class_of(t);
  int64_t es = (int64_t)dt_dtype_size(t);
  int64_t block = (int64_t)(DT_RUN_BYTES / dt_class_size(c));
  for (int64_t i = 0; i < count; i += block) {
    int64_t k = count - i < block ? count - i : block;
    char *d = (char *)acc + i * es;
    dt_run_load(c, a, t, d, es, k);
    scale(c, a, k, n);
    dt_run_store(c, a, t, d, es, k);
  }
}
