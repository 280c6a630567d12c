/* SPDX-License-Identifier: MIT
** oplib/op_pair.c: pointwise operators of two tensors that op_binary.c has
** not: angles, lengths, remainders, shifts, extremes that ignore NaN, and
** composites such as clip and float_power.
**
** One row each.  Composites have rules of their own besides: they hold when
** the composite itself is propagated. */
#include "oplib/grading.h"
#include "oplib/pw_rows.h"

#include <math.h>
#include <string.h>

/* ---- gradients: the second operand first ---- */

static DtStatus g_atan2 (DtGradCall *c) {
  DtHandle *h = EMIT("aten.mul.Tensor", "tt", TENSOR(1), TENSOR(1));
  DtHandle *d = EMIT("aten.mul.Tensor", "tt", TENSOR(0), TENSOR(0));
  d = EMIT("aten.add.Tensor", "tt", d, h);
  h = EMIT("aten.reciprocal.default", "t", d);
  d = EMIT("aten.eq.Scalar", "ti", d, (int64_t)0);
  h = EMIT("aten.masked_fill.Scalar", "tti", h, d, (int64_t)0);
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt",
                        EMIT("aten.mul.Tensor", "tt", GOUT, TENSOR(1)), h));
  if (op_g_need(c, 1)) {
    d = EMIT("aten.neg.default", "t", TENSOR(0));
    d = EMIT("aten.mul.Tensor", "tt", GOUT, d);
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", d, h));
  }
  return op_g_finish(c);
}

/* How fmax and fmin compare. */
typedef struct Extreme {
  const char *beats, *loses, *reaches;
} Extreme;

/* Where operand `i` of fmax or fmin does not get the gradient.  2.14 compares
** alone, so NaN leaves it to both; before and after it, self is taken where the
** other one is NaN. */
static DtHandle *not_taken (DtGradCall *c, int i, const Extreme *x) {
  bool latest = (c->op->flags & DT_OP_LATEST) != 0;
  bool later = (c->op->flags & DT_OP_LATER) != 0, ties = later && i == 1;
  DtHandle *h, *n;
  if (later && !latest)
    return EMIT(i == 1 ? x->beats : x->loses, "tt", TENSOR(0), TENSOR(1));
  h = EMIT(ties ? x->beats : x->reaches, "tt", TENSOR(0), TENSOR(1));
  n = EMIT("aten.isnan.default", "t", TENSOR(1));
  h = EMIT("aten.logical_or_.default", "tt", h, n);
  return i == 0 ? EMIT("aten.logical_not_.default", "t", h) : h;
}

/* fmax, fmin: all of the gradient to the operand that was taken; since 2.14 half
** of it to each where both are equal. */
static DtStatus fextreme_grad (DtGradCall *c, const Extreme *x) {
  for (int i = 1; i >= 0; i--) {
    if (!op_g_need(c, i)) continue;
    DtHandle *no = not_taken(c, i, x);
    op_g_set(c, i, (c->op->flags & DT_OP_LATER) != 0
             ? op_g_where_not(c, no, TENSOR(0), TENSOR(1))
             : EMIT("aten.masked_fill.Scalar", "tti", GOUT, no, (int64_t)0));
  }
  return op_g_finish(c);
}
static DtStatus g_fmax (DtGradCall *c) {
  const Extreme x = { "aten.gt.Tensor", "aten.lt.Tensor", "aten.ge.Tensor" };
  return fextreme_grad(c, &x);
}
static DtStatus g_fmin (DtGradCall *c) {
  const Extreme x = { "aten.lt.Tensor", "aten.gt.Tensor", "aten.le.Tensor" };
  return fextreme_grad(c, &x);
}

static DtStatus g_hypot (DtGradCall *c) {
  for (int i = 1; i >= 0; i--) {
    if (!op_g_need(c, i)) continue;
    DtHandle *h = EMIT("aten.mul.Tensor", "tt", GOUT, TENSOR(i));
    op_g_set(c, i, EMIT("aten.div.Tensor", "tt", h, OUT));
  }
  return op_g_finish(c);
}

