/* SPDX-License-Identifier: MIT
** kernel/pw_f32.c: the pointwise functions in single precision; also those of
** f16, bf16 and f8, rounded once when stored. */

#include <math.h>
#include <string.h>
#include "kernel/kernel_int.h"
#include "kernel/special.h"
#include "tensor/narrow.h"

#define T float
#define G(g) g##_f32
#define M(g) g##f
#define N(name) name
#define TABLE dt_pw_f32

/* e^x without branches, so that it vectorises: x = n ln2 + r, a polynomial in
** r, then 2^n in two factors, which reaches the subnormals.  Adding 1.5 * 2^23
** rounds to an integer and leaves it in the low bits.  Within 1 ulp. */
static inline float fexp_f32 (float x) {
  const float magic = 12582912.0f;
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  float t = c * 1.44269504f + magic, f = t - magic;
  uint32_t n, half, s1, s2;
  float a, b;
  memcpy(&n, &t, sizeof n);
  n -= 0x4b400000u;
  float r = c - f * 0.693359375f;
  r = r - f * -2.12194440e-4f;
  float q = 1.9875691500e-4f;
  q = q * r + 1.3981999507e-3f;
  q = q * r + 8.3334519073e-3f;
  q = q * r + 4.1665795894e-2f;
  q = q * r + 1.6666665459e-1f;
  q = q * r + 5.0000001201e-1f;
  q = q * r * r + r + 1.0f;
  half = (uint32_t)((int32_t)n >> 1);
  s1 = (half + 127u) << 23;
  s2 = (n - half + 127u) << 23;
  memcpy(&a, &s1, sizeof a);
  memcpy(&b, &s2, sizeof b);
  return q * a * b;
}

/* tanh: an odd polynomial near zero, 1 - 2 / (e^2x + 1) elsewhere. */
static inline float ftanh_f32 (float x) {
  float a = fabsf(x), q = x * x;
  float p = -5.70498872745e-3f;
  p = p * q + 2.06390887954e-2f;
  p = p * q - 5.37397155531e-2f;
  p = p * q + 1.33314422036e-1f;
  p = p * q - 3.33332819422e-1f;
  p = p * q * a + a;
  float e = 1.0f - 2.0f / (fexp_f32(a + a) + 1.0f);
  return copysignf(a < 0.625f ? p : e, x);
}

/* erf: an odd polynomial below 1, 1 - e^-q(|x|) above, q a polynomial.  Both
** are least-squares fits at Chebyshev points; the error is below 1.4e-7. */
static inline float ferf_f32 (float x) {
  float a = fabsf(x), q = a * a, c = a > 4.0f ? 4.0f : a;
  float p = 7.88249712e-05f;
  p = p * q - 0.000801885499f;
  p = p * q + 0.00518931194f;
  p = p * q - 0.0268543288f;
  p = p * q + 0.112835975f;
  p = p * q - 0.376126269f;
  p = p * q + 1.12837917f;
  float e = -1.6140616e-06f;
  e = e * c + 4.55906223e-05f;
  e = e * c - 0.000592769537f;
  e = e * c + 0.00474022234f;
  e = e * c - 0.0263647174f;
  e = e * c + 0.109978245f;
  e = e * c + 0.631937094f;
  e = e * c + 1.13016668f;
  e = e * c - 0.000303212967f;
  float big = 1.0f - fexp_f32(-e);
  return copysignf(a < 1.0f ? p * a : a == a ? big : a, x);
}

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
