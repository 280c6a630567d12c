/* SPDX-License-Identifier: MIT
** kernel/softmax_int.h: softmax of a line in single precision, for
** loops_int.h.  No include guard.
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

/* 2^64 e^d for d <= 0: within an ulp; within 2^-18 of itself, which a bf16
** does not show.  A NaN stays one. */
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
static inline float grown_exp_short (float d) {
  const float x = d < -104.0f ? -104.0f : d;
  const float t = fma_f32(x, 1.44269504f, grown_magic), n = t - grown_magic;
  const float r = fma_f32(n, -0.693147181f, x);
  float q = 0.0414985083f;
  q = fma_f32(q, r, 0.167872787f);
  q = fma_f32(q, r, 0.500032067f);
  q = fma_f32(q, r, 0.999967158f);
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

/* ---- bf16 ---- */

/* The upper halves are compared as words: the lower half does not change their
** order, but makes a NaN of an infinity, which then shows in the sum as it
** would have anyway. */
#define TOP_WORD(k) { \
    const uint32_t w = word_at(v, (k) * RED_LANES + l); \
    const float x = word_low(w); \
    a = a > x ? a : x; \
    b = narrow_top(b, dt_nw_float(w)); \
  }
static float line_top_bf16 (const uint16_t *v, int64_t n) {
  enum { STEP = RED_LANES * 4 };
  float low[RED_LANES], high[RED_LANES];
  for (int l = 0; l < RED_LANES; l++) low[l] = high[l] = -INFINITY;
  for (; n >= 2 * STEP; n -= 2 * STEP, v += 2 * STEP)
    for (int l = 0; l < RED_LANES; l++) {
      float a = low[l], b = high[l];
      TOP_WORD(0) TOP_WORD(1) TOP_WORD(2) TOP_WORD(3)
      low[l] = a;
      high[l] = b;
    }
  for (int64_t i = 0; i < n; i++)
    low[i % RED_LANES] = narrow_top(low[i % RED_LANES], dt_nw_from_bf16(v[i]));
  float a = lanes_top(low), b = lanes_top(high);
  return narrow_top(a, word_high(dt_nw_bits(b)));
}

/* As dt_nw_to_bf16() of numbers: halves are rounded up, or to even.  A share
** of the whole never lies between two bf16: it would have to be a power of 2. */
static inline uint32_t share_bits (float v) { return dt_nw_bits(v) + 0x8000u; }
static inline uint32_t even_bits (float v) {
  uint32_t u = dt_nw_bits(v);
  return u + 0x7fffu + ((u >> 16) & 1u);
}

/* The exponentials of a line: low halves first, then upper ones. */
static void exps_bf16 (const uint16_t *x, float *buf, int64_t n, float max) {
  const int64_t h = n / 2;
  float *low = buf, *high = buf + (n - h);
  DT_IVDEP for (int64_t i = 0; i < h; i++) {
    const uint32_t w = word_at(x, i);
    low[i] = grown_exp_short(word_low(w) - max);
    high[i] = grown_exp_short(word_high(w) - max);
  }
  if (n % 2 != 0) low[h] = grown_exp_short(dt_nw_from_bf16(x[n - 1]) - max);
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

static void logs_bf16 (const uint16_t *x, uint16_t *out, int64_t n, float max,
                       float ls) {
  DT_IVDEP for (int64_t i = 0; i < n / 2; i++) {
    const uint32_t w = word_at(x, i);
    const uint32_t a = even_bits(word_low(w) - max - ls);
    const uint32_t b = even_bits(word_high(w) - max - ls);
    word_put(out, i, (a >> 16) | (b & 0xffff0000u));
  }
  if (n % 2 != 0)
    out[n - 1] = dt_nw_to_bf16(dt_nw_from_bf16(x[n - 1]) - max - ls);
}

/* Several lines take each step in turn: what a line must wait for at its end
** is ready when its turn comes again. */
static void softmax_lines_bf16 (bool log_form, DtDtype t, int count,
                                const uint16_t *const *x, uint16_t *const *out,
                                float *buf, int64_t n) {
  float max[DT_SOFTMAX_LINES];
  double sum[DT_SOFTMAX_LINES];
  for (int k = 0; k < count; k++) max[k] = line_top_bf16(x[k], n);
  for (int k = 0; k < count; k++) exps_bf16(x[k], buf + k * n, n, max[k]);
  for (int k = 0; k < count; k++) {
    double lane[RED_LANES] = {0};
    lanes_add(lane, buf + k * n, n - n / 2);
    lanes_add(lane, buf + k * n + (n - n / 2), n / 2);
    sum[k] = lanes_sum(lane);
  }
  for (int k = 0; k < count; k++) {
    if (sum[k] != sum[k])
      for (int64_t i = 0; i < n; i++) out[k][i] = 0x7fc0;
    else if (log_form)
      logs_bf16(x[k], out[k], n, max[k],
                (float)held(t, log(held(t, sum[k] * 0x1p-64))));
    else
      shares_bf16(buf + k * n, out[k], n, (float)(1 / sum[k]));
  }
}
#undef TOP4
#undef ADD4
#undef TOP_WORD
