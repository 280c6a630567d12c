/* SPDX-License-Identifier: MIT
** kernel/math_int.h: elementary functions without branches and without calls,
** so that loops over them vectorise; for loops_int.h.  No include guard.
**
** Not here: functions that large tensors seldom need; those call libm.
** Polynomials are minimax fits (weighted so that the error of the function
** itself is even); every function is within 2 ulp of its type, subnormals,
** infinities and NaN included.  Multiply-adds are fused by name: a processor
** without the instruction computes the same bits in double. */

static inline uint64_t bits_f64 (double v) {
  uint64_t u;
  memcpy(&u, &v, sizeof u);
  return u;
}

static inline double float_f64 (uint64_t u) {
  double v;
  memcpy(&v, &u, sizeof v);
  return v;
}

/* a * b + c, rounded once.  The product is exact in double; the sum, when it is
** not, is moved to the neighbour with an odd last bit, which a second rounding
** cannot mistake for a tie. */
static inline float fma_f32 (float a, float b, float c) {
#if defined(__FMA__) || defined(__FP_FAST_FMAF)
  return __builtin_fmaf(a, b, c);
#else
  double p = (double)a * (double)b, d = c, s = p + d, v = s - p;
  double err = (p - (s - v)) + (d - v);
  uint64_t u = bits_f64(s), away = (err > 0) == (s > 0) ? 1 : UINT64_MAX;
  uint64_t inexact = (err > 0) | (err < 0);
  return (float)float_f64(u + (inexact & ~u & 1 ? away : 0));
#endif
}

/* ---- e^x ---- */

/* x = n ln2 + r: adding 1.5 * 2^23 rounds to an integer and leaves it in the
** low bits of *t; nine zero bits lie above, so t << 23 is n << 23.
** (x: |x| < 2^22.) */
static inline float reduce_f32 (float x, uint32_t *t) {
  const float magic = 12582912.0f;
  float s = fma_f32(x, 1.44269504f, magic), f = s - magic;
  *t = dt_nw_bits(s);
  return fma_f32(f, 2.12194440e-4f, fma_f32(f, -0.693359375f, x));
}

/* e^r - 1 for |r| < ln2 / 2.  Here and below the even and odd powers of a
** polynomial are summed apart: what waits for each other is half as long. */
static inline float expm1_poly_f32 (float r) {
  const float r2 = r * r, odd = fma_f32(0.0083688991f, r2, 0.1666651964f);
  float q = fma_f32(0.0013814219f, r2, 0.0416684076f);
  q = fma_f32(q, r2, 0.4999999404f);
  return fma_f32(fma_f32(odd, r, q), r2, r);
}

/* 2^n for the t of reduce_f32(), n that of a normal number */
static inline float pow2_f32 (uint32_t t) {
  return dt_nw_float((t << 23) + 0x3f800000u);
}

/* 2^n (1 + r + r^2 q) in two factors, which reaches the subnormals: one of
** half of n, rounded down (`half` is its exponent's field), one of the rest. */
static inline float exp_end_f32 (float r, uint32_t t) {
  float q = expm1_poly_f32(r) + 1.0f;
  uint32_t half = (t << 22) & 0xff800000u;
  return q * dt_nw_float(half + 0x3f800000u) *
         dt_nw_float((t << 23) + 0x3f800000u - half);
}

/* Beyond 104 there is only zero and infinity. */
static inline float fexp_f32 (float x) {
  uint32_t t;
  float c = x < -104.0f ? -104.0f : x;
  float r = reduce_f32(c > 104.0f ? 104.0f : c, &t);
  return exp_end_f32(r, t);
}

static inline float fexp2_f32 (float x) {
  const float magic = 12582912.0f;
  float c = x < -151.0f ? -151.0f : x;
  c = c > 129.0f ? 129.0f : c;
  float t = c + magic;
  return exp_end_f32((c - (t - magic)) * 0.693147181f, dt_nw_bits(t));
}

