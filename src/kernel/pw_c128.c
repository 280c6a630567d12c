/* SPDX-License-Identifier: MIT
** kernel/pw_c128.c: the pointwise functions of complex numbers, in double
** precision; c64 is rounded once when stored. */

#include <math.h>
#include "kernel/kernel_int.h"

#define T DtC128
#define G(f) f
#define N(name) name
#define TABLE dt_pw_c128
#define NONE 0
#define PICK(f, i, z) (z)
#define ZMAKE(re, im) CMPLX(re, im)
#define ZRE(e) CMPLX((double)(e), 0)

static DtC128 zsgn (DtC128 x) {
  double a = cabs(x);
  return a == 0 ? 0 : x / a;
}

static DtC128 zpow (DtC128 x, DtC128 y) {
  if (y == 0) return 1;
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (x == 0 && creal(y) > 0) return 0;
  return cpow(x, y);
}

/* log(e^x + e^y), from the operand with the larger real part. */
static DtC128 zlogaddexp (DtC128 x, DtC128 y) {
  DtC128 m = creal(x) >= creal(y) ? x : y, l = m == x ? y : x;
  return creal(m) == -INFINITY ? m : m + clog(1 + cexp(l - m));
}

/* A part that is NaN makes a number NaN; an infinite distance is never near. */
static bool zisclose (DtC128 x, DtC128 y, double rtol, double atol,
                      bool equal_nan) {
  double diff = cabs(x - y);
  if (equal_nan && x != x && y != y) return true;
  return x == y || (diff < INFINITY && diff <= atol + cabs(rtol * y));
}

#include "kernel/pw_rows_int.h"
