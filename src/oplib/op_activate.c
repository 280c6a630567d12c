/* SPDX-License-Identifier: MIT
** oplib/op_activate.c: activations that op_unary.c has not, and the backward
** operators of activations.
**
** One row each.  Backward operators without a strategy in PyTorch carry the
** decomposition by which it propagates them. */
#include "base/error_tool.h"
#include "oplib/casting.h"
#include "oplib/grading.h"
#include "oplib/pw_rows.h"
#include "oplib/op_unwritten.h"
#include "oplib/second.h"

/* ---- gradients ---- */

/* With t = tanh(log(1 + exp x)) and s = sigmoid x: t + x s (1 - t t), written out
** where a derivative of it is wanted: mish_backward has none. */
static DtStatus g_mish (DtGradCall *c) {
  DtHandle *x = IN, *s, *t, *flat;
  if (!c->e->recorded) {
    op_g_set(c, 0, EMIT("aten.mish_backward.default", "tt", GOUT, x));
    return op_g_finish(c);
  }
  s = EMIT("aten.sigmoid.default", "t", x);
  t = EMIT("aten.log1p.default", "t", EMIT("aten.exp.default", "t", x));
  t = EMIT("aten.tanh.default", "t", t);
  flat = one_minus(c, mul(c, t, t));
  t = add(c, t, mul(c, mul(c, x, s), flat));
  op_g_set(c, 0, mul(c, GOUT, t));
  return op_g_finish(c);
}
GRAD(g_hardsigmoid, EMIT("aten.hardsigmoid_backward.default", "tt", GOUT, IN))
GRAD(g_hardshrink, EMIT("aten.hardshrink_backward.default", "ttv", GOUT, IN,
                        ARG(1)))
GRAD(g_softshrink, EMIT("aten.softshrink_backward.default", "ttv", GOUT, IN,
                        ARG(1)))
GRAD(g_threshold, EMIT("aten.threshold_backward.default", "ttv", GOUT, IN,
                       ARG(1)))
GRAD(g_celu, EMIT("aten.elu_backward.default", "tvifbt", GOUT, ARG(1), ONE,
                  1.0 / dt_arg_float(c->args, 1), 0, IN))
GRAD(g_rrelu, EMIT("aten.rrelu_with_noise_backward.default", "tttvvvb", GOUT,
                   IN,
                   TENSOR(1), ARG(2), ARG(3), ARG(4), 0))

/* The sign of the result is that of self, since no slope is negative. */
GRAD(g_rrelu_, EMIT("aten.rrelu_with_noise_backward.default", "tttvvvb", GOUT,
                    c->out[0], TENSOR(1), ARG(2), ARG(3), ARG(4), 1))

/* shrink_backward(g, self): linear in its first argument. */
static DtStatus shrink_grad (DtGradCall *c, const char *op) {
  if (op_g_need(c, 0)) op_g_set(c, 0, EMIT(op, "ttv", GOUT, TENSOR(1),
                                           ARG(2)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", GOUT));
  return op_g_finish(c);
}
static DtStatus g_hardshrink_backward (DtGradCall *c) {
  return shrink_grad(c, "aten.hardshrink_backward.default");
}
static DtStatus g_softshrink_backward (DtGradCall *c) {
  return shrink_grad(c, "aten.softshrink_backward.default");
}

/* ---- metas and kernels that need more than their row ---- */

static DtStatus softshrink_meta (DtMetaCall *c) {
  double l = dt_arg_float(c->args, 1), top;
  DtDtype t = (DtDtype)c->in[0]->dtype;
  if (!dt_dtype_is_float(t)) return op_pw_meta(c);      /* the kernel says */
  top = t == DT_F64 ? 1.7976931348623157e308 : t == DT_F16 ? 65504.0
        : t == DT_BF16 ? 3.3895313892515355e38 : 3.4028234663852886e38;
  DT_CHECK(c->cx, l >= 0 && l <= top, DT_E_RUNTIME, "lambda must be in range "
           "[0, %g] for input dtype %s, but found %g", top, dt_dtype_word(t),
           l);
  return op_pw_meta(c);
}

static DtStatus celu_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, dt_arg_float(c->args, 1) != 0, DT_E_RUNTIME,
           "ZeroDivisionError: alpha cannot be 0 for CELU");
  return op_pw_meta(c);
}

