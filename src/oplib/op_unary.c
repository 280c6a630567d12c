/* SPDX-License-Identifier: MIT
** oplib/op_unary.c: pointwise operators of one tensor, activations, and the
** backward operators of activations.
**
** They differ only by data: each is one row (schema, kernel function, type
** promotion, class of partial rules, gradient, samples).  Gradients write the
** sequence of aten calls of PyTorch's derivatives.yaml. */
#include "oplib/casting.h"
#include "oplib/grading.h"
#include "oplib/op_unwritten.h"
#include "oplib/pw_rows.h"
#include "oplib/second.h"

#include <math.h>
#include <string.h>

#define CONJ(h) op_g_conj(c->e, h)

GRAD(g_neg, EMIT("aten.neg.default", "t", GOUT))
GRAD(g_abs, EMIT("aten.mul.Tensor", "tt", GOUT, EMIT("aten.sgn.default", "t",
                                                     IN)))
GRAD(g_mul_out, EMIT("aten.mul.Tensor", "tt", GOUT, CONJ(OUT)))
GRAD(g_log, EMIT("aten.div.Tensor", "tt", GOUT, CONJ(IN)))
GRAD(g_expm1, EMIT("aten.mul.Tensor", "tt", GOUT,
                   EMIT("aten.add.Scalar", "ti", CONJ(OUT), (int64_t)1)))
GRAD(g_log1p, EMIT("aten.div.Tensor", "tt", GOUT,
                   CONJ(EMIT("aten.add.Scalar", "ti", IN, (int64_t)1))))
GRAD(g_sqrt, EMIT("aten.div.Tensor", "tt", GOUT,
                  EMIT("aten.mul.Scalar", "ti", CONJ(OUT), (int64_t)2)))
GRAD(g_sin, EMIT("aten.mul.Tensor", "tt", GOUT,
                 CONJ(EMIT("aten.cos.default", "t", IN))))
GRAD(g_cos, EMIT("aten.mul.Tensor", "tt", GOUT,
                 EMIT("aten.neg.default", "t",
                      CONJ(EMIT("aten.sin.default", "t", IN)))))
GRAD(g_sigmoid, EMIT("aten.sigmoid_backward.default", "tt", GOUT, OUT))
GRAD(g_tanh, EMIT("aten.tanh_backward.default", "tt", GOUT, OUT))
GRAD(g_relu, EMIT("aten.threshold_backward.default", "tti", GOUT, OUT,
                  (int64_t)0))
GRAD(g_gelu, EMIT("aten.gelu_backward.default", "tt approximate=v", GOUT, IN,
                  ARG(1)))
GRAD(g_leaky, EMIT("aten.leaky_relu_backward.default", "ttvb", GOUT, IN,
                   ARG(1), 0))
GRAD(g_hardtanh, EMIT("aten.hardtanh_backward.default", "ttvv", GOUT, IN,
                      ARG(1),
                      ARG(2)))
GRAD(g_softplus, EMIT("aten.softplus_backward.default", "ttvv", GOUT, IN,
                      ARG(1),
                      ARG(2)))
GRAD(g_elu, EMIT("aten.elu_backward.default", "tvvvbt", GOUT, ARG(1), ARG(2),
                 ARG(3), 0,
                 IN))

/* silu_backward has no derivative of its own: where one is wanted, the gradient is
** written out, s (1 + x (1 - s)) (infinitely_differentiable_silu_backward@2.15). */
static DtStatus g_silu (DtGradCall *c) {
  DtHandle *x = IN, *s, *d;
  if (!c->e->recorded) {
    op_g_set(c, 0, EMIT("aten.silu_backward.default", "tt", GOUT, x));
    return op_g_finish(c);
  }
  s = EMIT("aten.sigmoid.default", "t", x);
  d = EMIT("aten.add.Scalar", "tf", mul(c, x, one_minus(c, s)), 1.0);
  op_g_set(c, 0, mul(c, mul(c, GOUT, s), d));
  return op_g_finish(c);
}

static DtStatus g_rsqrt (DtGradCall *c) {
  DtHandle *p = CONJ(EMIT("aten.pow.Tensor_Scalar", "ti", OUT, (int64_t)3));
  DtHandle *h = EMIT("aten.mul.Scalar", "tf", GOUT, -0.5);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", h, p));
  return op_g_finish(c);
}

