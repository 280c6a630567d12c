/* SPDX-License-Identifier: MIT
** TEST: tags=one_thread
** test_kernel_nn.c: softmax, norms, attention, indexing, order, factories,
** buffers, against straightforward formulas and finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "kernel_util.h"
#include "kernel/spatial.h"

static const char *message (DtCtx *cx) { return dt_buf_str(&cx->err.message); }

static double sum_product (const DtTensor *a, const DtTensor *b) {
  int64_t i[DT_MAX_NDIM] = {0};
  double s = 0;
  do s += dt_tensor_get(a, i).re * dt_tensor_get(b, i).re;
  while (step(&a->m, i));
  return s;
}

/* ---- gradients by finite differences --------------------------------------------- */

/* Computes the output of the function under test from its inputs. */
typedef void (*Forward) (DtCtx *cx, DtTensor **in, DtTensor *out);

/* grad of sum(out * g) with respect to in[which], element by element. */
static void check_grad (DtCtx *cx, Forward f, DtTensor **in, int which,
                        DtTensor *out, const DtTensor *g,
                        const DtTensor *grad) {
  const double h = 1e-5;
  int64_t i[DT_MAX_NDIM] = {0};
  DtTensor *x = in[which];
  do {
    double was = dt_tensor_get(x, i).re;
    put(cx, x, i, dt_scalar_float(was + h));
    f(cx, in, out);
    double up = sum_product(out, g);
    put(cx, x, i, dt_scalar_float(was - h));
    f(cx, in, out);
    double down = sum_product(out, g), want = (up - down) / (2 * h);
    put(cx, x, i, dt_scalar_float(was));
    double got = dt_tensor_get(grad, i).re;
    if (fabs(got - want) > 1e-6 * (1 + fabs(want)))
      fail_msg("input %d: got %.9g, want %.9g", which, got, want);
  } while (step(&x->m, i));
}

static void unref_all (DtCtx *cx, int n, DtTensor **t) {
  for (int i = 0; i < n; i++) dt_tensor_unref(cx, t[i]);
}

/* ---- convolution --------------------------------------------------------------------- */

/* y[o, i] as its definition has it. */
static double conv_at (const DtConv *v, const DtTensor *x, const DtTensor *w,
                       const int64_t *at) {
  int64_t per = v->c / v->groups, c0 = at[1] / (v->o / v->groups) * per;
  double sum = 0;
  for (int64_t c = 0; c < per; c++)
    for (int64_t i = 0; i < v->k[1]; i++)
      for (int64_t j = 0; j < v->k[2]; j++) {
        int64_t p = at[2] * v->stride[1] + i * v->dil[1] - v->pad[1];
        int64_t q = at[3] * v->stride[2] + j * v->dil[2] - v->pad[2];
        if (p < 0 || p >= v->x[1] || q < 0 || q >= v->x[2]) continue;
        sum += dt_tensor_get(x, SHAPE(at[0], c0 + c, p, q)).re *
               dt_tensor_get(w, SHAPE(at[1], c, i, j)).re;
      }
  return sum;
}

/* Forward against its definition, the two gradients as its transposes: the
** sums of y y', x x', w w' agree.  `y` has more positions than one block of
** columns holds in the last case. */
static void test_conv (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const DtConv cases[] = {
    { 2, 4, 6, 2, {1, 7, 9}, {1, 4, 8}, {1, 3, 2}, {1, 2, 1}, {0, 1, 0},
      {1, 1, 1} },
    { 2, 3, 2, 1, {1, 6, 8}, {1, 2, 6}, {1, 3, 3}, {1, 1, 2}, {0, 0, 3},
      {1, 2, 1} },
    { 1, 2048, 1, 1, {1, 9, 11}, {1, 9, 11}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1},
      {1, 1, 1} },
  };
  for (int k = 0; k < COUNT(cases); k++) {
    const DtConv *v = &cases[k];
    int64_t xs[4] = {v->n, v->c, v->x[1], v->x[2]};
    int64_t ws[4] = {v->o, v->c / v->groups, v->k[1], v->k[2]};
    int64_t ys[4] = {v->n, v->o, v->y[1], v->y[2]}, at[4] = {0};
    DtTensor *t[7] = {
      rnd(cx, DT_F64, 4, xs, 1), rnd(cx, DT_F64, 4, ws, 2),
      make(cx, DT_F64, 4, ys, NULL), rnd(cx, DT_F64, 4, ys, 3),
      make(cx, DT_F64, 4, xs, (int[]){0, 2, 3, 1}),
      make(cx, DT_F64, 4, ws, NULL), rnd(cx, DT_F64, 1, ys + 1, 4),
    };
    OK(dt_k_conv(cx, DT_CONV_Y, v, t[0], t[1], t[2], NULL));
    do {
      double got = dt_tensor_get(t[2], at).re;
      assert_true(fabs(got - conv_at(v, t[0], t[1], at)) < 1e-9);
    } while (step(&t[2]->m, at));
    OK(dt_k_conv(cx, DT_CONV_X, v, t[4], t[1], t[3], NULL));
    OK(dt_k_conv(cx, DT_CONV_W, v, t[0], t[5], t[3], NULL));
    double want = sum_product(t[2], t[3]);
    assert_true(fabs(sum_product(t[0], t[4]) - want) < 1e-8);
    assert_true(fabs(sum_product(t[1], t[5]) - want) < 1e-8);
    double was = dt_tensor_get(t[2], SHAPE(0, 0, 1, 1)).re;
    OK(dt_k_conv(cx, DT_CONV_Y, v, t[0], t[1], t[2], t[6]));
    assert_true(fabs(dt_tensor_get(t[2], SHAPE(0, 0, 1, 1)).re - was -
                     dt_tensor_get(t[6], SHAPE(0)).re) < 1e-12);
    unref_all(cx, 7, t);
  }
}