/* e^x - 1 for -17 <= x <= 20; no bit is lost near zero, where n is 0.  A ln2 of
** 24 bits will do: what it lacks is lost in what erf and tanh make of this. */
static inline float expm1_mid_f32 (float x) {
  const float magic = 12582912.0f;
  const float t = fma_f32(x, 1.44269504f, magic);
  const float r = fma_f32(t - magic, -0.693147181f, x);
  const float s = pow2_f32(dt_nw_bits(t));
  return fma_f32(expm1_poly_f32(r), s, s - 1.0f);
}

/* tanh |x| = (e^2|x| - 1) / (e^2|x| + 1) */
static inline float ftanh_f32 (float x) {
  float a = fabsf(x), e = expm1_mid_f32(2.0f * (a > 10.0f ? 10.0f : a));
  return copysignf(e / (e + 2.0f), x);
}

/* erf |x| = 1 - e^(|x| q(|x|)), q a polynomial; 1 from 4 on. */
static inline float ferf_f32 (float x) {
  float a = fabsf(x);
  a = a > 4.0f ? 4.0f : a;
  const float b = a * a;
  float p = -0.000117643125f, q = 9.256483281e-06f;
  p = fma_f32(p, b, -0.00166703819f);
  q = fma_f32(q, b, 0.000632843119f);
  p = fma_f32(p, b, 0.0191530585f);
  q = fma_f32(q, b, 0.000160406125f);
  p = fma_f32(p, b, -0.636619389f);
  q = fma_f32(q, b, -0.102777831f);
  q = fma_f32(q, b, -1.128379226f);
  return copysignf(expm1_mid_f32(a * fma_f32(p, a, q)), x);
}

/* 1 + erf(x / sqrt(2)) within 2^-23: 2 - 2^(|x| q(|x|)) for x > 0. */
static inline float cdf2_f32 (float x) {
  const float magic = 12582912.0f;
  uint32_t u = dt_nw_bits(x) & 0x7fffffffu;
  u = u > 0x40b66666u ? 0x40b66666u : u;        /* 5.7 */
  const float a = dt_nw_float(u), b = a * a;
  float p = -9.56024996e-06f, q = 5.12863267e-07f, e = 0.00134100078f;
  p = fma_f32(p, b, -0.000284347887f);
  q = fma_f32(q, b, 7.49739193e-05f);
  p = fma_f32(p, b, 0.0069311196f);
  q = fma_f32(q, b, 1.49911184e-05f);
  p = fma_f32(p, b, -0.459221452f);
  q = fma_f32(q, b, -0.0524347648f);
  q = fma_f32(q, b, -1.15110421f);
  const float y = fma_f32(p, a, q) * a, t = y + magic, f = y - (t - magic);
  e = fma_f32(e, f, 0.00967604015f);
  e = fma_f32(e, f, 0.0555029735f);
  e = fma_f32(e, f, 0.240221068f);
  e = fma_f32(e, f, 0.693147242f);
  e = fma_f32(e, f, 1.0f);
  return 1.0f + copysignf(fma_f32(-e, pow2_f32(dt_nw_bits(t)), 1.0f), x);
}

/* In f32 and bf16 an infinity gives NaN, by PyTorch's CPU library (kb 16 is
** f16). */
static inline float fgelu_f32 (float x, int kb) {
  const float nan = kb == 16 ? 0.0f : x - x;
  return fma_f32(x, 0.5f, -nan) * cdf2_f32(x);
}

/* ---- logarithms ---- */