static DtStatus g_reciprocal (DtGradCall *c) {
  DtHandle *p = CONJ(EMIT("aten.mul.Tensor", "tt", OUT, OUT));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", EMIT("aten.neg.default", "t",
                                                    GOUT), p));
  return op_g_finish(c);
}

/* 2 / sqrt(pi) * exp(-x^2) * g */
static DtStatus g_erf (DtGradCall *c) {
  DtHandle *h = EMIT("aten.pow.Tensor_Scalar", "ti", IN, (int64_t)2);
  h = EMIT("aten.exp.default", "t", EMIT("aten.neg.default", "t", h));
  h = EMIT("aten.mul.Scalar", "tf", h, 2.0 / sqrt(acos(-1.0)));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", h, GOUT));
  return op_g_finish(c);
}

/* clamp and its halves: the gradient passes where the input is in bounds; the
** bounds themselves were in, and later out. */
static DtStatus bound (DtGradCall *c, int lo, int hi) {
  DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
  DtHandle *a = NULL, *b = NULL;
  bool out = (c->op->flags & DT_OP_LATER) != 0;
  if (lo && !dt_arg_is_none(c->args, lo))
    a = EMIT(out ? "aten.gt.Scalar" : "aten.ge.Scalar", "tv", IN, ARG(lo));
  if (hi && !dt_arg_is_none(c->args, hi))
    b = EMIT(out ? "aten.lt.Scalar" : "aten.le.Scalar", "tv", IN, ARG(hi));
  if (a && b) a = EMIT("aten.logical_and_.default", "tt", a, b);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", a ? a : b, GOUT, z));
  return op_g_finish(c);
}
static DtStatus g_clamp (DtGradCall *c) { return bound(c, 1, 2); }
static DtStatus g_clamp_min (DtGradCall *c) { return bound(c, 1, 0); }
static DtStatus g_clamp_max (DtGradCall *c) { return bound(c, 0, 1); }

/* A direction turns, but grows no longer: (g - s Re(g / s)) / |x|. */
static DtStatus g_sgn (DtGradCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, IN);
  DtHandle *s, *size, *along, *g;
  if (m == NULL || !dt_dtype_is_complex((DtDtype)m->dtype))
    return op_g_zeros(c);
  s = EMIT("aten.sgn.default", "t", IN);
  size = EMIT("aten.abs.default", "t", IN);
  along = EMIT("aten.real.default", "t", EMIT("aten.div.Tensor", "tt", GOUT,
                                              s));
  g = EMIT("aten.sub.Tensor", "tt", GOUT,
           EMIT("aten.mul.Tensor", "tt", s, along));
  g = EMIT("aten.div.Tensor", "tt", g, size);
  op_g_set(c, 0, EMIT("aten.masked_fill.Scalar", "tti", g,
                      EMIT("aten.eq.Scalar", "ti", size, (int64_t)0),
                      (int64_t)0));
  return op_g_finish(c);
}

/* threshold_backward(g, self): the gradient of its first argument. */
static DtStatus g_threshold_backward (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.threshold_backward.default", "ttv", GOUT,
                        dt_gin(c, 1), ARG(2)));
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.zeros_like.default", "t", GOUT));
  return op_g_finish(c);
}

/* ---- kernels that need more than their row ---- */

static DtStatus gelu_meta (DtMetaCall *c) {
  const char *s = dt_arg_str(c->args, c->op->row[PWR_PAR]);
  DT_CHECK(c->cx, strcmp(s, "none") == 0 || strcmp(s, "tanh") == 0,
           DT_E_RUNTIME, "approximate argument must be either none or tanh.");
  return op_pw_meta(c);
}

static bool gelu_is_tanh (const DtKernelCall *c) {
  return strcmp(dt_arg_str(c->args, c->op->row[PWR_PAR]), "tanh") == 0;
}

static DtStatus gelu_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  return dt_k_unary(c->cx, gelu_is_tanh(c) ? DT_U_gelu_tanh : DT_U_gelu, t,
                    NULL, c->in[0], c->out[0]);
}

