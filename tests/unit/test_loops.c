/* SPDX-License-Identifier: MIT
** kernel/loops: the loops give the same bits whatever they were compiled for,
** however a run is cut, and are near libm. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "kernel/loops.h"
#include "tensor/narrow.h"

enum { N = 3000 };

static const DtLoops *levels[3];
static int nlevels;

/* Only what this processor can run. */
static int find_levels (void **state) {
  (void)state;
  levels[nlevels++] = &dt_loops_v2;
  if (dt_loops() != &dt_loops_v2) levels[nlevels++] = &dt_loops_v3;
  if (dt_loops() == &dt_loops_v4) levels[nlevels++] = &dt_loops_v4;
  return 0;
}

static uint64_t rng = 88172645463325252u;
static uint32_t next (void) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (uint32_t)(rng >> 16);
}

/* Any bits, numbers of everyday size, and the edges. */
static void fill (float *v, int n) {
  static const float edge[] = { 0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY,
    NAN, 1e-45f, -1e-40f, 3.4e38f, 88.7f, -103.9f, 0.5f, 2.0f, 1e-8f };
  for (int i = 0; i < n; i++) {
    uint32_t u = next();
    if (i < (int)(sizeof edge / sizeof *edge)) v[i] = edge[i];
    else if (i % 3 == 0) memcpy(&v[i], &u, 4);
    else v[i] = ((float)(u >> 8) * 0x1p-24f - 0.5f) * (i % 3 == 1 ? 8 : 200);
  }
}

/* The payload of a NaN is the processor's affair. */
static int differ (const float *a, const float *b, int n) {
  for (int i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], 4) != 0 && !(a[i] != a[i] && b[i] != b[i]))
      return i;
  return -1;
}

static void same_row (const char *what, int row, int nin, const DtPwFn *fn) {
  static float in[3][N], out[3][N], cut[N];
  const float p[4] = { 0.5f, 1.5f, 3, 0 };
  const void *x[3] = { in[0], in[1], in[2] };
  for (int k = 0; k < nin; k++) fill(in[k], N);
  for (int l = 0; l < nlevels; l++) fn[l](N, out[l], x, p, 0);
  for (int l = 1; l < nlevels; l++) {
    int i = differ(out[0], out[l], N);
    if (i >= 0)
      fail_msg("%s row %d, level %d: f(%a) is %a or %a", what, row, l,
               (double)in[0][i], (double)out[0][i], (double)out[l][i]);
  }
  for (int i = 0, w = 1; i < N; i += w, w = w % 37 + 1) {
    const void *y[3] = { in[0] + i, in[1] + i, in[2] + i };
    fn[nlevels - 1](w < N - i ? w : N - i, cut + i, y, p, 0);
  }
  if (differ(out[0], cut, N) >= 0) fail_msg("%s row %d: cuts", what, row);
}

/* Rows that call libm inside may use what it has for this processor, but the
** same everywhere: they are compared too. */
static void test_rows (void **state) {
  (void)state;
  for (int f = 0; f < DT_NUNARY; f++) {
    DtPwFn fn[3];
    for (int l = 0; l < nlevels; l++) fn[l] = levels[l]->pw_f32->unary[f];
    same_row("unary", f, 1, fn);
  }
  for (int f = 0; f <= DT_B_maximum; f++) {
    DtPwFn fn[3];
    for (int l = 0; l < nlevels; l++) fn[l] = levels[l]->pw_f32->binary[f];
    same_row("binary", f, 2, fn);
  }
}

static void near (int f, double (*want) (double), double lo, double hi,
                  double ulps) {
  float x[1], y[1];
  const void *in = x;
  const float p[4] = { 0 };
  for (int i = 0; i <= 20000; i++) {
    x[0] = (float)(lo + (hi - lo) * i / 20000);
    dt_loops()->pw_f32->unary[f](1, y, &in, p, 0);
    double w = want((double)x[0]), e = fabs((double)y[0] - w);
    double ulp = fmax(ldexp(fabs(w), -23), 0x1p-149);
    if (e > ulps * ulp)
      fail_msg("f%d(%a) = %a, not %a", f, (double)x[0], (double)y[0], w);
  }
}

