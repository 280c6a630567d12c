/* SPDX-License-Identifier: MIT
** oplib/op_math.c: pointwise operators of one tensor that op_unary.c has not:
** trigonometry, logarithms, tests, rounding, angles, gamma functions.
**
** One row each.  What differs in more than its row: nan_to_num (the numbers
** it writes depend on the type), frexp (two results), mvlgamma (a sum). */
#include "oplib/casting.h"
#include "oplib/grading.h"
#include "oplib/pw_rows.h"

#include <math.h>
#include <string.h>

/* ---- gradients ---- */

GRAD(g_self, GOUT)
#define CONJ(h) op_g_conj(c->e, h)
GRAD(g_cosh, EMIT("aten.mul.Tensor", "tt", GOUT,
                  CONJ(EMIT("aten.sinh.default", "t", IN))))
GRAD(g_sinh, EMIT("aten.mul.Tensor", "tt", GOUT,
                  CONJ(EMIT("aten.cosh.default", "t", IN))))
GRAD(g_deg2rad, EMIT("aten.mul.Scalar", "tf", GOUT, acos(-1.0) / 180))
GRAD(g_rad2deg, EMIT("aten.mul.Scalar", "tf", GOUT, 180 / acos(-1.0)))
GRAD(g_digamma, EMIT("aten.mul.Tensor", "tt", GOUT,
                     EMIT("aten.polygamma.default", "it", ONE, IN)))
GRAD(g_lgamma, EMIT("aten.mul.Tensor", "tt", GOUT,
                    EMIT("aten.digamma.default", "t", IN)))
GRAD(g_log2, EMIT("aten.div.Tensor", "tt", GOUT,
                  EMIT("aten.mul.Scalar", "tf", CONJ(IN), 0.6931471805599453)))
GRAD(g_log10, EMIT("aten.div.Tensor", "tt", GOUT,
                   EMIT("aten.mul.Scalar", "tf", CONJ(IN),
                        2.3025850929940455)))
GRAD(g_exp2, EMIT("aten.mul.Scalar", "tf",
                  EMIT("aten.mul.Tensor", "tt", GOUT, CONJ(OUT)),
                  0.6931471805599453))
/* g / x (1 - x) within [eps, 1 - eps], outside it 0, or no number where there is
** no eps; written out where a derivative is wanted: logit_backward has none. */
static DtStatus g_logit (DtGradCall *c) {
  bool cut = !dt_arg_is_none(c->args, 1);
  double eps = cut ? dt_arg_float(c->args, 1) : 0;
  const DtMeta *m = dt_emit_meta(c->e, GOUT);
  DtHandle *x = IN, *out, *q, *high, *low;
  if (!c->e->recorded) {
    op_g_set(c, 0, EMIT("aten.logit_backward.default", "ttv", GOUT, x, ARG(1)));
    return op_g_finish(c);
  }
  if (!dt_emit_ok(c->e)) return c->e->st;
  out = EMIT(cut ? "aten.zeros.default" : "aten.empty.memory_format",
             "I dtype=d", 0, (const int64_t *)NULL, (int)m->dtype);
  if (!cut) out = EMIT("aten.fill_.Scalar", "tf", out, (double)NAN);
  q = EMIT("aten.div.Tensor", "tt", GOUT, mul(c, x, one_minus(c, x)));
  high = EMIT("aten.le.Scalar", "tf", x, 1 - eps);
  low = EMIT("aten.ge.Scalar", "tf", x, eps);
  low = EMIT("aten.logical_and.default", "tt", low, high);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", low, q, out));
  return op_g_finish(c);
}
GRAD(g_atan, EMIT("aten.div.Tensor", "tt", GOUT,
                  CONJ(EMIT("aten.add.Scalar", "ti",
                            EMIT("aten.mul.Tensor", "tt", IN, IN), ONE))))
GRAD(g_tan, EMIT("aten.mul.Tensor", "tt", GOUT,
                 CONJ(EMIT("aten.add.Scalar", "ti",
                           EMIT("aten.pow.Tensor_Scalar", "ti", OUT, TWO),
                           ONE))))
