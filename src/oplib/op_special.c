/* SPDX-License-Identifier: MIT
** oplib/op_special.c: the special functions: Bessel functions, entropies,
** normal distribution, zeta, incomplete gamma, orthogonal polynomials.
**
** One row each; the functions themselves are in kernel/special.c.  Many have
** no gradient in PyTorch.  Forms with a number in the place of a tensor are
** derived (forms in op_special.ops). */
#include "oplib/pw_rows.h"

#include <math.h>

/* ---- gradients ---- */

GRAD(g_i0, EMIT("aten.mul.Tensor", "tt", GOUT, EMIT("aten.special_i1.default",
                                                    "t",
                                                    IN)))
GRAD(g_entr, EMIT("aten.mul.Tensor", "tt", GOUT,
                  EMIT("aten.neg.default", "t",
                       EMIT("aten.add.Scalar", "ti", EMIT("aten.log.default",
                                                          "t", IN),
                            ONE))))

static DtStatus g_erfcx (DtGradCall *c) {
  DtHandle *h = EMIT("aten.mul.Scalar", "tf", IN, 2.0);
  h = EMIT("aten.mul.Tensor", "tt", h, OUT);
  h = EMIT("aten.sub.Scalar", "tf", h, 2.0 / sqrt(acos(-1.0)));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", h, GOUT));
  return op_g_finish(c);
}

static DtStatus g_i0e (DtGradCall *c) {
  DtHandle *h = EMIT("aten.mul.Tensor", "tt", EMIT("aten.sgn.default", "t",
                                                   IN),
                     OUT);
  DtHandle *k = EMIT("aten.special_i1e.default", "t", IN);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT,
                      EMIT("aten.sub.Tensor", "tt", k, h)));
  return op_g_finish(c);
}

/* `far` or, near 0, `near`; the mask says which are near, or which are far. */
static DtHandle *choose (DtGradCall *c, DtHandle *mask, bool is_near,
                         DtHandle *far, DtHandle *near) {
  return is_near ? EMIT("aten.where.self", "ttt", mask, near, far)
                 : EMIT("aten.where.self", "ttt", mask, far, near);
}

/* i1 and i1e: f0(x) - out * (1/x, with the sign of x besides when scaled),
** 1/2 at 0.  NaN is near until 2.14, far since 2.15, which asks the other way
** round. */
static DtStatus near_zero (DtGradCall *c, const char *f0, bool scaled) {
  const DtMeta *m = dt_emit_meta(c->e, IN);
  double eps = m->dtype == DT_F64 ? 2.220446049250313e-16
                                  : 1.1920928955078125e-07;
  bool asks_near = (c->op->flags & DT_OP_LATEST) != 0;
  DtHandle *mask = EMIT(asks_near ? "aten.le.Scalar" : "aten.gt.Scalar", "tf",
                        EMIT("aten.abs.default", "t", IN), eps);
  DtHandle *x = choose(c, mask, asks_near, IN, op_e_scalar(c->e, eps, m));
  DtHandle *h = EMIT("aten.reciprocal.default", "t", x);
  if (scaled) h = EMIT("aten.add.Tensor", "tt", EMIT("aten.sgn.default", "t",
                                                     x), h);
  h = EMIT("aten.mul.Tensor", "tt", OUT, h);
  h = EMIT("aten.sub.Tensor", "tt", EMIT(f0, "t", x), h);
  h = choose(c, mask, asks_near, h, op_e_scalar(c->e, 0.5, m));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}
static DtStatus g_i1 (DtGradCall *c) {
  return near_zero(c, "aten.i0.default", false);
}
static DtStatus g_i1e (DtGradCall *c) {
  return near_zero(c, "aten.special_i0e.default", true);
}


/* ---- Bessel functions, whose gradients came with 2.15 ---- */

static DtStatus minus (DtGradCall *c, const char *fn) {
  DtHandle *h = EMIT("aten.neg.default", "t", EMIT(fn, "t", IN));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}