static void test_near (void **state) {
  (void)state;
  near(DT_U_exp, exp, -103, 88.7, 1.5);
  near(DT_U_exp2, exp2, -149, 127.9, 1.5);
  near(DT_U_log, log, 1e-40, 1e-37, 1.5);
  near(DT_U_log, log, 0.5, 2, 1.5);
  near(DT_U_log, log, 2, 3e38, 1.5);
  near(DT_U_log1p, log1p, -0.999, 3, 2);
  near(DT_U_log1p, log1p, -1e-6, 1e-6, 2);
  near(DT_U_tanh, tanh, -10, 10, 3);
  near(DT_U_tanh, tanh, -1e-3, 1e-3, 3);
  near(DT_U_erf, erf, -5, 5, 3);
  near(DT_U_erf, erf, -1e-3, 1e-3, 3);
}

/* Widening and narrowing. */
static void test_convert (void **state) {
  static float in[N], back[N], back0[N];
  static uint16_t half[3][N];
  static const DtDtype types[2] = { DT_F16, DT_BF16 };
  (void)state;
  fill(in, N);
  for (int t = 0; t < 2; t++)
    for (int l = 0; l < nlevels; l++) {
      levels[l]->store(DT_CL_F32, in, types[t], half[l], 2, N);
      levels[l]->load(DT_CL_F32, back, types[t], half[l], 2, N);
      if (l == 0) memcpy(back0, back, sizeof back);
      assert_memory_equal(half[0], half[l], sizeof half[0]);
      assert_int_equal(differ(back0, back, N), -1);
    }
}

static void test_random (void **state) {
  static double v[3][N];
  DtRng r = {.seed = 1234567, .offset = 89 };
  (void)state;
  for (int l = 0; l < nlevels; l++) {
    levels[l]->normal(&r, 0, N, 0, 1, v[l]);
    assert_memory_equal(v[0], v[l], sizeof v[0]);
  }
  for (int i = 0; i < N; i++) {
    double one;
    levels[nlevels - 1]->normal(&r, i, 1, 0, 1, &one);
    assert_true(one == v[0][i]);
    assert_true(fabs(one - dt_rng_normal(&r, (uint64_t)i)) < 1e-14);
  }
}

static void test_softmax (void **state) {
  static float in[N], x[N], out[3][N];
  (void)state;
  for (int n = 1; n < N; n = n * 3 + 1) {
    fill(in, N);
    for (int l = 0; l < nlevels; l++) {
      for (int i = 0; i < n; i++) x[i] = fmodf(in[20 + i], 50);
      levels[l]->softmax_f32(n % 2 == 0, DT_F32, x, out[l], n);
      assert_int_equal(differ(out[0], out[l], n), -1);
      levels[l]->softmax_f32(n % 2 == 0, DT_F32, x, x, n);
      assert_int_equal(differ(out[0], x, n), -1);
    }
  }
}

/* Lines that are taken as they are, long ones and such as have no least. */
enum { NEAR, FAR, ENDLESS, KINDS };
static void line_fill (int kind, float *in, int n) {
  fill(in, N);
  for (int i = 0; i < N; i++)
    in[i] = isfinite(in[i]) ? fmodf(in[i], kind == NEAR ? 40 : 50) : 1;
  if (kind == FAR) for (int i = 0; i < N; i++) in[i] = fabsf(in[i]) * 8;
  if (kind == ENDLESS && n > 1) in[n / 2] = -INFINITY;
}

/* Near the shares in double. */
static void check_shares (bool log_form, const float *in, const uint16_t *out,
                          int n) {
  double sum = 0, top = -INFINITY;
  for (int i = 0; i < n; i++) top = fmax(top, (double)in[i]);
  for (int i = 0; i < n; i++) sum += exp((double)in[i] - top);
  for (int i = 0; i < n; i++) {
    double d = (double)in[i] - top, w = log_form ? d - log(sum) : exp(d) / sum;
    double got = (double)dt_nw_from_bf16(out[i]);
    double tol = fabs(w) * 0x1.01p-8 + (log_form ? 0x1p-20 : 0x1p-133);
    if (!(got == w || fabs(got - w) <= tol))
      fail_msg("softmax of %d, log %d: %a, not %a", n, log_form, got, w);
  }
}

