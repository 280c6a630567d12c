/* SPDX-License-Identifier: MIT
** oplib/op_ternary.c: pointwise operators of three operands: where,
** masked_fill, lerp, addcmul, addcdiv, clamp by tensors.
**
** One row each, like op_binary.c.  Conditions and masks stand outside of
** type promotion: the row names them in PROMO_SKIP. */
#include "oplib/oplib_int.h"

#include <string.h>


/* ---- gradients, inputs in alphabetical order as autograd ---- */

static DtStatus where_grad (DtGradCall *c) {
  if (op_g_need(c, 2)) {
    DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    op_g_set(c, 2, EMIT("aten.where.self", "ttt", TENSOR(0), z, GOUT));
  }
  if (op_g_need(c, 1)) {
    DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    op_g_set(c, 1, EMIT("aten.where.self", "ttt", TENSOR(0), GOUT, z));
  }
  return op_g_finish(c);
}

static DtStatus masked_fill_grad (DtGradCall *c) {
  if (op_g_need(c, 0))
    op_g_set(c, 0, EMIT("aten.masked_fill.Scalar", "tti", GOUT, TENSOR(1),
                        (int64_t)0));
  if (op_g_need(c, 2)) {
    DtHandle *z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    DtHandle *w = EMIT("aten.where.self", "ttt", TENSOR(1), GOUT, z);
    op_g_set(c, 2, EMIT("aten.sum.default", "t", w));
  }
  return op_g_finish(c);
}

static DtStatus lerp_number_grad (DtGradCall *c) {
  double w = dt_arg_float(c->args, 2);
  if (op_g_need(c, 1)) op_g_set(c, 1, EMIT("aten.mul.Scalar", "tf", GOUT, w));
  if (op_g_need(c, 0)) op_g_set(c, 0, EMIT("aten.mul.Scalar", "tf", GOUT,
                                           1 - w));
  return op_g_finish(c);
}

static DtStatus lerp_grad (DtGradCall *c) {
  if (op_g_need(c, 1))
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", GOUT, op_g_conj(c->e,
                                                                 TENSOR(2))));
  if (op_g_need(c, 0)) {
    DtHandle *k = EMIT("aten.empty_like.default", "t", TENSOR(2));
    k = EMIT("aten.fill_.Scalar", "ti", k, (int64_t)1);
    k = op_g_conj(c->e, EMIT("aten.sub_.Tensor", "tt", k, TENSOR(2)));
    op_g_set(c, 0, EMIT("aten.mul.Tensor", "tt", GOUT, k));
  }
  if (op_g_need(c, 2)) {
    DtHandle *d = op_g_conj(c->e, EMIT("aten.sub.Tensor", "tt", TENSOR(1),
                                       TENSOR(0)));
    op_g_set(c, 2, EMIT("aten.mul.Tensor", "tt", GOUT, d));
  }
  return op_g_finish(c);
}

static DtStatus addcmul_grad (DtGradCall *c) {
  op_g_set(c, 0, GOUT);
  for (int i = 1; i <= 2; i++) {
    if (!op_g_need(c, i)) continue;
    DtHandle *o = EMIT("aten.mul.Scalar", "tv", TENSOR(3 - i), ARG(3));
    op_g_set(c, i, EMIT("aten.mul.Tensor", "tt", GOUT, op_g_conj(c->e, o)));
  }
  return op_g_finish(c);
}

static DtStatus addcdiv_grad (DtGradCall *c) {
  op_g_set(c, 0, GOUT);
  if (op_g_need(c, 1)) {
    DtHandle *k = EMIT("aten.empty_like.default", "t", TENSOR(2));
    k = EMIT("aten.fill_.Scalar", "tv", k, ARG(3));
    k = op_g_conj(c->e, EMIT("aten.div_.Tensor", "tt", k, TENSOR(2)));
    op_g_set(c, 1, EMIT("aten.mul.Tensor", "tt", GOUT, k));
  }
  if (op_g_need(c, 2)) {
    DtHandle *sq = EMIT("aten.mul.Tensor", "tt", TENSOR(2), TENSOR(2));
    DtHandle *k = EMIT("aten.mul.Scalar", "tv", TENSOR(1), ARG(3));
    k = op_g_conj(c->e, EMIT("aten.div.Tensor", "tt", k, sq));
    op_g_set(c, 2, EMIT("aten.mul.Tensor", "tt", EMIT("aten.neg.default", "t",
                                                      GOUT),
                        k));
  }
  return op_g_finish(c);
}