/* Noise of a training step: drawn for each element that is not positive, 1
** elsewhere.  The CPU's generator gives a number to those alone. */
static DtStatus rrelu_noise (DtKernelCall *c, double lo, double hi,
                             const DtTensor *x, DtTensor *noise) {
  DtTensor *v = NULL, *u = NULL;
  const double *in;
  DtStatus st = DT_OK;
  void *p;
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, x->m.ndim, x->m.shape, &v));
  DT_TRYG(c->cx, op_temp(c->cx, DT_F64, x->m.ndim, x->m.shape, &u));
  DT_TRYG(c->cx, dt_k_copy(c->cx, x, v));
  if (c->rng->twister == NULL)
    DT_TRYG(c->cx, dt_k_uniform(c->cx, u, c->rng, lo, hi));
  DT_TRYG(c->cx, dt_tensor_data(c->cx, u, &p));
  in = dt_tensor_cdata(v);
  for (int64_t i = 0, n = dt_meta_numel(&x->m); in != NULL && i < n; i++) {
    if (in[i] > 0) ((double *)p)[i] = 1;
    else if (c->rng->twister)
      ((double *)p)[i] = dt_twist_f64(c->rng) * (hi - lo) + lo;
  }
  st = dt_k_copy(c->cx, u, noise);
done:
  dt_tensor_unref(c->cx, v);
  dt_tensor_unref(c->cx, u);
  return st;
}

/* Out of training the slope is the mean of the bounds. */
static DtStatus rrelu_kernel (DtKernelCall *c) {
  double lo = dt_arg_float(c->args, 2), hi = dt_arg_float(c->args, 3);
  DtTensor *x = c->in[0], *noise = c->in[1], *out = c->out[0];
  DtDtype t = (DtDtype)x->m.dtype;
  if (!dt_arg_bool(c->args, 4) || !c->rng) {
    DtScalar slope = dt_scalar_float((lo + hi) / 2);
    return dt_k_unary(c->cx, DT_U_leaky_relu, t, &slope, x, out);
  }
  DT_TRY(c->cx, rrelu_noise(c, lo, hi, x, noise));
  return dt_k_binary(c->cx, DT_B_mul, t, NULL, x, noise, out);
}

/* The functional form gives the noise it drew as a second result. */
static DtStatus rrelu_functional_meta (DtMetaCall *c) {
  DT_TRY(c->cx, op_pw_meta(c));
  op_like_meta(&c->out[1], c->in[1], (DtDtype)c->in[1]->dtype);
  c->nout = 2;
  return DT_OK;
}
static DtStatus rrelu_functional_kernel (DtKernelCall *c) {
  DtTensor *in[2] = { c->in[0], c->out[1] };
  DtKernelCall k = *c;
  DT_TRY(c->cx, dt_k_copy(c->cx, c->in[1], c->out[1]));
  k.in = in;
  return rrelu_kernel(&k);
}

/* In training a product, else as of leaky_relu. */
static DtStatus rrelu_backward_meta (DtMetaCall *c) {
  double lo = dt_arg_float(c->args, 3), hi = dt_arg_float(c->args, 4);
  return dt_arg_bool(c->args, 5) && hi - lo > 1e-6 ? op_pw_meta(c)
                                                   : op_pw_meta_second(c);
}

static DtStatus rrelu_backward_kernel (DtKernelCall *c) {
  double lo = dt_arg_float(c->args, 3), hi = dt_arg_float(c->args, 4);
  DtDtype t = (DtDtype)c->out[0]->m.dtype;
  DtScalar slope = dt_scalar_float((lo + hi) / 2);
  if (dt_arg_bool(c->args, 5) && hi - lo > 1e-6)
    return dt_k_binary(c->cx, DT_B_mul, t, NULL, c->in[0], c->in[2],
                       c->out[0]);
  return dt_k_binary(c->cx, DT_B_leaky_relu_backward, t, &slope, c->in[0],
                     c->in[1], c->out[0]);
}

/* ---- decompositions ---- */