/* ---- large tensors of 16-bit numbers ------------------------------------------------- */

/* A function looked up gives what it gives for a few elements. */
static void test_many16 (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const DtDtype types[] = {DT_F16, DT_BF16};
  enum { ROWS = 300, COLS = 1001 };
  for (int k = 0; k < 2; k++) {
    DtTensor *a = rnd(cx, types[k], 2, SHAPE(ROWS, COLS), 5);
    DtTensor *all = make(cx, types[k], 2, SHAPE(ROWS, COLS), (int[]){1, 0});
    DtTensor *some = make(cx, types[k], 1, SHAPE(COLS), NULL);
    OK(dt_k_unary(cx, DT_U_log, types[k], NULL, a, all));
    for (int64_t r = 0; r < ROWS; r += 37) {
      DtTensor row = *a;
      row.m.ndim = 1;
      row.m.shape[0] = COLS;
      row.m.stride[0] = 1;
      row.offset += r * COLS;
      OK(dt_k_unary(cx, DT_U_log, types[k], NULL, &row, some));
      for (int64_t c = 0; c < COLS; c++) {
        double x = dt_tensor_get(all, SHAPE(r, c)).re;
        double y = dt_tensor_get(some, SHAPE(c)).re;
        assert_true(x == y || (x != x && y != y));
      }
    }
    unref_all(cx, 3, (DtTensor *[]){a, all, some});
  }
}

/* ---- softmax ------------------------------------------------------------------------ */

static void softmax_0 (DtCtx *cx, DtTensor **in, DtTensor *out) {
  OK(dt_k_softmax(cx, false, in[0], 0, out));
}

static void log_softmax_1 (DtCtx *cx, DtTensor **in, DtTensor *out) {
  OK(dt_k_softmax(cx, true, in[0], 1, out));
}

static void test_softmax (void **state) {
  DtCtx *cx = fixture_cx(state);
  for (int dim = 0; dim < 2; dim++) {
    DtTensor *x = rnd(cx, DT_F64, 2, SHAPE(4, 5), 1);
    DtTensor *g = rnd(cx, DT_F64, 2, SHAPE(4, 5), 2);
    DtTensor *o = make(cx, DT_F64, 2, SHAPE(4, 5), NULL);
    DtTensor *gx = make(cx, DT_F64, 2, SHAPE(4, 5), NULL);
    bool lg = dim == 1;
    OK(dt_k_softmax(cx, lg, x, dim, o));
    double s = 0, want = exp(at2(x, 1, 2));
    for (int64_t k = 0; k < (dim ? 5 : 4); k++)
      s += exp(dim ? at2(x, 1, k) : at2(x, k, 2));
    expect(DT_F64, at2(o, 1, 2), lg ? log(want / s) : want / s);
    OK(dt_k_softmax_backward(cx, lg, g, o, dim, gx));
    check_grad(cx, lg ? log_softmax_1 : softmax_0, &x, 0, o, g, gx);
    unref_all(cx, 4, (DtTensor *[]){x, g, o, gx});
  }
}

static void test_softmax_edges (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *x = from(cx, DT_F32, 2, SHAPE(2, 2),
                     (double[]){-INFINITY, -INFINITY, 1000, 0});
  OK(dt_k_softmax(cx, false, x, 1, x));         /* in place */
  expect_all(cx, x, (double[]){NAN, NAN, 1, 0});
  x = from(cx, DT_F32, 0, NULL, (double[]){3});
  OK(dt_k_softmax(cx, false, x, 0, x));
  expect_all(cx, x, (double[]){1});
}

