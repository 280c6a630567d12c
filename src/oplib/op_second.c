/* SPDX-License-Identifier: MIT
** oplib/op_second.c: gradients of the operators that gradients call.
**
** Each of these is linear in the gradient it is given, so that its own gradient
** there is mostly the same operator again; what it read of the forward
** (TENSOR(1)) has the second derivative. */
#include <string.h>

#include "oplib/grading.h"
#include "oplib/oplib_int.h"
#include "oplib/second.h"

#define G (TENSOR(0))           /* the gradient that the operator was given */
#define X (TENSOR(1))           /* what it read of the forward */

static DtHandle *shift (DtGradCall *c, DtHandle *a, double by) {
  return EMIT("aten.add.Scalar", "tf", a, by);
}

/* 1 - a */
static DtHandle *one_minus (DtGradCall *c, DtHandle *a) {
  return EMIT("aten.rsub.Scalar", "ti", a, (int64_t)1);
}

/* The gradients of an elementwise operator (g, x): `first`, and g times the
** second derivative `d`, a factor of GOUT. */
static DtStatus finish_pair (DtGradCall *c, DtHandle *first, DtHandle *d) {
  if (op_g_need(c, 0)) op_g_set(c, 0, first);
  if (op_g_need(c, 1)) op_g_set(c, 1, mul(c, mul(c, GOUT, G), d));
  return op_g_finish(c);
}

/* Straight pieces: the second derivative is 0. */
static DtStatus finish_straight (DtGradCall *c, DtHandle *first) {
  if (op_g_need(c, 0)) op_g_set(c, 0, first);
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", X));
  return op_g_finish(c);
}

DtStatus op_gg_tanh_backward (DtGradCall *c) {
  return finish_pair(c, EMIT("aten.tanh_backward.default", "tt", GOUT, X),
                     scale(c, X, -2));
}

DtStatus op_gg_sigmoid_backward (DtGradCall *c) {
  return finish_pair(c, EMIT("aten.sigmoid_backward.default", "tt", GOUT, X),
                     shift(c, scale(c, X, -2), 1));
}

/* s (1 - s) (2 + x (1 - 2 s)) */
DtStatus op_gg_silu_backward (DtGradCall *c) {
  DtHandle *s = EMIT("aten.sigmoid.default", "t", X);
  DtHandle *d = mul(c, X, shift(c, scale(c, s, -2), 1));
  d = mul(c, mul(c, s, one_minus(c, s)), shift(c, d, 2));
  return finish_pair(c, EMIT("aten.silu_backward.default", "tt", GOUT, X), d);
}

/* With the normal density p: p (2 - x x). */
static DtHandle *gelu_second (DtGradCall *c) {
  DtHandle *q = mul(c, X, X);
  DtHandle *p = EMIT("aten.exp.default", "t", scale(c, q, -0.5));
  return mul(c, scale(c, p, 0.3989422804014327),
             EMIT("aten.rsub.Scalar", "ti", q, (int64_t)2));
}

/* With u = k (x + a x^3), t = tanh u:
** (1 - t t) (u' + x / 2 (u'' - 2 t u' u')). */
static DtHandle *gelu_tanh_second (DtGradCall *c) {
  const double k = 0.7978845608028654, a = 0.044715;
  DtHandle *q = mul(c, X, X);
  DtHandle *u = scale(c, mul(c, X, shift(c, scale(c, q, a), 1)), k);
  DtHandle *t = EMIT("aten.tanh.default", "t", u);
  DtHandle *u1 = scale(c, shift(c, scale(c, q, 3 * a), 1), k);
  DtHandle *in = EMIT("aten.sub.Tensor", "tt", scale(c, X, 6 * k * a),
                      mul(c, scale(c, t, 2), mul(c, u1, u1)));
  DtHandle *sum = EMIT("aten.add.Tensor", "tt", u1,
                       mul(c, scale(c, X, 0.5), in));
  return mul(c, one_minus(c, mul(c, t, t)), sum);
}

DtStatus op_gg_gelu_backward (DtGradCall *c) {
  bool tanh = strcmp(dt_arg_str(c->args, 2), "tanh") == 0;
  return finish_pair(c, EMIT("aten.gelu_backward.default", "tt approximate=v",
                             GOUT, X, ARG(2)),
                     tanh ? gelu_tanh_second(c) : gelu_second(c));
}

