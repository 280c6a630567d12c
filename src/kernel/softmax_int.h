/* SPDX-License-Identifier: MIT
** kernel/softmax_int.h: softmax of a line in single precision, for
** loops_int.h.  No include guard.
**
** Exponentials are 2^64 times as large as they are: those of a line lie within
** e^-104..1, which then are normal numbers all, made without a detour; the
** factor leaves with the sum.  Eight of them at a time are added in single
** precision, the rest in double. */

/* A double as the 16-bit type holds it; itself for others. */
static double held (DtDtype t, double v) {
  if (t == DT_F16) return dt_nw_from_f16(dt_nw_to_f16((float)v));
  return t == DT_BF16 ? dt_nw_from_bf16(dt_nw_to_bf16((float)v)) : v;
}

/* t of x = n ln2 + r as in reduce_f32(), with n + 191, the exponent's field of
** 2^64 2^n, in its low bits. */
static const float grown_magic = 12582912.0f + 191.0f;
static inline float grown_end (float q, float t) {
  return q * dt_nw_float(dt_nw_bits(t) << 23);
}

/* 2^64 e^d for d <= 0, within an ulp.  A NaN stays one. */
static inline float grown_exp (float d) {
  const float x = d < -104.0f ? -104.0f : d;
  const float t = fma_f32(x, 1.44269504f, grown_magic), n = t - grown_magic;
  const float r = fma_f32(n, 2.12194440e-4f, fma_f32(n, -0.693359375f, x));
  float q = 0.00827337522f;
  q = fma_f32(q, r, 0.0419015922f);
  q = fma_f32(q, r, 0.166679904f);
  q = fma_f32(q, r, 0.499991149f);
  q = fma_f32(q, r, 0.999999523f);
  return grown_end(fma_f32(q, r, 1.0f), t);
}
/* The same within 2^-16 of itself, which a bf16 seldom shows: 2^64 2^n 2^f,
** n + f = d log2 e. */
enum { SHORT_LEAST = -150 };
static const float short_coefs[4] = { 0.693044841f, 0.241280198f, 0.0522424728f, 0.0134266838f };
static inline float grown_exp_short (float d) {
  const float y = d * 1.44269504f;
  const float z = y < SHORT_LEAST ? (float)SHORT_LEAST : y;
  const float n = floorf(z), f = z - n;
  float q = short_coefs[3];
  q = fma_f32(q, f, short_coefs[2]);
  q = fma_f32(q, f, short_coefs[1]);
  q = fma_f32(q, f, short_coefs[0]);
  return grown_end(fma_f32(q, f, 1.0f), n + grown_magic);
}

/* lane[i mod 16] += v[i], eight at a time in single precision. */
#define ADD4(k) \
  + v[(k) * RED_LANES + l] + v[((k) + 1) * RED_LANES + l] + \
  v[((k) + 2) * RED_LANES + l] + v[((k) + 3) * RED_LANES + l]
static void lanes_add (double *lane, const float *v, int64_t n) {
  enum { STEP = RED_LANES * 8 };
  for (; n >= STEP; n -= STEP, v += STEP)
    for (int l = 0; l < RED_LANES; l++)
      lane[l] += 0.0f ADD4(0) ADD4(4);
  for (int64_t i = 0; i < n; i++) lane[i % RED_LANES] += v[i];
}
static double lanes_sum (double *lane) {
  LANE_TREE(add, F64)
  return lane[0];
}
static float lanes_top (float *lane) {
  LANE_TREE(top, NARROW)
  return lane[0];
}

/* ---- floats ---- */

#define TOP4(k) \
  a = narrow_top(narrow_top(narrow_top(narrow_top(a, v[(k) * RED_LANES + l]), \
    v[((k) + 1) * RED_LANES + l]), v[((k) + 2) * RED_LANES + l]), \
    v[((k) + 3) * RED_LANES + l]);

/* NaNs are passed over: they show in the sum. */
static float line_top_f32 (const float *v, int64_t n) {
  enum { STEP = RED_LANES * 8 };
  float lane[RED_LANES];
  for (int l = 0; l < RED_LANES; l++) lane[l] = -INFINITY;
  for (; n >= STEP; n -= STEP, v += STEP)
    for (int l = 0; l < RED_LANES; l++) {
      float a = lane[l];
      TOP4(0) TOP4(4)
      lane[l] = a;
    }
  for (int64_t i = 0; i < n; i++)
    lane[i % RED_LANES] = narrow_top(lane[i % RED_LANES], v[i]);
  return lanes_top(lane);
}