/* G where nothing says otherwise, half of it at `tie`, 0 at `lose`. */
static DtHandle *shared (DtGradCall *c, DtHandle *half, DtHandle *tie,
                         DtHandle *lose) {
  DtHandle *w = EMIT("aten.where.self", "ttt", tie, half, GOUT);
  return EMIT("aten.masked_fill.Scalar", "tti", w, lose, (int64_t)0);
}

/* The later gradient of clamp(x, lo, hi): where x meets a bound, both get half.
** Bounds that cross leave max alone; equal ones get it where x is beyond. */
static DtStatus clamp_both_grad (DtGradCall *c) {
  DtHandle *x = TENSOR(0), *lo = TENSOR(1), *hi = TENSOR(2), *k, *j, *half, *under = NULL;
  DtHandle *equal = NULL;
  if (op_g_need(c, 1) || op_g_need(c, 2)) {
    under = EMIT("aten.lt.Tensor", "tt", lo, hi);
    equal = EMIT("aten.eq.Tensor", "tt", lo, hi);
  }
  if (op_g_need(c, 1)) {
    k = EMIT("aten.le.Tensor", "tt", x, lo);
    k = EMIT("aten.logical_and.default", "tt", under, k);
    j = EMIT("aten.lt.Tensor", "tt", x, lo);
    j = EMIT("aten.logical_and.default", "tt", equal, j);
    k = EMIT("aten.logical_or.default", "tt", k, j);
    k = EMIT("aten.logical_not.default", "t", k);
    half = EMIT("aten.div.Scalar", "ti", GOUT, (int64_t)2);
    j = EMIT("aten.eq.Tensor", "tt", x, lo);
    op_g_set(c, 1, shared(c, half, j, k));
  }
  if (op_g_need(c, 2)) {
    k = EMIT("aten.lt.Tensor", "tt", hi, lo);
    j = EMIT("aten.ge.Tensor", "tt", x, hi);
    j = EMIT("aten.logical_and.default", "tt", under, j);
    k = EMIT("aten.logical_or.default", "tt", k, j);
    j = EMIT("aten.gt.Tensor", "tt", x, hi);
    j = EMIT("aten.logical_and.default", "tt", equal, j);
    k = EMIT("aten.logical_or.default", "tt", k, j);
    k = EMIT("aten.logical_not.default", "t", k);
    half = EMIT("aten.div.Scalar", "ti", GOUT, (int64_t)2);
    j = EMIT("aten.eq.Tensor", "tt", x, hi);
    j = EMIT("aten.logical_and.default", "tt", j, under);
    op_g_set(c, 2, shared(c, half, j, k));
  }
  if (op_g_need(c, 0)) {
    under = EMIT("aten.lt.Tensor", "tt", lo, hi);
    k = EMIT("aten.eq.Tensor", "tt", x, lo);
    j = EMIT("aten.eq.Tensor", "tt", x, hi);
    equal = EMIT("aten.logical_or.default", "tt", k, j);
    equal = EMIT("aten.logical_and.default", "tt", equal, under);
    k = EMIT("aten.lt.Tensor", "tt", x, lo);
    j = EMIT("aten.gt.Tensor", "tt", x, hi);
    k = EMIT("aten.logical_or.default", "tt", k, j);
    half = EMIT("aten.div.Scalar", "ti", GOUT, (int64_t)2);
    op_g_set(c, 0, shared(c, half, equal, k));
  }
  return op_g_finish(c);
}

/* The later gradient with one bound, argument `at`: as maximum's. */
static DtStatus clamp_one_grad (DtGradCall *c, int at) {
  const char *beats[2] = { at == 1 ? "aten.gt.Tensor" : "aten.lt.Tensor",
                           at == 1 ? "aten.lt.Tensor" : "aten.gt.Tensor" };
  const int to[2] = { at, 0 };
  for (int i = 0; i < 2; i++) {
    if (!op_g_need(c, to[i])) continue;
    DtHandle *k = EMIT(beats[i], "tt", TENSOR(0), TENSOR(at));
    op_g_set(c, to[i], op_g_where_not(c, k, TENSOR(0), TENSOR(at)));
  }
  return op_g_finish(c);
}