/* PyTorch's CPU library takes this one over where it can, and cannot
** broadcast. */
static DtStatus gelu_backward_meta (DtMetaCall *c) {
  const DtMeta *g = c->in[0], *x = dt_in(c, 1);
  bool taken = !c->fake && (x->dtype == DT_F32 || x->dtype == DT_BF16) &&
               g->dtype == x->dtype && dt_meta_numel(x) > 1 &&
               dt_meta_numel(g) > 0 &&
               strcmp(dt_arg_str(c->args, 2), "none") == 0;
  DT_CHECK(c->cx, !taken || dt_meta_same_shape(g, x), DT_E_RUNTIME,
           "could not create a primitive descriptor for the reorder "
           "primitive. Run workload with environment variable "
           "ONEDNN_VERBOSE=all to get additional diagnostic information.");
  return op_pw_meta(c);
}

static DtStatus gelu_backward_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  DtDtype ct, rt;
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  op_promo_types(c->cx, PK_SAME, n, o, &ct, &rt);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct, false));
  return op_pw_run(c->cx, c->op, gelu_is_tanh(c) ? DT_B_gelu_tanh_backward
                                                 : DT_B_gelu_backward, ct,
                   NULL, n, o, c->out[0]);
}

/* Bounds of an unsigned type must not be negative; later they are cut to it. */
static DtStatus hardtanh_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  bool cut = (c->op->flags & DT_OP_LATEST) != 0;
  DT_CHECK_SAY0(c->cx, t != DT_BOOL, DT_E_RUNTIME, HARDTANH_BOOL);
  DT_CHECK(c->cx, t != DT_U8 || cut || (dt_arg_float(c->args, 1) >= 0 &&
                                 dt_arg_float(c->args, 2) >= 0), DT_E_RUNTIME,
           "cannot do hardtanh on an unsigned type with negative limits");
  return op_pw_meta(c);
}

/* ---- bounds of integers ---- */

static int64_t least (DtDtype t) {
  return t == DT_U8 ? 0 : t == DT_I8 ? INT8_MIN : t == DT_I16 ? INT16_MIN
         : t == DT_I32 ? INT32_MIN : INT64_MIN;
}

static int64_t most (DtDtype t) {
  return t == DT_U8 ? UINT8_MAX : t == DT_I8 ? INT8_MAX
         : t == DT_I16 ? INT16_MAX : t == DT_I32 ? INT32_MAX : INT64_MAX;
}

/* A bound of a tensor of integers as a value of its type.  It used to become
** one first, so that a small negative one of uint8 wraps and others are refused;
** in the latest way it is refused only where no value of the type can keep it,
** and else cut to the type's range. */
static DtStatus fit_bound (const DtKernelCall *c, DtDtype t, bool upper,
                           DtScalar *v) {
  if (dt_dtype_is_float(t)) return op_number_fits(c->cx, *v, t);
  if (!dt_dtype_is_integral(t, false)) return DT_OK;
  if ((c->op->flags & DT_OP_LATEST) == 0) {
    DT_TRY(c->cx, op_number_fits(c->cx, *v, t));
    if (t == DT_U8 && v->kind <= DT_K_INT)
      *v = dt_scalar_int((int64_t)(uint8_t)v->i);
    return DT_OK;
  }
  int64_t x = v->kind <= DT_K_INT ? v->i
              : v->re >= 0x1p63 ? INT64_MAX
              : v->re < -0x1p63 ? INT64_MIN : (int64_t)v->re;
  DT_CHECK(c->cx, upper ? x >= least(t) : x <= most(t), DT_E_RUNTIME,
           "Clamp %s value %g is outside the representable range of %s",
           upper ? "max" : "min", (double)x, op_dtype_word(t));
  *v = dt_scalar_int(x < least(t) ? least(t) : x > most(t) ? most(t) : x);
  return DT_OK;
}

