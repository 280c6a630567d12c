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

/* Straight pieces: the second derivative is 0. */
static DtStatus finish_straight (DtGradCall *c, DtHandle *first) {
  if (op_g_need(c, 0)) op_g_set(c, 0, first);
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", GOUT));
  return op_g_finish(c);
}

/* true and false as 1 and 0 of the type of `like`. */
static DtHandle *typed (DtGradCall *c, DtHandle *h, DtHandle *like) {
  const DtMeta *m = dt_emit_meta(c->e, like);
  return EMIT("aten._to_copy.default", "t dtype=d", h, m ? (int)m->dtype : 0);
}

/* A number of no dims and the type of G. */
static DtHandle *zero (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, G);
  return EMIT("aten.zeros.default", "I dtype=d", 0, (const int64_t *)NULL,
              m ? (int)m->dtype : 0);
}

DtStatus op_gg_tanh_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.tanh_backward.default", "tt", GOUT, X));
  if (op_g_need(c, 1))
    op_g_set(c, 1, mul(c, GOUT, mul(c, scale(c, X, -2), G)));
  return op_g_finish(c);
}

DtStatus op_gg_sigmoid_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.sigmoid_backward.default", "tt", GOUT, X));
  if (op_g_need(c, 1)) {
    DtHandle *d = shift(c, scale(c, X, -2), 1);
    op_g_set(c, 1, mul(c, mul(c, GOUT, G), d));
  }
  return op_g_finish(c);
}

/* With the normal density p: p (2 - x x). */
static DtHandle *gelu_second (DtGradCall *c) {
  DtHandle *q = mul(c, X, X);
  DtHandle *p = EMIT("aten.exp.default", "t", scale(c, q, -0.5));
  p = scale(c, p, 0.3989422804014327);
  q = mul(c, q, p);
  return sub(c, scale(c, p, 2), q);
}

/* With u = k (x + a x^3), t = tanh u, s = 1 / cosh u:
** (1 - t t) (u' + x / 2 u'') - x u' u' s s t. */
static DtHandle *gelu_tanh_second (DtGradCall *c) {
  const double k = 0.7978845608028654, a = 0.044715;
  DtHandle *u = EMIT("aten.pow.Tensor_Scalar", "ti", X, (int64_t)3);
  u = scale(c, add(c, X, scale(c, u, a)), k);
  DtHandle *t = EMIT("aten.tanh.default", "t", u);
  DtHandle *s = EMIT("aten.cosh.default", "t", u);
  s = EMIT("aten.div_.Tensor", "tt", number_like(c, s, 1), s);
  DtHandle *half = scale(c, X, 0.5), *flat = one_minus(c, mul(c, t, t));
  DtHandle *u1 = scale(c, shift(c, mul(c, scale(c, X, 3 * a), X), 1), k);
  DtHandle *slope = mul(c, scale(c, flat, 0.5), u1);
  DtHandle *turn = mul(c, neg(c, s), t);
  turn = mul(c, mul(c, scale(c, s, 2), turn), u1);
  turn = mul(c, mul(c, half, u1), turn);
  DtHandle *u2 = scale(c, scale(c, X, 6 * a), k);
  u2 = mul(c, mul(c, half, flat), u2);
  return add(c, add(c, scale(c, slope, 2), turn), u2);
}

DtStatus op_gg_gelu_backward (DtGradCall *c) {
  bool tanh = strcmp(dt_arg_str(c->args, 2), "tanh") == 0;
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.gelu_backward.default", "tt approximate=v", GOUT,
                        X, ARG(2)));
  if (op_g_need(c, 1)) {
    DtHandle *d = tanh ? gelu_tanh_second(c) : gelu_second(c);
    op_g_set(c, 1, mul(c, mul(c, GOUT, G), d));
  }
  return op_g_finish(c);
}

/* beta s (1 - s), s = sigmoid(beta x); 0 where softplus is straight. */
DtStatus op_gg_softplus_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.softplus_backward.default", "ttvv", GOUT, X,
                        ARG(2), ARG(3)));
  if (op_g_need(c, 1)) {
    DtHandle *h = mul(c, GOUT, G);
    DtHandle *z = EMIT("aten.mul.Scalar", "tv", X, ARG(2));
    DtHandle *bent = EMIT("aten.lt.Scalar", "tv", z, ARG(3));
    bent = typed(c, bent, G);
    z = EMIT("aten.sigmoid.default", "t", z);
    h = mul(c, EMIT("aten.sigmoid_backward.default", "tt", h, z), bent);
    op_g_set(c, 1, EMIT("aten.mul.Scalar", "tv", h, ARG(2)));
  }
  return op_g_finish(c);
}

