/* SPDX-License-Identifier: MIT
** kernel/softmax_bf16_int.h: softmax of a line of bf16, for loops_int.h after
** softmax_int.h.  No include guard.
**
** e^x = 2^(n/32) e^r, n the integer next to 32 x log2 e: the first factor is an
** entry of a table and an exponent, the second 1 + r + r r / 2, right within
** 2^-22 and for the largest element exactly.  (With 1 + r alone one bf16 in 400
** would be another than PyTorch's.)  Lines where there is no largest (NaN,
** infinity) are computed as floats.
**
** The two bf16 of a word are treated apart, those of low halves first. */

enum {
  EXPS = RED_LANES * 8,         /* words added in single precision, eight a lane */
  EXP_STEPS = 32,               /* of the table */
  EXP_LEAST = -104              /* from there on there is nothing but zero */
};

static const float per_step = 46.1662407f, step_by = 0.0216608495f;
static const float step_magic = 12582912.0f;    /* 1.5 * 2^23 */

/* Bits of 2^64 2^(j/32), less those that n << 18 has of j. */
static const uint32_t exp_table[EXP_STEPS] = {
  0x5f800000u, 0x5f7ecd87u, 0x5f7daac3u, 0x5f7c980fu, 0x5f7b95c2u, 0x5f7aa43au,
  0x5f79c3d3u, 0x5f78f4f0u, 0x5f7837f0u, 0x5f778d3au, 0x5f76f532u, 0x5f767043u,
  0x5f75fed7u, 0x5f75a15bu, 0x5f75583fu, 0x5f7523f6u, 0x5f7504f3u, 0x5f74fbafu,
  0x5f7508a4u, 0x5f752c4du, 0x5f75672au, 0x5f75b9beu, 0x5f76248cu, 0x5f76a81eu,
  0x5f7744fdu, 0x5f77fbb8u, 0x5f78ccdfu, 0x5f79b907u, 0x5f7ac0c7u, 0x5f7be4bau,
  0x5f7d257du, 0x5f7e83b3u,
};

/* What a line is measured by. */
typedef struct Line {
  float max;
  bool clamp;                   /* is something below EXP_LEAST from there? */
} Line;

/* False: floats must do. */
static bool line_of (const uint16_t *v, int64_t n, Line *line) {
  const Extremes e = extremes_of(v, n);
  const float low = dt_nw_from_bf16(e.most >= 0x8000u ? e.most : e.least);
  line->max = dt_nw_from_bf16(e.top < 0 ? e.least : (uint16_t)e.top);
  line->clamp = low - line->max < EXP_LEAST;
  return fabsf(line->max) < INFINITY && low == low;
}

/* 2^64 e^(x - max) */
static inline float line_exp (float max, float x) {
  const float d = x - max, c = d < EXP_LEAST ? EXP_LEAST : d;
  const float t = fma_f32(c, per_step, step_magic), n = t - step_magic;
  const float r = fma_f32(n, -step_by, c);
  const uint32_t u = dt_nw_bits(t);
  const float s = dt_nw_float(exp_table[u % EXP_STEPS] + (u << 18));
  return fma_f32(s, fma_f32(r * 0.5f, r, r), s);
}