/* ---- norms --------------------------------------------------------------------------- */

static DtTensor *stat (DtCtx *cx) {
  return make(cx, DT_F64, 3, SHAPE(3, 1, 1), NULL);
}

static void layer_norm_f (DtCtx *cx, DtTensor **in, DtTensor *out) {
  OK(dt_k_layer_norm(cx, false, in[0], 2, &(DtAffine){in[1], in[2], 1e-5},
                     &(DtNormed){.out = out}));
}

static void rms_norm_f (DtCtx *cx, DtTensor **in, DtTensor *out) {
  OK(dt_k_layer_norm(cx, true, in[0], 2, &(DtAffine){in[1], NULL, 1e-5},
                     &(DtNormed){.out = out}));
}

static void check_norm (DtCtx *cx, bool rms) {
  DtTensor *in[3] = {rnd(cx, DT_F64, 3, SHAPE(3, 2, 4), 1),
                     rnd(cx, DT_F64, 2, SHAPE(2, 4), 2),
                     rnd(cx, DT_F64, 2, SHAPE(2, 4), 3)};
  DtTensor *g = rnd(cx, DT_F64, 3, SHAPE(3, 2, 4), 4);
  DtTensor *o = make(cx, DT_F64, 3, SHAPE(3, 2, 4), NULL);
  DtTensor *mean = stat(cx), *rstd = stat(cx);
  DtTensor *gi[3] = {make(cx, DT_F64, 3, SHAPE(3, 2, 4), NULL),
                     make(cx, DT_F64, 2, SHAPE(2, 4), NULL),
                     make(cx, DT_F64, 2, SHAPE(2, 4), NULL)};
  OK(dt_k_layer_norm(cx, rms, in[0], 2,
                     &(DtAffine){in[1], rms ? NULL : in[2], 1e-5},
                     &(DtNormed){o, mean, rstd}));
  double m = 0, v = 0;
  for (int64_t k = 0; k < 8; k++) m += at3(in[0], 1, k / 4, k % 4) / 8;
  if (rms) m = 0;
  for (int64_t k = 0; k < 8; k++)
    v += pow(at3(in[0], 1, k / 4, k % 4) - m, 2) / 8;
  double r = 1 / sqrt(v + 1e-5);
  expect(DT_F64, at3(mean, 1, 0, 0), m);
  expect(DT_F64, at3(rstd, 1, 0, 0), r);
  expect(DT_F64, at3(o, 1, 1, 2), (at3(in[0], 1, 1, 2) - m) * r *
         at2(in[1], 1, 2) + (rms ? 0 : at2(in[2], 1, 2)));
  OK(dt_k_layer_norm_backward(cx, rms, g,
                              &(DtNormSaved){in[0], mean, rstd, in[1]}, 2,
                              &(DtNormGrads){gi[0], gi[1],
                                             rms ? NULL : gi[2]}));
  for (int k = 0; k < (rms ? 2 : 3); k++)
    check_grad(cx, rms ? rms_norm_f : layer_norm_f, in, k, o, g, gi[k]);
  unref_all(cx, 3, in);
  unref_all(cx, 3, gi);
  unref_all(cx, 4, (DtTensor *[]){g, o, mean, rstd});
}

static void test_norms (void **state) {
  check_norm(fixture_cx(state), false);
  check_norm(fixture_cx(state), true);
}

/* ---- attention ------------------------------------------------------------------------- */

static bool att_causal;
static const DtTensor *att_bias;

static void attention_f (DtCtx *cx, DtTensor **in, DtTensor *out) {
  OK(dt_k_attention(cx, &(DtAttention){in[0], in[1], in[2], att_bias,
                                       att_causal, 0.4}, out, NULL));
}