DtStatus op_gg_leaky_relu_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.leaky_relu_backward.default", "ttvb",
                                 GOUT, X, ARG(2), 0));
}

DtStatus op_gg_hardtanh_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.hardtanh_backward.default", "ttvv", GOUT,
                                 X, ARG(2), ARG(3)));
}

/* Of x below 0: what is linear in the gradient, times input_scale, once more; of
** the result there: input_scale. */
DtStatus op_gg_elu_backward (DtGradCall *c) {
  DtHandle *x = TENSOR(5);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.elu_backward.default", "tvvvvt", GOUT, ARG(1),
                        ARG(2), ARG(3), ARG(4), x));
  if (op_g_need(c, 5)) {
    DtHandle *below = EMIT("aten.lt.Scalar", "ti", x, (int64_t)0), *h;
    below = typed(c, below, G);
    h = EMIT("aten.mul.Scalar", "tv", mul(c, GOUT, G), ARG(3));
    if (!dt_arg_bool(c->args, 4))
      h = EMIT("aten.elu_backward.default", "tvvvvt", h, ARG(1), ARG(2), ARG(3),
               ARG(4), x);
    op_g_set(c, 5, mul(c, h, below));
  }
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
    DtHandle *a = mul(c, G, sum_along(c, mul(c, X, GOUT)));
    DtHandle *b = mul(c, sum_along(c, mul(c, X, G)), GOUT);
    op_g_set(c, 1, sub(c, sub(c, mul(c, G, GOUT), b), a));
  }
  return op_g_finish(c);
}

/* g - exp(y) sum(g) */
DtStatus op_gg_log_softmax_backward_data (DtGradCall *c) {
  if (op_g_need(c, 0)) {
    DtHandle *p = mul(c, GOUT, EMIT("aten.exp.default", "t", X));
    op_g_set(c, 0, sub(c, GOUT, sum_along(c, p)));
  }
  if (op_g_need(c, 1)) {
    DtHandle *p = EMIT("aten.exp.default", "t", X);
    op_g_set(c, 1, mul(c, mul(c, neg(c, sum_along(c, G)), p), GOUT));
  }
  return op_g_finish(c);
}

/* What a loss gives each element, divided by their number under a mean. */
static DtHandle *spread (DtGradCall *c, DtHandle *h, int reduction_at) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  if (!dt_emit_ok(c->e) || dt_arg_int(c->args, reduction_at) != 1) return h;
  return EMIT("aten.div_.Scalar", "ti", h, dt_meta_numel(m));
}

/* The gradients of (g, x, target) for a loss of x - target: `first`, then of x
** what `second` gives, and of the target its opposite, computed anew. */
static DtStatus finish_difference (DtGradCall *c, DtHandle *first,
                                   DtHandle *(*second) (DtGradCall *)) {
  op_g_set(c, 0, first);
  if (op_g_need(c, 1)) op_g_set(c, 1, second(c));
  if (op_g_need(c, 2)) op_g_set(c, 2, neg(c, second(c)));
  return op_g_finish(c);
}

/* 2 (x - t) g */
static DtHandle *mse_second (DtGradCall *c) {
  return spread(c, scale(c, mul(c, GOUT, G), 2), 3);
}

DtStatus op_gg_mse_loss_backward (DtGradCall *c) {
  DtHandle *first = NULL;
  if (op_g_need(c, 0))
    first = EMIT("aten.mse_loss_backward.default", "tttv", GOUT, X, TENSOR(2),
                 ARG(3));
  return finish_difference(c, first, mse_second);
}

DtStatus op_gg_nll_loss_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.nll_loss.default", "ttvvv", GOUT, TENSOR(2),
                        ARG(3), ARG(4), ARG(5)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", GOUT));
  return op_g_finish(c);
}

/* ---- more elementwise ones ---- */