/* g / (1 + b^(the other - this one)) */
static DtStatus log_sum_grad (DtGradCall *c, bool two) {
  for (int i = 1; i >= 0; i--) {
    if (!op_g_need(c, i)) continue;
    DtHandle *h = EMIT("aten.sub.Tensor", "tt", TENSOR(1 - i), TENSOR(i));
    h = two ? EMIT("aten.pow.Scalar", "it", TWO, h)
            : EMIT("aten.exp.default", "t", h);
    h = op_g_conj(c->e, EMIT("aten.add.Scalar", "ti", h, ONE));
    op_g_set(c, i, EMIT("aten.div.Tensor", "tt", GOUT, h));
  }
  return op_g_finish(c);
}
static DtStatus g_logaddexp (DtGradCall *c) { return log_sum_grad(c, false); }
static DtStatus g_logaddexp2 (DtGradCall *c) { return log_sum_grad(c, true); }

static DtStatus g_fmod (DtGradCall *c) {
  if (op_g_need(c, 1)) {
    DtHandle *h = EMIT("aten.div.Tensor_mode", "tt rounding_mode=s", TENSOR(0),
                       TENSOR(1),
                       "trunc");
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", EMIT("aten.neg.default", "t",
                                                      GOUT),
                        h));
  }
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

/* out / self, 0 at 0; the sign's operand gets zeros. */
static DtStatus g_copysign (DtGradCall *c) {
  if (op_g_need(c, 1)) op_g_set(c, 1, zeros_of(c, TENSOR(1)));
  if (op_g_need(c, 0)) {
    DtHandle *h = EMIT("aten.div.Tensor", "tt", OUT, TENSOR(0));
    DtHandle *z = EMIT("aten.eq.Scalar", "ti", TENSOR(0), (int64_t)0);
    h = EMIT("aten.masked_fill_.Scalar", "tti", h, z, (int64_t)0);
    op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  }
  return op_g_finish(c);
}

static DtStatus g_ldexp (DtGradCall *c) {
  if (op_g_need(c, 1)) {
    DtHandle *h = EMIT("aten.mul.Tensor", "tt", GOUT, op_g_conj(c->e, OUT));
    op_g_set(c, 1, EMIT("aten.mul.Scalar", "tf", h, 0.6931471805599453));
  }
  if (op_g_need(c, 0)) {
    DtHandle *h = EMIT("aten.pow.Scalar", "it", TWO, TENSOR(1));
    op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, op_g_conj(c->e, h)));
  }
  return op_g_finish(c);
}

/* nextafter: the gradient passes where a step is made, or to the second
** operand where none is. */
static DtStatus g_nextafter (DtGradCall *c) {
  if (op_g_need(c, 1)) op_g_set(c, 1, zeros_of(c, TENSOR(1)));
  if (op_g_need(c, 0)) {
    DtHandle *k = EMIT("aten.ne.Tensor", "tt", TENSOR(0), TENSOR(1));
    DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    op_g_set(c, 0, EMIT("aten.where.self", "ttt", k, GOUT, z));
  }
  return op_g_finish(c);
}

NOT_DIFFERENTIABLE(g_heaviside,
                   "derivative for aten::heaviside is not implemented")
NOT_DIFFERENTIABLE(g_remainder,
                   "derivative for aten::remainder is not implemented")

/* ---- metas and kernels that need more than their row ---- */

static DtStatus heaviside_meta (DtMetaCall *c) {
  DT_CHECK_SAY0(c->cx, !dt_dtype_is_complex((DtDtype)c->in[0]->dtype) &&
                !dt_dtype_is_complex((DtDtype)c->in[1]->dtype), DT_E_RUNTIME,
                HEAVISIDE_COMPLEX);
  DT_CHECK(c->cx, c->in[0]->dtype == c->in[1]->dtype, DT_E_RUNTIME,
           "heaviside is not yet implemented for tensors with different "
           "dtypes.");
  return op_pw_meta(c);
}