/* clamp: which bounds are given is a parameter too. */
static DtStatus clamp_kernel (DtKernelCall *c) {
  OpOperand o[3];
  DtScalar p[4];
  DtDtype ct, rt;
  int given = 0;
  (void)op_pw_operands(c->op, c->args, NULL, c->in, o);
  for (int i = 1; i <= 2; i++) {
    bool none = dt_arg_is_none(c->args, i);
    given |= none ? 0 : i;
    p[i - 1] = none ? dt_scalar_int(0) : dt_arg_scalar(c->args, i);
  }
  op_promo_types(c->cx, PK_SAME, c->op->row[PWR_N], o, &ct, &rt);
  DT_TRY(c->cx, op_kernel_allows(c->cx, &dt_op_clamp, NULL, ct, false));
  if (given & 1) DT_TRY(c->cx, fit_bound(c, ct, false, &p[0]));
  if (given & 2) DT_TRY(c->cx, fit_bound(c, ct, true, &p[1]));
  p[2] = dt_scalar_int(given);
  p[3] = dt_scalar_int(0);
  return dt_k_unary(c->cx, DT_U_clamp, ct, p, c->in[0], c->out[0]);
}

/* clamp_min and clamp_max: the bound is operand 1. */
static DtStatus bound_kernel (DtKernelCall *c, bool upper) {
  OpOperand o[2];
  DtScalar p[4];
  DtDtype ct, rt;
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  op_promo_types(c->cx, PK_SAME, n, o, &ct, &rt);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct, false));
  DT_TRY(c->cx, fit_bound(c, ct, upper, &o[1].num));
  for (int i = 0; i < 4; i++) p[i] = dt_scalar_int(0);
  return op_pw_run(c->cx, c->op, c->op->row[PWR_FN], ct, p, n, o, c->out[0]);
}
static DtStatus clamp_min_kernel (DtKernelCall *c) {
  return bound_kernel(c, false);
}
static DtStatus clamp_max_kernel (DtKernelCall *c) {
  return bound_kernel(c, true);
}

static DtStatus hardtanh_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DtScalar p[4] = { dt_arg_scalar(c->args, 1), dt_arg_scalar(c->args, 2),
                    dt_scalar_int(0), dt_scalar_int(0) };
  if (!dt_dtype_is_integral(t, false)) return op_pw_kernel(c);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  DT_TRY(c->cx, fit_bound(c, t, false, &p[0]));
  DT_TRY(c->cx, fit_bound(c, t, true, &p[1]));
  return dt_k_unary(c->cx, DT_U_hardtanh, t, p, c->in[0], c->out[0]);
}

/* The numbers of clamp, clamp_min and clamp_max promote like operands. */
static DtStatus clamp_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, c->op->row[PWR_N] < 3 || !dt_arg_is_none(c->args, 1) ||
                  !dt_arg_is_none(c->args, 2), DT_E_RUNTIME,
           "torch.clamp: At least one of 'min' or 'max' must not be None");
  return op_pw_meta(c);
}

/* ---- composites ---- */

static DtStatus square_decomp (DtDecompCall *c) {
  c->out[0] = dt_emit(c->e, c->op->sig->inplace ? "aten.pow_.Scalar"
                                                : "aten.pow.Tensor_Scalar",
                      "ti", c->in[0], (int64_t)2);
  c->nout = 1;
  return c->e->st;
}

/* ---- samples ---- */

static const char *const clamp_samples[] = {
  "f32[8, 6], 0.2, 0.7", "f32[7], min=0.1", "f32[1], max=0.5", "f32[0, 4], 0.0",
  "f32[], 0, 1", "i64[6], 1, 3", NULL
};
static const char *const bound_samples[] = {
  "f32[8, 6], 0.3", "f32[7], 0.1", "f32[1], 0.5", "f32[0, 4], 0.0",
  "f32[], 0.5", "i64[6], 2", NULL
};
static const char *const float_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[0, 4]", "f32[]", "f64[3, 2]", NULL
};
static const char *const back_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[7, 5]", "f32[1], f32[1]",
  "f32[0, 4], f32[0, 4]", "f32[], f32[]", NULL
};
static const char *const thr_samples[] = {
  "f32[8, 6], f32[8, 6], 0", "f32[7], f32[7], 0.5", "f32[1], f32[1], 0",
  "f32[0, 4], f32[0, 4], 0", "f32[], f32[], 0", NULL
};
static const char *const leaky_samples[] = {
  "f32[8, 6], f32[8, 6], 0.1, false", "f32[7], f32[7], 0.2, false",
  "f32[0], f32[0], 0.1, false", NULL
};
static const char *const two_samples[] = {
  "f32[8, 6], f32[8, 6], -1.0, 1.0", "f32[7], f32[7], 2.0, 3.0",
  "f32[0], f32[0], 1.0, 2.0", NULL
};
static const char *const elub_samples[] = {
  "f32[8, 6], 1.0, 1.0, 1.0, false, f32[8, 6]",
  "f32[7], 1.5, 1.0, 1.0, true, f32[7]", NULL
};