GRAD(g_asinh, EMIT("aten.mul.Tensor", "tt", GOUT,
                   CONJ(EMIT("aten.rsqrt.default", "t",
                             EMIT("aten.add.Scalar", "ti",
                                  EMIT("aten.pow.Tensor_Scalar", "ti", IN,
                                       TWO), ONE)))))

static bool is_complex (DtGradCall *c, DtHandle *h) {
  return dt_emit_ok(c->e) &&
         dt_dtype_is_complex((DtDtype)dt_emit_meta(c->e, h)->dtype);
}

/* 1 / sqrt(x^2 - 1); of complex numbers as a product of roots, whose branches
** are the function's. */
static DtStatus g_acosh (DtGradCall *c) {
  DtHandle *a, *b;
  if (is_complex(c, IN)) {
    a = EMIT("aten.rsqrt.default", "t", EMIT("aten.sub.Scalar", "ti", IN,
                                             ONE));
    b = EMIT("aten.rsqrt.default", "t", EMIT("aten.add.Scalar", "ti", IN,
                                             ONE));
    a = CONJ(EMIT("aten.mul.Tensor", "tt", a, b));
  } else {
    a = EMIT("aten.mul.Tensor", "tt", IN, IN);
    a = EMIT("aten.rsqrt.default", "t", EMIT("aten.sub.Scalar", "ti", a, ONE));
  }
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, a));
  return op_g_finish(c);
}

/* g x / |x|^2 * i where complex; real numbers do not turn. */
static DtStatus g_angle (DtGradCall *c) {
  DtHandle *x = IN, *a, *h, *z;
  if (!is_complex(c, x)) {
    op_g_set(c, 0, EMIT("aten.zeros_like.default", "t", x));
    return op_g_finish(c);
  }
  a = EMIT("aten.abs.default", "t", x);
  a = EMIT("aten.pow.Tensor_Scalar", "ti", a, TWO);
  h = EMIT("aten.div.Tensor", "tt", EMIT("aten.mul.Tensor", "tt", GOUT, x), a);
  h = EMIT("aten.mul.Scalar", "tv", h, dt_v_complex(0, 1));
  z = EMIT("aten.zeros.default", "I dtype=d", 0, NULL,
           (int)dt_emit_meta(c->e, h)->dtype);
  a = EMIT("aten.eq.Scalar", "tf", x, 0.0);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", a, z, h));
  return op_g_finish(c);
}

/* 1 / sqrt(1 - x^2) */
static DtHandle *arc (DtGradCall *c) {
  DtHandle *h = EMIT("aten.neg.default", "t", IN);
  h = EMIT("aten.add.Scalar", "ti", EMIT("aten.mul.Tensor", "tt", h, IN), ONE);
  return CONJ(EMIT("aten.rsqrt.default", "t", h));
}
GRAD(g_asin, EMIT("aten.mul.Tensor", "tt", GOUT, arc(c)))
GRAD(g_acos, EMIT("aten.mul.Tensor", "tt", GOUT,
                  EMIT("aten.neg.default", "t", arc(c))))

static DtStatus g_atanh (DtGradCall *c) {
  DtHandle *h = EMIT("aten.pow.Tensor_Scalar", "ti", IN, TWO);
  DtHandle *k = EMIT("aten.empty_like.default", "t", h);
  k = EMIT("aten.fill_.Scalar", "ti", k, ONE);
  k = CONJ(EMIT("aten.sub_.Tensor", "tt", k, h));
  h = EMIT("aten.mul.Scalar", "ti", GOUT, ONE);
  op_g_set(c, 0, EMIT("aten.div.Tensor", "tt", h, k));
  return op_g_finish(c);
}

/* factor * exp(x^2 sign) * g: erfc and erfinv. */
static DtHandle *gauss (DtGradCall *c, DtHandle *x, bool neg, double factor) {
  DtHandle *h = EMIT("aten.pow.Tensor_Scalar", "ti", x, TWO);
  if (neg) h = EMIT("aten.neg.default", "t", h);
  h = EMIT("aten.mul.Scalar", "tf", EMIT("aten.exp.default", "t", h), factor);
  return EMIT("aten.mul.Tensor", "tt", h, GOUT);
}
GRAD(g_erfc, gauss(c, IN, true, -2.0 / sqrt(acos(-1.0))))
GRAD(g_erfinv, gauss(c, EMIT("aten.erfinv.default", "t", IN), false,
                     sqrt(acos(-1.0)) / 2))