/* log(2^e (1 + f)), 1 + f within [sqrt(1/2), sqrt(2)] */
static inline float log_end_f32 (float f, float e) {
  const float q = f * f;
  float p = 0.1276154965f, odd = -0.076344296f;
  odd = fma_f32(odd, q, -0.1316019446f);
  p = fma_f32(p, q, 0.1420176178f);
  odd = fma_f32(odd, q, -0.1662335694f);
  p = fma_f32(p, q, 0.2000122666f);
  odd = fma_f32(odd, q, -0.2500082254f);
  p = fma_f32(p, q, 0.3333333135f);
  p = fma_f32(odd, f, p);
  float low = fma_f32(e, -2.12194440e-4f, p * f * q);
  return fma_f32(e, 0.693359375f, fma_f32(q, -0.5f, low) + f);
}

static inline float flog_f32 (float x) {
  bool tiny = x < 1.17549435e-38f;
  uint32_t u = dt_nw_bits(tiny ? x * 8388608.0f : x);
  uint32_t k = u - 0x3f3504f3u;         /* sqrt(1/2): the exponent turns here */
  int32_t e = (int32_t)k >> 23;
  float f = dt_nw_float(u - ((uint32_t)e << 23)) - 1.0f;
  float r = log_end_f32(f, (float)(tiny ? e - 23 : e));
  r = x == INFINITY ? x : r;
  r = x < 0 || x != x ? NAN : r;
  return x == 0 ? -INFINITY : r;
}

/* log(u) for u = 1 + x as rounded, and what the rounding lost. */
static inline float flog1p_f32 (float x) {
  float u = 1.0f + x, lost = (x - (u - 1.0f)) / u;
  float r = flog_f32(u);
  r = u > 0 && u < INFINITY ? r + lost : r;
  return u == 1.0f ? x : r;
}

/* ---- double precision, for random numbers ---- */

/* log(x), x normal: 2 atanh(s), s = (m - 1) / (m + 1), as its series. */
static inline double log_f64 (double x) {
  uint64_t k = bits_f64(x) - UINT64_C(0x3fe6a09e667f3bcd);
  int32_t e = (int32_t)((int64_t)k >> 52);
  double m = float_f64(bits_f64(x) - ((uint64_t)(int64_t)e << 52));
  double s = (m - 1) / (m + 1), q = s * s, p = 2.0 / 23;
  p = p * q + 2.0 / 21;
  p = p * q + 2.0 / 19;
  p = p * q + 2.0 / 17;
  p = p * q + 2.0 / 15;
  p = p * q + 2.0 / 13;
  p = p * q + 2.0 / 11;
  p = p * q + 2.0 / 9;
  p = p * q + 2.0 / 7;
  p = p * q + 2.0 / 5;
  p = p * q + 2.0 / 3;
  return (double)e * 0x1.62e42fefa39efp-1 + (p * q * s + 2 * s);
}

/* cos(2 pi t), 0 <= t < 1: the series of cos or sin of what is left of t after
** whole quarters. */
static inline double cos_turn_f64 (double t) {
  const double magic = 0x1.8p52;
  double k = t * 4 + magic, j = k - magic;
  uint64_t n = bits_f64(k);
  double a = (t - j * 0.25) * 6.283185307179586476925286766559, q = a * a;
  double c = 1.0 / 20922789888000.0, s = 1.0 / 355687428096000.0;
  c = c * q - 1.0 / 87178291200.0;
  c = c * q + 1.0 / 479001600.0;
  c = c * q - 1.0 / 3628800.0;
  c = c * q + 1.0 / 40320.0;
  c = c * q - 1.0 / 720.0;
  c = c * q + 1.0 / 24.0;
  c = c * q - 0.5;
  c = c * q + 1.0;
  s = s * q - 1.0 / 1307674368000.0;
  s = s * q + 1.0 / 6227020800.0;
  s = s * q - 1.0 / 39916800.0;
  s = s * q + 1.0 / 362880.0;
  s = s * q - 1.0 / 5040.0;
  s = s * q + 1.0 / 120.0;
  s = s * q - 1.0 / 6.0;
  s = s * q * a + a;
  double v = n & 1 ? s : c;
  return (n + 1) & 2 ? -v : v;
}