/* A line of bf16: the same bits at every level, also in place; a NaN or an
** infinity fills the line. */
static void softmax_bf16 (bool log_form, int kind, int n) {
  static float in[N], buf[N];
  static uint16_t x[2][N], out[3][2][N];
  line_fill(kind, in, n);
  levels[0]->store(DT_CL_F32, in, DT_BF16, x[0], 2, n);
  levels[0]->load(DT_CL_F32, in, DT_BF16, x[0], 2, n);
  memcpy(x[1], x[0], sizeof x[0]);
  x[1][n / 3] = n % 4 == 3 ? 0x7fc0 : 0x7f80;
  for (int l = 0; l < nlevels; l++) {
    for (int k = 0; k < 2; k++)
      levels[l]->softmax_bf16(log_form, DT_F32, x[k], out[l][k], buf, n);
    assert_memory_equal(out[0][0], out[l][0], (size_t)n * 2);
    for (int i = 0; i < n; i++)
      if (out[l][1][i] != 0x7fc0)
        fail_msg("n %d, log %d, level %d: %#x at %d", n, log_form, l,
                 out[l][1][i], i);
    memcpy(out[l][1], x[0], sizeof x[0]);
    levels[l]->softmax_bf16(log_form, DT_F32, out[l][1], out[l][1], buf, n);
    assert_memory_equal(out[0][0], out[l][1], (size_t)n * 2);
  }
  check_shares(log_form, in, out[0][0], n);
}

static void test_softmax_bf16 (void **state) {
  (void)state;
  for (int n = 1; n + 32 <= N; n += n / 2 + 1)
    for (int kind = 0; kind < KINDS; kind++)
      for (int log_form = 0; log_form < 2; log_form++)
        softmax_bf16(log_form != 0, kind, n);
}

/* One of nothing else is all, exactly: its logarithm is 0. */
static void test_softmax_alone (void **state) {
  static const float at[] = { 0, 3, -7.5f, 39, 41, 3e38f };
  float buf[40];
  uint16_t x[5], out[5];
  (void)state;
  for (size_t k = 0; k < sizeof at / sizeof *at; k++)
    for (int l = 0; l < nlevels; l++)
      for (int log_form = 0; log_form < 2; log_form++) {
        for (int i = 0; i < 5; i++) x[i] = dt_nw_to_bf16(at[k] - 60);
        x[2] = dt_nw_to_bf16(at[k]);
        levels[l]->softmax_bf16(log_form, DT_F64, x + 2, out, buf, 1);
        assert_int_equal(out[0], log_form ? 0 : 0x3f80);
        if (at[k] > 1e30f) continue;
        levels[l]->softmax_bf16(log_form, DT_F64, x, out, buf, 5);
        assert_int_equal(out[2], log_form ? 0 : 0x3f80);
      }
}

enum { W = 150, LEN = 700 };

/* One output along memory, and many outputs at a time: the same bits, also at
** every level, and for elements that are widened first. */
static void test_reduce (void **state) {
  static float in[W * LEN], t[W * LEN];
  static double wide[W * LEN], a[W], b[W];
  (void)state;
  for (int i = 0; i < W * LEN; i++) {
    t[i] = (float)((int32_t)next()) * 0x1p-20f;
    in[i % W * LEN + i / W] = t[i];
  }
  t[3] = in[3 * LEN] = NAN;
  for (int i = 0; i < W * LEN; i++) wide[i] = in[i];
  for (int c = DT_C_ADD; c <= DT_C_MIN; c++)
    for (int l = 0; l < nlevels; l++) {
      DtRedJob j = { .cl = DT_CL_F64, .in_t = DT_F32, .nred = 1, .len = LEN,
                     .red = { { LEN, 4, 0 } } };
      DtRedPass q = { &j, NULL, 0, 1, DT_M_ID, (DtComb)c, NULL, NULL };
      for (int k = 0; k < W; k++) {
        double one;
        q.p = (const char *)(in + k * LEN);
        q.acc = &a[k];
        levels[l]->reduce(&q);
        j.in_t = DT_F64;
        j.red[0].in = 8;
        q.p = (const char *)(wide + k * LEN);
        q.acc = &one;
        levels[l]->reduce(&q);
        j.in_t = DT_F32;
        j.red[0].in = 4;
        assert_true(memcmp(&one, &a[k], 8) == 0 || one != one);
      }
      j.red[0].in = 4 * W;
      DtRedPass tile = { &j, (const char *)t, 4, W, DT_M_ID, (DtComb)c, NULL,
                         b };
      levels[l]->reduce(&tile);
      assert_true(a[3] != a[3] && b[3] != b[3]);
      a[3] = b[3] = 0;
      assert_memory_equal(a, b, sizeof a);
    }
}

