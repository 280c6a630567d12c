/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** test_kernel.c: arithmetic on local tensors, against straightforward
** formulas and finite differences (PyTorch's values: test_suites.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "kernel_util.h"
#include "kernel/kernel_int.h"
#include "kernel/special.h"

static const char *message (DtCtx *cx) { return dt_buf_str(&cx->err.message); }

/* ---- pointwise: layouts, types, errors ------------------------------------------ */

static void test_pointwise_layouts (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int back[] = {2, 1, 0};
  DtTensor *a = rnd(cx, DT_BF16, 3, SHAPE(3, 5, 700), 1);
  DtTensor *b = random_like(cx, make(cx, DT_I32, 3, SHAPE(3, 5, 700), back),
                            2);
  DtTensor *c = rnd(cx, DT_F64, 2, SHAPE(5, 1), 3);
  DtTensor *o = make(cx, DT_F32, 3, SHAPE(3, 5, 700), back);
  OK(dt_k_ternary(cx, DT_T3_addcmul, DT_F32, NULL, a, b, c, o));
  int64_t i[3] = {0};
  do {
    float want = (float)dt_tensor_get(a, i).re +
                 (float)dt_tensor_get(b, i).re * (float)at2(c, i[1], 0);
    expect(DT_F32, dt_tensor_get(o, i).re, want);
  } while (step(&o->m, i));
  DtScalar two = dt_scalar_int(2);
  OK(dt_k_binary(cx, DT_B_add, DT_BF16, &two, a, a, a));        /* in place */
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  dt_tensor_unref(cx, c);
  dt_tensor_unref(cx, o);
}

static void test_integers (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *x = from(cx, DT_I8, 1, SHAPE(4), (double[]){-7, 7, -128, 127});
  DtTensor *y = from(cx, DT_I8, 1, SHAPE(4), (double[]){2, -2, -1, 2});
#define CASE(f, ...) do { \
  DtTensor *o = make(cx, DT_I8, 1, SHAPE(4), NULL); \
  OK(dt_k_binary(cx, f, DT_I8, NULL, x, y, o)); \
  expect_all(cx, o, (double[]){__VA_ARGS__}); } while (0)
  CASE(DT_B_add, -5, 5, 127, -127);
  CASE(DT_B_mul, -14, -14, -128, -2);
  CASE(DT_B_div_floor, -4, -4, -128, 63);
  CASE(DT_B_div_trunc, -3, -3, -128, 63);
  CASE(DT_B_remainder, 1, -1, 0, 1);
  CASE(DT_B_fmod, -1, 1, 0, 1);
  CASE(DT_B_bitwise_left_shift, -28, 0, 0, -4);
  CASE(DT_B_bitwise_right_shift, -2, 0, -1, 31);
#undef CASE
  dt_tensor_unref(cx, y);
  y = from(cx, DT_I8, 1, SHAPE(4), (double[]){1, 1, 0, 1});
  assert_int_equal(dt_k_binary(cx, DT_B_remainder, DT_I8, NULL, x, y, x),
                   DT_E_RUNTIME);
  assert_string_equal(message(cx), "ZeroDivisionError");
  dt_error_clear(cx);
  assert_int_equal(dt_k_binary(cx, DT_B_bitwise_and, DT_F32, NULL, x, y, x),
                   DT_E_NOTIMPL);
  assert_string_equal(message(cx),
                      "\"bitwise_and_cpu\" not implemented for 'Float'");
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
}

/* exp by polynomial: within 1.5 units in the last place everywhere. */
static void test_exp_accuracy (void **state) {
  DtCtx *cx = fixture_cx(state);
  enum { N = 20000 };
  DtTensor *x = make(cx, DT_F32, 1, SHAPE(N), NULL);
  OK(dt_k_arange(cx, x, dt_scalar_float(-104), dt_scalar_float(0.00964)));
  DtTensor *o = make(cx, DT_F32, 1, SHAPE(N), NULL);
  OK(dt_k_unary(cx, DT_U_exp, DT_F32, NULL, x, o));
  const float *v = dt_tensor_cdata(x), *e = dt_tensor_cdata(o);
  for (int i = 0; i < N; i++) {
    double want = exp(v[i]);
    double ulp = nextafterf((float)want, INFINITY) - (float)want;
    if (isinf((float)want)) assert_true(isinf(e[i]));
    else assert_true(fabs(e[i] - want) <= 1.5 * ulp);
  }
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, o);
}

