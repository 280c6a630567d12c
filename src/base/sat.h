/* SPDX-License-Identifier: MIT
** base/sat.h: sums and products of sizes that users give: what does not fit
** stays at the end of the range, where every later check of a size refuses
** it.  Nothing here fails. */
#ifndef DT_BASE_SAT_H
#define DT_BASE_SAT_H

#include <stdint.h>

/* a + b, or the nearest number that fits.  Pure. */
static inline int64_t dt_sat_add (int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

/* a - b, or the nearest number that fits.  Pure. */
static inline int64_t dt_sat_sub (int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_sub_overflow(a, b, &r)) return r;
  return b > 0 ? INT64_MIN : INT64_MAX;
}

/* a * b, or the nearest number that fits.  Pure. */
static inline int64_t dt_sat_mul (int64_t a, int64_t b) {
  int64_t r;
  if (!__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

/* a / b rounded up, of a >= 0 and b > 0.  Pure. */
static inline int64_t dt_ceil_div (int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

#endif