/* Rows of bf16 as it is stored are the rows of float between conversions. */
static void same_bf16 (const char *what, int row, int nin, int l, DtPwFn wide,
                       DtPwFn stored) {
  static float x[3][N], y[N];
  static uint16_t in[3][N], want[N], got[N];
  const float p[4] = { 0.5f, 1.5f, 3, 0 };
  const void *xs[3] = { x[0], x[1], x[2] }, *ins[3] = { in[0], in[1], in[2] };
  if (stored == NULL) return;
  for (int k = 0; k < nin; k++) {
    fill(x[k], N);
    levels[l]->store(DT_CL_F32, x[k], DT_BF16, in[k], 2, N);
    levels[l]->load(DT_CL_F32, x[k], DT_BF16, in[k], 2, N);
  }
  wide(N, y, xs, p, 17);
  levels[l]->store(DT_CL_F32, y, DT_BF16, want, 2, N);
  for (int i = 0, w = 1; i < N; i += w, w = w % 71 + 1) {
    const void *at[3] = { in[0] + i, in[1] + i, in[2] + i };
    stored(w < N - i ? w : N - i, got + i, at, p, 17);
  }
  if (memcmp(want, got, sizeof want) != 0)
    fail_msg("%s row %d, level %d: cut bf16", what, row, l);
  stored(N, got, ins, p, 17);
  if (memcmp(want, got, sizeof want) != 0)
    fail_msg("%s row %d, level %d: bf16", what, row, l);
}

static void test_bf16_rows (void **state) {
  (void)state;
  assert_non_null(dt_loops()->pw_bf16->binary[DT_B_add]);
  for (int l = 0; l < nlevels; l++) {
    const DtPwTable *f = levels[l]->pw_f32, *h = levels[l]->pw_bf16;
    for (int i = 0; i < DT_NUNARY; i++)
      same_bf16("unary", i, 1, l, f->unary[i], h->unary[i]);
    for (int i = 0; i < DT_NBINARY; i++)
      same_bf16("binary", i, 2, l, f->binary[i], h->binary[i]);
    for (int i = 0; i < DT_NTERNARY; i++)
      same_bf16("ternary", i, 3, l, f->ternary[i], h->ternary[i]);
  }
}

enum { ALL16 = 1 << 16, ALIKE = 32 };

/* Every bf16 there is: all in turn, and each among its like, since what is
** done to a vector depends on its company. */
static void test_bf16_all (void **state) {
  static float x[ALL16], y[ALL16];
  static uint16_t in[ALL16], want[ALL16], got[ALL16];
  const float p[4] = { 0.5f, 1.5f, 3, 0 };
  const void *px = x, *pin = in;
  (void)state;
  for (int i = 0; i < ALL16; i++) in[i] = (uint16_t)i;
  dt_loops()->load(DT_CL_F32, x, DT_BF16, in, 2, ALL16);
  for (int l = 0; l < nlevels; l++)
    for (int f = 0; f < DT_NUNARY; f++) {
      DtPwFn fn = levels[l]->pw_bf16->unary[f];
      if (fn == NULL) continue;
      levels[l]->pw_f32->unary[f](ALL16, y, &px, p, 17);
      levels[l]->store(DT_CL_F32, y, DT_BF16, want, 2, ALL16);
      fn(ALL16, got, &pin, p, 17);
      for (int i = 0; i < ALL16; i++) {
        uint16_t same[ALIKE], out[ALIKE];
        const void *ps = same;
        for (int k = 0; k < ALIKE; k++) same[k] = (uint16_t)i;
        fn(ALIKE, out, &ps, p, 17);
        if (got[i] != want[i] || out[0] != want[i] ||
            memcmp(out, out + 1, sizeof out - sizeof *out) != 0)
          fail_msg("unary row %d, level %d: f(%#x) is %#x, alone %#x, not %#x",
                   f, l, i, got[i], out[0], want[i]);
      }
    }
}

/* ---- reductions of narrow floats ---- */

enum { NW = 40, NLEN = 600 };

static void reduce (int l, DtDtype t, bool along, const void *p, int64_t in,
                    int64_t step, DtMap m, DtComb c, const double *mean,
                    double *out) {
  DtRedJob j = { .cl = DT_CL_F64, .in_t = t, .nred = 1, .len = NLEN,
                 .red = { { NLEN, in, 0 } }, .along = along };
  DtRedPass q = { &j, p, step, NW, m, c, mean, out };
  levels[l]->reduce(&q);
}