static DtStatus g_sinc (DtGradCall *c) {
  double pi = acos(-1.0);
  DtHandle *x = EMIT("aten.mul.Scalar", "tf", IN, pi);
  DtHandle *d = EMIT("aten.mul.Scalar", "tf",
                     EMIT("aten.mul.Tensor", "tt", IN, IN), pi);
  DtHandle *s = EMIT("aten.sin.default", "t", x);
  DtHandle *h = EMIT("aten.cos.default", "t", x);
  h = EMIT("aten.sub.Tensor", "tt", EMIT("aten.mul.Tensor", "tt", x, h), s);
  h = EMIT("aten.mul.Tensor", "tt", GOUT,
           CONJ(EMIT("aten.div.Tensor", "tt", h, d)));
  DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, h));
  DtHandle *eq = EMIT("aten.eq.Scalar", "tf", d, 0.0);
  op_g_set(c, 0, EMIT("aten.where.self", "ttt", eq, z, h));
  return op_g_finish(c);
}

/* The gradient passes where the input is finite. */
static DtStatus g_nan_to_num (DtGradCall *c) {
  DtHandle *h = EMIT("aten.abs.default", "t", IN);
  h = EMIT("aten.ne.Scalar", "tf", h, (double)INFINITY);
  h = EMIT("aten.mul.Tensor", "tt", EMIT("aten.eq.Tensor", "tt", IN, IN), h);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

static DtStatus g_polygamma (DtGradCall *c) {
  DtHandle *h = EMIT("aten.polygamma.default", "it", dt_arg_int(c->args,
                                                                0) + 1,
                     TENSOR(1));
  op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* The mantissa's gradient, divided by 2^exponent. */
static DtStatus g_frexp (DtGradCall *c) {
  DtHandle *h = EMIT("aten.exp2.default", "t", c->out[1]);
  op_g_set(c, 0, EMIT("aten.div.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* The sum of digamma(x - j/2). */
static DtStatus g_mvlgamma (DtGradCall *c) {
  int64_t p = dt_arg_int(c->args, 1), last = -1;
  DtHandle *h = EMIT("aten.arange.start_step", "fff dtype=d",
                     -(double)p / 2 + 0.5, 0.5, 0.5,
                     (int)dt_emit_meta(c->e, IN)->dtype);
  h = EMIT("aten.add.Tensor", "tt", h,
           EMIT("aten.unsqueeze.default", "ti", IN, last));
  h = EMIT("aten.digamma_.default", "t", h);
  h = EMIT("aten.sum.dim_IntList", "tI", h, 1, &last);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* ---- metas and kernels that need more than their row ---- */

/* nan_to_num writes 0 and the largest numbers of the type by default. */
static double type_max (DtDtype t) {
  switch (t) {
    case DT_F16: return 65504.0;
    case DT_BF16: return 3.3895313892515355e38;
    case DT_F64: case DT_C128: return 1.7976931348623157e308;
    default: return 3.4028234663852886e38;
  }
}

/* The real numbers in a complex tensor, without owning anything. */
static DtTensor parts_of (const DtTensor *t) {
  DtTensor v = { .refs = 1, .offset = 2 * t->offset, .storage = t->storage };
  dt_meta_copy(&v.m, &t->m);
  v.m.dtype = (uint8_t)dt_dtype_to_real((DtDtype)t->m.dtype);
  for (int i = 0; i < t->m.ndim; i++) v.m.stride[i] *= 2;
  v.m.shape[t->m.ndim] = 2;
  v.m.stride[t->m.ndim] = 1;
  v.m.ndim++;
  return v;
}

static DtStatus nan_to_num_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  double top = type_max(t);
  double v[3] = { 0, top, -top };
  DtScalar p[4];
  if (dt_dtype_is_integral(t, true)) return op_k_copy0(c);
  for (int i = 0; i < 3; i++) {
    if (!dt_arg_is_none(c->args, i + 1)) v[i] = dt_arg_float(c->args, i + 1);
    p[i] = dt_scalar_float(v[i]);
  }
  p[3] = dt_scalar_int(0);
  if (dt_dtype_is_complex(t) && c->in[0]->m.ndim < DT_MAX_NDIM) {
    DtTensor from = parts_of(c->in[0]), to = parts_of(c->out[0]);
    return dt_k_unary(c->cx, DT_U_nan_to_num, dt_dtype_to_real(t), p, &from,
                      &to);
  }
  return dt_k_unary(c->cx, DT_U_nan_to_num, t, p, c->in[0], c->out[0]);
}

static DtStatus frexp_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_CHECK(c->cx, dt_dtype_info(t)->kind == DT_K_FLOAT, DT_E_RUNTIME,
           "torch.frexp() only supports floating-point dtypes");
  op_like_meta(&c->out[0], c->in[0], t);
  op_like_meta(&c->out[1], c->in[0], DT_I32);
  c->nout = 2;
  return DT_OK;
}

DtStatus op_frexp_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  if (c->out[0])
    DT_TRY(c->cx, dt_k_unary(c->cx, DT_U_frexp_mantissa, t, NULL, c->in[0],
                             c->out[0]));
  if (c->out[1])
    DT_TRY(c->cx, dt_k_unary(c->cx, DT_U_frexp_exponent, t, NULL, c->in[0],
                             c->out[1]));
  return DT_OK;
}

/* Each of the first two derivatives has a kernel of its own. */
static DtStatus polygamma_allows (DtMetaCall *c, int64_t n, DtDtype t) {
  bool odd = dt_dtype_is_complex(t) ||
             (dt_dtype_is_float(t) && dt_dtype_size(t) < 2);
  DT_CHECK(c->cx, c->fake || !odd, DT_E_NOTIMPL,
           "\"%s\" not implemented for '%s'", n == 0 ? "digamma"
           : n == 1 ? "trigamma" : "polygamma", op_dtype_word(t));
  return DT_OK;
}

static DtStatus polygamma_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, dt_arg_int(c->args, 0) >= 0, DT_E_RUNTIME,
           "polygamma(n, x) does not support negative n.");
  DT_TRY(c->cx, polygamma_allows(c, dt_arg_int(c->args, 0),
                                 (DtDtype)dt_in(c, 1)->dtype));
  return op_pw_meta(c);
}

/* In place: integers can not hold the result. */
static DtStatus polygamma_in_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  DT_TRY(c->cx, polygamma_allows(c, dt_arg_int(c->args, 1), t));
  if (!c->fake && dt_dtype_is_integral(t, true))
    DT_TRY(c->cx, op_castable(c->cx, DT_F32, t));
  return op_meta_inplace(c);
}