/* Shifts know integers, not bool. */
static DtStatus shift_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  DT_CHECK(c->cx, op_promote(c->cx, n, o) != DT_BOOL, DT_E_NOTIMPL,
           "\"%s_cpu\" not implemented for 'Bool'",
           c->op->row[PWR_FN] == DT_B_bitwise_left_shift ? "lshift"
                                                         : "rshift");
  return op_pw_kernel(c);
}

/* float_power computes and answers in doubles. */
static DtDtype power_type (const DtCtx *cx, const DtOpDef *op,
                           const DtArgs *a, const DtMeta *const *in,
                           DtTensor *const *t) {
  OpOperand o[PWR_MAXN];
  int n = op_pw_operands(op, a, in, t, o);
  DtDtype p = op_promote(cx, n, o);
  return dt_dtype_info(p)->kind == DT_K_COMPLEX ? DT_C128 : DT_F64;
}

static DtStatus power_meta (DtMetaCall *c) {
  DT_TRY(c->cx, op_pw_meta(c));
  c->out[0].dtype = (uint8_t)power_type(c->cx, c->op, c->args, c->in, NULL);
  return DT_OK;
}

static DtStatus power_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  OpNumber num[2];
  DtTensor *t[2];
  DtDtype ct = power_type(c->cx, c->op, c->args, NULL, c->in);
  (void)op_pw_operands(c->op, c->args, NULL, c->in, o);
  for (int i = 0; i < 2; i++)
    t[i] = o[i].is_num ? op_number(&num[i], o[i].num,
                                   op_number_dtype(o[i].num)) : o[i].t;
  if (o[1].is_num)
    return dt_k_unary(c->cx, DT_U_pow_scalar, ct, &o[1].num, t[0], c->out[0]);
  return dt_k_binary(c->cx, DT_B_pow, ct, NULL, t[0], t[1], c->out[0]);
}

/* ldexp of floats by integers keeps the type of self; all else is
** self * 2^other, the power in the type that `other` and 2 give. */
static bool ldexp_direct (const DtMeta *x, const DtMeta *y) {
  return dt_dtype_is_float((DtDtype)x->dtype) &&
         dt_dtype_is_integral((DtDtype)y->dtype, true);
}

static DtDtype ldexp_types (const DtCtx *cx, const DtMeta *x, const DtMeta *y, DtMeta *two,
                            OpOperand *o) {
  o[0].is_num = !dt_dtype_is_complex((DtDtype)x->dtype);
  o[0].num = dt_scalar_float(2);
  if (!o[0].is_num) {           /* a tensor of self's type without dims */
    memset(two, 0, sizeof *two);
    two->dtype = x->dtype;
    o[0].m = two;
  }
  o[1].m = y;
  return op_promote(cx, 2, o);
}

static DtStatus ldexp_meta (DtMetaCall *c) {
  const DtMeta *x = dt_in(c, 0), *y = dt_in(c, 1);
  OpOperand p[2] = { { .m = NULL }, { .m = NULL } };
  OpOperand o[2] = { { .m = x }, { .m = y } };
  DtMeta power, two;
  c->nout = 1;
  if (ldexp_direct(x, y))
    return op_broadcast(c->cx, 2, o, (DtDtype)x->dtype, &c->out[0]);
  DtDtype t = ldexp_types(c->cx, x, y, &two, p);
  if (y->ndim == 0 && x->ndim > 0 && x->dtype != OP_DEFAULT_FLOAT &&
      !dt_dtype_is_integral((DtDtype)x->dtype, true)) {
    dt_meta_copy(&power, y);    /* the product is refused first */
    power.ndim = 1;
    o[1].m = &power;
    DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  }
  DT_TRY(c->cx, op_promotable(c->cx, 2, p));
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "pow", t, false));
  dt_meta_copy(&power, y);
  power.dtype = (uint8_t)t;
  o[1].m = &power;
  DT_TRY(c->cx, op_promotable(c->cx, 2, o));
  t = op_promote(c->cx, 2, o);
  DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "mul", t, false));
  return op_broadcast(c->cx, 2, o, t, &c->out[0]);
}

