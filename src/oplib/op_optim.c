/* SPDX-License-Identifier: MIT
** oplib/op_optim.c: fused optimizer steps, and operators that answer with a
** number or a truth value.
**
** List operators of one kernel are derived (.ops texts); the fused Adam
** family updates five lists in one call and is written here. */
#include "oplib/oplib_int.h"

#include <math.h>
#include <string.h>

/* ---- _fused_adam_, _fused_adamw_ ---- */

enum { FA_PARAM, FA_GRAD, FA_M, FA_V, FA_VMAX, FA_STEP, FA_LR, FA_B1, FA_B2,
       FA_WD, FA_EPS, FA_AMS, FA_MAXIMIZE, FA_SCALE, FA_INF };
enum { ADAM, ADAMW };
static const int row_adam[] = { ADAM }, row_adamw[] = { ADAMW };

static DtStatus fused_meta (DtMetaCall *c) {
  c->nout = 0;
  return DT_OK;
}

/* Lists as long as the parameters'; the largest averages are there with
** amsgrad only. */
static DtStatus fused_lists (DtKernelCall *c, int (*slot)[DT_MAX_OUTS],
                             bool ams, int *n) {
  static const char *const name[] = { "params", "grads", "exp_avgs",
                                      "exp_avg_sqs", "max_exp_avg_sqs",
                                      "state_steps" };
  for (int k = FA_PARAM; k <= FA_STEP; k++) {
    int m = dt_arg_slots(c->args, k, slot[k], DT_MAX_OUTS);
    bool none = k == FA_VMAX && !ams;
    if (k == FA_PARAM) *n = m;
    DT_CHECK(c->cx, m == (none ? 0 : *n), DT_E_RUNTIME, "Expected %s.%s to be "
             "true, but got false.  (Could this error message be improved?  If "
             "so, please report an enhancement request to PyTorch.)", name[k],
             none ? "empty()" : "size() == n_tensors");
  }
  return DT_OK;
}

/* Everything has the parameter's type and size; steps are one number. */
static DtStatus fused_fits (DtKernelCall *c, int (*slot)[DT_MAX_OUTS], int i,
                            bool ams) {
  static const int order[] = { FA_M, FA_V, FA_GRAD, FA_VMAX };
  const DtMeta *p = &c->in[slot[FA_PARAM][i]]->m;
  const DtMeta *step = &c->in[slot[FA_STEP][i]]->m;
  DT_CHECK(c->cx, dt_dtype_is_float((DtDtype)p->dtype) &&
           dt_dtype_size((DtDtype)p->dtype) > 1, DT_E_NOTIMPL,
           "\"fused_adam_kernel\" not implemented for '%s'",
           op_dtype_word((DtDtype)p->dtype));
  for (int k = 0; k < (ams ? 4 : 3); k++) {
    const DtMeta *m = &c->in[slot[order[k]][i]]->m;
    DT_CHECK(c->cx, m->dtype == p->dtype, DT_E_RUNTIME, "expected scalar type "
             "%s but found %s", op_dtype_word((DtDtype)p->dtype),
             op_dtype_word((DtDtype)m->dtype));
    DT_CHECK(c->cx, dt_meta_same_shape(p, m), DT_E_RUNTIME, "%s: list %d has "
             "%s beside a parameter of shape %s", c->op->sig->full, order[k],
             op_shape_text(m).s, op_shape_text(p).s);
  }
  DT_CHECK(c->cx, dt_meta_numel(step) == 1, DT_E_RUNTIME, "a Tensor with %lld "
           "elements cannot be converted to Scalar",
           (long long)dt_meta_numel(step));
  return DT_OK;
}

/* Has a tensor's memory no gaps, and no element twice? */
static bool is_gapless (const DtTensor *t) {
  int64_t span = 1;
  for (int d = 0; d < t->m.ndim; d++)
    span += (t->m.shape[d] - 1) * t->m.stride[d];
  return span == dt_meta_numel(&t->m);
}

/* The tensor as a line, in the order of memory. */
static DtTensor in_memory (const DtTensor *t) {
  DtTensor v = *t;
  v.m.ndim = 1;
  v.m.shape[0] = dt_meta_numel(&t->m);
  v.m.stride[0] = 1;
  return v;
}