/* ---- rows ---- */

#define F_ float_samples

U(abs, abs, PK_REAL, "Absolute value.", 0, NONE, g_abs, S_);
U(bitwise_not, bitwise_not, PK_SAME, "Bits inverted; not, for bool.", NOGRAD,
  NONE, NULL, op_samples_int_unary);
U(ceil, ceil, PK_SAME, "Smallest integer not below.", 0, NONDECREASING,
  op_g_zeros, F_);
U(cos, cos, PK_FLOAT, "Cosine.", 0, NONE, g_cos, S_);
U(erf, erf, PK_FLOAT, "Error function.", 0, NONDECREASING, g_erf, S_);
U(exp, exp, PK_FLOAT, "Exponential.", SAVE, NONDECREASING, g_mul_out, S_);
U(expm1, expm1, PK_FLOAT, "exp(x) - 1, exact near 0.", SAVE, NONDECREASING,
  g_expm1, S_);
U(floor, floor, PK_SAME, "Largest integer not above.", 0, NONDECREASING,
  op_g_zeros, F_);
U(isnan, isnan, PK_BOOL, "Is it NaN?", NOGRAD, NONE, NULL, S_);
U(log, log, PK_FLOAT, "Natural logarithm.", 0, NONE, g_log, S_);
U(log1p, log1p, PK_FLOAT, "log(1 + x), exact near 0.", 0, NONE, g_log1p, S_);
U(logical_not, logical_not, PK_BOOL, "Is it zero?", NOGRAD, NONE, NULL, S_);
U(neg, neg, PK_SAME, "Negative.", 0, NEG, g_neg, S_);
U(reciprocal, reciprocal, PK_FLOAT, "1 / x.", SAVE, NONE, g_reciprocal, S_);
U(relu, relu, PK_SAME, "Zero where negative.", SAVE, NONDECREASING, g_relu,
  S_);
U(round, round, PK_SAME, "Nearest integer, halves to even.", 0,
  NONDECREASING, op_g_zeros, F_);
U(rsqrt, rsqrt, PK_FLOAT, "1 / sqrt(x).", SAVE, NONE, g_rsqrt, S_);
U(sgn, sgn, PK_SAME, "Sign; of a complex number its direction.", 0,
  NONDECREASING, g_sgn, S_);
U(sigmoid, sigmoid, PK_FLOAT, "1 / (1 + exp(-x)).", SAVE, NONDECREASING,
  g_sigmoid, S_);
U(sign, sign, PK_SAME, "-1, 0 or 1.", 0, NONDECREASING, op_g_zeros, S_);
U(silu, silu, PK_SAME, "x * sigmoid(x).", 0, NONE, g_silu, F_);
U(sin, sin, PK_FLOAT, "Sine.", 0, NONE, g_sin, S_);
U(sqrt, sqrt, PK_FLOAT, "Square root.", SAVE, NONE, g_sqrt, S_);
U(tanh, tanh, PK_FLOAT, "Hyperbolic tangent.", SAVE, NONDECREASING, g_tanh,
  S_);

/* A power by a whole number: bool becomes an integer. */
static DtStatus square_meta (DtMetaCall *c) {
  DT_TRY(c->cx, op_pw_meta(c));
  if (c->out[0].dtype == DT_BOOL) c->out[0].dtype = DT_I64;
  return DT_OK;
}
static DtStatus square_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, t, false));
  return dt_k_unary(c->cx, DT_U_square, t == DT_BOOL ? DT_I64 : t, NULL,
                    c->in[0], c->out[0]);
}
ROW1(square, square, PK_SAME, 0, 0);
const DtOpDef dt_op_square = {
  .schema = "aten::square(Tensor self) -> Tensor",
  .brief = "x * x.", .flags = PW | DT_OP_COMPOSITE,
  .meta = square_meta, .kernel = square_kernel, .decomp = square_decomp,
  .samples = op_samples_unary, .row = row_square
};

