/* SPDX-License-Identifier: MIT
** oplib/op_foreach.c: list operators that are no operator done once for each
** element: gradients unscaled and checked together, numbers from a tensor.
**
** The other list operators are derived: forms in the .ops texts. */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

static DtStatus no_result (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

static DtStatus not_empty (DtCtx *cx, int n) {
  DT_CHECK(cx, n > 0, DT_E_RUNTIME,
           "Tensor list must have at least one tensor.");
  return DT_OK;
}

/* ---- _amp_foreach_non_finite_check_and_unscale_ ---- */

/* found_inf becomes 1 when an element is not finite. */
static DtStatus look (DtKernelCall *c, const DtTensor *x, DtTensor *found) {
  DtTensor *bad = NULL, *any = NULL;
  DtDtype t = (DtDtype)x->m.dtype;
  int64_t zero[DT_MAX_NDIM] = { 0 };
  DtStatus st = DT_OK;
  if (dt_meta_numel(&x->m) == 0) return DT_OK;
  DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, x->m.ndim, x->m.shape, &bad));
  DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, 0, NULL, &any));
  DT_TRYG(c->cx, dt_k_unary(c->cx, DT_U_isfinite, t, NULL, x, bad));
  DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_ALL, NULL, bad,
                             x->m.ndim ? (1u << x->m.ndim) - 1 : 0, any));
  if (dt_tensor_get(any, zero).i == 0)
    st = dt_k_fill(c->cx, found, dt_scalar_int(1));
done:
  dt_tensor_unref(c->cx, bad);
  dt_tensor_unref(c->cx, any);
  return st;
}

static DtStatus amp_kernel (DtKernelCall *c) {
  int slot[DT_MAX_OUTS];
  int n = dt_arg_slots(c->args, 0, slot, DT_MAX_OUTS);
  DtTensor *found = dt_kin(c, 1), *inv = dt_kin(c, 2);
  DtScalar s;
  DT_CHECK(c->cx, dt_meta_numel(&inv->m) == 1, DT_E_RUNTIME,
           "inv_scale must be a 1-element tensor.");
  DT_CHECK(c->cx, dt_meta_numel(&found->m) == 1, DT_E_RUNTIME,
           "found_inf must be a 1-element tensor.");
  DT_CHECK(c->cx, inv->m.dtype == DT_F32, DT_E_RUNTIME,
           "inv_scale must be a float tensor.");
  DT_CHECK(c->cx, found->m.dtype == DT_F32, DT_E_RUNTIME,
           "found_inf must be a float tensor.");
  DT_TRY(c->cx, dt_tensor_item(c->cx, inv, &s));
  for (int i = 0; i < n; i++) {
    DtTensor *x = c->in[slot[i]];
    DT_TRY(c->cx, look(c, x, found));
    if (s.re != 1)
      DT_TRY(c->cx, dt_k_unary(c->cx, DT_U_mul_scalar, (DtDtype)x->m.dtype,
                               &s, x, x));
  }
  return DT_OK;
}

/* ---- numbers from a tensor ---- */

/* Inferred as the operator of one element, with all numbers for each. */
static DtStatus infer_elements (DtMetaCall *c, int n) {
  int slot[3][DT_MAX_OUTS];
  OpOperand o[4];
  memset(o, 0, sizeof o);
  o[3].m = dt_in(c, 3);
  for (int k = 0; k < 3; k++)
    DT_CHECK(c->cx, dt_arg_slots(c->args, k, slot[k], DT_MAX_OUTS) == n,
             DT_E_RUNTIME, "Tensor lists must have the same number of "
             "tensors, got %d and %d", n, c->args->v[k].u.list.n);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) o[k].m = c->in[slot[k][i]];
    DT_TRY(c->cx, op_py_broadcast(c->cx, 4, o));
  }
  c->nout = 0;
  return DT_OK;
}

