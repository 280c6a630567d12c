/* SPDX-License-Identifier: MIT
** kernel/softmax_int.h: softmax of a line in single precision, for
** loops_int.h.  No include guard.  softmax_bf16_int.h has lines of bf16.
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

#undef TOP4
#undef ADD4