/* beta s (1 - s), s = sigmoid(beta x); 0 where softplus is straight. */
DtStatus op_gg_softplus_backward (DtGradCall *c) {
  DtHandle *z = EMIT("aten.mul.Scalar", "tv", X, ARG(2));
  DtHandle *s = EMIT("aten.sigmoid.default", "t", z);
  DtHandle *d = EMIT("aten.mul.Scalar", "tv", mul(c, s, one_minus(c, s)),
                     ARG(2));
  DtHandle *straight = EMIT("aten.gt.Scalar", "tv", z, ARG(3));
  d = EMIT("aten.masked_fill.Scalar", "tti", d, straight, (int64_t)0);
  return finish_pair(c, EMIT("aten.softplus_backward.default", "ttvv", GOUT, X,
                             ARG(2), ARG(3)), d);
}

DtStatus op_gg_leaky_relu_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.leaky_relu_backward.default", "ttvb",
                                 GOUT, X, ARG(2), 0));
}

DtStatus op_gg_hardtanh_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.hardtanh_backward.default", "ttvv", GOUT,
                                 X, ARG(2), ARG(3)));
}

/* Of x: alpha scale input_scale^2 exp(input_scale x) below 0; of the result:
** input_scale. */
DtStatus op_gg_elu_backward (DtGradCall *c) {
  double alpha = dt_arg_float(c->args, 1), by = dt_arg_float(c->args, 2);
  double in = dt_arg_float(c->args, 3);
  DtHandle *x = TENSOR(5), *d;
  DtHandle *above = EMIT("aten.ge.Scalar", "ti", x, (int64_t)0);
  if (dt_arg_bool(c->args, 4))
    d = EMIT("aten.full_like.default", "tf", x, in);
  else
    d = scale(c, EMIT("aten.exp.default", "t", scale(c, x, in)),
              alpha * by * in * in);
  d = EMIT("aten.masked_fill.Scalar", "tti", d, above, (int64_t)0);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.elu_backward.default", "tvvvvt", GOUT, ARG(1),
                        ARG(2), ARG(3), ARG(4), x));
  if (op_g_need(c, 5)) op_g_set(c, 5, mul(c, mul(c, GOUT, G), d));
  return op_g_finish(c);
}

DtStatus op_gg_select_backward (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.select.int", "tvv", GOUT, ARG(2), ARG(3)));
  return op_g_finish(c);
}

DtStatus op_gg_slice_backward (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.slice.Tensor", "tvvvv", GOUT, ARG(2), ARG(3),
                      ARG(4), ARG(5)));
  return op_g_finish(c);
}

static DtHandle *sum_along (DtGradCall *c, DtHandle *t) {
  int64_t dim = dt_arg_int(c->args, 2);
  return EMIT("aten.sum.dim_IntList", "tIb", t, 1, &dim, 1);
}

/* y (g - sum(g y)), y being the output. */
DtStatus op_gg_softmax_backward_data (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten._softmax_backward_data.default", "ttvv", GOUT, X,
                        ARG(2), ARG(3)));
  if (op_g_need(c, 1)) {
    DtHandle *a = EMIT("aten.sub.Tensor", "tt", G,
                       sum_along(c, mul(c, G, X)));
    DtHandle *b = mul(c, G, sum_along(c, mul(c, GOUT, X)));
    op_g_set(c, 1, EMIT("aten.sub.Tensor", "tt", mul(c, GOUT, a), b));
  }
  return op_g_finish(c);
}

/* g - exp(y) sum(g) */
DtStatus op_gg_log_softmax_backward_data (DtGradCall *c) {
  DtHandle *p = mul(c, GOUT, EMIT("aten.exp.default", "t", X));
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.sub.Tensor", "tt", GOUT, sum_along(c, p)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.neg.default", "t", mul(c, p, sum_along(c, G))));
  return op_g_finish(c);
}

/* 2 (x - t) g, divided by their number for a mean. */
DtStatus op_gg_mse_loss_backward (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  bool mean = dt_arg_int(c->args, 3) == 1;
  double by = m && mean ? 2.0 / (double)dt_meta_numel(m) : 2;
  DtHandle *diff = EMIT("aten.sub.Tensor", "tt", X, TENSOR(2));
  DtHandle *d = scale(c, mul(c, GOUT, G), by);
  if (op_g_need(c, 0)) op_g_set(c, 0, scale(c, mul(c, GOUT, diff), by));
  if (op_g_need(c, 1)) op_g_set(c, 1, d);
  if (op_g_need(c, 2)) op_g_set(c, 2, EMIT("aten.neg.default", "t", d));
  return op_g_finish(c);
}

DtStatus op_gg_nll_loss_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.nll_loss.default", "ttvvv", GOUT, TENSOR(2),
                        ARG(3), ARG(4), ARG(5)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", X));
  return op_g_finish(c);
}