static DtStatus g_bessel_j0 (DtGradCall *c) {
  return minus(c, "aten.special_bessel_j1.default");
}
static DtStatus g_bessel_j1 (DtGradCall *c) {
  return near_zero(c, "aten.special_bessel_j0.default", false);
}
static DtStatus g_bessel_y0 (DtGradCall *c) {
  return minus(c, "aten.special_bessel_y1.default");
}
/* out / x */
static DtHandle *by_input (DtGradCall *c) {
  return EMIT("aten.mul.Tensor", "tt", OUT, EMIT("aten.reciprocal.default", "t",
                                                 IN));
}
/* y0 - out / x; infinite at 0, where that is no number. */
static DtStatus g_bessel_y1 (DtGradCall *c) {
  DtHandle *h = by_input(c);
  h = EMIT("aten.sub.Tensor", "tt", EMIT("aten.special_bessel_y0.default", "t",
                                         IN), h);
  DtHandle *inf = op_e_scalar(c->e, INFINITY, dt_emit_meta(c->e, IN));
  DtHandle *zero = EMIT("aten.eq.Scalar", "ti", IN, (int64_t)0);
  h = EMIT("aten.where.self", "ttt", zero, inf, h);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}
GRAD(g_bessel_i0, EMIT("aten.mul.Tensor", "tt", GOUT,
                       EMIT("aten.special_modified_bessel_i1.default", "t",
                            IN)))
static DtStatus g_bessel_k0 (DtGradCall *c) {
  return minus(c, "aten.special_modified_bessel_k1.default");
}
static DtStatus g_bessel_k1 (DtGradCall *c) {
  DtHandle *h = by_input(c);
  h = EMIT("aten.add.Tensor", "tt", EMIT("aten.special_modified_bessel_k0."
                                         "default", "t", IN), h);
  h = EMIT("aten.neg.default", "t", h);
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* h / d, which since 2.14 is a product with 1/d. */
static DtHandle *part_of (DtGradCall *c, DtHandle *h, double d) {
  return (c->op->flags & DT_OP_LATER) != 0
         ? EMIT("aten.mul.Scalar", "tf", h, 1 / d)
         : EMIT("aten.div.Scalar", "tf", h, d);
}

static DtStatus g_log_ndtr (DtGradCall *c) {
  DtHandle *h = EMIT("aten.pow.Tensor_Scalar", "ti", IN, TWO);
  h = EMIT("aten.add.Tensor", "tt", OUT, part_of(c, h, 2));
  h = EMIT("aten.exp.default", "t", EMIT("aten.neg.default", "t", h));
  DtHandle *k = part_of(c, GOUT, sqrt(2 * acos(-1.0)));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", k, h));
  return op_g_finish(c);
}

static DtStatus g_ndtri (DtGradCall *c) {
  DtHandle *h = EMIT("aten.pow.Tensor_Scalar", "ti", OUT, TWO);
  h = EMIT("aten.exp.default", "t", part_of(c, h, 2));
  DtHandle *k = EMIT("aten.mul.Scalar", "tf", GOUT, sqrt(2 * acos(-1.0)));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", k, h));
  return op_g_finish(c);
}

/* x^(a-1) exp(-x) / Gamma(a), the density of the second argument. */
static DtHandle *gamma_density (DtGradCall *c) {
  DtHandle *l = EMIT("aten.lgamma.default", "t", TENSOR(0));
  DtHandle *h = EMIT("aten.log.default", "t", TENSOR(1));
  h = EMIT("aten.mul.Tensor", "tt", EMIT("aten.sub.Scalar", "ti", TENSOR(0),
                                         ONE), h);
  h = EMIT("aten.sub.Tensor", "tt", h, TENSOR(1));
  return EMIT("aten.exp.default", "t", EMIT("aten.sub.Tensor", "tt", h, l));
}
static DtStatus g_igamma (DtGradCall *c) {
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", GOUT, gamma_density(c)));
  DT_CHECK(c->e->cx, !op_g_need(c, 0), DT_E_NOTIMPL,
           "the derivative for 'igamma: input' is not implemented.");
  return op_g_finish(c);
}
static DtStatus g_igammac (DtGradCall *c) {
  if (op_g_need(c, 1)) {
    DtHandle *h = gamma_density(c);
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", EMIT("aten.neg.default", "t",
                                                      GOUT),
                        h));
  }
  DT_CHECK(c->e->cx, !op_g_need(c, 0), DT_E_NOTIMPL,
           "the derivative for 'igammac: input' is not implemented.");
  return op_g_finish(c);
}