static double item (const DtTensor *t) {
  int64_t zero[DT_MAX_NDIM] = { 0 };
  DtScalar s = dt_tensor_get(t, zero);
  return s.kind <= DT_K_INT ? (double)s.i : s.re;
}

static DtStatus unary (DtCtx *cx, DtUnary f, double p0, DtTensor *x) {
  DtScalar p[4];
  memset(p, 0, sizeof p);
  p[0] = dt_scalar_float(p0);
  return dt_k_unary(cx, f, dt_dtype_acc((DtDtype)x->m.dtype), p, x, x);
}
/* x += a * y, x += a * y * y */
static DtStatus axpy (DtCtx *cx, DtTensor *x, double a, const DtTensor *y,
                      bool square) {
  DtScalar p[4];
  DtDtype t = dt_dtype_acc((DtDtype)x->m.dtype);
  memset(p, 0, sizeof p);
  p[0] = dt_scalar_float(a);
  if (square) return dt_k_ternary(cx, DT_T3_addcmul, t, p, x, y, y, x);
  return dt_k_binary(cx, DT_B_add, t, p, x, y, x);
}

typedef struct Step { double lr, b1, b2, wd, eps, scale; bool ams, max; } Step;

/* One parameter; g is a copy that may be changed. */
static DtStatus adam_one (DtKernelCall *c, const Step *s, double step,
                          DtTensor *p, DtTensor *g, DtTensor *m, DtTensor *v,
                          DtTensor *vmax) {
  DtCtx *cx = c->cx;
  DtDtype t = dt_dtype_acc((DtDtype)p->m.dtype);
  DtScalar par[4];
  if (s->max) DT_TRY(cx, unary(cx, DT_U_neg, 0, g));
  if (c->op->row[0] == ADAMW && s->wd != 0)
    DT_TRY(cx, unary(cx, DT_U_mul_scalar, 1 - s->lr * s->wd, p));
  else if (s->wd != 0)
    DT_TRY(cx, axpy(cx, g, s->wd, p, false));
  DT_TRY(cx, unary(cx, DT_U_mul_scalar, s->b1, m));
  DT_TRY(cx, axpy(cx, m, 1 - s->b1, g, false));
  DT_TRY(cx, unary(cx, DT_U_mul_scalar, s->b2, v));
  DT_TRY(cx, axpy(cx, v, 1 - s->b2, g, true));
  if (s->ams && vmax)
    DT_TRY(cx, dt_k_binary(cx, DT_B_maximum, t, NULL, vmax, v, vmax));
  /* g becomes the denominator: sqrt(v) / sqrt(1 - b2^t) + eps */
  DT_TRY(cx, dt_k_unary(cx, DT_U_sqrt, t, NULL, s->ams && vmax ? vmax : v, g));
  DT_TRY(cx, unary(cx, DT_U_mul_scalar, 1 / sqrt(1 - pow(s->b2, step)), g));
  DT_TRY(cx, unary(cx, DT_U_add_scalar, s->eps, g));
  memset(par, 0, sizeof par);
  par[0] = dt_scalar_float(-s->lr / (1 - pow(s->b1, step)));
  return dt_k_ternary(cx, DT_T3_addcdiv, t, par, p, m, g, p);
}

/* PyTorch's step walks over memory, not over strides: so does this one where
** none of the tensors has gaps; elsewhere PyTorch reads what is not theirs. */
static DtStatus fused_one (DtKernelCall *c, const Step *s,
                           int (*slot)[DT_MAX_OUTS], int i) {
  DtTensor t[FA_VMAX + 1], *g = NULL;
  const int last = s->ams ? FA_VMAX : FA_V;
  bool flat = true;
  DtStatus st;
  for (int k = FA_PARAM; k <= last; k++)
    flat = flat && is_gapless(c->in[slot[k][i]]);
  for (int k = FA_PARAM; k <= last; k++)
    t[k] = flat ? in_memory(c->in[slot[k][i]]) : *c->in[slot[k][i]];
  DtTensor *p = &t[FA_PARAM], *src = &t[FA_GRAD];
  DT_TRY(c->cx, op_temp(c->cx, (DtDtype)p->m.dtype, p->m.ndim, p->m.shape,
                        &g));
  st = dt_k_copy(c->cx, src, g);
  if (st == DT_OK && s->scale != 1) {           /* the caller sees it */
    st = unary(c->cx, DT_U_mul_scalar, 1 / s->scale, g);
    if (st == DT_OK) st = dt_k_copy(c->cx, g, src);
  }
  if (st == DT_OK)
    st = adam_one(c, s, item(c->in[slot[FA_STEP][i]]), p, g, &t[FA_M],
                  &t[FA_V], s->ams ? &t[FA_VMAX] : NULL);
  dt_tensor_unref(c->cx, g);
  return st;
}