/* clamp by tensors: the bound that acts gets the gradient; max beats min. */
static DtStatus clamp_grad (DtGradCall *c) {
  bool lo = dt_arg_slot(c->args, 1) >= 0, hi = dt_arg_slot(c->args, 2) >= 0;
  DtHandle *z = NULL, *k, *j;
  if ((c->op->flags & DT_OP_LATER) != 0)
    return lo && hi ? clamp_both_grad(c) : clamp_one_grad(c, lo ? 1 : 2);
  if (op_g_need(c, 1) || op_g_need(c, 2))
    z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
  if (lo && op_g_need(c, 1)) {
    k = EMIT("aten.lt.Tensor", "tt", TENSOR(0), TENSOR(1));
    if (hi) {
      j = EMIT("aten.lt.Tensor", "tt", TENSOR(1), TENSOR(2));
      k = EMIT("aten.logical_and.default", "tt", k, j);
    }
    op_g_set(c, 1, EMIT("aten.where.self", "ttt", k, GOUT, z));
  }
  if (hi && op_g_need(c, 2)) {
    k = EMIT("aten.gt.Tensor", "tt", TENSOR(0), TENSOR(2));
    if (lo) {
      j = EMIT("aten.lt.Tensor", "tt", TENSOR(2), TENSOR(1));
      k = EMIT("aten.logical_or.default", "tt", k, j);
    }
    op_g_set(c, 2, EMIT("aten.where.self", "ttt", k, GOUT, z));
  }
  if (op_g_need(c, 0)) {
    z = op_e_scalar(c->e, 0, dt_emit_meta(c->e, GOUT));
    k = lo ? EMIT("aten.ge.Tensor", "tt", TENSOR(0), TENSOR(1)) : NULL;
    j = hi ? EMIT("aten.le.Tensor", "tt", TENSOR(0), TENSOR(2)) : NULL;
    if (k && j) k = EMIT("aten.logical_and.default", "tt", k, j);
    op_g_set(c, 0, EMIT("aten.where.self", "ttt", k ? k : j, GOUT, z));
  }
  return op_g_finish(c);
}

/* ---- metas and kernels that need more than their row ---- */

static DtStatus where_meta (DtMetaCall *c) {
  const DtMeta *k = dt_in(c, 0);
  DT_CHECK(c->cx, !c->fake || !k || k->dtype == DT_BOOL, DT_E_RUNTIME,
           "expected predicate to be bool, got %s",
           k ? dt_dtype_info((DtDtype)k->dtype)->torch : "?");
  DT_CHECK(c->cx, !k || k->dtype == DT_BOOL || k->dtype == DT_U8,
           DT_E_RUNTIME, "where expected condition to be a boolean tensor, "
           "but got a tensor with dtype %s",
           k ? op_dtype_word((DtDtype)k->dtype) : "?");
  return op_pw_meta(c);
}

/* The result has self's type whatever the value's; out of place PyTorch
** broadcasts the mask first, so its error of shapes comes before the others. */
static DtStatus masked_fill_meta (DtMetaCall *c) {
  const DtMeta *k = dt_in(c, 1), *v = dt_in(c, 2);
  DtDtype t = (DtDtype)c->in[0]->dtype;
  if (!c->fake && k && !c->args->schema->inplace) {     /* the mask first */
    DtMeta m;
    DT_TRY(c->cx, dt_meta_broadcast(c->cx, k, c->in[0], &m));
  }
  DT_CHECK(c->cx, !c->fake || !k || k->dtype == DT_BOOL, DT_E_RUNTIME,
           "expected predicate to be bool, got %s",
           k ? dt_dtype_info((DtDtype)k->dtype)->torch : "?");
  DT_CHECK(c->cx, !k || k->dtype == DT_BOOL, DT_E_RUNTIME,
           "masked_fill_ only supports boolean masks, but got mask with dtype "
           "%s", k ? dt_dtype_info((DtDtype)k->dtype)->cpp : "?");
  DT_CHECK(c->cx, !c->fake || !v || v->ndim == 0, DT_E_RUNTIME,
           "only supports a 0-dimensional value tensor, but got tensor with %d "
           "dimension", v ? v->ndim : 0);
  DT_CHECK(c->cx, !v || v->ndim == 0, DT_E_RUNTIME,
           "masked_fill_ only supports a 0-dimensional value tensor, but got "
           "tensor with %d dimension(s).", v ? v->ndim : 0);
  DT_TRY(c->cx, op_pw_meta(c));
  c->out[0].dtype = (uint8_t)t;
  if (!c->fake) dt_meta_set_contiguous(&c->out[0]);
  return DT_OK;
}