static DtStatus mvlgamma_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, dt_arg_int(c->args, 1) >= 1, DT_E_RUNTIME,
           "p has to be greater than or equal to 1");
  DT_CHECK(c->cx, dt_arg_int(c->args, 1) <= 1 << 20, DT_E_LIMIT,
           "mvlgamma: a sum of %lld terms is too long",
           (long long)dt_arg_int(c->args, 1));
  DT_CHECK(c->cx, c->in[0]->dtype != DT_BOOL, DT_E_RUNTIME,
           "The input tensor may not be a boolean tensor.");
  DT_TRY(c->cx, op_pw_meta(c));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

/* log Gamma_p(x) = p (p-1)/4 log(pi) + the sum of lgamma(x - j/2), j < p. */
static DtStatus mvlgamma_kernel (DtKernelCall *c) {
  int64_t p = dt_arg_int(c->args, 1);
  DtTensor *x = NULL, *l = NULL, *out = c->out[0];
  DtDtype t = (DtDtype)out->m.dtype;
  DtStatus st = op_temp(c->cx, t, out->m.ndim, out->m.shape, &x);
  if (st == DT_OK) st = op_temp(c->cx, t, out->m.ndim, out->m.shape, &l);
  for (int64_t j = 0; j < p && st == DT_OK; j++) {
    DtScalar shift = dt_scalar_float(-(double)j / 2);
    st = dt_k_unary(c->cx, DT_U_add_scalar, t, &shift, c->in[0], x);
    if (st == DT_OK)
      st = dt_k_unary(c->cx, DT_U_lgamma, t, NULL, x, j ? l : out);
    if (st == DT_OK && j)
      st = dt_k_binary(c->cx, DT_B_add, t, NULL, out, l, out);
  }
  if (st == DT_OK) {
    DtScalar k = dt_scalar_float((double)(p * (p - 1)) / 4 * log(acos(-1.0)));
    st = dt_k_unary(c->cx, DT_U_add_scalar, t, &k, out, out);
  }
  dt_tensor_unref(c->cx, x);
  dt_tensor_unref(c->cx, l);
  return st;
}

