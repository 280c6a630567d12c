/* SPDX-License-Identifier: MIT
** kernel/pw_f64.c: the pointwise functions in double precision. */

#include <math.h>
#include "kernel/kernel_int.h"
#include "kernel/special.h"

#define T double
#define G(g) g##_f64
#define M(g) g
#define N(name) name
#define TABLE dt_pw_f64

static inline double fexp_f64 (double x) { return exp(x); }
static inline double fexp2_f64 (double x) { return exp2(x); }
static inline double flog_f64 (double x) { return log(x); }
static inline double flog1p_f64 (double x) { return log1p(x); }
static inline double ferf_f64 (double x) { return erf(x); }
static inline double ftanh_f64 (double x) { return tanh(x); }

static inline double fgelu_f64 (double x, int kb) {
  (void)kb;
  return x * 0.5 * (1 + erf(x * 0.7071067811865476));
}

static inline double fnarrow_f64 (double x, int kb) {
  (void)kb;
  return x;
}

static inline double fnext_f64 (double x, double y, int kb) {
  (void)kb;
  return nextafter(x, y);
}

#include "kernel/pw_float_int.h"
#include "kernel/pw_rows_int.h"