/* The value must be one of self's type. */
static DtStatus masked_fill_kernel (DtKernelCall *c) {
  static const int64_t at[1] = { 0 };
  DtTensor *v = dt_kin(c, 2);
  DT_TRY(c->cx, op_kernel_allows(c->cx, c->op, NULL,
                                 (DtDtype)c->in[0]->m.dtype, false));
  if (v == NULL || dt_meta_numel(&v->m) == 1)
    DT_TRY(c->cx, op_number_fits(c->cx, v ? dt_tensor_get(v, at)
                                          : dt_arg_scalar(c->args, 2),
                                 (DtDtype)c->in[0]->m.dtype));
  return op_pw_kernel(c);
}

/* where() of the value in self's type. */
static DtStatus masked_fill_decomp (DtDecompCall *c) {
  DtHandle *v = c->in[2];
  int t = (int)dt_emit_meta(c->e, c->in[0])->dtype;
  if ((int)dt_emit_meta(c->e, v)->dtype != t)
    v = EMIT("aten._to_copy.default", "t dtype=d", v, t);
  v = EMIT("aten.where.self", "ttt", c->in[1], v, c->in[0]);
  c->out[0] = EMIT("aten.contiguous.default", "t", v);
  c->nout = 1;
  return c->e->st;
}

/* clamp.Tensor: missing bounds leave one of the extremes. */
static DtStatus clamp_kernel (DtKernelCall *c) {
  OpOperand o[PWR_MAXN];
  DtDtype ct, rt;
  DtTensor *lo = dt_kin(c, 1), *hi = dt_kin(c, 2);
  int n = op_pw_operands(c->op, c->args, NULL, c->in, o);
  op_promo_types(c->cx, PK_SAME, n, o, &ct, &rt);
  DT_TRY(c->cx, op_kernel_allows(c->cx, lo && hi ? &dt_op_clamp_Tensor
                                 : lo ? &dt_op_clamp_min_Tensor
                                      : &dt_op_clamp_max_Tensor, NULL, ct,
                                 false));
  if (lo && hi)
    return op_pw_run(c->cx, &dt_op_clamp_Tensor, DT_T3_clamp_tensor, ct, NULL,
                     3, o, c->out[0]);
  if (!lo) o[1] = o[2];
  return op_pw_run(c->cx, &dt_op_clamp_min_Tensor,
                   lo ? DT_B_maximum : DT_B_minimum, ct, NULL, 2, o,
                   c->out[0]);
}

static DtStatus clamp_meta (DtMetaCall *c) {
  DT_CHECK(c->cx, dt_in(c, 1) || dt_in(c, 2), DT_E_RUNTIME,
           c->fake ? "clamp called but both min and max are none!"
           : "torch.clamp: At least one of 'min' or 'max' must not be None");
  DT_CHECK(c->cx, !dt_dtype_is_complex((DtDtype)c->in[0]->dtype),
           DT_E_NOTIMPL, "clamp is not supported for complex types");
  return op_pw_meta(c);
}

/* addcdiv does not divide integers by integers. */
static DtStatus addcdiv_meta (DtMetaCall *c) {
  const DtMeta *a = dt_in(c, 1), *b = dt_in(c, 2);
  DT_CHECK(c->cx, !dt_dtype_is_integral((DtDtype)a->dtype, true) ||
                  !dt_dtype_is_integral((DtDtype)b->dtype, true),
           DT_E_RUNTIME, "Integer division with addcdiv is no longer "
           "supported, and in a future  release addcdiv will perform a true "
           "division of tensor1 and tensor2. The historic addcdiv behavior can "
           "be implemented as (input + value * torch.trunc(tensor1 / "
           "tensor2)).to(input.dtype) for integer inputs and as (input + value "
           "* tensor1 / tensor2) for float inputs. The future addcdiv behavior "
           "is just the latter implementation: (input + value * tensor1 / "
           "tensor2), for all dtypes.");
  return op_pw_meta(c);
}