/* Sum of e^(x[i] - max).  They go to `out`, or the exponents when `log_form`:
** memory is asked for `out` while there is something to compute. */
static double exp_sum (bool log_form, const float *x, float *out, int64_t n,
                       float max) {
  float own[RED_CHUNK];
  double lane[RED_LANES] = {0};
  for (int64_t i = 0; i < n; i += RED_CHUNK) {
    int64_t k = n - i < RED_CHUNK ? n - i : RED_CHUNK;
    const float *v = x + i;
    float *y = out + i, *e = log_form ? own : y;
    if (log_form) {
      DT_IVDEP for (int64_t q = 0; q < k; q++) {
        const float d = v[q] - max;
        y[q] = d;
        own[q] = grown_exp(d);
      }
    } else {
      DT_IVDEP for (int64_t q = 0; q < k; q++) y[q] = grown_exp(v[q] - max);
    }
    lanes_add(lane, e, k);
  }
  return lanes_sum(lane);
}

static void softmax_line_f32 (bool log_form, DtDtype t, const float *x,
                              float *out, int64_t n) {
  double sum = exp_sum(log_form, x, out, n, line_top_f32(x, n));
  if (log_form) {
    float ls = (float)held(t, log(held(t, sum * 0x1p-64)));
    for (int64_t i = 0; i < n; i++) out[i] -= ls;
  } else {
    float scale = (float)(1 / sum);
    for (int64_t i = 0; i < n; i++) out[i] *= scale;
  }
}

/* ---- bf16 ---- */

/* Magnitudes are ordered like integers.  A NaN shows in the sum. */
static float line_top_bf16 (const uint16_t *v, int64_t n) {
  int16_t top = INT16_MIN;
  uint16_t least = UINT16_MAX;
  for (int64_t i = 0; i < n; i++) {
    const int16_t s = (int16_t)v[i];
    top = s > top ? s : top;
    least = v[i] < least ? v[i] : least;
  }
  return dt_nw_from_bf16(top < 0 ? least : (uint16_t)top);
}

/* Words whose exponentials are added in single precision, eight to a lane. */
enum { EXPS = RED_LANES * 8 };

#if defined(__AVX512BW__)
/* As grown_exp_short(x - max), its 2^64 among the coefficients. */
typedef struct ExpsWide { __m512 max, log2e, least, one, c[4]; } ExpsWide;
static inline __m512 exp_wide (const ExpsWide *k, __m512 x) {
  __m512 z = _mm512_mul_ps(_mm512_sub_ps(x, k->max), k->log2e);
  z = _mm512_max_ps(k->least, z);       /* a NaN stays */
  /* Not vreduceps, which rounds the difference down too. */
  const __m512 f = _mm512_sub_ps(z, _mm512_floor_ps(z));
  __m512 q = _mm512_fmadd_ps(k->c[3], f, k->c[2]);
  q = _mm512_fmadd_ps(q, f, k->c[1]);
  q = _mm512_fmadd_ps(q, f, k->c[0]);
  return _mm512_scalef_ps(_mm512_fmadd_ps(q, f, k->one), z);
}
/* lane[16] += v */
static inline void wide_add (double *lane, __m512 v) {
  const __m512d a = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
  const __m512d b = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  _mm512_storeu_pd(lane, _mm512_add_pd(_mm512_loadu_pd(lane), a));
  _mm512_storeu_pd(lane + 8, _mm512_add_pd(_mm512_loadu_pd(lane + 8), b));
}
/* All whole EXPS of h words; how many words these are. */
static int64_t exps_wide (const uint16_t *x, float *to_low, float *to_high,
                          int64_t h, float max, double *low, double *high) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  ExpsWide k = { _mm512_set1_ps(max), _mm512_set1_ps(1.44269504f),
                 _mm512_set1_ps(SHORT_LEAST), _mm512_set1_ps(0x1p64f), {{0}} };
  for (int i = 0; i < 4; i++)
    k.c[i] = _mm512_set1_ps(short_coefs[i] * 0x1p64f);
  int64_t i = 0;
  for (; i + EXPS <= h; i += EXPS) {
    __m512 a = _mm512_setzero_ps(), b = a;
    for (int s = 0; s < EXPS; s += RED_LANES) {
      const __m512i w = _mm512_loadu_si512(x + 2 * (i + s));
      const __m512 l = exp_wide(&k, _mm512_castsi512_ps(
        _mm512_slli_epi32(w, 16)));
      const __m512 u = exp_wide(&k, _mm512_castsi512_ps(
        _mm512_and_si512(w, upper)));
      a = _mm512_add_ps(a, l);
      b = _mm512_add_ps(b, u);
      if (to_low == NULL) {     /* the next line, likely; with stores it harms */
        _mm_prefetch((const char *)(x + 2 * (i + s + h)), _MM_HINT_T0);
        continue;
      }
      _mm512_storeu_ps(to_low + i + s, l);
      _mm512_storeu_ps(to_high + i + s, u);
    }
    wide_add(low, a);
    wide_add(high, b);
  }
  return i;
}
#endif

