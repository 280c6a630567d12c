/* SPDX-License-Identifier: MIT
** kernel/softmax_int.h: softmax of a line in single precision, for
** loops_int.h.  No include guard.  The sum is exact to double, in the order of
** reduce_int.h. */

enum { SOFTMAX_LANES = 16, SOFTMAX_BLOCK = 256 };

static inline float max_f32 (float a, float b) {
  return ((b > a) | (b != b)) ? b : a;
}

/* A NaN anywhere wins. */
static float line_max_f32 (const float *x, int64_t n) {
  float most[SOFTMAX_BLOCK], max = -INFINITY;
  int64_t i = 0, w = SOFTMAX_BLOCK;
  if (n >= w) {
    memcpy(most, x, sizeof most);
    for (i = w; i + w <= n; i += w)
      for (int l = 0; l < SOFTMAX_BLOCK; l++)
        most[l] = max_f32(most[l], x[i + l]);
    while ((w /= 2) >= SOFTMAX_LANES)
      for (int64_t l = 0; l < w; l++) most[l] = max_f32(most[l], most[l + w]);
    for (int l = 0; l < SOFTMAX_LANES; l++) max = max_f32(max, most[l]);
  }
  for (; i < n; i++) max = max_f32(max, x[i]);
  return max;
}

/* A double as the 16-bit type holds it; itself for others. */
static double held (DtDtype t, double v) {
  if (t == DT_F16) return dt_nw_from_f16(dt_nw_to_f16((float)v));
  return t == DT_BF16 ? dt_nw_from_bf16(dt_nw_to_bf16((float)v)) : v;
}

/* Sum of e^(x[i] - max); they are also written to x when `keep`. */
static double exp_sum (float *x, int64_t n, float max, bool keep) {
  float own[SOFTMAX_BLOCK];
  double sum = 0;
  for (int64_t i = 0; i < n; i += SOFTMAX_BLOCK) {
    int64_t k = n - i < SOFTMAX_BLOCK ? n - i : SOFTMAX_BLOCK;
    const float *v = x + i;
    float *e = keep ? x + i : own;
    DT_IVDEP for (int64_t q = 0; q < k; q++) e[q] = fexp_f32(v[q] - max);
    sum += sum_f32(e, k);
  }
  return sum;
}

static void softmax_line_f32 (bool log_form, DtDtype t, float *x, int64_t n) {
  float max = line_max_f32(x, n);
  double sum = exp_sum(x, n, max, !log_form);
  if (log_form) {
    float ls = (float)held(t, log(held(t, sum)));
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - max) - ls;
  } else {
    float scale = (float)(1 / sum);
    for (int64_t i = 0; i < n; i++) x[i] *= scale;
  }
}