/* lerp does not promote. */
static DtStatus lerp_meta (DtMetaCall *c) {
  static const char *const names[] = { "self", "end", "weight" };
  for (int i = 1; i < 3; i++) {
    const DtMeta *m = dt_in(c, i);
    DT_CHECK(c->cx, !m || m->dtype == c->in[0]->dtype ||
                    (i == 2 && m->ndim == 0), DT_E_RUNTIME,
             "expected dtype %s for `%s` but got dtype %s",
             dt_dtype_info((DtDtype)c->in[0]->dtype)->cpp, names[i],
             m ? dt_dtype_info((DtDtype)m->dtype)->cpp : "?");
  }
  if (dt_arg_is_number(c->args, 2))
    DT_TRY(c->cx, op_number_fits(c->cx, dt_arg_scalar(c->args, 2),
                                 dt_dtype_acc((DtDtype)c->in[0]->dtype)));
  return op_pw_meta(c);
}

/* where with numbers: they become 0-dim tensors of the promoted type. */
static DtStatus where_number_decomp (DtDecompCall *c) {
  DtHandle *h[3] = { dt_hin(c, 0), dt_hin(c, 1), dt_hin(c, 2) };
  DtPromote p;
  DtDtype t;
  dt_promote_init(&p, c->e->cx->bf16_complex);
  for (int i = 1; i < 3; i++) {
    const DtMeta *m = h[i] != NULL ? dt_emit_meta(c->e, h[i]) : NULL;
    if (m != NULL) dt_promote_tensor(&p, (DtDtype)m->dtype, m->ndim);
    else dt_promote_number(&p, op_number_dtype(dt_arg_scalar(c->args, i)));
  }
  t = dt_promote_result(&p);
  for (int i = 2; i > 0; i--)
    if (h[i] == NULL)
      h[i] = EMIT("aten.scalar_tensor.default", "v dtype=d", ARG(i), (int)t);
    else if (dt_emit_meta(c->e, h[i])->dtype != t)
      h[i] = EMIT("aten._to_copy.default", "t dtype=d", h[i], (int)t);
  c->out[0] = EMIT("aten.where.self", "ttt", h[0], h[1], h[2]);
  c->nout = 1;
  return c->e->st;
}

/* ---- samples ---- */

static const char *const where_samples[] = {
  "bool[8, 6], f32[8, 6], f32[8, 6]", "bool[7, 1], f32[5], f32[7, 5]",
  "bool[1], f32[1], f32[]", "bool[0], f32[0], f32[0]", NULL
};
static const char *const fill_samples[] = {
  "f32[8, 6], bool[8, 6], 0.0", "f32[7, 5], bool[5], -1.0",
  "i64[6], bool[6], 2", "f32[0], bool[0], 1.0", "f32[], bool[], 1.0", NULL
};
static const char *const fill_t_samples[] = {
  "f32[8, 6], bool[8, 6], f32[]", "f32[7], bool[7], f32[]", NULL
};
static const char *const three_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6]", "f32[7, 5], f32[5], f32[7, 1]",
  "f32[1], f32[1], f32[1]", "f32[0, 4], f32[4], f32[0, 4]",
  "f32[], f32[], f32[]", NULL
};
static const char *const value_samples[] = {
  "f32[8, 6], f32[8, 6], f32[8, 6], value=0.5", "f32[7, 5], f32[5], f32[7, 1]",
  "f32[0, 4], f32[4], f32[0, 4]", NULL
};
static const char *const lerp_samples[] = {
  "f32[8, 6], f32[8, 6], 0.3", "f32[7, 5], f32[5], 0.7",
  "f32[0], f32[0], 0.5", NULL
};

/* ---- rows ---- */

enum { PW = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_ALIAS_SAFE };
/* operand i does not promote */
#define PROMO_SKIP(i) (((i) + 1) << 8)