static DtStatus fused_kernel (DtKernelCall *c) {
  int slot[6][DT_MAX_OUTS], n = 0;
  Step s = { .b1 = dt_arg_float(c->args, FA_B1),
             .b2 = dt_arg_float(c->args, FA_B2),
             .wd = dt_arg_float(c->args, FA_WD),
             .eps = dt_arg_float(c->args, FA_EPS), .scale = 1,
             .ams = dt_arg_bool(c->args, FA_AMS),
             .max = dt_arg_bool(c->args, FA_MAXIMIZE) };
  static const int one[] = { FA_LR, FA_SCALE, FA_INF };
  for (int i = 0; i < 3; i++)
    DT_CHECK(c->cx, !dt_kin(c, one[i]) ||
             dt_meta_numel(&dt_kin(c, one[i])->m) == 1, DT_E_RUNTIME,
             "a Tensor with %lld elements cannot be converted to Scalar",
             (long long)dt_meta_numel(&dt_kin(c, one[i])->m));
  for (int i = 1; i < 3; i++)           /* read through pointers to float */
    DT_CHECK(c->cx, !dt_kin(c, one[i]) ||
             dt_kin(c, one[i])->m.dtype == DT_F32, DT_E_RUNTIME,
             "expected scalar type Float but found %s",
             op_dtype_word((DtDtype)dt_kin(c, one[i])->m.dtype));
  s.lr = dt_kin(c, FA_LR) ? item(dt_kin(c, FA_LR))
                          : dt_arg_float(c->args, FA_LR);
  if (dt_kin(c, FA_SCALE)) s.scale = item(dt_kin(c, FA_SCALE));
  if (dt_kin(c, FA_INF) && item(dt_kin(c, FA_INF)) != 0) return DT_OK;
  DT_TRY(c->cx, fused_lists(c, slot, s.ams, &n));
  for (int i = 0; i < n; i++) {
    DT_TRY(c->cx, fused_fits(c, slot, i, s.ams));
    DT_TRY(c->cx, fused_one(c, &s, slot, i));
  }
  return DT_OK;
}

/* ---- the functional forms ---- */

/* Five lists of results: parameters, gradients, averages. */
static DtStatus fused_copy_meta (DtMetaCall *c) {
  int slot[DT_MAX_OUTS];
  DT_CHECK(c->cx, !c->fake, DT_E_ASSERT, "Tensor meta for %s should be a "
           "list[TensorMeta] (op returns List[Tensor]), but got tuple",
           c->op->sig->full);
  c->nout = 0;
  for (int k = FA_PARAM; k <= FA_VMAX; k++) {
    int n = dt_arg_slots(c->args, k, slot, DT_MAX_OUTS);
    DT_CHECK(c->cx, c->nout + n <= c->maxout, DT_E_LIMIT,
             "more than %d results", c->maxout);
    for (int i = 0; i < n; i++) {
      const DtMeta *m = c->in[slot[i]];
      op_like_meta(&c->out[c->nout++], m, (DtDtype)m->dtype);
    }
  }
  return DT_OK;
}

/* The step in place, on copies. */
static DtStatus fused_copy_kernel (DtKernelCall *c) {
  DtTensor **in = dt_alloc(c->cx, sizeof *in * (size_t)(c->nin + 1));
  int slot[DT_MAX_OUTS], at = 0;
  DtKernelCall k = *c;
  DtStatus st = in ? DT_OK : DT_E_NOMEM;
  for (int i = 0; in && i < c->nin; i++) in[i] = c->in[i];
  for (int l = FA_PARAM; l <= FA_VMAX && st == DT_OK; l++) {
    int n = dt_arg_slots(c->args, l, slot, DT_MAX_OUTS);
    for (int i = 0; i < n && st == DT_OK; i++, at++) {
      st = dt_k_copy(c->cx, c->in[slot[i]], c->out[at]);
      in[slot[i]] = c->out[at];
    }
  }
  k.in = in;
  if (st == DT_OK) st = fused_kernel(&k);
  dt_free(c->cx, in);
  return st;
}

