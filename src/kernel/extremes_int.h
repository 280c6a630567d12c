/* SPDX-License-Identifier: MIT
** kernel/extremes_int.h: extremes of a line of 16-bit floats, for reduce_int.h.
** No include guard.
**
** Magnitudes are ordered like integers, so that three extremes of the bits tell
** which floats are least and greatest, and whether there are NaNs. */

typedef struct Extremes {
  int16_t top;                  /* the greatest float, if it is positive */
  uint16_t least, most;         /* the least float is `most`, if negative */
} Extremes;

#if defined(__AVX512BW__)
static inline __m128i extremes_half (__m512i v, __m512i flip) {
  const __m512i f = _mm512_xor_si512(v, flip);
  const __m256i h = _mm256_min_epu16(_mm512_castsi512_si256(f),
                                     _mm512_extracti64x4_epi64(f, 1));
  return _mm_minpos_epu16(_mm_min_epu16(_mm256_castsi256_si128(h),
                                        _mm256_extracti128_si256(h, 1)));
}
/* The least of 32 words xor `flip`, and that undone. */
static inline uint16_t extreme_of (__m512i v, uint16_t flip) {
  const __m512i all = _mm512_set1_epi16((int16_t)flip);
  return (uint16_t)(_mm_extract_epi16(extremes_half(v, all), 0) ^ flip);
}
static int64_t extremes_wide (const uint16_t *v, int64_t n, Extremes *e) {
  enum { WORDS = 32 };
  __m512i top, least, most;
  int64_t i = WORDS;
  if (n < WORDS) return 0;
  top = least = most = _mm512_loadu_si512(v);
  for (; i + WORDS <= n; i += WORDS) {
    const __m512i u = _mm512_loadu_si512(v + i);
    top = _mm512_max_epi16(top, u);
    least = _mm512_min_epu16(least, u);
    most = _mm512_max_epu16(most, u);
  }
  e->top = (int16_t)extreme_of(top, 0x7fff);
  e->least = extreme_of(least, 0);
  e->most = extreme_of(most, 0xffff);
  return i;
}
#endif

static Extremes extremes_of (const uint16_t *v, int64_t n) {
  Extremes e = { INT16_MIN, UINT16_MAX, 0 };
  int64_t i = 0;
#if defined(__AVX512BW__)
  i = extremes_wide(v, n, &e);
#endif
  for (; i < n; i++) {
    const int16_t s = (int16_t)v[i];
    e.top = s > e.top ? s : e.top;
    e.least = v[i] < e.least ? v[i] : e.least;
    e.most = v[i] > e.most ? v[i] : e.most;
  }
  return e;
}
