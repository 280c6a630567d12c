/* SPDX-License-Identifier: MIT
** kernel/softmax_bf16_int.h: softmax of a line of bf16, for loops_int.h after
** softmax_int.h.  No include guard.
**
** e^x = 2^(n/32) e^r, n the integer next to 32 x log2 e: the first factor is an
** entry of a table and an exponent, the second a parabola, right within 2^-21
** and mostly within 2^-23.  Its vertex lies where one square and one sum make
** it: u = r + 46 ln 2 / 32 takes no more than r does, and e^r is near a (u u + b),
** the factor a being in the table.
**
** A line whose elements are within PLAIN is taken as it is.  Of others the
** largest element is taken off first, and exponentials are 2^64 times as large
** as they are (softmax_int.h).  Lines where there is no largest (NaN, infinity)
** are computed as floats.
**
** The two bf16 of a word are treated apart.  Word i goes to lane i mod 16;
** sixteen words of a lane are added in single precision, those of low halves and
** those of high ones, then these two, and the rest in double. */

enum {
  EXPS = RED_LANES * 16,        /* words added in single precision */
  EXP_STEPS = 32,               /* of the table */
  EXP_LEAST = -104,             /* from there on there is nothing but zero */
  PLAIN = 0x4220                /* 40, as bf16 */
};

static const float per_step = 46.1662407f, step_by = 0.0216608495f;
static const float step_magic = 12582912.0f;    /* 1.5 * 2^23 */
static const float step_vertex = 46.0f, even_part = 0.999947608f;

/* Bits of a 2^(j/32), less those that n << 18 has of j; a = 0.501816867, for
** which the parabola's largest relative error is least. */
static const uint32_t exp_table[EXP_STEPS] = {
  0x3f007712u, 0x3eff4734u, 0x3efe271bu, 0x3efd171fu, 0x3efc179bu, 0x3efb28eau,
  0x3efa4b6cu, 0x3ef97f80u, 0x3ef8c58au, 0x3ef81dedu, 0x3ef78911u, 0x3ef7075eu,
  0x3ef69941u, 0x3ef63f27u, 0x3ef5f97fu, 0x3ef5c8beu, 0x3ef5ad57u, 0x3ef5a7c3u,
  0x3ef5b87cu, 0x3ef5dfffu, 0x3ef61eccu, 0x3ef67565u, 0x3ef6e44fu, 0x3ef76c13u,
  0x3ef80d3du, 0x3ef8c85bu, 0x3ef99dfdu, 0x3efa8eb9u, 0x3efb9b27u, 0x3efcc3e2u,
  0x3efe0988u, 0x3eff6cbcu,
};

/* What the exponentials of a line are made of: x, or x - max; magic leaves n in
** the low bits, and 64 in those of the exponent unless the line is plain. */
typedef struct Line {
  bool plain;
  float max, magic;
} Line;

static bool plain_extremes (const Extremes *e) {
  return e->top <= PLAIN && (e->most < 0x8000u || e->most <= (0x8000u | PLAIN));
}

/* False: floats must do. */
static bool line_of (const Extremes *e, Line *line) {
  const float low = dt_nw_from_bf16(e->most >= 0x8000u ? e->most : e->least);
  line->plain = plain_extremes(e);
  line->max = dt_nw_from_bf16(e->top < 0 ? e->least : (uint16_t)e->top);
  line->magic = step_magic + (line->plain ? 0 : 64 * EXP_STEPS);
  return fabsf(line->max) < INFINITY && low == low;
}

static inline float step_exp (float magic, float x) {
  const float t = fma_f32(x, per_step, magic), n = t - (magic + step_vertex);
  const float u = fma_f32(n, -step_by, x);
  const uint32_t b = dt_nw_bits(t);
  const float s = dt_nw_float(exp_table[b % EXP_STEPS] + (b << 18));
  return s * fma_f32(u, u, even_part);
}
static inline float line_exp (bool plain, float magic, float max, float x) {
  const float d = plain ? x : x - max;
  return step_exp(magic, !plain && d < EXP_LEAST ? EXP_LEAST : d);
}

/* Where exponentials of high halves are, after those of low ones. */
static inline int64_t high_part (int64_t n) {
  return (n / 2 + RED_LANES) / RED_LANES * RED_LANES;
}

/* As dt_nw_to_bf16() of numbers: halves are rounded up, or to even.  A share
** of the whole never lies between two bf16: it would have to be a power of 2. */
static inline uint32_t share_bits (float v) { return dt_nw_bits(v) + 0x8000u; }
static inline uint32_t even_bits (float v) {
  uint32_t u = dt_nw_bits(v);
  return u + ((u & 0x10000u) != 0 ? 0x8000u : 0x7fffu);
}

#if defined(__AVX512BW__)
#include "kernel/softmax_wide_int.h"
#else

/* The exponentials of w <= EXPS words, and of one half more if `odd`. */
static inline void exps_group (bool plain, const Line *line, const uint16_t *x,
                               float *a, float *b, int64_t w, bool odd) {
  const float magic = line->magic, max = line->max;
  DT_IVDEP for (int64_t k = 0; k < w; k++) {
    const uint32_t u = word_at(x, k);
    a[k] = line_exp(plain, magic, max, word_low(u));
    b[k] = line_exp(plain, magic, max, word_high(u));
  }
  if (odd) a[w] = line_exp(plain, magic, max, dt_nw_from_bf16(x[2 * w]));
}