static DtStatus one (DtDecompCall *c, DtHandle *h) {
  c->out[0] = h;
  c->nout = 1;
  return c->e->st;
}
static DtStatus relu6_decomp (DtDecompCall *c) {
  return one(c, EMIT(c->op->sig->inplace ? "aten.hardtanh_.default"
                                         : "aten.hardtanh.default", "tii",
                     c->in[0], (int64_t)0, (int64_t)6));
}
static DtStatus selu_decomp (DtDecompCall *c) {
  return one(c, EMIT(c->op->sig->inplace ? "aten.elu_.default"
                                         : "aten.elu.default", "tff", c->in[0],
                     1.6732632423543772, 1.0507009873554805));
}

/* t = tanh(softplus(x)): g (t + x sigmoid(x) (1 - t^2)) */
static DtStatus mish_backward_decomp (DtDecompCall *c) {
  DtHandle *x = c->in[1];
  DtHandle *t = EMIT("aten.tanh.default", "t",
                     EMIT("aten.softplus.default", "t", x));
  DtHandle *s = EMIT("aten.sigmoid.default", "t", x);
  DtHandle *h = EMIT("aten.mul.Tensor", "tt", x, s);
  DtHandle *q = EMIT("aten.mul.Tensor", "tt", t, t);
  q = EMIT("aten.rsub.Scalar", "ti", q, ONE);
  h = EMIT("aten.add.Tensor", "tt", t, EMIT("aten.mul.Tensor", "tt", h, q));
  return one(c, EMIT("aten.mul.Tensor", "tt", c->in[0], h));
}

/* 0 inside of [-lambd, lambd] */
static DtStatus shrink_backward_decomp (DtDecompCall *c) {
  double l = dt_arg_float(c->args, 2);
  DtHandle *k = EMIT("aten.ge.Scalar", "tf", c->in[1], -l);
  DtHandle *j = EMIT("aten.le.Scalar", "tf", c->in[1], l);
  k = EMIT("aten.bitwise_and.Tensor", "tt", k, j);
  DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, c->in[0]));
  return one(c, EMIT("aten.where.self", "ttt", k, z, c->in[0]));
}

/* The noise drawn in training is the gradient; else as leaky_relu. */
static DtStatus rrelu_backward_decomp (DtDecompCall *c) {
  double lo = dt_arg_float(c->args, 3), hi = dt_arg_float(c->args, 4);
  if (dt_arg_bool(c->args, 5) && hi - lo > 1e-6)
    return one(c, EMIT("aten.mul.Tensor", "tt", c->in[0], c->in[2]));
  return one(c, EMIT("aten.leaky_relu_backward.default", "ttfv", c->in[0],
                     c->in[1], (lo + hi) / 2, ARG(6)));
}

/* ---- samples ---- */

static const char *const float_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[0, 4]", "f32[]", "f64[3, 2]", NULL
};
static const char *const number_samples[] = {
  "f32[8, 6]", "f32[7], 0.3", "f32[0, 4]", "f32[]", NULL
};
static const char *const threshold_samples[] = {
  "f32[8, 6], 0.1, 20", "f32[7], 0.5, 0", "f32[0, 4], 0, 0", "f32[], 0, 1",
  NULL
};
static const char *const noise_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7], f32[7], 0.1, 0.3", "f32[0], f32[0]", NULL
};
static const char *const noise_back_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6], 0.1, 0.3, false, false",
  "f32[7], f32[7], f32[7], 0.1, 0.3, true, false", NULL
};
static const char *const back_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[7, 5]", "f32[0, 4], f32[0, 4]",
  "f32[], f32[]", NULL
};
static const char *const shrink_samples[] = {
  "f32[8, 6], f32[8, 6], 0.5", "f32[7], f32[7], 0.2", "f32[0], f32[0], 0.5",
  NULL
};

/* ---- rows ---- */

U(hardsigmoid, hardsigmoid, PK_SAME, "Sigmoid of straight lines.", 0, NONE,
  g_hardsigmoid, float_samples);
U(mish, mish, PK_SAME, "x * tanh(softplus(x)).", 0, NONE, g_mish,
  float_samples);