static DtStatus ldexp_kernel (DtKernelCall *c) {
  const DtMeta *x = &c->in[0]->m, *y = &c->in[1]->m;
  OpOperand p[2] = { { .m = NULL }, { .m = NULL } };
  OpOperand o[2] = { { .m = x, .t = c->in[0] }, { .t = NULL } };
  DtTensor *power = NULL;
  DtMeta base;
  if (ldexp_direct(x, y)) {
    DtDtype t = (DtDtype)x->dtype;
    DT_TRY(c->cx, op_kernel_allows(c->cx, NULL, "ldexp", t, false));
    DT_CHECK(c->cx, y->dtype != DT_BOOL, DT_E_NOTIMPL,
             "\"ldexp_cpu_exp\" not implemented for 'Bool'");
    return dt_k_binary(c->cx, DT_B_ldexp, t, NULL, c->in[0], c->in[1],
                       c->out[0]);
  }
  DtDtype t = ldexp_types(c->cx, x, y, &base, p);
  DT_TRY(c->cx, op_temp(c->cx, t, y->ndim, y->shape, &power));
  DtScalar two = dt_scalar_float(2);
  DtStatus st = dt_k_unary(c->cx, DT_U_rpow_scalar, t, &two, c->in[1], power);
  o[1].m = &power->m;
  o[1].t = power;
  if (st == DT_OK)
    st = op_pw_run(c->cx, &dt_op_mul_Tensor, DT_B_mul,
                   (DtDtype)c->out[0]->m.dtype, NULL, 2, o, c->out[0]);
  dt_tensor_unref(c->cx, power);
  return st;
}

/* ---- decompositions ---- */

static DtStatus one (DtDecompCall *c, DtHandle *h) {
  c->out[0] = h;
  c->nout = 1;
  return c->e->st;
}
static DtStatus clip_decomp (DtDecompCall *c) {
  return one(c, EMIT("aten.clamp.default", "tvv", c->in[0], ARG(1), ARG(2)));
}
static DtStatus clip_t_decomp (DtDecompCall *c) {
  return one(c, EMIT("aten.clamp.Tensor", "ttt", dt_hin(c, 0), dt_hin(c, 1),
                     dt_hin(c, 2)));
}
static DtStatus true_divide_decomp (DtDecompCall *c) {
  DtHandle *self = dt_hin(c, 0), *other = dt_hin(c, 1);
  if (self == NULL) return one(c, EMIT("aten.div.Tensor", "vt", ARG(0),
                                       other));
  if (other == NULL) return one(c, EMIT("aten.div.Tensor", "tv", self,
                                        ARG(1)));
  return one(c, EMIT("aten.div.Tensor", "tt", self, other));
}
static DtStatus xor_decomp (DtDecompCall *c) {
  if (dt_hin(c, 1))
    return one(c, EMIT("aten.bitwise_xor.Tensor", "tt", c->in[0], dt_hin(c,
                                                                         1)));
  return one(c, EMIT("aten.bitwise_xor.Scalar", "tv", c->in[0], ARG(1)));
}

/* Argument i as a double tensor; nothing is done to one that is. */
static DtHandle *as_double (DtDecompCall *c, int i, DtDtype t) {
  DtHandle *h = dt_hin(c, i);
  if (!h || dt_emit_meta(c->e, h)->dtype == t) return h;
  return EMIT("aten._to_copy.default", "t dtype=d", h, (int)t);
}
static DtStatus power_decomp (DtDecompCall *c) {
  DtDtype t = DT_F64;
  for (int i = 0; i < 2; i++) {
    DtHandle *h = dt_hin(c, i);
    bool z = h ? dt_dtype_info((DtDtype)dt_emit_meta(c->e, h)->dtype)->kind
                 == DT_K_COMPLEX
               : dt_arg_scalar(c->args, i).kind == DT_K_COMPLEX;
    if (z) t = DT_C128;
  }
  DtHandle *x = as_double(c, 0, t), *y = as_double(c, 1, t);
  if (!x)
    return one(c, EMIT("aten.pow.Scalar", "ft", dt_arg_float(c->args, 0), y));
  if (!y)
    return one(c, EMIT("aten.pow.Tensor_Scalar", "tf", x,
                       dt_arg_float(c->args, 1)));
  return one(c, EMIT("aten.pow.Tensor_Tensor", "tt", x, y));
}