/* lane[i mod 16] += v[i], in single precision. */
static void group_add (float *lane, const float *v, int64_t n) {
  int64_t i = 0;
  for (; i + RED_LANES <= n; i += RED_LANES)
    for (int l = 0; l < RED_LANES; l++) lane[l] += v[i + l];
  for (; i < n; i++) lane[i % RED_LANES] += v[i];
}

/* The sum of the exponentials of a line, and they; buf may be NULL. */
static double exps_line (const Line *line, const uint16_t *x, float *buf,
                         int64_t n) {
  double lane[RED_LANES] = {0};
  float a[EXPS], b[EXPS];
  const int64_t h = n / 2;
  for (int64_t i = 0; 2 * i < n; i += EXPS) {
    float low[RED_LANES] = {0}, high[RED_LANES] = {0};
    const int64_t w = h - i < EXPS ? h - i : EXPS;
    const bool odd = w < EXPS && n % 2 != 0;
    if (line->plain) exps_group(true, line, x + 2 * i, a, b, w, odd);
    else exps_group(false, line, x + 2 * i, a, b, w, odd);
    group_add(low, a, w + odd);
    group_add(high, b, w);
    for (int l = 0; l < RED_LANES; l++) lane[l] += (double)(low[l] + high[l]);
    if (buf == NULL) continue;
    memcpy(buf + i, a, (size_t)(w + odd) * sizeof *a);
    memcpy(buf + high_part(n) + i, b, (size_t)w * sizeof *b);
  }
  return lanes_sum(lane);
}

/* The same without exponentials, of a line to be measured; false: floats must
** do. */
static bool exps_sum (Line *line, const uint16_t *x, int64_t n, double *sum) {
  const Extremes e = extremes_of(x, n);
  if (!line_of(&e, line)) return false;
  *sum = exps_line(line, x, NULL, n);
  return true;
}

static bool is_plain (const uint16_t *x, int64_t n) {
  uint16_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    const uint16_t mag = x[i] & 0x7fffu;
    most = mag > most ? mag : most;
  }
  return most <= PLAIN;
}

static void shares_bf16 (const float *buf, uint16_t *out, int64_t n,
                         float scale) {
  const int64_t h = n / 2;
  const float *low = buf, *high = buf + high_part(n);
  DT_IVDEP for (int64_t i = 0; i < h; i++) {
    const uint32_t a = share_bits(low[i] * scale);
    const uint32_t b = share_bits(high[i] * scale);
    word_put(out, i, (a >> 16) | (b & 0xffff0000u));
  }
  if (n % 2 != 0) out[n - 1] = (uint16_t)(share_bits(low[h] * scale) >> 16);
}

/* out = x - a - b */
static void logs_bf16 (const uint16_t *x, uint16_t *out, int64_t n, float a,
                       float b) {
  DT_IVDEP for (int64_t i = 0; i < n / 2; i++) {
    const uint32_t w = word_at(x, i);
    const uint32_t l = even_bits(word_low(w) - a - b);
    const uint32_t u = even_bits(word_high(w) - a - b);
    word_put(out, i, (l >> 16) | (u & 0xffff0000u));
  }
  if (n % 2 != 0)
    out[n - 1] = (uint16_t)(even_bits(dt_nw_from_bf16(x[n - 1]) - a - b) >> 16);
}
#endif

/* False: floats must do. */
static bool share_line (const uint16_t *x, uint16_t *out, float *buf,
                        int64_t n) {
  Line k = { true, 0, step_magic };
  if (!is_plain(x, n)) {
    const Extremes e = extremes_of(x, n);
    if (!line_of(&e, &k)) return false;
  }
  shares_bf16(buf, out, n, (float)(1 / exps_line(&k, x, buf, n)));
  return true;
}

/* The sum is kept in exponentials of the largest: one of nothing else is 1
** exactly.  x - max - log takes one step where max + log is exact. */
static bool log_line (DtDtype t, const uint16_t *x, uint16_t *out, int64_t n) {
  Line k;
  double sum;
  if (!exps_sum(&k, x, n, &sum)) return false;
  const double top = (double)step_exp(k.magic, k.plain ? k.max : 0);
  const float ls = (float)held(t, log(held(t, sum / top)));
  const float both = k.max + ls;
  if (both - k.max == ls && both - ls == k.max) logs_bf16(x, out, n, both, 0);
  else logs_bf16(x, out, n, k.max, ls);
  return true;
}

/* buf[n + 32] */
static void softmax_line_bf16 (bool log_form, DtDtype t, const uint16_t *x,
                               uint16_t *out, float *buf, int64_t n) {
  if (log_form ? log_line(t, x, out, n) : share_line(x, out, buf, n)) return;
  load_f32(buf, DT_BF16, x, sizeof *x, n);
  softmax_line_f32(log_form, t, buf, buf, n);
  store_f32(buf, DT_BF16, out, sizeof *out, n);
}