static void check_attention (DtCtx *cx, bool causal, DtTensor *bias) {
  DtTensor *in[3] = {rnd(cx, DT_F64, 4, SHAPE(1, 4, 3, 5), 1),
                     rnd(cx, DT_F64, 4, SHAPE(1, 2, 4, 5), 2),
                     rnd(cx, DT_F64, 4, SHAPE(1, 2, 4, 2), 3)};
  DtTensor *g = rnd(cx, DT_F64, 4, SHAPE(1, 4, 3, 2), 4);
  DtTensor *o = make(cx, DT_F64, 4, SHAPE(1, 4, 3, 2), NULL);
  DtTensor *lse = make(cx, DT_F64, 3, SHAPE(1, 4, 3), NULL);
  DtTensor *d[3];
  for (int i = 0; i < 3; i++) OK(dt_tensor_new(cx, &in[i]->m, false, &d[i]));
  att_causal = causal;
  att_bias = bias;
  const DtAttention p = {in[0], in[1], in[2], bias, causal, 0.4};
  OK(dt_k_attention(cx, &p, o, lse));
  double sum = 0, out = 0;                      /* head 3, row 1, column 0 */
  for (int64_t j = 0; j < 4; j++) {
    double s = 0;
    for (int64_t e = 0; e < 5; e++)
      s += dt_tensor_get(in[0], SHAPE(0, 3, 1, e)).re *
           dt_tensor_get(in[1], SHAPE(0, 1, j, e)).re * 0.4;
    if (bias != NULL && bias->m.dtype != DT_BOOL) s += at2(bias, 1, j);
    if (bias != NULL && bias->m.dtype == DT_BOOL && at2(bias, 1, j) == 0)
      continue;
    if (causal && j > 1) continue;
    sum += exp(s);
    out += exp(s) * dt_tensor_get(in[2], SHAPE(0, 1, j, 0)).re;
  }
  expect(DT_F64, dt_tensor_get(o, SHAPE(0, 3, 1, 0)).re, out / sum);
  expect(DT_F64, dt_tensor_get(lse, SHAPE(0, 3, 1)).re, log(sum));
  OK(dt_k_attention_backward(cx, &p, g, o, lse, d));
  DtTensor *tmp;
  OK(dt_tensor_new(cx, &o->m, false, &tmp));
  for (int i = 0; i < 3; i++)
    check_grad(cx, attention_f, in, i, tmp, g, d[i]);
  unref_all(cx, 3, in);
  unref_all(cx, 3, d);
  unref_all(cx, 4, (DtTensor *[]){g, o, lse, tmp});
  dt_tensor_unref(cx, bias);
}

static void test_attention (void **state) {
  DtCtx *cx = fixture_cx(state);
  check_attention(cx, false, NULL);
  check_attention(cx, true, NULL);
  check_attention(cx, false, rnd(cx, DT_F64, 2, SHAPE(3, 4), 9));
  check_attention(cx, false, from(cx, DT_BOOL, 2, SHAPE(3, 4),
                  (double[]){1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0}));
}

/* A row without any key gives 0, as PyTorch's fused attention does. */
static void test_attention_masked_row (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *q = rnd(cx, DT_F32, 2, SHAPE(2, 4), 1);
  DtTensor *v = from(cx, DT_F32, 2, SHAPE(2, 1), (double[]){1, 3});
  DtTensor *b = from(cx, DT_BOOL, 2, SHAPE(2, 2), (double[]){1, 0, 0, 0});
  DtTensor *o = make(cx, DT_F32, 2, SHAPE(2, 1), NULL);
  OK(dt_k_attention(cx, &(DtAttention){q, q, v, b, false, 1}, o, NULL));
  expect_all(cx, o, (double[]){1, 0});
  unref_all(cx, 3, (DtTensor *[]){q, v, b});
}

/* ---- indexing ----------------------------------------------------------------------------- */

static void test_gather_scatter (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = from(cx, DT_F32, 2, SHAPE(2, 3), (double[]){0, 1, 2, 3, 4, 5});
  DtTensor *ix = from(cx, DT_I32, 2, SHAPE(2, 2), (double[]){2, 0, 1, 1});
  DtTensor *src = from(cx, DT_F64, 2, SHAPE(2, 2), (double[]){10, 20, 3, 40});
  DtTensor *o = make(cx, DT_F32, 2, SHAPE(2, 2), NULL);
  OK(dt_k_gather(cx, a, 1, ix, o));
  expect_all(cx, o, (double[]){2, 0, 4, 4});
  static const double want[][6] = {
    {20, 1, 10, 3, 40, 5}, {20, 1, 12, 3, 47, 5}, {0, 1, 20, 3, 480, 5},
    {20, 1, 10, 3, 40, 5}, {0, 1, 2, 3, 3, 5},
  };
  for (int f = 0; f <= DT_SC_MIN; f++) {
    DtTensor *d = from(cx, DT_F32, 2, SHAPE(2, 3),
                       (double[]){0, 1, 2, 3, 4, 5});
    OK(dt_k_scatter(cx, (DtScatter)f, d, 1, ix, src));
    expect_all(cx, d, want[f]);
  }
  set(cx, ix, (double[]){0, 3, 0, 0});
  o = make(cx, DT_F32, 2, SHAPE(2, 2), NULL);
  assert_int_equal(dt_k_gather(cx, a, 1, ix, o), DT_E_RUNTIME);
  assert_string_equal(message(cx),
                      "index 3 is out of bounds for dimension 1 with size 3");
  dt_error_clear(cx);
  assert_int_equal(dt_k_scatter(cx, DT_SC_ADD, a, 1, ix, src), DT_E_RUNTIME);
  unref_all(cx, 4, (DtTensor *[]){a, ix, src, o});
}

