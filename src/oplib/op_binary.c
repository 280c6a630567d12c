/* SPDX-License-Identifier: MIT
** oplib/op_binary.c: pointwise operators of two operands: arithmetic, extremes,
** comparisons, logic, bits.
**
** One row each.  The second operand may be a number: the Scalar overloads are
** derived from these (forms in op_binary.ops) and use the same functions. */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>


/* ---- gradients: `other` first, as autograd's alphabetical order ---- */

static DtStatus add_grad (DtGradCall *c) {
  if (op_g_need(c, 1)) op_g_set(c, 1, op_g_scale(c, GOUT, 2));
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

static DtStatus sub_grad (DtGradCall *c) {
  if (op_g_need(c, 1))
    op_g_set(c, 1, op_g_scale(c, EMIT("aten.neg.default", "t", GOUT), 2));
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

static DtStatus rsub_grad (DtGradCall *c) {
  op_g_set(c, 1, GOUT);
  if (op_g_need(c, 0))
    op_g_set(c, 0, op_g_scale(c, EMIT("aten.neg.default", "t", GOUT), 2));
  return op_g_finish(c);
}

static bool is_complex (DtGradCall *c, DtHandle *h) {
  return dt_emit_ok(c->e) &&
         dt_dtype_is_complex((DtDtype)dt_emit_meta(c->e, h)->dtype);
}
/* op(h, conjugate of argument i) */
static DtHandle *with_conj (DtGradCall *c, const char *op, DtHandle *h,
                            int i) {
  DtHandle *x = dt_gin(c, i);
  DtScalar v;
  if (x != NULL && is_complex(c, x)) {
    return EMIT(op, "tt", h, EMIT("aten._conj.default", "t", x));
  }
  if (x != NULL || c->args->v[i].kind != DT_V_COMPLEX)
    return op_g_with(c, op, h, i);
  v = dt_arg_scalar(c->args, i);
  return EMIT(op, "tv", h, dt_v_complex(v.re, -v.im));
}
static DtStatus mul_grad (DtGradCall *c) {
  const char *op = op_is_scalar_form(c->op) ? "aten.mul.Scalar"
                                            : "aten.mul.Tensor";
  if (op_g_need(c, 1)) op_g_set(c, 1, with_conj(c, op, GOUT, 0));
  if (op_g_need(c, 0)) op_g_set(c, 0, with_conj(c, op, GOUT, 1));
  return op_g_finish(c);
}

static DtStatus div_grad (DtGradCall *c) {
  const char *op = op_is_scalar_form(c->op) ? "aten.div.Scalar"
                                            : "aten.div.Tensor";
  if (op_g_need(c, 1)) {
    DtHandle *q = op_g_arg_with(c, op, 0, dt_gin(c, 1));
    q = EMIT("aten.div.Tensor", "tt", q, dt_gin(c, 1));
    bool cplx = is_complex(c, q);
    if (cplx) q = EMIT("aten._conj.default", "t", q);
    DtHandle *n = EMIT("aten.neg.default", "t", GOUT);
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", n, q));
  }
  if (op_g_need(c, 0)) op_g_set(c, 0, with_conj(c, op, GOUT, 1));
  return op_g_finish(c);
}

static DtStatus div_mode_grad (DtGradCall *c) {
  if (dt_arg_is_none(c->args, 2)) return div_grad(c);
  for (int i = 1; i >= 0; i--)
    if (op_g_need(c, i))
      op_g_set(c, i, EMIT("aten.zeros_like.default", "t dtype=d", GOUT,
                          (int)dt_emit_meta(c->e, GOUT)->dtype));
  return op_g_finish(c);
}

static DtStatus remainder_grad (DtGradCall *c) {
  if (op_g_need(c, 1)) {
    DtHandle *q = EMIT("aten.div.Tensor_mode", "tt rounding_mode=s", dt_gin(c,
                                                                            0),
                       dt_gin(c, 1), "floor");
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", EMIT("aten.neg.default", "t",
                                                      GOUT),
                        q));
  }
  op_g_set(c, 0, GOUT);
  return op_g_finish(c);
}