static DtHandle *convolve (DtGradCall *c, DtHandle *x, DtHandle *w) {
  DtValue none = { .kind = DT_V_NONE };
  return EMIT("aten.convolution.default", "ttvvvvvvv", x, w, none, ARG(4),
              ARG(5), ARG(6), ARG(7), ARG(8), ARG(9));
}

/* One of the gradients of convolution(x, w), of g. */
static DtHandle *conv_back (DtGradCall *c, DtHandle *x, DtHandle *w,
                            int which) {
  DtHandle *out[3] = { NULL, NULL, NULL };
  DtValue mask[3], list = { .kind = DT_V_LIST }, none = { .kind = DT_V_NONE };
  for (int i = 0; i < 3; i++)
    mask[i] = (DtValue){ .kind = DT_V_BOOL, .u.b = i == which };
  list.u.list.n = 3;
  list.u.list.v = mask;
  dt_emit_n(c->e, "aten.convolution_backward.default", out, 3, "tttvvvvvvvv",
            G, x, w, none, ARG(4), ARG(5), ARG(6), ARG(7), ARG(8), ARG(9),
            list);
  return out[which];
}

/* Bilinear in what it reads: of the three results' gradients a (of the input),
** b (of the weight) and d (of the bias). */
DtStatus op_gg_convolution_backward (DtGradCall *c) {
  DtHandle *a = c->gout[0], *b = c->gout[1], *d = c->gout[2];
  if (op_g_need(c, 0)) {
    DtHandle *g = a ? convolve(c, a, TENSOR(2)) : NULL;
    g = add(c, g, b ? convolve(c, TENSOR(1), b) : NULL);
    if (d != NULL) {
      const DtMeta *m = dt_emit_meta(c->e, G);
      int64_t shape[DT_MAX_NDIM];
      for (int i = 0; m && i < m->ndim; i++) shape[i] = i == 1 ? -1 : 1;
      d = EMIT("aten.view.default", "tI", d, m ? (int)m->ndim : 0, shape);
      g = g ? add(c, g, d)
            : EMIT("aten.expand.default", "tI", d, m ? (int)m->ndim : 0,
                   m ? m->shape : shape);
    }
    op_g_set(c, 0, g);
  }
  if (op_g_need(c, 1) && b != NULL)
    op_g_set(c, 1, conv_back(c, TENSOR(1), b, 0));
  if (op_g_need(c, 2) && a != NULL)
    op_g_set(c, 2, conv_back(c, a, TENSOR(2), 1));
  return op_g_finish(c);
}

/* ---- more elementwise ones ---- */

/* h where `keep`, 0 elsewhere. */
static DtHandle *where_true (DtGradCall *c, DtHandle *keep, DtHandle *h) {
  return EMIT("aten.where.self", "ttt", keep, h,
              EMIT("aten.zeros_like.default", "t", h));
}

/* 1 / 3 between the bends, where the forward is a parabola. */
DtStatus op_gg_hardswish_backward (DtGradCall *c) {
  DtHandle *in = EMIT("aten.lt.Scalar", "ti",
                      EMIT("aten.abs.default", "t", X), (int64_t)3);
  DtHandle *d = scale(c, EMIT("aten.ones_like.default", "t", X), 1.0 / 3);
  return finish_pair(c, EMIT("aten.hardswish_backward.default", "tt", GOUT, X),
                     where_true(c, in, d));
}

/* t = tanh(softplus x), s = sigmoid x, u = s (1 - t t):
** u (2 + x (1 - s) - 2 x s t) */
DtStatus op_gg_mish_backward (DtGradCall *c) {
  DtHandle *s = EMIT("aten.sigmoid.default", "t", X);
  DtHandle *t = EMIT("aten.tanh.default", "t",
                     EMIT("aten.softplus.default", "t", X));
  DtHandle *u = mul(c, s, one_minus(c, mul(c, t, t)));
  DtHandle *bend = EMIT("aten.sub.Tensor", "tt", one_minus(c, s),
                        scale(c, mul(c, s, t), 2));
  return finish_pair(c, EMIT("aten.mish_backward.default", "tt", GOUT, X),
                     mul(c, u, shift(c, mul(c, X, bend), 2)));
}

DtStatus op_gg_log_sigmoid_backward (DtGradCall *c) {
  DtHandle *s = EMIT("aten.sigmoid.default", "t", X);
  DtHandle *d = EMIT("aten.neg.default", "t", mul(c, s, one_minus(c, s)));
  return finish_pair(c, EMIT("aten.log_sigmoid_backward.default", "ttt", GOUT,
                             X, TENSOR(2)), d);
}