/* zeta(x, q): -x zeta(x + 1, q) for q only. */
static DtStatus g_zeta (DtGradCall *c) {
  if (op_g_need(c, 1) && dt_arg_slot(c->args, 0) >= 0) {
    DtHandle *h = EMIT("aten.add.Scalar", "tf", TENSOR(0), 1.0);
    h = EMIT("aten.special_zeta.default", "tt", h, TENSOR(1));
    DtHandle *k = EMIT("aten.neg.default", "t", TENSOR(0));
    k = EMIT("aten.mul.Tensor", "tt", GOUT, k);
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", k, h));
  } else if (op_g_need(c, 1)) {
    double x = dt_arg_float(c->args, 0);
    DtHandle *h = EMIT("aten.special_zeta.self_scalar", "ft", x + 1,
                       TENSOR(1));
    DtHandle *k = EMIT("aten.mul.Scalar", "tf", GOUT, -x);
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", k, h));
  }
  DT_CHECK(c->e->cx, !op_g_need(c, 0), DT_E_NOTIMPL,
           "the derivative for 'zeta' is not implemented.");
  return op_g_finish(c);
}

/* x log(y) and x log(1 + y): 0 where x is 0 and the logarithm has no value. */
static DtStatus log_grad (DtGradCall *c, const char *tt, const char *tn,
                          double edge) {
  bool tensors = dt_arg_slot(c->args, 0) >= 0 && dt_arg_slot(c->args, 1) >= 0;
  if (op_g_need(c, 1)) {
    DtHandle *y = edge < 0 ? EMIT("aten.add.Scalar", "ti", TENSOR(1),
                                  ONE) : TENSOR(1);
    DtHandle *h = op_g_with(c, tensors ? "aten.mul.Tensor" : "aten.mul.Scalar",
                            GOUT, 0);
    op_g_set(c, 1, EMIT("aten.div.Tensor", "tt", h, y));
  }
  if (op_g_need(c, 0) && !tensors)
    op_g_set(c, 0, EMIT(tn, "tv", GOUT, ARG(1)));
  if (op_g_need(c, 0) && tensors) {
    DtHandle *h = EMIT(tt, "tt", GOUT, TENSOR(1));
    DtHandle *k = EMIT("aten.le.Scalar", "tf", TENSOR(1), edge);
    DtHandle *z = EMIT("aten.eq.Scalar", "tf", TENSOR(0), 0.0);
    k = EMIT("aten.bitwise_and.Tensor", "tt", z, k);
    op_g_set(c, 0, EMIT("aten.masked_fill.Scalar", "ttf", h, k, 0.0));
  }
  return op_g_finish(c);
}
static DtStatus g_xlogy (DtGradCall *c) {
  return log_grad(c, "aten.xlogy.Tensor", "aten.xlogy.Scalar_Other", 0.0);
}
static DtStatus g_xlog1py (DtGradCall *c) {
  return log_grad(c, "aten.special_xlog1py.default",
                  "aten.special_xlog1py.other_scalar", -1.0);
}

/* ---- samples ---- */

static const char *const poly_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5]", "f32[0, 4], f32[4]", NULL
};

/* ---- rows ---- */

