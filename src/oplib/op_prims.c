/* SPDX-License-Identifier: MIT
** oplib/op_prims.c: the pointwise operators of PyTorch's namespace prims.
**
** They are what its decompositions end in: no promotion, no gradient.  One
** row each, with the functions of the aten operators. */
#include "oplib/pw_rows.h"

#include <math.h>

static DtStatus frexp_meta (DtMetaCall *c) {
  op_like_meta(&c->out[0], c->in[0], (DtDtype)c->in[0]->dtype);
  op_like_meta(&c->out[1], c->in[0], DT_I32);
  c->nout = 2;
  return DT_OK;
}

static DtStatus convert_meta (DtMetaCall *c) {
  op_like_meta(&c->out[0], c->in[0],
               op_dtype_or(c->args, 1, (DtDtype)c->in[0]->dtype));
  c->nout = 1;
  return DT_OK;
}

static DtStatus copy_to_kernel (DtKernelCall *c) {
  return dt_k_copy(c->cx, c->in[1], c->out[0]);
}

/* a * b + c */
static DtStatus fma_kernel (DtKernelCall *c) {
  return dt_k_ternary(c->cx, DT_T3_addcmul, (DtDtype)c->out[0]->m.dtype, NULL,
                      c->in[2], c->in[0], c->in[1], c->out[0]);
}

/* ---- samples ---- */

static const char *const float_samples[] = {
  "f32[8, 6]", "f32[7, 5]", "f32[0, 4]", "f32[]", NULL
};
static const char *const same_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[7, 5]", "f32[0, 4], f32[0, 4]",
  "f32[], f32[]", NULL
};
static const char *const int_samples[] = {
  "i64[8, 6], i64[8, 6]", "i64[7], i64[7]", "i64[0], i64[0]", NULL
};
static const char *const three_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6]", "f32[7], f32[7], f32[7]", NULL
};
static const char *const convert_samples[] = {
  "f32[8, 6], dtype=bf16", "f32[7], dtype=f64", "f32[0], dtype=i64", NULL
};

/* ---- rows ---- */

#define P1(id, fn, brief_, samples_) \
  ROW1(prims_##id, fn, PK_SAME, 0, 0); \
  const DtOpDef dt_op_prims_##id = { \
    .schema = "prims::" #id "(Tensor self) -> Tensor", .brief = brief_, \
    .flags = PW | NOGRAD, .meta = op_pw_meta, .kernel = op_pw_kernel, \
    .samples = samples_, .row = row_prims_##id }
#define P2(id, fn, promo, brief_, class_, samples_) \
  ROW2(prims_##id, fn, PK_##promo, 0, 0); \
  const DtOpDef dt_op_prims_##id = { \
    .schema = "prims::" #id "(Tensor self, Tensor other) -> Tensor", \
    .brief = brief_, .flags = PW | NOGRAD, .pw = DT_PW_##class_, \
    .meta = op_pw_meta, .kernel = op_pw_kernel, .samples = samples_, \
    .row = row_prims_##id }

P1(abs, abs, "Absolute value.", float_samples);
P1(bessel_i0e, special_i0e, "Modified Bessel function I0, scaled.",
   float_samples);
P1(bessel_i1, special_i1, "Modified Bessel function I1.", float_samples);
P1(bessel_i1e, special_i1e, "Modified Bessel function I1, scaled.",
   float_samples);
P1(bessel_j0, special_bessel_j0, "Bessel function J0.", float_samples);
P1(bessel_j1, special_bessel_j1, "Bessel function J1.", float_samples);
P1(bitwise_not, bitwise_not, "Bits inverted.", op_samples_int_unary);
P1(conj_physical, conj_physical, "Complex conjugate.", float_samples);
P1(digamma, digamma, "Derivative of lgamma.", float_samples);
P1(erfcx, special_erfcx, "exp(x^2) erfc(x).", float_samples);
P1(exp2, exp2, "2 to the power of x.", float_samples);
P1(log2, log2, "Logarithm to base 2.", float_samples);
P1(ndtri, special_ndtri, "Inverse of the normal distribution.", float_samples);
P1(reciprocal, reciprocal, "1 / x.", float_samples);
P1(rsqrt, rsqrt, "1 / sqrt(x).", float_samples);
P1(sign, sign, "-1, 0 or 1.", float_samples);
P1(signbit, signbit, "Is the sign bit set?", float_samples);
P1(spherical_bessel_j0, special_spherical_bessel_j0,
   "Spherical Bessel function.", float_samples);
P1(trunc, trunc, "The part before the point.", float_samples);
P2(div, div, SAME, "Quotient.", NONE, same_samples);
P2(fmax, fmax, SAME, "Larger operand; a number beats NaN.", MAXLIKE,
   same_samples);
P2(fmin, fmin, SAME, "Smaller operand; a number beats NaN.", MINLIKE,
   same_samples);
P2(gcd, gcd, SAME, "Greatest common divisor.", NONE, int_samples);
P2(hypot, hypot, SAME, "sqrt(x^2 + y^2).", NONE, same_samples);
P2(igamma, igamma, SAME, "Regularised lower incomplete gamma function.", NONE,
   same_samples);
P2(igammac, igammac, SAME, "Regularised upper incomplete gamma function.",
   NONE, same_samples);
P2(maximum, maximum, SAME, "Larger operand.", NONE, same_samples);
P2(minimum, minimum, SAME, "Smaller operand.", NONE, same_samples);
P2(ne, ne, BOOL, "Not equal?", NONE, same_samples);
P2(nextafter, nextafter, SAME, "The next number towards other.", NONE,
   same_samples);
P2(zeta, special_zeta, SAME, "Hurwitz zeta function.", NONE, same_samples);
const DtOpDef dt_op_prims_frexp = {
  .schema = "prims::frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)",
  .brief = "Mantissa in [0.5, 1) and power of 2.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | NOGRAD, .meta = frexp_meta,
  .kernel = op_frexp_kernel, .samples = float_samples
};
static const int row_prims_fma[PWR_LEN] = { DT_T3_addcmul, PK_SAME, 3, 0, 1,
                                            2, 0 };
const DtOpDef dt_op_prims_fma = {
  .schema = "prims::fma(Tensor a, Tensor b, Tensor c) -> Tensor",
  .brief = "a * b + c.", .flags = PW | NOGRAD, .meta = op_pw_meta,
  .kernel = fma_kernel, .samples = three_samples, .row = row_prims_fma
};
const DtOpDef dt_op_prims_convert_element_type = {
  .schema = "prims::convert_element_type(Tensor a, ScalarType dtype) -> "
            "Tensor",
  .brief = "The tensor in another dtype.",
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | NOGRAD, .meta = convert_meta,
  .kernel = op_k_copy0, .samples = convert_samples
};
const DtOpDef dt_op_prims_copy_to = {
  .schema = "prims::copy_to(Tensor(a!) a, Tensor b) -> Tensor(a!)",
  .brief = "b written into a.", .pw = DT_PW_COPY_,
  .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_INPLACE | NOGRAD,
  .meta = op_meta_inplace, .kernel = copy_to_kernel, .samples = same_samples
};

/* The same tensor again. */
static DtStatus view_of_strategy (DtStratCall *c) {
  return op_s_one(c, c->in[0]->pl, c->in[0]->pl, NAN);
}
const DtOpDef dt_op_prims_view_of = {
  .schema = "prims::view_of(Tensor(a) a) -> Tensor(a)",
  .brief = "The same tensor again.", .flags = DT_OP_VIEW | NOGRAD,
  .meta = op_meta_alias, .strategy = view_of_strategy,
  .samples = float_samples
};