static DtStatus no_complex_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  bool pos = strstr(c->op->schema, "pos") != NULL;
  bool sign = strstr(c->op->schema, "signbit") != NULL;
  bool complex = dt_dtype_info(t)->kind == DT_K_COMPLEX;
  DT_CHECK(c->cx, !(complex && sign), DT_E_NOTIMPL,
           "signbit is not implemented for complex tensors.");
  DT_CHECK_SAY(c->cx, !complex, DT_E_RUNTIME, INF_COMPLEX,
               pos ? "isposinf" : "isneginf");
  return op_pw_meta(c);
}

static DtStatus positive_meta (DtMetaCall *c) {
  DT_CHECK_SAY0(c->cx, c->in[0]->dtype != DT_BOOL, DT_E_RUNTIME,
                POSITIVE_BOOL);
  return op_meta_alias(c);
}

/* angle of a real number is real, of integers float. */
static DtStatus angle_meta (DtMetaCall *c) {
  DtDtype t = (DtDtype)c->in[0]->dtype;
  t = dt_dtype_is_integral(t, true) ? (DtDtype)OP_DEFAULT_FLOAT
                                    : dt_dtype_to_real(t);
  op_like_meta(&c->out[0], c->in[0], t);
  c->nout = 1;
  return DT_OK;
}

/* ---- decompositions ---- */

static DtStatus positive_decomp (DtDecompCall *c) {
  DT_CHECK_SAY0(c->e->cx, dt_emit_meta(c->e, c->in[0])->dtype != DT_BOOL,
                DT_E_RUNTIME, POSITIVE_BOOL);
  c->out[0] = c->in[0];
  c->nout = 1;
  return c->e->st;
}

/* (x == x) * (|x| != inf) */
static DtStatus isfinite_decomp (DtDecompCall *c) {
  const DtMeta *m = dt_emit_meta(c->e, c->in[0]);
  c->nout = 1;
  if (dt_dtype_is_integral((DtDtype)m->dtype, true)) {
    c->out[0] = EMIT("aten.ones_like.default", "t dtype=d", c->in[0],
                     (int)DT_BOOL);
    return c->e->st;
  }
  DtHandle *a = EMIT("aten.abs.default", "t", c->in[0]);
  a = EMIT("aten.ne.Scalar", "tf", a, (double)INFINITY);
  DtHandle *b = EMIT("aten.eq.Tensor", "tt", c->in[0], c->in[0]);
  c->out[0] = EMIT("aten.mul.Tensor", "tt", b, a);
  return c->e->st;
}

/* ---- samples ---- */

static const char *const float_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[1]", "f32[0, 4]", "f32[]", "f64[3, 2]", NULL
};
static const char *const logit_samples[] = {
  "f32[8, 6], 0.1", "f32[7]", "f32[0, 4]", "f32[]", NULL
};
static const char *const n_samples[] = {
  "1, f32[8, 6]", "2, f32[7]", "0, f32[0, 4]", "3, f32[]", NULL
};
static const char *const p_samples[] = {
  "f32[8, 6], 1", "f32[7], 2", "f32[0, 4], 3", "f32[], 2", NULL
};
static const char *const decimals_samples[] = {
  "f32[8, 6], decimals=1", "f32[7], decimals=-1", "f32[], decimals=0", NULL
};
static const char *const nan_samples[] = {
  "f32[8, 6]", "f32[7], 1.0", "f32[0, 4], 0.0, 1.0, -1.0", "i64[3]", NULL
};