/* ---- equal, is_same_size, _local_scalar_dense, item ---- */

static DtStatus equal_meta (DtMetaCall *c) {
  c->nout = 0;
  if (c->nin == 2) {
    OpOperand o[2] = { { .m = c->in[0] }, { .m = c->in[1] } };
    return op_promotable(c->cx, 2, o);
  }
  return DT_OK;
}
static DtStatus equal_kernel (DtKernelCall *c) {
  DtTensor *same = NULL, *all = NULL, *a = c->in[0], *b = c->in[1];
  DtStatus st = DT_OK;
  int64_t none = 0;
  bool yes = dt_meta_same_shape(&a->m, &b->m);
  if (yes && dt_meta_numel(&a->m) > 0) {
    DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, a->m.ndim, a->m.shape, &same));
    DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, 0, NULL, &all));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_eq,
                               dt_dtype_promote((DtDtype)a->m.dtype,
                                                (DtDtype)b->m.dtype),
                               NULL, a, b, same));
    DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_ALL, NULL, same,
                               a->m.ndim ? (1u << a->m.ndim) - 1 : 0, all));
    yes = dt_tensor_get(all, &none).i != 0;
  }
  if (c->ret) *c->ret = dt_v_bool(yes);
done:
  dt_tensor_unref(c->cx, same);
  dt_tensor_unref(c->cx, all);
  return st;
}
/* allclose: isclose everywhere. */
static DtStatus close_meta (DtMetaCall *c) {
  const DtMeta *a = c->in[0], *b = c->in[1];
  DtMeta m;
  DT_CHECK(c->cx, !c->fake, DT_E_RUNTIME, "%s", c->op->sig->full);
  DT_CHECK(c->cx, a->dtype == b->dtype, DT_E_RUNTIME, "%s did not match %s",
           dt_dtype_word((DtDtype)a->dtype), dt_dtype_word((DtDtype)b->dtype));
  DT_CHECK(c->cx, dt_arg_float(c->args, 2) >= 0, DT_E_RUNTIME,
           "rtol must be greater than or equal to zero, but got %g",
           dt_arg_float(c->args, 2));
  DT_CHECK(c->cx, dt_arg_float(c->args, 3) >= 0, DT_E_RUNTIME,
           "atol must be greater than or equal to zero, but got %g",
           dt_arg_float(c->args, 3));
  c->nout = 0;
  return dt_meta_broadcast(c->cx, a, b, &m);
}
static DtStatus close_kernel (DtKernelCall *c) {
  DtTensor *same = NULL, *all = NULL, *a = c->in[0], *b = c->in[1];
  DtDtype t = (DtDtype)a->m.dtype;
  DtScalar p[4];
  DtMeta m;
  DtStatus st = DT_OK;
  int64_t none[DT_MAX_NDIM] = { 0 };
  bool yes = true;
  memset(p, 0, sizeof p);
  for (int i = 0; i < 3; i++) p[i] = dt_arg_scalar(c->args, i + 2);
  DT_TRYG(c->cx, op_kernel_allows(c->cx, NULL, "mul", t, true));
  DT_TRYG(c->cx, dt_meta_broadcast(c->cx, &a->m, &b->m, &m));
  if (dt_meta_numel(&m) > 0) {
    if (dt_dtype_is_integral(t, true)) t = DT_F64;
    DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, m.ndim, m.shape, &same));
    DT_TRYG(c->cx, op_temp(c->cx, DT_BOOL, 0, NULL, &all));
    DT_TRYG(c->cx, dt_k_binary(c->cx, DT_B_isclose, t, p, a, b, same));
    DT_TRYG(c->cx, dt_k_reduce(c->cx, DT_RED_ALL, NULL, same,
                               m.ndim ? (1u << m.ndim) - 1 : 0, all));
    yes = dt_tensor_get(all, none).i != 0;
  }
  if (c->ret) *c->ret = dt_v_bool(yes);
done:
  dt_tensor_unref(c->cx, same);
  dt_tensor_unref(c->cx, all);
  return st;
}

