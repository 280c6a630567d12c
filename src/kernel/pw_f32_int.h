/* SPDX-License-Identifier: MIT
** kernel/pw_f32_int.h: the pointwise functions in single precision, for
** loops_int.h; also those of f16, bf16 and f8, rounded once when stored.  No
** include guard. */

#define T float
#define G(g) g##_f32
#define M(g) g##f
#define N(name) name##_f32
#define TABLE DT_LEVEL(dt_pw_f32)

/* A value as the stored type holds it (kb: 16 f16, 17 bf16). */
static inline float fnarrow_f32 (float x, int kb) {
  if (kb == 16) return dt_nw_from_f16(dt_nw_to_f16(x));
  if (kb == 17) return dt_nw_from_bf16(dt_nw_to_bf16(x));
  return x;
}

/* The next number of a 16-bit format: its bits are ordered like integers. */
static inline float fnext_f32 (float x, float y, int kb) {
  if (kb == 0) return nextafterf(x, y);
  if (x != x || y != y) return NAN;
  if (x == y) return y;
  uint16_t u = kb == 16 ? dt_nw_to_f16(x) : dt_nw_to_bf16(x);
  if (x == 0) u = (uint16_t)(y < 0 ? 0x8001 : 1);
  else u = (uint16_t)((x < y) == (x > 0) ? u + 1 : u - 1);
  return kb == 16 ? dt_nw_from_f16(u) : dt_nw_from_bf16(u);
}

#include "kernel/pw_float_int.h"
#include "kernel/pw_rows_int.h"