static void test_index_select_add (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = from(cx, DT_F32, 2, SHAPE(2, 3), (double[]){0, 1, 2, 3, 4, 5});
  DtTensor *ix = from(cx, DT_I64, 1, SHAPE(3), (double[]){1, 0, 1});
  DtTensor *o = make(cx, DT_F32, 2, SHAPE(3, 3), NULL);
  OK(dt_k_index_select(cx, a, 0, ix, o));
  OK(dt_k_index_add(cx, a, 0, ix, o, dt_scalar_float(0.5)));
  expect_all(cx, o, (double[]){3, 4, 5, 0, 1, 2, 3, 4, 5});
  o = make(cx, DT_F32, 2, SHAPE(2, 3), NULL);
  OK(dt_k_index_select(cx, a, 1, ix, o));
  expect_all(cx, o, (double[]){1.5, 0, 1.5, 8, 6, 8});
  o = make(cx, DT_F32, 2, SHAPE(3, 3), NULL);
  set(cx, ix, (double[]){1, 2, 1});
  assert_int_equal(dt_k_index_select(cx, a, 0, ix, o), DT_E_INDEX);
  assert_string_equal(message(cx), "index out of range in self");
  unref_all(cx, 3, (DtTensor *[]){a, ix, o});
}

/* a[:, ix, jx] and a[ix, :, jx] of a (2, 3, 4) tensor. */
static void test_advanced_index (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = rnd(cx, DT_F32, 3, SHAPE(2, 3, 4), 1);
  DtTensor *ix = from(cx, DT_I64, 2, SHAPE(2, 1), (double[]){1, -1});
  DtTensor *jx = from(cx, DT_I64, 1, SHAPE(3), (double[]){3, 0, -4});
  const DtTensor *inner[3] = {NULL, ix, jx}, *outer[3] = {ix, NULL, jx};
  DtTensor *o = make(cx, DT_F32, 3, SHAPE(2, 2, 3), NULL);
  OK(dt_k_index(cx, a, 3, inner, 1, o));
  DtTensor *p = make(cx, DT_F32, 3, SHAPE(2, 3, 3), NULL);
  OK(dt_k_index(cx, a, 3, outer, 0, p));
  static const int64_t j[3] = {3, 0, 0};
  for (int64_t k = 0; k < 2; k++)
    for (int64_t x = 0; x < 3; x++)
      for (int64_t b = 0; b < 3; b++) {
        if (b < 2) expect(DT_F32, at3(o, b, k, x), at3(a, b, 1 + k, j[x]));
        expect(DT_F32, at3(p, k, x, b), at3(a, 1, b, j[x]));
      }
  OK(dt_k_fill(cx, o, dt_scalar_int(0)));
  OK(dt_k_fill(cx, a, dt_scalar_int(0)));
  DtTensor *one = from(cx, DT_I32, 0, NULL, (double[]){1});
  OK(dt_k_index_put(cx, a, 3, inner, 1, one, true));
  assert_true(at3(a, 0, 1, 0) == 2 && at3(a, 1, 2, 3) == 1);
  assert_true(at3(a, 0, 0, 0) == 0);
  OK(dt_k_index_put(cx, a, 3, inner, 1, one, false));
  assert_true(at3(a, 0, 1, 0) == 1);
  set(cx, ix, (double[]){3, 0});
  assert_int_equal(dt_k_index(cx, a, 3, inner, 1, o), DT_E_INDEX);
  assert_string_equal(message(cx),
                      "index 3 is out of bounds for dimension 0 with size 3");
  unref_all(cx, 6, (DtTensor *[]){a, ix, jx, o, p, one});
}

static void test_nonzero (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = from(cx, DT_F32, 2, SHAPE(2, 3),
                     (double[]){0, NAN, -0.0, 2, 0, 1});
  DtTensor *o = make(cx, DT_I64, 2, SHAPE(3, 2), NULL);
  OK(dt_k_nonzero(cx, a, o));
  expect_all(cx, o, (double[]){0, 1, 1, 0, 1, 2});
  o = make(cx, DT_I64, 2, SHAPE(0, 2), NULL);
  OK(dt_k_nonzero(cx, a, o));
  dt_tensor_unref(cx, o);
  dt_tensor_unref(cx, a);
}