ROW1(hardshrink, hardshrink, PK_SAME, 1, 1);
DEF(hardshrink, "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    "0 where |x| <= lambd.", 0, NONDECREASING, g_hardshrink, number_samples);
ROW1(threshold, threshold, PK_SAME, 2, 1, 2);
DEF(threshold, "threshold(Tensor self, Scalar threshold, Scalar value) -> "
    "Tensor", "A value where x <= threshold.", 0, NONDECREASING, g_threshold,
    threshold_samples);

#define CHECKED(id, schema_, brief_, meta_, grad_) \
  ROW1(id, id, PK_SAME, 1, 1); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = PW, .meta = meta_, \
    .kernel = op_pw_kernel, .grad = grad_, .samples = number_samples, \
    .row = row_##id }
CHECKED(softshrink, "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
        "x moved towards 0 by lambd.", softshrink_meta, g_softshrink);
CHECKED(celu, "celu(Tensor self, Scalar alpha=1.) -> Tensor",
        "x where positive, alpha (exp(x / alpha) - 1) elsewhere.", celu_meta,
        g_celu);

#define COMPOSITE(id, brief_) \
  ROW1(id, id, PK_SAME, 0, 0); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor self) -> Tensor", .brief = brief_, \
    .flags = PW | DT_OP_COMPOSITE, .meta = op_pw_meta, \
    .kernel = op_pw_kernel, .decomp = id##_decomp, \
    .samples = float_samples, .row = row_##id }
COMPOSITE(relu6, "x cut to [0, 6].");
COMPOSITE(selu, "elu with the slope and scale that keep mean and variance.");

static DtStatus rrelu_meta (DtMetaCall *c) {
  const DtMeta *m = c->in[0], *n = dt_in(c, 1);
  DT_CHECK(c->cx, c->fake || dt_meta_same_shape(m, n), DT_E_RUNTIME, "noise "
           "tensor shape must match self tensor shape. Got self.shape = %s "
           "noise.shape = %s", op_shape_text(m).s, op_shape_text(n).s);
  DT_TRY(c->cx, op_pw_meta(c));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}
static const int row_rrelu_with_noise[PWR_LEN] = { DT_U_leaky_relu, PK_SAME,
                                                   2, 0, 1, 0, 0 };
const DtOpDef dt_op_rrelu_with_noise = {
  .schema = "aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar "
            "lower=0.125, Scalar upper=0.33333333333333331, bool "
            "training=False, Generator? generator=None) -> Tensor",
  .brief = "leaky_relu whose slope is drawn in training.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_RANDOM, .meta = rrelu_meta,
  .kernel = rrelu_kernel, .grad = g_rrelu, .samples = noise_samples,
  .row = row_rrelu_with_noise
};

const DtOpDef dt_op_rrelu_with_noise_ = {
  .schema = "aten::rrelu_with_noise_(Tensor(a!) self, Tensor(b!) noise, Scalar "
            "lower=0.125, Scalar upper=0.33333333333333331, bool "
            "training=False, Generator? generator=None) -> Tensor(a!)",
  .brief = "leaky_relu whose slope is drawn in training, in place.",
  .flags = DT_OP_INPLACE | DT_OP_RANDOM | DT_OP_NOSTRATEGY | DT_OP_ALIAS_SAFE,
  .meta = op_meta_inplace, .kernel = rrelu_kernel, .grad = g_rrelu_,
  .samples = noise_samples, .row = row_rrelu_with_noise
};

/* The noise is thrown away. */
static DtStatus rrelu_decomp (DtDecompCall *c) {
  DtHandle *noise = EMIT("aten.empty_like.default", "t", c->in[0]);
  c->out[0] = EMIT("aten.rrelu_with_noise.default", "ttvvvv", c->in[0], noise,
                   c->args->v[1], c->args->v[2], c->args->v[3], c->args->v[4]);
  c->nout = 1;
  return c->e->st;
}
const DtOpDef dt_op_rrelu = {
  .schema = "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar "
            "upper=0.33333333333333331, bool training=False, Generator? "
            "generator=None) -> Tensor",
  .brief = "leaky_relu whose slope is drawn in training.",
  .flags = DT_OP_COMPOSITE | DT_OP_RANDOM, .decomp = rrelu_decomp,
  .samples = float_samples
};