static void same_sums (const char *what, int t, int l, const double *want,
                       const double *got) {
  for (int k = 0; k < NW; k++)
    if (memcmp(&want[k], &got[k], 8) != 0 &&
        !(want[k] != want[k] && got[k] != got[k]))
      fail_msg("%s of type %d, level %d, output %d: %a, not %a", what, t, l, k,
               got[k], want[k]);
}

/* Elements as they lie give what the same elements give as doubles: in tiles,
** one output at a time, side by side and far apart. */
static void test_narrow (void **state) {
  static const DtDtype types[] = { DT_F32, DT_BF16, DT_F16 };
  static const struct { DtMap m; DtComb c; } ways[] = {
    { DT_M_ID, DT_C_ADD }, { DT_M_SQUARE, DT_C_ADD }, { DT_M_DEV2, DT_C_ADD },
    { DT_M_ID, DT_C_MUL }, { DT_M_ID, DT_C_MAX }, { DT_M_ID, DT_C_MIN },
  };
  static float x[NW * NLEN], turned[NW * NLEN];
  static uint32_t in[NW * NLEN], side[NW * NLEN];       /* of any type */
  static double wide[NW * NLEN];
  double mean[NW], want[NW], got[NW];
  (void)state;
  fill(x, NW * NLEN);
  for (int i = 0; i < NW * NLEN; i++) {         /* edges in some columns only */
    if (i % NW > 3 || x[i] != x[i]) x[i] = (float)(int32_t)next() * 0x1p-28f;
    turned[i % NW * NLEN + i / NW] = x[i];
  }
  turned[7 * NLEN + 5] = x[5 * NW + 7] = NAN;
  for (int k = 0; k < NW; k++) mean[k] = k * 0.25 - 3;
  for (int t = 0; t < 3; t++) {
    int64_t es = (int64_t)dt_dtype_size(types[t]);
    levels[0]->store(DT_CL_F32, x, types[t], in, es, NW * NLEN);
    levels[0]->store(DT_CL_F32, turned, types[t], side, es, NW * NLEN);
    levels[0]->load(DT_CL_F64, wide, types[t], in, es, NW * NLEN);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      DtMap m = ways[i].m;
      DtComb c = ways[i].c;
      reduce(0, DT_F64, true, wide, 8 * NW, 8, m, c, mean, want);
      for (int l = 0; l < nlevels; l++) {
        reduce(l, types[t], false, in, es * NW, es, m, c, mean, got);
        same_sums("tile", t, l, want, got);
        reduce(l, types[t], true, in, es * NW, es, m, c, mean, got);
        same_sums("strided line", t, l, want, got);
        reduce(l, types[t], true, side, es, es * NLEN, m, c, mean, got);
        same_sums("line", t, l, want, got);
      }
    }
  }
}

/* Quick sums and sums of squares: the same bits in a tile, one output at a time,
** side by side and far apart, at every level; squares in double are those of a
** pass of their own. */
static void one_way (int l, DtDtype t, DtDtype out, bool along, const void *p,
                     int64_t in, int64_t step, int64_t w, DtMap m,
                     const double *mean, double *acc) {
  DtRedJob j = { .cl = DT_CL_F64, .in_t = t, .out_t = out, .nred = 1,
                 .len = NLEN, .red = { { NLEN, in, 0 } }, .along = along };
  DtRedPass q = { &j, p, step, w, m, DT_C_ADD, mean, acc };
  memset(acc, 0, 2 * NW * sizeof *acc);
  levels[l]->reduce(&q);
}

static void same_ways (DtDtype t, DtDtype out, DtMap m, int64_t w,
                       const void *in, const void *side, const double *mean,
                       double *want) {
  double got[2 * NW];
  int64_t es = (int64_t)dt_dtype_size(t);
  one_way(0, t, out, true, side, es, es * NLEN, w, m, mean, want);
  for (int l = 0; l < nlevels; l++) {
    one_way(l, t, out, true, side, es, es * NLEN, w, m, mean, got);
    same_sums("line", (int)t, l, want, got);
    same_sums("line", (int)t, l, want + NW, got + NW);
    one_way(l, t, out, true, in, es * NW, es, w, m, mean, got);
    same_sums("strided line", (int)t, l, want, got);
    same_sums("strided line", (int)t, l, want + NW, got + NW);
    one_way(l, t, out, false, in, es * NW, es, w, m, mean, got);
    same_sums("tile", (int)t, l, want, got);
    same_sums("tile", (int)t, l, want + NW, got + NW);
  }
}