/* ---- copying ------------------------------------------------------------------------ */

/* Orthogonal polynomials: the closed forms agree with the recurrence, and a
** huge degree ends at once with values that satisfy it too. */
static void test_polynomials (void **state) {
  static const double xs[] = {-1, -0.5, 0, 0.3, 1, 1.5};
  int i, kind, n;
  (void)state;
  for (i = 0; i < 6; i++) {
    double x = xs[i], far = 2e7;
    for (kind = 0; kind < 4; kind++)
      for (n = 2; n < 40; n++) {
        double want = 2 * x * dt_sp_chebyshev(kind, x, n - 1) -
                      dt_sp_chebyshev(kind, x, n - 2);
        assert_true(fabs(dt_sp_chebyshev(kind, x, n) - want) <=
                    1e-12 * (1 + n) * (1 + fabs(want)));
      }
    if (fabs(x) < 1) {
      double p = dt_sp_legendre(x, far - 1), q = dt_sp_legendre(x, far);
      assert_true(fabs(dt_sp_legendre(x, far + 1) -
                       ((2 * far + 1) * x * q - far * p) / (far + 1)) < 1e-9);
    }
    if (x > 0) {
      double p = dt_sp_laguerre(x, far - 1), q = dt_sp_laguerre(x, far);
      assert_true(fabs(dt_sp_laguerre(x, far + 1) - ((2 * far + 1 - x) * q -
                       far * p) / (far + 1)) < 1e-5);
    }
    assert_false(isnan(dt_sp_chebyshev(0, x, 1e300)) && fabs(x) <= 1);
    assert_true(dt_sp_hermite(2, x, 1e300) == 0);     /* as PyTorch has it */
  }
}

static void test_copy_types (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int back[] = {1, 0};
  for (int s = 0; s < DT_NDTYPES; s++)
    for (int d = 0; d < DT_NDTYPES; d++) {
      DtTensor *a = from(cx, (DtDtype)s, 2, SHAPE(2, 3),
                         (double[]){0, 1, 2.5, 3, 100, 7});
      DtTensor *o = make(cx, (DtDtype)d, 2, SHAPE(2, 3), back);
      OK(dt_k_copy(cx, a, o));
      int64_t i[2] = {0};
      do {
        unsigned char m[16];
        dt_dtype_store((DtDtype)d, m, dt_tensor_get(a, i));
        assert_true(dt_dtype_load((DtDtype)d, m).re ==
                    dt_tensor_get(o, i).re);
      } while (step(&o->m, i));
      dt_tensor_unref(cx, a);
      dt_tensor_unref(cx, o);
    }
}

/* x[1:] = x[:-1] and x = x^T within one storage. */
static void test_copy_overlap (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *x = make(cx, DT_F32, 1, SHAPE(100), NULL), *a, *b;
  DtMeta m;
  OK(dt_k_arange(cx, x, dt_scalar_int(0), dt_scalar_int(1)));
  OK(dt_meta_init(cx, &m, DT_F32, 1, SHAPE(99)));
  OK(dt_tensor_view(cx, x, &m, 0, &a));
  OK(dt_tensor_view(cx, x, &m, 1, &b));
  OK(dt_k_copy(cx, a, b));
  assert_true(at1(x, 0) == 0 && at1(x, 1) == 0 && at1(x, 99) == 98);
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  OK(dt_meta_init(cx, &m, DT_F32, 2, SHAPE(10, 10)));
  OK(dt_tensor_view(cx, x, &m, 0, &a));
  m.stride[0] = 1;
  m.stride[1] = 10;
  OK(dt_tensor_view(cx, x, &m, 0, &b));
  double was = at2(a, 3, 7);
  OK(dt_k_copy(cx, b, a));
  assert_true(at2(a, 7, 3) == was);
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  dt_tensor_unref(cx, x);
}

/* ---- reductions ------------------------------------------------------------------------ */