static DtStatus pow_number_grad (DtGradCall *c) {
  DtScalar s = dt_arg_scalar(c->args, 1);
  double n = s.kind <= DT_K_INT ? (double)s.i : s.re;
  bool cplx = s.kind == DT_K_COMPLEX;
  if (n == 0 && (!cplx || s.im == 0)) return op_g_zeros(c);
  DtValue by = cplx ? dt_v_complex(n, s.im) : dt_v_float(n);
  DtValue less = cplx ? dt_v_complex(n - 1, s.im) : dt_v_float(n - 1);
  DtHandle *p = EMIT("aten.pow.Tensor_Scalar", "tv", dt_gin(c, 0), less);
  p = op_g_conj(c->e, EMIT("aten.mul.Scalar", "tv", p, by));
  op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, p));
  return op_g_finish(c);
}

/* d/dy x^y = x^y log(x), 0 where x = 0 and y >= 0 */
static DtHandle *pow_exponent (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 0), *y = dt_gin(c, 1);
  DtHandle *ge = EMIT("aten.ge.Scalar", "ti", y, (int64_t)0);
  DtHandle *eq = EMIT("aten.eq.Scalar", "ti", x, (int64_t)0);
  DtHandle *k = EMIT("aten.logical_and.default", "tt", eq, ge);
  DtHandle *l = EMIT("aten.mul.Tensor", "tt", c->out[0],
                     EMIT("aten.log.default", "t", x));
  DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
  return EMIT("aten.mul.Tensor", "tt", GOUT, EMIT("aten.where.self", "ttt", k,
                                                  z, l));
}
/* d/dx x^y = y x^(y-1), 0 where y = 0 */
static DtHandle *pow_base (DtGradCall *c) {
  DtHandle *x = dt_gin(c, 0), *y = dt_gin(c, 1);
  DtHandle *p = EMIT("aten.sub.Scalar", "ti", y, (int64_t)1);
  p = EMIT("aten.mul.Tensor", "tt", y, EMIT("aten.pow.Tensor_Tensor", "tt", x,
                                            p));
  p = EMIT("aten.mul.Tensor", "tt", GOUT, p);
  DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
  DtHandle *eq = EMIT("aten.eq.Scalar", "tf", y, 0.0);
  return EMIT("aten.where.self", "ttt", eq, z, p);
}
static DtStatus pow_grad (DtGradCall *c) {
  if (op_g_need(c, 1)) op_g_set(c, 1, pow_exponent(c));
  if (op_g_need(c, 0)) op_g_set(c, 0, pow_base(c));
  return op_g_finish(c);
}
/* Where is y a real number that is not negative? */
static DtHandle *is_not_negative (DtGradCall *c, DtHandle *y) {
  if (!is_complex(c, y)) return EMIT("aten.ge.Scalar", "ti", y, (int64_t)0);
  DtHandle *parts = EMIT("aten.view_as_real.default", "t", y);
  DtHandle *re = EMIT("aten.select.int", "tii", parts, (int64_t)-1, (int64_t)0);
  DtHandle *im = EMIT("aten.select.int", "tii", parts, (int64_t)-1, (int64_t)1);
  return EMIT("aten.logical_and.default", "tt",
              EMIT("aten.eq.Scalar", "ti", im, (int64_t)0),
              EMIT("aten.ge.Scalar", "ti", re, (int64_t)0));
}
/* d/dy b^y = b^y log(b) of a number b, 0 where b = 0 and y >= 0 */
static DtStatus pow_of_number_grad (DtGradCall *c) {
  DtScalar b = dt_arg_scalar(c->args, 0);
  DtHandle *y = dt_gin(c, 1), *h;
  double re = b.kind <= DT_K_INT ? (double)b.i : b.re;
  double im = b.kind == DT_K_COMPLEX ? b.im : 0;
  DtValue l = b.kind == DT_K_COMPLEX || is_complex(c, y)
    ? dt_v_complex(log(hypot(re, im)), atan2(im, re)) : dt_v_float(log(re));
  h = op_g_conj(c->e, EMIT("aten.mul.Scalar", "tv", c->out[0], l));
  if (re == 0 && im == 0)
    h = EMIT("aten.where.self", "ttt", is_not_negative(c, y),
             op_e_scalar(c->e, 0, dt_emit_meta(c->e, h)), h);
  op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", GOUT, h));
  return op_g_finish(c);
}