static const int row_rrelu_with_noise_functional[PWR_LEN] = {
  DT_U_leaky_relu, PK_SAME, 2, 0, 1, 0, 0
};
const DtOpDef dt_op_rrelu_with_noise_functional = {
  .schema = "aten::rrelu_with_noise_functional(Tensor self, Tensor noise, "
            "Scalar lower=0.125, Scalar upper=0.33333333333333331, bool "
            "training=False, Generator? generator=None) -> (Tensor, Tensor "
            "noise_out)",
  .brief = "rrelu_with_noise that gives the noise it drew.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_RANDOM | NOGRAD,
  .meta = rrelu_functional_meta, .kernel = rrelu_functional_kernel,
  .samples = noise_samples, .row = row_rrelu_with_noise_functional
};

/* ---- backward operators: (gradient, saved tensor, parameters) ---- */

static const int row_logit_backward[PWR_LEN] = { DT_B_logit_backward,
                                                 PK_SAME, 2, 0, 1, 0, 1, 2 };
DEF(logit_backward, "logit_backward(Tensor grad_output, Tensor self, float? "
    "eps=None) -> Tensor", "Gradient of logit.", 0, NONE,
    op_g_absent, back_samples);

/* The result has the input's type, whatever the gradient's. */
static DtStatus mish_backward_meta (DtMetaCall *c) {
  DtMeta all;
  DtDtype t = (DtDtype)c->in[1]->dtype;
  DtDtype both = dt_dtype_promote((DtDtype)c->in[0]->dtype, t);
  if (c->fake || both == DT_DTYPE_NONE) return op_pw_meta(c);
  DT_TRY(c->cx, dt_meta_broadcast(c->cx, c->in[0], c->in[1], &all));
  DT_TRY(c->cx, op_castable(c->cx, both, t));
  DT_TRY(c->cx, op_pw_meta(c));
  c->out[0].dtype = (uint8_t)t;
  return DT_OK;
}

#define BACK(id, flags_, brief_, decomp_, meta_, grad_) \
  static const int row_##id[PWR_LEN] = { DT_B_##id, PK_SAME, 2, 0, 1 }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor grad_output, Tensor self) -> Tensor", \
    .brief = brief_, .flags = DT_OP_ALIAS_SAFE | (flags_), \
    .meta = meta_, .kernel = op_pw_kernel, .decomp = decomp_, \
    .grad = grad_, .samples = back_samples, .row = row_##id }
BACK(hardsigmoid_backward, DT_OP_NOSTRATEGY, "Gradient of hardsigmoid.", NULL,
     op_pw_meta, op_g_absent);
BACK(mish_backward, 0, "Gradient of mish.", mish_backward_decomp,
     mish_backward_meta, op_g_absent);
static const int row_rrelu_with_noise_backward[PWR_LEN] = {
  DT_B_leaky_relu_backward, PK_SAME, 2, 0, 1, 0, 0
};
const DtOpDef dt_op_rrelu_with_noise_backward = {
  .schema = "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, "
            "Tensor noise, Scalar lower, Scalar upper, bool training, bool "
            "self_is_result) -> Tensor",
  .brief = "Gradient of rrelu_with_noise.",
  .doc = "Propagated by its decomposition.",
  .flags = DT_OP_ALIAS_SAFE, .meta = rrelu_backward_meta,
  .kernel = rrelu_backward_kernel, .decomp = rrelu_backward_decomp,
  .grad = op_gg_rrelu_with_noise_backward,
  .samples = noise_back_samples, .row = row_rrelu_with_noise_backward
};
#define SHRINK(id, first, brief_) \
  static const int row_##id[PWR_LEN] = { DT_B_##id, PK_SAME, 2, 0, 1, 0, 1, \
                                         2 }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" #id "(Tensor " first ", Tensor self, Scalar lambd) -> " \
              "Tensor", \
    .brief = brief_, .doc = "Propagated by its decomposition.", \
    .flags = DT_OP_ALIAS_SAFE, .meta = op_pw_meta, \
    .kernel = op_pw_kernel, .decomp = shrink_backward_decomp, \
    .grad = g_##id, .samples = shrink_samples, .row = row_##id }
SHRINK(hardshrink_backward, "grad_out", "Gradient of hardshrink.");
SHRINK(softshrink_backward, "grad_output", "Gradient of softshrink.");
