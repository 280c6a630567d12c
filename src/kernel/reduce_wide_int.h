/* SPDX-License-Identifier: MIT
** kernel/reduce_wide_int.h: sums of floats in double for processors with
** AVX-512: the operations of reduce_narrow_int.h in the same order, widened as
** they are read, for reduce_int.h.  No include guard. */

static inline __m512d wide_at (const float *v) {
  return _mm512_cvtps_pd(_mm256_loadu_ps(v));
}

static inline void wide_ask (const void *p, int64_t next) {
  _mm_prefetch((const char *)((uintptr_t)p + (uintptr_t)next), _MM_HINT_T1);
}

/* The tree of sixteen lanes. */
static inline double wide_tree (__m512d low, __m512d high) {
  const __m512d a = _mm512_add_pd(low, high);
  const __m256d b = _mm256_add_pd(_mm512_castpd512_pd256(a),
                                  _mm512_extractf64x4_pd(a, 1));
  const __m128d c = _mm_add_pd(_mm256_castpd256_pd128(b),
                               _mm256_extractf128_pd(b, 1));
  return _mm_cvtsd_f64(_mm_add_sd(c, _mm_unpackhi_pd(c, c)));
}

/* A whole chunk. */
static double wide_spread (const float *v, double *squares) {
  __m512d a = _mm512_setzero_pd(), b = a, c = a, d = a;
  for (int k = 0; k < RED_CHUNK; k += RED_LANES) {
    const __m512d x = wide_at(v + k), y = wide_at(v + k + 8);
    a = _mm512_add_pd(a, x);
    b = _mm512_add_pd(b, y);
    c = _mm512_fmadd_pd(x, x, c);       /* x * x is exact */
    d = _mm512_fmadd_pd(y, y, d);
  }
  *squares = wide_tree(c, d);
  return wide_tree(a, b);
}

/* Eight columns of one lane of a whole chunk, sums and those of squares. */
static inline void wide_column (bool squares, const float *const *row,
                                int64_t i, __mmask8 in, __m512d *sum,
                                __m512d *square) {
  __m512d a = _mm512_setzero_pd(), b = a;
  for (int k = 0; k < RED_LANES; k++) {
    const __m512d x = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(in, row[k] + i));
    if (squares) b = _mm512_fmadd_pd(x, x, b);
    a = _mm512_add_pd(a, x);
  }
  *sum = a;
  *square = b;
}

/* One lane of a whole chunk of a tile of w columns: sums, and those of squares
** if asked for.  A line of memory is taken whole: where rows are a power of 2
** apart, sixteen of them do not stay in the nearest cache. */
static inline void wide_lane (bool squares, double *lane,
                              const float *const *row, int64_t w,
                              int64_t next) {
  __m512d a, b, c, d;
  int64_t i = 0;
  for (; i + 16 <= w; i += 16) {
    for (int k = 0; k < RED_LANES; k++) wide_ask(row[k] + i, next);
    wide_column(squares, row, i, 0xff, &a, &b);
    wide_column(squares, row, i + 8, 0xff, &c, &d);
    _mm512_storeu_pd(lane + i, a);
    _mm512_storeu_pd(lane + i + 8, c);
    if (squares) _mm512_storeu_pd(lane + w + i, b);
    if (squares) _mm512_storeu_pd(lane + w + i + 8, d);
  }
  for (; i < w; i += 8) {
    const __mmask8 in = (__mmask8)(w - i < 8 ? (1 << (w - i)) - 1 : 0xff);
    wide_column(squares, row, i, in, &a, &b);
    _mm512_mask_storeu_pd(lane + i, in, a);
    if (squares) _mm512_mask_storeu_pd(lane + w + i, in, b);
  }
}
static void wide_rows (bool squares, double *lane, const char *const *rows,
                       int64_t w) {
  const float *row[RED_LANES];
  for (int k = 0; k < RED_LANES; k++)
    row[k] = (const float *)(const void *)rows[k * RED_LANES];
  if (squares) wide_lane(true, lane, row, w, rows[1] - rows[0]);
  else wide_lane(false, lane, row, w, rows[1] - rows[0]);
}

/* The same of h words of two bf16 each, in single precision: rows 0, 32, ...
** They are far apart: those of the next lane, which lie `next` bytes further
** on, are asked for by name. */
static void wide_words (float *lane, const char *const *rows, int64_t h,
                        int64_t next) {
  const __m512i upper = _mm512_set1_epi32((int)0xffff0000u);
  const uint32_t *row[RED_LANES];
  for (int k = 0; k < RED_LANES; k++)
    row[k] = (const uint32_t *)(const void *)rows[k * 2 * RED_LANES];
  for (int64_t i = 0; i < h; i += 16) {
    const __mmask16 in = (__mmask16)(h - i < 16 ? (1 << (h - i)) - 1 : 0xffff);
    __m512 a = _mm512_setzero_ps(), b = a;
    for (int k = 0; k < RED_LANES; k++) {
      const __m512i w = _mm512_maskz_loadu_epi32(in, row[k] + i);
      wide_ask(row[k] + i, next);
      a = _mm512_add_ps(a, _mm512_castsi512_ps(_mm512_slli_epi32(w, 16)));
      b = _mm512_add_ps(b, _mm512_castsi512_ps(_mm512_and_si512(w, upper)));
    }
    _mm512_mask_storeu_ps(lane + i, in, a);
    _mm512_mask_storeu_ps(lane + h + i, in, b);
  }
}