/* Half of the gradient to each side where the operands are equal.  Later the
** mask comes first, and the zeros go into a new tensor. */
static DtHandle *extreme_part (DtGradCall *c, const char *loses) {
  DtHandle *a = dt_gin(c, 0), *b = dt_gin(c, 1), *g;
  if ((c->op->flags & DT_OP_LATER) != 0)
    return op_g_where_not(c, EMIT(loses, "tt", a, b), a, b);
  g = op_g_halved_at_ties(c, a, b);
  return EMIT("aten.masked_fill_.Scalar", "tti", g, EMIT(loses, "tt", a, b),
              (int64_t)0);
}
static DtStatus extreme_grad (DtGradCall *c, const char *other_loses,
                              const char *self_loses) {
  if (op_g_need(c, 1)) op_g_set(c, 1, extreme_part(c, other_loses));
  if (op_g_need(c, 0)) op_g_set(c, 0, extreme_part(c, self_loses));
  return op_g_finish(c);
}
static DtStatus maximum_grad (DtGradCall *c) {
  return extreme_grad(c, "aten.gt.Tensor", "aten.lt.Tensor");
}
static DtStatus minimum_grad (DtGradCall *c) {
  return extreme_grad(c, "aten.lt.Tensor", "aten.gt.Tensor");
}

/* clamp_min.Tensor: `min` gets what `self` does not; later they share as those
** of maximum do. */
static DtStatus clamp_t_grad (DtGradCall *c, const char *lose,
                              const char *keep) {
  const char *op[2] = { keep, lose };
  for (int i = 1; i >= 0; i--) {
    if (!op_g_need(c, i)) continue;
    DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    DtHandle *k = EMIT(op[i], "tt", dt_gin(c, 0), dt_gin(c, 1));
    op_g_set(c, i, EMIT("aten.where.self", "ttt", k, GOUT, z));
  }
  return op_g_finish(c);
}
static DtStatus clamp_min_t_grad (DtGradCall *c) {
  if ((c->op->flags & DT_OP_LATER) != 0) return maximum_grad(c);
  return clamp_t_grad(c, "aten.lt.Tensor", "aten.ge.Tensor");
}
static DtStatus clamp_max_t_grad (DtGradCall *c) {
  if ((c->op->flags & DT_OP_LATER) != 0) return minimum_grad(c);
  return clamp_t_grad(c, "aten.gt.Tensor", "aten.le.Tensor");
}

/* ---- metas and kernels that need more than their row ---- */

/* add, sub, rsub: PyTorch's checks of alpha and of bool subtraction. */
static DtStatus alpha_meta (DtMetaCall *c) {
  OpOperand o[PWR_MAXN];
  int n = op_pw_operands(c->op, c->args, c->in, NULL, o);
  DtDtype t = op_promote(c->cx, n, o);
  bool sub = c->op->row[PWR_FN] != DT_B_add, both = true, any = false;
  for (int i = 0; i < n; i++) {
    bool k = o[i].is_num ? o[i].num.kind == DT_K_BOOL
                         : o[i].m && o[i].m->dtype == DT_BOOL;
    both &= k;
    any |= k;
  }
  DT_CHECK_SAY0(c->cx, !(sub && both), DT_E_RUNTIME, SUB_BOOLS);
  DT_CHECK_SAY0(c->cx, !(sub && any), DT_E_RUNTIME, SUB_BOOL);
  if (dt_dtype_is_integral(t, true) && !dt_arg_is_none(c->args, 2))
    DT_CHECK(c->cx, dt_arg_scalar(c->args, 2).kind <= DT_K_INT, DT_E_RUNTIME,
             "For integral input tensors, argument alpha must not be a "
             "floating point number.");
  DT_CHECK(c->cx, dt_dtype_is_complex(t) || dt_arg_is_none(c->args, 2) ||
           dt_arg_scalar(c->args, 2).kind != DT_K_COMPLEX, DT_E_RUNTIME,
           "For non-complex input tensors, argument alpha must not be a "
           "complex number.");
  return op_pw_meta(c);
}