#if defined(__AVX512BW__)
typedef struct ExpsWide {
  __m512 max, least, magic, per, by, half, table[2];
} ExpsWide;
static inline __m512 exp_wide (const ExpsWide *k, __m512 x, bool clamp) {
  x = _mm512_sub_ps(x, k->max);
  if (clamp) x = _mm512_max_ps(k->least, x);
  const __m512 t = _mm512_fmadd_ps(x, k->per, k->magic);
  __m512 r = _mm512_fnmadd_ps(_mm512_sub_ps(t, k->magic), k->by, x);
  const __m512i u = _mm512_castps_si512(t);
  const __m512 e = _mm512_permutex2var_ps(k->table[0], u, k->table[1]);
  const __m512 s = _mm512_castsi512_ps(_mm512_add_epi32(
    _mm512_castps_si512(e), _mm512_slli_epi32(u, 18)));
  r = _mm512_fmadd_ps(_mm512_mul_ps(r, k->half), r, r);
  return _mm512_fmadd_ps(s, r, s);
}
/* lane[16] += v */
static inline void wide_add (double *lane, __m512 v) {
  const __m512d a = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
  const __m512d b = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
  _mm512_storeu_pd(lane, _mm512_add_pd(_mm512_loadu_pd(lane), a));
  _mm512_storeu_pd(lane + 8, _mm512_add_pd(_mm512_loadu_pd(lane + 8), b));
}
/* All whole EXPS of h words; how many words these are. */
static inline int64_t exps_loop (const ExpsWide *k, bool clamp,
                                 const uint16_t *x, float *to_low,
                                 float *to_high, int64_t h, double *low,
                                 double *high) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  int64_t i = 0;
  for (; i + EXPS <= h; i += EXPS) {
    __m512 a = _mm512_setzero_ps(), b = a;
    for (int s = 0; s < EXPS; s += RED_LANES) {
      const __m512i w = _mm512_loadu_si512(x + 2 * (i + s));
      const __m512 l = exp_wide(k, _mm512_castsi512_ps(
        _mm512_slli_epi32(w, 16)), clamp);
      const __m512 u = exp_wide(k, _mm512_castsi512_ps(
        _mm512_and_si512(w, upper)), clamp);
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
static int64_t exps_wide (const Line *line, const uint16_t *x, float *to_low,
                          float *to_high, int64_t h, double *low,
                          double *high) {
  const ExpsWide k = {
    _mm512_set1_ps(line->max), _mm512_set1_ps(EXP_LEAST),
    _mm512_set1_ps(step_magic), _mm512_set1_ps(per_step), _mm512_set1_ps(step_by),
    _mm512_set1_ps(0.5f),
    { _mm512_loadu_ps(exp_table), _mm512_loadu_ps(exp_table + 16) } };
  return line->clamp ? exps_loop(&k, true, x, to_low, to_high, h, low, high)
                     : exps_loop(&k, false, x, to_low, to_high, h, low, high);
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
static double exps_bf16 (const Line *line, const uint16_t *x, float *buf,
                         int64_t n) {
  const int64_t h = n / 2;
  double low[RED_LANES] = {0}, high[RED_LANES] = {0};
  int64_t i = 0;
#if defined(__AVX512BW__)
  i = exps_wide(line, x, buf, buf == NULL ? NULL : buf + (n - h), h, low, high);
#endif
  for (; i < h; i += EXPS) {
    const int64_t w = h - i < EXPS ? h - i : EXPS;
    float a[EXPS], b[EXPS];
    DT_IVDEP for (int64_t k = 0; k < w; k++) {
      const uint32_t u = word_at(x, i + k);
      a[k] = line_exp(line->max, word_low(u));
      b[k] = line_exp(line->max, word_high(u));
    }
    lanes_add(low, a, w);
    lanes_add(high, b, w);
    if (buf == NULL) continue;
    memcpy(buf + i, a, (size_t)w * sizeof *a);
    memcpy(buf + (n - h) + i, b, (size_t)w * sizeof *b);
  }
  if (n % 2 != 0) {
    const float e = line_exp(line->max, dt_nw_from_bf16(x[n - 1]));
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

#if defined(__AVX512BW__)
static inline __m512i even_wide (__m512 v) {
  const __m512i u = _mm512_castps_si512(v);
  const __m512i r = _mm512_add_epi32(u, _mm512_set1_epi32(0x7fff));
  const __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(0x10000));
  return _mm512_mask_add_epi32(r, odd, r, _mm512_set1_epi32(1));
}
static int64_t logs_wide (const uint16_t *x, uint16_t *out, int64_t h,
                          float max, float ls) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  const __m512 a = _mm512_set1_ps(max), b = _mm512_set1_ps(ls);
  int64_t i = 0;
  for (; i + RED_LANES <= h; i += RED_LANES) {
    const __m512i w = _mm512_loadu_si512(x + 2 * i);
    const __m512 l = _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
    const __m512 u = _mm512_castsi512_ps(_mm512_and_si512(w, upper));
    const __m512i r = _mm512_srli_epi32(even_wide(_mm512_sub_ps(_mm512_sub_ps(l, a), b)), 16);
    /* r | (high & upper) */
    _mm512_storeu_si512(out + 2 * i, _mm512_ternarylogic_epi32(
      r, even_wide(_mm512_sub_ps(_mm512_sub_ps(u, a), b)), upper, 0xf8));
  }
  return i;
}
#endif

/* out = x - max - ls */
static void logs_bf16 (const uint16_t *x, uint16_t *out, int64_t n, float max,
                       float ls) {
  int64_t i = 0;
#if defined(__AVX512BW__)
  i = logs_wide(x, out, n / 2, max, ls);
#endif
  DT_IVDEP for (; i < n / 2; i++) {
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
  Line k;
  if (!line_of(x, n, &k)) {
    load_f32(buf, DT_BF16, x, sizeof *x, n);
    softmax_line_f32(log_form, t, buf, buf, n);
    store_f32(buf, DT_BF16, out, sizeof *out, n);
    return;
  }
  const double sum = exps_bf16(&k, x, log_form ? NULL : buf, n);
  if (log_form)
    logs_bf16(x, out, n, k.max, (float)held(t, log(held(t, sum * 0x1p-64))));
  else shares_bf16(buf, out, n, (float)(1 / sum));
}