/* A special function of one tensor that is called `arg`. */
#define SP(id, fn, arg, brief_, flags_, class_, grad_) \
  ROW1(id, fn, PK_FLOAT, 0, 0); \
  DEF(id, #id "(Tensor " arg ") -> Tensor", brief_, flags_, class_, grad_, S_)
/* Two tensors, named as given. */
#define SP2(id, fn, args, brief_, flags_, class_, grad_, samples_) \
  ROW2(id, fn, PK_FLOAT, 0, 0); \
  DEF(id, args " -> Tensor", brief_, flags_, class_, grad_, samples_)
#define POLY(id, brief_) \
  SP2(id, id, #id "(Tensor x, Tensor n)", brief_, NOGRAD, NONE, NULL, \
      poly_samples)

SP(i0, i0, "self", "Modified Bessel function of order 0.", 0, NONE, g_i0);
SP(special_airy_ai, special_airy_ai, "x", "Airy function.", NOGRAD, NONE,
  NULL);
SP(special_bessel_j0, special_bessel_j0, "self",
  "Bessel function of the first kind, order 0.", NOGRAD, NONE, g_bessel_j0);
SP(special_bessel_j1, special_bessel_j1, "self",
  "Bessel function of the first kind, order 1.", NOGRAD | SAVE, NONE, g_bessel_j1);
SP(special_bessel_y0, special_bessel_y0, "self",
  "Bessel function of the second kind, order 0.", NOGRAD, NONE, g_bessel_y0);
SP(special_bessel_y1, special_bessel_y1, "self",
  "Bessel function of the second kind, order 1.", NOGRAD | SAVE, NONE, g_bessel_y1);
SP(special_entr, special_entr, "self", "-x log(x).", 0, NONE, g_entr);
SP(special_erfcx, special_erfcx, "self", "exp(x^2) erfc(x).", SAVE,
  NONINCREASING, g_erfcx);
SP(special_i0e, special_i0e, "self", "i0, scaled by exp(-|x|).", SAVE, NONE,
  g_i0e);
SP(special_i1, special_i1, "self", "Modified Bessel function of order 1.",
  SAVE, NONE, g_i1);
SP(special_i1e, special_i1e, "self", "i1, scaled by exp(-|x|).", SAVE, NONE,
  g_i1e);
SP(special_log_ndtr, special_log_ndtr, "self",
  "Logarithm of the normal distribution.", SAVE, NONE, g_log_ndtr);
SP(special_ndtri, special_ndtri, "self", "Inverse of the normal distribution.",
  SAVE, NONE, g_ndtri);
SP(special_modified_bessel_i0, special_modified_bessel_i0, "self",
  "Modified Bessel function I0.", NOGRAD, NONE, g_bessel_i0);
SP(special_modified_bessel_i1, special_modified_bessel_i1, "self",
  "Modified Bessel function I1.", NOGRAD | SAVE, NONDECREASING, g_i1);
SP(special_modified_bessel_k0, special_modified_bessel_k0, "self",
  "Modified Bessel function K0.", NOGRAD, BESSEL_K, g_bessel_k0);
SP(special_modified_bessel_k1, special_modified_bessel_k1, "self",
  "Modified Bessel function K1.", NOGRAD | SAVE, BESSEL_K, g_bessel_k1);
SP(special_scaled_modified_bessel_k0, special_scaled_modified_bessel_k0, "x",
  "Modified Bessel function K0, scaled by exp(x).", NOGRAD, BESSEL_K, NULL);
SP(special_scaled_modified_bessel_k1, special_scaled_modified_bessel_k1, "x",
  "Modified Bessel function K1, scaled by exp(x).", NOGRAD, BESSEL_K, NULL);
SP(special_spherical_bessel_j0, special_spherical_bessel_j0, "x",
  "Spherical Bessel function of order 0.", NOGRAD, NONE, NULL);
B(igamma, igamma, PK_SAME, "igamma",
  "Regularised lower incomplete gamma function.", 0, NONE, g_igamma, B_);
B(igammac, igammac, PK_SAME, "igammac",
  "Regularised upper incomplete gamma function.", 0, NONE, g_igammac, B_);
SP2(special_xlog1py, special_xlog1py,
  "special_xlog1py(Tensor self, Tensor other)",
  "x log(1 + y), 0 where x is 0.", 0, XLOG1PY, g_xlog1py, B_);
SP2(special_zeta, special_zeta, "special_zeta(Tensor self, Tensor other)",
  "Hurwitz zeta function.", 0, NONE, g_zeta, B_);
SP2(xlogy_Tensor, xlogy, "xlogy.Tensor(Tensor self, Tensor other)",
  "x log(y), 0 where x is 0.", 0, NONE, g_xlogy, B_);
POLY(special_chebyshev_polynomial_t, "Chebyshev polynomial T of degree n.");
POLY(special_chebyshev_polynomial_u, "Chebyshev polynomial U of degree n.");
POLY(special_chebyshev_polynomial_v, "Chebyshev polynomial V of degree n.");
POLY(special_chebyshev_polynomial_w, "Chebyshev polynomial W of degree n.");
POLY(special_shifted_chebyshev_polynomial_t,
  "Chebyshev polynomial T of degree n on [0, 1].");
POLY(special_shifted_chebyshev_polynomial_u,
  "Chebyshev polynomial U of degree n on [0, 1].");
POLY(special_shifted_chebyshev_polynomial_v,
  "Chebyshev polynomial V of degree n on [0, 1].");
POLY(special_shifted_chebyshev_polynomial_w,
  "Chebyshev polynomial W of degree n on [0, 1].");
POLY(special_hermite_polynomial_h,
  "Hermite polynomial of degree n, as in physics.");
POLY(special_hermite_polynomial_he,
  "Hermite polynomial of degree n, as in probability.");
POLY(special_laguerre_polynomial_l, "Laguerre polynomial of degree n.");
POLY(special_legendre_polynomial_p, "Legendre polynomial of degree n.");