/* The reduction of one slice in the plainest way. */
static double naive_reduce (DtReduce f, const double *v, int64_t n) {
  double s = f == DT_RED_PROD || f == DT_RED_ALL ? 1 : 0, mean = 0;
  double max = -INFINITY, min = INFINITY;
  for (int64_t i = 0; i < n; i++) mean += v[i] / (double)n;
  for (int64_t i = 0; i < n; i++) {
    max = fmax(max, v[i]);
    min = fmin(min, v[i]);
    switch (f) {
      case DT_RED_SUM: case DT_RED_MEAN: case DT_RED_NANSUM: s += v[i]; break;
      case DT_RED_PROD: s *= v[i]; break;
      case DT_RED_ANY: s = s != 0 || v[i] != 0; break;
      case DT_RED_ALL: s = s != 0 && v[i] != 0; break;
      case DT_RED_COUNT_NONZERO: s += v[i] != 0; break;
      case DT_RED_LOGSUMEXP: s += exp(v[i]); break;
      case DT_RED_VAR: case DT_RED_STD: s += (v[i] - mean) * (v[i] - mean);
        break;
      default: s += v[i] * v[i];
    }
  }
  switch (f) {
    case DT_RED_MEAN: return mean;
    case DT_RED_MAX: return max;
    case DT_RED_MIN: return min;
    case DT_RED_NORM: return sqrt(s);
    case DT_RED_LOGSUMEXP: return log(s);
    case DT_RED_VAR: return s / (double)(n - 1);
    case DT_RED_STD: return sqrt(s / (double)(n - 1));
    default: return s;
  }
}

/* Reduce dims of a (4, 300, 6) tensor, compare every output. */
static void check_reduce (DtCtx *cx, DtReduce f, const DtTensor *a,
                          uint32_t dims) {
  int64_t shape[3], i[3] = {0};
  static double v[4 * 300 * 6];
  for (int d = 0; d < 3; d++)
    shape[d] = (dims >> d) & 1 ? 1 : a->m.shape[d];
  DtTensor *o = make(cx, DT_F64, 3, shape, NULL);
  OK(dt_k_reduce(cx, f, NULL, a, dims, o));
  do {
    int64_t j[3] = {0}, n = 0;
    do {
      bool in = true;
      for (int d = 0; d < 3; d++) in = in && (((dims >> d) & 1) || i[d] == j[d]);
      if (in) v[n++] = dt_tensor_get(a, j).re;
    } while (step(&a->m, j));
    expect(DT_F32, dt_tensor_get(o, i).re, naive_reduce(f, v, n));
  } while (step(&o->m, i));
  dt_tensor_unref(cx, o);
}

static void test_reduce (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int perm[] = {2, 0, 1};
  DtTensor *a = rnd(cx, DT_F32, 3, SHAPE(4, 300, 6), 5);
  DtTensor *b = make(cx, DT_F32, 3, SHAPE(4, 300, 6), perm);
  OK(dt_k_copy(cx, a, b));
  for (int f = 0; f < DT_NREDUCE; f++)
    for (uint32_t dims = 1; dims < 8; dims += f == 0 ? 1 : 3) {
      check_reduce(cx, (DtReduce)f, a, dims);
      check_reduce(cx, (DtReduce)f, b, dims);
    }
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
}

/* The same numbers in another layout give the same bits. */
static void test_reduce_layout_stable (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int perm[] = {1, 0};
  DtTensor *a = rnd(cx, DT_F32, 2, SHAPE(3000, 33), 6);
  DtTensor *b = make(cx, DT_F32, 2, SHAPE(3000, 33), perm);
  DtTensor *x = make(cx, DT_F64, 1, SHAPE(33), NULL);
  DtTensor *y = make(cx, DT_F64, 1, SHAPE(33), NULL);
  OK(dt_k_copy(cx, a, b));
  OK(dt_k_reduce(cx, DT_RED_SUM, NULL, a, 1, x));
  OK(dt_k_reduce(cx, DT_RED_SUM, NULL, b, 1, y));
  assert_true(dt_tensor_identical(x, y));
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  dt_tensor_unref(cx, x);
  dt_tensor_unref(cx, y);
}

