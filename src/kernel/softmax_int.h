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

/* Sum of e^(x[i] - max).  They go to `out`, or the exponents when `log_form`:
** memory is asked for `out` while there is something to compute. */
static double exp_sum (bool log_form, const float *x, float *out, int64_t n,
                       float max) {
  float own[RED_CHUNK];
  double sum = 0;
  for (int64_t i = 0; i < n; i += RED_CHUNK) {
    int64_t k = n - i < RED_CHUNK ? n - i : RED_CHUNK;
    const float *v = x + i;
    float *y = out + i, *e = log_form ? own : y;
    if (log_form) {
      DT_IVDEP for (int64_t q = 0; q < k; q++) {
        const float d = v[q] - max;
        y[q] = d;
        own[q] = fexp_below_f32(d);
      }
    } else {
      DT_IVDEP for (int64_t q = 0; q < k; q++)
        y[q] = fexp_below_f32(v[q] - max);
    }
    sum += sum_f32(e, k);
  }
  return sum;
}

static void softmax_line_f32 (bool log_form, DtDtype t, const float *x,
                              float *out, int64_t n) {
  double sum = exp_sum(log_form, x, out, n, line_max_f32(x, n));
  if (log_form) {
    float ls = (float)held(t, log(held(t, sum)));
    for (int64_t i = 0; i < n; i++) out[i] -= ls;
  } else {
    float scale = (float)(1 / sum);
    for (int64_t i = 0; i < n; i++) out[i] *= scale;
  }
}