static void test_embedding_backward (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *g = from(cx, DT_F32, 2, SHAPE(4, 2),
                     (double[]){1, 2, 3, 4, 5, 6, 7, 8});
  DtTensor *ix = from(cx, DT_I64, 1, SHAPE(4), (double[]){2, 0, 2, 1});
  for (int scale = 0; scale < 2; scale++) {
    DtTensor *o = make(cx, DT_F32, 2, SHAPE(3, 2), NULL);
    OK(dt_k_embedding_backward(cx, g, ix, 1, scale, o));
    expect_all(cx, o, scale ? (double[]){3, 4, 0, 0, 3, 4}
                            : (double[]){3, 4, 0, 0, 6, 8});
  }
  unref_all(cx, 2, (DtTensor *[]){g, ix});
}

static void test_movement (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = from(cx, DT_I64, 2, SHAPE(2, 2), (double[]){1, 2, 3, 4});
  DtTensor *e = make(cx, DT_F32, 1, SHAPE(0), NULL);
  DtTensor *o = make(cx, DT_F32, 2, SHAPE(2, 4), NULL);
  OK(dt_k_cat(cx, 3, (const DtTensor *[]){a, e, a}, 1, o));
  expect_all(cx, o, (double[]){1, 2, 1, 2, 3, 4, 3, 4});
  o = make(cx, DT_I64, 2, SHAPE(3, 2), NULL);
  OK(dt_k_constant_pad(cx, a, 4, SHAPE(-1, 1, 1, 0), dt_scalar_int(9), o));
  expect_all(cx, o, (double[]){9, 9, 2, 9, 4, 9});
  o = make(cx, DT_I64, 2, SHAPE(2, 2), NULL);
  OK(dt_k_flip(cx, a, 3, o));
  expect_all(cx, o, (double[]){4, 3, 2, 1});
  o = make(cx, DT_I64, 2, SHAPE(2, 2), NULL);
  OK(dt_k_roll(cx, a, 2, SHAPE(1, -1), SHAPE(0, 1), o));
  expect_all(cx, o, (double[]){4, 3, 2, 1});
  unref_all(cx, 2, (DtTensor *[]){a, e});
}

/* ---- order ------------------------------------------------------------------------------------ */

static void test_arg_reduce (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *a = from(cx, DT_F32, 2, SHAPE(2, 3),
                     (double[]){1, 5, 5, NAN, 0, -2});
  for (int max = 0; max < 2; max++) {
    DtTensor *v = make(cx, DT_F32, 1, SHAPE(2), NULL);
    DtTensor *ix = make(cx, DT_I64, 2, SHAPE(2, 1), NULL);
    OK(dt_k_arg_reduce(cx, max, a, 1, v, ix));
    expect_all(cx, v, max ? (double[]){5, NAN} : (double[]){1, NAN});
    expect_all(cx, ix, max ? (double[]){1, 0} : (double[]){0, 0});
  }
  DtTensor *ix = make(cx, DT_I64, 0, NULL, NULL);
  OK(dt_k_arg_reduce(cx, false, a, -1, NULL, ix));
  expect_all(cx, ix, (double[]){3});
  dt_tensor_unref(cx, a);
}

static void test_scan (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const double want[][4] = {
    {1, 3, 0, 2}, {1, 2, -6, -12}, {1, 2, 2, 2}, {1, 1, -3, -3},
  };
  static const double at[][4] = {{0, 1, 1, 3}, {0, 0, 2, 2}};
  DtTensor *a = from(cx, DT_I32, 1, SHAPE(4), (double[]){1, 2, -3, 2});
  for (int f = 0; f < 4; f++) {
    DtTensor *v = make(cx, DT_I64, 1, SHAPE(4), NULL);
    DtTensor *ix = make(cx, DT_I64, 1, SHAPE(4), NULL);
    OK(dt_k_scan(cx, (DtScan)f, a, 0, v, f < 2 ? NULL : ix));
    expect_all(cx, v, want[f]);
    if (f >= 2) expect_all(cx, ix, at[f - 2]);
    else dt_tensor_unref(cx, ix);
  }
  dt_tensor_unref(cx, a);
  a = from(cx, DT_F64, 1, SHAPE(3), (double[]){0, 0, NAN});
  OK(dt_k_scan(cx, DT_SCAN_LOGSUMEXP, a, 0, a, NULL));
  expect_all(cx, a, (double[]){0, log(2), NAN});
}