static DtStatus nonzero_kernel (DtKernelCall *c) {
  DtScalar s;
  int64_t n = dt_meta_numel(&c->in[0]->m);
  DT_CHECK(c->cx, n != 0, DT_E_RUNTIME,
           "Boolean value of Tensor with no values is ambiguous");
  DT_CHECK(c->cx, n == 1, DT_E_RUNTIME,
           "Boolean value of Tensor with more than one value is ambiguous");
  DT_TRY(c->cx, dt_tensor_item(c->cx, c->in[0], &s));
  if (c->ret)
    *c->ret = dt_v_bool(s.kind <= DT_K_INT ? s.i != 0
                        : s.re != 0 || (s.kind == DT_K_COMPLEX && s.im != 0));
  return DT_OK;
}
static DtStatus same_size_kernel (DtKernelCall *c) {
  if (c->ret)
    *c->ret = dt_v_bool(dt_meta_same_shape(&c->in[0]->m, &c->in[1]->m));
  return DT_OK;
}

/* Both follow the operand with more shards; partials and 0-dim operands are
** compared whole. */
static DtStatus equal_strategy (DtStratCall *c) {
  DtPlacement p[2 * OP_MAXPL];
  int nd = c->mesh->ndim;
  int from = dt_spec_num_shards(c->in[0]) >= dt_spec_num_shards(c->in[1])
             ? 0 : 1;
  bool scalar = c->in[0]->meta.ndim == 0 || c->in[1]->meta.ndim == 0;
  op_s_follow(c, from, scalar ? ~0u : 0, true, p);
  memcpy(p + nd, p, sizeof *p * (size_t)nd);
  return dt_strat_add(c, p, p, -INFINITY);
}

static DtStatus item_kernel (DtKernelCall *c) {
  DtScalar s;
  DtTensor *t = c->in[0];
  int64_t n = dt_meta_numel(&t->m), at[DT_MAX_NDIM] = { 0 };
  bool first = strcmp(c->op->sig->base, "_local_scalar_dense") == 0;
  DT_CHECK(c->cx, !first || n > 0, DT_E_RUNTIME,
           "_local_scalar_dense: Empty tensor not supported");
  if (first && n > 1) s = dt_tensor_get(t, at);
  else DT_TRY(c->cx, dt_tensor_item(c->cx, t, &s));
  if (!c->ret) return DT_OK;
  switch (s.kind) {
    case DT_K_BOOL: *c->ret = dt_v_bool(s.i != 0); break;
    case DT_K_INT: *c->ret = dt_v_int(s.i); break;
    case DT_K_FLOAT: *c->ret = dt_v_float(s.re); break;
    default:
      *c->ret = dt_v_none();
      c->ret->kind = DT_V_COMPLEX;
      c->ret->u.c[0] = s.re;
      c->ret->u.c[1] = s.im;
  }
  return DT_OK;
}
/* Registered for whole tensors, though propagation answers before asking. */
static DtStatus item_strategy (DtStratCall *c) {
  DtPlacement r[OP_MAXPL];
  for (int i = 0; i < c->mesh->ndim; i++) r[i] = dt_pl_replicate();
  return dt_strat_add(c, r, r, -INFINITY);
}

/* ---- definitions ---- */

static const char *const fused_samples[] = {
  "[f32[4, 3]], [f32[4, 3]], [f32[4, 3]], [f32[4, 3]], [], [f32[]], lr=0.1, "
  "beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-08, amsgrad=false, "
  "maximize=false", NULL
};
static const char *const equal_samples[] = {
  "f32[8, 6], f32[8, 6]", "f32[7], f32[5]", "f32[0], f32[0]", "f32[], f32[]",
  NULL
};
static const char *const item_samples[] = { "f32[]", "i64[]", "bool[1]",
                                            NULL };

#define FUSED(id, name_, lr_, brief_, row_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor(a!)[] self, Tensor(b!)[] grads, " \
      "Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs, Tensor(e!)[] " \
      "max_exp_avg_sqs, Tensor[] state_steps, *, " lr_ " lr, float beta1, " \
      "float beta2, float weight_decay, float eps, bool amsgrad, bool " \
      "maximize, Tensor? grad_scale=None, Tensor? found_inf=None) -> ()", \
    .brief = brief_, \
    .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_FOREACH | DT_OP_INPLACE | \
             DT_OP_NOGRAD | DT_OP_ALIAS_SAFE, \
    .meta = fused_meta, .kernel = fused_kernel, .samples = fused_samples, \
    .row = row_ }