/* ---- rows ---- */

U(acos, acos, PK_FLOAT, "Arc cosine.", 0, NONE, g_acos, S_);
U(acosh, acosh, PK_FLOAT, "Inverse hyperbolic cosine.", 0, NONE, g_acosh, S_);
U(asin, asin, PK_FLOAT, "Arc sine.", 0, NONE, g_asin, S_);
U(asinh, asinh, PK_FLOAT, "Inverse hyperbolic sine.", 0, NONDECREASING,
  g_asinh, S_);
U(atan, atan, PK_FLOAT, "Arc tangent.", 0, NONDECREASING, g_atan, S_);
U(atanh, atanh, PK_FLOAT, "Inverse hyperbolic tangent.", 0, NONE, g_atanh,
  S_);
U(cosh, cosh, PK_FLOAT, "Hyperbolic cosine.", 0, NONE, g_cosh, S_);
U(deg2rad, deg2rad, PK_FLOAT, "Degrees to radians.", 0, NONDECREASING,
  g_deg2rad, S_);
U(digamma, digamma, PK_FLOAT, "Derivative of lgamma.", 0, NONE, g_digamma,
  S_);
U(erfc, erfc, PK_FLOAT, "1 - erf(x).", 0, NONINCREASING, g_erfc, S_);
U(erfinv, erfinv, PK_FLOAT, "Inverse of erf.", 0, NONE, g_erfinv, S_);
U(exp2, exp2, PK_FLOAT, "2 to the power of x.", SAVE, NONDECREASING, g_exp2,
  S_);
U(frac, frac, PK_SAME, "The part behind the point.", 0, NONE, g_self,
  float_samples);
U(isinf, isinf, PK_BOOL, "Is it infinite?", NOGRAD, NONE, NULL, S_);
U(lgamma, lgamma, PK_FLOAT, "Logarithm of |Gamma(x)|.", 0, NONE, g_lgamma,
  S_);
U(log10, log10, PK_FLOAT, "Logarithm to base 10.", 0, NONE, g_log10, S_);
U(log2, log2, PK_FLOAT, "Logarithm to base 2.", 0, NONE, g_log2, S_);
U(rad2deg, rad2deg, PK_FLOAT, "Radians to degrees.", 0, NONDECREASING,
  g_rad2deg, S_);
U(sinc, sinc, PK_FLOAT, "sin(pi x) / (pi x).", 0, NONE, g_sinc, S_);
U(sinh, sinh, PK_FLOAT, "Hyperbolic sine.", 0, NONDECREASING, g_sinh, S_);
U(tan, tan, PK_FLOAT, "Tangent.", SAVE, NONE, g_tan, S_);
U(trunc, trunc, PK_SAME, "The part before the point.", 0, NONDECREASING,
  op_g_zeros, float_samples);

ROW1(logit, logit, PK_FLOAT, 1, 1);
DEF(logit, "logit(Tensor self, float? eps=None) -> Tensor",
    "log(x / (1 - x)), x cut to [eps, 1 - eps].", 0, NONE, g_logit,
    logit_samples);
ROW1(round_decimals, round_decimals, PK_SAME, 1, 1);
/* Without decimals it is round. */
static DtStatus round_decimals_kernel (DtKernelCall *c) {
  DtDtype t = (DtDtype)c->in[0]->m.dtype;
  DT_CHECK(c->cx, dt_arg_int(c->args, 1) != 0 ||
                  !dt_dtype_is_integral(t, true), DT_E_NOTIMPL,
           "\"round_vml_cpu\" not implemented for '%s'", dt_dtype_word(t));
  return op_pw_kernel(c);
}
const DtOpDef dt_op_round_decimals = {
  .schema = "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
  .brief = "Rounded to so many decimals.", .flags = PW,
  .pw = DT_PW_NONDECREASING, .meta = op_pw_meta,
  .kernel = round_decimals_kernel, .grad = op_g_zeros,
  .samples = decimals_samples, .row = row_round_decimals
};

