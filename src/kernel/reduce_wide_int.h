/* SPDX-License-Identifier: MIT
** kernel/reduce_wide_int.h: sums of floats in double for processors with
** AVX-512: the operations of reduce_narrow_int.h in the same order, widened as
** they are read, for reduce_int.h.  No include guard. */

static inline __m512d wide_at (const float *v) {
  return _mm512_cvtps_pd(_mm256_loadu_ps(v));
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
static double wide_spread (double mean, const float *v, double *squares) {
  const __m512d m = _mm512_set1_pd(mean);
  __m512d a = _mm512_setzero_pd(), b = a, c = a, d = a;
  for (int k = 0; k < RED_CHUNK; k += RED_LANES) {
    const __m512d x = _mm512_sub_pd(wide_at(v + k), m);
    const __m512d y = _mm512_sub_pd(wide_at(v + k + 8), m);
    a = _mm512_add_pd(a, x);
    b = _mm512_add_pd(b, y);
    c = _mm512_add_pd(c, _mm512_mul_pd(x, x));
    d = _mm512_add_pd(d, _mm512_mul_pd(y, y));
  }
  *squares = wide_tree(c, d);
  return wide_tree(a, b);
}

/* One lane of a whole chunk of a tile of w columns: sums, and those of squares
** of differences from `mean` where there is one. */
static void wide_rows (const double *mean, double *lane,
                       const char *const *rows, int64_t w) {
  const float *row[RED_LANES];
  for (int k = 0; k < RED_LANES; k++)
    row[k] = (const float *)(const void *)rows[k * RED_LANES];
  for (int64_t i = 0; i < w; i += 8) {
    const __mmask8 in = (__mmask8)(w - i < 8 ? (1 << (w - i)) - 1 : 0xff);
    const __m512d m = mean == NULL ? _mm512_setzero_pd()
                                   : _mm512_maskz_loadu_pd(in, mean + i);
    __m512d a = _mm512_setzero_pd(), b = a;
    for (int k = 0; k < RED_LANES; k++) {
      __m512d x = _mm512_cvtps_pd(_mm256_maskz_loadu_ps(in, row[k] + i));
      if (mean != NULL) {
        x = _mm512_sub_pd(x, m);
        b = _mm512_add_pd(b, _mm512_mul_pd(x, x));
      }
      a = _mm512_add_pd(a, x);
    }
    _mm512_mask_storeu_pd(lane + i, in, a);
    if (mean != NULL) _mm512_mask_storeu_pd(lane + w + i, in, b);
  }
}