static void test_sort (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const double up[] = {1, 2, 2, 3, NAN}, ui[] = {1, 0, 4, 3, 2};
  static const double down[] = {NAN, 3, 2, 2, 1}, di[] = {2, 3, 0, 4, 1};
  DtTensor *a = from(cx, DT_F32, 1, SHAPE(5), (double[]){2, 1, NAN, 3, 2});
  for (int d = 0; d < 2; d++) {
    DtTensor *v = make(cx, DT_F32, 1, SHAPE(5), NULL);
    DtTensor *ix = make(cx, DT_I64, 1, SHAPE(5), NULL);
    OK(dt_k_sort(cx, a, 0, d, true, v, ix));
    expect_all(cx, v, d ? down : up);
    expect_all(cx, ix, d ? di : ui);
  }
  DtTensor *v = make(cx, DT_F32, 1, SHAPE(2), NULL);
  DtTensor *ix = make(cx, DT_I64, 1, SHAPE(2), NULL);
  OK(dt_k_topk(cx, a, 2, 0, false, v, ix));
  expect_all(cx, v, up);
  expect_all(cx, ix, ui);
  dt_tensor_unref(cx, a);
}

/* ---- factories and buffers ---------------------------------------------------------------------- */

static void test_factories (void **state) {
  DtCtx *cx = fixture_cx(state);
  DtTensor *o = make(cx, DT_I32, 1, SHAPE(3), NULL);
  OK(dt_k_arange(cx, o, dt_scalar_int(5), dt_scalar_int(-2)));
  expect_all(cx, o, (double[]){5, 3, 1});
  o = make(cx, DT_F32, 2, SHAPE(3, 2), NULL);
  OK(dt_k_eye(cx, o));
  expect_all(cx, o, (double[]){1, 0, 0, 1, 0, 0});
  DtTensor *a = from(cx, DT_F32, 2, SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6});
  o = make(cx, DT_F32, 2, SHAPE(2, 3), NULL);
  OK(dt_k_tri(cx, a, 0, false, o));
  expect_all(cx, o, (double[]){1, 0, 0, 4, 5, 0});
  o = make(cx, DT_F32, 2, SHAPE(2, 3), NULL);
  OK(dt_k_tri(cx, a, 1, true, o));
  expect_all(cx, o, (double[]){0, 2, 3, 0, 0, 6});
  dt_tensor_unref(cx, a);
}

/* Element i depends on its row-major position only; statistics are right. */
static void test_random (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int back[] = {1, 0};
  DtRng r = {.seed = 7, .offset = 11}, again = r;
  DtTensor *a = make(cx, DT_F32, 2, SHAPE(50, 40), NULL);
  DtTensor *b = make(cx, DT_F32, 2, SHAPE(50, 40), back);
  OK(dt_k_uniform(cx, a, &r, -1, 3));
  OK(dt_k_uniform(cx, b, &again, -1, 3));
  assert_true(dt_tensor_identical(a, b) && r.offset == 11 + 2000);
  OK(dt_k_normal(cx, b, &r, 5, 2));
  double mean = 0, var = 0, u = 0;
  for (int64_t i = 0; i < 2000; i++) {
    u += at2(a, i / 40, i % 40) / 2000;
    mean += at2(b, i / 40, i % 40) / 2000;
  }
  for (int64_t i = 0; i < 2000; i++)
    var += pow(at2(b, i / 40, i % 40) - mean, 2) / 2000;
  assert_true(fabs(u - 1) < 0.1 && fabs(mean - 5) < 0.2 &&
              fabs(var - 4) < 0.5);
  OK(dt_k_randint(cx, a, &r, -2, 2));
  OK(dt_k_bernoulli(cx, b, &r, 0.25));
  mean = 0;
  for (int64_t i = 0; i < 2000; i++) {
    double x = at2(a, i / 40, i % 40);
    assert_true(x >= -2 && x < 2 && x == floor(x));
    mean += at2(b, i / 40, i % 40) / 2000;
  }
  assert_true(fabs(mean - 0.25) < 0.05);
  unref_all(cx, 2, (DtTensor *[]){a, b});
}