/* div with rounding: another function, and integers stay integers. */
static OpPromo div_mode (const DtArgs *a, DtBinary *fn) {
  const char *m = dt_arg_is_none(a, 2) ? NULL : dt_arg_str(a, 2);
  *fn = !m ? DT_B_div : strcmp(m, "floor") == 0 ? DT_B_div_floor
                                                : DT_B_div_trunc;
  return m ? PK_SAME : PK_FLOAT;
}

static DtStatus div_mode_meta (DtMetaCall *c) {
  OpOperand o[PWR_MAXN];
  DtDtype ct, rt;
  DtBinary fn;
  const char *m = dt_arg_is_none(c->args, 2) ? "floor"
                                             : dt_arg_str(c->args, 2);
  DT_CHECK(c->cx, strcmp(m, "floor") == 0 || strcmp(m, "trunc") == 0,
           DT_E_RUNTIME, "div expected rounding_mode to be one of None, "
           "'trunc', or 'floor' but found '%s'", m);
  int n = op_pw_operands(c->op, c->args, c->in, NULL, o);
  op_promo_types(c->cx, div_mode(c->args, &fn), n, o, &ct, &rt);
  DT_TRY(c->cx, op_pw_allows(c->cx, c->op, n, o, ct));
  c->nout = 1;
  return op_broadcast(c->cx, n, o, rt, &c->out[0]);
}

static DtStatus div_mode_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  DtDtype ct, rt;
  DtBinary fn;
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  op_promo_types(c->cx, div_mode(c->args, &fn), n, o, &ct, &rt);
  const char *name = fn == DT_B_div ? "div"
                     : fn == DT_B_div_floor ? "div_floor" : "div_trunc";
  bool one = o[1].is_num || dt_meta_numel(o[1].m) == 1;
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, name, ct, one));
  return op_pw_run(c->cx, c->op, (int)fn, ct, NULL, n, o, c->out[0]);
}

/* x ^ number: the kernel knows squares, roots and small powers exactly. */
static DtStatus pow_number_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  DtScalar p[4];
  DtDtype ct, rt;
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  op_promo_types(c->cx, PK_SAME, n, o, &ct, &rt);
  memset(p, 0, sizeof p);
  p[0] = dt_arg_scalar(c->args, 1);
  if (p[0].re != 0 && (p[0].re != 1 || p[0].kind == DT_K_COMPLEX))
    DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL, ct, true));
  return dt_k_unary(c->cx, DT_U_pow_scalar, ct, p, c->in[0], c->out[0]);
}

/* PyTorch's shape function of a number's powers knows no order of dims. */
static DtStatus pow_of_number_meta (DtMetaCall *c) {
  DT_TRY(c->cx, op_pw_meta(c));
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

static DtStatus pow_number_meta (DtMetaCall *c) {
  DtScalar e = dt_arg_scalar(c->args, 1);
  bool whole = dt_dtype_is_integral((DtDtype)c->in[0]->dtype, true);
  DT_CHECK(c->cx, !(whole && e.kind == DT_K_INT && e.i < 0), DT_E_RUNTIME,
           "Integers to negative integer powers are not allowed.");
  return op_pw_meta(c);
}

/* PyTorch has no rule for the tensor form: other - self. */
static DtStatus rsub_decomp (DtDecompCall *c) {
  c->out[0] = EMIT("aten.sub.Tensor", "tt alpha=v", c->in[1], c->in[0],
                   ARG(2));
  c->nout = 1;
  return c->e->st;
}

/* ---- samples ---- */

static const char *const cmp_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5]", "i64[6], f32[6]",
  "f32[1], f32[1]", "f32[0, 4], f32[4]", "f32[6], f32[]", NULL
};
static const char *const num_samples[] = {
  "f32[8, 6], 2", "f32[7], 2.5", "f32[1], 0.5", "f32[0, 4], 3", "f32[], -1.0",
  "i64[6], 2", NULL
};
static const char *const of_num_samples[] = {
  "2.0, f32[8, 6]", "2, f32[7]", "3.0, f32[0]", "0.5, f32[]", NULL
};
static const char *const mode_samples[] = {
  "f32[8, 6], f32[8, 6], rounding_mode='floor'",
  "f32[7], f32[7], rounding_mode='trunc'", "f32[5], f32[], rounding_mode=None",
  "i64[6], i64[6], rounding_mode='floor'", NULL
};