/* 1 / 3 between the bends, where the forward is a parabola. */
DtStatus op_gg_hardswish_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.hardswish_backward.default", "tt", GOUT, X));
  if (op_g_need(c, 1)) {
    DtHandle *none = zero(c), *h = mul(c, GOUT, G);
    h = EMIT("aten.div.Scalar", "tf", h, 3.0);
    DtHandle *low = EMIT("aten.lt.Scalar", "tf", X, 3.0);
    DtHandle *in = EMIT("aten.gt.Scalar", "tf", X, -3.0);
    in = EMIT("aten.logical_and.default", "tt", in, low);
    op_g_set(c, 1, EMIT("aten.where.self", "ttt", in, h, none));
  }
  return op_g_finish(c);
}

/* -s (1 - s), s = sigmoid x. */
DtStatus op_gg_log_sigmoid_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.log_sigmoid_backward.default", "ttt", GOUT, X,
                        TENSOR(2)));
  if (op_g_need(c, 1)) {
    DtHandle *h = mul(c, GOUT, G), *s = EMIT("aten.sigmoid.default", "t", X);
    h = mul(c, h, EMIT("aten.sub.Scalar", "ti", s, (int64_t)1));
    op_g_set(c, 1, mul(c, h, s));
  }
  return op_g_finish(c);
}

/* The noise holds the slopes that were drawn. */
DtStatus op_gg_rrelu_with_noise_backward (DtGradCall *c) {
  return finish_straight(c, EMIT("aten.rrelu_with_noise_backward.default",
                                 "tttvvvv", GOUT, X, TENSOR(2), ARG(3), ARG(4),
                                 ARG(5), ARG(6)));
}

static DtHandle *piece (DtGradCall *c, DtHandle *t, int64_t dim, int64_t from,
                        int64_t half) {
  return EMIT("aten.slice.Tensor", "tiii", t, dim, from, from + half);
}

/* What glu_backward is times: its own value for a gradient of ones. */
static DtHandle *glu_of_g (DtGradCall *c, int64_t dim, int64_t half) {
  const DtMeta *m = dt_emit_meta(c->e, G);
  DtHandle *h = EMIT("aten.ones.default", "I dtype=d", (int)m->ndim, m->shape,
                     (int)m->dtype);
  h = EMIT("aten.glu_backward.default", "tti", h, X, dim);
  h = mul(c, GOUT, h);
  DtHandle *second = piece(c, h, dim, half, half);
  return add(c, piece(c, h, dim, 0, half), second);
}

/* y = u s(v), whose two gradients are g s and g u s (1 - s): of those a and b
** are given. */
static DtHandle *glu_of_x (DtGradCall *c, int64_t dim, int64_t half) {
  DtHandle *part[2], *u = piece(c, X, dim, 0, half);
  DtHandle *s = EMIT("aten.sigmoid.default", "t", piece(c, X, dim, half, half));
  DtHandle *rest = one_minus(c, s), *d = mul(c, s, rest);
  DtHandle *a = piece(c, GOUT, dim, 0, half);
  DtHandle *b = piece(c, GOUT, dim, half, half), *bu = mul(c, b, u);
  part[0] = mul(c, mul(c, b, G), d);
  DtHandle *turn = mul(c, s, d);
  turn = sub(c, mul(c, d, rest), turn);
  a = mul(c, mul(c, a, G), d);
  part[1] = add(c, mul(c, mul(c, bu, G), turn), a);
  return EMIT("aten.cat.default", "Ti", 2, part, dt_arg_int(c->args, 2));
}

DtStatus op_gg_glu_backward (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  if (!dt_emit_ok(c->e)) return c->e->st;
  int64_t dim = dt_arg_int(c->args, 2), nth = dim < 0 ? dim + m->ndim : dim;
  int64_t half = m->shape[nth] / 2;
  if (op_g_need(c, 0)) op_g_set(c, 0, glu_of_g(c, nth, half));
  if (op_g_need(c, 1)) op_g_set(c, 1, glu_of_x(c, dim, half));
  return op_g_finish(c);
}

/* `above` where x is not below 0, `below` elsewhere; a missing one is 0. */
static DtHandle *prelu_sides (DtGradCall *c, DtHandle *above, DtHandle *below) {
  if (above == NULL) above = zero(c);
  DtHandle *up = EMIT("aten.ge.Scalar", "ti", X, (int64_t)0);
  return EMIT("aten.where.self", "ttt", up, above, below);
}

/* A gradient that is missing: zeros as many as x has elements. */
static DtHandle *prelu_nothing (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  return EMIT("aten.zeros.default", "I dtype=d", m ? (int)m->ndim : 0,
              m ? m->shape : NULL, m ? (int)m->dtype : 0);
}