/* One number for each tensor, in a list. */
static DtStatus check_scalars (DtMetaCall *c, int n) {
  const DtMeta *s = dt_in(c, 3);
  DT_CHECK(c->cx, s->ndim == 1, DT_E_RUNTIME, "Expected packed scalar Tensor "
           "to be of dimension 1. Got %d instead.", (int)s->ndim);
  DT_CHECK(c->cx, s->shape[0] == n, DT_E_RUNTIME, "Expected length of scalars "
           "to match input of length %d but got %lld instead.", n,
           (long long)s->shape[0]);
  return DT_OK;
}

static DtStatus scalars_meta (DtMetaCall *c) {
  int n = dt_foreach_count(c->args);
  bool apart = c->fake && (c->op->flags & DT_OP_LATER) != 0;
  if (apart) {      /* taken apart in propagation: the numbers are seen first */
    DT_TRY(c->cx, check_scalars(c, n));
    DT_TRY(c->cx, infer_elements(c, n));
  } else {
    DT_CHECK(c->cx, !c->fake, DT_E_RUNTIME,
             "Expected scalars to be on CPU, got meta instead.");
  }
  DT_TRY(c->cx, not_empty(c->cx, n));
  for (int k = 1; k < 3; k++)
    DT_CHECK(c->cx, c->args->v[k].u.list.n == n, DT_E_RUNTIME, "Tensor lists "
             "must have the same number of tensors, got %d and %d", n,
             c->args->v[k].u.list.n);
  DT_TRY(c->cx, check_scalars(c, n));
  c->nout = 0;
  return DT_OK;
}

static DtStatus scalars_kernel (DtKernelCall *c) {
  int a[DT_MAX_OUTS], b[DT_MAX_OUTS], x[DT_MAX_OUTS];
  int n = dt_arg_slots(c->args, 0, x, DT_MAX_OUTS);
  (void)dt_arg_slots(c->args, 1, a, DT_MAX_OUTS);
  (void)dt_arg_slots(c->args, 2, b, DT_MAX_OUTS);
  for (int64_t i = 0; i < n; i++) {
    DtScalar p[4];
    DtTensor *t = c->in[x[i]];
    memset(p, 0, sizeof p);
    p[0] = dt_tensor_get(dt_kin(c, 3), &i);
    DT_TRY(c->cx, dt_k_ternary(c->cx, (DtTernary)c->op->row[0],
                               (DtDtype)t->m.dtype, p, t, c->in[a[i]],
                               c->in[b[i]], t));
  }
  return DT_OK;
}

/* ---- definitions ---- */

static const char *const amp_samples[] = {
  "[f32[4, 3], f32[5]], f32[1], f32[1]", NULL
};
static const char *const scalars_samples[] = {
  "[f32[4, 3], f32[5]], [f32[4, 3], f32[5]], [f32[4, 3], f32[5]], f32[2]",
  NULL
};

enum { LIST = DT_OP_FOREACH | DT_OP_INPLACE | DT_OP_NOGRAD | DT_OP_UNEVEN |
              DT_OP_ALIAS_SAFE };

const DtOpDef dt_op__amp_foreach_non_finite_check_and_unscale_ = {
  .schema = "aten::_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] "
            "self, Tensor(b!) found_inf, Tensor inv_scale) -> ()",
  .brief = "Gradients times a number; a flag is set when one is not finite.",
  .flags = LIST | DT_OP_POINTWISE, .meta = no_result, .kernel = amp_kernel,
  .samples = amp_samples
};

#define SCALARS(id, name_, fn_, brief_) \
  static const int row_##id[] = { DT_T3_##fn_ }; \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor(a!)[] self, Tensor[] tensor1, " \
              "Tensor[] tensor2, Tensor scalars) -> ()", \
    .brief = brief_, .flags = LIST | DT_OP_POINTWISE, .meta = scalars_meta, \
    .kernel = scalars_kernel, .samples = scalars_samples, .row = row_##id }
SCALARS(_foreach_addcdiv__Tensor, "_foreach_addcdiv_.Tensor", addcdiv,
        "self + scalar * tensor1 / tensor2, the numbers in a tensor.");
SCALARS(_foreach_addcmul__Tensor, "_foreach_addcmul_.Tensor", addcmul,
        "self + scalar * tensor1 * tensor2, the numbers in a tensor.");