#define T3(id, schema_, fn, promo, npar, par, flags_, brief_, meta_, kernel_, \
           grad_, samples_) \
  static const int row_##id[PWR_LEN] = { DT_T3_##fn, promo, 3, 0, 1, 2, npar, \
                                         par }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = PW | (flags_), \
    .meta = meta_, .kernel = kernel_, .grad = grad_, \
    .samples = samples_, .row = row_##id }

T3(where_self, "where.self(Tensor condition, Tensor self, Tensor other) -> "
   "Tensor", where, PK_SAME | PROMO_SKIP(0), 0, 0, 0,
   "Elements of one tensor where a condition holds, else of another.",
   where_meta, op_pw_kernel, where_grad, where_samples);
#define WHERE(id, schema_, brief_, ...) \
  static const char *const id##_samples[] = { __VA_ARGS__, NULL }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, .flags = DT_OP_COMPOSITE, \
    .decomp = where_number_decomp, .samples = id##_samples }
WHERE(where_Scalar, "where.Scalar(Tensor condition, Scalar self, Scalar other) "
      "-> Tensor", "One number where a condition holds, else another.",
      "bool[8, 6], 1.0, 2.0");
WHERE(where_ScalarOther, "where.ScalarOther(Tensor condition, Tensor self, "
      "Scalar other) -> Tensor", "Elements where a condition holds, else a "
      "number.", "bool[8, 6], f32[8, 6], 2.0");
WHERE(where_ScalarSelf, "where.ScalarSelf(Tensor condition, Scalar self, "
      "Tensor other) -> Tensor", "A number where a condition holds, else "
      "elements.", "bool[8, 6], 1.0, f32[8, 6]");
T3(masked_fill_Scalar, "masked_fill.Scalar(Tensor self, Tensor mask, "
   "Scalar value) -> Tensor", masked_fill, PK_FIRST | PROMO_SKIP(1), 0, 0, DT_OP_PYMETA,
   "A number where a mask is set.", masked_fill_meta, masked_fill_kernel,
   masked_fill_grad, fill_samples);
static const int row_masked_fill_Tensor[PWR_LEN] = {
  DT_T3_masked_fill, PK_FIRST | PROMO_SKIP(1), 3, 0, 1, 2
};
const DtOpDef dt_op_masked_fill_Tensor = {
  .schema = "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor "
            "value) -> Tensor",
  .brief = "A 0-dim tensor's value where a mask is set.",
  .doc = "Propagation traces it as where().",
  .flags = DT_OP_ALIAS_SAFE | DT_OP_ITERMETA, .meta = masked_fill_meta,
  .kernel = masked_fill_kernel, .decomp = masked_fill_decomp,
  .grad = masked_fill_grad, .samples = fill_t_samples,
  .row = row_masked_fill_Tensor
};
T3(lerp_Scalar, "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> "
   "Tensor", lerp, PK_SAME | PROMO_SKIP(2), 0, 0, DT_OP_PYMETA,
   "self + weight * (end - self).", lerp_meta, op_pw_kernel,
   lerp_number_grad, lerp_samples);
T3(lerp_Tensor, "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> "
   "Tensor", lerp, PK_SAME, 0, 0, DT_OP_PYMETA,
   "self + weight * (end - self), element by element.", lerp_meta,
   op_pw_kernel, lerp_grad, three_samples);
T3(addcmul, "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, "
   "Scalar value=1) -> Tensor", addcmul, PK_SAME, 1, 3, DT_OP_PYMETA,
   "self + value * tensor1 * tensor2.", op_pw_meta, op_pw_kernel,
   addcmul_grad, value_samples);
T3(addcdiv, "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, "
   "Scalar value=1) -> Tensor", addcdiv, PK_SAME, 1, 3, DT_OP_PYMETA,
   "self + value * tensor1 / tensor2.", addcdiv_meta, op_pw_kernel,
   addcdiv_grad, value_samples);
T3(clamp_Tensor, "clamp.Tensor(Tensor self, Tensor? min=None, "
   "Tensor? max=None) -> Tensor", clamp_tensor, PK_SAME, 0, 0, 0,
   "Elements cut to bounds given by tensors.", clamp_meta, clamp_kernel,
   clamp_grad, three_samples);
