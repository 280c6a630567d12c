/* SPDX-License-Identifier: MIT
** kernel/softmax_int.h: softmax of a line in single precision, for
** loops_int.h.  No include guard.  The sum is exact to double, in the order of
** reduce_int.h. */

/* A NaN anywhere wins. */
static float line_max_f32 (const float *x, int64_t n) {
  double max = -INFINITY;
  for (int64_t i = 0; i < n; i += RED_CHUNK)
    max = f64_max(max, f32_extreme(DT_C_MAX, x + i,
                                   n - i < RED_CHUNK ? n - i : RED_CHUNK));
  return (float)max;
}

/* A double as the 16-bit type holds it; itself for others. */
static double held (DtDtype t, double v) {
  if (t == DT_F16) return dt_nw_from_f16(dt_nw_to_f16((float)v));
  return t == DT_BF16 ? dt_nw_from_bf16(dt_nw_to_bf16((float)v)) : v;
}

/* Sum of e^(x[i] - max); they are also written to `keep` unless NULL. */
static double exp_sum (const float *x, float *keep, int64_t n, float max) {
  float own[RED_CHUNK];
  double sum = 0;
  for (int64_t i = 0; i < n; i += RED_CHUNK) {
    int64_t k = n - i < RED_CHUNK ? n - i : RED_CHUNK;
    const float *v = x + i;
    float *e = keep != NULL ? keep + i : own;
    DT_IVDEP for (int64_t q = 0; q < k; q++)
      e[q] = fexp_below_f32(v[q] - max);
    sum += sum_f32(e, k);
  }
  return sum;
}

static void softmax_line_f32 (bool log_form, DtDtype t, const float *x,
                              float *out, int64_t n) {
  float max = line_max_f32(x, n);
  double sum = exp_sum(x, log_form ? NULL : out, n, max);
  if (log_form) {
    float ls = (float)held(t, log(held(t, sum)));
    DT_IVDEP for (int64_t i = 0; i < n; i++) out[i] = (x[i] - max) - ls;
  } else {
    float scale = (float)(1 / sum);
    for (int64_t i = 0; i < n; i++) out[i] *= scale;
  }
}