/* ---- rows ---- */

enum { PW = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_ALIAS_SAFE };

#define ROW(id, fn, promo, npar, ...) \
  static const int row_##id[PWR_LEN] = { DT_B_##fn, promo, 2, 0, 1, 0, npar, \
                                         __VA_ARGS__ }
#define B(id, fn, promo, name_, brief_, flags_, class_, grad_, samples_) \
  ROW(id, fn, promo, 0, 0); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor self, Tensor other) -> Tensor", \
    .brief = brief_, .flags = PW | (flags_), .pw = DT_PW_##class_, \
    .meta = op_pw_meta, .kernel = op_pw_kernel, .grad = grad_, \
    .samples = samples_, .row = row_##id }
#define ALPHA(id, fn, name_, brief_, class_, grad_) \
  ROW(id, fn, PK_SAME, 1, 2); \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor self, Tensor other, *, Scalar alpha=1)" \
              " -> Tensor", \
    .brief = brief_, .flags = PW | DT_OP_PYMETA, .pw = DT_PW_##class_, \
    .meta = alpha_meta, \
    .kernel = op_pw_kernel, .grad = grad_, .samples = op_samples_binary, \
    .row = row_##id }

#define NOGRAD DT_OP_NOGRAD
#define PYMETA DT_OP_PYMETA
#define S_ op_samples_binary
#define C_ cmp_samples
#define I_ op_samples_int_binary

ALPHA(add_Tensor, add, "add.Tensor", "Sum, the second operand times alpha.",
      ADDITIVE, add_grad);
ALPHA(sub_Tensor, sub, "sub.Tensor",
      "Difference, the second operand times alpha.", ADDITIVE, sub_grad);
ROW(rsub_Tensor, rsub, PK_SAME, 1, 2);
const DtOpDef dt_op_rsub_Tensor = {
  .schema = "aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) "
            "-> Tensor",
  .brief = "other - alpha * self.", .flags = DT_OP_ALIAS_SAFE,
  .meta = alpha_meta, .kernel = op_pw_kernel, .decomp = rsub_decomp,
  .grad = rsub_grad, .samples = op_samples_binary, .row = row_rsub_Tensor
};
ROW(rsub_Scalar, rsub, PK_SAME, 1, 2);
const DtOpDef dt_op_rsub_Scalar = {
  .schema = "aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> "
            "Tensor",
  .brief = "A number minus alpha * self.", .flags = PW, .meta = alpha_meta,
  .kernel = op_pw_kernel, .grad = rsub_grad, .samples = num_samples,
  .row = row_rsub_Scalar
};
B(mul_Tensor, mul, PK_SAME, "mul.Tensor", "Product.", PYMETA, MUL, mul_grad,
  S_);
B(div_Tensor, div, PK_FLOAT, "div.Tensor", "Quotient; integers give floats.",
  PYMETA, DIV, div_grad, S_);
B(remainder_Tensor, remainder, PK_SAME, "remainder.Tensor",
  "Remainder with the divisor's sign.", 0, NONE, remainder_grad, S_);
B(maximum, maximum, PK_SAME, "maximum", "Larger operand; NaN wins.", 0,
  MAXLIKE, maximum_grad, S_);
B(minimum, minimum, PK_SAME, "minimum", "Smaller operand; NaN wins.", 0,
  MINLIKE, minimum_grad, S_);
B(eq_Tensor, eq, PK_BOOL, "eq.Tensor", "Equal?", NOGRAD, NONE, NULL, C_);
B(ne_Tensor, ne, PK_BOOL, "ne.Tensor", "Not equal?", NOGRAD, NONE, NULL, C_);
B(lt_Tensor, lt, PK_BOOL, "lt.Tensor", "Less?", NOGRAD, NONE, NULL, C_);
B(le_Tensor, le, PK_BOOL, "le.Tensor", "Less or equal?", NOGRAD, NONE, NULL,
  C_);