/* ---- samples ---- */

static const char *const shift_samples[] = {
  "i64[8, 6], i64[6]", "i64[0], i64[0]", "i64[], i64[]", NULL
};
static const char *const clip_samples[] = {
  "f32[8, 6], 0.2, 0.7", "f32[7], min=0.1", "f32[1], max=0.5",
  "f32[0, 4], 0.0", "f32[], 0, 1", NULL
};
static const char *const clip_t_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5]", "f32[0], f32[0]",
  NULL
};
static const char *const of_num_samples[] = {
  "2.0, f32[8, 6]", "2, f32[7]", "3.0, f32[0]", "0.5, f32[]", NULL
};
static const char *const num_samples[] = {
  "f32[8, 6], 2", "f32[7], 2.5", "f32[0, 4], 3", "f32[], 1.0", NULL
};

/* ---- rows ---- */

B(atan2, atan2, PK_FLOAT, "atan2", "Angle of the point (other, self).", 0,
  NONE, g_atan2, B_);
B(copysign_Tensor, copysign, PK_FLOAT, "copysign.Tensor",
  "|self| with the sign of other.", SAVE, NONE, g_copysign, B_);
B(fmax, fmax, PK_SAME, "fmax", "Larger operand; a number beats NaN.", 0,
  MAXLIKE, g_fmax, B_);
B(fmin, fmin, PK_SAME, "fmin", "Smaller operand; a number beats NaN.", 0,
  MINLIKE, g_fmin, B_);
B(fmod_Tensor, fmod, PK_SAME, "fmod.Tensor",
  "Remainder with the dividend's sign.", 0, NONE, g_fmod, B_);
B(gcd, gcd, PK_SAME, "gcd", "Greatest common divisor.", NOGRAD, NONE, NULL,
  I_);
B(hypot, hypot, PK_SAME, "hypot", "sqrt(x^2 + y^2).", SAVE, NONE, g_hypot,
  B_);
B(lcm, lcm, PK_SAME, "lcm", "Least common multiple.", NOGRAD, NONE, NULL, I_);
ROW2(ldexp_Tensor, ldexp, PK_FLOAT, 0, 0);
const DtOpDef dt_op_ldexp_Tensor = {
  .schema = "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
  .brief = "self * 2^other.", .flags = PW | SAVE, .meta = ldexp_meta,
  .kernel = ldexp_kernel, .grad = g_ldexp, .samples = op_samples_binary,
  .row = row_ldexp_Tensor
};
B(logaddexp, logaddexp, PK_SAME, "logaddexp", "log(exp(x) + exp(y)).", 0,
  MONOTONE, g_logaddexp, B_);
B(logaddexp2, logaddexp2, PK_SAME, "logaddexp2", "log2(2^x + 2^y).", 0,
  MONOTONE, g_logaddexp2, B_);
B(nextafter, nextafter, PK_SAME, "nextafter",
  "The next number from self towards other.", 0, NONE, g_nextafter, B_);
#define SHIFT(id, fn, name_, flags_, brief_) \
  ROW2(id, fn, PK_SAME, 0, 0); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor self, Tensor other) -> Tensor", \
    .brief = brief_, .flags = PW | NOGRAD | (flags_), .meta = op_pw_meta, \
    .kernel = shift_kernel, .samples = shift_samples, .row = row_##id }
SHIFT(bitwise_left_shift_Tensor, bitwise_left_shift,
      "bitwise_left_shift.Tensor", 0, "Bits moved up.");
SHIFT(bitwise_right_shift_Tensor, bitwise_right_shift,
      "bitwise_right_shift.Tensor", 0, "Bits moved down.");