/* As dt_nw_to_bf16() of numbers: halves are rounded up, or to even.  A share
** of the whole never lies between two bf16: it would have to be a power of 2. */
static inline uint32_t share_bits (float v) { return dt_nw_bits(v) + 0x8000u; }
static inline uint32_t even_bits (float v) {
  uint32_t u = dt_nw_bits(v);
  return u + ((u & 0x10000u) != 0 ? 0x8000u : 0x7fffu);
}

/* The sum of the exponentials of a line, and they: those of low halves first,
** then of upper ones; buf may be NULL. */
static double exps_bf16 (const uint16_t *x, float *buf, int64_t n, float max) {
  const int64_t h = n / 2;
  double low[RED_LANES] = {0}, high[RED_LANES] = {0};
  int64_t i = 0;
#if defined(__AVX512BW__)
  i = exps_wide(x, buf, buf == NULL ? NULL : buf + (n - h), h, max, low, high);
#endif
  for (; i < h; i += EXPS) {
    const int64_t w = h - i < EXPS ? h - i : EXPS;
    float a[EXPS], b[EXPS];
    DT_IVDEP for (int64_t k = 0; k < w; k++) {
      const uint32_t u = word_at(x, i + k);
      a[k] = grown_exp_short(word_low(u) - max);
      b[k] = grown_exp_short(word_high(u) - max);
    }
    lanes_add(low, a, w);
    lanes_add(high, b, w);
    if (buf == NULL) continue;
    memcpy(buf + i, a, (size_t)w * sizeof *a);
    memcpy(buf + (n - h) + i, b, (size_t)w * sizeof *b);
  }
  if (n % 2 != 0) {
    const float e = grown_exp_short(dt_nw_from_bf16(x[n - 1]) - max);
    low[h % RED_LANES] += (double)e;
    if (buf != NULL) buf[h] = e;
  }
  for (int l = 0; l < RED_LANES; l++) low[l] += high[l];
  return lanes_sum(low);
}

static void shares_bf16 (const float *buf, uint16_t *out, int64_t n,
                         float scale) {
  const int64_t h = n / 2;
  const float *low = buf, *high = buf + (n - h);
  DT_IVDEP for (int64_t i = 0; i < h; i++) {
    const uint32_t a = share_bits(low[i] * scale);
    const uint32_t b = share_bits(high[i] * scale);
    word_put(out, i, (a >> 16) | (b & 0xffff0000u));
  }
  if (n % 2 != 0) out[n - 1] = (uint16_t)(share_bits(low[h] * scale) >> 16);
}

static void logs_bf16 (const uint16_t *x, uint16_t *out, int64_t n, float max,
                       float ls) {
  DT_IVDEP for (int64_t i = 0; i < n / 2; i++) {
    const uint32_t w = word_at(x, i);
    const uint32_t a = even_bits(word_low(w) - max - ls);
    const uint32_t b = even_bits(word_high(w) - max - ls);
    word_put(out, i, (a >> 16) | (b & 0xffff0000u));
  }
  if (n % 2 != 0)
    out[n - 1] = dt_nw_to_bf16(dt_nw_from_bf16(x[n - 1]) - max - ls);
}

/* buf[n] */
static void softmax_line_bf16 (bool log_form, DtDtype t, const uint16_t *x,
                               uint16_t *out, float *buf, int64_t n) {
  const float max = line_top_bf16(x, n);
  const double sum = exps_bf16(x, log_form ? NULL : buf, n, max);
  if (sum != sum) for (int64_t i = 0; i < n; i++) out[i] = 0x7fc0;
  else if (log_form)
    logs_bf16(x, out, n, max, (float)held(t, log(held(t, sum * 0x1p-64))));
  else
    shares_bf16(buf, out, n, (float)(1 / sum));
}
#undef TOP4
#undef ADD4