ROW1(gelu, gelu, PK_SAME, 1, 1);
const DtOpDef dt_op_gelu = {
  .schema = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
  .brief = "x times the normal distribution's integral up to x.", .flags = PW,
  .meta = gelu_meta, .kernel = gelu_kernel, .grad = g_gelu, .samples = F_,
  .row = row_gelu
};
ROW1(leaky_relu, leaky_relu, PK_SAME, 1, 1);
DEF(leaky_relu, "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    "x, times a slope where negative.", 0, NONE, g_leaky, F_);
ROW1(hardtanh, hardtanh, PK_SAME, 2, 1, 2);
const DtOpDef dt_op_hardtanh = {
  .schema = "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) "
            "-> Tensor",
  .brief = "x cut to an interval.", .flags = PW, .meta = hardtanh_meta,
  .kernel = hardtanh_kernel, .grad = g_hardtanh, .samples = F_,
  .row = row_hardtanh
};
ROW1(softplus, softplus, PK_SAME, 2, 1, 2);
DEF(softplus,
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    "log(1 + exp(beta x)) / beta.", 0, NONE, g_softplus, F_);
ROW1(elu, elu, PK_SAME, 3, 1, 2, 3);
DEF(elu, "elu(Tensor self, Scalar alpha=1, Scalar scale=1, "
    "Scalar input_scale=1) -> Tensor",
    "x where positive, alpha (exp(x) - 1) elsewhere.", 0, NONE, g_elu, F_);

/* clamp's bounds promote: they stand as operands 1 and 2 for the types. */
static const int row_clamp[PWR_LEN] = { DT_U_clamp, PK_SAME, 3, 0, 1, 2, 0 };
const DtOpDef dt_op_clamp = {
  .schema = "aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> "
            "Tensor",
  .brief = "x cut to [min, max]; max where min > max.", .flags = PW,
  .meta = clamp_meta, .kernel = clamp_kernel, .grad = g_clamp,
  .samples = clamp_samples, .row = row_clamp
};

/* ---- backward operators: (gradient, saved tensor, parameters) ---- */

#define BROW(id, first, second, npar, ...) \
  static const int row_##id[PWR_LEN] = { DT_B_##id, PK_SAME, 2, first, second, \
                                         0, npar, __VA_ARGS__ }
BROW(threshold_backward, 0, 1, 1, 2);
const DtOpDef dt_op_threshold_backward = {
  .schema = "aten::threshold_backward(Tensor grad_output, Tensor self, "
            "Scalar threshold) -> Tensor",
  .brief = "Gradient of relu and threshold.", .flags = PW,
  .meta = op_pw_meta_second, .kernel = op_pw_kernel,
  .grad = g_threshold_backward, .samples = thr_samples,
  .row = row_threshold_backward
};
BROW(sigmoid_backward, 0, 1, 0, 0);
DEF(sigmoid_backward, "sigmoid_backward(Tensor grad_output, Tensor output) -> "
    "Tensor", "Gradient of sigmoid from its output.", 0, NONE,
    op_gg_sigmoid_backward,
    back_samples);
BROW(tanh_backward, 0, 1, 0, 0);
DEF(tanh_backward, "tanh_backward(Tensor grad_output, Tensor output) -> "
    "Tensor", "Gradient of tanh from its output.", 0, NONE,
    op_gg_tanh_backward,
    back_samples);
BROW(silu_backward, 0, 1, 0, 0);
DEF(silu_backward, "silu_backward(Tensor grad_output, Tensor self) -> Tensor",
    "Gradient of silu.", 0, NONE, op_g_absent, back_samples);