SHIFT(__lshift___Tensor, bitwise_left_shift, "__lshift__.Tensor",
      DT_OP_ITERMETA, "Bits moved up.");
SHIFT(__rshift___Tensor, bitwise_right_shift, "__rshift__.Tensor",
      DT_OP_ITERMETA, "Bits moved down.");

ROW2(heaviside, heaviside, PK_SAME, 0, 0);
const DtOpDef dt_op_heaviside = {
  .schema = "aten::heaviside(Tensor self, Tensor values) -> Tensor",
  .brief = "0 below 0, 1 above, values at 0.", .flags = PW,
  .meta = heaviside_meta, .kernel = op_pw_kernel, .grad = g_heaviside,
  .samples = op_samples_binary, .row = row_heaviside
};
ROW2(remainder_Scalar_Tensor, remainder, PK_SAME, 0, 0);
const DtOpDef dt_op_remainder_Scalar_Tensor = {
  .schema = "aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> "
            "Tensor",
  .brief = "Remainder of a number, with the divisor's sign.", .flags = PW,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .grad = g_remainder,
  .samples = of_num_samples, .row = row_remainder_Scalar_Tensor
};

#define POWER(id, schema_, brief_, samples_) \
  ROW2(id, pow, PK_SAME, 0, 0); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = PW | DT_OP_COMPOSITE, .meta = power_meta, \
    .kernel = power_kernel, .decomp = power_decomp, .samples = samples_, \
    .row = row_##id }
POWER(float_power_Scalar, "float_power.Scalar(Scalar self, Tensor exponent) -> "
      "Tensor", "A number to powers, in doubles.", of_num_samples);
POWER(float_power_Tensor_Scalar, "float_power.Tensor_Scalar(Tensor self, "
      "Scalar exponent) -> Tensor", "Elements to a power, in doubles.",
      num_samples);
POWER(float_power_Tensor_Tensor, "float_power.Tensor_Tensor(Tensor self, "
      "Tensor exponent) -> Tensor", "Elements to powers, in doubles.", B_);

#define ALIAS(id, schema_, brief_, flags_, from, decomp_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = PW | DT_OP_COMPOSITE | (flags_), .meta = op_pw_meta, \
    .kernel = from, .decomp = decomp_, .samples = samples_, .row = row_##id }

/* clip is clamp by its other name. */
static DtStatus clip_kernel (DtKernelCall *c) {
  return dt_op_clamp.kernel(c);         /* with clip's own mark of the release */
}
static DtStatus clip_t_kernel (DtKernelCall *c) {
  DtKernelCall b = *c;
  b.op = &dt_op_clamp_Tensor;
  return dt_op_clamp_Tensor.kernel(&b);
}
static const int row_clip[PWR_LEN] = { DT_U_clamp, PK_SAME, 3, 0, 1, 2, 0 };
ALIAS(clip, "clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
      "x cut to [min, max]; max where min > max.", 0, clip_kernel,
      clip_decomp, clip_samples);
static const int row_clip_Tensor[PWR_LEN] = { DT_T3_clamp_tensor, PK_SAME, 3,
                                              0, 1, 2, 0 };
ALIAS(clip_Tensor, "clip.Tensor(Tensor self, Tensor? min=None, Tensor? "
      "max=None) -> Tensor", "Elements cut to bounds given by tensors.", 0,
      clip_t_kernel, clip_t_decomp, clip_t_samples);
ROW2(true_divide_Tensor, div, PK_FLOAT, 0, 0);
ALIAS(true_divide_Tensor, "true_divide.Tensor(Tensor self, Tensor other) -> "
      "Tensor", "Quotient; integers give floats.", 0, op_pw_kernel,
      true_divide_decomp, B_);
ROW2(__xor___Tensor, bitwise_xor, PK_SAME, 0, 0);
ALIAS(__xor___Tensor, "__xor__.Tensor(Tensor self, Tensor other) -> Tensor",
      "Bits set in exactly one.", NOGRAD, op_pw_kernel, xor_decomp, I_);