static void test_spread (void **state) {
  static const DtMap maps[] = { DT_M_ID, DT_M_SQUARE, DT_M_DEV2, DT_M_SPREAD };
  static const DtDtype types[] = { DT_F32, DT_BF16, DT_F16 };
  static float x[NW * NLEN], turned[NW * NLEN];
  static uint32_t in[NW * NLEN], side[NW * NLEN];       /* of any type */
  double mean[NW], want[2 * NW], apart[2 * NW];
  (void)state;
  for (int i = 0; i < NW * NLEN; i++)
    turned[i % NW * NLEN + i / NW] = x[i] = (float)(int32_t)next() * 0x1p-28f;
  turned[7 * NLEN + 5] = x[5 * NW + 7] = NAN;
  for (int k = 0; k < NW; k++) mean[k] = k * 0.25 - 3;
  for (int t = 0; t < 3; t++) {
    int64_t es = (int64_t)dt_dtype_size(types[t]);
    levels[0]->store(DT_CL_F32, x, types[t], in, es, NW * NLEN);
    levels[0]->store(DT_CL_F32, turned, types[t], side, es, NW * NLEN);
    for (int m = 0; m < 4; m++)
      for (int64_t w = NW - 1; w <= NW; w++) {
        same_ways(types[t], types[t], maps[m], w, in, side, mean, want);
        same_ways(types[t], DT_F32, maps[m], w, in, side, mean, want);
      }
    same_ways(types[t], DT_F32, DT_M_SQUARE, NW, in, side, mean, apart);
    same_sums("squares", t, 0, apart, want + NW);
  }
}

/* Extremes of lines of few numbers, zeros of both signs and NaN among them. */
static void test_ordered (void **state) {
  static const uint16_t few[8] = { 0, 0x8000, 0x3f80, 0xbf80, 0xff80, 0x8001,
                                   0xffc0, 0x7fc0 };
  static const DtDtype types[] = { DT_BF16, DT_F16 };
  uint16_t v[300];
  double wide[300], want, got;
  (void)state;
  for (int round = 0; round < 4000; round++) {
    DtDtype t = types[round % 2];
    uint32_t mask = next() % 256 & (round % 5 == 0 ? 255 : 63);
    int64_t n = 1 + next() % 300;
    for (int64_t i = 0; i < n; i++) {
      uint32_t k = next() % 8;
      while (mask != 0 && !(mask >> k & 1)) k = (k + 1) % 8;
      v[i] = few[k];
    }
    levels[0]->load(DT_CL_F64, wide, t, v, 2, n);
    for (int c = DT_C_MAX; c <= DT_C_MIN; c++)
      for (int l = 0; l < nlevels; l++) {
        DtRedJob j = { .cl = DT_CL_F64, .in_t = DT_F64, .nred = 1, .len = n,
                       .red = { { n, 8, 0 } } };
        DtRedPass q = { &j, (const char *)wide, 0, 1, DT_M_ID, (DtComb)c, NULL,
                        &want };
        levels[0]->reduce(&q);
        j.in_t = t;
        j.red[0].in = 2;
        q.p = (const char *)v;
        q.acc = &got;
        levels[l]->reduce(&q);
        if (memcmp(&want, &got, 8) != 0 && !(want != want && got != got))
          fail_msg("round %d, %d, level %d: %a, not %a", round, c, l, got,
                   want);
      }
  }
}

int main (void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_rows), cmocka_unit_test(test_near),
    cmocka_unit_test(test_convert), cmocka_unit_test(test_random),
    cmocka_unit_test(test_softmax), cmocka_unit_test(test_softmax_bf16),
    cmocka_unit_test(test_softmax_alone),
    cmocka_unit_test(test_reduce),
    cmocka_unit_test(test_bf16_rows), cmocka_unit_test(test_bf16_all),
    cmocka_unit_test(test_narrow), cmocka_unit_test(test_spread),
    cmocka_unit_test(test_ordered),
  };
  return cmocka_run_group_tests(tests, find_levels, NULL);
}