/* Two results: from 0 on the gradients are g and 0, below w g and x g; of them a
** and b are given. */
DtStatus op_gg_prelu_kernel_backward (DtGradCall *c) {
  DtHandle *a = c->gout[0], *b = c->gout[1], *w = TENSOR(2);
  if (op_g_need(c, 0)) {
    DtHandle *bx = mul(c, b, X);
    op_g_set(c, 0, prelu_sides(c, a, add(c, mul(c, a, w), bx)));
  }
  if (op_g_need(c, 1))
    op_g_set(c, 1, b ? prelu_sides(c, NULL, mul(c, G, b)) : prelu_nothing(c));
  if (op_g_need(c, 2))
    op_g_set(c, 2, a ? prelu_sides(c, NULL, mul(c, G, a)) : prelu_nothing(c));
  return op_g_finish(c);
}

/* ---- losses ---- */

/* 1 / beta within beta of the target, where the loss is a parabola. */
static DtHandle *smooth_second (DtGradCall *c) {
  DtHandle *h = mul(c, GOUT, G), *in = sub(c, X, TENSOR(2));
  in = EMIT("aten.lt.Scalar", "tv", EMIT("aten.abs.default", "t", in), ARG(4));
  h = mul(c, h, typed(c, in, G));
  return spread(c, EMIT("aten.div.Scalar", "tv", h, ARG(4)), 3);
}

DtStatus op_gg_smooth_l1_loss_backward (DtGradCall *c) {
  DtHandle *first = NULL;
  if (op_g_need(c, 0))
    first = EMIT("aten.smooth_l1_loss_backward.default", "tttvv", GOUT, X,
                 TENSOR(2), ARG(3), ARG(4));
  return finish_difference(c, first, smooth_second);
}

static DtHandle *huber_second (DtGradCall *c) {
  DtHandle *h = mul(c, GOUT, G), *in = sub(c, X, TENSOR(2));
  in = EMIT("aten.lt.Scalar", "tv", EMIT("aten.abs.default", "t", in), ARG(4));
  return spread(c, mul(c, h, in), 3);
}

/* Where the loss is one number, its gradient is summed before it is given on:
** the sum of what ones would give, times GOUT. */
static DtHandle *ones_if_reduced (DtGradCall *c, int reduction_at) {
  if (dt_arg_int(c->args, reduction_at) == 0) return GOUT;
  return EMIT("aten.ones_like.default", "t", G);
}

static DtHandle *sum_if_reduced (DtGradCall *c, DtHandle *h, int reduction_at) {
  if (dt_arg_int(c->args, reduction_at) == 0) return h;
  return EMIT("aten.sum.default", "t", mul(c, h, GOUT));
}

DtStatus op_gg_huber_loss_backward (DtGradCall *c) {
  DtHandle *h = NULL;
  if (op_g_need(c, 0)) {
    h = EMIT("aten.huber_loss_backward.default", "tttvv", ones_if_reduced(c, 3),
             X, TENSOR(2), ARG(3), ARG(4));
    h = sum_if_reduced(c, h, 3);
  }
  return finish_difference(c, h, huber_second);
}

/* With z = exp(-t x): t t z / (1 + z)^2. */
DtStatus op_gg_soft_margin_loss_backward (DtGradCall *c) {
  DtHandle *t = TENSOR(2);
  if (op_g_need(c, 0)) {
    DtHandle *h = EMIT("aten.soft_margin_loss_backward.default", "tttv",
                       ones_if_reduced(c, 3), X, t, ARG(3));
    op_g_set(c, 0, sum_if_reduced(c, h, 3));
  }
  if (op_g_need(c, 1)) {
    DtHandle *h = mul(c, GOUT, G), *z = mul(c, X, neg(c, t));
    z = EMIT("aten.exp.default", "t", z);
    DtHandle *q = shift(c, z, 1);
    q = mul(c, q, q);
    h = mul(c, mul(c, h, mul(c, t, t)), z);
    op_g_set(c, 1, spread(c, EMIT("aten.div.Tensor", "tt", h, q), 3));
  }
  return op_g_finish(c);
}

/* A number of each element, times the loss's weight, divided for a mean. */
static DtHandle *bce_finish (DtGradCall *c, DtHandle *h) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  if (TENSOR(3) != NULL) h = mul(c, h, TENSOR(3));
  if (!dt_emit_ok(c->e) || dt_arg_int(c->args, 4) != 1) return h;
  return EMIT("aten.div.Scalar", "ti", h, dt_meta_numel(m));
}

