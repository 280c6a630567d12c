/* SPDX-License-Identifier: MIT
** kernel/pw_i64.c: the pointwise functions of integers and bool.
** Values are computed in 64 bits and wrap when stored in fewer, which gives
** the same bits as computing in the narrow type; kb is the type's width
** without a sign bit, for shifts. */

#include <string.h>
#include "kernel/kernel_int.h"

#define T int64_t
#define G(f) f
#define N(name) name
#define TABLE dt_pw_i64
#define NONE 0
#define PICK(f, i, z) (i)
#define WADD(x, y) (int64_t)((uint64_t)(x) + (uint64_t)(y))
#define WSUB(x, y) (int64_t)((uint64_t)(x) - (uint64_t)(y))
#define WMUL(x, y) (int64_t)((uint64_t)(x) * (uint64_t)(y))
#define FI_CLAMP(x, lo, hi) \
  ((x) < (lo) ? ((lo) > (hi) ? (hi) : (lo)) : ((x) > (hi) ? (hi) : (x)))

/* A negative exponent leaves only 1 and -1 different from 0. */
static int64_t ipow (int64_t x, int64_t e) {
  if (e < 0) return x == 1 ? 1 : x == -1 ? (e % 2 != 0 ? -1 : 1) : 0;
  int64_t r = 1;
  for (; e > 0; e >>= 1) {
    if (e & 1) r = WMUL(r, x);
    x = WMUL(x, x);
  }
  return r;
}

static int64_t iround (int64_t x, int64_t decimals) {
  if (decimals >= 0) return x;
  int64_t ten = ipow(10, -decimals);
  if (decimals < -18 || ten == 0) return 0;
  int64_t q = x / ten, r = x % ten, a = r < 0 ? -r : r;
  bool up = a > ten - a || (a == ten - a && (q & 1));
  return WMUL(q + (up ? (x < 0 ? -1 : 1) : 0), ten);
}

static int64_t iclamp (int64_t x, int64_t lo, int64_t hi, int which) {
  if ((which & 1) && x < lo) x = lo;
  if ((which & 2) && x > hi) x = hi;
  return x;
}

static int64_t idivfloor (int64_t a, int64_t b) {
  if (b == -1) return WSUB(0, a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t iremainder (int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static uint64_t magnitude (int64_t x) {
  return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static int64_t igcd (int64_t a, int64_t b) {
  uint64_t x = magnitude(a), y = magnitude(b);
  while (y != 0) {
    uint64_t t = x % y;
    x = y;
    y = t;
  }
  return (int64_t)x;
}

static int64_t ilcm (int64_t a, int64_t b) {
  int64_t g = igcd(a, b);
  return g == 0 ? 0 : (int64_t)magnitude(WMUL(a / g, b));
}

#include "kernel/pw_rows_int.h"
