/* SPDX-License-Identifier: MIT
** kernel/softmax_wide_int.h: the loops of softmax_bf16_int.h for processors with
** AVX-512: the same operations on 32 elements at a time.  No include guard. */

typedef struct ExpsWide {
  __m512 magic, back, per, by, even, max, least, table[2];
  __m512i upper;
} ExpsWide;

static inline ExpsWide exps_wide_of (const Line *line) {
  const ExpsWide k = {
    .magic = _mm512_set1_ps(line->magic),
    .back = _mm512_set1_ps(line->magic + step_vertex),
    .per = _mm512_set1_ps(per_step), .by = _mm512_set1_ps(step_by),
    .even = _mm512_set1_ps(even_part), .max = _mm512_set1_ps(line->max),
    .least = _mm512_set1_ps(EXP_LEAST),
    .table = { _mm512_loadu_ps(exp_table), _mm512_loadu_ps(exp_table + 16) },
    .upper = _mm512_set1_epi32((int)0xffff0000u) };
  return k;
}

static inline __m512 exp_wide (const ExpsWide *k, bool plain, __m512 x) {
  if (!plain) x = _mm512_max_ps(k->least, _mm512_sub_ps(x, k->max));
  const __m512 t = _mm512_fmadd_ps(x, k->per, k->magic);
  const __m512 u = _mm512_fnmadd_ps(_mm512_sub_ps(t, k->back), k->by, x);
  const __m512i b = _mm512_castps_si512(t);
  const __m512 e = _mm512_permutex2var_ps(k->table[0], b, k->table[1]);
  const __m512 s = _mm512_castsi512_ps(_mm512_add_epi32(
    _mm512_castps_si512(e), _mm512_slli_epi32(b, 18)));
  return _mm512_mul_ps(s, _mm512_fmadd_ps(u, u, k->even));
}

/* The halves of words. */
static inline __m512 wide_low (__m512i w) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
}
static inline __m512 wide_high (__m512i w, __m512i upper) {
  return _mm512_castsi512_ps(_mm512_and_si512(w, upper));
}

/* Which of the 32 elements from i on are among n. */
static inline __mmask32 wide_in (int64_t n, int64_t i) {
  return n - i >= 32 ? 0xffffffffu : (__mmask32)((1u << (n - i)) - 1);
}

/* sum[16] += a + b */
static inline void wide_flush (__m512d *sum, __m512 a, __m512 b) {
  a = _mm512_add_ps(a, b);
  sum[0] = _mm512_add_pd(sum[0], _mm512_cvtps_pd(_mm512_castps512_ps256(a)));
  sum[1] = _mm512_add_pd(sum[1], _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)));
}

/* The last words of a line, fewer than 16 and perhaps one half. */
static inline void exps_last (const ExpsWide *k, bool plain, const uint16_t *x,
                              int64_t n, __m512 *low, __m512 *high) {
  const __m512i w = _mm512_maskz_loadu_epi16(wide_in(n, 0), x);
  const __mmask16 l = (__mmask16)((1u << ((n + 1) / 2)) - 1);
  const __mmask16 h = (__mmask16)((1u << (n / 2)) - 1);
  *low = _mm512_maskz_mov_ps(l, exp_wide(k, plain, wide_low(w)));
  *high = _mm512_maskz_mov_ps(h, exp_wide(k, plain, wide_high(w, k->upper)));
}

static inline double exps_loop (bool plain, const Line *line, const uint16_t *x,
                                float *low, float *high, int64_t n,
                                WideExtremes *e) {
  const ExpsWide k = exps_wide_of(line);
  __m512d sum[2] = { _mm512_setzero_pd(), _mm512_setzero_pd() };
  for (int64_t i = 0; i < n;) {
    const int64_t end = n - i < 2 * EXPS ? n : i + 2 * EXPS;
    __m512 a = _mm512_setzero_ps(), b = a, l, h;
    for (; i + 32 <= end; i += 32) {
      const __m512i w = _mm512_loadu_si512(x + i);
      if (e != NULL) extremes_step(e, w);
      l = exp_wide(&k, plain, wide_low(w));
      h = exp_wide(&k, plain, wide_high(w, k.upper));
      a = _mm512_add_ps(a, l);
      b = _mm512_add_ps(b, h);
      if (low == NULL) continue;
      _mm512_storeu_ps(low + i / 2, l);
      _mm512_storeu_ps(high + i / 2, h);
    }
    if (i < end) {
      if (e != NULL) extremes_last(e, x + i, end - i);
      exps_last(&k, plain, x + i, end - i, &l, &h);
      a = _mm512_add_ps(a, l);
      b = _mm512_add_ps(b, h);
      if (low != NULL) _mm512_storeu_ps(low + i / 2, l);
      if (low != NULL) _mm512_storeu_ps(high + i / 2, h);
      i = end;
    }
    wide_flush(sum, a, b);
  }
  return wide_tree(sum[0], sum[1]);
}