/* The noise holds the slopes that were drawn. */
DtStatus op_gg_rrelu_with_noise_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.rrelu_with_noise_backward.default",
                                 "tttvvvv", GOUT, X, TENSOR(2), ARG(3), ARG(4),
                                 ARG(5), ARG(6)));
}

/* y = u s(v), whose two gradients are g s and g u s (1 - s): of those a and b
** are given. */
DtStatus op_gg_glu_backward (DtGradCall *c) {
  int64_t dim = dt_arg_int(c->args, 2);
  const DtMeta *m = dt_emit_meta(c->e, X);
  if (!dt_emit_ok(c->e)) return c->e->st;
  if (dim < 0) dim += m->ndim;
  int64_t half = m->shape[dim] / 2;
  DtHandle *u = EMIT("aten.narrow.default", "tiii", X, dim, (int64_t)0, half);
  DtHandle *v = EMIT("aten.narrow.default", "tiii", X, dim, half, half);
  DtHandle *a = EMIT("aten.narrow.default", "tiii", GOUT, dim, (int64_t)0,
                     half);
  DtHandle *b = EMIT("aten.narrow.default", "tiii", GOUT, dim, half, half);
  DtHandle *s = EMIT("aten.sigmoid.default", "t", v);
  DtHandle *d = mul(c, s, one_minus(c, s)), *bu = mul(c, b, u);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.add.Tensor", "tt", mul(c, a, s), mul(c, bu, d)));
  if (op_g_need(c, 1)) {
    DtHandle *part[2];
    DtHandle *gd = mul(c, G, d);
    part[0] = mul(c, b, gd);
    part[1] = mul(c, gd, EMIT("aten.add.Tensor", "tt", a,
                              mul(c, bu, shift(c, scale(c, s, -2), 1))));
    op_g_set(c, 1, EMIT("aten.cat.default", "Ti", 2, part, dim));
  }
  return op_g_finish(c);
}

/* Two results: above 0 the gradients are g and 0, elsewhere w g and x g; of
** them a and b are given. */
DtStatus op_gg_prelu_kernel_backward (DtGradCall *c) {
  DtHandle *a = c->gout[0], *b = c->gout[1], *w = TENSOR(2);
  DtHandle *above = EMIT("aten.gt.Scalar", "ti", X, (int64_t)0);
  DtHandle *below = EMIT("aten.logical_not.default", "t", above);
  if (op_g_need(c, 0)) {
    DtHandle *g = a ? EMIT("aten.where.self", "ttt", above, a, mul(c, a, w))
                    : NULL;
    g = add(c, g, b ? where_true(c, below, mul(c, b, X)) : NULL);
    op_g_set(c, 0, g);
  }
  if (op_g_need(c, 1))
    op_g_set(c, 1, b ? where_true(c, below, mul(c, b, G)) : NULL);
  if (op_g_need(c, 2))
    op_g_set(c, 2, a ? where_true(c, below, mul(c, a, G)) : NULL);
  return op_g_finish(c);
}

/* g / q, q = x (1 - x), within [eps, 1 - eps]: outside the gradient of that is
** 0, but not a number where q is 0. */
DtStatus op_gg_logit_backward (DtGradCall *c) {
  double eps = dt_arg_is_none(c->args, 2) ? 0 : dt_arg_float(c->args, 2);
  DtHandle *in = EMIT("aten.logical_and.default", "tt",
                      EMIT("aten.ge.Scalar", "tf", X, eps),
                      EMIT("aten.le.Scalar", "tf", X, 1 - eps));
  DtHandle *q = mul(c, X, one_minus(c, X)), *given = where_true(c, in, GOUT);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.div.Tensor", "tt", given, q));
  if (op_g_need(c, 1)) {
    DtHandle *h = EMIT("aten.div.Tensor", "tt", mul(c, given, G), mul(c, q, q));
    h = neg(c, h);
    op_g_set(c, 1, sub(c, mul(c, h, one_minus(c, X)), mul(c, h, X)));
  }
  return op_g_finish(c);
}

/* ---- losses ---- */

/* A factor of what a loss gives each element: 1 / elements under a mean. */
static DtHandle *spread (DtGradCall *c, DtHandle *h, int reduction_at) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  if (!dt_emit_ok(c->e) || dt_arg_int(c->args, reduction_at) != 1) return h;
  return scale(c, h, 1.0 / (double)dt_meta_numel(m));
}