/* Variances: the same bits in another layout, also where the first element lies
** far from all others, or there are more than numbers. */
static void test_reduce_var (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int perm[] = {1, 0};
  static const DtDtype types[] = {DT_F32, DT_BF16, DT_F16};
  enum { LEN = 1500, W = 37 };
  for (int t = 0; t < 3; t++) {
    DtTensor *w = rnd(cx, DT_F64, 2, SHAPE(LEN, W), 6), *a, *b, *c, *x, *y;
    void *p = NULL;
    OK(dt_tensor_data(cx, w, &p));
    double *v = p, ends[] = {1000, -30, INFINITY, NAN, 0};
    for (int k = 0; k < COUNT(ends); k++) v[k] = ends[k];
    for (int i = 0; i < LEN; i++) v[i * W + 7] = 3.25;
    a = make(cx, types[t], 2, SHAPE(LEN, W), NULL);
    b = make(cx, types[t], 2, SHAPE(LEN, W), perm);
    x = make(cx, types[t], 1, SHAPE(W), NULL);
    y = make(cx, types[t], 1, SHAPE(W), NULL);
    OK(dt_k_copy(cx, w, a));
    OK(dt_k_copy(cx, a, w));
    OK(dt_k_copy(cx, a, b));
    OK(dt_k_reduce(cx, DT_RED_VAR, NULL, a, 1, x));
    OK(dt_k_reduce(cx, DT_RED_VAR, NULL, b, 1, y));
    assert_true(dt_tensor_identical(x, y));
    c = make(cx, types[t], 2, SHAPE(LEN, 2 * W), NULL);
    DtTensor apart = dt_stack_view(c);  /* every second column */
    apart.m.shape[1] = W;
    apart.m.stride[1] = 2;
    OK(dt_k_copy(cx, a, &apart));
    OK(dt_k_reduce(cx, DT_RED_VAR, NULL, &apart, 1, y));
    assert_true(dt_tensor_identical(x, y));
    OK(dt_k_reduce(cx, DT_RED_SUM, NULL, a, 1, x));
    OK(dt_k_reduce(cx, DT_RED_SUM, NULL, &apart, 1, y));
    if (types[t] != DT_F32)             /* whose order is PyTorch's: by layout */
      assert_true(dt_tensor_identical(x, y));
    OK(dt_k_reduce(cx, DT_RED_VAR, NULL, a, 1, x));
    DtTensor *got = make(cx, DT_F64, 1, SHAPE(W), NULL);
    OK(dt_k_copy(cx, x, got));
    OK(dt_tensor_data(cx, got, &p));
    for (int k = 0; k < W; k++) {
      double column[LEN], r = ((double *)p)[k];
      for (int i = 0; i < LEN; i++) column[i] = v[i * W + k];
      double want = naive_reduce(DT_RED_VAR, column, LEN);
      if (want != want) assert_true(r != r);
      else if (!(fabs(r - want) <= 1e-20 + want * (t == 0 ? 2e-7 : 0x1p-8)))
        fail_msg("type %d, column %d: %a, not %a", t, k, r, want);
    }
    DtTensor *const own[] = {w, a, b, c, x, y, got};
    for (int k = 0; k < COUNT(own); k++) dt_tensor_unref(cx, own[k]);
  }
}

/* A deviation is a number where its square is one in double only. */
static void test_reduce_large (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const DtDtype types[] = {DT_F32, DT_BF16};
  for (int t = 0; t < 2; t++) {
    DtTensor *w = make(cx, DT_F64, 2, SHAPE(2, 3), NULL);
    DtTensor *a = make(cx, types[t], 2, SHAPE(2, 3), NULL);
    DtTensor *o = make(cx, types[t], 1, SHAPE(3), NULL);
    void *p = NULL;
    OK(dt_tensor_data(cx, w, &p));
    for (int i = 0; i < 6; i++)
      ((double *)p)[i] = ldexp(i < 3 ? -1 : 1, 70 + i % 3);
    OK(dt_k_copy(cx, w, a));
    for (int correction = 0; correction < 2; correction++) {
      DtScalar c = dt_scalar_int(correction);
      OK(dt_k_reduce(cx, DT_RED_STD, &c, a, 1, o));
      for (int64_t i = 0; i < 3; i++)
        expect(types[t], dt_tensor_get(o, SHAPE(i)).re,
               ldexp(correction ? sqrt(2) : 1, 70 + (int)i));
      OK(dt_k_reduce(cx, DT_RED_VAR, &c, a, 1, o));
      assert_true(isinf(dt_tensor_get(o, SHAPE(2)).re));
    }
    DtTensor *const own[] = {w, a, o};
    for (int k = 0; k < COUNT(own); k++) dt_tensor_unref(cx, own[k]);
  }
}