B(gt_Tensor, gt, PK_BOOL, "gt.Tensor", "Greater?", NOGRAD, NONE, NULL, C_);
B(ge_Tensor, ge, PK_BOOL, "ge.Tensor", "Greater or equal?", NOGRAD, NONE,
  NULL, C_);
B(logical_and, logical_and, PK_BOOL, "logical_and", "Both not zero?",
  NOGRAD | PYMETA, NONE, NULL, C_);
B(logical_or, logical_or, PK_BOOL, "logical_or", "Any not zero?",
  NOGRAD | PYMETA, NONE, NULL, C_);
B(logical_xor, logical_xor, PK_BOOL, "logical_xor", "Exactly one not zero?",
  NOGRAD | PYMETA, NONE, NULL, C_);
B(bitwise_and_Tensor, bitwise_and, PK_SAME, "bitwise_and.Tensor",
  "Bits set in both.", NOGRAD, NONE, NULL, I_);
B(bitwise_or_Tensor, bitwise_or, PK_SAME, "bitwise_or.Tensor",
  "Bits set in any.", NOGRAD, NONE, NULL, I_);
B(bitwise_xor_Tensor, bitwise_xor, PK_SAME, "bitwise_xor.Tensor",
  "Bits set in exactly one.", NOGRAD, NONE, NULL, I_);

ROW(div_Tensor_mode, div, PK_SAME, 0, 0);
const DtOpDef dt_op_div_Tensor_mode = {
  .schema = "aten::div.Tensor_mode(Tensor self, Tensor other, *, "
            "str? rounding_mode) -> Tensor",
  .brief = "Quotient rounded down (floor), to zero (trunc), or not at all.",
  .flags = PW, .meta = div_mode_meta, .kernel = div_mode_kernel,
  .grad = div_mode_grad, .samples = mode_samples, .row = row_div_Tensor_mode
};

ROW(pow_Tensor_Scalar, pow, PK_SAME, 0, 0);
const DtOpDef dt_op_pow_Tensor_Scalar = {
  .schema = "aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
  .brief = "Elements to the power of a number.", .flags = PW,
  .meta = pow_number_meta, .kernel = pow_number_kernel,
  .grad = pow_number_grad, .samples = num_samples,
  .row = row_pow_Tensor_Scalar
};
ROW(pow_Tensor_Tensor, pow, PK_SAME, 0, 0);
const DtOpDef dt_op_pow_Tensor_Tensor = {
  .schema = "aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
  .brief = "Elements to the power of elements.",
  .flags = PW | DT_OP_SAVE_OUT, .meta = op_pw_meta, .kernel = op_pw_kernel,
  .grad = pow_grad, .samples = op_samples_binary, .row = row_pow_Tensor_Tensor
};
ROW(pow_Scalar, pow, PK_SAME, 0, 0);
const DtOpDef dt_op_pow_Scalar = {
  .schema = "aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
  .brief = "A number to the power of elements.",
  .flags = PW | DT_OP_SAVE_OUT, .meta = pow_of_number_meta,
  .kernel = op_pw_kernel, .grad = pow_of_number_grad, .samples = of_num_samples,
  .row = row_pow_Scalar
};

ROW(clamp_min_Tensor, maximum, PK_SAME, 0, 0);
const DtOpDef dt_op_clamp_min_Tensor = {
  .schema = "aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
  .brief = "Elements, at least those of min.", .flags = PW,
  .pw = DT_PW_MAXLIKE, .meta = op_pw_meta, .kernel = op_pw_kernel,
  .grad = clamp_min_t_grad, .samples = op_samples_binary,
  .row = row_clamp_min_Tensor
};
ROW(clamp_max_Tensor, minimum, PK_SAME, 0, 0);
const DtOpDef dt_op_clamp_max_Tensor = {
  .schema = "aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
  .brief = "Elements, at most those of max.", .flags = PW,
  .pw = DT_PW_MINLIKE, .meta = op_pw_meta, .kernel = op_pw_kernel,
  .grad = clamp_max_t_grad, .samples = op_samples_binary,
  .row = row_clamp_max_Tensor
};