FUSED(_fused_adam_, "_fused_adam_", "float", "One Adam step on lists.",
      row_adam);
FUSED(_fused_adam__tensor_lr, "_fused_adam_.tensor_lr", "Tensor",
      "One Adam step on lists, the rate a tensor.", row_adam);
FUSED(_fused_adamw_, "_fused_adamw_", "float", "One AdamW step on lists.",
      row_adamw);
FUSED(_fused_adamw__tensor_lr, "_fused_adamw_.tensor_lr", "Tensor",
      "One AdamW step on lists, the rate a tensor.", row_adamw);

#define FUSED_COPY(id, name_, lr_, brief_, row_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" name_ "(Tensor[] self, Tensor[] grads, Tensor[] " \
      "exp_avgs, Tensor[] exp_avg_sqs, Tensor[] max_exp_avg_sqs, Tensor[] " \
      "state_steps, *, " lr_ " lr, float beta1, float beta2, float " \
      "weight_decay, float eps, bool amsgrad, bool maximize, Tensor? " \
      "grad_scale=None, Tensor? found_inf=None) -> (Tensor[] self_out, " \
      "Tensor[] grads_out, Tensor[] exp_avgs_out, Tensor[] " \
      "exp_avg_sqs_out, Tensor[] max_exp_avg_sqs_out)", \
    .brief = brief_, \
    .flags = DT_OP_POINTWISE | DT_OP_UNEVEN | DT_OP_FOREACH | DT_OP_NOGRAD, \
    .meta = fused_copy_meta, .kernel = fused_copy_kernel, \
    .samples = fused_samples, .row = row_ }
FUSED_COPY(_fused_adam, "_fused_adam", "float", "One Adam step, as copies.",
           row_adam);
FUSED_COPY(_fused_adam_tensor_lr, "_fused_adam.tensor_lr", "Tensor",
           "One Adam step, as copies, the rate a tensor.", row_adam);
FUSED_COPY(_fused_adamw, "_fused_adamw", "float", "One AdamW step, as copies.",
           row_adamw);
FUSED_COPY(_fused_adamw_tensor_lr, "_fused_adamw.tensor_lr", "Tensor",
           "One AdamW step, as copies, the rate a tensor.", row_adamw);

#define ANSWER(id, schema_, brief_, flags_, kernel_, strat_, samples_) \
  const DtOpDef dt_op_##id = { \
    .schema = "aten::" schema_, .brief = brief_, \
    .flags = DT_OP_NOGRAD | (flags_), .meta = equal_meta, .kernel = kernel_, \
    .strategy = strat_, .samples = samples_ }
ANSWER(equal, "equal(Tensor self, Tensor other) -> bool",
       "Same shape and elements?", 0, equal_kernel, equal_strategy,
       equal_samples);
static const char *const close_samples[] = { "f32[8, 6], f32[8, 6]",
                                             "f32[0], f32[0]", NULL };
const DtOpDef dt_op_allclose = {
  .schema = "aten::allclose(Tensor self, Tensor other, float rtol="
            "1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) "
            "-> bool",
  .brief = "Are all elements equal but for rounding?",
  .flags = DT_OP_NOGRAD | DT_OP_NOSTRATEGY, .meta = close_meta,
  .kernel = close_kernel, .samples = close_samples
};
ANSWER(is_nonzero, "is_nonzero(Tensor self) -> bool",
       "Is the one element not 0?", DT_OP_COMPOSITE, nonzero_kernel,
       item_strategy, item_samples);
ANSWER(is_same_size, "is_same_size(Tensor self, Tensor other) -> bool",
       "Same shape?", DT_OP_HANDLER | DT_OP_NODATA, same_size_kernel,
       equal_strategy, equal_samples);
ANSWER(_local_scalar_dense, "_local_scalar_dense(Tensor self) -> Scalar",
       "The one element, as a number.", 0, item_kernel, item_strategy,
       item_samples);
ANSWER(item, "item(Tensor self) -> Scalar",
       "The one element, as a number.", DT_OP_COMPOSITE, item_kernel,
       item_strategy, item_samples);
