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

typedef struct WideExtremes {
  __m512i top, least, most;
} WideExtremes;
static inline WideExtremes extremes_start (void) {
  const WideExtremes e = { _mm512_set1_epi16(INT16_MIN), _mm512_set1_epi16(-1),
                           _mm512_setzero_si512() };
  return e;
}
static inline void extremes_step (WideExtremes *e, __m512i v) {
  e->top = _mm512_max_epi16(e->top, v);
  e->least = _mm512_min_epu16(e->least, v);
  e->most = _mm512_max_epu16(e->most, v);
}
/* The last n < 32 words, the first of them over and over. */
static inline void extremes_last (WideExtremes *e, const uint16_t *v,
                                  int64_t n) {
  if (n <= 0) return;
  extremes_step(e, _mm512_mask_loadu_epi16(_mm512_set1_epi16((int16_t)v[0]),
                                           (__mmask32)((1u << n) - 1), v));
}
static inline Extremes extremes_end (const WideExtremes *v) {
  const Extremes e = { (int16_t)extreme_of(v->top, 0x7fff),
                       extreme_of(v->least, 0), extreme_of(v->most, 0xffff) };
  return e;
}
static Extremes extremes_of (const uint16_t *v, int64_t n) {
  WideExtremes e = extremes_start();
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) extremes_step(&e, _mm512_loadu_si512(v + i));
  extremes_last(&e, v + i, n - i);
  return extremes_end(&e);
}
#else

static Extremes extremes_of (const uint16_t *v, int64_t n) {
  Extremes e = { INT16_MIN, UINT16_MAX, 0 };
  for (int64_t i = 0; i < n; i++) {
    const int16_t s = (int16_t)v[i];
    e.top = s > e.top ? s : e.top;
    e.least = v[i] < e.least ? v[i] : e.least;
    e.most = v[i] > e.most ? v[i] : e.most;
  }
  return e;
}
#endif