static double exps_line (const Line *line, const uint16_t *x, float *buf,
                         int64_t n) {
  float *high = buf + high_part(n);
  return line->plain ? exps_loop(true, line, x, buf, high, n, NULL)
                     : exps_loop(false, line, x, buf, high, n, NULL);
}

/* A line is measured while its exponentials are made as if it were plain. */
static bool exps_sum (Line *line, const uint16_t *x, int64_t n, double *sum) {
  const Line plain = { true, 0, step_magic };
  WideExtremes v = extremes_start();
  *sum = exps_loop(true, &plain, x, NULL, NULL, n, &v);
  const Extremes e = extremes_end(&v);
  if (!line_of(&e, line)) return false;
  if (!line->plain) *sum = exps_loop(false, line, x, NULL, NULL, n, NULL);
  return true;
}

static bool is_plain (const uint16_t *x, int64_t n) {
  const __m512i mag = _mm512_set1_epi16(0x7fff);
  __m512i most = _mm512_setzero_si512();
  for (int64_t i = 0; i < n; i += 32) {
    const __m512i w = _mm512_maskz_loadu_epi16(wide_in(n, i), x + i);
    most = _mm512_max_epu16(most, _mm512_and_si512(w, mag));
  }
  return _mm512_cmpgt_epu16_mask(most, _mm512_set1_epi16(PLAIN)) == 0;
}

static inline __m512i share_wide (__m512 v, __m512 scale) {
  return _mm512_add_epi32(_mm512_castps_si512(_mm512_mul_ps(v, scale)),
                          _mm512_set1_epi32(0x8000));
}
static void shares_bf16 (const float *buf, uint16_t *out, int64_t n,
                         float scale) {
  const float *low = buf, *high = buf + high_part(n);
  const __m512 s = _mm512_set1_ps(scale);
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  for (int64_t i = 0; i < n; i += 32) {
    const __m512i l = share_wide(_mm512_loadu_ps(low + i / 2), s);
    const __m512i h = share_wide(_mm512_loadu_ps(high + i / 2), s);
    /* l >> 16 | (h & upper) */
    const __m512i r = _mm512_ternarylogic_epi32(_mm512_srli_epi32(l, 16), h,
                                                upper, 0xf8);
    if (n - i >= 32) _mm512_storeu_si512(out + i, r);
    else _mm512_mask_storeu_epi16(out + i, wide_in(n, i), r);
  }
}

/* Rounded to even: half a unit less the last place is added to what is cut off,
** and the carry, which a mean has room for, to what is left. */
static inline __m512i even_wide (__m512 low, __m512 high, __m512i left,
                                 __m512i cut) {
  const __m512i l = _mm512_castps_si512(low), h = _mm512_castps_si512(high);
  const __m512i r = _mm512_permutex2var_epi16(l, left, h);
  const __m512i c = _mm512_permutex2var_epi16(l, cut, h);
  /* (r & 1) | 0x7ffe */
  const __m512i up = _mm512_ternarylogic_epi32(
    r, _mm512_set1_epi16(1), _mm512_set1_epi16(0x7ffe), 0xea);
  return _mm512_add_epi16(r, _mm512_srli_epi16(_mm512_avg_epu16(c, up), 15));
}
static inline void logs_loop (bool one, const uint16_t *x, uint16_t *out,
                              int64_t n, __m512 a, __m512 b) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                         12, 13, 14, 15);
  /* Words 2i of the low halves, 2i of the high ones, which come after them. */
  const __m512i cut = _mm512_add_epi32(
    _mm512_mullo_epi32(lane, _mm512_set1_epi32(0x20002)),
    _mm512_set1_epi32(0x200000));
  const __m512i left = _mm512_add_epi32(cut, _mm512_set1_epi32(0x10001));
  for (int64_t i = 0; i < n; i += 32) {
    const bool whole = n - i >= 32;
    const __m512i w = whole ? _mm512_loadu_si512(x + i)
                            : _mm512_maskz_loadu_epi16(wide_in(n, i), x + i);
    __m512 l = _mm512_sub_ps(wide_low(w), a);
    __m512 h = _mm512_sub_ps(wide_high(w, upper), a);
    if (!one) l = _mm512_sub_ps(l, b);
    if (!one) h = _mm512_sub_ps(h, b);
    const __m512i r = even_wide(l, h, left, cut);
    if (whole) _mm512_storeu_si512(out + i, r);
    else _mm512_mask_storeu_epi16(out + i, wide_in(n, i), r);
  }
}
static void logs_bf16 (const uint16_t *x, uint16_t *out, int64_t n, float a,
                       float b) {
  const __m512 first = _mm512_set1_ps(a), then = _mm512_set1_ps(b);
  if (b == 0) logs_loop(true, x, out, n, first, then);
  else logs_loop(false, x, out, n, first, then);
}