static void test_reduce_empty (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const struct { DtReduce f; double want; } cases[] = {
    {DT_RED_SUM, 0}, {DT_RED_PROD, 1}, {DT_RED_MEAN, NAN}, {DT_RED_ANY, 0},
    {DT_RED_ALL, 1}, {DT_RED_NORM, 0}, {DT_RED_VAR, NAN},
    {DT_RED_LOGSUMEXP, -INFINITY}, {DT_RED_COUNT_NONZERO, 0},
  };
  DtTensor *a = make(cx, DT_F32, 2, SHAPE(2, 0), NULL);
  for (int i = 0; i < COUNT(cases); i++) {
    DtTensor *o = make(cx, DT_F32, 1, SHAPE(2), NULL);
    OK(dt_k_reduce(cx, cases[i].f, NULL, a, 2, o));
    expect_all(cx, o, (double[]){cases[i].want, cases[i].want});
  }
  dt_tensor_unref(cx, a);
}

/* ---- matrix products ---------------------------------------------------------------------- */

static void check_gemm (DtCtx *cx, DtDtype t, int bits, double alpha,
                        double beta) {
  static const int plain[] = {0, 1, 2}, trans[] = {0, 2, 1};
  DtTensor *a = random_like(cx, make(cx, t, 3, SHAPE(2, 4, 5),
                                     bits & 1 ? trans : plain), 1);
  DtTensor *b = random_like(cx, make(cx, t, 3, SHAPE(2, 5, 3),
                                     bits & 2 ? trans : plain), 2);
  DtTensor *c = random_like(cx, make(cx, t, 3, SHAPE(2, 4, 3),
                                     bits & 4 ? trans : plain), 3);
  DtTensor *o = make(cx, t, 3, SHAPE(2, 4, 3), bits & 4 ? trans : plain);
  OK(dt_k_copy(cx, c, o));
  OK(dt_k_gemm(cx, alpha, a, b, beta, o));
  int64_t i[3] = {0};
  do {
    double s = 0;
    for (int64_t k = 0; k < 5; k++)
      s += at3(a, i[0], i[1], k) * at3(b, i[0], k, i[2]);
    double want = alpha * s + beta * dt_tensor_get(c, i).re;
    unsigned char m[16];
    dt_dtype_store(t, m, dt_scalar_float(want));
    expect(t, dt_tensor_get(o, i).re, dt_dtype_load(t, m).re);
  } while (step(&o->m, i));
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  dt_tensor_unref(cx, c);
  dt_tensor_unref(cx, o);
}

static void test_gemm (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const DtDtype types[] = {DT_F32, DT_F64, DT_BF16, DT_F16, DT_I64,
                                  DT_I32, DT_I8};
  for (int t = 0; t < COUNT(types); t++)
    for (int bits = 0; bits < 8; bits++) {
      check_gemm(cx, types[t], bits, 1, 0);
      check_gemm(cx, types[t], bits, 2, 3);
    }
}

static void test_gemm_edges (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = make(cx, DT_F32, 2, SHAPE(2, 0), NULL);
  DtTensor *b = make(cx, DT_F32, 2, SHAPE(0, 2), NULL);
  DtTensor *o = from(cx, DT_F32, 2, SHAPE(2, 2), (double[]){1, 2, 3, 4});
  OK(dt_k_gemm(cx, 1, a, b, 2, o));
  assert_true(at2(o, 1, 1) == 8);
  OK(dt_k_gemm(cx, 1, a, b, 0, o));
  assert_true(at2(o, 1, 1) == 0);
  dt_tensor_unref(cx, a);
  dt_tensor_unref(cx, b);
  a = from(cx, DT_F32, 2, SHAPE(2, 2), (double[]){1, 2, 3, 4});
  set(cx, o, (double[]){NAN, NAN, NAN, NAN});
  OK(dt_k_gemm(cx, 1, a, a, 0, o));             /* beta 0 does not read out */
  expect_all(cx, o, (double[]){7, 10, 15, 22});
  dt_tensor_unref(cx, a);
}

int main (void) {
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(test_pointwise_layouts), T(test_integers),
    T(test_exp_accuracy), T(test_polynomials),
    T(test_copy_types), T(test_copy_overlap),
    T(test_reduce), T(test_reduce_layout_stable), T(test_reduce_empty),
    T(test_reduce_var), T(test_reduce_large),
    T(test_gemm), T(test_gemm_edges),
  };
#undef T
  return cmocka_run_group_tests(tests, NULL, NULL);
}