/* Of a loss of |x - t| that is a parabola of width `by` around 0: the second
** derivative is `d` within `by`, 0 outside. */
static DtStatus finish_bent (DtGradCall *c, DtHandle *first, DtHandle *within,
                             double d) {
  DtHandle *h = scale(c, spread(c, mul(c, GOUT, G), 3), d);
  h = where_true(c, within, h);
  if (op_g_need(c, 0)) op_g_set(c, 0, first);
  if (op_g_need(c, 1)) op_g_set(c, 1, h);
  if (op_g_need(c, 2)) op_g_set(c, 2, EMIT("aten.neg.default", "t", h));
  return op_g_finish(c);
}

static DtHandle *distance (DtGradCall *c) {
  return EMIT("aten.abs.default", "t",
              EMIT("aten.sub.Tensor", "tt", X, TENSOR(2)));
}

DtStatus op_gg_smooth_l1_loss_backward (DtGradCall *c) {
  double beta = dt_arg_float(c->args, 4);
  return finish_bent(c, EMIT("aten.smooth_l1_loss_backward.default", "tttvv",
                             GOUT, X, TENSOR(2), ARG(3), ARG(4)),
                     EMIT("aten.lt.Scalar", "tv", distance(c), ARG(4)),
                     beta > 0 ? 1 / beta : 0);
}

DtStatus op_gg_huber_loss_backward (DtGradCall *c) {
  return finish_bent(c, EMIT("aten.huber_loss_backward.default", "tttvv", GOUT,
                             X, TENSOR(2), ARG(3), ARG(4)),
                     EMIT("aten.le.Scalar", "tv", distance(c), ARG(4)), 1);
}

/* t t s (1 - s), s = sigmoid(t x) */
DtStatus op_gg_soft_margin_loss_backward (DtGradCall *c) {
  DtHandle *t = TENSOR(2);
  DtHandle *s = EMIT("aten.sigmoid.default", "t", mul(c, t, X));
  DtHandle *d = mul(c, mul(c, t, t), mul(c, s, one_minus(c, s)));
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.soft_margin_loss_backward.default", "tttv", GOUT,
                        X, t, ARG(3)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, mul(c, spread(c, mul(c, GOUT, G), 3), d));
  return op_g_finish(c);
}

/* With q = x (1 - x), not below the 1e-12 of the forward:
** of x: (x x - 2 x t + t) / q q; of t: -1 / q. */
DtStatus op_gg_binary_cross_entropy_backward (DtGradCall *c) {
  DtHandle *t = TENSOR(2), *w = TENSOR(3);
  DtHandle *q = EMIT("aten.clamp_min.default", "tf",
                     mul(c, X, one_minus(c, X)), 1e-12);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.binary_cross_entropy_backward.default", "ttttv",
                        GOUT, X, t, w, ARG(4)));
  DtHandle *h = spread(c, mul(c, GOUT, G), 4);
  if (w != NULL) h = mul(c, h, w);
  if (op_g_need(c, 1)) {
    DtHandle *up = EMIT("aten.add.Tensor", "tt",
                        mul(c, X, EMIT("aten.sub.Tensor", "tt", X,
                                       scale(c, t, 2))), t);
    op_g_set(c, 1, EMIT("aten.div.Tensor", "tt", mul(c, h, up),
                        mul(c, q, q)));
  }
  if (op_g_need(c, 2))
    op_g_set(c, 2, EMIT("aten.neg.default", "t",
                        EMIT("aten.div.Tensor", "tt", h, q)));
  return op_g_finish(c);
}

DtStatus op_gg_nll_loss2d_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.nll_loss2d.default", "ttvvv", GOUT, TENSOR(2),
                        ARG(3), ARG(4), ARG(5)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", X));
  return op_g_finish(c);
}

/* ---- places ---- */

/* The rows that were looked up; none for padding. */
DtStatus op_gg_embedding_dense_backward (DtGradCall *c) {
  int64_t padding = dt_arg_int(c->args, 3);
  DT_CHECK(c->e->cx, !dt_arg_bool(c->args, 4), DT_E_NOTIMPL,
           "create_graph=True (gradients of gradients) through an embedding "
           "with scale_grad_by_freq is not supported by dtrepl");
  DtHandle *h = EMIT("aten.embedding.default", "tt", GOUT, X);
  if (padding >= 0) {
    DtHandle *none = EMIT("aten.eq.Scalar", "ti", X, padding);
    none = EMIT("aten.unsqueeze.default", "ti", none, (int64_t)-1);
    h = EMIT("aten.masked_fill.Scalar", "tti", h, none, (int64_t)0);
  }
  op_g_set(c, 0, h);
  return op_g_finish(c);
}