BROW(gelu_backward, 0, 1, 1, 2);
const DtOpDef dt_op_gelu_backward = {
  .schema = "aten::gelu_backward(Tensor grad_output, Tensor self, *, "
            "str approximate=\"none\") -> Tensor",
  .brief = "Gradient of gelu.", .flags = PW, .meta = gelu_backward_meta,
  .kernel = gelu_backward_kernel, .grad = op_gg_gelu_backward, .samples = back_samples,
  .row = row_gelu_backward
};
BROW(leaky_relu_backward, 0, 1, 1, 2);
const DtOpDef dt_op_leaky_relu_backward = {
  .schema = "aten::leaky_relu_backward(Tensor grad_output, Tensor self, "
            "Scalar negative_slope, bool self_is_result) -> Tensor",
  .brief = "Gradient of leaky_relu.", .flags = DT_OP_ALIAS_SAFE,
  .grad = op_gg_leaky_relu_backward,
  .meta = op_pw_meta_second, .kernel = op_pw_kernel, .decomp = op_d_program,
  .program = "m = gt.Scalar(self, 0); a = mul.Tensor(grad_output, "
             "negative_slope); where.self(m, grad_output, a)",
  .samples = leaky_samples, .row = row_leaky_relu_backward
};
BROW(softplus_backward, 0, 1, 2, 2, 3);
const DtOpDef dt_op_softplus_backward = {
  .schema = "aten::softplus_backward(Tensor grad_output, Tensor self, "
            "Scalar beta, Scalar threshold) -> Tensor",
  .brief = "Gradient of softplus.", .flags = DT_OP_ALIAS_SAFE,
  .grad = op_gg_softplus_backward,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .decomp = op_d_program,
  .program = "a = mul.Tensor(self, beta); z = exp(a); m = gt.Scalar(a, "
             "threshold); b = mul.Tensor(grad_output, z); d = add.Tensor(z, "
             "1.0); q = div.Tensor(b, d); where.self(m, grad_output, q)",
  .samples = two_samples, .row = row_softplus_backward
};
BROW(elu_backward, 0, 5, 4, 1, 2, 3, 4);
static DtStatus elu_backward_decomp (DtDecompCall *c) {
  return op_program(c, dt_arg_bool(c->args, 4)
    ? "m = le.Scalar(self_or_result, 0); a = mul.Tensor(grad_output, "
      "input_scale); b = add.Tensor(self_or_result, alpha); l = "
      "mul.Tensor(a, b); r = mul.Tensor(grad_output, scale); "
      "where.self(m, l, r)"
    : "m = le.Scalar(self_or_result, 0); a = mul.Tensor(grad_output, "
      "input_scale); b = mul.Tensor(a, alpha); x = "
      "mul.Tensor(self_or_result, input_scale); e = exp(x); l = "
      "mul.Tensor(b, e); r = mul.Tensor(grad_output, scale); "
      "where.self(m, l, r)");
}
const DtOpDef dt_op_elu_backward = {
  .schema = "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar "
            "scale, Scalar input_scale, bool is_result, Tensor "
            "self_or_result) -> Tensor",
  .brief = "Gradient of elu.", .flags = DT_OP_ALIAS_SAFE,
  .grad = op_gg_elu_backward,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .decomp = elu_backward_decomp,
  .samples = elub_samples, .row = row_elu_backward
};
BROW(hardtanh_backward, 0, 1, 2, 2, 3);
const DtOpDef dt_op_hardtanh_backward = {
  .schema = "aten::hardtanh_backward(Tensor grad_output, Tensor self, "
            "Scalar min_val, Scalar max_val) -> Tensor",
  .brief = "Gradient of hardtanh.",
  .doc = "PyTorch has no sharding strategy for it.",
  .flags = DT_OP_NOSTRATEGY | DT_OP_ALIAS_SAFE,
  .grad = op_gg_hardtanh_backward,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .samples = two_samples,
  .row = row_hardtanh_backward
};

/* clamp_min and clamp_max by a number: binary, so that it promotes. */
static const int row_clamp_min[PWR_LEN] = { DT_B_maximum, PK_SAME, 2, 0, 1 };
const DtOpDef dt_op_clamp_min = {
  .schema = "aten::clamp_min(Tensor self, Scalar min) -> Tensor",
  .brief = "x, at least min.", .flags = PW, .meta = op_pw_meta,
  .kernel = clamp_min_kernel, .grad = g_clamp_min, .samples = bound_samples,
  .row = row_clamp_min
};
static const int row_clamp_max[PWR_LEN] = { DT_B_minimum, PK_SAME, 2, 0, 1 };
const DtOpDef dt_op_clamp_max = {
  .schema = "aten::clamp_max(Tensor self, Scalar max) -> Tensor",
  .brief = "x, at most max.", .flags = PW, .meta = op_pw_meta,
  .kernel = clamp_max_kernel, .grad = g_clamp_max, .samples = bound_samples,
  .row = row_clamp_max
};