/* x + eps, and 1 - x + eps into *rest; the latter first or last, as asked. */
static DtHandle *bce_sides (DtGradCall *c, DtHandle **rest, bool first) {
  const double eps = 1e-12;
  DtHandle *x = first ? NULL : EMIT("aten.add.Scalar", "tf", X, eps);
  *rest = EMIT("aten.add.Scalar", "tf", one_minus(c, X), eps);
  return x ? x : EMIT("aten.add.Scalar", "tf", X, eps);
}

/* (x - t) / q, q = x (1 - x). */
static DtHandle *bce_of_g (DtGradCall *c) {
  DtHandle *rest, *x = bce_sides(c, &rest, true), *q = mul(c, x, rest);
  DtHandle *h = sub(c, X, TENSOR(2));
  h = mul(c, EMIT("aten.div.Tensor", "tt", h, q), GOUT);
  return bce_finish(c, h);
}

/* (x x - 2 x t + t) / q q */
static DtHandle *bce_of_x (DtGradCall *c) {
  DtHandle *rest, *x = bce_sides(c, &rest, false), *t = TENSOR(2);
  rest = EMIT("aten.pow.Tensor_Scalar", "ti", rest, (int64_t)2);
  x = EMIT("aten.pow.Tensor_Scalar", "ti", x, (int64_t)2);
  DtHandle *qq = mul(c, x, rest), *xt = mul(c, scale(c, X, 2), t);
  DtHandle *h = add(c, sub(c, mul(c, X, X), xt), t);
  h = EMIT("aten.div.Tensor", "tt", h, qq);
  return bce_finish(c, mul(c, h, mul(c, GOUT, G)));
}

/* -1 / q, q not below 1e-12. */
static DtHandle *bce_of_target (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, X);
  DtHandle *h = mul(c, neg(c, GOUT), G);
  if (TENSOR(3) != NULL) h = mul(c, h, TENSOR(3));
  DtHandle *q = mul(c, one_minus(c, X), X);
  q = EMIT("aten.clamp_min_.default", "tf", q, 1e-12);
  h = EMIT("aten.div.Tensor", "tt", h, q);
  if (!dt_emit_ok(c->e) || dt_arg_int(c->args, 4) != 1) return h;
  return EMIT("aten.div_.Scalar", "ti", h, dt_meta_numel(m));
}

DtStatus op_gg_binary_cross_entropy_backward (DtGradCall *c) {
  if (op_g_need(c, 0)) op_g_set(c, 0, bce_of_g(c));
  if (op_g_need(c, 1)) op_g_set(c, 1, bce_of_x(c));
  if (op_g_need(c, 2)) op_g_set(c, 2, bce_of_target(c));
  return op_g_finish(c);
}

DtStatus op_gg_nll_loss2d_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.nll_loss2d.default", "ttvvv", GOUT, TENSOR(2),
                        ARG(3), ARG(4), ARG(5)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", GOUT));
  return op_g_finish(c);
}

/* ---- places ---- */

/* The rows that were looked up; none for padding.  That rows were divided by how
** often they occur is forgotten here, in PyTorch, too. */
DtStatus op_gg_embedding_dense_backward (DtGradCall *c) {
  DtMeta m;
  int64_t padding = dt_arg_int(c->args, 3), shape[DT_MAX_NDIM + 1];
  int64_t all = -1, column[] = { -1, 1 };
  dt_meta_copy(&m, dt_emit_meta(c->e, X));
  if (!dt_emit_ok(c->e)) return c->e->st;
  DtHandle *h = EMIT("aten.reshape.default", "tI", X, 1, &all);
  h = EMIT("aten.index_select.default", "tit", GOUT, (int64_t)0, h);
  if (padding >= 0) {
    DtHandle *none = EMIT("aten.eq.Scalar", "ti", X, padding);
    none = EMIT("aten.reshape.default", "tI", none, 2, column);
    h = EMIT("aten.masked_fill_.Scalar", "tti", h, none, (int64_t)0);
  }
  for (int i = 0; i < m.ndim; i++) shape[i] = m.shape[i];
  shape[m.ndim] = -1;
  op_g_set(c, 0, EMIT("aten.view.default", "tI", h, m.ndim + 1, shape));
  return op_g_finish(c);
}