#define OWN(id, schema_, brief_, flags_, class_, meta_, kernel_, grad_, \
            samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = flags_, \
    .pw = DT_PW_##class_, .meta = meta_, .kernel = kernel_, .grad = grad_, \
    .samples = samples_, .row = row_##id }

ROW1(angle, angle, PK_FLOAT, 0, 0);
OWN(angle, "angle(Tensor self) -> Tensor", "Argument of a number.", PW, NONE,
    angle_meta, op_pw_kernel, g_angle, float_samples);
ROW1(isneginf, isneginf, PK_BOOL, 0, 0);
OWN(isneginf, "isneginf(Tensor self) -> Tensor", "Is it minus infinity?",
    PW | NOGRAD, NONE, no_complex_meta, op_pw_kernel, NULL, S_);
ROW1(isposinf, isposinf, PK_BOOL, 0, 0);
OWN(isposinf, "isposinf(Tensor self) -> Tensor", "Is it plus infinity?",
    PW | NOGRAD, NONE, no_complex_meta, op_pw_kernel, NULL, S_);
ROW1(signbit, signbit, PK_BOOL, 0, 0);
OWN(signbit, "signbit(Tensor self) -> Tensor", "Is the sign bit set?",
    PW | NOGRAD, NONE, no_complex_meta, op_pw_kernel, NULL, S_);
ROW1(nan_to_num, nan_to_num, PK_SAME, 0, 0);
OWN(nan_to_num, "nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
    "float? neginf=None) -> Tensor", "Numbers for NaN and infinities.",
    PW, NONDECREASING, op_pw_meta, nan_to_num_kernel, g_nan_to_num,
    nan_samples);
ROW1(frexp_Tensor, frexp_mantissa, PK_SAME, 0, 0);
OWN(frexp_Tensor, "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor "
    "exponent)", "Mantissa in [0.5, 1) and power of 2.",
    DT_OP_POINTWISE | DT_OP_UNEVEN | SAVE, NONE, frexp_meta, op_frexp_kernel,
    g_frexp, float_samples);
ROW1(mvlgamma, lgamma, PK_FLOAT, 0, 0);
OWN(mvlgamma, "mvlgamma(Tensor self, int p) -> Tensor",
    "Logarithm of the multivariate gamma function.",
    DT_OP_POINTWISE | DT_OP_UNEVEN, NONE, mvlgamma_meta, mvlgamma_kernel,
    g_mvlgamma, p_samples);
static const int row_polygamma[PWR_LEN] = { DT_U_polygamma, PK_FLOAT, 1, 1, 0,
                                            0, 1, 0 };
OWN(polygamma, "polygamma(int n, Tensor self) -> Tensor",
    "The n-th derivative of digamma.", PW, NONE, polygamma_meta, op_pw_kernel,
    g_polygamma, n_samples);

/* In place, the arguments have changed their places. */
ROW1(polygamma_, polygamma, PK_FLOAT, 1, 1);
OWN(polygamma_, "polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
    "The n-th derivative of digamma, in place.",
    PW | DT_OP_INPLACE | DT_OP_NOGRAD, NONE, polygamma_in_meta, op_pw_kernel,
    NULL, p_samples);