static void test_accumulate (void **state) {
  (void)state;
  static const double want[][3] = {
    {5, -2, NAN}, {5, -2, NAN}, {1, -5, NAN}, {4, 3, NAN}, {4, -15, NAN},
  };
  for (int op = 0; op <= DT_OP_PRODUCT; op++) {
    float a[3] = {1, 3, 1}, b[3] = {4, -5, NAN};
    double c[3] = {1, 3, NAN}, d[3] = {4, -5, 1};
    uint16_t e[3], f[3];
    for (int i = 0; i < 3; i++) {
      e[i] = dt_f32_to_bf16(a[i]);
      f[i] = dt_f32_to_bf16(b[i]);
    }
    dt_k_accumulate((DtRedOp)op, DT_F32, a, b, 3);
    dt_k_accumulate((DtRedOp)op, DT_F64, c, d, 3);
    dt_k_accumulate((DtRedOp)op, DT_BF16, e, f, 3);
    for (int i = 0; i < 3; i++) {
      expect(DT_F32, a[i], want[op][i]);
      expect(DT_F64, c[i], want[op][i]);
      expect(DT_BF16, dt_bf16_to_f32(e[i]), want[op][i]);
    }
  }
  uint8_t x[2] = {12, 200}, y[2] = {10, 100};
  dt_k_accumulate(DT_OP_BXOR, DT_U8, x, y, 2);
  assert_int_equal(x[0], 6);
  dt_k_accumulate(DT_OP_SUM, DT_U8, x, y, 2);
  assert_int_equal(x[1], (uint8_t)((200 ^ 100) + 100));
  float z[2] = {3, -1};
  dt_k_scale_avg(DT_F32, z, 2, 2);
  assert_true(z[0] == 1.5f && z[1] == -0.5f);
}

/* ---- failing allocations ---------------------------------------------------------------------------- */

static DtStatus everything (DtCtx *cx, DtTensor **t) {
  DT_TRY(cx, dt_k_gemm(cx, 1, t[0], t[1], 0, t[2]));
  DT_TRY(cx, dt_k_softmax(cx, false, t[0], 1, t[2]));
  DT_TRY(cx, dt_k_layer_norm(cx, false, t[0], 1, &(DtAffine){.eps = 1e-5},
                             &(DtNormed){.out = t[2]}));
  DT_TRY(cx, dt_k_attention(cx, &(DtAttention){t[0], t[1], t[1], NULL, false, 1},
                            t[2], NULL));
  DT_TRY(cx, dt_k_sort(cx, t[0], 0, false, true, t[2], NULL));
  DT_TRY(cx, dt_k_scan(cx, DT_SCAN_SUM, t[0], 0, t[2], NULL));
  DT_TRY(cx, dt_k_arg_reduce(cx, true, t[0], -1, t[4], t[5]));
  DT_TRY(cx, dt_k_index_select(cx, t[0], 0, t[3], t[2]));
  DT_TRY(cx, dt_k_embedding_backward(cx, t[0], t[3], -1, true, t[2]));
  const DtTensor *index[1] = {t[3]};
  DT_TRY(cx, dt_k_index(cx, t[0], 1, index, 0, t[2]));
  return dt_k_index_put(cx, t[2], 1, index, 0, t[0], true);
}

static void test_nomem (void **state) {
  DtCtx *cx = fixture_cx(state);
  static const int back[] = {1, 0};
  DtTensor *t[6] = {
    random_like(cx, make(cx, DT_BF16, 2, SHAPE(4, 4), back), 1),
    rnd(cx, DT_F64, 2, SHAPE(4, 4), 2),
    make(cx, DT_F32, 2, SHAPE(4, 4), back),
    from(cx, DT_I32, 1, SHAPE(4), (double[]){3, 1, 0, 3}),
    make(cx, DT_F32, 0, NULL, NULL), make(cx, DT_I64, 0, NULL, NULL),
  };
  DtStatus st = DT_E_NOMEM;
  int64_t live = cx->mem.nlive;
  for (int64_t k = 1; st != DT_OK && k < 200; k++) {
    cx->mem.fail_at = cx->mem.nalloc + k;
    cx->mem.fail_on = false;
    st = everything(cx, t);
    cx->mem.fail_at = 0;
    dt_error_clear(cx);
    assert_int_equal(cx->mem.nlive, live);
  }
  OK(st);
  unref_all(cx, 6, t);
}

int main (void) {
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
  const struct CMUnitTest tests[] = {
    T(test_softmax), T(test_softmax_edges), T(test_norms), T(test_attention),
    T(test_attention_masked_row), T(test_gather_scatter),
    T(test_index_select_add), T(test_advanced_index), T(test_nonzero),
    T(test_embedding_backward), T(test_movement), T(test_arg_reduce),
    T(test_scan), T(test_sort), T(test_factories), T(test_random),
    T(test_accumulate), T(test_conv), T(test_many16), T(test_nomem),
  };
#undef T
  return cmocka_run_group_tests(tests, NULL, NULL);
}