/* Composites; their rules exist besides. */
ROW1(isfinite, isfinite, PK_BOOL, 0, 0);
const DtOpDef dt_op_isfinite = {
  .schema = "aten::isfinite(Tensor self) -> Tensor",
  .brief = "Is it neither infinite nor NaN?",
  .flags = PW | NOGRAD | DT_OP_COMPOSITE, .meta = op_pw_meta,
  .kernel = op_pw_kernel, .decomp = isfinite_decomp,
  .samples = op_samples_unary, .row = row_isfinite
};
ROW1(positive, positive, PK_SAME, 0, 0);
const DtOpDef dt_op_positive = {
  .schema = "aten::positive(Tensor(a) self) -> Tensor(a)",
  .brief = "The tensor itself.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_VIEW | DT_OP_COMPOSITE,
  .pw = DT_PW_COPY, .meta = positive_meta, .decomp = positive_decomp,
  .samples = op_samples_unary, .row = row_positive
};
ROW1(conj_physical, conj_physical, PK_SAME, 0, 0);
/* A real tensor is its own conjugate, itself and not a copy. */
static DtStatus conj_physical_decomp (DtDecompCall *c) {
  DtDtype t = (DtDtype)dt_emit_meta(c->e, c->in[0])->dtype;
  c->out[0] = dt_dtype_is_complex(t)
              ? EMIT("aten._conj_physical.default", "t", c->in[0]) : c->in[0];
  c->nout = 1;
  return c->e->st;
}
ROW1(_conj_physical, conj_physical, PK_SAME, 0, 0);
static DtStatus conj_physical_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten._conj_physical.default", "t", GOUT));
  return op_g_finish(c);
}
const DtOpDef dt_op__conj_physical = {
  .schema = "aten::_conj_physical(Tensor self) -> Tensor",
  .brief = "Complex conjugate, a copy.",
  .flags = DT_OP_ALIAS_SAFE | DT_OP_NOSTRATEGY, .meta = op_pw_meta,
  .kernel = op_pw_kernel, .grad = conj_physical_grad,
  .samples = op_samples_unary, .row = row__conj_physical
};
const DtOpDef dt_op_conj_physical = {
  .schema = "aten::conj_physical(Tensor self) -> Tensor",
  .brief = "Complex conjugate.", .flags = PW | DT_OP_NOGRAD | DT_OP_COMPOSITE,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .decomp = conj_physical_decomp,
  .samples = op_samples_unary, .row = row_conj_physical
};
ROW1(conj_physical_, conj_physical, PK_SAME, 0, 0);
const DtOpDef dt_op_conj_physical_ = {
  .schema = "aten::conj_physical_(Tensor(a!) self) -> Tensor(a!)",
  .brief = "Complex conjugate, in place.", .flags = PW | DT_OP_INPLACE,
  .meta = op_pw_meta, .kernel = op_pw_kernel, .grad = conj_physical_grad,
  .samples = op_samples_unary, .row = row_conj_physical_
};
ROW1(_conj, conj_physical, PK_SAME, 0, 0);
/* Only complex tensors have the mark. */
static DtStatus conj_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, c->fake || dt_dtype_is_complex((DtDtype)c->in[0]->dtype),
           DT_E_RUNTIME, "isComplexType(typeMetaToScalarType(dtype())) "
           "INTERNAL ASSERT FAILED at \"/__w/pytorch/pytorch/c10/core/"
           "TensorImpl.h\":1470, please report a bug to PyTorch. ");
  return op_meta_alias(c);
}
static DtStatus conj_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten._conj.default", "t", GOUT));
  return op_g_finish(c);
}
static DtStatus neg_view_grad (DtGradCall *c) {
  op_g_set(c, 0, EMIT("aten.neg.default", "t", GOUT));
  return op_g_finish(c);
}
static const char *const conj_samples[] = { "c64[8, 6]", "c64[7]", NULL };
const DtOpDef dt_op__conj = {
  .schema = "aten::_conj(Tensor(a) self) -> Tensor(a)",
  .brief = "Complex conjugate.",
  .doc = "A view: its elements are conjugated when they are read.",
  .flags = PW | DT_OP_VIEW | DT_OP_TURNS, .meta = conj_meta,
  .grad = conj_grad, .samples = conj_samples, .row = row__conj
};
const DtOpDef dt_op__neg_view = {
  .schema = "aten::_neg_view(Tensor(a) self) -> Tensor(a)",
  .brief = "The negative.",
  .doc = "A view: its elements are negated when they are read.",
  .flags = DT_OP_VIEW | DT_OP_TURNS | DT_OP_NOSTRATEGY,
  .meta = op_meta_alias, .grad = neg_view_grad, .samples = op_samples_unary
};
